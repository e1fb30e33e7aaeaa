"""Reliability of predictions: what happened to the positions of each bin of predictions.

All positions of a game share one ending, so they are not independent. The interval of a share is
Wilson's for Kish's effective number of games, (sum m)^2 / sum m^2 with m positions of each game in
the bin (L. Kish, Survey Sampling, 1965, chapter 8); the interval of a mean is normal, with the
linearised standard error of a ratio of sums over games (W. Cochran, Sampling Techniques, 1977,
chapter 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eval.stats import normal_quantile, wilson_bounds

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bin:
    """The positions whose prediction lies in low..high (the last bin holds its upper end too).

    Attributes:
        low: Lower end.
        high: Upper end.
        n: Positions.
        games: Kish's effective number of games behind them.
        predicted: Mean prediction.
        actual: What happened on average.
        actual_low: Lower end of its 95 % interval; None where a mean rests on a single game.
        actual_high: Upper end, likewise.
    """

    low: float
    high: float
    n: int
    games: float
    predicted: float
    actual: float
    actual_low: float | None
    actual_high: float | None


def reliability(
    predicted: Floats, actual: Floats, game: Int64, edges: Floats, shares: bool
) -> list[Bin]:
    """What happened to the positions of each bin of predictions; empty bins are left out.

    Args:
        predicted: float64[n].
        actual: float64[n], what happened; never negative.
        game: int64[n], the game of each position.
        edges: Ends of the bins, ascending.
        shares: Whether `actual` is 0 or 1 (then the interval is Wilson's).
    """
    bins = []
    which = np.clip(np.searchsorted(edges, predicted, side="right") - 1, 0, len(edges) - 2)
    for i in np.unique(which):
        at = which == i
        mean, *ends = ratio_interval(actual[at], game[at])
        of_game = np.unique(game[at], return_counts=True)[1].astype(np.float64)
        effective = float(of_game.sum() ** 2 / (of_game**2).sum())
        if shares:
            n = max(round(effective), 1)
            ends = [float(end) for end in wilson_bounds(mean * n, n)]
        low, high = (max(end, 0.0) if np.isfinite(end) else None for end in ends)
        bins.append(
            Bin(
                float(edges[i]), float(edges[i + 1]), int(at.sum()), effective,
                float(predicted[at].mean()), mean, low, high,
            )
        )  # fmt: skip
    return bins


def ratio_interval(values: Floats, game: Int64) -> tuple[float, float, float]:
    """The mean of values and its 95 % interval, where the values of a game belong together.

    Args:
        values: float64[n].
        game: int64[n].

    Returns:
        (mean, low, high); the interval of a single game is unknown and comes back as nan.
    """
    _, games = np.unique(game, return_inverse=True)
    n, mean = games.max() + 1, float(values.mean())
    if n == 1:
        return mean, float("nan"), float("nan")
    residuals = np.bincount(games, weights=values - mean)
    error = np.sqrt((residuals**2).sum() * n / (n - 1)) / len(values)
    half = normal_quantile(0.95) * error
    return mean, mean - half, mean + half


def error_of(bins: Sequence[Bin]) -> float:
    """Mean distance of predicted and actual over the bins, weighted by their positions.

    Of shares it is the expected calibration error of M. Naeini, G. Cooper and M. Hauskrecht,
    Obtaining Well Calibrated Probabilities Using Bayesian Binning (2015).
    """
    total = sum(b.n for b in bins)
    return sum(b.n * abs(b.predicted - b.actual) for b in bins) / total
