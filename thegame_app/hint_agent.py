"""What an agent would play in the turn that a hint is about: it is asked card after card.

It sees what the seat sees and nothing else. Where its plan stands is for hints.py to say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agents.base import Agent
from thegame_app.language import Refusal
from thegame_app.refusals import as_refusal
from thegame_env.rules import IllegalAction, Rules, Table
from thegame_env.view import View


@dataclass(frozen=True, slots=True)
class Player:
    """Who is asked.

    Attributes:
        name: The specification that it was made by.
        agent: What plays.
    """

    name: str
    agent: Agent


def player_for(name: str, table: Table, allow_pickle: bool = False) -> Player:
    """The agent of a specification for the table of a position.

    Args:
        name: See agents/registry.py.
        table: Where it is to play.
        allow_pickle: Whether an archive that holds a pickle may be loaded, which runs its code.

    Raises:
        ValueError: There is no such agent, or it cannot play at this table; where it could if the
            position told the cards played, a Refusal that says so.
    """
    try:
        return _made(name, table, allow_pickle)
    except ValueError:
        if table.memory or not _can_play(name, replace(table, memory=True), allow_pickle):
            raise
    raise Refusal(
        "The agent {agent} remembers what was played: add seen=..., the cards played, to the "
        "position.",
        agent=name,
    )


def _made(name: str, table: Table, allow_pickle: bool) -> Player:
    from agents.registry import make_agent  # which hints without an agent do without

    return Player(name, make_agent(name, table, allow_pickle))


def _can_play(name: str, table: Table, allow_pickle: bool) -> bool:
    try:
        _made(name, table, allow_pickle)
    except ValueError:
        return False
    return True


def turn_of(player: Player, view: View, seed: int) -> tuple[int, ...]:
    """The actions of the turn as the agent plays it.

    Args:
        player: Who plays.
        view: What the acting seat sees; the game is not over.
        seed: Of the agent's random numbers.

    Raises:
        Refusal: It plays illegally, or fails.
    """
    try:
        return _closed(view.rules, view.hand, tuple(player.agent.plan(view, seed)))
    except IllegalAction as error:
        raise Refusal(
            "The agent {agent} plays illegally here: {why}",
            agent=player.name,
            why=as_refusal(error),
        ) from None
    except Exception as error:
        raise Refusal(
            "The agent {agent} failed: {why}", agent=player.name, why=as_refusal(error)
        ) from error


def _closed(rules: Rules, hand: frozenset[int], actions: tuple[int, ...]) -> tuple[int, ...]:
    """The plan with END_TURN where a game that nobody can go on with has cut the turn short.

    Whether the others hold a legal card depends on how the unseen cards were dealt to walk through
    the turn. The seat itself holds none, so it passes.
    """
    passes = rules.stuck == "nobody" and rules.end_turn not in actions
    return (*actions, rules.end_turn) if passes and len(actions) < len(hand) else actions
