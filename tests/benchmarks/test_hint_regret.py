"""The regret of hints: fixed positions, a bad hint shows, a stopped run goes on."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner

from agents.candidates import OPEN
from benchmarks import hint_regret
from benchmarks.hint_regret import (
    PHASES,
    Plan,
    Settings,
    afterstate_of,
    better_below,
    error_of,
    go_on,
    has_choice,
    main,
    measure,
    numbers_of,
    position,
    read_rows,
    searcher_of,
    summary,
)
from thegame_env.notation import parse_position

SETTINGS = Settings("expert:deals=16", "instant", 3, 24, 32)


def plans_of(text: str) -> list[Plan]:
    """The plans that let the game go on, the best by value first."""
    view = parse_position(text)
    choice = searcher_of(SETTINGS.reference, view.table).searcher.root.choose(view.row()[None])
    plans = choice.plans
    order = [i for i in np.argsort(-choice.utility, kind="stable") if plans.kinds[i] == OPEN]
    return [tuple(int(a) for a in plans.actions[i, : plans.lengths[i]]) for i in order]


def good(text: str, strength: str, seed: int) -> list[Plan]:
    return plans_of(text)[:3]


def bad(text: str, strength: str, seed: int) -> list[Plan]:
    return plans_of(text)[::-1]


@pytest.mark.parametrize("number", [0, 1, 9, 28, 5 * PHASES - 1])
def test_positions_are_fixed_and_go_through_players_and_phases(number: int) -> None:
    view = position(number, 3)
    assert view == position(number, 3)
    assert view.table.players == number % 5 + 1
    assert view.plays == 0
    assert has_choice(view)
    phase = number // 5 % PHASES
    assert view.cards_left <= 98 * (1 - (phase + 0.5) / PHASES)
    assert view.cards_left > 98 * (1 - (phase + 0.5) / PHASES) - 30
    assert view != position(number, 4)


def test_a_bad_hint_has_regret_and_plans_below_it_that_are_better() -> None:
    row = measure(2, replace(SETTINGS, deals=128), bad)
    assert not row["same"]
    assert row["regret"] > 3 * row["regret_se"] > 0
    assert row["better_below"]
    assert row["better_below"][-1]["gain"] > 0
    assert row["below"] == len(plans_of(row["position"])) - 1


def test_the_plan_of_the_reference_has_no_regret() -> None:
    text = measure(2, SETTINGS, good)["best"]

    def same(position_text: str, strength: str, seed: int) -> list[Plan]:
        plans = plans_of(position_text)
        view = parse_position(position_text)
        return [plan for plan in plans if hint_regret.texts(view, plan) == text]

    row = measure(2, SETTINGS, same)
    assert row["same"]
    assert (row["regret"], row["regret_se"], row["below"]) == (0.0, 0.0, 0)


def test_the_command_gives_the_hints(tmp_path: Path) -> None:
    view = position(1, 3)
    text = measure(1, SETTINGS, good)["position"]
    plans = hint_regret.hinted(text, "instant", 1)
    assert len(plans) == 5
    for plan in plans:
        assert afterstate_of(view, plan)[:4].tolist() != list(view.tops)


def test_a_stopped_run_goes_on_and_mends_a_cut_line(tmp_path: Path) -> None:
    path, asked = tmp_path / "rows.jsonl", []

    def hint(text: str, strength: str, seed: int) -> list[Plan]:
        asked.append(seed)
        return good(text, strength, seed)

    def measured(number: int) -> dict[str, Any]:
        return measure(number, SETTINGS, hint)

    assert go_on(path, asdict(SETTINGS), range(2), 0.0, measured) == []
    first = go_on(path, asdict(SETTINGS), range(2), 60.0, measured)
    with path.open("a") as file:
        file.write('{"number": 7, "sett')
    rows = go_on(path, asdict(SETTINGS), range(1, 3), 60.0, measured)
    assert asked == [0, 1, 2]
    assert rows[0] == first[1]
    assert list(read_rows(path, asdict(SETTINGS))) == [0, 1, 2]
    assert [json.loads(line)["number"] for line in path.read_text().splitlines()] == [0, 1, 2]
    with pytest.raises(ValueError, match="another measurement"):
        go_on(path, asdict(replace(SETTINGS, deals=8)), range(2), 60.0, measured)


def row(players: int, regret: float, better: int) -> dict[str, Any]:
    below = [{"rank": 2, "gain": 1.0, "se": 0.1}] * better
    return {"players": players, "regret": regret, "same": regret == 0, "below": 4,
            "better_below": below}  # fmt: skip


def test_the_summary_adds_up() -> None:
    document = summary([row(1, 0.0, 0), row(1, 1.0, 1), row(5, 0.5, 2)], 9)
    assert document["regret"] == pytest.approx(0.5)
    assert document["regret_se"] == pytest.approx(0.5 / np.sqrt(3))
    assert document["same_plan"] == pytest.approx(1 / 3)
    assert (document["below"], document["better_below"]) == (12, 3)
    assert document["by_players"]["1"]["regret"] == pytest.approx(0.5)
    assert list(document["by_players"]) == ["1", "5"]
    assert document["worst"][0]["regret"] == 1.0


def test_only_what_is_surely_better_counts() -> None:
    noise = np.tile([0.0, 2.0], 50)
    left = np.array([noise + 5, noise + 4.9, noise[::-1] + 4.9, noise + 6])
    assert [entry["rank"] for entry in better_below(left)] == [2]
    assert error_of(np.array([3.0])) == 0.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--positions", "many"], "positions are given as 500 or 100-199"),
        (["--positions", "9-3"], "there are no positions"),
        (["--reference", "greedy"], "the reference is an expert"),
        (["--reference", "expert:soon"], "a time is given as"),
        (["--positions", "1", "--minutes", "0"], "more --minutes"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str, tmp_path: Path) -> None:
    app = Typer()
    app.command()(main)
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "rows.jsonl")])
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_ranges_of_positions() -> None:
    assert numbers_of("500") == range(500)
    assert numbers_of("100-199") == range(100, 200)
