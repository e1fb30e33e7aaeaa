"""Strength against time: what is asked of `thegame eval`, and what is made of its answer."""

from __future__ import annotations

import re
import subprocess
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from agents.registry import split_agents
from benchmarks.strength_curve import Curve, command, main, markdown, ms_of_turn, times_of
from benchmarks.strength_plot import strength_plot
from eval.records import read_manifest
from eval.summary import CellSummary, PairedSummary
from thegame_env.rules import Table


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(main)
    return made


def cell(agent: str, rate: float, **values: Any) -> CellSummary:
    """Figures of ten games, the rest zeros."""
    given: dict[str, Any] = {field.name: 0 for field in fields(CellSummary)}
    given |= {"agent": agent, "players": 3, "games": 10, "win_rate": rate}
    given |= {"win_low": rate - 0.1, "win_high": rate + 0.1}
    return CellSummary(**(given | values))


def pair(agent: str, win: float, left: float) -> PairedSummary:
    """A comparison with intervals half a game and one card wide to each side."""
    given: dict[str, Any] = {field.name: 0 for field in fields(PairedSummary)}
    given |= {"agent": agent, "win_diff": win, "cards_left_diff": left}
    given |= {"win_diff_low": win - 0.05, "win_diff_high": win + 0.05}
    given |= {"cards_left_low": left - 1, "cards_left_high": left + 1}
    return PairedSummary(**given)


def test_times_are_in_seconds_and_ascending() -> None:
    assert times_of("1s, 30ms,2.5ms") == {"2.5ms": 0.0025, "30ms": 0.03, "1s": 1.0}
    assert list(times_of("1s,10ms")) == ["10ms", "1s"]


def test_the_longest_budget_plays_first_and_the_base_before_it() -> None:
    words = command(Table(players=3), ["10ms", "1s"], 100, 2, Path("runs/strength/3p"))
    options = dict(zip(words[1:-1:2], words[2:-1:2], strict=True))
    assert (words[0], words[-1]) == ("eval", "--json")
    assert split_agents(options.pop("--agents")) == ["afterstate", "expert:1s", "expert:10ms"]
    assert options == {
        "--baseline": "afterstate",
        "--players": "3",
        "--rules": "official",
        "--talk": "none",
        "--memory": "on",
        "--games": "100",
        "--seed": "1",
        "--deals": "held-out",
        "--workers": "2",
        "--out": "runs/strength/3p",
    }


def test_time_of_a_turn_by_hand() -> None:
    assert ms_of_turn(cell("a", 0.5, games_per_s=0.5, turns_mean=40.0)) == pytest.approx(50)
    assert ms_of_turn(cell("a", 0.5, games_per_s=None, turns_mean=40.0)) is None


def test_lines_by_hand() -> None:
    base = cell("afterstate", 0.5, games_per_s=50.0, turns_mean=40.0, cards_left_mean=2.0)
    expert = cell("expert:10ms", 0.6, games_per_s=2.5, turns_mean=40.0, cards_left_mean=1.25)
    curve = Curve(Table(players=3), "a chip", base, [expert], [pair("expert:10ms", 0.1, -0.75)])
    lines = markdown(curve, "plot.svg")
    assert lines[0] == "**`official`, 3 players, memory on, talk none**, on a chip"
    assert "(plot.svg)" in lines[2]
    assert lines[6:] == [
        "| `afterstate` | 10 | 500 µs | 50.0 (40.0-60.0) | - | 2.00 | - |",
        "| `expert:10ms` | 10 | 10 ms | 60.0 (50.0-70.0) | +10.0 (+5.0 to +15.0) | 1.25 | "
        "-0.75 (-1.75 to +0.25) |",
        "",
    ]
    faulty = replace(curve, cells=[replace(expert, faults=2)])
    assert markdown(faulty, "plot.svg")[-2].endswith("count as lost: `expert:10ms` 2.")


def test_the_same_figures_give_the_same_plot() -> None:
    base, seconds = cell("afterstate", 0.75), [0.01, 0.1, 1.0]
    cells = [cell(f"expert:{s:g}s", rate) for s, rate in zip(seconds, (0.7, 0.8, 0.9), strict=True)]
    plot = strength_plot(base, seconds, cells)
    assert plot == strength_plot(base, seconds, cells)
    assert plot != strength_plot(base, seconds, cells[::-1])
    texts = re.findall(r">([^<>]+)</text>", plot)
    assert {"10 ms", "100 ms", "1 s", "afterstate", "expert", "3 players, 10 deals"} <= set(texts)


def test_many_budgets_name_few_and_one_is_enough() -> None:
    base, seconds = cell("afterstate", 0.75), [0.01 * 2**k for k in range(9)]
    plot = strength_plot(base, seconds, [cell("expert:1s", 0.8)] * 9)
    assert len(re.findall(r">[0-9.]+ m?s</text>", plot)) == 5
    assert ">10 ms</text>" in strength_plot(base, seconds[:1], [cell("expert:1s", 0.8)])


def test_the_command_plays_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With quick agents in the places of the slow ones, `thegame eval` itself being real."""
    swaps = {"afterstate": "greedy"}
    swaps["afterstate,expert:2ms,expert:1ms"] = "greedy,greedy:extra=4,random"
    real = subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda words, **rest: real([swaps.get(w, w) for w in words], **rest)
    )
    out, runs = tmp_path / "out", tmp_path / "runs"
    arguments = ["--players", "5", "--games", "2", "--times", "2ms,1ms", "--runs", str(runs)]
    done = CliRunner().invoke(app(), [*arguments, "--out", str(out)])
    assert done.exit_code == 0
    assert done.stdout == (out / "strength.md").read_text()
    rows = re.findall(r"^\| `(\S+)` \| 2 \| [0-9.]+ [nmµ]?s \|", done.stdout, re.MULTILINE)
    assert rows == ["greedy", "random", "greedy:extra=4"]
    assert f"on {read_manifest(runs / '5p').hardware.cpu}\n" in done.stdout
    assert "(strength-5p.svg)" in done.stdout
    assert (out / "strength-5p.svg").read_text().startswith("<?xml")


def test_a_refusal_of_the_run_is_passed_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "1p").mkdir()
    (tmp_path / "1p" / "letter").touch()
    out = tmp_path / "out"
    arguments = ["--players", "1", "--runs", str(tmp_path), "--out", str(out)]
    done = CliRunner().invoke(app(), arguments)
    assert done.exit_code == 2
    assert "is not empty, and it is no run" in capfd.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--times", "10ms,fast"], 'a time is given as 100ms or 1s, not "fast"'),
        (["--times", "10ms,"], 'a time is given as 100ms or 1s, not ""'),
        (["--times", "0ms"], 'a time is given as 100ms or 1s, not "0ms"'),
        (["--times", "1s,1000ms"], 'times: "1s,1000ms" lists 1000ms twice'),
        (["--players", "1,6"], "not by 6"),
        (["--players", "0"], 'players: "0" is not of the form 1-5 or 2,3,5'),
        (["--out", __file__], "is a file, and plots and text need a folder"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_played(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unwanted(*_: object, **__: object) -> None:
        raise AssertionError("it plays")

    monkeypatch.setattr(subprocess, "run", unwanted)
    done = CliRunner().invoke(app(), arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stderr.startswith("strength_curve: ")
    assert len(done.stderr.splitlines()) == 1
