"""Two looks ahead: what the second one adds to the first, and over which dealings."""

from __future__ import annotations

import numpy as np
import pytest

from agents.afterstate_features import VERSION
from agents.candidates import DEAD, OPEN, WINS
from agents.look_ahead import UTILITY, LookAhead
from agents.second_look import DEEP, SHALLOW, SecondLook, best_replies, best_reply
from agents.turn_value import TurnValue
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import SHIPPED, load_weights
from thegame_env.engine import Engine, parameters
from thegame_env.rules import Table


def shipped_value(table: Table) -> TurnValue:
    weights, _ = load_weights(SHIPPED / f"afterstate_{table.players}p", "afterstate", VERSION)
    return TurnValue(parameters(table), ValueModel(weights), utility_of("blend"), 6, 4, 10)


def opening(table: Table, seed: int) -> tuple[np.ndarray, np.ndarray, TurnValue]:
    """A view, the afterstates of some of its plans, and the value."""
    value, engine = shipped_value(table), Engine(table, 1)
    engine.deal(seed)
    choice = value.choose(engine.views())
    order = np.argsort(-choice.utility)[:4]
    return engine.views()[0].copy(), choice.plans.states[order].copy(), value


def test_the_best_open_replies_best_first() -> None:
    starts = np.array([0, 4, 6, 8])
    utility = np.array([0.1, 0.4, 0.3, 0.2, 1.0, 0.5, 0.2, 0.6], np.float32)
    kinds = np.array([OPEN, OPEN, DEAD, OPEN, WINS, OPEN, OPEN, OPEN], np.int8)
    picked, counts = np.zeros((3, 2), np.int64), np.zeros(3, np.int64)
    best_replies(starts, utility, kinds, 2, picked, counts)
    assert counts.tolist() == [2, 0, 2]
    assert picked[[0, 2]].tolist() == [[1, 3], [7, 6]]


def test_the_best_reply_counts_and_its_value_as_dealings() -> None:
    outcomes = np.array([[0.2, 0.4], [0.6, 0.8], [0.1, 0.1]])
    values = np.array([0.9, 0.1, 0.5], np.float32)
    picked, counts = np.array([[0, 1], [0, 0], [2, 0]]), np.array([2, 0, 1])
    worth = np.array([7.0, 0.25, 7.0])
    best_reply(outcomes, values, picked, counts, 2.0, worth)
    assert worth == pytest.approx([0.6, 0.25, 0.3])  # (0.6 + 2 * 0.9) / 4, kept, (0.2 + 1) / 4


@pytest.mark.parametrize("players", [1, 3])
def test_one_of_the_two_looks_is_the_look_ahead(players: int) -> None:
    row, states, value = opening(Table(players=players), 11)
    once, _ = LookAhead(value, 0).judge(row, states, 40, np.uint64(5))
    both, _ = SecondLook(value, 3, 8, 4.0).judge(row, states, 40, np.uint64(5))
    np.testing.assert_allclose(both[..., SHALLOW], once[..., UTILITY], atol=1e-6)
    assert (both[..., DEEP] != both[..., SHALLOW]).mean() > 0.9


def test_many_replies_and_dealings_agree_with_the_value() -> None:
    """What a second look says is, on average, about what the value said a turn earlier."""
    row, states, value = opening(Table(players=1), 12)
    both, _ = SecondLook(value, 3, 8, 4.0).judge(row, states, 200, np.uint64(6))
    corrections = both[..., DEEP] - both[..., SHALLOW]
    assert np.abs(corrections.mean(axis=1)).max() < 0.03


def test_without_another_dealing_two_looks_are_the_best_reply_of_the_first() -> None:
    """A reply whose value counts for everything is worth what the first look said."""
    row, states, value = opening(Table(players=1), 13)
    both, _ = SecondLook(value, 3, 2, 1e9).judge(row, states, 10, np.uint64(6))
    np.testing.assert_allclose(both[..., DEEP], both[..., SHALLOW], atol=1e-6)


def test_plans_that_leave_the_same_get_the_same_dealings() -> None:
    row, states, value = opening(Table(players=1), 14)
    twice = np.concatenate([states[:1], states[:1]])
    both, after = SecondLook(value, 3, 4, 4.0).judge(row, twice, 16, np.uint64(7))
    np.testing.assert_array_equal(both[0], both[1])
    other, _ = SecondLook(value, 3, 4, 4.0).judge(row, twice, 16, after)
    assert (both[..., DEEP] != other[..., DEEP]).mean() > 0.9
