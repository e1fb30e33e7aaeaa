"""Who sits where: teams of one agent, and mixed teams of cross-play.

In cross-play one seat is played by the first agent of a pair and all others by the second; the
seat of the first goes round from game to game, so that neither agent profits from a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

from eval.cells import Cell, Table

IntArray = npt.NDArray[np.int64]


def team(cell: Cell) -> tuple[str, ...]:
    """The different agents of a cell: one, or the two of cross-play, that in one seat first."""
    return cell.pair or (cell.agent,)


def seating(cell: Cell, games: IntArray) -> IntArray:
    """Which member of the `team` plays each seat.

    Args:
        cell: What is played.
        games: Indices of deals, int64[B].

    Returns:
        int64[B, players], places in `team(cell)`.
    """
    if cell.pair is None:
        return np.zeros((len(games), cell.players), np.int64)
    first = games[:, None] % cell.players == np.arange(cell.players)
    return np.where(first, 0, 1)


def cells_of(agents: Sequence[str], tables: Sequence[Table], crossplay: bool = False) -> list[Cell]:
    """Every agent at every table, table by table; with cross-play all ordered pairs as well.

    Raises:
        ValueError: Cross-play of one agent, or without a table of two players or more.
    """
    if crossplay and len(agents) < 2:
        raise ValueError("cross-play needs two agents or more")
    if crossplay and all(table.players < 2 for table in tables):
        raise ValueError("cross-play needs a table of two players or more")
    return [
        Cell(name, table.players, table.rules, table.talk, table.memory, table.starter)
        for table in tables
        for name in [*agents, *(_pairs(agents) if crossplay and table.players > 1 else ())]
    ]


def _pairs(agents: Sequence[str]) -> list[str]:
    return [f"{one}|{others}" for one, others in permutations(agents, 2)]
