"""Statistics of played games: intervals, paired comparisons, corrections.

Everything here is a pure function of numbers. Nothing knows what an agent or a file is.
All intervals are two-sided and cover the true value with probability `level`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_COUNTS_AT_ONCE = 2_000_000


def normal_quantile(level: float) -> float:
    """Return z so that a standard normal value lies within -z..z with probability `level`.

    Raises:
        ValueError: `level` is not strictly between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level lies strictly between 0 and 1, not {level}")
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson_bounds(
    wins: npt.ArrayLike, n: int, level: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the Wilson score interval of many counts out of the same number of games.

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, JASA 22 (1927), without continuity correction.

    Args:
        wins: counts, any shape, each in 0..n.
        n: games behind every count. With 0 games nothing is known: the interval is 0..1.
        level: probability that the interval covers the true share.

    Returns:
        Low and high shares in 0..1, float64, of the shape of `wins`.

    Raises:
        ValueError: a count is negative or above `n`, or `level` is not between 0 and 1.
    """
    count = np.asarray(wins, dtype=np.float64)
    if n < 0 or np.any(count < 0) or np.any(count > n):
        raise ValueError(f"wins must lie in 0..n with n >= 0; n is {n}")
    z2 = normal_quantile(level) ** 2
    if n == 0:
        return np.zeros_like(count), np.ones_like(count)
    centre = (count + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (count * (n - count) / n + z2 / 4)) / (n + z2)
    low = np.where(count == 0, 0.0, centre - half)
    high = np.where(count == n, 1.0, centre + half)
    return low, high


def wilson(wins: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of one share; see `wilson_bounds`.

    Returns:
        (low, high), shares in 0..1.

    Raises:
        ValueError: as `wilson_bounds`.
    """
    low, high = wilson_bounds(wins, n, level)
    return float(low), float(high)


def mean_se(x: npt.ArrayLike) -> tuple[float, float]:
    """Return the mean and its standard error, s / sqrt(n) with s of n - 1 degrees of freedom.

    The standard error of a single value is unknown and comes back as nan.

    Raises:
        ValueError: `x` is empty or not one-dimensional.
    """
    values = _sample(x)
    if values.size == 1:
        return float(values[0]), float("nan")
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))


def quartiles(x: npt.ArrayLike) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile, interpolated linearly.

    Raises:
        ValueError: `x` is empty or not one-dimensional.
    """
    low, median, high = np.quantile(_sample(x), [0.25, 0.5, 0.75])
    return float(low), float(median), float(high)


def counts_at_most(x: npt.ArrayLike, top: int) -> IntArray:
    """Return how many values are at most t, for t = 0..top.

    Args:
        x: integers >= 0, shape [n].
        top: the last t.

    Returns:
        Counts, int64, shape [top + 1].
    """
    values = np.asarray(x, dtype=np.int64)
    return np.cumsum(np.bincount(values, minlength=top + 1)[: top + 1]).astype(np.int64)


def bootstrap_mean_difference(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 20_151_001,
) -> tuple[float, float, float]:
    """Return the mean of a - b over paired games with its percentile bootstrap interval.

    A resample of n differences with replacement is the same thing as a multinomial draw of
    how often each distinct difference occurs. Cards left differ by one of at most 197
    integers, so a resample costs that many draws however many games there are. Source: B.
    Efron and R. Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Args:
        a: values of the first agent, shape [n].
        b: values of the second agent on the same deals, in the same order, shape [n].
        level: probability that the interval covers the true mean difference.
        resamples: bootstrap samples.
        seed: of the random draws; the same seed gives the same interval.

    Returns:
        (difference, low, high) in the unit of `a`.

    Raises:
        ValueError: the samples are empty, not one-dimensional or not of one length.
    """
    first, second = _sample(a), _sample(b)
    if first.size != second.size:
        raise ValueError(f"paired samples have one length, not {first.size} and {second.size}")
    normal_quantile(level)
    difference = first - second
    values, counts = np.unique(difference, return_counts=True)
    means = np.concatenate(list(_resampled_means(values, counts, resamples, seed)))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(difference.mean()), float(low), float(high)


def _resampled_means(
    values: FloatArray, counts: npt.NDArray[np.intp], resamples: int, seed: int
) -> Iterator[FloatArray]:
    """Yield the means of bootstrap samples in blocks that fit into memory."""
    rng = np.random.default_rng(seed)
    n = int(counts.sum())
    block = max(1, _COUNTS_AT_ONCE // values.size)
    for start in range(0, resamples, block):
        drawn = rng.multinomial(n, counts / n, size=min(block, resamples - start))
        yield drawn @ values / n


def discordant(a_wins: npt.ArrayLike, b_wins: npt.ArrayLike) -> tuple[int, int]:
    """Return how many paired games only the first won, and how many only the second won.

    Raises:
        ValueError: the two arrays are not of one shape.
    """
    a, b = np.asarray(a_wins, dtype=np.bool_), np.asarray(b_wins, dtype=np.bool_)
    if a.shape != b.shape:
        raise ValueError(f"paired wins have one shape, not {a.shape} and {b.shape}")
    return int(np.count_nonzero(a & ~b)), int(np.count_nonzero(b & ~a))


def mcnemar_exact(a_wins: npt.ArrayLike, b_wins: npt.ArrayLike) -> float:
    """Return the two-sided p of McNemar's exact test on paired wins.

    Under the null hypothesis, a game that only one of the two won was equally likely won by
    either, so the count of the first follows a binomial law with probability 1/2. Source: Q.
    McNemar, Psychometrika 12 (1947), in its exact form. With no such game p is 1.

    Args:
        a_wins: whether the first agent won each game, shape [n].
        b_wins: whether the second agent won the same games, shape [n].

    Raises:
        ValueError: the two arrays are not of one shape.
    """
    only_a, only_b = discordant(a_wins, b_wins)
    if only_a + only_b == 0:
        return 1.0
    return float(binomtest(only_a, only_a + only_b, 0.5).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for the number of tests, in the order given.

    Comparing an adjusted value with 0.05 keeps the chance of one false finding among all of
    them at 5 %. Source: S. Holm, Scandinavian Journal of Statistics 6 (1979).

    Raises:
        ValueError: a p value is not in 0..1.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p values lie in 0..1")
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(p.size, 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return [float(value) for value in adjusted]


def _sample(x: npt.ArrayLike) -> FloatArray:
    """Return `x` as float64 of shape [n] with n > 0, or raise ValueError."""
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"a sample is a non-empty list of numbers, not of shape {values.shape}")
    return values
