"""Writing a trained policy for the agent `ppo`: weights, and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import stable_baselines3
import torch

from agents.ppo import KIND
from agents.weight_files import save_weights, table_metadata
from thegame_env.observation import VERSION
from train.config import PPOConfig
from train.development import Score


def export(
    path: Path,
    net: Any,
    config: PPOConfig,
    score: Score,
    steps: int,
    seconds: float,
    clone: dict[str, Any] | None = None,
    lineage: list[dict[str, Any]] | None = None,
    scores: Sequence[Score] = (),
) -> None:
    """Write `path` (.safetensors) and the JSON beside it.

    Args:
        path: Where.
        net: The policy.
        config: The run.
        score: What the policy reached on development deals.
        steps: Actions that PPO has learnt from.
        seconds: Time spent on that.
        clone: What is known of the imitation before.
        lineage: What is known of the runs whose weights it began with, oldest first.
        scores: What it reached at each table, where there are several.
    """
    tables = [table_metadata(table) for table in config.all_tables]
    metadata: dict[str, Any] = {
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
        "development": _reached(score),
        "libraries": {
            "torch": torch.__version__,
            "stable_baselines3": stable_baselines3.__version__,
            "numpy": np.__version__,
        },
    }
    if config.tables:
        metadata["development"]["tables"] = [
            {**told, "starter": table.starter, **_reached(one)}
            for told, table, one in zip(tables, config.all_tables, scores, strict=True)
        ]
    save_weights(path, {name: value.numpy() for name, value in net.weights().items()}, metadata)


def _reached(score: Score) -> dict[str, Any]:
    return {
        "games": score.games,
        "win_rate": score.win_rate,
        "cards_left_mean": score.cards_left,
    }
