"""Hints: the plans of a turn, ranked by playing the game on from many dealings of unseen cards.

`hint` is the one entry, and `refine` the same for readers who want to see the first answer soon;
the command line, the page and the terminal only show what they return. They read a `View`, so they
cannot tell more than the seat may know: permuting the unseen cards changes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thegame_app.grading import (
    Standing,
    afterstate,
    has_choice,
    race,
    standard_error,
    strength_of,
    turn_plans,
)
from thegame_app.hint_agent import Player, turn_of
from thegame_app.language import Language, Refusal, language
from thegame_app.playouts import Judge, Partners, judge_for
from thegame_app.reasons import reason_for
from thegame_env.notation import format_position
from thegame_env.rules import PILES
from thegame_env.unseen import check_talk
from thegame_env.view import View

ENGLISH = language("en")


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
        difference: Cards that it costs against the best plan (0 or more; of the best itself 0).
        difference_se: Standard error of that paired difference.
    """

    plays: tuple[tuple[int, int], ...]
    ends_turn: bool
    cards_left: float
    cards_left_se: float
    win: float
    win_se: float
    close: bool
    reason: str
    difference: float
    difference_se: float

    def document(self) -> dict[str, Any]:
        """The plan for JSON, piles by name."""
        plays = [{"card": card, "pile": PILES[pile]} for card, pile in self.plays]
        return {**dataclasses.asdict(self), "plays": plays}


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What an agent would play this turn.

    Attributes:
        agent: Its specification.
        rank: Place among the ranked plans, 1 for the best; None where it is below them.
        plan: Its plays in its own order, and their figures on the same dealings.
    """

    agent: str
    rank: int | None
    plan: Plan

    def document(self) -> dict[str, Any]:
        """The agent's plan for JSON."""
        return {"agent": self.agent, "rank": self.rank, "plan": self.plan.document()}


@dataclass(frozen=True, slots=True)
class Hint:
    """Ranked plans, the best first, and what there is to know beside them.

    Attributes:
        position: The position as text.
        strength: How much work was done.
        plans: Best first; empty where nothing can be played and the turn cannot be ended. The
            plan of an agent that was asked for is the last one where it is below the others.
        note: Sentences: what matters first, then how the figures came about.
        partners: Whom the acting seat is taken to play with: "expert", "casual", "" alone.
        deals: Dealings of the unseen cards that the plans were judged on.
        agent: What the agent that was asked for would play; None where nobody was asked.
    """

    position: str
    strength: str
    plans: tuple[Plan, ...]
    note: str
    partners: str = ""
    deals: int = 0
    agent: AgentPlan | None = None

    def document(self) -> dict[str, Any]:
        """The hint for JSON."""
        return {
            "position": self.position,
            "strength": self.strength,
            "plans": [plan.document() for plan in self.plans],
            "note": self.note,
            "partners": self.partners or None,
            "deals": self.deals,
            "agent": self.agent.document() if self.agent else None,
        }


def hint(
    view: View,
    strength: str = "normal",
    top: int = 5,
    seed: int = 0,
    partners: Partners = "casual",
    lang: Language = ENGLISH,
    unknown_tops: Collection[int] = (),
    player: Player | None = None,
) -> Hint:
    """Advice for the acting seat.

    Args:
        view: What it sees.
        strength: "instant", "normal" or "deep".
        top: Plans at most.
        seed: Of the dealings; the same seed gives the same hint.
        partners: "expert" or "casual", see playouts.py.
        lang: Language of reasons and note.
        unknown_tops: Piles whose top is not known, the view holding the last known one: they are
            left alone where that is possible, and the note names them.
        player: An agent whose plan is to be told and judged, too; see hint_agent.py.

    Raises:
        ValueError: An unknown strength or kind of partners, `top` below 1, talk that cannot be
            true; a Refusal where another seat is to play, or the agent plays illegally.
    """
    *_, last = refine(view, strength, top, seed, partners, lang, unknown_tops, player)
    return last


def refine(
    view: View,
    strength: str = "deep",
    top: int = 5,
    seed: int = 0,
    partners: Partners = "casual",
    lang: Language = ENGLISH,
    unknown_tops: Collection[int] = (),
    player: Player | None = None,
) -> Iterator[Hint]:
    """The same advice, better and better: each hint is judged on more dealings than the one before.

    Arguments and errors are those of `hint`, which returns the last one; an error is raised when
    the first hint is asked for.
    """
    work = strength_of(strength)
    if top < 1:
        raise ValueError(f"top must be at least 1, not {top}")
    if not view.acting:
        raise Refusal("It is another player's turn.")
    judge, position = judge_for(view, partners, seed), format_position(view)
    over = _over(view, lang)
    if over:
        yield Hint(position, strength, (), over)
        return
    check_talk(view)
    plans, complete = turn_plans(view, work.plans)
    notes = _notes(view, complete, len(plans) > 1 or has_choice(view), lang)
    plans = [plan for plan in plans if _leaves_alone(view, plan, unknown_tops)] or plans
    notes += [
        lang("The top of {pile} is not known: whether a card fits there is only partly checked.",
             pile=pile)
        for pile in sorted(unknown_tops)
    ]  # fmt: skip
    whom = partners if view.table.players > 1 else ""
    own = turn_of(player, view, seed) if player is not None else ()
    plans, always = _entered(view, plans, own) if player is not None else (plans, [])
    for standing in race(judge, plans, work, work.deals_at(view), top, always):
        shown = range(min(top, len(standing.plans)))
        ranked = tuple(_plan(view, standing, i, standing.plans[i], lang) for i in shown)
        asked = None
        if player is not None:
            asked = _agent_plan(view, standing, player.name, own, len(shown), lang)
            ranked += (asked.plan,) if asked.rank is None else ()
        note = " ".join([*notes, *_figures(view, judge, whom, standing.deals, lang)])
        yield Hint(position, strength, ranked, note, whom, standing.deals, asked)


def _entered(
    view: View, plans: list[tuple[int, ...]], own: tuple[int, ...]
) -> tuple[list[tuple[int, ...]], list[int]]:
    """The plans with an agent's own among them, and its index; a plan of its afterstate is it."""
    left = [afterstate(view, plan) for plan in plans]
    mine = afterstate(view, own)
    return (plans, [left.index(mine)]) if mine in left else ([*plans, own], [len(plans)])


def _agent_plan(
    view: View, standing: Standing, agent: str, own: tuple[int, ...], ranked: int, lang: Language
) -> AgentPlan:
    """Where an agent's plan stands, `ranked` plans being told."""
    mine = afterstate(view, own)
    place = next(i for i, plan in enumerate(standing.plans) if afterstate(view, plan) == mine)
    rank = place + 1 if place < ranked else None
    return AgentPlan(agent, rank, _plan(view, standing, place, own, lang))


def _leaves_alone(view: View, plan: Collection[int], piles: Collection[int]) -> bool:
    """Whether a plan lays nothing on any of the piles."""
    plays = map(view.rules.decode, plan)
    return not any(play[1] in piles for play in plays if play is not None)


def _plan(
    view: View, standing: Standing, rank: int, actions: Sequence[int], lang: Language
) -> Plan:
    """The plan of this rank with its figures, its plays in the order of `actions`."""
    rules = view.rules
    left, win = standing.left[rank], standing.win[rank]
    plays = tuple(play for play in map(rules.decode, actions) if play is not None)
    difference, difference_se = standing.lost(rank)
    return Plan(
        plays=plays,
        ends_turn=bool(actions) and actions[-1] == rules.end_turn,
        cards_left=float(left.mean()),
        cards_left_se=standard_error(left),
        win=float(win.mean()),
        win_se=standard_error(win),
        close=standing.is_close(rank),
        reason=reason_for(view, plays, lang),
        difference=difference,
        difference_se=difference_se,
    )


# --- notes ---------------------------------------------------------------------------------------


def _over(view: View, lang: Language) -> str:
    """What is to be said of a game that is over; "" where it goes on."""
    if not view.cards_left:
        return lang("The game is won: no card is left.")
    if view.plays_now or view.may_end_turn:
        return ""
    return lang.plural(
        "Stuck: no card of your hand can be laid, and {n} more must be. The game is lost.",
        "Stuck: no card of your hand can be laid, and {n} more must be. The game is lost.",
        view.owed,
    )


def _notes(view: View, complete: bool, choice: bool, lang: Language) -> list[str]:
    """What is to be said first of all, and what is not known."""
    notes = []
    if not complete:
        notes.append(
            lang.plural(
                "The minimum cannot be met ({n} more): the game is lost. This lays the most cards.",
                "The minimum cannot be met ({n} more): the game is lost. This lays the most cards.",
                view.owed,
            )
        )
    elif not view.plays_now and view.owed:
        notes.append(lang("No card of your hand can be laid: you pass."))
    elif not view.plays_now:
        notes.append(lang("Minimum met: end your turn. No card of your hand can be laid."))
    elif not choice:
        notes.append(lang("This is the only legal plan."))
    if view.seen is None:
        notes.append(
            lang("Which cards were played is not remembered, so they are treated as unknown.")
        )
    return notes


def _figures(view: View, judge: Judge, partners: str, deals: int, lang: Language) -> list[str]:
    """How the figures came about, and what they assume: partners, player, value, table."""
    if partners == "casual":
        whom = lang("Partners are taken to play casually, the nearest card first ({player}).",
                    player=judge.partners)  # fmt: skip
    elif partners:
        whom = lang("Partners are taken to plan their turns as well as you do ({player}).",
                    player=judge.partners)  # fmt: skip
    else:
        whom = ""
    if view.talk:
        how = lang(
            "Figures: {deals} dealings of the unseen cards that agree with what the others say, "
            "your later turns played by {player}.", deals=deals, player=judge.own,
        )  # fmt: skip
    else:
        how = lang("Figures: {deals} dealings of the unseen cards, your later turns played by "
                   "{player}.", deals=deals, player=judge.own)  # fmt: skip
    error = lang("A learned value makes the figures; its own error is not in the ±.")
    return [*filter(None, [whom]), how, *([error] if judge.learned else []), _table(view, lang)]


def _table(view: View, lang: Language) -> str:
    """The setting that the figures are for."""
    table = view.table
    return lang(
        "Table: {rules}, players: {players}, {memory}, talk {talk}.",
        rules=table.rules.spec(),
        players=table.players,
        memory=lang("memory on") if table.memory else lang("memory off"),
        talk=table.talk,
    )
