"""Weights on disk: a safetensors file of arrays, and a JSON file beside it that describes them.

Never a pickle. The JSON holds at least `kind` (what kind of network), `version` (of its input),
`table` (what it was trained for), and how it was trained and what it reached. A generalist, which
was trained for several tables, lists them all in `tables`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from thegame_env.rules import Table

SHIPPED = Path(__file__).parent / "weights"
"""Where the weights that come with the package lie."""

Arrays = dict[str, npt.NDArray[np.float32]]


def table_metadata(table: Table) -> dict[str, Any]:
    """What a table is, for the JSON file."""
    return {
        "rules": table.rules.spec(),
        "players": table.players,
        "memory": table.memory,
        "talk": table.talk,
    }


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file under a temporary name in its folder and rename it, so that it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def save_weights(path: Path, arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Write `path` (.safetensors) and the JSON beside it, each whole or not at all."""
    path = path.with_suffix(".safetensors")
    plain = {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    write_atomic(path, save(plain))
    text = json.dumps(dict(metadata), indent=2, sort_keys=True) + "\n"
    write_atomic(path.with_suffix(".json"), text.encode())


def load_weights(path: Path, kind: str, version: int) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the metadata of a weights file.

    Raises:
        ValueError: It is missing, damaged, of another kind, or of another input version.
    """
    path = path.with_suffix(".safetensors")
    metadata = read_metadata(path)
    if metadata.get("kind") != kind:
        raise ValueError(f"{path.name} holds {metadata.get('kind')!r} weights, not {kind!r} ones")
    if metadata.get("version") != version:
        raise ValueError(
            f"{path.name} was trained on input version {metadata.get('version')}, this program "
            f"uses version {version}: train it anew or install the matching release"
        )
    try:
        return load(path.read_bytes()), metadata
    except FileNotFoundError:
        raise ValueError(f"no weights file {path}") from None
    except (SafetensorError, ValueError):
        raise ValueError(f"{path} is damaged or not a safetensors file: fetch it anew") from None


def read_metadata(path: Path) -> dict[str, Any]:
    """The JSON beside a weights file; ValueError where it is missing or damaged."""
    beside = path.with_suffix(".json")
    try:
        metadata = json.loads(beside.read_text())
    except FileNotFoundError:
        raise ValueError(f"no weights at {path}: {beside.name} is missing") from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise ValueError(f"{beside} is damaged: it is not JSON") from None
    if not isinstance(metadata, dict):
        raise ValueError(f"{beside} is damaged: it is not a JSON object")
    return metadata


def shipped(kind: str) -> dict[str, dict[str, Any]]:
    """Name -> metadata of the weights of a kind that come with the package."""
    found = {path.stem: read_metadata(path) for path in sorted(SHIPPED.glob("*.json"))}
    return {name: data for name, data in found.items() if data.get("kind") == kind}


def serving(known: Mapping[str, Mapping[str, Any]], wanted: dict[str, Any]) -> str | None:
    """The name of the weights for a table: a specialist, else a generalist, else None.

    Args:
        known: Name -> metadata, of one kind.
        wanted: The table, as `table_metadata` describes it.
    """
    for name, metadata in known.items():
        if metadata.get("tables") is None and metadata.get("table") == wanted:
            return name
    for name, metadata in known.items():
        if wanted in (metadata.get("tables") or ()):
            return name
    return None


def shipped_for(kind: str, table: Table) -> Path | None:
    """The shipped weights of a kind that serve the table; None where there are none."""
    name = serving(shipped(kind), table_metadata(table))
    return None if name is None else SHIPPED / f"{name}.safetensors"


def path_for(kind: str, name: str | None, table: Table) -> Path:
    """The weights file of a name, of a path, or (without either) of a table.

    Raises:
        ValueError: No shipped weights were trained for the table; the sentence lists those there
            are.
    """
    known = shipped(kind)
    if name is not None:
        return SHIPPED / f"{name}.safetensors" if name in known else Path(name)
    shipped_path = shipped_for(kind, table)
    if shipped_path is not None:
        return shipped_path
    wanted = table_metadata(table)
    served = "; ".join(f"{found} ({_served(data)})" for found, data in known.items())
    raise ValueError(f"no {kind} weights for {_told(wanted)}; there are: {served or 'none'}")


def _served(metadata: Mapping[str, Any]) -> str:
    """What the weights were trained for, in words: a table, or how many and of which rules."""
    tables = metadata.get("tables")
    if tables is None:
        return _told(metadata["table"])
    rules = ", ".join(dict.fromkeys(table["rules"] for table in tables))
    return f"{len(tables)} tables of {rules}"


def _told(table: Mapping[str, Any]) -> str:
    memory = "memory on" if table["memory"] else "memory off"
    return f"{table['rules']}, {table['players']} players, {memory}, talk {table['talk']}"
