"""`afterstate`: the plan of a turn whose afterstate the learned value likes best, without search.

It knows its own hand, the tops, the sizes, what it remembers and what the table says. After every
card it plans anew, because the others may then say something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.afterstate_features import VERSION
from agents.base import Actions, Agent, Rows, Streams
from agents.turn_value import LATE, TurnValue
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_for
from thegame_env.engine import parameters
from thegame_env.rules import Table

KIND = "afterstate"
BATCH = 512
"""Turns valued at once: large enough for the matrix products, small enough for the cache."""
PLANS, MOST = 40, 400
"""Plans valued a turn: unless it is told, and at most."""


class AfterstateAgent(Agent):
    """Plays the plan whose afterstate is worth most.

    Args:
        name: Its specification.
        value: The plans' values.
        weights_hash: Of the file that the value was read from.
    """

    def __init__(self, name: str, value: TurnValue, weights_hash: str = "") -> None:
        self.name, self.value, self.weights_hash = name, value, weights_hash

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows; no randomness is used."""
        actions = np.empty(len(rows), np.int64)
        for at in range(0, len(rows), BATCH):
            choice = self.value.choose(np.ascontiguousarray(rows[at : at + BATCH]))
            actions[at : at + BATCH] = choice.plans.actions[choice.best, 0]
        return actions


def make(
    table: Table, weights: str | None = None, *, utility: str | None = None, most: int = PLANS
) -> Agent:
    """The agent `afterstate[:WEIGHTS][,utility=...][,most=...]`.

    Args:
        table: What is played; without `weights` it chooses among the shipped ones.
        weights: Name of shipped weights, or the path of a weights file.
        utility: "win", "score" or "blend" (see value_bins.utility_of); None: as they were trained.
        most: Plans valued a turn (at least LATE once the deck is empty).

    Raises:
        ValueError: There are no such weights, they are damaged, or of another table; or a parameter
            is out of its range.
    """
    check_whole(KIND, "most", most, 1, MOST)
    found = load_for(KIND, VERSION, weights, table)
    own = trained_utility(found.metadata)
    aim = own if utility is None else utility
    value = TurnValue(
        parameters(table), ValueModel(found.arrays), utility_of(aim), most, late=max(most, LATE)
    )
    given = [weights] if weights else []
    given += [f"utility={aim}"] * (aim != own) + [f"most={most}"] * (most != PLANS)
    name = "afterstate" + (":" + ",".join(given) if given else "")
    return AfterstateAgent(name, value, found.hash)


def trained_utility(metadata: Mapping[str, Any]) -> str:
    """The utility that weights were trained for: as their configuration tells, else "blend"."""
    config = metadata.get("config")
    return str(config.get("utility", "blend")) if isinstance(config, dict) else "blend"


def check_whole(agent: str, key: str, value: object, least: int, most: int) -> None:
    """ValueError where an agent's parameter is not a whole number of its range."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(
            f"{agent}: {key} must be a whole number from {least} to {most}, not {value!r}"
        )
