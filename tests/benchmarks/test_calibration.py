"""Calibration: figures by hand, intervals that cover, games in step with the player's own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from agents.play_out import play_games
from agents.registry import make_agent
from benchmarks.calibration import (
    Positions,
    calibration_of,
    main,
    play_positions,
    slug_of,
    tables_of,
    value_for,
)
from benchmarks.calibration_plot import reliability_plot
from benchmarks.reliability import error_of, ratio_interval, reliability
from thegame_env.ranges import deal_seed
from thegame_env.rules import Rules, Table


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(main)
    return made


def test_bins_by_hand() -> None:
    predicted = np.array([0.05, 0.15, 0.65, 0.65, 0.65, 1.0])
    won = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    game = np.array([0, 0, 1, 1, 2, 1])
    low, second, high, top = reliability(predicted, won, game, np.linspace(0, 1, 11), shares=True)
    assert (low.n, second.n, high.n, top.n) == (1, 1, 3, 1)
    assert high.actual == pytest.approx(2 / 3)
    assert high.games == pytest.approx(9 / 5)
    assert top.low == pytest.approx(0.9)
    assert 0 < top.actual_low < top.actual_high == 1
    assert error_of([low, second, high, top]) == pytest.approx(
        (0.05 + 0.15 + 3 * abs(0.65 - 2 / 3) + 0) / 6
    )


def test_a_mean_of_one_game_has_no_interval() -> None:
    (found,) = reliability(np.full(3, 2.0), np.full(3, 5.0), np.zeros(3, int), np.array([0, 9.0]),
                           shares=False)  # fmt: skip
    assert (found.actual, found.actual_low, found.actual_high) == (5.0, None, None)


def test_intervals_cover_although_positions_of_a_game_depend() -> None:
    rng, shares, means = np.random.default_rng(1), 0, 0
    for _ in range(400):
        game = np.repeat(np.arange(80), rng.integers(1, 30, 80))
        won = (rng.random(80) < 0.7).astype(float)[game]
        (found,) = reliability(np.full(len(game), 0.7), won, game, np.array([0, 1.0]), shares=True)
        shares += found.actual_low < 0.7 < found.actual_high
        _, low, high = ratio_interval(won, game)
        means += low < 0.7 < high
    assert 0.91 < shares / 400 < 0.99
    assert 0.91 < means / 400 < 0.99


def test_games_are_those_of_the_agent() -> None:
    table = Table(players=2)
    value, name = value_for(table, None)
    found = play_positions(value, table, "held-out", 6)
    assert name == "afterstate_2p"
    wanted = play_games(make_agent("afterstate", table), table, deal_seed("held-out", 0),
                        np.arange(6))  # fmt: skip
    np.testing.assert_array_equal(found.left, wanted)
    assert np.unique(found.game).tolist() == list(range(6))
    assert len(found.game) < found.decisions
    result = calibration_of(table, name, found)
    assert sum(b.n for b in result.chance) == sum(b.n for b in result.left) == len(found.game)
    assert result.brier < 0.25


def test_the_same_figures_give_the_same_plot() -> None:
    bins = reliability(np.array([0.2, 0.9]), np.array([0.0, 1.0]), np.array([0, 1]),
                       np.linspace(0, 1, 11), shares=True)  # fmt: skip
    plot = reliability_plot(bins, 1, error_of(bins))
    assert plot == reliability_plot(bins, 1, error_of(bins))
    assert "1 player: error 15.0 points" in plot


def test_names_of_files_tell_tables_apart() -> None:
    assert slug_of(Table(players=5)) == "5p"
    assert slug_of(Table(Rules.parse("profi"), 3, memory=False)) == "3p-profi-memory-off"
    assert slug_of(Table(players=2, talk="open")) == "2p-open"
    assert [table.players for table in tables_of("2-4", "official", "on", "none")] == [2, 3, 4]


def test_the_command_writes_text_json_and_plots(tmp_path: Path) -> None:
    done = CliRunner().invoke(app(), ["--players", "2", "--games", "4", "--out", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout == (tmp_path / "calibration.md").read_text()
    (result,) = json.loads((tmp_path / "calibration.json").read_text())
    assert (result["games"], result["slug"]) == (4, "2p")
    assert (tmp_path / "calibration-2p.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--players", "five"], 'calibration: players: "five" is not of the form 1-5 or 2,3,5'),
        (["--memory", "maybe"], 'calibration: memory: "maybe" is neither on nor off'),
        (["--rules", "offical"], 'did you mean "official"'),
        (["--talk", "loud"], 'unknown talk "loud"'),
        (["--weights", "nowhere"], 'unknown afterstate weights "nowhere"'),
        (["--rules", "custom/cards:60"], "no afterstate weights for custom"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str) -> None:
    done = CliRunner().invoke(app(), [*arguments, "--games", "2"])
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_games_without_a_turn_to_judge_are_refused() -> None:
    nothing = Positions(np.zeros(0, int), np.zeros(0), np.zeros(0), np.array([3, 4]), 2)
    with pytest.raises(ValueError, match="play more games"):
        calibration_of(Table(), "w", nothing)
