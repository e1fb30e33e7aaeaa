"""`afterstate`: the plan of a turn whose afterstate the learned value likes best, without search.

It knows its own hand, the tops, the sizes, what it remembers and what the table says. After every
card it plans anew, because the others may then say something else.
"""

from __future__ import annotations

import numpy as np

from agents.afterstate_features import VERSION
from agents.base import Actions, Agent, Rows, Streams
from agents.turn_value import LATE, TurnValue
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_weights, path_for
from thegame_env.engine import parameters
from thegame_env.rules import Table

KIND = "afterstate"
BATCH = 512
"""Turns valued at once: large enough for the matrix products, small enough for the cache."""


class AfterstateAgent(Agent):
    """Plays the plan whose afterstate is worth most.

    Args:
        name: Its specification.
        value: The plans' values.
    """

    def __init__(self, name: str, value: TurnValue) -> None:
        self.name, self.value = name, value

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows; no randomness is used."""
        actions = np.empty(len(rows), np.int64)
        for at in range(0, len(rows), BATCH):
            choice = self.value.choose(np.ascontiguousarray(rows[at : at + BATCH]))
            actions[at : at + BATCH] = choice.plans.actions[choice.best, 0]
        return actions


def make(
    table: Table, weights: str | None = None, *, utility: str = "blend", most: int = 40
) -> Agent:
    """The agent `afterstate[:WEIGHTS][,utility=...][,most=...]`.

    Args:
        table: What is played; without `weights` it chooses among the shipped ones.
        weights: Name of shipped weights, or the path of a weights file.
        utility: "win", "score" or "blend" (see value_bins.utility_of).
        most: Plans valued a turn (at least LATE once the deck is empty).
    """
    if not isinstance(most, int) or most < 1:
        raise ValueError(f"afterstate: most must be a whole number from 1 up, not {most!r}")
    arrays, _ = load_weights(path_for(KIND, weights, table), KIND, VERSION)
    model, worth, late = ValueModel(arrays), utility_of(utility), max(most, LATE)
    value = TurnValue(parameters(table), model, worth, most, late=late)
    given = [weights] if weights else []
    given += [f"utility={utility}"] * (utility != "blend") + [f"most={most}"] * (most != 40)
    return AfterstateAgent("afterstate" + (":" + ",".join(given) if given else ""), value)
