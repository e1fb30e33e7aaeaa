"""Asks one agent for actions: in calls that grow while they are quick, and with its faults caught.

Every call is timed, and the clock says what is being asked right now, so that another process
can see an agent that never answers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from agents.base import Actions, Agent, Rows, Streams
from agents.plugins import whole_numbers
from eval.crossplay import IntArray
from eval.records import Ended
from thegame_env.rules import IllegalAction

FIRST_CALL, LARGEST_CALL = 16, 4096
"""Views in the first call of a chunk, and at most in any."""
GIVE_UP = 100
"""An agent that crashed in so many games of a chunk is not asked any more in that chunk."""
PATIENCE_S = 60.0
"""Seconds a call that calls are kept well below where no limit is set."""


@dataclass(frozen=True, slots=True)
class Fault:
    """How an agent ended a game: in which way, and a sentence that names the agent."""

    ended: Ended
    reason: str


class Clock(Protocol):
    """Is told what is going on in a chunk."""

    def start(self, member: int, game: int, step: int) -> None:
        """An agent is being asked: its place in the team; the game's deal and its actions so far.

        `game` is -1 where several games are asked about in one call.
        """

    def stop(self) -> None:
        """It has answered, in whatever way."""

    def finished(self, games: int) -> None:
        """So many games of the chunk are over."""


class NoClock:
    """A clock that nobody looks at."""

    def start(self, member: int, game: int, step: int) -> None:
        """See Clock."""

    def stop(self) -> None:
        """See Clock."""

    def finished(self, games: int) -> None:
        """See Clock."""


@dataclass(frozen=True, slots=True)
class Questions:
    """Views of seats that are to act, with what belongs to their games.

    Attributes:
        rows: Views, int64[n, VIEW_ROW].
        streams: The games' random states, uint64[n], advanced in place.
        games: The games' deals, int64[n].
        steps: Actions that have been taken in the games, int64[n].
    """

    rows: Rows
    streams: Streams
    games: IntArray
    steps: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, start: int, stop: int) -> Questions:
        """Questions start .. stop - 1, on the same memory."""
        where = slice(start, stop)
        return Questions(
            self.rows[where], self.streams[where], self.games[where], self.steps[where]
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """What an agent answered.

    Attributes:
        actions: int64[n]; -1 where there is none. They need not be legal.
        faults: For questions without an answer, by their place.
    """

    actions: IntArray
    faults: dict[int, Fault]


class Asker:
    """Asks one member of a team.

    A call that fails is repeated view by view, so that only the games at fault suffer. Whatever
    it raises counts, SystemExit and asyncio's CancelledError too; a worker that plays does not get
    the user's interrupt.

    The answers do not depend on how views are spread over calls, as long as the agent keeps to
    its contract (its randomness comes from the streams alone).

    Args:
        agent: Whom to ask.
        name: How it is called in reasons.
        member: Its place in the team.
        p: The table's parameter row.
        clock: Is told of every call.
        limit: Seconds that a call may take; calls are kept well below it.
        singly: Whether to ask about one view a call.

    Attributes:
        seconds: Wall time of every answered call.
        counts: Views of every answered call.
    """

    def __init__(
        self,
        agent: Agent,
        name: str,
        member: int,
        p: Rows,
        clock: Clock,
        limit: float | None = None,
        singly: bool = False,
    ) -> None:
        self._agent, self._name, self._member, self._p = agent, name, member, p.copy()
        self._clock, self._limit = clock, limit or PATIENCE_S
        self._singly, self._size = singly, 1 if singly else FIRST_CALL
        self._crashed = 0
        self._given_up: Fault | None = None
        self.seconds: list[float] = []
        self.counts: list[int] = []

    def answer(self, questions: Questions) -> Answers:
        """Ask all questions, in their order."""
        answers = Answers(np.full(len(questions), -1, np.int64), {})
        at = 0
        while at < len(questions):
            part = questions.part(at, at + self._size)
            if len(part) == 1 or self._given_up or not self._ask_together(part, at, answers):
                self._ask_one_by_one(part, at, answers)
            at += len(part)
        return answers

    def _ask_together(self, part: Questions, at: int, answers: Answers) -> bool:
        """One call for all; False, and the random states as they were, if it fails."""
        before = part.streams.copy()
        try:
            answers.actions[at : at + len(part)] = self._call(part, -1, 0)
        except BaseException:
            part.streams[:] = before
            return False
        return True

    def _ask_one_by_one(self, part: Questions, at: int, answers: Answers) -> None:
        for i in range(len(part)):
            fault = self._given_up
            if fault is None:
                one = part.part(i, i + 1)
                game, step = int(one.games[0]), int(one.steps[0])
                try:
                    answers.actions[at + i : at + i + 1] = self._call(one, game, step)
                except BaseException as error:
                    fault = self._fault(error)
            if fault is not None:
                answers.faults[at + i] = fault

    def _call(self, part: Questions, game: int, step: int) -> Actions:
        """One call; raises whatever the agent raises, or IllegalAction for a senseless answer."""
        self._clock.start(self._member, game, step)
        start = time.perf_counter()
        try:
            answer = self._agent.act_rows(part.rows, self._p, part.streams)
        finally:
            seconds = time.perf_counter() - start
            self._clock.stop()
        actions = whole_numbers(answer, len(part))
        self.seconds.append(seconds)
        self.counts.append(len(part))
        self._resize(len(part), seconds)
        return actions

    def _resize(self, asked: int, seconds: float) -> None:
        """Let calls grow while they take less than 1/16 of the limit, shrink above 1/4."""
        if seconds > self._limit / 4:
            self._size = max(self._size // 2, 1)
        elif asked == self._size and not self._singly and seconds < self._limit / 16:
            self._size = min(2 * self._size, LARGEST_CALL)

    def _fault(self, error: BaseException) -> Fault:
        if isinstance(error, IllegalAction):
            return Fault("illegal", f"{self._name}: {error}")
        self._crashed += 1
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        if self._crashed == GIVE_UP:
            self._given_up = Fault(
                "crash", f"{self._name}: not asked any more after {GIVE_UP} crashes in this chunk"
            )
        return Fault("crash", f"{self._name}: {text}")
