"""The shipped policies: numpy plays what torch learnt, and quickly; each has its card."""

import time

import numpy as np
import pytest
import torch

from agents.policy_net import model_of
from agents.ppo import KIND
from agents.registry import make_agent
from agents.weight_files import SHIPPED, load_weights, shipped
from thegame_env.engine import Engine
from thegame_env.observation import ENCODE_RELATIVE, VERSION, encode_batch, observation_spec
from thegame_env.rules import Rules, Table
from train.config import NetworkSection
from train.policy import networks
from train.policy_network import Shape
from train.self_play import deal_finished

MOST_BYTES = 5_000_000
NAMES = sorted(shipped(KIND))


def table_of(name: str) -> Table:
    told = shipped(KIND)[name]["table"]
    rules = Rules.parse(told["rules"])
    return Table(rules, told["players"], told["memory"], told["talk"])


def check_equal(name: str, wanted: int) -> None:
    """The logits of `wanted` positions of its own games are those of torch, to 1e-5 of the largest.

    Both compute in single precision, whose steps grow with the numbers that are added.
    """
    table, metadata = table_of(name), shipped(KIND)[name]
    arrays, _ = load_weights(SHIPPED / f"{name}.safetensors", KIND, VERSION)
    net, _ = networks(
        Shape.of(table), NetworkSection(**metadata["config"]["network"]), table.rules.n_actions
    )
    for key, value in net.weights().items():
        value.copy_(torch.from_numpy(arrays[key].copy()))
    model, engine = model_of(table, arrays), Engine(table, 250)
    engine.deal(np.arange(250))
    size, seen = observation_spec("relative", table).size, 0
    while seen < wanted:
        rows = engine.views()
        found = model.logits(rows, engine.p)
        obs = np.zeros((len(rows), size), np.float32)
        encode_batch(ENCODE_RELATIVE, rows, engine.p, obs)
        with torch.no_grad():
            expected = net(torch.from_numpy(obs)).numpy()
        legal = np.isfinite(found)
        error = np.abs(found - expected, where=legal, out=np.zeros_like(found))
        assert error.max() <= 1e-5 * max(np.abs(expected[legal]).max(), 1.0)
        assert (np.where(legal, expected, -np.inf).argmax(1) == found.argmax(1)).mean() > 0.99
        engine.step(found.argmax(1))
        deal_finished(engine.games, engine.decks, engine.p)
        seen += len(rows)


@pytest.mark.parametrize("name", NAMES)
def test_numpy_equals_torch(name):
    check_equal(name, 1000)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_numpy_equals_torch_at_ten_thousand_positions(name):
    check_equal(name, 10_000)


@pytest.mark.long
def test_a_decision_takes_less_than_three_tenths_of_a_millisecond():
    name = NAMES[-1]
    table = table_of(name)
    agent, engine = make_agent(f"ppo:{name}", table), Engine(table, 200)
    engine.deal(np.arange(200))
    rows, streams = engine.views(), np.zeros(1, np.uint64)
    times = []
    for _ in range(5):
        began = time.process_time()
        for row in rows:
            agent.act_rows(row[None], engine.p, streams)
        times.append((time.process_time() - began) / len(rows))
    assert min(times) < 0.3e-3


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_small_and_have_a_card(name):
    assert (SHIPPED / f"{name}.safetensors").stat().st_size < MOST_BYTES
    card = (SHIPPED / f"{name}.md").read_text()
    assert card.startswith(f"# {name}\n")
    assert f"configs/{name}.yaml" in card
