"""Plots of strength against time: games won and utility lost over the budget, as SVG text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from eval.plots import duration, players_text, svg_figure
from eval.summary import CellSummary

Floats = npt.NDArray[np.float64]
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
    rates = np.array([100 * cell.win_rate for cell in cells])
    lower = rates - [100 * cell.win_low for cell in cells]
    upper = np.array([100 * cell.win_high for cell in cells]) - rates
    _over_budgets(axes, budgets, rates, lower, upper)
    low, high = axes.get_ylim()
    axes.set_ylim(max(low, 0), min(high, 100))
    axes.set_ylabel("games won, %")


def _over_budgets(
    axes: Axes, budgets: Sequence[float], values: Floats, lower: Floats, upper: Floats
) -> None:
    """Values with their errors over budgets in milliseconds."""
    axes.errorbar(
        budgets,
        values,
        yerr=[lower, upper],
        color=EXPERT,
        marker="o",
        markersize=6,
        capsize=3,
        linewidth=1.5,
        label="expert",
    )
    axes.set_xscale("log")
    named = budgets[:: -(-len(budgets) // LABELS)]
    axes.set_xticks(named, [duration(ms) for ms in named])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(budgets[0] / 1.5, budgets[-1] * 1.5)
    axes.set_xlabel("budget: processor time a turn")


def regret_plot(players: int, seconds: Sequence[float], regrets: Floats) -> str:
    """Draw what a decision loses at each budget, and the base's as a dashed line, as SVG text.

    Args:
        players: Seats.
        seconds: Budgets of a decision, ascending.
        regrets: Thousandths of utility lost in every position, float64[n, 1 + budgets]; the base's
            come first.
    """
    means = regrets.mean(axis=0)
    errors = 1.96 * regrets.std(axis=0, ddof=1) / np.sqrt(len(regrets))
    with svg_figure(4.4, 3.6) as (figure, out):
        axes = figure.subplots()
        axes.axhspan(means[0] - errors[0], means[0] + errors[0], color=BASE, alpha=0.2, linewidth=0)
        axes.axhline(means[0], color=BASE, linestyle="--", label="afterstate")
        _over_budgets(
            axes, [1000 * budget for budget in seconds], means[1:], errors[1:], errors[1:]
        )
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(means[means > 0].min(initial=10.0) / 2, 2 * means.max(initial=0.1))
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda lost, _: f"{lost:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylabel("lost a decision, utility / 1000")
        title = f"{players_text(players)}, {len(regrets):,} positions"
        axes.set_title(title, loc="left", fontsize=11)
        figure.legend(loc="outside lower center", ncols=2)
    return out.getvalue()
