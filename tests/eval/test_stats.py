import math

import numpy as np
import pytest
from scipy.stats import binomtest

from eval.stats import (
    bootstrap_mean_difference,
    counts_at_most,
    discordant,
    holm,
    mcnemar_exact,
    mean_se,
    quartiles,
    wilson,
    wilson_bounds,
)


@pytest.mark.parametrize(
    ("wins", "n"), [(0, 10), (3, 10), (10, 10), (1, 1), (450, 10_000), (0, 100_000)]
)
def test_wilson_is_scipys_interval(wins: int, n: int) -> None:
    expected = binomtest(wins, n).proportion_ci(0.95, method="wilson")
    assert wilson(wins, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_by_hand() -> None:
    # 1 of 2 with z = 1.96: centre 1/2, half width z * sqrt(1/2 + z^2/4) / (2 + z^2) = 0.40547
    assert wilson(1, 2) == pytest.approx((0.5 - 0.40547, 0.5 + 0.40547), abs=1e-4)


def test_wilson_knows_nothing_without_games_and_everything_of_arrays() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson_bounds([0, 3, 10], 10)
    assert [(a, b) for a, b in zip(low, high, strict=True)] == [wilson(k, 10) for k in (0, 3, 10)]


@pytest.mark.parametrize(("wins", "n", "level"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0)])
def test_wilson_refuses_what_is_no_share(wins: int, n: int, level: float) -> None:
    with pytest.raises(ValueError, match="lie"):
        wilson(wins, n, level)


def test_wilson_covers_the_true_share() -> None:
    rng = np.random.default_rng(1)
    p = rng.uniform(0.02, 0.98, 20_000)
    low, high = wilson_bounds(rng.binomial(300, p), 300)
    assert 0.94 < np.mean((low <= p) & (p <= high)) < 0.96


def test_mean_and_error_by_hand() -> None:
    # squares about the mean 5: 9 1 1 1 0 0 4 16 = 32, s^2 = 32/7, se = sqrt(32/7/8) = sqrt(4/7)
    mean, se = mean_se([2, 4, 4, 4, 5, 5, 7, 9])
    assert mean == 5
    assert se == pytest.approx(math.sqrt(4 / 7))


def test_one_value_has_no_error() -> None:
    mean, se = mean_se([3])
    assert mean == 3
    assert math.isnan(se)


@pytest.mark.parametrize("function", [mean_se, quartiles])
@pytest.mark.parametrize("sample", [[], [[1, 2]]])
def test_samples_are_lists_that_are_not_empty(function: object, sample: list[object]) -> None:
    assert callable(function)
    with pytest.raises(ValueError, match="non-empty"):
        function(sample)


def test_mean_error_covers_the_true_mean() -> None:
    rng = np.random.default_rng(2)
    left = rng.geometric(0.1, (5000, 400)) - 1
    errors = [mean_se(sample) for sample in left]
    covered = [abs(mean - 9) <= 1.96 * se for mean, se in errors]
    assert 0.94 < np.mean(covered) < 0.96


def test_quartiles_by_hand() -> None:
    assert quartiles([4, 1, 3, 2, 5]) == (2, 3, 4)
    assert quartiles([0, 10]) == (2.5, 5, 7.5)


def test_counts_at_most_by_hand() -> None:
    assert counts_at_most([0, 2, 2, 7], 4).tolist() == [1, 1, 3, 3, 3]
    assert counts_at_most([5], 7).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


def test_bootstrap_of_equal_differences_is_a_point() -> None:
    assert bootstrap_mean_difference([5, 6, 7], [3, 4, 5]) == (2, 2, 2)


def test_bootstrap_of_few_values_follows_the_binomial_law() -> None:
    # Resampling 0 and 1 in equal shares: the mean is binomial(100, 1/2) / 100.
    a = np.arange(100) % 2
    difference, low, high = bootstrap_mean_difference(a, np.zeros(100), resamples=20_000)
    assert difference == 0.5
    assert (low, high) == pytest.approx((0.40, 0.60), abs=0.011)


def test_bootstrap_is_seeded_and_pairs_the_games() -> None:
    rng = np.random.default_rng(3)
    deal = rng.integers(0, 60, 300)
    a, b = deal + rng.integers(0, 3, 300), deal
    once = bootstrap_mean_difference(a, b, resamples=500)
    assert once == bootstrap_mean_difference(a, b, resamples=500)
    assert once != bootstrap_mean_difference(a, b, resamples=500, seed=4)
    assert once[2] - once[1] < 0.25
    shuffled = bootstrap_mean_difference(a, rng.permutation(b))
    assert shuffled[2] - shuffled[1] > 3


def test_bootstrap_resamples_in_blocks() -> None:
    difference = np.random.default_rng(5).normal(1.0, 2.0, 2500)
    mean, low, high = bootstrap_mean_difference(difference, np.zeros(2500), resamples=2000)
    se = mean_se(difference)[1]
    assert (low, high) == pytest.approx((mean - 1.96 * se, mean + 1.96 * se), abs=0.012)


def test_bootstrap_covers_the_true_difference() -> None:
    rng = np.random.default_rng(6)
    samples = rng.choice([-2, -1, 0, 1, 5], p=[0.2, 0.2, 0.3, 0.2, 0.1], size=(2000, 400))
    nothing = np.zeros(400)
    covered = 0
    for seed, sample in enumerate(samples):
        _, low, high = bootstrap_mean_difference(sample, nothing, resamples=1000, seed=seed)
        covered += low <= 0.1 <= high
    assert 0.94 < covered / 2000 < 0.96


def test_bootstrap_refuses_samples_of_two_lengths() -> None:
    with pytest.raises(ValueError, match="one length, not 2 and 1"):
        bootstrap_mean_difference([1, 2], [1])


def test_mcnemar_by_hand() -> None:
    # 5 games only the first won, 1 only the second: 2 * (C(6,0) + C(6,1)) / 2^6 = 14/64.
    a = [True] * 5 + [False] + [True] * 10
    b = [False] * 5 + [True] + [True] * 10
    assert discordant(a, b) == (5, 1)
    assert mcnemar_exact(a, b) == pytest.approx(14 / 64)
    assert mcnemar_exact(b, a) == pytest.approx(14 / 64)


def test_mcnemar_without_a_difference_is_one() -> None:
    assert mcnemar_exact([True, False], [True, False]) == 1.0


def test_mcnemar_needs_the_same_games() -> None:
    with pytest.raises(ValueError, match="one shape"):
        mcnemar_exact([True, False], [True])


def test_mcnemar_is_seldom_small_by_chance() -> None:
    rng = np.random.default_rng(8)
    p = [mcnemar_exact(*rng.random((2, 100)).__lt__(0.3)) for _ in range(1000)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05


def test_holm_by_hand() -> None:
    # sorted .005 .01 .03 .04 times 4 3 2 1 is .02 .03 .06 .04, made to rise: .02 .03 .06 .06
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_refuses_what_is_no_probability() -> None:
    with pytest.raises(ValueError, match=r"0\.\.1"):
        holm([0.5, 1.5])
