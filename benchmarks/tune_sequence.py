"""Tunes `sequence` and `signals`: `python -m benchmarks.tune_sequence --players 5 --minutes 10`.

CMA-ES (Hansen 2006) over the weights of all terms and phases. Every generation plays fresh
development deals, the same ones for all of its candidates; what counts is the win rate in percent
minus the mean cards left. The better of the old and the new weights, on development deals that were
not tuned on, is kept in agents/weights/sequence.json. With `--talk` it tunes the penalties of
`signals` instead, for two to five players at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Annotated

import cma
import numpy as np
import numpy.typing as npt
import typer

from agents.base import KernelAgent
from agents.play_out import play_games
from agents.sequence import (
    act_sequence,
    penalties_for,
    sequence_games,
    table_key,
    weights_for,
)
from agents.turn_score import PHASES
from agents.turn_search import MARGIN
from agents.weight_files import SHIPPED, write_atomic
from thegame_env.engine import parameters
from thegame_env.ranges import deal_seed
from thegame_env.rules import Rules, Table, Talk

Floats = npt.NDArray[np.float64]
Merit = Callable[[Floats, int], float]
TEAMS = (2, 3, 4, 5)
TUNING, JUDGING = 11, 99
"""Numbers of the development deals: to tune on, and to judge the result."""
STEPS = (0.2, 0.4, 0.4, 1.0, 0.4, 1.5, 2.0, 0.5, 0.4, 0.3, 0.5, 1.5, 1.5, 0.5, 1.0)
"""Natural step of each term's weight (see turn_score.TERMS)."""


def merit(table: Table, weights: Floats, number: int, first: int, games: int) -> float:
    """Win rate in percent minus mean cards left, on development deals."""
    left = np.zeros(games, np.int64)
    seeds = np.full(games, deal_seed("development", number), np.uint64)
    games_at = np.arange(first, first + games)
    sequence_games(parameters(table), seeds, games_at, left, weights, MARGIN)
    return float(100.0 * np.mean(left == 0) - left.mean())


def talk_merit(
    rules: Rules, talk: Talk, penalties: Floats, number: int, first: int, games: int
) -> float:
    """The mean merit of `signals` with these penalties, over two to five players."""
    seeds, total = deal_seed("development", number), 0.0
    for players in TEAMS:
        table = Table(rules, players, talk=talk)
        agent = KernelAgent("signals", act_sequence, weights_for(table), penalties, MARGIN)
        left = play_games(agent, table, seeds, np.arange(first, first + games))
        total += 100.0 * np.mean(left == 0) - left.mean()
    return float(total / len(TEAMS))


def search(start: Floats, steps: Floats, merit_of: Merit, minutes: float, sigma: float) -> Floats:
    """The best values found by CMA-ES; `merit_of(values, generation)` is to be large."""
    options = {"seed": 1, "CMA_stds": steps.ravel(), "popsize": 16, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(start.ravel(), sigma, options)
    until, generation = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < until:
        asked = strategy.ask()
        values = [merit_of(x.reshape(start.shape), generation) for x in asked]
        strategy.tell(asked, [-value for value in values])
        generation += 1
        if generation % 10 == 0:
            typer.echo(f"generation {generation}: {np.mean(values):.2f}", err=True)
    tuned: Floats = np.asarray(strategy.result.xfavorite).reshape(start.shape)
    return tuned


def keep(part: str, key: str, old: Floats, new: Floats, merit_of: Merit) -> None:
    """Keep the new values in the weights file if they judge better than the old ones."""
    before, after = merit_of(old, -1), merit_of(new, -1)
    typer.echo(f"{key}: {before:.2f} -> {after:.2f} (win % - cards left)", err=True)
    if after > before:
        path = SHIPPED / "sequence.json"
        data = json.loads(path.read_text())
        data["tuned"][part][key] = np.round(new, 3).tolist()
        write_atomic(path, (json.dumps(data, indent=1) + "\n").encode())


def main(
    players: Annotated[int, typer.Option(help="Seats.")] = 5,
    rules: Annotated[str, typer.Option(help="Preset.")] = "official",
    memory: Annotated[bool, typer.Option(help="Whether seats remember.")] = True,
    talk: Annotated[str, typer.Option(help="Tune signals for avoid or open.")] = "none",
    minutes: Annotated[float, typer.Option(help="Wall-clock time.")] = 10.0,
    games: Annotated[int, typer.Option(help="Deals a candidate (and team).")] = 500,
    sigma: Annotated[float, typer.Option(help="First step size.")] = 0.7,
) -> None:
    """Tune one table's weights, or the penalties of talk, and keep them if they are better."""
    played = Rules.parse(rules)
    if talk != "none":
        heard: Talk = "open" if talk == "open" else "avoid"
        start = penalties_for(Table(played, 5, talk=heard))

        def judged(values: Floats, generation: int) -> float:
            where = (JUDGING, 0, 2_000) if generation < 0 else (TUNING, generation * games, games)
            return talk_merit(played, heard, values, *where)

        new = search(start, np.full(start.shape, 3.0), judged, minutes, sigma)
        keep("penalties", heard, start, new, judged)
        return
    table = Table(played, players, memory)

    def measured(values: Floats, generation: int) -> float:
        where = (JUDGING, 0, 20_000) if generation < 0 else (TUNING, generation * games, games)
        return merit(table, values, *where)

    old = weights_for(table)
    new = search(old, np.tile(STEPS, (PHASES, 1)), measured, minutes, sigma)
    keep("weights", table_key(table), old, new, measured)


if __name__ == "__main__":
    typer.run(main)
