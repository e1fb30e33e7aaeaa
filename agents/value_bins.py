"""The distribution of cards left that the learned value predicts, and utilities read off it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thegame_env.rules import MAX_CARDS

LOWEST = np.array([*range(16), 16, 18, 20, 23, 26, 30, 36, 46, 61])
"""The fewest cards left of every bin; bin 0 is a win."""
BINS = len(LOWEST)
_HIGHEST = np.append(LOWEST[1:] - 1, MAX_CARDS)
CENTRES = (LOWEST + np.minimum(_HIGHEST, 75)) / 2.0
"""Cards left that a bin stands for in a mean."""
BIN_OF = np.searchsorted(LOWEST, np.arange(MAX_CARDS + 1), side="right") - 1
"""Bin of each number of cards left, int64[N + 1]."""

Floats = npt.NDArray[np.floating]


def utility_of(name: str) -> npt.NDArray[np.float32]:
    """Worth of every bin, float32[BINS], 1 for a win.

    Args:
        name: "win" (only wins count), "score" (cards laid count) or "blend": a win is worth 1, a
            loss half of 1 - left / 60.
    """
    if name == "win":
        worth = (LOWEST == 0).astype(float)
    elif name == "score":
        worth = 1.0 - CENTRES / MAX_CARDS
    elif name == "blend":
        worth = np.where(LOWEST == 0, 1.0, 0.5 * np.maximum(0.0, 1.0 - CENTRES / 60.0))
    else:
        raise ValueError(f'unknown utility "{name}"; known: win, score, blend')
    return np.asarray(worth, np.float32)
