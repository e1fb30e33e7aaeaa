"""The numpy policy equals the torch one; bad weights are refused in a sentence."""

import numpy as np
import pytest
import torch

from agents.policy_net import PlainModel, PolicyModel, model_of
from agents.ppo import make
from agents.registry import make_agent
from agents.weight_files import save_weights, table_metadata
from thegame_env.engine import Engine, mask_into, random_steps
from thegame_env.notation import parse_position
from thegame_env.observation import ENCODERS, VERSION, encode_batch, observation_spec
from thegame_env.rules import PRESETS, Rules, Table
from train.policy_network import PlainNet, PolicyNet, Shape

TABLES = [
    Table(),
    Table(players=5),
    Table(Rules("custom", cards=20, hand_sizes=(4, 3), trick=4), 2),
    Table(PRESETS["profi"], 3, memory=False, talk="open"),
    Table(PRESETS["small-hands"], 4),
]


def net_of(table: Table) -> PolicyNet:
    torch.manual_seed(3)
    net = PolicyNet(Shape.of(table), 16, 24, 18, 20, 12)
    for layer in (net.play, net.end):
        torch.nn.init.normal_(layer.weight, std=0.3)
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
    check_equal(table, net_of(table), "relative")


@pytest.mark.parametrize("observation", ["relative", "table"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.rules.name}-{table.players}")
def test_the_plain_network_equals_torch(table, observation):
    torch.manual_seed(4)
    size = observation_spec(observation, table).size
    check_equal(table, PlainNet(size, (24, 16), table.rules.n_actions, small=False), observation)


def check_equal(table, net, observation):
    """The logits of 400 positions are those of torch, and minus infinity where illegal."""
    engine = positions(table, 400)
    rows = engine.views()
    found = model_of(table, arrays_of(net), observation).logits(rows, engine.p)
    obs = np.zeros((400, observation_spec(observation, table).size), np.float32)
    encode_batch(ENCODERS[observation], rows, engine.p, obs)
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


def test_plain_layers_of_another_shape_are_refused():
    table = Table(players=5)
    net = PlainNet(observation_spec("table", table).size, (8,), 393, small=True)
    weights = arrays_of(net)
    with pytest.raises(ValueError, match="layer0 has shape"):
        PlainModel(table, weights, "relative")
    weights["layer1.offset"] = weights.pop("layer1.bias")
    with pytest.raises(ValueError, match=r"lack layer1\.bias"):
        PlainModel(table, weights, "table")


def test_weights_of_several_tables_play_each_of_them(tmp_path):
    tables = [Table(players=5), Table(PRESETS["profi"], 2, talk="open")]
    told = [table_metadata(table) for table in tables]
    metadata = {"kind": "ppo", "version": VERSION, "table": told[0], "tables": told}
    save_weights(tmp_path / "many", arrays_of(net_of(tables[0])), metadata)
    for table in tables:
        engine = positions(table, 50)
        agent = make(table, str(tmp_path / "many"))
        engine.step(agent.act_rows(engine.views(), engine.p, np.zeros(50, np.uint64)))
    with pytest.raises(ValueError, match=r"5 players, memory on, talk none; .*profi.* not for"):
        make(Table(players=4), str(tmp_path / "many"))


def test_missing_weights_are_named():
    with pytest.raises(ValueError, match='unknown ppo weights "nowhere"; known: ppo_1p,'):
        make_agent("ppo:nowhere", Table(players=5))
