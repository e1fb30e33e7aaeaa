"""Expert iteration: targets by hand, and self-play that searches every decision."""

from __future__ import annotations

import numpy as np
import pytest

from agents.afterstate_features import SIZE, VERSION
from agents.value_bins import BIN_OF, BINS, utility_of
from agents.value_model import ValueModel
from agents.weight_files import SHIPPED, load_weights
from thegame_env.rules import Rules, Table, Talk
from train.search_play import Searched, SearchPlay


def at(left: int) -> np.ndarray:
    return np.eye(BINS, dtype=np.float32)[BIN_OF[left]]


def test_targets_by_hand() -> None:
    """Two decisions of two plans; the first explored, so the later end does not reach it."""
    game, features = Searched(), np.zeros((2, SIZE), np.float32)
    game.add(features, np.array([at(9), at(4)]), played=1, best=1)
    game.add(features, np.array([at(7), at(2)]), played=0, best=1)
    _, targets = game.samples(0, decay=0.5)
    assert targets.shape == (4, BINS)
    np.testing.assert_allclose(targets[0], at(9))
    np.testing.assert_allclose(targets[1], 0.5 * at(4) + 0.5 * at(2))
    np.testing.assert_allclose(targets[2], 0.5 * at(7) + 0.5 * at(0))
    np.testing.assert_allclose(targets[3], at(2))


@pytest.mark.parametrize(("name", "players", "talk"), [("1p", 1, "none"), ("3p_open", 3, "open")])
def test_every_judged_plan_becomes_a_sample(name: str, players: int, talk: Talk) -> None:
    weights, _ = load_weights(SHIPPED / f"afterstate_{name}", "afterstate", VERSION)
    table = Table(Rules.parse("official"), players, talk=talk)
    play = SearchPlay(
        table, ValueModel(weights), utility_of("blend"), 2, 5, most=12, decay=0.5, deals=4, plans=3
    )
    samples = []
    while len(samples) < 2:
        samples += play.step(0.1)
    for features, targets in samples:
        assert features.shape == (len(targets), SIZE)
        assert len(targets) > 40  # about twenty turns, most of them with three plans
        np.testing.assert_allclose(targets.sum(axis=1), 1.0, rtol=1e-5)
    assert len(play.finished) == 2


def test_with_partners_the_value_counts_beside_the_dealings() -> None:
    """With four dealings beside a prior of 64 no target is far from what the value says."""
    weights, _ = load_weights(SHIPPED / "afterstate_3p", "afterstate", VERSION)
    model = ValueModel(weights)
    play = SearchPlay(
        Table(players=3), model, utility_of("blend"), 4, 5, most=12, decay=0.0, deals=4, plans=3
    )
    for _ in range(3):
        play.step(0.0)
    for trace in play.traces:
        said = model.predict(np.concatenate(trace.features))
        seen = np.concatenate(trace.targets)
        assert 0 < np.abs(said - seen).sum(axis=1).max() < 2 * 4 / 68 + 1e-5
