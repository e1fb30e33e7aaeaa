"""Strength against time: `python -m benchmarks.strength_curve --players 1,3 --times 10ms,1s`.

`afterstate` and `expert` with each budget play the same held-out deals through `thegame eval`, one
run a number of players. The runs are kept, so that the same command goes on where it was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from agents.expert import Budget
from agents.weight_files import write_atomic
from benchmarks.calibration import refusing, table_text, tables_of
from benchmarks.command import thegame
from benchmarks.strength_plot import strength_plot
from eval.plots import duration, players_text
from eval.records import read_manifest
from eval.summary import CellSummary, PairedSummary
from thegame_env.rules import Table

BASE = "afterstate"
INTRODUCTION = (
    "`expert:T` may search for T of processor time a turn. It stops before where nothing is to be "
    "gained, and each round of its search makes a few dealings even where T is too short for them; "
    "so the time that a turn took stands beside it: the wall time of all games in their processes, "
    "everything included, divided by their turns. `afterstate` plans many games side by side. The "
    "differences are to `afterstate` on the same deals."
)


@dataclass(frozen=True, slots=True)
class Curve:
    """The figures of one table.

    Attributes:
        table: What was played.
        cpu: The processor that played.
        base: Figures of `afterstate`.
        cells: Figures of `expert`, the budgets ascending.
        paired: Its comparisons with the base, in the same order.
    """

    table: Table
    cpu: str
    base: CellSummary
    cells: list[CellSummary]
    paired: list[PairedSummary]


def times_of(text: str) -> dict[str, float]:
    """The budgets of a list such as "10ms,1s", in seconds by their text, ascending.

    Raises:
        ValueError: Something is not a time, or two are the same.
    """
    found: dict[str, float] = {}
    for part in map(str.strip, text.split(",")):
        seconds = Budget.of(part, None).seconds
        assert seconds is not None
        if seconds in found.values():
            raise ValueError(f'times: "{text}" lists {part} twice')
        found[part] = seconds
    return dict(sorted(found.items(), key=lambda item: item[1]))


def command(table: Table, times: Sequence[str], games: int, workers: int, run: Path) -> list[str]:
    """The arguments of `thegame` that play a table's curve into a run.

    The longest budget, given last, plays first: the first search of a process loads compiled code,
    seconds that would show in the time of a short one.
    """
    agents = [BASE, *(f"expert:{time}" for time in reversed(times))]
    return [
        "eval",
        *("--agents", ",".join(agents), "--baseline", BASE, "--players", str(table.players)),
        *("--rules", table.rules.spec(), "--talk", table.talk),
        *("--memory", "on" if table.memory else "off", "--games", str(games)),
        *("--seed", "1", "--deals", "held-out", "--workers", str(workers)),
        *("--out", str(run), "--json"),
    ]


def play(table: Table, times: Sequence[str], games: int, workers: int, run: Path) -> Curve:
    """Play a run (or go on with it) and return its figures.

    Its progress and its refusals go to stderr as they are.

    Args:
        table: What is played.
        times: Budgets, ascending.
        games: Held-out deals.
        workers: Processes that play.
        run: Its folder.

    Raises:
        typer.Exit: It was refused or stopped; with its exit code.
    """
    document = json.loads(thegame(command(table, times, games, workers, run)))
    base, *cells = [CellSummary(**cell) for cell in document["cells"]]
    paired = [PairedSummary(**pair) for pair in document["paired"]]
    return Curve(table, read_manifest(run).hardware.cpu, base, cells[::-1], paired[::-1])


def ms_of_turn(cell: CellSummary) -> float | None:
    """Mean wall time of a turn in milliseconds, the game's own share included; None if unknown."""
    if not cell.games_per_s or not cell.turns_mean:
        return None
    return 1000.0 / (cell.games_per_s * cell.turns_mean)


def markdown(curve: Curve, plot: str) -> list[str]:
    """The lines of a table's part of the report; `plot` is the file name of its plot."""
    table = curve.table
    return [
        f"**{table_text(table)}**, on {curve.cpu}",
        "",
        f"![Games won against the budget, {players_text(table.players)}]({plot})",
        "",
        "| agent | games | time a turn | win % (95 %) | minus afterstate | cards left | "
        "minus afterstate |",
        "|---|---|---|---|---|---|---|",
        _row(curve.base, None),
        *(_row(cell, pair) for cell, pair in zip(curve.cells, curve.paired, strict=True)),
        "",
        *_faults([curve.base, *curve.cells]),
    ]


def _row(cell: CellSummary, pair: PairedSummary | None) -> str:
    win = left = "-"
    if pair:
        ends = (pair.win_diff, pair.win_diff_low, pair.win_diff_high)
        win = "{:+.1f} ({:+.1f} to {:+.1f})".format(*(100 * end for end in ends))
        ends = (pair.cards_left_diff, pair.cards_left_low, pair.cards_left_high)
        left = "{:+.2f} ({:+.2f} to {:+.2f})".format(*ends)
    ms = ms_of_turn(cell)
    rate, low, high = (100 * share for share in (cell.win_rate, cell.win_low, cell.win_high))
    return (
        f"| `{cell.agent}` | {cell.games:,} | {'-' if ms is None else duration(ms)} | "
        f"{rate:.1f} ({low:.1f}-{high:.1f}) | {win} | {cell.cards_left_mean:.2f} | {left} |"
    )


def _faults(cells: Sequence[CellSummary]) -> list[str]:
    """A sentence on the games that an agent's fault ended, if there are any."""
    found = [f"`{cell.agent}` {cell.faults}" for cell in cells if cell.faults]
    return [f"Games ended by a fault, which count as lost: {', '.join(found)}.", ""] * bool(found)


def write(out: Path, curves: Sequence[Curve], seconds: Sequence[float]) -> str:
    """Write the plots and the text to a folder, and return the text."""
    lines = [INTRODUCTION, ""]
    for curve in curves:
        plot = f"strength-{curve.table.players}p.svg"
        write_atomic(out / plot, strength_plot(curve.base, seconds, curve.cells).encode())
        lines += markdown(curve, plot)
    text = "\n".join(lines)
    write_atomic(out / "strength.md", text.encode())
    return text


def main(
    players: Annotated[str, typer.Option(help="Numbers of players, as 1-5 or 2,3,5.")] = "1,3",
    games: Annotated[int, typer.Option(min=2, help="Held-out deals a table.")] = 100,
    times: Annotated[
        str, typer.Option(help="Processor time a turn, several by commas.")
    ] = "10ms,30ms,100ms,300ms,1s",
    workers: Annotated[int, typer.Option(min=1, help="Processes that play.")] = 1,
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs/strength"),
    out: Annotated[Path, typer.Option(help="Folder for plots and text.")] = Path("docs/strength"),
) -> None:
    """Measure how strong `expert` is with more and more time."""

    def work() -> None:
        budgets = times_of(times)
        numbers = {table.players: table for table in tables_of(players, "official", "on", "none")}
        if out.exists() and not out.is_dir():
            raise ValueError(f"{out} is a file, and plots and text need a folder")
        curves = [
            play(table, list(budgets), games, workers, runs / f"{count}p")
            for count, table in sorted(numbers.items())
        ]
        typer.echo(write(out, curves, list(budgets.values())), nl=False)

    refusing(work, "strength_curve")


if __name__ == "__main__":
    typer.run(main)
