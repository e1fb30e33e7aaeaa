"""Which weights serve a table: a specialist first, else a generalist, else a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents import weight_files
from agents.weight_files import path_for, save_weights, serving, shipped_for, table_metadata
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


def test_a_table_that_none_serves_is_told_what_there_is(folder: Path) -> None:
    with pytest.raises(ValueError, match="no k weights for profi, 2 players") as refused:
        path_for("k", None, LOUD)
    assert "all (2 tables of official); solo (official, 1 players, memory on" in str(refused.value)
