"""Cut-offs of plan enumeration: one row a setting, paired with the defaults."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from typer.testing import CliRunner

from benchmarks.cut_offs import CHANGES, DEFAULT, WIDEST, main, settings


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(main)
    return made


def test_settings_change_one_cut_off_at_a_time() -> None:
    found = list(settings())
    assert (found[0], found[-1]) == (DEFAULT, WIDEST)
    assert len(found) == len(set(found)) == 2 + sum(map(len, CHANGES.values()))
    for setting in found[1:-1]:
        assert sum(a != b for a, b in zip(setting, DEFAULT, strict=True)) == 1


def test_rows_are_paired_with_the_defaults(tmp_path: Path) -> None:
    arguments = ["--players", "3", "--games", "6", "--out", str(tmp_path), "--json"]
    done = CliRunner().invoke(app(), arguments)
    assert done.exit_code == 0
    rows = json.loads(done.stdout)
    assert rows == json.loads((tmp_path / "cut_offs.json").read_text())
    assert [(row["most"], row["branch"], row["reach"], row["late"]) for row in rows] == list(
        settings()
    )
    assert rows[0]["left_diff"] == rows[0]["win_diff"] == [0, 0, 0]
    for row in rows:
        assert abs(row["left_diff"][0] - row["cards_left"] + rows[0]["cards_left"]) < 1e-9
        assert row["ms"] > 0
    text = (tmp_path / "cut_offs.md").read_text()
    assert text.count("\n| ") == 1 + len(rows)


def test_an_unknown_range_of_deals_is_one_sentence() -> None:
    done = CliRunner().invoke(app(), ["--deals", "held_out"])
    assert done.exit_code == 2
    assert done.stderr == (
        'cut_offs: unknown range of deals "held_out", did you mean "held-out"? known: training, '
        "development, held-out\n"
    )
