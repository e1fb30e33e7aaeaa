"""Random legal actions straight from masks: the player of the benchmarks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thegame_env.compiled import kernel, row_of
from thegame_env.deal import bounded

Int8 = npt.NDArray[np.int8]
Int64 = npt.NDArray[np.int64]

_CHUNK = 64
"""Mask entries that are counted together, before the one with the drawn action is searched."""


@kernel
def random_actions(masks, streams, actions):
    """Draw a uniformly random legal action for every row.

    Args:
        masks: int8[B, A], at least one 1 in every row.
        streams: uint64[B], one random stream a row (see deal.bounded), moved on.
        actions: Out, int64[B].
    """
    size = masks.shape[1]
    chunks = (size + _CHUNK - 1) // _CHUNK
    counts = np.zeros(chunks, np.int64)
    for b in range(masks.shape[0]):
        mask, total = row_of(masks, b), 0
        for chunk in range(chunks):
            legal = 0
            for action in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, size)):
                legal += mask[action]
            counts[chunk] = legal
            total += legal
        draw, streams[b] = bounded(streams[b], total)
        chunk = 0
        while draw >= counts[chunk]:
            draw -= counts[chunk]
            chunk += 1
        action = chunk * _CHUNK
        draw -= mask[action]
        while draw >= 0:
            action += 1
            draw -= mask[action]
        actions[b] = action


class RandomPlayer:
    """Chooses random legal actions for B games; the array it returns is reused by its next call."""

    def __init__(self, batch_size: int) -> None:
        self._streams = np.arange(batch_size, dtype=np.uint64)
        self._actions: Int64 = np.zeros(batch_size, np.int64)

    def __call__(self, masks: Int8) -> Int64:
        """Actions int64[B] for masks int8[B, A]."""
        random_actions(masks, self._streams, self._actions)
        return self._actions

    def one(self, mask: Int8) -> int:
        """The action for a single mask int8[A]."""
        random_actions(mask[None], self._streams, self._actions)
        return int(self._actions[0])
