"""Reviewing a finished game: what each decision cost, apart from what luck did.

Every turn is judged from the acting seat's view at its start, as a hint is: the plan that was
played against the best plan that was there, both over fresh dealings (others than those that chose
the best one, whose choice would flatter it). What happens between a turn's plan and the start of
the next judged turn, refills and other seats' turns, is not the acting seat's doing: it is the
luck of that turn. So the cards left in the end are the first turn's expectation, plus what the
judged decisions lost, plus luck.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from thegame_app.grading import (
    CLOSE,
    Strength,
    afterstate,
    has_choice,
    race,
    standard_error,
    strength_of,
    turn_plans,
)
from thegame_app.language import Refusal
from thegame_app.playouts import Judge, Partners, judge_for
from thegame_env.notation import GameRecord, format_action, format_position
from thegame_env.reference import Game
from thegame_env.view import View

Grade = Literal["best", "fine", "inaccurate", "bad"]
GRADES: tuple[Grade, ...] = ("best", "fine", "inaccurate", "bad")
INACCURATE, BAD = (0.5, 0.04), (1.5, 0.10)
"""Cards, or chance to win, that such a turn has lost at least."""
NEGLIGIBLE = 0.05, 0.005
"""Cards and chance to win: what loses less of both counts as best, however sure the loss is."""
COSTLY = 3
"""Turns that are named as those that cost most."""


@dataclass(frozen=True, slots=True)
class TurnReview:
    """One judged turn.

    Attributes:
        number: Number of the turn in the game, from 1 on.
        seat: Who acted; seats count from 0, what people read counts players from 1.
        view: What it saw.
        played: The actions of its turn.
        best: Those of the best plan; the same afterstate counts as the same plan.
        grade: See `grade_of`.
        only: Whether there was no choice.
        cards_played: Expected cards left after what was played.
        cards_best: The same for the best plan.
        win_played: Chance to win after what was played.
        win_best: The same for the best plan.
        lost_cards: `cards_played - cards_best`, 0 or more, with its standard error.
        lost_cards_se: See `lost_cards`.
        lost_win: `win_best - win_played`, which may be negative, with its standard error.
        lost_win_se: See `lost_win`.
        luck_cards: How many cards fewer than expected the refills and other seats' turns left,
            until the next judged turn or the end; negative is bad luck.
        luck_win: By how much they raised the chance to win.
    """

    number: int
    seat: int
    view: View
    played: tuple[int, ...]
    best: tuple[int, ...]
    grade: Grade
    only: bool
    cards_played: float
    cards_best: float
    win_played: float
    win_best: float
    lost_cards: float
    lost_cards_se: float
    lost_win: float
    lost_win_se: float
    luck_cards: float = 0.0
    luck_win: float = 0.0

    def document(self) -> dict[str, Any]:
        """The turn for JSON, actions as text."""
        rules = self.view.rules
        values = {
            name.name: getattr(self, name.name)
            for name in dataclasses.fields(self)
            if name.name != "view"
        }
        actions = {
            name: [format_action(rules, action) for action in values[name]]
            for name in ("played", "best")
        }
        return {**values, **actions, "position": format_position(self.view)}


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewed game.

    Attributes:
        record: The game.
        turns: The judged turns in order.
        ended: "won", "stuck", or "unfinished".
        cards_left: At the end.
        strength: How much work each turn got.
        partners: How the other seats are taken to play on.
        seat: The seat whose turns were judged, None for all.
    """

    record: GameRecord
    turns: tuple[TurnReview, ...]
    ended: str
    cards_left: int
    strength: str
    partners: Partners
    seat: int | None

    @property
    def costly(self) -> list[TurnReview]:
        """The turns that cost most: the worst grade first, and within a grade the highest cost.

        Cards and chance to win are weighed as the limits of "bad" do.
        """
        lost = [turn for turn in self.turns if turn.grade != "best"]
        return sorted(lost, key=lambda turn: (-GRADES.index(turn.grade), -_cost(turn)))[:COSTLY]

    @property
    def lost_cards(self) -> float:
        """Cards that the judged decisions lost together."""
        return sum(turn.lost_cards for turn in self.turns)

    @property
    def luck_cards(self) -> float:
        """Cards that luck saved; negative is bad luck."""
        return sum(turn.luck_cards for turn in self.turns)

    @property
    def counts(self) -> dict[Grade, int]:
        """Turns of each grade."""
        return {grade: sum(turn.grade == grade for turn in self.turns) for grade in GRADES}

    def document(self) -> dict[str, Any]:
        """The review for JSON."""
        return {
            "record": str(self.record),
            "strength": self.strength,
            "partners": self.partners if self.record.table.players > 1 else None,
            "seat": self.seat,
            "ended": self.ended,
            "cards_left": self.cards_left,
            "lost_cards": self.lost_cards,
            "luck_cards": self.luck_cards,
            "grades": self.counts,
            "costly": [turn.number for turn in self.costly],
            "turns": [turn.document() for turn in self.turns],
        }


def review(
    record: GameRecord,
    strength: str = "normal",
    partners: Partners = "expert",
    seed: int = 0,
    seat: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Review:
    """Judge every turn of a game.

    Args:
        record: The game; it may be unfinished.
        strength: "instant", "normal" or "deep", as for a hint.
        partners: How the other seats are taken to play on.
        seed: Of the dealings.
        seat: Judge this seat's turns only.
        progress: Is called with (turns done, all turns) after each one.

    Raises:
        ValueError: An unknown strength, a seat that does not exist, nothing to judge, or a record
            that does not replay.
    """
    work, players = strength_of(strength), record.table.players
    if seat is not None and not 0 <= seat < players:
        raise ValueError(f"seat {seat} does not exist, seats are 0-{players - 1}")
    last, taken = _turns(record)
    chosen = [turn for turn in taken if seat is None or turn[1].seat == seat]
    if not chosen:
        raise Refusal("no turn was played, there is nothing to review")
    judged = []
    for number, game, actions in chosen:
        view = View.of(game, record.table)
        judged.append(_judge(number, game.seat, view, actions, work, partners, seed + number))
        if progress is not None:
            progress(len(judged), len(chosen))
    won = last.outcome is not None and last.outcome.won
    ended = "unfinished" if last.outcome is None else "won" if won else "stuck"
    turns = tuple(_with_luck(judged, last))
    return Review(record, turns, ended, last.cards_left, strength, partners, seat)


def grade_of(
    lost_cards: float, lost_cards_se: float, lost_win: float, lost_win_se: float, best: bool
) -> Grade:
    """The grade of a turn.

    "best" is the best plan itself, or one that loses less than "inaccurate" and is too close to it
    to call, or one that loses next to nothing. A loss counts for "inaccurate" and "bad" where it is
    `CLOSE` standard errors or more.
    """
    if best or (lost_cards < NEGLIGIBLE[0] and lost_win < NEGLIGIBLE[1]):
        return "best"
    cards = lost_cards if lost_cards > CLOSE * lost_cards_se else 0.0
    win = lost_win if lost_win > CLOSE * lost_win_se else 0.0
    if cards >= BAD[0] or win >= BAD[1]:
        return "bad"
    if cards >= INACCURATE[0] or win >= INACCURATE[1]:
        return "inaccurate"
    small = lost_cards < INACCURATE[0] and lost_win < INACCURATE[1]
    return "best" if small and not cards and not win else "fine"


def _cost(turn: TurnReview) -> float:
    return turn.lost_cards / BAD[0] + max(turn.lost_win, 0.0) / BAD[1]


# --- the turns of a game -------------------------------------------------------------------------


def _turns(record: GameRecord) -> tuple[Game, list[tuple[int, Game, tuple[int, ...]]]]:
    """The last position, and of every turn: its number, its first position, its actions."""
    positions = record.replay()
    game = start = next(positions)
    turns: list[tuple[int, Game, tuple[int, ...]]] = []
    actions: list[int] = []
    for action, after in zip(record.actions, positions, strict=False):
        actions.append(action)
        if after.plays == 0 or after.outcome is not None:
            turns.append((len(turns) + 1, start, tuple(actions)))
            start, actions = after, []
        game = after
    if actions:
        turns.append((len(turns) + 1, start, tuple(actions)))
    return game, turns


def _judge(
    number: int,
    seat: int,
    view: View,
    actions: tuple[int, ...],
    work: Strength,
    partners: Partners,
    seed: int,
) -> TurnReview:
    """Judge what was played in one turn."""
    plans, _ = turn_plans(view, work.plans)
    place = afterstate(view, actions)
    same = [i for i, plan in enumerate(plans) if afterstate(view, plan) == place]
    choices = [plan for i, plan in enumerate(plans) if i not in same]
    judge, deals = judge_for(view, partners, seed), work.deals_at(view)
    *_, standing = race(judge, [actions, *choices], work, deals)
    best = standing.plans[0]
    left, win = _fresh(judge, [actions, best], deals)
    if best == actions or left[0].mean() <= left[1].mean():
        best, left, win = actions, left[[0, 0]], win[[0, 0]]
    lost = left[0] - left[1], win[1] - win[0]
    cards, chance = ((float(part.mean()), standard_error(part)) for part in lost)
    return TurnReview(
        number, seat, view, actions, best, grade_of(*cards, *chance, best == actions),
        not choices and not has_choice(view),
        float(left[0].mean()), float(left[1].mean()), float(win[0].mean()), float(win[1].mean()),
        *cards, *chance,
    )  # fmt: skip


def _fresh(judge: Judge, plans: Sequence[tuple[int, ...]], deals: int) -> Any:
    """Cards left and wins of plans on as many dealings behind those of the race."""
    return judge.judge(plans, deals, 2 * deals)


def _with_luck(turns: Sequence[TurnReview], last: Game) -> Iterator[TurnReview]:
    """The turns with their luck: what came between them."""
    over = last.outcome is not None
    for turn, following in zip(turns, [*turns[1:], None], strict=True):
        if following is not None:
            cards, win = following.cards_best, following.win_best
        elif over:
            cards, win = float(last.cards_left), float(last.cards_left == 0)
        else:
            cards, win = turn.cards_played, turn.win_played
        yield dataclasses.replace(
            turn, luck_cards=turn.cards_played - cards, luck_win=win - turn.win_played
        )


def curve(result: Review) -> tuple[list[int], list[float], list[float]]:
    """Turn numbers, expected cards left and chance to win over the game, the end included."""
    numbers = [turn.number for turn in result.turns]
    cards = [turn.cards_best for turn in result.turns]
    win = [turn.win_best for turn in result.turns]
    if result.ended != "unfinished":
        numbers.append(numbers[-1] + 1)
        cards.append(float(result.cards_left))
        win.append(float(np.equal(result.cards_left, 0)))
    return numbers, cards, win
