"""Judging a policy while it learns: greedy games on the development deals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.policy_net import model_of
from agents.weight_files import table_metadata
from thegame_env.engine import Engine
from thegame_env.layout import LEFT, PLAYING, STATUS
from thegame_env.ranges import deal_seed
from thegame_env.rules import Table


@dataclass(frozen=True, slots=True)
class Score:
    """How a policy did.

    Attributes:
        games: Deals played.
        win_rate: Share of them won.
        cards_left: Mean of the cards left.
    """

    games: int
    win_rate: float
    cards_left: float

    def better_than(self, other: Score | None) -> bool:
        """Whether it won more, or as much with fewer cards left; anything beats None."""
        if other is None:
            return True
        return (self.win_rate, -self.cards_left) > (other.win_rate, -other.cards_left)


def judge(net: Any, table: Table, games: int, observation: str = "relative") -> Score:
    """Play development deals 0..games-1 with the most likely actions of the network as it is."""
    weights = {name: value.numpy() for name, value in net.weights().items()}
    return judge_weights(weights, table, games, observation)


def judge_weights(
    weights: dict[str, Any], table: Table, games: int, observation: str = "relative"
) -> Score:
    """The same with the arrays of a weights file."""
    model = model_of(table, weights, observation)
    engine = Engine(table, games)
    engine.deal(deal_seed("development", 0), np.arange(games))
    actions = np.zeros(games, np.int64)
    while (running := np.flatnonzero(engine.games[:, STATUS] == PLAYING)).size:
        logits = model.logits(engine.views()[running], engine.p)
        actions[running] = logits.argmax(axis=1)
        engine.step(actions)
    left = engine.games[:, LEFT]
    return Score(games, float(np.mean(left == 0)), float(left.mean()))


def mean_of(scores: Sequence[Score]) -> Score:
    """The score over several tables that count alike."""
    return Score(
        sum(score.games for score in scores),
        float(np.mean([score.win_rate for score in scores])),
        float(np.mean([score.cards_left for score in scores])),
    )


def table_name(table: Table) -> str:
    """A table in a word, for logs: such as official-5p, profi-2p-memory_off-open-agreed."""
    words = [table.rules.name, f"{table.players}p"]
    words += ["memory_off"] * (not table.memory) + [table.talk] * (table.talk != "none")
    words += [table.starter] * (table.starter != "seat0")
    return "-".join(words)


def scores_told(
    tables: Sequence[Table], score: Score, scores: Sequence[Score], several: bool
) -> dict[str, Any]:
    """What weights reached, for their JSON file: the mean, and each table of a generalist.

    Args:
        tables: Where they were judged.
        score: The mean over them.
        scores: That of each.
        several: Whether they are a generalist's.
    """
    told: dict[str, Any] = _reached(score)
    if several:
        told["tables"] = [
            {**table_metadata(table), "starter": table.starter, **_reached(one)}
            for table, one in zip(tables, scores, strict=True)
        ]
    return told


def _reached(score: Score) -> dict[str, Any]:
    return {
        "games": score.games,
        "win_rate": score.win_rate,
        "cards_left_mean": score.cards_left,
    }
