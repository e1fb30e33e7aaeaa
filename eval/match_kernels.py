"""The kernels of a match: what is done in every step of every game of a chunk."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Rows, Streams
from eval.stats import IntArray
from thegame_env.compiled import kernel
from thegame_env.deal import mix, stream
from thegame_env.engine import act, is_legal, view_into
from thegame_env.layout import PLAYING, SEAT, STATUS, STEPS

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
    for i in range(slots.shape[0]):
        game = games[slots[i]]
        view_into(game, p, game[SEAT], rows[i])


@kernel
def judge(
    games: Rows, p: Rows, slots: IntArray, actions: IntArray, legal: npt.NDArray[np.bool_]
) -> None:
    """Write into `legal`, bool[n], which actions are legal in the games `slots`."""
    for i in range(slots.shape[0]):
        legal[i] = is_legal(games[slots[i]], p, actions[i])


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
    for i in range(slots.shape[0]):
        b = slots[i]
        if games[b, STATUS] == PLAYING:
            taken[b, games[b, STEPS]] = actions[i]
            act(games[b], decks[b], p, actions[i])
