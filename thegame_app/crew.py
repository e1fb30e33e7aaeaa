"""The agents at the seats of games: made once each, and asked one at a time."""

from __future__ import annotations

import threading
from typing import Literal

from agents.base import Agent
from agents.registry import BUILT_IN, is_built_in, make_agent
from agents.weight_files import shipped_for
from thegame_app.language import Refusal
from thegame_app.refusals import as_refusal
from thegame_app.session import PERSON, Session
from thegame_env.rules import Table

CASUAL = ("random", "greedy", "signals")
"""Agents beside whom a seat is advised as beside casual people."""
STRONGEST, ANYWHERE = "afterstate", "sequence"
"""Who plays best at the tables that a value was learned for, and at all others."""
KEPT = 32
"""Agents kept in memory."""


class Crew:
    """Agents by specification and table."""

    def __init__(self) -> None:
        self._agents: dict[tuple[str, Table], Agent] = {}
        self._lock = threading.RLock()

    def check(self, seats: tuple[str, ...], table: Table, foreign: bool = False) -> None:
        """Make the agents of these seats.

        Args:
            seats: PERSON or specifications.
            table: Where they are to play.
            foreign: Whether agents that are not of this package may be loaded, which runs their
                code.

        Raises:
            Refusal: One of them cannot be made, or is foreign.
        """
        for name in sorted(set(seats) - {PERSON}):
            if not foreign and not _own(name):
                raise Refusal('There is no agent "{agent}" here.', agent=name)
            try:
                self._agent(name, table)
            except (ValueError, ModuleNotFoundError) as error:
                raise Refusal(
                    'The agent "{agent}" cannot play at this table: {why}',
                    agent=name,
                    why=as_refusal(error),
                ) from None

    def choose(self, session: Session) -> int:
        """The action of the agent at turn.

        Raises:
            Refusal: It failed, or no agent is at turn.
        """
        if session.agent is None:
            raise Refusal("It is not the turn of an agent.")
        with self._lock:
            try:
                return session.chosen(self._agent(session.agent, session.table))
            except Exception as error:
                raise Refusal(
                    "The agent {agent} failed: {why}",
                    agent=session.agent,
                    why=as_refusal(error),
                ) from error

    def names(self, table: Table) -> list[str]:
        """The agents of this package that can play at a table without parameters."""
        return [name for name in BUILT_IN if _plays(name, table)]

    def _agent(self, name: str, table: Table) -> Agent:
        """The agent of a seat; the one that was made longest ago makes room for a new one."""
        with self._lock:
            if (name, table) not in self._agents:
                self._agents[name, table] = make_agent(name, table)
                if len(self._agents) > KEPT:
                    del self._agents[next(iter(self._agents))]
            return self._agents[name, table]


def _plays(name: str, table: Table) -> bool:
    try:
        make_agent(name, table)
    except (ValueError, OSError, ModuleNotFoundError):
        return False
    return True


def _own(name: str) -> bool:
    try:
        return is_built_in(name)
    except ValueError:
        return False


def strongest(table: Table) -> str:
    """The agent that plays best at a table and answers at once."""
    return ANYWHERE if shipped_for(STRONGEST, table) is None else STRONGEST


def partners_of(session: Session, seat: int) -> Literal["expert", "casual"]:
    """Whom a seat plays with: "expert" beside strong agents only, else "casual"."""
    others = [name for number, name in enumerate(session.seats) if number != seat]
    plain = {PERSON, *CASUAL}
    strong = all(name.partition(":")[0] not in plain for name in others)
    return "expert" if others and strong else "casual"
