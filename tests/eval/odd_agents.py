"""Agents that misbehave in some positions and else play greedily, for the tests of the harness."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Actions, Agent, Rows, Streams
from agents.registry import make_agent
from thegame_env.layout import V_LEFT, V_OWED, V_TOPS
from thegame_env.rules import Table


def is_odd(row: Rows) -> bool:
    """A position that some games reach and some do not; a turn has begun where it is true."""
    return bool(row[V_LEFT] < 60 and row[V_OWED] == 2 and row[V_TOPS] % 5 == 0)


class Odd(Agent):
    """Greedy, but for `misbehave` in odd positions."""

    name = "odd"

    def __init__(self, table: Table) -> None:
        self.table, self.greedy = table, make_agent("greedy", table)
        self.asked: list[int] = []

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        self.asked.append(len(rows))
        actions = self.greedy.act_rows(rows, p, streams)
        for place in range(len(rows)):
            if is_odd(rows[place]):
                self.misbehave(place, actions)
        return actions

    def misbehave(self, place: int, actions: Actions) -> None:
        """Change the answer at `place`, or do not come back."""


class Crashes(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        raise KeyError("no idea")


class LeavesThePython(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        raise SystemExit(3)


class IsCancelled(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        raise asyncio.CancelledError("no answer from the server")


class Prints(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        print("I am thinking")
        os.write(1, b"so is my library\n")


class EndsItsTurn(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        actions[place] = self.table.rules.end_turn


class NamesNoAction(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        actions[place] = 100_000


class Hangs(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        time.sleep(1000)


class HangsAtOnce(Odd):
    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        time.sleep(1000)
        return super().act_rows(rows, p, streams)


class DiesWithItsProcess(Odd):
    def misbehave(self, place: int, actions: Actions) -> None:
        os._exit(7)


class AnswersTooMuch(Odd):
    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        return np.append(super().act_rows(rows, p, streams), 0)


class AnswersFractions(Odd):
    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Any:
        return super().act_rows(rows, p, streams).astype(float)


class CrashesInCompany(Agent):
    """Uniform play that spends randomness before it crashes on more than one view."""

    name = "shy"

    def __init__(self, table: Table) -> None:
        self.random = make_agent("random", table)

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        actions = self.random.act_rows(rows, p, streams)
        if len(rows) > 1:
            raise MemoryError("too many")
        return actions


class Slow(Odd):
    """Takes $ODD_PAUSE seconds for every view, and stops for good once the run in $ODD_WAIT_IN has
    stored a chunk, so that a run of it can be interrupted."""

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        time.sleep(float(os.environ.get("ODD_PAUSE", "0")) * len(rows))
        rows_at = os.environ.get("ODD_WAIT_IN", "")
        if rows_at and any(Path(rows_at).glob("rows/*.gz")):
            time.sleep(1000)
        return super().act_rows(rows, p, streams)


class Remembers(Agent):
    """Plays at random out of a generator of its own, which it carries from game to game."""

    name = "remembers"

    def __init__(self, table: Table) -> None:
        self.random, self.rng = make_agent("random", table), np.random.default_rng(5)

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        own = self.rng.integers(2**63, size=len(rows), dtype=np.uint64)
        return self.random.act_rows(rows, p, own)


class Observes:
    """Not an Agent: the highest legal action of an observation and a mask."""

    def __init__(self, table: Table, kind: str = "relative") -> None:
        self.observation, self.players = kind, table.players
        self.size: int | None = None

    def act(self, observation: Any, legal_action_mask: Any) -> int:
        self.size = observation.shape[0]
        return int(np.flatnonzero(legal_action_mask)[-1])


class AnswersWithText(Observes):
    def act(self, observation: Any, legal_action_mask: Any) -> Any:
        return "54:up1"


def broken_factory(table: Table) -> Agent:
    raise RuntimeError("the factory has burnt down")


def dying_factory(table: Table) -> Agent:
    os._exit(9)


def no_agent(table: Table) -> int:
    return table.players
