"""The kernels of a match: what is done in every step of every game of a chunk."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Rows, Streams
from eval.crossplay import IntArray
from thegame_env.compiled import kernel, row_of
from thegame_env.deal import mix, stream
from thegame_env.layout import PLAYING, SEAT, STATUS, STEPS
from thegame_env.moves import act, is_legal
from thegame_env.sight import view_into

AGENT_STREAMS = np.uint64(0xD1342543DE82EF95)
"""Sets the agents' random streams apart from each other and from the deals'."""


@kernel
def fill_streams(seed: np.uint64, member: int, games: IntArray, out: Streams) -> None:
    """Write the random states of a member of the team in the given deals into `out`, uint64[B]."""
    key = mix(np.uint64(seed) ^ (np.uint64(member + 1) * AGENT_STREAMS))
    for b in range(games.shape[0]):
        out[b] = stream(key, np.uint64(games[b]))


@kernel
def views_into(games: Rows, p: Rows, slots: IntArray, rows: Rows) -> None:
    """Write the acting seats' views of the games `slots` into `rows`, int64[n, VIEW_ROW]."""
    table = row_of(p, 0)
    for i in range(slots.shape[0]):
        game = row_of(games, slots[i])
        view_into(game, table, game[SEAT], row_of(rows, i))


@kernel
def judge(
    games: Rows, p: Rows, slots: IntArray, actions: IntArray, legal: npt.NDArray[np.bool_]
) -> None:
    """Write into `legal`, bool[n], which actions are legal in the games `slots`."""
    table = row_of(p, 0)
    for i in range(slots.shape[0]):
        legal[i] = is_legal(row_of(games, slots[i]), table, actions[i])


@kernel
def take(
    games: Rows,
    decks: npt.NDArray[np.int8],
    p: Rows,
    slots: IntArray,
    actions: IntArray,
    taken: npt.NDArray[np.int16],
) -> None:
    """Take the actions in those of the games `slots` that go on, and note them in `taken`."""
    table = row_of(p, 0)
    for i in range(slots.shape[0]):
        game = row_of(games, slots[i])
        if game[STATUS] == PLAYING:
            taken[slots[i], game[STEPS]] = actions[i]
            act(game, row_of(decks, slots[i]), table, actions[i])
