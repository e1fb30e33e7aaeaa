"""Tunes the weights of `sequence`: `python -m benchmarks.tune_sequence --players 5 --minutes 10`.

CMA-ES (Hansen 2006) over the weights of all terms and phases. Every generation plays fresh
development deals, the same ones for all of its candidates; what counts is the win rate in percent
minus the mean cards left. The better of the old and the new weights, on development deals that were
not tuned on, is kept in agents/weights/sequence.json.
"""

from __future__ import annotations

import json
import time
from typing import Annotated

import cma
import numpy as np
import numpy.typing as npt
import typer

from agents.sequence import sequence_games, table_key, weights_for
from agents.turn_score import PHASES
from agents.weight_files import SHIPPED, write_atomic
from thegame_env.engine import parameters
from thegame_env.ranges import deal_seed
from thegame_env.rules import Rules, Table

Floats = npt.NDArray[np.float64]
TUNING, JUDGING = 11, 99
"""Numbers of the development deals: to tune on, and to judge the result."""
STEPS = (0.2, 0.4, 0.4, 1.0, 0.4, 1.5, 2.0, 0.5, 0.4, 0.3, 0.5, 1.5, 1.5, 0.5, 1.0)
"""Natural step of each term's weight (see turn_score.TERMS)."""


def merit(table: Table, weights: Floats, number: int, first: int, games: int) -> float:
    """Win rate in percent minus mean cards left, on development deals."""
    left = np.zeros(games, np.int64)
    seeds = np.full(games, deal_seed("development", number), np.uint64)
    sequence_games(parameters(table), seeds, np.arange(first, first + games), left, weights)
    return float(100.0 * np.mean(left == 0) - left.mean())


def tune(table: Table, minutes: float, games: int, sigma: float, seed: int) -> Floats:
    """The tuned weights, float64[PHASES, terms], starting from those there are."""
    start = weights_for(table)
    steps = np.tile(STEPS, PHASES)
    options = {"seed": seed, "CMA_stds": steps, "popsize": 16, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(start.ravel(), sigma, options)
    until, generation = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < until:
        asked = strategy.ask()
        first = generation * games
        values = [merit(table, x.reshape(start.shape), TUNING, first, games) for x in asked]
        strategy.tell(asked, [-value for value in values])
        generation += 1
        if generation % 20 == 0:
            typer.echo(f"generation {generation}: {np.mean(values):.2f}", err=True)
    tuned: Floats = np.asarray(strategy.result.xfavorite).reshape(start.shape)
    return tuned


def main(
    players: Annotated[int, typer.Option(help="Seats.")] = 5,
    rules: Annotated[str, typer.Option(help="Preset.")] = "official",
    memory: Annotated[bool, typer.Option(help="Whether seats remember.")] = True,
    minutes: Annotated[float, typer.Option(help="Wall-clock time.")] = 10.0,
    games: Annotated[int, typer.Option(help="Deals a candidate.")] = 500,
    sigma: Annotated[float, typer.Option(help="First step size.")] = 0.7,
    seed: Annotated[int, typer.Option(help="Of the sampling.")] = 1,
) -> None:
    """Tune one table's weights and keep them if they are better."""
    table = Table(Rules.parse(rules), players, memory)
    old, new = weights_for(table), tune(table, minutes, games, sigma, seed)
    before = merit(table, old, JUDGING, 0, 20_000)
    after = merit(table, new, JUDGING, 0, 20_000)
    typer.echo(f"{table_key(table)}: {before:.2f} -> {after:.2f} (win % - cards left)", err=True)
    if after > before:
        path = SHIPPED / "sequence.json"
        data = json.loads(path.read_text())
        data["tuned"]["weights"][table_key(table)] = np.round(new, 3).tolist()
        write_atomic(path, (json.dumps(data, indent=1) + "\n").encode())


if __name__ == "__main__":
    typer.run(main)
