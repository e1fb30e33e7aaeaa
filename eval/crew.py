"""Oversees workers: hands out tasks, and restarts a worker whose agent hangs or that has died.

A chunk that went wrong is played again, more carefully: first with one view a call, to see which
game it is; then with that game ended at the decision that it never survived.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import wait
from types import TracebackType
from typing import Self

from eval.asking import Fault
from eval.cells import Chunk
from eval.crossplay import team
from eval.manifest import RunError
from eval.match import Mark
from eval.records import Ended
from eval.worker import MAKING, Play, Probe, Result, SharedClock, State, Task, serve

TICK_S = 0.1
"""How often clocks are looked at."""
MAKING_LIMIT_S = 600.0
"""Seconds to make an agent and compile its kernels."""
GIVE_UP = 5
"""An agent that hung or died in so many games of a chunk is not asked any more in that chunk.

The next chunk asks it again: whatever the number of workers, the rows are the same.
"""
ONE_THREAD = (
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


class Crew:
    """Some workers. Use it as a context manager: leaving it ends all of them at once.

    Args:
        workers: How many.
    """

    def __init__(self, workers: int) -> None:
        self._workers = [_Process() for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all workers; what they are playing is lost."""
        for worker in self._workers:
            worker.end()

    def perform(
        self, tasks: Iterable[Task], tick: Callable[[int], None] = lambda games: None
    ) -> Iterator[tuple[Task, Result]]:
        """Yield every task with its result, as they come in.

        Args:
            tasks: What to do.
            tick: Called again and again with the games that are over in unfinished chunks.

        Raises:
            ValueError: An agent cannot be made.
            OSError: A chunk could not be stored.
            RunError: A worker died outside of an agent's call.
        RuntimeError: A worker failed by itself.
        """
        waiting = deque(tasks)
        while waiting or any(worker.task for worker in self._workers):
            for worker in self._workers:
                if waiting and not worker.task:
                    worker.give(waiting.popleft())
            busy = [worker for worker in self._workers if worker.task]
            ready = wait([worker.connection for worker in busy], TICK_S)
            for worker in busy:
                if worker.connection in ready:
                    done = worker.collect()
                    if done is None:
                        waiting.appendleft(self._again(worker, "crash", worker.obituary()))
                    else:
                        yield done
                elif overdue(worker.clock.read(), worker.task):
                    waiting.appendleft(self._again(worker, "timeout", "no answer"))
            tick(sum(worker.clock.read().finished for worker in self._workers if worker.task))

    def _again(self, worker: _Process, ended: Ended, what: str) -> Task:
        """Restart a worker, and return its task as it is to be done instead."""
        task, state = worker.task, worker.clock.read()
        worker.restart()
        assert task is not None
        cell = task.cell if isinstance(task, Probe) else task.chunk.cell
        name = team(cell)[state.member]
        if state.game == MAKING or isinstance(task, Probe):
            raise ValueError(f'agent "{name}": {what} while it was made')
        if not state.started:
            raise RunError(
                f"a worker ended while it played {task.chunk.name}: {what}; what has been "
                "stored is kept, and the same command goes on with it"
            )
        limit = "" if ended == "crash" else f" within {task.care.limit:g} s"
        fault = Fault(ended, f"{name}: {what}{limit}")
        return self._more_careful(task, name, state, fault)

    def _more_careful(self, task: Play, name: str, state: State, fault: Fault) -> Play:
        care = task.care
        if state.game < 0:
            return replace(task, care=replace(care, singly=True))
        marks = (*care.marks, Mark(state.game, state.step, fault))
        task = replace(task, care=replace(care, marks=marks))
        if len(marks) < GIVE_UP:
            return task
        reason = f"{name}: not asked any more, it hung or died in {GIVE_UP} games of a chunk"
        return _all_marked(task, Fault(fault.ended, reason))


def overdue(state: State, task: Task | None) -> bool:
    """Whether the call that a clock shows takes longer than it may."""
    if not state.started or task is None:
        return False
    limit = MAKING_LIMIT_S
    if isinstance(task, Play) and state.game != MAKING:
        if task.care.limit is None:
            return False
        limit = task.care.limit
    return time.monotonic() - state.started > limit


def _all_marked(task: Play, fault: Fault) -> Play:
    """The task with every game ended before its first action that is not marked already."""
    chunk: Chunk = task.chunk
    marked = {mark.game for mark in task.care.marks}
    games = range(chunk.first, chunk.first + chunk.count)
    marks = tuple(Mark(game, 0, fault) for game in games if game not in marked)
    return replace(task, care=replace(task.care, marks=task.care.marks + marks))


class _Process:
    """A worker as its overseer sees it.

    Attributes:
        connection: For tasks and results.
        clock: Shows what it is doing.
        task: What it is doing; None when it is idle.
    """

    def __init__(self) -> None:
        self.task: Task | None = None
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        memory = context.RawArray("d", 5)
        self.clock = SharedClock(memory)
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, memory), daemon=True)
        with _environment({name: "1" for name in ONE_THREAD}):
            self._process.start()
        theirs.close()

    def give(self, task: Task) -> None:
        """Hand out a task; that the process has died shows when the result is collected."""
        self.task = task
        with suppress(BrokenPipeError):
            self.connection.send(task)

    def collect(self) -> tuple[Task, Result] | None:
        """The finished task and its result; None if the worker has died. Raises its exception."""
        assert self.task is not None
        try:
            result = self.connection.recv()
        except (EOFError, OSError):
            return None
        task, self.task = self.task, None
        if isinstance(result, Exception):
            raise result
        return task, result

    def obituary(self) -> str:
        """How the process ended."""
        self._process.join()
        code = self._process.exitcode or 0
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"its process died ({how})"

    def restart(self) -> None:
        """Begin anew with another process and without a task."""
        self.end()
        self.task = None
        self._start()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
