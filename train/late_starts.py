"""A curriculum: some of the games begin late, in positions that a player has reached.

Near the end rewards are near, so a policy from scratch learns there first what the last cards are
worth, as in the recipes for 2048.
"""

from __future__ import annotations

import json

import numpy as np
import numpy.typing as npt

from agents.registry import make_agent
from thegame_env.engine import Engine
from thegame_env.layout import GAME, LEFT, PLAYING, SEED, STATUS, STEPS
from thegame_env.ranges import training_seed
from thegame_env.rules import Table

Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]

POSITIONS = 4096
"""Games played to find the positions."""
SEEDS = 1 << 61
"""Where the deal seeds of these games begin, far from those of the training games."""


class LateStarts:
    """Positions of a table from which games may begin.

    Args:
        table: What is played.
        share: Share of the games that begin late.
        cards_left: Most cards left in hands and deck where they begin.
        player: Who plays up to there; games that it loses earlier give no position.
        seed: Seed of the deals and of the choice.

    Raises:
        ValueError: An unknown player, or one that gets nowhere near.
    """

    def __init__(self, table: Table, share: float, cards_left: int, player: str, seed: int) -> None:
        self.share = share
        self._rng = np.random.default_rng(seed)
        engine = Engine(table, POSITIONS)
        first = training_seed(SEEDS + seed * POSITIONS)
        engine.deal(np.uint64(first) + np.arange(POSITIONS, dtype=np.uint64))
        play_until(engine, player, self._rng.integers(1, cards_left + 1, POSITIONS))
        reached = engine.games[:, STATUS] == PLAYING
        if not reached.any():
            raise ValueError(f"late_starts: {player} never gets down to {cards_left} cards")
        self.games, self.decks = engine.games[reached], engine.decks[reached]
        self.games[:, STEPS] = 0

    def place(self, games: Int64, decks: Int8, fresh: Int64) -> Int64:
        """Put late positions into some of the fresh slots; returns these, int64[n].

        Args:
            games: Game rows, changed in place but for their seeds; `decks` likewise.
            decks: See above.
            fresh: Slots with a game that has just been dealt.
        """
        slots = fresh[self._rng.random(len(fresh)) < self.share]
        picked = self._rng.integers(0, len(self.games), len(slots))
        seeds = games[slots][:, [SEED, GAME]]
        games[slots], decks[slots] = self.games[picked], self.decks[picked]
        games[slots, SEED], games[slots, GAME] = seeds[:, 0], seeds[:, 1]
        return slots

    def save(self) -> npt.NDArray[np.uint8]:
        """The state of the choice, for `restore`: JSON in bytes."""
        return np.frombuffer(json.dumps(self._rng.bit_generator.state).encode(), np.uint8)

    def restore(self, state: npt.NDArray[np.uint8]) -> None:
        """Choose on as from what `save` told."""
        self._rng.bit_generator.state = json.loads(state.tobytes())


def play_until(engine: Engine, player: str, cards_left: Int64) -> None:
    """Play each game on until at most `cards_left[b]` cards are left, or it is over."""
    agent = make_agent(player, engine.table)
    streams = np.arange(len(engine.games), dtype=np.uint64)
    while True:
        games = engine.games
        going = np.flatnonzero((games[:, STATUS] == PLAYING) & (games[:, LEFT] > cards_left))
        if not len(going):
            return
        part = Engine(engine.table, len(going))
        part.games[:], part.decks[:] = games[going], engine.decks[going]
        rows = part.views()
        part.step(agent.act_rows(rows, part.p, streams[going]))
        games[going], engine.decks[going] = part.games, part.decks
