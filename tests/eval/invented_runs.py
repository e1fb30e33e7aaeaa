"""Runs made of invented games, so that no test of the evaluation needs an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from eval.cells import Cell
from eval.manifest import Hardware, Manifest
from eval.records import Ended, GameRow, open_run, write_chunk
from eval.timing import Timing

HARDWARE = Hardware(cpu="a processor", cores=2, python="3.11", numpy="2.0", numba="0.61")


def make_cell(agent: str = "greedy", players: int = 2, rules: str = "official") -> Cell:
    return Cell(agent, players, rules, "none", True, "seat0")


def make_row(
    cell: Cell, game: int, cards_left: int, ended: Ended | None = None, reason: str = ""
) -> GameRow:
    """Return a game that left the cards 2, 3, ... in the first hand."""
    one, others = cell.pair or (cell.agent, cell.agent)
    seats = [one if seat == game % cell.players else others for seat in range(cell.players)]
    return GameRow(
        **asdict(cell),
        seed=7,
        game=game,
        seats=seats,
        won=cards_left == 0,
        cards_left=cards_left,
        turns=40 - cards_left % 5,
        tricks=3 + game % 2,
        plays=98 - cards_left,
        ended=ended or ("won" if cards_left == 0 else "stuck"),
        reason=reason,
        deck=[],
        hands=[list(range(2, 2 + cards_left))] + [[] for _ in range(cell.players - 1)],
        actions=[0, 392],
    )


def make_manifest(cells: Sequence[Cell], games: int, chunk_games: int = 1000) -> Manifest:
    baseline = "greedy" if any(cell.agent == "greedy" for cell in cells) else None
    return Manifest(
        command="thegame eval --agents greedy,sequence --seed 7",
        version="0.1.0",
        started="2025-01-01T00:00:00Z",
        seed=7,
        seed_range="development",
        games=games,
        chunk_games=chunk_games,
        cells=tuple(cells),
        baseline=baseline,
        rules_hash={"official": "00ff"},
        hardware=HARDWARE,
    )


def write_run(run_dir: Path, left: dict[Cell, Sequence[int]], chunk_games: int = 1000) -> Path:
    """Write a run with so many cards left in the games of each cell; 1 ms a game and player."""
    games = len(next(iter(left.values())))
    for chunk in open_run(run_dir, make_manifest(list(left), games, chunk_games)):
        numbers = range(chunk.first, chunk.first + chunk.count)
        rows = [make_row(chunk.cell, game, left[chunk.cell][game]) for game in numbers]
        times = np.full(chunk.count, 0.001 * chunk.cell.players)
        timing = Timing.from_batches(
            chunk.count, float(times.sum()), times, np.full(chunk.count, 10)
        )
        write_chunk(run_dir, chunk, rows, timing)
    return run_dir
