"""The best policy of a run: weights for the agent `ppo`, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import stable_baselines3
import torch

from agents.ppo import KIND
from agents.weight_files import load_weights, save_weights, table_metadata
from thegame_env.observation import VERSION
from train.config import PPOConfig
from train.development import Score, scores_told
from train.snapshot import Arrays, writing

PREFIX = "best."
"""What the names of its arrays begin with in a checkpoint."""


@dataclass(frozen=True, slots=True)
class Best:
    """The best policy so far. It lies in every checkpoint, and its files are copies of that.

    A checkpoint is one file, so a kill never leaves a score without its weights; where it leaves
    files that do not fit together, or are not the best, the next start writes them anew.

    Attributes:
        score: What it reached on development deals.
        arrays: Its weights.
        metadata: What is known of it, in JSON values.
    """

    score: Score
    arrays: Arrays
    metadata: dict[str, Any]

    def take(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and facts for a checkpoint."""
        arrays = {f"{PREFIX}{name}": value for name, value in self.arrays.items()}
        return arrays, {"best": asdict(self.score), "policy": self.metadata}

    @staticmethod
    def of(arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> Best | None:
        """That of a checkpoint; None where there was none yet."""
        if not facts["best"]:
            return None
        kept = {
            name.removeprefix(PREFIX): value
            for name, value in arrays.items()
            if name.startswith(PREFIX)
        }
        return Best(Score(**facts["best"]), kept, facts["policy"])

    def judged(self, config: PPOConfig, score: Score, scores: Sequence[Score]) -> Best:
        """The same policy with other scores: the mean one, and that of each table."""
        told = scores_told(config.all_tables, score, scores, bool(config.tables))
        metadata = {**self.metadata, "development": told}
        return replace(self, score=score, metadata=metadata)

    def write(self, path: Path) -> None:
        """Write `path` (.safetensors) and the JSON beside it where it does not lie there yet.

        Raises:
            OSError: They cannot be written; the sentence tells the remedy.
        """
        if not self._lies_at(path):
            with writing(path):
                save_weights(path, self.arrays, self.metadata)

    def _lies_at(self, path: Path) -> bool:
        try:
            arrays, metadata = load_weights(path, KIND, VERSION)
        except ValueError:
            return False
        return (
            metadata == self.metadata
            and arrays.keys() == self.arrays.keys()
            and all(np.array_equal(value, arrays[name]) for name, value in self.arrays.items())
        )


def describe(
    config: PPOConfig,
    score: Score,
    scores: Sequence[Score],
    steps: int,
    seconds: float,
    clone: dict[str, Any] | None = None,
    lineage: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """What is known of a policy, in JSON values.

    Args:
        config: The run.
        score: What the policy reached on development deals.
        scores: The same at each table.
        steps: Actions that PPO has learnt from.
        seconds: Time spent on that.
        clone: What is known of the imitation before.
        lineage: What is known of the runs whose weights it began with, oldest first.
    """
    tables = [table_metadata(table) for table in config.all_tables]
    return {
        "kind": KIND,
        "version": VERSION,
        "observation": config.network.observation,
        "table": tables[0],
        **({"tables": tables} if config.tables else {}),
        "config": config.model_dump(mode="json"),
        **({"clone": clone} if clone else {}),
        **({"lineage": lineage} if lineage else {}),
        "seed": config.seed,
        "steps": steps,
        "seconds": round(seconds),
        "development": scores_told(config.all_tables, score, scores, bool(config.tables)),
        "libraries": {
            "torch": torch.__version__,
            "stable_baselines3": stable_baselines3.__version__,
            "numpy": np.__version__,
        },
    }
