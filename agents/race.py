"""The plans of a turn while a search judges them: their outcomes, who is ahead, what is at stake.

Outcomes come over common dealings. One look ahead gives them first; a second look may add
*corrections*, what two looks say minus what one says over the same dealing. There are fewer of
those, so their mean is drawn towards zero by what corrections were found to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.look_ahead import UTILITY

Floats = npt.NDArray[np.float64]

FIRST_LOOK = 16
"""Dealings before anything is said of what is at stake."""
CORRECTION, CORRECTION_PRIOR = 0.42, 28.0
"""How the corrections of two plans differ: by how much over one dealing (standard deviation, a
share of that of their outcomes by one look), and how many dealings the expectation that they do
not differ counts for. Solo, between the best plan and three others in 60 positions of development
deals, 192 dealings each: 0.42 over a dealing, and a mean whose square is 0.0062 of the outcomes'
variance, a 28th of 0.42 squared. With three players 0.36 and 0.0033, a 39th."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A searched turn: its plans, best first, and their outcomes over common dealings.

    Attributes:
        actions: The actions of each plan.
        outcomes: float64[D, 3] each (look_ahead.UTILITY, WINS, CARDS_LEFT), by one look; plans
            that were dropped early have fewer dealings, and the dealings are the same for all that
            have them.
        utility: What each is thought worth, its own value and the corrections included as they
            count in the search; 1 for a plan that wins for certain.
    """

    actions: list[list[int]]
    outcomes: list[Floats]
    utility: list[float]


class Race:
    """The plans of a turn, best first.

    Args:
        values: What the learned value says of each, float64[M].
        prior: Dealings that this counts for.
        least: Plans that are left at least, where some are dropped by halves.
    """

    def __init__(self, values: Floats, prior: float, least: int = 2) -> None:
        self.values, self.prior, self.least = values, prior, least
        self.left = list(range(len(values)))
        self._dropped: list[int] = []
        self._outcomes = [np.zeros((0, 3)) for _ in values]
        self._corrections = [np.zeros(0) for _ in values]

    def add(self, judged: Floats) -> None:
        """Take in more outcomes of the plans that are left, float64[len(left), D, 3]."""
        for i, plan in enumerate(self.left):
            self._outcomes[plan] = np.concatenate([self._outcomes[plan], judged[i]])
        self._sort()

    def correct(self, corrections: Floats) -> None:
        """Take in more corrections of the plans that are left, float64[len(left), D]."""
        for i, plan in enumerate(self.left):
            self._corrections[plan] = np.concatenate([self._corrections[plan], corrections[i]])
        self._sort()

    def halve(self) -> None:
        """Drop the worse half, down to `least`."""
        self._keep(max((len(self.left) + 1) // 2, self.least))

    def drop(self, negligible: float, most: int) -> None:
        """Drop the worst plans down to `most`, and more if together they put nothing at stake.

        Args:
            negligible: Utility that counts as nothing.
            most: Plans that are left at most.
        """
        stakes, keep = self._stakes(corrected=True), min(len(self.left), most)
        while keep > 1 and sum(stakes[keep - 1 : most]) < negligible:
            keep -= 1
        self._keep(keep)

    def regret(self, corrected: bool = False) -> float:
        """Utility that one must expect to lose by taking the first plan now.

        Args:
            corrected: Whether against two looks; else against one.
        """
        return sum(self._stakes(corrected))

    def judged(self, actions: list[list[int]]) -> Judged:
        """All plans with their actions, best first."""
        ranking = [*self.left, *self._dropped]
        worth = [self._mean(i) for i in ranking]
        return Judged([actions[i] for i in ranking], [self._outcomes[i] for i in ranking], worth)

    def _sort(self) -> None:
        self.left.sort(key=self._mean, reverse=True)

    def _keep(self, keep: int) -> None:
        self._dropped = [*self.left[keep:], *self._dropped]
        self.left = self.left[:keep]

    def _stakes(self, corrected: bool) -> list[float]:
        """Expected amount by which each plan that is left is better than the first after all.

        As if the errors of the paired differences were normal (expected opportunity cost, Chick
        and Inoue 2001); the first plan's is 0.
        """
        first = self._outcomes[self.left[0]][:, UTILITY]
        if len(first) < FIRST_LOOK:
            return [math.inf] * len(self.left)
        best, looks = self._mean(self.left[0]), len(self._corrections[self.left[0]])
        error = math.sqrt(len(first)) / (len(first) + self.prior)
        if corrected:
            error = math.hypot(error, CORRECTION / math.sqrt(looks + CORRECTION_PRIOR))
        stakes = [0.0]
        for plan in self.left[1:]:
            spread = float(np.std(first - self._outcomes[plan][:, UTILITY]))
            stakes.append(_expected_gain(best - self._mean(plan), spread * error))
        return stakes

    def _mean(self, plan: int) -> float:
        """Utility of a plan: its value counts as `prior` dealings; then its corrections."""
        outcomes, corrections = self._outcomes[plan], self._corrections[plan]
        total = outcomes[:, UTILITY].sum() + self.prior * self.values[plan]
        worth = total / (len(outcomes) + self.prior)
        return float(worth + corrections.sum() / (len(corrections) + CORRECTION_PRIOR))


def _expected_gain(behind: float, error: float) -> float:
    """Mean of max(x, 0) for a normal x of mean -behind and standard deviation `error`."""
    if error <= 0.0:
        return 0.0
    z = behind / error
    density = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return error * (density - 0.5 * z * math.erfc(z / math.sqrt(2.0)))
