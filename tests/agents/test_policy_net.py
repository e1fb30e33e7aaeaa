"""The numpy policy equals the torch one; bad weights are refused in a sentence."""

import numpy as np
import pytest
import torch

from agents.policy_net import PolicyModel
from agents.ppo import make
from agents.registry import make_agent
from agents.weight_files import save_weights, table_metadata
from thegame_env.engine import Engine, mask_into, random_steps
from thegame_env.notation import parse_position
from thegame_env.observation import ENCODE_RELATIVE, VERSION, encode_batch, observation_spec
from thegame_env.rules import PRESETS, Rules, Table
from train.policy_network import PolicyNet, Shape

TABLES = [
    Table(),
    Table(players=5),
    Table(Rules("custom", cards=20, hand_sizes=(4, 3), trick=4), 2),
    Table(PRESETS["profi"], 3, memory=False, talk="open"),
    Table(PRESETS["small-hands"], 4),
]


def net_of(table: Table) -> PolicyNet:
    torch.manual_seed(3)
    net = PolicyNet(Shape.of(table), 16, 24, 20)
    for layer in (net.gaps, net.end):
        torch.nn.init.normal_(layer.weight)
    return net


def arrays_of(net: PolicyNet) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in net.weights().items()}


def positions(table: Table, count: int) -> Engine:
    """Running games, each some random actions into a game."""
    engine = Engine(table, count)
    engine.deal(np.arange(count))
    streams = np.arange(1, count + 1, dtype=np.uint64)
    for b in range(count):
        one = slice(b, b + 1)
        random_steps(engine.games[one], engine.decks[one], engine.p, streams[one], b % 60)
    return engine


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.rules.name}-{table.players}")
def test_numpy_equals_torch(table):
    net, engine = net_of(table), positions(table, 400)
    rows = engine.views()
    found = PolicyModel(table, arrays_of(net)).logits(rows, engine.p)
    obs = np.zeros((400, observation_spec("relative", table).size), np.float32)
    encode_batch(ENCODE_RELATIVE, rows, engine.p, obs)
    masks = np.zeros((400, table.rules.n_actions), np.int8)
    for row, mask in zip(rows, masks, strict=True):
        mask_into(row, engine.p, mask)
    with torch.no_grad():
        wanted = net(torch.from_numpy(obs)).numpy()
    legal = masks == 1
    assert np.abs(found[legal] - wanted[legal]).max() < 1e-5
    assert np.isneginf(found[~legal]).all()


@pytest.fixture
def saved(tmp_path):
    """A policy for five players on disk; returns its path without suffix."""
    path = tmp_path / "five"
    table = Table(players=5)
    metadata = {"kind": "ppo", "version": VERSION, "table": table_metadata(table)}
    save_weights(path, arrays_of(net_of(table)), metadata)
    return path


def test_the_agent_takes_the_most_likely_legal_action(saved):
    table = Table(players=5)
    agent, engine = make_agent(f"ppo:{saved}", table), positions(table, 1100)
    rows = engine.views()
    actions = agent.act_rows(rows, engine.p, np.zeros(1100, np.uint64))
    logits = agent.model.logits(rows, engine.p)
    assert (logits[np.arange(1100), actions] == logits.max(axis=1)).all()
    engine.step(actions)


def test_one_view_is_answered_as_in_a_batch(saved):
    view = parse_position("hand=12,34,45,67,88,90 others=6,6,6,6")
    agent = make(view.table, str(saved) + ".safetensors")
    assert view.rules.decode(agent.act(view)) in view.plays_now
    assert len(agent.weights_hash) == 16


@pytest.mark.parametrize(
    "table", [Table(players=4), Table(PRESETS["profi"], 5), Table(players=5, memory=False)]
)
def test_another_table_is_refused(saved, table):
    with pytest.raises(ValueError, match=r"was trained for official, 5 players.*not for"):
        make(table, str(saved))


def test_a_truncated_file_is_refused(saved):
    file = saved.with_suffix(".safetensors")
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match="damaged"):
        make(Table(players=5), str(saved))


def test_another_observation_version_is_refused(saved):
    beside = saved.with_suffix(".json")
    beside.write_text(beside.read_text().replace(f'"version": {VERSION}', '"version": 0'))
    with pytest.raises(ValueError, match="trained on input version 0"):
        make(Table(players=5), str(saved))


def test_layers_of_another_shape_are_refused():
    weights = arrays_of(net_of(Table(players=5)))
    weights["context.weight"] = weights["context.weight"][:, 1:]
    with pytest.raises(ValueError, match="layer context has shape"):
        PolicyModel(Table(players=5), weights)
    del weights["end.bias"]
    with pytest.raises(ValueError, match=r"lack end\.bias"):
        PolicyModel(Table(players=5), weights)


def test_missing_weights_are_named():
    with pytest.raises(ValueError, match="no weights at nowhere"):
        make_agent("ppo:nowhere", Table(players=5))
