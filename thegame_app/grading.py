"""The plans of a turn, and the race in which they are judged: hints and reviews share it.

The race is sequential halving (Karnin, Koren, Somekh 2013) over common dealings: every round
doubles the dealings and drops the worse half, down to a few finalists, which go on to the end.
After each round there is a standing, so a reader need not wait for the last one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.plans import (
    MAX_BRANCH,
    Workspace,
    longest_plan,
    plan_actions,
    search_plans,
    select_plans,
)
from agents.rollout import best_plans
from agents.sequence import weights_for
from agents.turn_score import FLOATS, INTS
from thegame_app.playouts import Actions, Judge
from thegame_app.refusals import unknown_name
from thegame_env.engine import parameters
from thegame_env.view import View

Floats = npt.NDArray[np.float64]

CLOSE = 3.0
"""Standard errors of the paired difference below which two plans are too close to call."""
MOST_SCALE = 4
"""Where little is left to play, dealings are cheap: at most so many times as many."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How much work goes into a turn.

    Attributes:
        plans: Plans judged: those that `sequence` scores best.
        first: Dealings of the first round.
        finalists: Plans that are never dropped for being in the worse half.
        deals: Dealings that the finalists are judged on at the start of a game; more later.
    """

    plans: int
    first: int
    finalists: int
    deals: int

    def deals_at(self, view: View) -> int:
        """Dealings for the finalists in this position; they cost about as much in every one."""
        scale = min(view.rules.cards / max(view.cards_left, 1), MOST_SCALE)
        return max(int(self.deals * scale), self.first)


STRENGTHS = {
    "instant": Strength(plans=16, first=12, finalists=6, deals=48),
    "normal": Strength(plans=48, first=16, finalists=8, deals=768),
    "deep": Strength(plans=64, first=16, finalists=8, deals=6144),
}


def strength_of(name: str) -> Strength:
    """The strength of a name; a Refusal names the known ones."""
    if name not in STRENGTHS:
        raise unknown_name("strength", name, STRENGTHS)
    return STRENGTHS[name]


@dataclass(frozen=True, slots=True)
class Standing:
    """The plans still in the race, best first, and their figures over the same dealings.

    Attributes:
        plans: Their actions.
        left: Cards left, float64[plans, dealings].
        win: Chance to win, of the same shape.
    """

    plans: tuple[tuple[int, ...], ...]
    left: Floats
    win: Floats

    @property
    def deals(self) -> int:
        """How many dealings they were judged on."""
        return int(self.left.shape[1])

    def lost(self, plan: int) -> tuple[float, float]:
        """Cards that a plan costs against the best one: the mean and its standard error."""
        lost = self.left[plan] - self.left[0]
        return float(lost.mean()), standard_error(lost)

    def is_close(self, plan: int) -> bool:
        """Whether a plan is too close to the best to call; the best itself is not."""
        mean, error = self.lost(plan)
        return plan > 0 and mean <= CLOSE * error


def standard_error(values: Floats) -> float:
    """Standard error of the mean of independent values; 0 for a single one."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def turn_plans(view: View, most: int) -> tuple[list[tuple[int, ...]], bool]:
    """The actions of the distinct plans of the turn that `sequence` likes best (at most `most`).

    The second value is False where no plan meets the minimum; then there is one, which lays the
    most cards.
    """
    row, p, work = view.row(), parameters(view.table), Workspace()
    tables = np.zeros(INTS, np.int64), np.zeros(FLOATS)
    count, complete = best_plans(row, p, most, weights_for(view.table), *work.arrays, *tables)
    if not complete:
        count, complete = _all_plans(view, work, most)
    nodes, _, _, kept, _ = work.arrays
    out, plans = np.zeros(longest_plan(p), np.int64), []
    for node in kept[:count]:
        length = plan_actions(p, nodes, node, out)
        actions = out[:length] if complete else out[: max(length - 1, 0)]
        plans.append(tuple(int(action) for action in actions))
    return plans, bool(complete)


def afterstate(view: View, actions: Sequence[int]) -> tuple[Any, ...]:
    """What a plan leaves, equal for equal plans: cards laid, tops, whether it ends the turn."""
    tops, laid = list(view.tops), set()
    for play in map(view.rules.decode, actions):
        if play is not None:
            laid.add(play[0])
            tops[play[1]] = play[0]
    up, down = sorted(tops[:2]), sorted(tops[2:])
    return frozenset(laid), *up, *down, bool(actions) and actions[-1] == view.rules.end_turn


def has_choice(view: View) -> bool:
    """Whether more than one plan is legal, those that `turn_plans` leaves out included."""
    return _all_plans(view, Workspace(), 2)[0] > 1


def _all_plans(view: View, work: Workspace, most: int) -> tuple[int, bool]:
    """Search without regard to gaps, so that no way to meet the minimum is missed.

    Returns:
        How many plans stand in the workspace (at most `most`), and whether they meet the minimum.
    """
    row, p = view.row(), parameters(view.table)
    nodes, slots, stamp, kept, keys = work.arrays
    found = search_plans(row, p, MAX_BRANCH, view.rules.cards, nodes, slots, stamp)
    count, complete = select_plans(row, p, found, most, nodes, kept, keys)
    return int(count), bool(complete)


def race(
    judge: Judge,
    plans: Sequence[Actions],
    strength: Strength,
    deals: int,
    finalists: int = 0,
    always: Collection[int] = (),
) -> Iterator[Standing]:
    """Judge the plans; yields the standing after every round.

    Args:
        judge: Whose opinion counts.
        plans: Their actions; not empty.
        strength: How much work is done.
        deals: Dealings for the finalists.
        finalists: Keep at least so many, even where the strength keeps fewer.
        always: Indices of plans that stay in the race whatever happens.
    """
    order = list(range(len(plans)))
    left, win = np.zeros((len(plans), 0)), np.zeros((len(plans), 0))
    done, stop = 0, min(strength.first, deals)
    while done < stop:
        more_left, more_win = judge.judge([plans[i] for i in order], done, stop)
        left, win = np.hstack([left, more_left]), np.hstack([win, more_win])
        ranking = np.argsort(left.mean(axis=1), kind="stable")
        order, left, win = [order[k] for k in ranking], left[ranking], win[ranking]
        yield Standing(tuple(tuple(plans[i]) for i in order), left, win)
        done, stop = stop, min(2 * stop, deals)
        survivors = max(strength.finalists, finalists, len(order) // 2)
        kept = [k for k, i in enumerate(order) if k < survivors or i in always]
        order, left, win = [order[k] for k in kept], left[kept], win[kept]
