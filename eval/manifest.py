"""What a run was asked to play, and on what it ran."""

from __future__ import annotations

import contextlib
import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, model_validator

from eval.cells import Cell, Chunk

_DECIDING = (
    "version",
    "seed",
    "seed_range",
    "games",
    "chunk_games",
    "cells",
    "decision_limit_s",
    "rules_hash",
    "weights_hash",
)


class RunError(ValueError):
    """A run directory that cannot be used as asked; the message says which file and why."""


class Manifest(BaseModel):
    """What decides every row of a run, and what is worth knowing beside it.

    The games of a run are numbered through: cell by cell in the order of `cells`, and within a
    cell by their deal. The number of a game depends neither on how the games were cut into
    chunks nor on which of them have been played.

    Attributes:
        command: the command line that made the run.
        version: of this package.
        started: date and time, ISO 8601, UTC.
        seed: of the deals, below 2**63.
        seed_range: name of the range the seed is from, "development" or "held-out".
        games: deals of every cell, played as games 0 .. games - 1.
        chunk_games: games of a chunk; the last chunk of a cell may be shorter.
        cells: what is played, each cell once.
        baseline: the agent all others are compared with on the same deals; None for none.
        decision_limit_s: seconds after which a decision counts as a timeout; None for no limit.
        rules_hash: of each rules name, so that a changed rule shows.
        weights_hash: of each agent with learnt weights.
        descriptions: for an agent, a sentence about its method and what it looks at.
        hardware: the machine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str
    version: str
    started: str
    seed: NonNegativeInt = Field(lt=2**63)
    seed_range: str
    games: PositiveInt
    chunk_games: PositiveInt = 1000
    cells: tuple[Cell, ...] = Field(min_length=1)
    baseline: str | None = None
    decision_limit_s: float | None = None
    rules_hash: dict[str, str] = {}
    weights_hash: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    hardware: Hardware

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({cell.slug for cell in self.cells}) < len(self.cells):
            raise ValueError("every cell is listed once")
        agents = {cell.agent for cell in self.cells}
        if self.baseline is not None and self.baseline not in agents:
            raise ValueError(f"the baseline {self.baseline!r} is not among {sorted(agents)}")
        return self

    def chunks(self) -> Iterator[Chunk]:
        """Yield every chunk of the run, in the order of its games' numbers."""
        for cell in self.cells:
            for first in range(0, self.games, self.chunk_games):
                yield self._chunk(cell, first)

    def game_number(self, cell: Cell, game: int) -> int:
        """Return the number of a cell's game within the run."""
        return self.cells.index(cell) * self.games + game

    def locate(self, number: int) -> tuple[Chunk, int]:
        """Return the chunk that holds a game of the run, and the game's place in the chunk.

        Raises:
            RunError: there is no game of that number.
        """
        last = len(self.cells) * self.games - 1
        if not 0 <= number <= last:
            raise RunError(f"no game {number}: this run numbers its games 0..{last}")
        cell, game = divmod(number, self.games)
        place = game % self.chunk_games
        return self._chunk(self.cells[cell], game - place), place

    def differences(self, other: Manifest) -> list[str]:
        """Name the fields that decide the rows and are not the same in another manifest."""
        return [name for name in _DECIDING if getattr(self, name) != getattr(other, name)]

    def _chunk(self, cell: Cell, first: int) -> Chunk:
        return Chunk(cell, first, min(self.chunk_games, self.games - first))


class Hardware(BaseModel):
    """The machine and the software that played."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cpu: str
    cores: int
    python: str
    numpy: str
    numba: str

    @classmethod
    def here(cls) -> Hardware:
        """Describe the machine this runs on."""
        return cls(
            cpu=_cpu_model(),
            cores=os.cpu_count() or 1,
            python=platform.python_version(),
            numpy=metadata.version("numpy"),
            numba=metadata.version("numba"),
        )


def _cpu_model() -> str:
    """Return the processor's name as the system gives it."""
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine() or "unknown"
