"""Plays the games of a chunk side by side, keeps every action, and turns them into rows.

A game's course depends on its deal and its agents only: not on the other games of the chunk, not
on how many views go into one call, and not on who plays the chunk.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.base import Agent, Streams
from eval.asking import Asker, Clock, Fault, NoClock, Questions
from eval.cells import Cell, Chunk
from eval.crossplay import IntArray, seating, team
from eval.match_kernels import fill_streams, judge, take, views_into
from eval.records import Ended, GameRow
from eval.timing import Timing
from thegame_env.deal import as_seed
from thegame_env.engine import Engine
from thegame_env.layout import (
    DECK_AT,
    GAME,
    HANDS,
    ILLEGAL,
    LEFT,
    PLAYING,
    SEAT,
    STATUS,
    STEPS,
    STUCK,
    TRICKS,
    TURNS,
    VIEW_ROW,
    WON,
    WORD,
)
from thegame_env.rules import IllegalAction, Rules, Table

_ENDINGS: dict[int, Ended] = {WON: "won", STUCK: "stuck"}


@dataclass(frozen=True, slots=True)
class Mark:
    """A game that is ended after `step` actions: an agent hung there, or its process died."""

    game: int
    step: int
    fault: Fault


@dataclass(frozen=True, slots=True)
class Care:
    """How carefully agents are asked.

    Attributes:
        limit: Seconds that calls are kept well below; None for a default.
        singly: Whether to ask about one view a call.
        marks: Games that are ended with a fault where they went wrong before.
    """

    limit: float | None = None
    singly: bool = False
    marks: tuple[Mark, ...] = ()


def table_of(cell: Cell) -> Table:
    """The table a cell is played at; ValueError where there is no such table."""
    return Table(Rules.parse(cell.rules), cell.players, cell.memory, cell.talk, cell.starter)


def play_chunk(
    chunk: Chunk,
    seed: int,
    agents: Sequence[Agent],
    care: Care | None = None,
    clock: Clock | None = None,
) -> tuple[list[GameRow], Timing]:
    """Play the games of a chunk.

    Args:
        chunk: Which deals of which cell.
        seed: The deal seed.
        agents: The members of `team(chunk.cell)`.
        care: How to ask them.
        clock: Is told of every call.

    Returns:
        One row a game in the order of the deals, and how long it took.
    """
    start = time.perf_counter()
    match = Match(chunk, seed, agents, care or Care(), clock or NoClock())
    match.play()
    rows = match.rows()
    seconds = time.perf_counter() - start
    calls = np.concatenate([asker.seconds for asker in match.askers])
    views = np.concatenate([asker.counts for asker in match.askers])
    return rows, Timing.from_batches(len(rows), seconds, calls, views)


class Match:
    """The games of a chunk, side by side.

    Attributes:
        askers: One a member of the team.
    """

    def __init__(
        self, chunk: Chunk, seed: int, agents: Sequence[Agent], care: Care, clock: Clock
    ) -> None:
        cell = chunk.cell
        table = table_of(cell)
        games = np.arange(chunk.first, chunk.first + chunk.count)
        self._cell, self._seed, self._clock = cell, seed, clock
        self._seating = seating(cell, games)
        self._engine = Engine(table, chunk.count)
        self._engine.deal(seed, games)
        self._streams = np.zeros((len(agents), chunk.count), np.uint64)
        for member in range(len(agents)):
            fill_streams(as_seed(seed), member, games, self._streams[member])
        self._taken = np.full((chunk.count, _most_steps(table)), -1, np.int16)
        self._faults: dict[int, Fault] = {}
        self._marks = {mark.game - chunk.first: mark for mark in care.marks}
        self.askers = [
            Asker(agent, name, member, self._engine.p, clock, care.limit, care.singly)
            for member, (agent, name) in enumerate(zip(agents, team(cell), strict=True))
        ]

    def play(self) -> None:
        """Play all games to their ends."""
        games = self._engine.games
        while len(running := np.flatnonzero(games[:, STATUS] == PLAYING)):
            self._clock.finished(len(games) - len(running))
            if len(self.askers) == 1:
                self._step(0, running)
                continue
            acting = self._seating[running, games[running, SEAT]]
            for member in range(len(self.askers)):
                self._step(member, running[acting == member])

    def _step(self, member: int, slots: IntArray) -> None:
        """Let a member of the team take one action in each of the games `slots`."""
        slots = self._unmarked(slots)
        if not len(slots):
            return
        games, p = self._engine.games, self._engine.p
        rows = np.empty((len(slots), VIEW_ROW), np.int64)
        views_into(games, p, slots, rows)
        streams: Streams = self._streams[member, slots]
        answers = self.askers[member].answer(
            Questions(rows, streams, games[slots, GAME], games[slots, STEPS])
        )
        self._streams[member, slots] = streams
        for place, fault in answers.faults.items():
            self._end(int(slots[place]), fault)
        self._end_illegal(member, slots, answers.actions)
        take(games, self._engine.decks, p, slots, answers.actions, self._taken)

    def _unmarked(self, slots: IntArray) -> IntArray:
        """The games that are not to be ended here by a mark."""
        if not self._marks:
            return slots
        for slot in map(int, slots):
            mark = self._marks.get(slot)
            if mark and self._engine.games[slot, STEPS] >= mark.step:
                self._end(slot, mark.fault)
        running: IntArray = slots[self._engine.games[slots, STATUS] == PLAYING]
        return running

    def _end_illegal(self, member: int, slots: IntArray, actions: IntArray) -> None:
        """End the games whose actions break a rule."""
        legal = np.zeros(len(slots), np.bool_)
        judge(self._engine.games, self._engine.p, slots, actions, legal)
        if legal.all():
            return
        name = team(self._cell)[member]
        for place in np.flatnonzero(~legal):
            slot = int(slots[place])
            if slot not in self._faults:
                reason = _broken_rule(self._engine, slot, int(actions[place]))
                self._end(slot, Fault("illegal", f"{name}: {reason}"))

    def _end(self, slot: int, fault: Fault) -> None:
        self._faults[slot] = fault
        self._engine.games[slot, STATUS] = ILLEGAL

    def rows(self) -> list[GameRow]:
        """The games as rows."""
        cell, names = asdict(self._cell), team(self._cell)
        games = self._engine.games.tolist()
        return [
            GameRow(
                **cell,
                seed=self._seed,
                game=game[GAME],
                seats=[names[member] for member in seats],
                **self._result(slot, game),
            )
            for slot, (game, seats) in enumerate(zip(games, self._seating.tolist(), strict=True))
        ]

    def _result(self, slot: int, game: list[int]) -> dict[str, Any]:
        """How a game went: the fields of its row that are not known before it is played."""
        fault = self._faults.get(slot)
        hands = [HANDS + 2 * seat for seat in range(self._cell.players)]
        return {
            "won": game[STATUS] == WON,
            "cards_left": game[LEFT],
            "turns": game[TURNS],
            "tricks": game[TRICKS],
            "plays": self._engine.decks.shape[1] - game[LEFT],
            "ended": fault.ended if fault else _ENDINGS[game[STATUS]],
            "reason": fault.reason if fault else "",
            "deck": self._engine.decks[slot, game[DECK_AT] :].tolist(),
            "hands": [_cards(game[at], game[at + 1]) for at in hands],
            "actions": self._taken[slot, : game[STEPS]].tolist(),
        }


def _most_steps(table: Table) -> int:
    """The most actions a game can have: between two plays each seat ends one turn at most."""
    return (table.rules.cards + 1) * (table.players + 1)


def _cards(lo: int, hi: int) -> list[int]:
    """The cards of two words in ascending order, in a time that grows with their number only."""
    bits, cards = lo | hi << WORD, []
    while bits:
        lowest = bits & -bits
        cards.append(lowest.bit_length() + 1)
        bits ^= lowest
    return cards


def _broken_rule(engine: Engine, slot: int, action: int) -> str:
    """Why an action is illegal in a running game."""
    try:
        engine.game(slot).check(action)
    except IllegalAction as error:
        return str(error)
    raise AssertionError(f"the two engines disagree on action {action} in {engine.game(slot)}")
