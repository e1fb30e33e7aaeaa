"""`ppo:WEIGHTS`: the most likely action of a trained policy, without search.

It knows its own hand, the tops, the sizes, what it remembers and what the table says. The weights
are a file that `thegame train` wrote, or the name of a shipped one.
"""

from __future__ import annotations

import numpy as np

from agents.base import Actions, Agent, Rows, Streams
from agents.policy_net import PlainModel, PolicyModel, model_of
from agents.weight_files import load_for
from thegame_env.observation import VERSION
from thegame_env.rules import Table

KIND = "ppo"
BATCH = 1024
"""Decisions at once: large enough for the matrix products, small enough for the cache."""


class PPOAgent(Agent):
    """Plays the legal action of highest logit; ties go to the lowest action.

    Args:
        name: Its specification.
        model: The policy.
        weights_hash: Of the file that the policy was read from.
    """

    def __init__(self, name: str, model: PolicyModel | PlainModel, weights_hash: str = "") -> None:
        self.name, self.model, self.weights_hash = name, model, weights_hash

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows; no randomness is used."""
        actions = np.empty(len(rows), np.int64)
        for at in range(0, len(rows), BATCH):
            part = np.ascontiguousarray(rows[at : at + BATCH])
            actions[at : at + BATCH] = self.model.logits(part, p).argmax(axis=1)
        return actions


def make(table: Table, weights: str | None = None) -> Agent:
    """The agent `ppo[:WEIGHTS]`.

    Args:
        table: What is played; without `weights` it chooses among the shipped ones.
        weights: Name of shipped weights, or the path of a weights file.

    Raises:
        ValueError: There are no such weights, they are damaged, or of another table.
    """
    found = load_for(KIND, VERSION, weights, table)
    name = f"ppo:{weights}" if weights else "ppo"
    model = model_of(table, found.arrays, found.metadata.get("observation", "relative"))
    return PPOAgent(name, model, found.hash)
