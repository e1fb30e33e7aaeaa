"""The race of the plans that a search judges: who leads, what is at stake, who is dropped."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from agents.look_ahead import UTILITY
from agents.race import CORRECTION, CORRECTION_PRIOR, Race


def test_what_a_race_may_still_gain() -> None:
    """Two plans whose paired difference has mean 0.1 and standard error 0.05."""
    race, deals = Race(np.array([0.5, 0.4]), 0.0), 100
    noise = np.random.default_rng(0).normal(size=deals)
    noise = (noise - noise.mean()) / noise.std()
    outcomes = np.zeros((2, deals, 3))
    outcomes[0, :, UTILITY] = 0.5
    outcomes[1, :, UTILITY] = 0.4 + 0.5 * noise
    race.add(outcomes)
    expected = norm.expect(lambda lead: max(-lead, 0.0), loc=0.1, scale=0.05)
    assert race.regret() == pytest.approx(expected, rel=1e-3)
    assert race.left == [0, 1]


def test_a_race_keeps_the_better_half_and_weighs_the_value_as_dealings() -> None:
    race, outcomes = Race(np.array([0.5, 0.5, 0.0, 0.5]), 10.0), np.zeros((4, 10, 3))
    outcomes[:, :, UTILITY] = np.array([0.1, 0.3, 0.7, 0.2])[:, None]
    race.add(outcomes)
    assert race.left == [1, 2, 3, 0]  # (10 * value + 10 * mean) / 20
    race.halve()
    assert race.left == [1, 2]
    assert race.judged([[0], [1], [2], [3]]).actions == [[1], [2], [3], [0]]


def outcomes_of(means: list[float], deals: int, spread: float = 0.0) -> np.ndarray:
    """Outcomes with these mean utilities; every plan but the first spreads against it."""
    noise = np.random.default_rng(1).normal(size=deals)
    noise = (noise - noise.mean()) / noise.std()
    outcomes = np.zeros((len(means), deals, 3))
    outcomes[:, :, UTILITY] = np.array(means)[:, None]
    outcomes[1:, :, UTILITY] += spread * noise
    return outcomes


def test_corrections_are_drawn_towards_none() -> None:
    """A mean correction of 0.1 over as many dealings as the prior counts for is worth 0.05."""
    race, deals = Race(np.array([0.5, 0.5]), 0.0), int(CORRECTION_PRIOR)
    race.add(outcomes_of([0.50, 0.48], 20))
    race.correct(np.array([[0.0] * deals, [0.1] * deals]))
    judged = race.judged([[0], [1]])
    assert judged.actions == [[1], [0]]
    assert judged.utility == pytest.approx([0.48 + 0.05, 0.50])
    assert [len(part) for part in judged.outcomes] == [20, 20]


def test_what_two_looks_may_still_change() -> None:
    """Their error stands beside that of one look, and falls as corrections come in."""
    race, deals, spread = Race(np.array([0.5, 0.4]), 0.0), 400, 0.2
    race.add(outcomes_of([0.50, 0.49], deals, spread))
    known = 0.0
    for corrections in (0, 100):
        if corrections:
            race.correct(np.zeros((2, corrections)))
        unknown = CORRECTION**2 / (CORRECTION_PRIOR + corrections)
        error = spread * (1 / deals + unknown) ** 0.5
        expected = norm.expect(lambda lead: max(-lead, 0.0), loc=0.01, scale=error)
        assert race.regret(corrected=True) == pytest.approx(expected, rel=1e-3)
        assert race.regret(corrected=True) < known or not corrections
        known = race.regret(corrected=True)
    assert race.regret() < known


def test_plans_with_nothing_at_stake_are_dropped() -> None:
    race = Race(np.zeros(5), 0.0, least=4)
    race.add(outcomes_of([0.5, 0.499, 0.498, 0.497, 0.1], 64, 0.02))
    race.drop(1e-5, 4)
    assert race.left == [0, 1, 2, 3]
    race.drop(1e-5, 2)
    assert race.left == [0, 1]
    assert race.judged([[i] for i in range(5)]).actions == [[0], [1], [2], [3], [4]]


def test_halves_go_down_to_what_must_be_left() -> None:
    race = Race(np.linspace(1.0, 0.0, 10), 1.0, least=4)
    sizes = []
    for _ in range(3):
        race.halve()
        sizes.append(len(race.left))
    assert sizes == [5, 4, 4]


def test_nothing_is_said_after_few_dealings() -> None:
    race = Race(np.array([0.9, 0.1]), 0.0)
    race.add(outcomes_of([0.9, 0.1], 15, 0.1))
    assert race.regret() == float("inf")
    race.drop(1e-5, 2)
    assert race.left == [0, 1]
