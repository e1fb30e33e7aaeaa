"""Self-play for the afterstate value: many games side by side, lambda-returns of finished ones.

Every decision enumerates the acting seats' plans, values their afterstates in one batch and takes
the best (now and then a random one). When a game ends, its decisions become training samples: the
features of the chosen afterstate, and as target a distribution over cards left that mixes what was
predicted later in the game with how it ended (TD(lambda), Sutton 1988, on afterstates as in
TD-Gammon; the returns are cut at exploring moves, as Watkins does).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import SIZE, features_of
from agents.candidates import OPEN, play_plans
from agents.turn_value import LATE, Choice, TurnValue
from agents.value_bins import BIN_OF, BINS
from agents.value_model import ValueModel
from thegame_env.compiled import kernel
from thegame_env.engine import Engine, deal_next
from thegame_env.layout import LEFT, P_TALK, PLAYING, STATUS, TALK_NONE
from thegame_env.rules import Table

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


@dataclass(slots=True)
class Trace:
    """The decisions of one game so far; `chosen` and `best` are distributions of cards left."""

    features: list[Floats] = field(default_factory=list)
    chosen: list[Floats] = field(default_factory=list)
    best: list[Floats] = field(default_factory=list)
    explored: list[bool] = field(default_factory=list)

    def samples(self, left: int, decay: float) -> tuple[Floats, Floats]:
        """Features float32[t, SIZE] and lambda-returns float32[t, BINS] of a game's end."""
        targets = np.zeros((len(self.features), BINS), np.float32)
        target = np.zeros(BINS, np.float32)
        target[BIN_OF[left]] = 1.0
        for t in range(len(self.features) - 1, -1, -1):
            targets[t] = target
            if self.explored[t]:
                target = self.best[t]
            else:
                target = (1.0 - decay) * self.chosen[t] + decay * target
        return np.array(self.features, np.float32), targets


@kernel
def deal_finished(games, decks, p):
    """Deal the slot's next game wherever one is over."""
    for b in range(games.shape[0]):
        if games[b, STATUS] != PLAYING:
            deal_next(games[b], decks[b], p)


class SelfPlay:
    """B games of one table, played on a decision at a time.

    Args:
        table: What is played.
        model: The value at the start; `value.model` is replaced as it learns.
        utility: Worth of every bin, float32[BINS].
        games: B.
        seed: Seed of the deals (slot b has seed + b) and of the exploration.
        most: Plans valued a turn.
        decay: Lambda.
    """

    trace: type[Any] = Trace
    """Keeps the decisions of a game under way: has `features` and `samples(left, decay)`."""

    def __init__(
        self,
        table: Table,
        model: ValueModel,
        utility: Floats,
        games: int,
        seed: int,
        most: int = 40,
        decay: float = 0.8,
    ) -> None:
        self.engine = Engine(table, games)
        self.engine.deal(np.uint64(seed) + np.arange(games, dtype=np.uint64))
        self.value = TurnValue(self.engine.p, model, utility, most, late=max(most, LATE))
        self.rng = np.random.default_rng(seed)
        self.decay = decay
        self.traces = [self.trace() for _ in range(games)]
        self.only_first = bool(self.engine.p[P_TALK] != TALK_NONE)
        self.finished: list[int] = []

    def learned(self, model: ValueModel) -> None:
        """Go on with another model."""
        self.value.model = model

    def step(self, explore: float) -> list[tuple[Floats, Floats]]:
        """One decision in every game; the samples of those that ended, which are dealt anew."""
        engine = self.engine
        views = engine.views()
        choice = self.value.choose(views)
        picked, plans = self._pick(views, choice, explore), choice.plans
        play_plans(
            engine.games, engine.decks, engine.p, picked, plans.lengths, plans.actions,
            self.only_first,
        )  # fmt: skip
        return self._collect()

    def _pick(self, views: Int64, choice: Choice, explore: float) -> Int64:
        """The index of the plan to play in every game, int64[B]; the decisions are remembered."""
        picked, starts = choice.best.copy(), choice.plans.starts
        exploring = self.rng.random(len(picked)) < explore
        for b in np.flatnonzero(exploring):
            picked[b] = self.rng.integers(starts[b], starts[b + 1])
        self._remember(views, choice, picked, exploring)
        return picked

    def _remember(
        self,
        views: npt.NDArray[np.int64],
        choice: Choice,
        picked: npt.NDArray[np.int64],
        exploring: npt.NDArray[np.bool_],
    ) -> None:
        turns = np.flatnonzero(choice.plans.kinds[picked] == OPEN)
        vectors = np.empty((len(turns), SIZE), np.float32)
        features_of(views, turns, choice.plans.states[picked[turns]], self.engine.p, vectors)
        chosen, best = choice.chances[picked], choice.chances[choice.best]
        for i, b in enumerate(turns):
            trace = self.traces[b]
            trace.features.append(vectors[i])
            trace.chosen.append(chosen[b])
            trace.best.append(best[b])
            trace.explored.append(bool(exploring[b]))

    def _collect(self) -> list[tuple[Floats, Floats]]:
        games = self.engine.games
        samples = []
        for b in np.flatnonzero(games[:, STATUS] != PLAYING):
            left = int(games[b, LEFT])
            self.finished.append(left)
            if self.traces[b].features:
                samples.append(self.traces[b].samples(left, self.decay))
                self.traces[b] = self.trace()
        deal_finished(games, self.engine.decks, self.engine.p)
        return samples
