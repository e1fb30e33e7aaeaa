"""Which weights serve a table: a specialist first, else a generalist, else a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents import weight_files
from agents.afterstate_features import VERSION
from agents.weight_files import (
    load_for,
    load_weights,
    path_for,
    save_weights,
    serving,
    shipped_for,
    table_metadata,
)
from thegame_env.rules import Rules, Table

SOLO, TWO = Table(), Table(players=2)
LOUD = Table(Rules.parse("profi"), 2, talk="open")


def described(*tables: Table, general: bool) -> dict[str, Any]:
    rows = [table_metadata(table) for table in tables]
    return {"kind": "k", "version": 1, "table": rows[0], **({"tables": rows} if general else {})}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(weight_files, "SHIPPED", tmp_path)
    save_weights(tmp_path / "all", {}, described(SOLO, TWO, general=True))
    save_weights(tmp_path / "solo", {}, described(SOLO, general=False))
    return tmp_path


def test_a_specialist_goes_before_a_generalist_of_any_name(folder: Path) -> None:
    assert shipped_for("k", SOLO) == folder / "solo.safetensors"
    assert path_for("k", None, TWO) == folder / "all.safetensors"
    assert path_for("k", "all", SOLO) == folder / "all.safetensors"


def test_the_first_table_of_a_generalist_is_no_speciality() -> None:
    first = {"a": described(SOLO, TWO, general=True), "b": described(SOLO, general=False)}
    assert serving(first, table_metadata(SOLO)) == "b"
    assert serving(first, table_metadata(LOUD)) is None


def test_who_starts_makes_no_other_table(folder: Path) -> None:
    assert shipped_for("k", Table(players=2, starter="agreed")) == folder / "all.safetensors"


def test_a_table_that_none_serves_is_told_the_nearest(folder: Path) -> None:
    with pytest.raises(ValueError, match="no k weights for profi, 2 players") as refused:
        path_for("k", None, LOUD)
    tables = "official, 1 player, memory on, talk none; official, 2 players, memory on, talk none"
    assert str(refused.value).endswith(f"; there are: all ({tables}) and 1 for other tables")


def test_a_generalist_is_loaded_at_all_of_its_tables_and_no_other(folder: Path) -> None:
    for table in (SOLO, TWO):
        assert load_for("k", 1, "all", table).path == folder / "all.safetensors"
    with pytest.raises(ValueError, match="2 players, memory on, talk none, not for profi"):
        load_for("k", 1, "all", LOUD)


def test_many_tables_are_counted(folder: Path) -> None:
    tables = [Table(players=players) for players in (2, 3, 4, 5)]
    save_weights(folder / "team", {}, described(*tables, general=True))
    with pytest.raises(ValueError, match=r"for 4 tables of official, not for.*; solo would serve"):
        load_for("k", 1, "team", SOLO)


@pytest.mark.parametrize(
    ("version", "tables", "read"),
    [
        (3, [Table(memory=False), SOLO], True),
        (2, [SOLO, TWO], True),
        (2, [SOLO, Table(memory=False)], False),
        (1, [SOLO], False),
    ],
)
def test_values_of_the_version_before_are_read_where_all_remember(
    tmp_path: Path, version: int, tables: list[Table], read: bool
) -> None:
    metadata = {**described(*tables, general=True), "kind": "afterstate", "version": version}
    save_weights(tmp_path / "value", {}, metadata)
    if read:
        assert load_weights(tmp_path / "value", "afterstate", VERSION)[1]["version"] == version
    else:
        with pytest.raises(ValueError, match=f"trained on input version {version}, this program"):
            load_weights(tmp_path / "value", "afterstate", VERSION)
