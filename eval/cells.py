"""Keys: the cell a game belongs to, its table and setting, and the chunks of a run."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Talk = Literal["none", "avoid", "open"]
Starter = Literal["seat0", "agreed"]


def _slug(*parts: str | int | bool) -> str:
    """Return a name that is safe in every file system and differs for different parts."""
    readable = ".".join(re.sub(r"[^a-z0-9_-]", "_", str(part).lower())[:40] for part in parts)
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]
    return f"{readable}.{digest}"


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """What is the same for every number of players: the rules and what players may know."""

    rules: str
    talk: Talk
    memory: bool
    starter: Starter

    @property
    def slug(self) -> str:
        """A unique name of this setting, safe as a file name."""
        return _slug(self.rules, self.talk, self.memory, self.starter)


@dataclass(frozen=True, slots=True, order=True)
class Table:
    """Where games can be compared: the number of players and the setting."""

    players: int
    rules: str
    talk: Talk
    memory: bool
    starter: Starter

    @property
    def setting(self) -> Setting:
        """The table without its number of players."""
        return Setting(self.rules, self.talk, self.memory, self.starter)

    @property
    def slug(self) -> str:
        """A unique name of this table, safe as a file name."""
        return _slug(f"{self.players}p", self.rules, self.talk, self.memory, self.starter)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One agent at one table: what the games of a chunk and a line of a summary share.

    Attributes:
        agent: the agent's full name with its parameters, as "greedy:extra=4"; "A|B" in
            cross-play, where A holds one seat and B all others.
        players: seats, 1 and more.
        rules: name of the preset, or the text of other rules.
        talk: what the seats may tell each other.
        memory: whether a seat remembers every card played.
        starter: how the first seat is chosen.
    """

    agent: str
    players: int
    rules: str
    talk: Talk
    memory: bool
    starter: Starter

    @property
    def table(self) -> Table:
        """The cell without its agent."""
        return Table(self.players, self.rules, self.talk, self.memory, self.starter)

    @property
    def pair(self) -> tuple[str, str] | None:
        """(agent in one seat, agent in the others) of cross-play, else None."""
        one, bar, others = self.agent.partition("|")
        return (one, others) if bar else None

    @property
    def slug(self) -> str:
        """A unique name of this cell, safe as a file name."""
        parts = (self.agent, f"{self.players}p", self.rules, self.talk, self.memory, self.starter)
        return _slug(*parts)


@dataclass(frozen=True, slots=True, order=True)
class Chunk:
    """Consecutive games of one cell that are stored in one file: first .. first + count - 1."""

    cell: Cell
    first: int
    count: int

    @property
    def name(self) -> str:
        """The name its two files share."""
        return f"{self.cell.slug}-{self.first}-{self.count}"

    def rows_path(self, run_dir: Path) -> Path:
        """Return the path of its rows."""
        return run_dir / "rows" / f"{self.name}.jsonl.gz"

    def timing_path(self, run_dir: Path) -> Path:
        """Return the path of its times."""
        return run_dir / "timings" / f"{self.name}.json"
