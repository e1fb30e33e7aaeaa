"""The plots of a report as SVG text: the same figures give the same text.

An agent has one colour, line style and marker in every plot of a run. The colours are those
of M. Okabe and K. Ito, Color Universal Design (2008), which stay apart for colour-blind
readers; line style and marker tell the agents apart without any colour.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from eval.cells import Table
from eval.columns import Run
from eval.stats import FloatArray, IntArray, counts_at_most, wilson_bounds
from eval.summary import CellSummary, CrossSummary, PairedSummary, Summary, table_of

LineStyle = str | tuple[int, tuple[int, ...]]

INK = "#1a1b1c"
PAPER = "#fefefd"
_GRID = "#8f9091"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#808080")
_LINES: tuple[LineStyle, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = "osD^vPX*"
_HEAT = mpl.colormaps["cividis"]
_WIDTH = 4.4
_SHORT = 19
_RC: dict[Any, Any] = {
    "svg.hashsalt": "thegame",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.alpha": 0.35,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Look:
    """How an agent is drawn; the label is its name, shortened but like no other agent's."""

    label: str
    colour: str
    line: LineStyle
    marker: str


Looks = dict[str, Look]


def looks_of(agents: Sequence[str]) -> Looks:
    """Return a look for every agent, by its place in the list."""
    names = list(dict.fromkeys(agents))
    looks = zip(_short_names(names), cycle(_COLOURS), cycle(_LINES), cycle(_MARKERS))
    return {name: Look(*look) for name, look in zip(names, looks, strict=False)}


def plot_run(run: Run, summary: Summary) -> dict[str, str]:
    """Return every plot of a run: file name to SVG text.

    Names begin with "share-", "time-", "paired-" or "crossplay-" and end with the slug of the
    table, or of the setting for paired differences. A plot that would be empty is left out.
    """
    looks = looks_of([name for cell in run.games for name in cell.pair or (cell.agent,)])
    plots: dict[str, str] = {}
    for table in dict.fromkeys(cell.table for cell in run.games if not cell.pair):
        plots[f"share-{table.slug}.svg"] = share_plot(_cards_left(run, table), looks)
        timed = [c for c in summary.cells if table_of(c) == table and "|" not in c.agent]
        timed = [c for c in timed if c.ms_per_decision_p50 is not None]
        if timed:
            plots[f"time-{table.slug}.svg"] = time_plot(timed, looks)
    for setting in dict.fromkeys(table_of(p).setting for p in summary.paired):
        paired = [p for p in summary.paired if table_of(p).setting == setting]
        plots[f"paired-{setting.slug}.svg"] = paired_plot(paired, looks)
    for table in dict.fromkeys(table_of(c) for c in summary.crossplay):
        crossed = [c for c in summary.crossplay if table_of(c) == table]
        plots[f"crossplay-{table.slug}.svg"] = crossplay_plot(crossed, looks)
    return plots


def share_plot(cards_left: dict[str, IntArray], looks: Looks) -> str:
    """Draw the share of games with at most t cards left, with Wilson 95 % bands.

    Args:
        cards_left: of each agent, cards left of its games, shape [n].
        looks: how the agents are drawn.
    """
    top = max(int(np.quantile(left, 0.99)) for left in cards_left.values())
    top = max(10, -(-top // 10) * 10)
    t = np.arange(top + 1)
    with _drawing(_WIDTH, 3.6 + _legend_height([looks[agent].label for agent in cards_left])) as (
        figure,
        axes,
        out,
    ):
        for i, (agent, left) in enumerate(cards_left.items()):
            _share_curve(axes, t, left, looks[agent], first_mark=i)
        axes.set(xlim=(0, top), ylim=(0, 100), xlabel="cards left, at most")
        axes.set_ylabel("share of games, %")
        _legend_below(figure, axes)
    return out.getvalue()


def time_plot(cells: Sequence[CellSummary], looks: Looks) -> str:
    """Draw win rate against the time of a decision, for the agents of one table.

    The marker stands at the median time with the Wilson 95 % interval; a thin line goes on to
    the time that 95 % of the decisions stay below.

    Args:
        cells: figures with times, one agent each.
        looks: how the agents are drawn.
    """
    with _drawing(_WIDTH, 3.3 + _legend_height([looks[cell.agent].label for cell in cells])) as (
        figure,
        axes,
        out,
    ):
        for cell in cells:
            _time_point(axes, cell, looks[cell.agent])
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda ms, _: duration(ms)))
        axes.xaxis.set_minor_formatter(FuncFormatter(lambda ms, _: ""))
        _widen_log(axes, [c.ms_per_decision_p50 or 1.0 for c in cells])
        axes.set_xlabel("time a decision, median to 95 %")
        axes.set_ylabel("games won, %")
        axes.set_ylim(bottom=0)
        _legend_below(figure, axes)
    return out.getvalue()


def paired_plot(paired: Sequence[PairedSummary], looks: Looks) -> str:
    """Draw the differences in cards left from the baseline with their intervals.

    Args:
        paired: comparisons of one setting, for one or several numbers of players.
        looks: how the agents are drawn.
    """
    lines = _forest_lines(paired, looks)
    with _drawing(_WIDTH, 1.1 + 0.29 * len(lines)) as (_, axes, out):
        axes.axvline(0, color=INK, linewidth=1)
        for y, (_, comparison) in enumerate(lines):
            if comparison:
                _forest_bar(axes, y, comparison, looks[comparison.agent])
        axes.set_yticks(range(len(lines)), [label for label, _ in lines])
        for tick, (_, comparison) in zip(axes.get_yticklabels(), lines, strict=True):
            tick.set_fontweight("normal" if comparison else "bold")
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(False, axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.set_xlabel(
            f"cards left, minus {looks[paired[0].baseline].label}\n(further left is better)"
        )
    return out.getvalue()


def crossplay_plot(crossed: Sequence[CrossSummary], looks: Looks) -> str:
    """Draw the win rates of mixed teams: rows hold one seat, columns the other seats.

    Each field shows games won in per cent and below it the mean cards left. The columns bear
    the letters that stand behind the names of the rows.

    Args:
        crossed: mixed teams and self-play at one table.
        looks: how the agents are drawn.
    """
    agents = [a for a in looks if any(a in (c.one, c.others) for c in crossed)]
    rate = np.full((len(agents), len(agents)), np.nan)
    for c in crossed:
        rate[agents.index(c.one), agents.index(c.others)] = 100 * c.win_rate
    letters = [chr(ord("A") + i % 26) for i in range(len(agents))]
    names = [f"{looks[a].label} · {letter}" for a, letter in zip(agents, letters, strict=True)]
    side = 0.62 * len(agents)
    with _drawing(2.0 + side, 0.75 + side) as (_, axes, out):
        low, high = _colour_range(rate)
        axes.imshow(rate, cmap=_HEAT, vmin=low, vmax=high, aspect="auto")
        for c in crossed:
            row, column = agents.index(c.one), agents.index(c.others)
            ink = _ink_on((100 * c.win_rate - low) / (high - low))
            text = f"{100 * c.win_rate:.1f}\n({c.cards_left_mean:.1f})"
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=10.5)
        axes.set_xticks(range(len(agents)), letters)
        axes.set_yticks(range(len(agents)), names)
        axes.tick_params(length=0)
        axes.set(xlabel="in the other seats", ylabel="in one seat")
        axes.grid(False)
    return out.getvalue()


def _short_names(names: Sequence[str]) -> list[str]:
    """Cut long names in their middle, as short as they all stay different."""
    for length in range(_SHORT, max(map(len, names), default=0)):
        cut = [_cut(name, length) for name in names]
        if len(set(cut)) == len(names):
            return cut
    return list(names)


def _cut(name: str, length: int) -> str:
    """Return a name with at most `length` characters, the end rather than the start kept."""
    head = (length - 1) // 2
    return name if len(name) <= length else f"{name[:head]}…{name[head + 1 - length :]}"


def duration(ms: float) -> str:
    """Return milliseconds as text with three digits in a readable unit."""
    for unit, scale in (("s", 1e3), ("ms", 1.0), ("µs", 1e-3)):
        if ms >= 0.9995 * scale:
            return f"{_three_digits(ms / scale)} {unit}"
    return f"{_three_digits(ms / 1e-6)} ns"


def _three_digits(value: float) -> str:
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")


def _cards_left(run: Run, table: Table) -> dict[str, IntArray]:
    cells = [cell for cell in run.games if cell.table == table and not cell.pair]
    return {cell.agent: run.games[cell].cards_left for cell in cells}


def _share_curve(axes: Axes, t: IntArray, left: IntArray, look: Look, first_mark: int) -> None:
    at_most = counts_at_most(left, int(t[-1]))
    low, high = wilson_bounds(at_most, left.size)
    axes.fill_between(
        t, 100 * low, 100 * high, step="post", color=look.colour, alpha=0.2, linewidth=0
    )
    axes.plot(
        t,
        100 * at_most / left.size,
        drawstyle="steps-post",
        color=look.colour,
        linestyle=look.line,
        marker=look.marker,
        markersize=4.5,
        markevery=(first_mark % 5, 5),
        label=look.label,
        clip_on=False,
    )


def _time_point(axes: Axes, cell: CellSummary, look: Look) -> None:
    middle, slow = cell.ms_per_decision_p50 or 1.0, cell.ms_per_decision_p95 or 1.0
    rate = 100 * cell.win_rate
    bars = [[rate - 100 * cell.win_low], [100 * cell.win_high - rate]]
    axes.plot([middle, slow], [rate, rate], color=look.colour, linewidth=1)
    axes.errorbar(
        middle,
        rate,
        yerr=bars,
        color=look.colour,
        marker=look.marker,
        markersize=7,
        capsize=3,
        linestyle="none",
        label=look.label,
    )


def _forest_bar(axes: Axes, y: int, line: PairedSummary, look: Look) -> None:
    middle = line.cards_left_diff
    axes.errorbar(
        middle,
        y,
        xerr=[[middle - line.cards_left_low], [line.cards_left_high - middle]],
        color=look.colour,
        marker=look.marker,
        markersize=5,
        capsize=3,
        linestyle="none",
    )


def _forest_lines(
    paired: Sequence[PairedSummary], looks: Looks
) -> list[tuple[str, PairedSummary | None]]:
    """Return (label, comparison) from the top down; a number of players comes without one."""
    lines: list[tuple[str, PairedSummary | None]] = []
    for players in sorted({p.players for p in paired}):
        lines.append((players_text(players), None))
        lines += [(looks[p.agent].label, p) for p in paired if p.players == players]
    return lines


def players_text(players: int) -> str:
    """Return "1 player", "2 players" and so on."""
    return f"{players} player" if players == 1 else f"{players} players"


def _colour_range(rate: FloatArray) -> tuple[float, float]:
    low, high = float(np.nanmin(rate)), float(np.nanmax(rate))
    return (low, high) if high - low >= 1 else (low - 0.5, low + 0.5)


def _ink_on(place: float) -> str:
    """Return black or white, whichever reads better on the colour at `place` of the heat map."""
    red, green, blue, _ = _HEAT(place)
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"


def _widen_log(axes: Axes, values: Sequence[float]) -> None:
    """Show at least a whole decade around the values, so that there are labelled ticks."""
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, min(values) / 5), max(high, max(values) * 5))


def _legend_columns(labels: Sequence[str]) -> int:
    return 2 if max(map(len, labels)) <= _SHORT else 1


def _legend_height(labels: Sequence[str]) -> float:
    """Return the inches that a legend of these labels takes."""
    return 0.26 * -(-len(labels) // _legend_columns(labels))


def _legend_below(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    columns = _legend_columns(labels)
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        handlelength=2.4,
        columnspacing=1.2,
    )


@contextmanager
def svg_figure(width: float, height: float) -> Iterator[tuple[Figure, io.StringIO]]:
    """Give a figure in inches, in the look of all plots, and write it as SVG at the end.

    The settings hold in here only, and the reader's own matplotlib settings do not count.
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_RC)
        figure = Figure(figsize=(width, height), layout="constrained")
        out = io.StringIO()
        yield figure, out
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=nothing)


@contextmanager
def _drawing(width: float, height: float) -> Iterator[tuple[Figure, Axes, io.StringIO]]:
    """`svg_figure` with one pair of axes to draw on."""
    with svg_figure(width, height) as (figure, out):
        yield figure, figure.subplots(), out
