"""Hints: the plans of a turn, ranked by playing the game on from many dealings of unseen cards.

`hint` is the one entry; the command line, and later the page and the terminal, only show what it
returns. It reads a `View`, so it cannot tell more than the seat may know: permuting the unseen
cards changes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.plans import Workspace, longest_plan, plan_actions, search_plans, select_plans
from thegame_app.playouts import Dealings
from thegame_app.reasons import reason_for
from thegame_app.sentences import sentence
from thegame_env.engine import parameters
from thegame_env.notation import format_position
from thegame_env.rules import PILES, unknown
from thegame_env.view import View

Counts = npt.NDArray[np.int64]

CLOSE = 3.0
"""Standard errors of the paired difference below which two plans are too close to call."""


@dataclass(frozen=True, slots=True)
class Strength:
    """How much work a hint does.

    Attributes:
        plans: Plans looked at: those of least movement.
        first: Dealings that all of them are played on.
        finalists: Plans that go on.
        deals: Dealings that the finalists are judged on; the first ones are among them.
    """

    plans: int
    first: int
    finalists: int
    deals: int


STRENGTHS = {
    "instant": Strength(plans=40, first=40, finalists=8, deals=200),
    "normal": Strength(plans=80, first=100, finalists=12, deals=1000),
    "deep": Strength(plans=160, first=400, finalists=16, deals=8000),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """A way to play the turn, and what is to be expected of it.

    Attributes:
        plays: `(card, pile)` in order, pile 0..3.
        ends_turn: Whether END_TURN follows; without it the turn (or the game) ends by itself.
        cards_left: Mean cards left at the end of the game, with its standard error.
        cards_left_se: See `cards_left`.
        win: Share of games won, 0..1, with its standard error.
        win_se: See `win`.
        close: Whether it is too close to the best plan to call.
        reason: One short reason, from facts of the position.
    """

    plays: tuple[tuple[int, int], ...]
    ends_turn: bool
    cards_left: float
    cards_left_se: float
    win: float
    win_se: float
    close: bool
    reason: str

    def document(self) -> dict[str, Any]:
        """The plan for JSON, piles by name."""
        plays = [{"card": card, "pile": PILES[pile]} for card, pile in self.plays]
        return {**dataclasses.asdict(self), "plays": plays}


@dataclass(frozen=True, slots=True)
class Hint:
    """Ranked plans, the best first, and what there is to know beside them."""

    position: str
    strength: str
    plans: tuple[Plan, ...]
    note: str

    def document(self) -> dict[str, Any]:
        """The hint for JSON."""
        return {
            "position": self.position,
            "strength": self.strength,
            "plans": [plan.document() for plan in self.plans],
            "note": self.note,
        }


def hint(view: View, strength: str = "normal", top: int = 5, seed: int = 0) -> Hint:
    """Advice for the acting seat.

    Args:
        view: What it sees.
        strength: "instant", "normal" or "deep".
        top: Plans at most.
        seed: Of the dealings; the same seed gives the same hint.

    Raises:
        ValueError: An unknown strength, `top` below 1, or a view of another seat's turn.
    """
    if strength not in STRENGTHS:
        raise ValueError(unknown("strength", strength, STRENGTHS))
    if top < 1:
        raise ValueError(f"top must be at least 1, not {top}")
    position = format_position(view)
    if not view.cards_left:
        return Hint(position, strength, (), sentence("won"))
    if not view.plays_now and not view.may_end_turn:
        return Hint(position, strength, (), sentence("stuck", owed=view.owed))
    plans, complete = turn_plans(view, STRENGTHS[strength].plans)
    dealings = Dealings(view, seed)
    ranked, deals = _judge(view, plans, dealings, STRENGTHS[strength])
    notes = [*_notes(view, len(plans), complete)]
    notes.append(sentence("figures", deals=deals, player=dealings.player))
    return Hint(position, strength, tuple(ranked[:top]), " ".join(notes))


def turn_plans(view: View, most: int) -> tuple[list[tuple[int, ...]], bool]:
    """The actions of every distinct plan of the turn, least movement first (at most `most`).

    The second value is False where no plan meets the minimum; then there is one, which lays the
    most cards.
    """
    row, p, work = view.row(), parameters(view.table), Workspace()
    nodes, slots, stamp, kept, keys = work.arrays
    found = search_plans(row, p, 16, view.rules.cards, nodes, slots, stamp)
    count, complete = select_plans(row, p, found, most, nodes, kept, keys)
    out, plans = np.zeros(longest_plan(p), np.int64), []
    for node in kept[:count]:
        length = plan_actions(p, nodes, node, out)
        actions = out[:length] if complete else out[: max(length - 1, 0)]
        plans.append(tuple(int(action) for action in actions))
    return plans, bool(complete)


def _judge(
    view: View, plans: Sequence[tuple[int, ...]], dealings: Dealings, strength: Strength
) -> tuple[list[Plan], int]:
    """The finalists among the plans, best first, and the dealings they were judged on."""
    order = list(range(len(plans)))
    if len(plans) > strength.finalists:
        first = dealings.cards_left(plans, strength.first).mean(axis=1)
        order = np.argsort(first, kind="stable")[: strength.finalists].tolist()
    deals = strength.deals if len(order) > 1 else strength.first
    left = dealings.cards_left([plans[i] for i in order], deals)
    ranking = np.argsort(left.mean(axis=1), kind="stable")
    best = left[ranking[0]]
    close = [False] + [is_close(left[i], best) for i in ranking[1:]]
    judged = zip(ranking, close, strict=True)
    return [_plan(view, plans[order[i]], left[i], near) for i, near in judged], deals


def is_close(left: Counts, best: Counts) -> bool:
    """Whether two plans are too close to call, from their cards left over the same dealings."""
    lost = left - best
    return bool(lost.mean() <= CLOSE * lost.std(ddof=1) / np.sqrt(len(lost)))


def _plan(view: View, actions: tuple[int, ...], left: Counts, close: bool) -> Plan:
    """A plan with its figures: the cards left over the dealings are `left`."""
    rules, root, won = view.rules, np.sqrt(len(left)), left == 0
    plays = tuple(play for play in map(rules.decode, actions) if play is not None)
    return Plan(
        plays=plays,
        ends_turn=bool(actions) and actions[-1] == rules.end_turn,
        cards_left=float(left.mean()),
        cards_left_se=float(left.std(ddof=1) / root),
        win=float(won.mean()),
        win_se=float(won.std(ddof=1) / root),
        close=close,
        reason=reason_for(view, plays),
    )


def _notes(view: View, plans: int, complete: bool) -> list[str]:
    """What is to be said first of all, and what the figures do not know."""
    notes = []
    if not complete:
        notes.append(sentence("dead", owed=view.owed))
    elif not view.plays_now:
        notes.append(sentence("pass" if view.owed else "end"))
    elif plans == 1:
        notes.append(sentence("only"))
    if view.seen is None:
        notes.append(sentence("unknown_played"))
    if view.table.talk != "none":
        notes.append(sentence("talk_unused"))
    return notes
