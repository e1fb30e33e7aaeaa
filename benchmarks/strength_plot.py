"""The plot of strength against time: games won over the budget of a decision, as SVG text."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from eval.plots import duration, players_text, svg_figure
from eval.summary import CellSummary

EXPERT, BASE = "#0072b2", "#d55e00"
LABELS = 6
"""Budgets named below the axis at most; more do not fit on a phone."""


def strength_plot(base: CellSummary, seconds: Sequence[float], cells: Sequence[CellSummary]) -> str:
    """Draw the share won at each budget, and the base's as a dashed line, with 95 % intervals.

    The same figures give the same text, on ink and paper of the report's plots, as narrow as a
    phone.

    Args:
        base: The player without a budget.
        seconds: Budgets of a decision, ascending.
        cells: The searching player's figures at each of them.
    """
    with svg_figure(4.4, 3.6) as (figure, out):
        axes = figure.subplots()
        _base_line(axes, base)
        _points(axes, [1000 * budget for budget in seconds], cells)
        title = f"{players_text(base.players)}, {base.games:,} deals"
        axes.set_title(title, loc="left", fontsize=11)
        figure.legend(loc="outside lower center", ncols=2)
    return out.getvalue()


def _base_line(axes: Axes, base: CellSummary) -> None:
    axes.axhspan(100 * base.win_low, 100 * base.win_high, color=BASE, alpha=0.2, linewidth=0)
    axes.axhline(100 * base.win_rate, color=BASE, linestyle="--", label=base.agent)


def _points(axes: Axes, budgets: Sequence[float], cells: Sequence[CellSummary]) -> None:
    """The searching player over its budgets in milliseconds."""
    rates = [100 * cell.win_rate for cell in cells]
    lower = [100 * (cell.win_rate - cell.win_low) for cell in cells]
    upper = [100 * (cell.win_high - cell.win_rate) for cell in cells]
    axes.errorbar(
        budgets,
        rates,
        yerr=[lower, upper],
        color=EXPERT,
        marker="o",
        markersize=6,
        capsize=3,
        linewidth=1.5,
        label=cells[0].agent.partition(":")[0],
    )
    axes.set_xscale("log")
    named = budgets[:: -(-len(budgets) // LABELS)]
    axes.set_xticks(named, [duration(ms) for ms in named])
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, 0), min(high, 100))
    axes.set_xlim(budgets[0] / 1.5, budgets[-1] * 1.5)
    axes.set(xlabel="budget: processor time a turn", ylabel="games won, %")
