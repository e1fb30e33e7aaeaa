"""The batch engine at random play, and the same games through the readable reference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.measure import Speed, best_speed
from thegame_env.deal import bounded, deal
from thegame_env.engine import Engine, random_steps
from thegame_env.reference import Game
from thegame_env.rules import Table

BATCH, STEPS = 256, 200
"""Games side by side and actions a game in one call of the engine."""


def engine_speed(table: Table, seconds: float) -> Speed:
    """Cards laid a second by uniformly random legal play, new deals included, nothing observed."""
    name = f"batch engine, players: {table.players}"
    return best_speed(name, "plays", engine_work(table, BATCH, STEPS), seconds)


def reference_speed(table: Table, seconds: float) -> Speed:
    """The same for `reference.Game`, playing the games of the engine's first slot."""
    name = f"reference, players: {table.players}"
    return best_speed(name, "plays", reference_work(table, STEPS), seconds)


def engine_work(table: Table, batch: int, steps: int) -> Callable[[], int]:
    """A call plays `steps` actions in each of `batch` games and returns the cards laid.

    Slot b plays the deals of seed b by the random stream that starts at b.
    """
    engine = Engine(table, batch)
    engine.deal(np.arange(batch))
    streams = np.arange(batch, dtype=np.uint64)

    def work() -> int:
        return int(random_steps(engine.games, engine.decks, engine.p, streams, steps))

    return work


def reference_work(table: Table, steps: int) -> Callable[[], int]:
    """A call plays `steps` actions as slot 0 of `engine_work` does and returns the cards laid."""
    number, stream = 0, np.uint64(0)
    game = Game.start(table, deal(table.rules, 0, number))

    def work() -> int:
        nonlocal game, number, stream
        laid = 0
        for _ in range(steps):
            actions = game.legal_actions()
            draw, after = bounded(stream, len(actions))
            stream = np.uint64(after)
            laid += actions[draw] != table.rules.end_turn
            game = game.step(actions[draw])
            if game.outcome is not None:
                number += 1
                game = Game.start(table, deal(table.rules, 0, number))
        return laid

    return work
