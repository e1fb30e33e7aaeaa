"""The reliability plot: predicted chance to win against the share that was won, as SVG text."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from benchmarks.reliability import Bin
from eval.plots import INK, PAPER, players_text, svg_figure

COLOUR = "#0072b2"


def reliability_plot(bins: Sequence[Bin], players: int, error: float) -> str:
    """Draw each bin's share won over its mean prediction, and below how many positions it holds.

    The same figures give the same text, on ink and paper of the report's plots, as narrow as a
    phone.

    Args:
        bins: Of chances to win.
        players: Seats.
        error: Expected calibration error.
    """
    with svg_figure(4.4, 4.9) as (figure, out):
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(5, 1))
        _points(above, bins)
        above.set_title(
            f"{players_text(players)}: error {100 * error:.1f} points", loc="left", fontsize=11
        )
        _amounts(below, bins)
    return out.getvalue()


def _points(axes: Axes, bins: Sequence[Bin]) -> None:
    axes.plot([0, 100], [0, 100], color=INK, linewidth=1, linestyle="--")
    actual = [100 * b.actual for b in bins]
    lower = [100 * (b.actual - (b.actual_low or 0.0)) for b in bins]
    upper = [100 * ((1.0 if b.actual_high is None else b.actual_high) - b.actual) for b in bins]
    axes.errorbar(
        [100 * b.predicted for b in bins],
        actual,
        yerr=[lower, upper],
        color=COLOUR,
        marker="o",
        markersize=5,
        capsize=3,
        linewidth=1,
        clip_on=False,
    )
    axes.set(xlim=(0, 100), ylim=(0, 100), ylabel="positions won, %")


def _amounts(axes: Axes, bins: Sequence[Bin]) -> None:
    total = sum(b.n for b in bins)
    axes.bar(
        [100 * b.low for b in bins],
        [100 * b.n / total for b in bins],
        width=[100 * (b.high - b.low) for b in bins],
        align="edge",
        color=COLOUR,
        alpha=0.6,
        edgecolor=PAPER,
    )
    axes.set(xlabel="called, %", ylabel="share, %")
