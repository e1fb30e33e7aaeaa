"""A process that plays chunks for its overseer (see crew.py), and what the two tell each other.

Agents are asked only in such processes: one that hangs can be killed with its process, and one
that takes its process down takes no game of others with it.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.base import Agent
from agents.registry import is_built_in, make_agent
from eval.cells import Cell, Chunk
from eval.crossplay import team
from eval.match import Care, play_chunk, table_of
from eval.records import GameRow, write_chunk
from eval.timing import Timing
from thegame_env.engine import Engine

MAKING = -2
"""Stands for the game while an agent is made and asked its first, unrecorded question."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Make an agent of this cell's team, to see whether it can be made; the answer is `Facts`."""

    cell: Cell
    allow_pickle: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What an agent says of itself.

    Attributes:
        weights_hash: Of its learnt weights, "" where it has none.
    """

    weights_hash: str


@dataclass(frozen=True, slots=True)
class Play:
    """Play a chunk; the answer is `Played`.

    Attributes:
        chunk: Which games.
        seed: The deal seed.
        allow_pickle: See agents.registry.make_agent.
        run_dir: Where to store the games; None to send them back instead.
        care: How to ask the agents.
    """

    chunk: Chunk
    seed: int
    allow_pickle: bool = False
    run_dir: Path | None = None
    care: Care = field(default_factory=Care)


@dataclass(frozen=True, slots=True)
class Played:
    """The games of a chunk; without rows where they have been stored."""

    rows: list[GameRow]
    timing: Timing


Task = Probe | Play
Result = Facts | Played


class State(NamedTuple):
    """What the clock shows.

    Attributes:
        started: When the call that is going on began (time.monotonic), 0 where there is none.
        member: Place in the team of the agent that is asked.
        game: Deal of the game that it is asked about, -1 for several, MAKING.
        step: Actions that have been taken in that game.
        finished: Games of the chunk that are over.
    """

    started: float
    member: int
    game: int
    step: int
    finished: int


class SharedClock:
    """An `asking.Clock` in memory that worker and overseer share.

    Args:
        memory: Five doubles, shared.
    """

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def start(self, member: int, game: int, step: int) -> None:
        """See asking.Clock."""
        self._memory[1:4] = (member, game, step)
        self._memory[0] = time.monotonic()

    def stop(self) -> None:
        """See asking.Clock."""
        self._memory[0] = 0.0

    def finished(self, games: int) -> None:
        """See asking.Clock."""
        self._memory[4] = games

    def read(self) -> State:
        """What it shows now."""
        started, member, game, step, finished = self._memory
        return State(started, int(member), int(game), int(step), int(finished))


def serve(connection: Connection, memory: Any) -> None:
    """Perform the tasks that come through the connection, until it is closed.

    Each is answered by its result, or by the exception that it raised.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_off_stdout()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _load_kernels()
    worker = Worker(SharedClock(memory))
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(worker.answer(task))


def _keep_off_stdout() -> None:
    """What an agent prints goes to stderr: stdout belongs to the command, `--json` above all."""
    with suppress(OSError):
        os.dup2(2, 1)


def _end_with_parent() -> None:
    """Leave no orphan behind that plays on, or hangs, when the overseer is killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class Worker:
    """Performs tasks; the agents of this package are kept from one chunk to the next.

    Other people's agents are made anew for every chunk, so that what they remember from one game
    to another does not depend on which worker plays what.
    """

    def __init__(self, clock: SharedClock) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, object], Agent] = {}

    def answer(self, task: Task) -> Result | Exception:
        """The result of a task, or an exception that can be sent on."""
        try:
            return self._probe(task) if isinstance(task, Probe) else self._play(task)
        except OSError as error:
            return OSError(error.errno, error.strerror, error.filename)
        except ValueError as error:
            return ValueError(str(error))
        except Exception:
            return RuntimeError(traceback.format_exc())

    def _probe(self, task: Probe) -> Facts:
        (agent,) = self._team(task.cell, task.allow_pickle)
        return Facts(str(getattr(agent, "weights_hash", "")))

    def _play(self, task: Play) -> Played:
        self._clock.finished(0)
        agents = self._team(task.chunk.cell, task.allow_pickle)
        rows, timing = play_chunk(task.chunk, task.seed, agents, task.care, self._clock)
        if task.run_dir is None:
            return Played(rows, timing)
        write_chunk(task.run_dir, task.chunk, rows, timing)
        return Played([], timing)

    def _team(self, cell: Cell, allow_pickle: bool) -> list[Agent]:
        agents = []
        for member, name in enumerate(team(cell)):
            self._clock.start(member, MAKING, 0)
            try:
                agents.append(self._agent(name, cell, allow_pickle))
            finally:
                self._clock.stop()
        return agents

    def _agent(self, name: str, cell: Cell, allow_pickle: bool) -> Agent:
        table = table_of(cell)
        if not is_built_in(name):
            return make_agent(name, table, allow_pickle)
        key = name, cell.table
        if key not in self._kept:
            if len(self._kept) >= 8:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = make_agent(name, table)
            _warm(self._kept[key], Engine(table, 1))
        return self._kept[key]


def _load_kernels() -> None:
    """Play a game, so that no kernel of the match is loaded or compiled while games are timed."""
    cell = Cell("random", 2, "official", "none", True, "seat0")
    play_chunk(Chunk(cell, 0, 1), 0, [make_agent("random", table_of(cell))])


def _warm(agent: Agent, engine: Engine) -> None:
    """Ask a first question, so that no kernel is compiled while decisions are timed.

    If the agent fails, it will fail again in its games, where that is counted.
    """
    engine.deal(0)
    with suppress(Exception):
        agent.act_rows(engine.views(), engine.p.copy(), np.zeros(1, np.uint64))
