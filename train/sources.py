"""The weights that a run begins with: read and checked before anything is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from agents.weight_files import hash_of, load_weights, path_for
from thegame_env.rules import Table

KEPT = (
    "table",
    "tables",
    "config",
    "critic_weights",
    "clone",
    "seed",
    "steps",
    "seconds",
    "games",
    "development",
)
"""What later weights tell of the runs that they began with."""


def read_start(
    start: str,
    kind: str,
    version: int,
    table: Table,
    wanted: Mapping[str, Sequence[int]],
    key: str = "start",
) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    """The weights that a run begins with, and what is known of how they were learnt.

    Args:
        start: A shipped name or a path.
        kind: Of the weights.
        version: Of the input that they read.
        table: What the run plays first.
        wanted: Name -> shape of every layer of the run's network.
        key: The key of the configuration that names them.

    Raises:
        ValueError: They are missing, damaged, or of another network; the sentence begins with
            the key.
    """
    try:
        path = path_for(kind, start, table).with_suffix(".safetensors")
        arrays, metadata = load_weights(path, kind, version)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    for name, shape in wanted.items():
        if name not in arrays or arrays[name].shape != tuple(shape):
            raise ValueError(f"{key}: {start} is of another network than this run's ({name})")
    before = {key: metadata[key] for key in KEPT if key in metadata}
    before["weights"] = hash_of(path)
    lineage = metadata.get("lineage") or []
    given = {name: torch.from_numpy(arrays[name].copy()) for name in wanted}
    return given, [*lineage, before] if isinstance(lineage, list) else [before]
