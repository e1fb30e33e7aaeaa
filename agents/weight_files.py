"""Weights on disk: a safetensors file of arrays, and a JSON file beside it that describes them.

Never a pickle. The JSON holds at least `kind` (what kind of network), `version` (of its input),
`table` (what it was trained for), and how it was trained and what it reached. A generalist, which
was trained for several tables, lists them all in `tables`.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from thegame_env.rules import Table, unknown

SHIPPED = Path(__file__).parent / "weights"
"""Where the weights that come with the package lie."""
CONFIGS = Path(__file__).parents[1] / "configs"
"""Where the configurations lie that weights are trained by, in a checkout."""
SUFFIXES = (".safetensors", ".json")
TOLD = 3
"""Tables that a sentence tells one by one."""

Arrays = dict[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights that were trained for the table at hand.

    Attributes:
        path: The safetensors file.
        arrays: Its arrays.
        metadata: What the JSON beside it tells.
        hash: Of the safetensors file.
    """

    path: Path
    arrays: Arrays
    metadata: dict[str, Any]
    hash: str


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


_AS_BEFORE = {("afterstate", 3): 2}
"""Kind and input version -> the version before, whose weights are read too if their tables remember
(that input changed for the others only)."""


def _reads_the_same(kind: str, version: int, metadata: Mapping[str, Any]) -> bool:
    before = _AS_BEFORE.get((kind, version))
    tables = tables_of(metadata)
    remember = bool(tables) and all(table.get("memory") for table in tables)
    return before is not None and metadata.get("version") == before and remember


def load_weights(path: Path, kind: str, version: int) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the metadata of a weights file.

    Raises:
        ValueError: It is missing, damaged (an array that is not of finite numbers is, too), of
            another kind, or of another input version.
    """
    path = path.with_suffix(".safetensors")
    metadata = read_metadata(path)
    if metadata.get("kind") != kind:
        raise ValueError(f"{path.name} holds {metadata.get('kind')!r} weights, not {kind!r} ones")
    if metadata.get("version") != version and not _reads_the_same(kind, version, metadata):
        raise ValueError(
            f"{path.name} was trained on input version {metadata.get('version')}, this program "
            f"uses version {version}: train it anew or install the matching release"
        )
    try:
        arrays = load(path.read_bytes())
    except FileNotFoundError:
        raise ValueError(f"no weights file {path}") from None
    except (SafetensorError, ValueError):
        raise ValueError(f"{path} is damaged or not a safetensors file: fetch it anew") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{path} is damaged: {name} holds what is not a finite number")
    return arrays, metadata


def read_metadata(path: Path) -> dict[str, Any]:
    """The JSON beside a weights file; ValueError where it is missing or damaged."""
    beside = path.with_suffix(".json")
    try:
        metadata = json.loads(beside.read_text())
    except (FileNotFoundError, NotADirectoryError):
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


def tables_of(metadata: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables that weights were trained for, as `table_metadata` describes them."""
    tables = metadata.get("tables") or [metadata.get("table")]
    return [table for table in tables if isinstance(table, dict)]


def serving(known: Mapping[str, Mapping[str, Any]], wanted: dict[str, Any]) -> str | None:
    """The name of the weights for a table: a specialist, else a generalist, else None.

    Args:
        known: Name -> metadata, of one kind.
        wanted: The table, as `table_metadata` describes it.
    """
    serve = [name for name, metadata in known.items() if wanted in tables_of(metadata)]
    return min(serve, key=lambda name: known[name].get("tables") is not None, default=None)


def shipped_for(kind: str, table: Table) -> Path | None:
    """The shipped weights of a kind that serve the table; None where there are none."""
    name = serving(shipped(kind), table_metadata(table))
    return None if name is None else SHIPPED / f"{name}.safetensors"


def path_for(kind: str, name: str | None, table: Table) -> Path:
    """The weights file of a name, of a path, or (without either) of a table.

    Raises:
        ValueError: There are no weights of that name (the nearest one is named), or no shipped ones
            were trained for the table (those of the nearest table are named, and how to train).
    """
    known = shipped(kind)
    if name is not None:
        name = str(name)  # one of digits comes as a number from a specification
        if name in known:
            return SHIPPED / f"{name}.safetensors"
        if not _is_path(name):
            raise ValueError(unknown(f"{kind} weights", name, known))
        return Path(name)
    shipped_path = shipped_for(kind, table)
    if shipped_path is not None:
        return shipped_path
    wanted = table_metadata(table)
    raise ValueError(
        f"no {kind} weights for {_told(wanted)}; there are: {_nearest_told(known, wanted)}"
        + _training(kind, known, wanted)
    )


def load_for(kind: str, version: int, name: str | None, table: Table) -> Weights:
    """The weights of a name, of a path, or (without either) of a table, to be used at that table.

    Raises:
        ValueError: There are none, they cannot be loaded, or they were trained for other tables;
            the sentence says which weights would serve, or how to train some.
    """
    path = path_for(kind, name, table).with_suffix(".safetensors")
    arrays, metadata = load_weights(path, kind, version)
    wanted = table_metadata(table)
    if wanted not in tables_of(metadata):
        known = shipped(kind)
        serve = serving(known, wanted)
        raise ValueError(
            f"{path.name} was trained for {_served(metadata)}, not for {_told(wanted)}"
            + (f"; {serve} would serve" if serve else _training(kind, known, wanted))
        )
    return Weights(path, arrays, metadata, hash_of(path))


def hash_of(path: Path) -> str:
    """What tells a weights file from others: 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _is_path(name: str) -> bool:
    """Whether it is meant as a path: it looks like one, or a weights file of that name is there."""
    path = Path(name)
    if not path.name:
        return False
    if len(path.parts) > 1 or path.suffix in SUFFIXES:
        return True
    return any(path.with_suffix(suffix).exists() for suffix in SUFFIXES)


def _nearest(known: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Any]) -> str | None:
    """The weights of the table that is most like this one: the rules count most, players least."""

    def distance(table: Mapping[str, Any]) -> tuple[bool, bool, bool, int]:
        rules, memory, talk = (table[key] != wanted[key] for key in ("rules", "memory", "talk"))
        return rules, memory, talk, abs(table["players"] - wanted["players"])

    return min(known, key=lambda name: min(map(distance, tables_of(known[name]))), default=None)


def _nearest_told(known: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Any]) -> str:
    """The nearest weights and how many others there are, in words."""
    name = _nearest(known, wanted)
    if name is None:
        return "none"
    others = f" and {len(known) - 1} for other tables" if len(known) > 1 else ""
    return f"{name} ({_served(known[name])}){others}"


def _training(kind: str, known: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Any]) -> str:
    """How to train weights for a table, from the configurations there are; else ""."""
    config, changes = _config_name(kind, wanted), ""
    if not (CONFIGS / config).is_file():
        single = {name: data for name, data in known.items() if data.get("tables") is None}
        near = _nearest(single, wanted)
        config = f"{near}.yaml"
        if near is None or not (CONFIGS / config).is_file():
            return ""
        section, trained = "table." if kind == "ppo" else "", single[near]["table"]
        changes = "".join(
            f" --set {section}{key}={str(value).lower() if isinstance(value, bool) else value}"
            for key, value in wanted.items()
            if value != trained[key]
        )
    return f'; "thegame train configs/{config}{changes}" trains some'


def _config_name(kind: str, wanted: Mapping[str, Any]) -> str:
    """How the configuration of a table is called where there is one."""
    words = [f"{kind}_{wanted['players']}p", *["memory_off"] * (not wanted["memory"])]
    words += [wanted["rules"].replace("-", "_")] * (wanted["rules"] != "official")
    words += [wanted["talk"]] * (wanted["talk"] != "none")
    return f"{'_'.join(words)}.yaml"


def _served(metadata: Mapping[str, Any]) -> str:
    """What the weights were trained for, in words: the tables, or how many and of which rules."""
    tables = tables_of(metadata)
    if len(tables) <= TOLD:
        return "; ".join(map(_told, tables)) or "an unknown table"
    rules = ", ".join(dict.fromkeys(str(table.get("rules")) for table in tables))
    return f"{len(tables)} tables of {rules}"


def _told(table: Mapping[str, Any]) -> str:
    """A table's metadata in words."""
    memory = "memory on" if table.get("memory") else "memory off"
    rules, players, talk = (table.get(key) for key in ("rules", "players", "talk"))
    return f"{rules}, {players} player{'s' * (players != 1)}, {memory}, talk {talk}"
