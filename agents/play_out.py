"""Whole games of one agent at all seats, for benchmarks and tuning: the cards left, no more."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Agent, KernelAgent
from thegame_env.deal import stream
from thegame_env.engine import Engine, parameters
from thegame_env.layout import LEFT, PLAYING, STATUS
from thegame_env.rules import Table

Int64 = npt.NDArray[np.int64]
BATCH = 4096
"""Games side by side where the agent has no kernel for whole games."""


def play_games(
    agent: Agent, table: Table, seeds: npt.ArrayLike, indices: npt.ArrayLike = 0
) -> Int64:
    """Play the deals (seed, index) to their ends, every seat by the same agent.

    Where the agent brings a kernel for whole games, they are played in there; else through
    `act_rows`, which gives the same games. An agent that draws random numbers gets the stream
    of its deal.

    Args:
        agent: Who plays.
        table: What is played.
        seeds: Deal seeds, broadcast against `indices` to [n].
        indices: Game indices under the seeds.

    Returns:
        int64[n], the cards left.
    """
    keys, games = np.broadcast_arrays(
        np.asarray(seeds, np.uint64).ravel(), np.asarray(indices, np.int64).ravel()
    )
    if isinstance(agent, KernelAgent) and agent.games is not None:
        left = np.zeros(len(keys), np.int64)
        row = parameters(table)
        agent.games(row, keys.copy(), games.copy(), left, *agent.arguments)
        return left
    parts = [
        _play_batch(agent, table, keys[at : at + BATCH], games[at : at + BATCH])
        for at in range(0, len(keys), BATCH)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _play_batch(agent: Agent, table: Table, seeds: npt.NDArray[np.uint64], indices: Int64) -> Int64:
    engine = Engine(table, len(seeds))
    engine.deal(seeds, indices)
    streams = np.array(
        [stream(*deal) for deal in zip(seeds, indices.astype(np.uint64), strict=True)], np.uint64
    )
    actions = np.zeros(len(seeds), np.int64)
    while len(running := np.flatnonzero(engine.games[:, STATUS] == PLAYING)):
        rows, states = engine.views()[running], streams[running]
        actions[running] = agent.act_rows(rows, engine.p, states)
        streams[running] = states
        engine.step(actions)
    return engine.games[:, LEFT].copy()
