"""How long decisions and games took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_BINS_PER_DECADE = 50
_SHORTEST_MS = 1e-7


@dataclass(frozen=True, slots=True)
class Timing:
    """How long games took, measured in one worker.

    One decision is one action, a play or the end of a turn, for every kind of agent. The time
    of a batch of answers, or of a plan for a whole turn, is shared equally by its actions.

    Attributes:
        games: games played.
        decisions: actions answered.
        seconds: wall time for all of it, on one worker.
        histogram: decisions by their time: bin k holds those from 10**(k/50) to
            10**((k+1)/50) milliseconds, so a quantile is right to within 5 %.
    """

    games: int
    decisions: int
    seconds: float
    histogram: dict[int, int]

    @classmethod
    def from_batches(
        cls,
        games: int,
        seconds: float,
        batch_seconds: npt.ArrayLike,
        batch_decisions: npt.ArrayLike,
    ) -> Timing:
        """Make it from batches of decisions that were timed together.

        Args:
            games: games played.
            seconds: wall time for all of them.
            batch_seconds: wall time of each batch, shape [m].
            batch_decisions: actions answered in each batch, shape [m]; 1 each without batches.
        """
        counts = np.asarray(batch_decisions, dtype=np.int64)
        asked = counts > 0
        counts = counts[asked]
        each = 1000 * np.asarray(batch_seconds, dtype=np.float64)[asked] / counts
        bins = np.floor(_BINS_PER_DECADE * np.log10(np.maximum(each, _SHORTEST_MS)))
        values, place = np.unique(bins.astype(np.int64), return_inverse=True)
        totals = np.zeros(values.size, dtype=np.int64)
        np.add.at(totals, place, counts)
        histogram = dict(zip(values.tolist(), totals.tolist(), strict=True))
        return cls(games, int(counts.sum()), float(seconds), histogram)

    @classmethod
    def total(cls, timings: Iterable[Timing]) -> Timing:
        """Add up the timings of several chunks."""
        games, decisions, seconds = 0, 0, 0.0
        histogram: dict[int, int] = {}
        for part in timings:
            games, decisions = games + part.games, decisions + part.decisions
            seconds += part.seconds
            for k, count in part.histogram.items():
                histogram[k] = histogram.get(k, 0) + count
        return cls(games, decisions, seconds, dict(sorted(histogram.items())))

    def quantile(self, q: float) -> float | None:
        """Return the milliseconds that the share `q` of decisions stays below; None if none."""
        before, target = 0, q * self.decisions
        for k, count in sorted(self.histogram.items()):
            if before + count >= target:
                return float(10 ** ((k + (target - before) / count) / _BINS_PER_DECADE))
            before += count
        return None

    def games_per_second(self) -> float | None:
        """Return games a second of one worker; None if nothing was measured."""
        return self.games / self.seconds if self.games and self.seconds > 0 else None
