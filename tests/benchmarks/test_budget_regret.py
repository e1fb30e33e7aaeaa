"""What decisions lose at each budget: positions, the reference, the report, going on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from agents.endgame import is_known
from benchmarks.budget_regret import (
    Settings,
    expert_of,
    interval,
    main,
    measure,
    position_of,
    reference,
)
from benchmarks.strength_plot import regret_plot
from thegame_env.engine import parameters
from thegame_env.rules import Table

SETTINGS = Settings(1, ["5ms", "20ms"], 3, 64, 64)


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(main)
    return made


def test_positions_are_of_the_table_in_all_phases_and_not_known() -> None:
    views = [position_of(number, SETTINGS) for number in (0, 4, 8)]
    left = [view.cards_left for view in views]
    assert left == sorted(left, reverse=True)
    for view in views:
        assert view.table == Table()
        assert not is_known(view.row(), parameters(view.table))


def test_a_position_tells_what_every_budget_loses() -> None:
    row = measure(4, SETTINGS)
    assert len(row["regret"]) == len(row["seconds"]) == 3
    assert min(row["regret"]) >= 0.0
    assert row["seconds"][0] == 0.0 < row["seconds"][1]


def test_the_reference_tells_a_poor_plan() -> None:
    """The worst of the plans by value loses, the one that the reference likes best nothing."""
    view = position_of(5, SETTINGS)
    row, searcher = view.row(), expert_of(view.table, "20ms").searcher
    choice = searcher.root.choose(row[None])
    order = np.argsort(-choice.utility)
    states = choice.plans.states[[order[0], order[-1]]].copy()
    worth = reference(searcher, row, states, [0, 1], SETTINGS, np.uint64(3))
    assert worth[0] > worth[1] + 0.02


def test_intervals() -> None:
    assert interval(np.array([1.0, 1.0, 1.0])) == "1.00 (1.00 to 1.00)"
    assert interval(np.array([-1.0, 1.0] * 50), "+") == "+0.00 (-0.20 to +0.20)"


def test_the_command_writes_a_report_and_goes_on(tmp_path: Path) -> None:
    out, runs = tmp_path / "docs", tmp_path / "runs"
    arguments = ["--players", "1", "--times", "20ms,5ms", "--looks", "64", "--again", "64"]
    arguments += ["--out", str(out), "--runs", str(runs)]
    first = CliRunner().invoke(app(), [*arguments, "--positions", "2"])
    assert first.exit_code == 0, first.output
    kept = (runs / "1p.jsonl").read_text().splitlines()
    done = CliRunner().invoke(app(), [*arguments, "--positions", "3"])
    assert done.exit_code == 0, done.output
    rows = (runs / "1p.jsonl").read_text().splitlines()
    assert rows[:2] == kept
    assert [json.loads(row)["number"] for row in rows] == [0, 1, 2]
    text = (out / "regret.md").read_text()
    assert "3 positions" in text
    assert re.findall(r"\| `(.*?)` \|", text) == ["afterstate", "expert:5ms", "expert:20ms"]
    assert (out / "regret-1p.svg").read_text().startswith("<?xml")
    other = CliRunner().invoke(app(), [*arguments, "--positions", "3", "--seed", "4"])
    assert other.exit_code == 2
    assert "another measurement" in other.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--times", "soon"], "100ms or 1s"),
        (["--players", "6"], "is played by 1-5 players"),
        (["--out", "file"], "is a file"),
    ],
)
def test_bad_input_is_a_sentence(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    done = CliRunner().invoke(app(), ["--positions", "2", *arguments])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())


def test_the_plot_names_the_budgets_and_is_the_same_twice() -> None:
    regrets = np.abs(np.random.default_rng(0).normal(size=(40, 3)))
    text = regret_plot(3, [0.01, 1.0], regrets)
    assert text == regret_plot(3, [0.01, 1.0], regrets)
    for words in ("10 ms", "1 s", "3 players, 40 positions", "lost a decision"):
        assert words in text
