"""The figures of a run in a terminal, and as the document of `--json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from eval.cells import Table
from eval.plots import duration, players_text
from eval.report import interval, p_value, percent, rate, setting_text, signed
from eval.summary import CellSummary, CrossSummary, PairedSummary, Summary, summary_json, table_of

Line = TypeVar("Line", CellSummary, PairedSummary, CrossSummary)
WIDE = 90
"""Columns of a terminal from which on the figures stand further apart."""
LINES_OF_FAULTS = 3
"""Reasons that are printed a cell."""


def summary_document(summary: Summary) -> Any:
    """The figures as {"cells": [...], "paired": [...]}, and "crossplay" if there was any."""
    return json.loads(summary_json(summary))


def print_summary(summary: Summary) -> None:
    """Print all figures on stdout, for 80 columns and more: one block a table."""
    console = Console(highlight=False)
    for table in dict.fromkeys(map(table_of, summary.cells)):
        title = f"{players_text(table.players)}, {setting_text(table.setting)}"
        console.print(Text(f"\n{title}", style="bold"))
        alone = [cell for cell in _at(table, summary.cells) if "|" not in cell.agent]
        console.print(_cells(alone, 2 if console.width >= WIDE else 1))
        paired = _at(table, summary.paired)
        if paired:
            console.print(Text(f"\nAgainst {paired[0].baseline} on the same deals"))
            console.print(_paired(paired))
        crossed = _at(table, summary.crossplay)
        if crossed:
            console.print(Text("\nMixed teams: won in % (cards left)"))
            console.print(_crossplay(crossed))
        for cell in _at(table, summary.cells):
            _print_faults(console, cell)


def _at(table: Table, lines: Iterable[Line]) -> list[Line]:
    return [line for line in lines if table_of(line) == table]


def _grid(first: str, others: Sequence[str], gap: int = 2) -> Grid:
    grid = Grid(box=None, padding=(0, gap, 0, 0), pad_edge=False)
    grid.add_column(first, overflow="fold")
    for name in others:
        grid.add_column(name, justify="right", no_wrap=True)
    return grid


def _cells(cells: Sequence[CellSummary], gap: int) -> Grid:
    names = ["won % (95 %)", "cards left", "<10 %", "a decision", "games/s"]
    grid = _grid(f"{cells[0].games:,} games", names, gap)
    for cell in cells:
        bounds = interval((cell.win_low, cell.win_high), 1, 100).replace(" to ", "-")
        error = "" if cell.cards_left_se is None else f" ± {cell.cards_left_se:.2f}"
        grid.add_row(
            Text(cell.agent),
            f"{percent(cell.win_rate)} ({bounds})",
            f"{cell.cards_left_mean:.2f}{error}",
            percent(cell.under_ten),
            _times(cell.ms_per_decision_p50, cell.ms_per_decision_p95),
            rate(cell.games_per_s),
        )
    return grid


def _times(median: float | None, most: float | None) -> str:
    """Median and 95 % quantile, with the unit once where it is the same."""
    if median is None or most is None:
        return "-"
    first, last = duration(median), duration(most)
    number, _, unit = first.partition(" ")
    return f"{number}/{last}" if last.endswith(f" {unit}") else f"{first}/{last}"


def _paired(lines: Sequence[PairedSummary]) -> Grid:
    grid = _grid("", ["cards left", "won %", "p (Holm)"])
    for line in lines:
        left = interval((line.cards_left_low, line.cards_left_high))
        win = interval((line.win_diff_low, line.win_diff_high), 1, 100)
        grid.add_row(
            Text(line.agent),
            f"{signed(line.cards_left_diff)} ({left})",
            f"{signed(line.win_diff, 1, 100)} ({win})",
            p_value(line.mcnemar_p_holm),
        )
    return grid


def _crossplay(lines: Sequence[CrossSummary]) -> Grid:
    """A matrix: one seat by the agent of the line, the others by the agent of the column."""
    columns = list(dict.fromkeys(line.others for line in lines))
    grid = _grid("one seat | others", columns)
    figures = {
        (line.one, line.others): f"{percent(line.win_rate)} ({line.cards_left_mean:.1f})"
        for line in lines
    }
    for one in dict.fromkeys(line.one for line in lines):
        grid.add_row(Text(one), *(figures.get((one, others), "") for others in columns))
    return grid


def _print_faults(console: Console, cell: CellSummary) -> None:
    if not cell.faults:
        return
    counts = f"crash {cell.crash}, illegal {cell.illegal}, timeout {cell.timeout}"
    console.print(Text(f"\n{cell.agent}: {cell.faults} games ended by a fault ({counts})"))
    for reason, count in list(cell.fault_reasons.items())[:LINES_OF_FAULTS]:
        console.print(Text(f"  {count} x {reason}"))
