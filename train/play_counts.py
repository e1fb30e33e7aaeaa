"""What the logs tell of the games that are learnt from."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

RECENT = 1000
"""Games of training whose results are averaged."""


class PlayCounts:
    """Results of the latest games, and how their turns end."""

    def __init__(self) -> None:
        self._left: deque[int] = deque(maxlen=RECENT)
        self._turns = self._chosen = 0

    def add(
        self,
        actions: npt.NDArray[Any],
        masks: npt.NDArray[Any],
        dones: npt.NDArray[np.bool_],
        infos: list[dict[str, Any]],
    ) -> None:
        """Count one action a game.

        Args:
            actions: int[B].
            masks: [B, A]; true where an action was legal.
            dones: bool[B]: the games that ended by it.
            infos: What the environment tells of each game.
        """
        self._left.extend(infos[slot]["cards_left"] for slot in np.flatnonzero(dones))
        ended = actions == masks.shape[1] - 1
        self._turns += int(ended.sum())
        self._chosen += int((masks[ended].sum(axis=1) > 1).sum())

    def take(self) -> dict[str, float]:
        """What there is to log by name; turns are counted anew from here.

        `turns_ended_by_choice` is the share of the turns ended by END_TURN in which a card could
        have been laid. Nothing is told of results before the first game has ended.
        """
        told = {"play/turns_ended_by_choice": self._chosen / max(self._turns, 1)}
        if self._left:
            told["play/win_rate"] = float(np.mean(np.equal(self._left, 0)))
            told["play/cards_left"] = float(np.mean(self._left))
        self._turns = self._chosen = 0
        return told
