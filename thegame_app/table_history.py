"""Past games at the table: figures per preset and player count, and their export."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

COLUMNS = ("id", "begun", "ended", "rules", "players", "names", "result", "cards_left", "turns")
"""Columns of the CSV export, and keys of the JSON one."""


@dataclass(frozen=True, slots=True)
class PastGame:
    """A finished game.

    Attributes:
        id: Its identifier.
        begun: When it was set up, ISO 8601 in UTC.
        ended: When its result was recorded.
        rules: The preset (`Rules.spec`).
        names: The players in the order of their seats.
        result: "won" or "stuck".
        cards_left: 0 where it was won.
        turns: Turns begun.
    """

    id: str
    begun: str
    ended: str
    rules: str
    names: tuple[str, ...]
    result: str
    cards_left: int
    turns: int

    @property
    def won(self) -> bool:
        """Whether all cards were laid."""
        return self.cards_left == 0

    def document(self) -> dict[str, Any]:
        """The game for JSON."""
        values = {name: getattr(self, name) for name in COLUMNS if name not in ("players", "names")}
        return {**values, "players": len(self.names), "names": list(self.names)}


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one preset with one player count.

    Attributes:
        rules: The preset.
        players: How many play.
        left: Cards left of every game, the oldest first.
    """

    rules: str
    players: int
    left: tuple[int, ...]

    @property
    def games(self) -> int:
        """Games played to their end."""
        return len(self.left)

    @property
    def wins(self) -> int:
        """Games won."""
        return self.left.count(0)

    @property
    def mean(self) -> float:
        """Mean cards left."""
        return sum(self.left) / len(self.left)

    @property
    def best(self) -> int:
        """The fewest cards left."""
        return min(self.left)

    @property
    def streak(self) -> int:
        """Games won in a row, up to the latest."""
        lost = next((i for i, left in enumerate(reversed(self.left)) if left), self.games)
        return lost

    @property
    def longest(self) -> int:
        """The most games ever won in a row."""
        best = run = 0
        for left in self.left:
            run = 0 if left else run + 1
            best = max(best, run)
        return best


def summaries(games: Iterable[PastGame]) -> list[Summary]:
    """The figures of every preset and player count, in the order of their first game."""
    groups: dict[tuple[str, int], list[int]] = {}
    for game in sorted(games, key=lambda game: game.ended):
        groups.setdefault((game.rules, len(game.names)), []).append(game.cards_left)
    return [Summary(rules, players, tuple(left)) for (rules, players), left in groups.items()]


def to_csv(games: Sequence[PastGame]) -> str:
    """The games as CSV (RFC 4180), one a line below the header."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for game in games:
        document = {**game.document(), "names": "; ".join(game.names)}
        writer.writerow([_plain(document[name]) for name in COLUMNS])
    return out.getvalue()


def _plain(value: Any) -> Any:
    """The value such that no spreadsheet takes a player's name for a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return value


def to_json(games: Sequence[PastGame]) -> str:
    """The games as one JSON array."""
    return json.dumps([game.document() for game in games], ensure_ascii=False, indent=1)
