"""What the cut-offs of plan enumeration lose: `python -m benchmarks.cut_offs --players 1,3`.

`afterstate` values the `most` plans of least movement, tries the `branch` plays of smallest gap at
each afterstate, and lays at most a gap of `reach` beyond the minimum; once the deck is empty it
values `late` plans of any gap. Each of the four is widened and narrowed alone, and all are widened
together, on the same deals; what counts is the paired difference from the defaults.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from agents.candidates import Planner
from agents.turn_value import LATE
from agents.weight_files import write_atomic
from benchmarks.calibration import (
    Int64,
    play_positions,
    refusing,
    table_text,
    tables_of,
    value_for,
)
from eval.stats import bootstrap_mean_difference
from thegame_env.ranges import RANGES
from thegame_env.rules import Table, unknown

DEFAULT = (40, 6, 15, LATE)
"""most, branch, reach, late as `afterstate` plays."""
WIDEST = (80, 8, 30, 2 * LATE)
CHANGES = {
    "most": (8, 12, 24, 80), "branch": (4, 8), "reach": (5, 10, 30), "late": (40, 2 * LATE)
}  # fmt: skip
"""Values tried of each, the others being the defaults."""


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one setting at one table.

    Attributes:
        table: As text.
        weights: Name of the value's weights.
        most: Plans valued a turn.
        branch: Plays tried at each afterstate.
        reach: Largest gap laid beyond the minimum.
        late: Plans valued a turn once the deck is empty.
        games: Deals played.
        win_rate: Share of games won.
        win_diff: Its difference from the defaults, in points, with its 95 % interval.
        cards_left: Mean cards left.
        left_diff: Its difference from the defaults, with its 95 % interval.
        ms: Processor time of a decision in milliseconds, hundreds of games side by side.
    """

    table: str
    weights: str
    most: int
    branch: int
    reach: int
    late: int
    games: int
    win_rate: float
    win_diff: tuple[float, float, float]
    cards_left: float
    left_diff: tuple[float, float, float]
    ms: float


def settings() -> Iterator[tuple[int, int, int, int]]:
    """(most, branch, reach, late): the defaults first, then one of the four changed, then all."""
    yield DEFAULT
    for at, values in enumerate(CHANGES.values()):
        for value in values:
            changed = (value if i == at else kept for i, kept in enumerate(DEFAULT))
            most, branch, reach, late = changed
            yield most, branch, reach, late
    yield WIDEST


def measure(table: Table, weights: str | None, deals: str, games: int) -> Iterator[Row]:
    """The rows of a table, the defaults first.

    Args:
        table: What is played.
        weights: Name or path of the value's weights; None for the table's own.
        deals: "development" or "held-out".
        games: Deals a row.
    """
    value, name = value_for(table, weights)
    play_positions(value, table, deals, 2)  # loads the compiled kernels, unmeasured
    base: Int64 | None = None
    for most, branch, reach, late in settings():
        value.planner = Planner(value.planner.p, most, branch, reach, late)
        began = time.process_time()
        played = play_positions(value, table, deals, games)
        seconds, left = time.process_time() - began, played.left
        base = left if base is None else base
        yield Row(
            table=table_text(table),
            weights=name,
            most=most,
            branch=branch,
            reach=reach,
            late=late,
            games=games,
            win_rate=float(np.mean(left == 0)),
            win_diff=bootstrap_mean_difference(100.0 * (left == 0), 100.0 * (base == 0)),
            cards_left=float(left.mean()),
            left_diff=bootstrap_mean_difference(left, base),
            ms=1000.0 * seconds / played.decisions,
        )


def markdown(rows: list[Row]) -> list[str]:
    """The lines of the table of rows, which belong to one table of play."""
    first = rows[0]
    lines = [
        f"**{first.table}** (`{first.weights}`), {first.games:,} deals",
        "",
        "| most | branch | reach | late | win % | minus default | cards left | minus default "
        "| ms |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        default = (row.most, row.branch, row.reach, row.late) == DEFAULT
        win = "-" if default else "{:+.1f} ({:+.1f} to {:+.1f})".format(*row.win_diff)
        left = "-" if default else "{:+.2f} ({:+.2f} to {:+.2f})".format(*row.left_diff)
        lines.append(
            f"| {row.most} | {row.branch} | {row.reach} | {row.late} | {100 * row.win_rate:.1f} "
            f"| {win} | {row.cards_left:.2f} | {left} | {row.ms:.2f} |"
        )
    return [*lines, ""]


def main(
    players: Annotated[str, typer.Option(help="Numbers of players, as 1-5 or 2,3,5.")] = "1,3",
    games: Annotated[int, typer.Option(min=2, help="Deals a row.")] = 1000,
    deals: Annotated[str, typer.Option(help="development or held-out.")] = "development",
    weights: Annotated[str | None, typer.Option(help="Name or path; else the table's own.")] = None,
    rules: Annotated[str, typer.Option(help="Preset or custom rules.")] = "official",
    memory: Annotated[str, typer.Option(help="Whether seats remember: on, off.")] = "on",
    talk: Annotated[str, typer.Option(help="Table talk: none, avoid, open.")] = "none",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for text and JSON.")] = None,
) -> None:
    """Measure what the cut-offs of plan enumeration lose."""

    def work() -> None:
        if deals not in RANGES:
            raise ValueError(unknown("range of deals", deals, RANGES))
        found = []
        for table in tables_of(players, rules, memory, talk):
            rows = []
            for row in measure(table, weights, deals, games):
                rows.append(row)
                typer.echo(f"{row.table}: most {row.most}, branch {row.branch}, reach {row.reach}, "
                           f"late {row.late}: "
                           f"{100 * row.win_rate:.1f} %", err=True)  # fmt: skip
            found.append(rows)
        document = json.dumps([asdict(row) for rows in found for row in rows], indent=1) + "\n"
        text = "\n".join(line for rows in found for line in markdown(rows))
        if out is not None:
            write_atomic(out / "cut_offs.json", document.encode())
            write_atomic(out / "cut_offs.md", text.encode())
        typer.echo(document if as_json else text, nl=False)

    refusing(work, "cut_offs")


if __name__ == "__main__":
    typer.run(main)
