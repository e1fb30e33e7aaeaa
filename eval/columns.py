"""The rows of a run as columns of numbers, one set of columns a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eval.cells import Cell, Chunk
from eval.manifest import Manifest, RunError
from eval.records import FAULTS, GameRow, read_chunk, read_manifest, read_timing
from eval.stats import IntArray
from eval.timing import Timing


@dataclass(frozen=True, slots=True)
class Games:
    """The games of one cell as columns of length n, in the order of their deals.

    Attributes:
        key: seed and deal index, int64, shape [n, 2].
        won: bool.
        cards_left: int64.
        turns: int64.
        tricks: int64.
        ended: how many games ended in each way.
        reasons: how many games each fault's reason ended.
    """

    key: IntArray
    won: npt.NDArray[np.bool_]
    cards_left: IntArray
    turns: IntArray
    tricks: IntArray
    ended: Counter[str]
    reasons: Counter[str]

    @classmethod
    def of_rows(cls, rows: Sequence[GameRow]) -> Games:
        """Make the columns of some rows."""
        faulty = (row for row in rows if row.ended in FAULTS)
        return cls(
            key=_ints([(row.seed, row.game) for row in rows]).reshape(-1, 2),
            won=np.array([row.won for row in rows], dtype=np.bool_),
            cards_left=_ints([row.cards_left for row in rows]),
            turns=_ints([row.turns for row in rows]),
            tricks=_ints([row.tricks for row in rows]),
            ended=Counter(row.ended for row in rows),
            reasons=Counter(f"{row.ended}: {' '.join(row.reason.split())}" for row in faulty),
        )

    @classmethod
    def joined(cls, parts: Sequence[Games]) -> Games:
        """Put the columns of several chunks one behind the other."""
        return cls(
            key=np.concatenate([part.key for part in parts]),
            won=np.concatenate([part.won for part in parts]),
            cards_left=np.concatenate([part.cards_left for part in parts]),
            turns=np.concatenate([part.turns for part in parts]),
            tricks=np.concatenate([part.tricks for part in parts]),
            ended=sum((part.ended for part in parts), Counter()),
            reasons=sum((part.reasons for part in parts), Counter()),
        )


@dataclass(frozen=True, slots=True)
class Run:
    """What is stored of a run.

    Attributes:
        manifest: what was asked for.
        games: the columns of every cell that has games, in the manifest's order.
        timings: of the same cells; zeros where nothing was measured.
        missing: chunks that have not been played.
        damaged: what is wrong with each chunk that cannot be read; its games are left out.
    """

    manifest: Manifest
    games: dict[Cell, Games]
    timings: dict[Cell, Timing]
    missing: list[Chunk]
    damaged: list[str]


def load_run(run_dir: Path) -> Run:
    """Read the rows of a run, without its actions, as far as they exist.

    Raises:
        RunError: the directory has no usable manifest.
    """
    manifest = read_manifest(run_dir)
    parts: dict[Cell, list[Games]] = {}
    times: dict[Cell, list[Timing]] = {}
    missing, damaged = [], []
    for chunk in manifest.chunks():
        if not chunk.rows_path(run_dir).exists():
            missing.append(chunk)
            continue
        try:
            rows = read_chunk(run_dir, chunk, actions=False)
        except RunError as error:
            damaged.append(str(error).replace(f"{run_dir}/", ""))
            continue
        parts.setdefault(chunk.cell, []).append(Games.of_rows(rows))
        timing = read_timing(run_dir, chunk)
        times.setdefault(chunk.cell, []).extend([timing] if timing else [])
    games = {cell: Games.joined(chunks) for cell, chunks in parts.items()}
    timings = {cell: Timing.total(chunks) for cell, chunks in times.items()}
    return Run(manifest, games, timings, missing, damaged)


def common_deals(a: Games, b: Games) -> tuple[Games, Games]:
    """Return the games of both on the deals that both played, in one order."""
    if np.array_equal(a.key, b.key):
        return a, b
    where = {deal: row for row, deal in enumerate(map(tuple, b.key.tolist()))}
    rows = [(i, where[d]) for i, d in enumerate(map(tuple, a.key.tolist())) if d in where]
    places = _ints(rows).reshape(-1, 2)
    return _selected(a, places[:, 0]), _selected(b, places[:, 1])


def _selected(games: Games, rows: IntArray) -> Games:
    """Return some games; the counts of endings are not selected and stay empty."""
    return Games(
        games.key[rows],
        games.won[rows],
        games.cards_left[rows],
        games.turns[rows],
        games.tricks[rows],
        Counter(),
        Counter(),
    )


def _ints(values: Sequence[object]) -> IntArray:
    return np.array(values, dtype=np.int64)
