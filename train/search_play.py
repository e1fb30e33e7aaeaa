"""Expert iteration: self-play that looks ahead, and teaches the value what the search saw.

Every decision judges the plans of highest value by looking ahead over dealings of what the seat
cannot see, and plays the best. All judged plans become samples: the target of an afterstate is the
distribution of cards left after the best reply, averaged over the dealings, which is far less noisy
than the end of one game; for the plan that was played it is mixed with what came later in the game
as a lambda-return (Anthony, Tian and Barber 2017, with the afterstate value in place of a policy).
With partners a plan's own value counts as many dealings, as in `agents/expert.py`. The best of
several noisy means is thought a little too good; the ends of the games, which the returns contain,
keep that in bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import SIZE, features_of
from agents.candidates import OPEN
from agents.expert import AHEAD, AHEAD_BRANCH, AHEAD_REACH, SOLO_PRIOR, TEAM_PRIOR
from agents.look_ahead import LookAhead
from agents.turn_value import Choice, TurnValue
from agents.value_bins import BIN_OF, BINS
from agents.value_model import ValueModel
from thegame_env.rules import Table
from train.self_play import Int64, SelfPlay

Floats = npt.NDArray[np.float32]


@dataclass(slots=True)
class Searched:
    """The decisions of one game so far: what was judged, and what was played and thought best."""

    features: list[Floats] = field(default_factory=list)
    targets: list[Floats] = field(default_factory=list)
    taken: list[tuple[int, int]] = field(default_factory=list)

    def add(self, features: Floats, targets: Floats, played: int, best: int) -> None:
        """Remember a decision: the judged plans, and which of them was played and was best."""
        before = sum(map(len, self.targets))
        self.taken.append((before + played, before + best))
        self.features.append(features)
        self.targets.append(targets)

    def samples(self, left: int, decay: float) -> tuple[Floats, Floats]:
        """Features float32[n, SIZE] and targets float32[n, BINS] of a game's end."""
        targets = np.concatenate(self.targets)
        target = np.zeros(BINS, np.float32)
        target[BIN_OF[left]] = 1.0
        for played, best in reversed(self.taken):
            targets[played] += decay * (target - targets[played])
            target = targets[best]
        return np.concatenate(self.features), targets


class SearchPlay(SelfPlay):
    """B games of one table, every decision of which is searched.

    Args:
        table: What is played.
        model: The value at the start; replaced as it learns (see `learned`).
        utility: Worth of every bin, float32[BINS].
        games: B.
        seed: Seed of the deals and of the dealings.
        most: Plans valued a turn.
        decay: Lambda.
        deals: Dealings looked at.
        plans: Plans judged a turn.
    """

    trace = Searched

    def __init__(
        self,
        table: Table,
        model: ValueModel,
        utility: Floats,
        games: int,
        seed: int,
        most: int,
        decay: float,
        deals: int,
        plans: int,
    ) -> None:
        super().__init__(table, model, utility, games, seed, most, decay)
        reply = TurnValue(self.engine.p, model, utility, AHEAD, AHEAD_BRANCH, AHEAD_REACH)
        self._ahead, self._deals, self._plans = LookAhead(reply, 0, whole=True), deals, plans
        self._state = np.uint64(seed)
        self._prior = SOLO_PRIOR if table.players == 1 else TEAM_PRIOR

    def learned(self, model: ValueModel) -> None:
        """Go on with another model, in the look ahead too."""
        super().learned(model)
        self._ahead.value.model = model

    def _pick(self, views: Int64, choice: Choice, explore: float) -> Int64:
        """The index of the plan to play in every game, int64[B]; what was judged is remembered."""
        judged = [self._judge(b, view, choice, explore) for b, view in enumerate(views)]
        return np.array(judged, np.int64)

    def _judge(self, b: int, row: npt.NDArray[np.int64], choice: Choice, explore: float) -> int:
        """The plan to play in game b; what was judged is remembered."""
        start, end = choice.plans.starts[b], choice.plans.starts[b + 1]
        order = start + np.argsort(-choice.utility[start:end], kind="stable")[: self._plans]
        order = order[choice.plans.kinds[order] == OPEN]
        if not len(order) or choice.plans.kinds[choice.best[b]] != OPEN:
            return int(choice.best[b])
        states = choice.plans.states[order]
        judged, self._state = self._ahead.judge(row, states, self._deals, self._state)
        means = self._prior * choice.chances[order] + judged.sum(axis=1)
        means = (means / (self._prior + self._deals)).astype(np.float32)
        best = int(np.argmax(means @ self.value.utility))
        exploring = self.rng.random() < explore
        played = int(self.rng.integers(len(order))) if exploring else best
        vectors = np.empty((len(order), SIZE), np.float32)
        turns = np.zeros(len(order), np.int64)
        features_of(row[None], turns, states, self.engine.p, vectors)
        self.traces[b].add(vectors, means, played, best)
        return int(order[played])
