from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eval.cells import Cell
from eval.manifest import Manifest
from eval.records import find_game, open_run, read_manifest, write_chunk
from eval.work import Order
from thegame_app.cli import run
from thegame_app.eval_command import numbers_of
from thegame_app.replay_command import record_of, turns_of
from thegame_env.notation import GameRecord
from thegame_env.rules import Termination

CELL_KEYS = {
    "agent",
    "players",
    "rules",
    "talk",
    "memory",
    "starter",
    "games",
    "win_rate",
    "win_low",
    "win_high",
    "cards_left_mean",
    "cards_left_se",
    "under_ten",
    "ms_per_decision_p50",
    "ms_per_decision_p95",
    "games_per_s",
    "faults",
}
PLAYED = ["--agents", "greedy:extra=4,random", "--players", "1,3", "--games", "40", "--seed", "2"]


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that `thegame eval` has made."""
    path = tmp_path_factory.mktemp("runs") / "example"
    assert run(["eval", *PLAYED, "--out", str(path)]) == 0
    return path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that succeeds prints on stdout."""
    capsys.readouterr()
    assert run(arguments) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one sentence of a command that is refused."""
    capsys.readouterr()
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


# --- eval ----------------------------------------------------------------------------------------


def test_json_is_one_document_with_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    document = json.loads(printed(capsys, "eval", *PLAYED, "--json"))
    assert list(document) == ["cells", "paired"]
    assert [(c["agent"], c["players"]) for c in document["cells"]] == [
        (agent, players) for players in (1, 3) for agent in ("greedy:extra=4", "random")
    ]
    for cell in document["cells"]:
        assert set(cell) >= CELL_KEYS
        assert (cell["games"], cell["faults"], cell["memory"]) == (40, 0, True)
        assert cell["win_low"] <= cell["win_rate"] <= cell["win_high"]
        assert 0 < cell["ms_per_decision_p50"] <= cell["ms_per_decision_p95"]
    assert [(p["agent"], p["baseline"]) for p in document["paired"]] == [
        ("random", "greedy:extra=4")
    ] * 2
    assert list(tmp_path.iterdir()) == []


def test_the_table_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    agents = "greedy:extra=4,greedy:extra=-1000,random"
    setting = ["--talk", "open", "--memory", "off", "--starter", "agreed", "--crossplay"]
    text = printed(capsys, "eval", "--agents", agents, "--players", "2", "--games", "40", *setting)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "2 players, official, memory off, talk open, starter agreed" in lines
    assert "Against greedy:extra=4 on the same deals" in lines
    assert "Mixed teams: won in % (cards left)" in lines
    header = next(line for line in lines if "won % (95 %)" in line)
    for column in ("40 games", "cards left", "<10 %", "a decision", "games/s"):
        assert column in header


def test_a_run_holds_its_command_its_games_and_its_report(run_dir: Path) -> None:
    manifest = read_manifest(run_dir)
    words = shlex.split(manifest.command)
    assert words[:2] == ["thegame", "eval"]
    assert words[words.index("--agents") + 1] == "greedy:extra=4,random"
    assert (manifest.games, manifest.seed, manifest.seed_range) == (40, 2, "held-out")
    assert manifest.baseline == "greedy:extra=4"
    for name in ("report.html", "report.md", "summary.json", "summary.csv"):
        assert (run_dir / name).stat().st_size > 0
    assert list((run_dir / "plots").glob("*.svg"))


def test_the_command_of_a_run_goes_on_with_it(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (run_dir / "rows").iterdir()}
    assert run(shlex.split(read_manifest(run_dir).command)[1:]) == 0
    assert {path: path.stat().st_mtime_ns for path in (run_dir / "rows").iterdir()} == before
    assert "differs in games" in refused(
        capsys, "eval", *PLAYED, "--games", "41", "--out", str(run_dir)
    )


def test_faults_are_told_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clumsy.py").write_text(
        "class Player:\n"
        "    observation = 'table'\n"
        "    def __init__(self, table): self.end = table.rules.end_turn\n"
        "    def act(self, observation, mask): return self.end\n"
    )
    monkeypatch.chdir(tmp_path)
    options = ["--agents", "clumsy:Player,random", "--players", "2", "--games", "5"]
    text = printed(capsys, "eval", *options)
    assert "clumsy:Player: 5 games ended by a fault (crash 0, illegal 5, timeout 0)" in text
    assert "5 x illegal: clumsy:Player: END_TURN: 0 of 2 owed cards are played" in text
    assert "random" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--agents gredy", 'unknown agent "gredy", did you mean "greedy"? known: random, greedy'),
        ("--agents greedy,greedy", "greedy is listed twice"),
        ("--agents greedy --players 0-2", "is played by 1-5 players, not by 0"),
        ("--agents greedy --players 3-2", 'players: "3-2" is not of the form 1-5 or 2,3,5'),
        ("--agents greedy --players many", 'players: "many" is not of the form'),
        ("--agents greedy --rules officiall", 'did you mean "official"'),
        ("--agents greedy --rules official,official", "lists a name twice"),
        ("--agents greedy --talk loud", 'unknown talk "loud"'),
        ("--agents greedy --memory yes", 'memory is on or off, not "yes"'),
        ("--agents greedy --starter me", 'unknown starter "me"'),
        ("--agents greedy --deals training", 'development or held-out, not "training"'),
        ("--agents greedy --timeout 0", "must be above 0 s"),
        ("--agents greedy --games 0", "--games"),
        ("--agents greedy --baseline random", 'the baseline "random" is not one of the agents'),
        ("--agents greedy,random --crossplay --players 1", "a table of two players or more"),
        ("--agents model.zip", "--allow-pickle loads it if you trust where it comes from"),
        ("--players 2", "--agents"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    options: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, "eval", *options.split())


def test_allowing_a_pickle_warns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "--agents", "no/model.zip", "--allow-pickle", "--games", "2"]) == 2
    err = capsys.readouterr().err
    assert "warning: loading no/model.zip: it holds a pickle" in err
    assert "there is no file no/model.zip" in err


def test_spans_of_players() -> None:
    assert numbers_of("1-5") == [1, 2, 3, 4, 5]
    assert numbers_of("5, 2-3,2") == [2, 3, 5]


# --- report --------------------------------------------------------------------------------------


def test_the_report_is_made_from_the_games(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (run_dir / "report.html").read_bytes()
    (run_dir / "report.html").unlink()
    (run_dir / "summary.json").write_text("{}")
    document = json.loads(printed(capsys, "report", str(run_dir), "--json"))
    assert (run_dir / "report.html").read_bytes() == before
    assert document == json.loads((run_dir / "summary.json").read_text())
    assert [cell["games"] for cell in document["cells"]] == [40] * 4
    text = printed(capsys, "report", str(run_dir))
    assert "3 players, official, memory on, talk none, starter seat0" in text


def test_the_report_says_that_a_run_is_partial(
    run_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = tmp_path / "partial"
    shutil.copytree(run_dir, partial)
    chunk = next(iter(read_manifest(partial).chunks()))
    chunk.rows_path(partial).unlink()
    assert run(["report", str(partial)]) == 0
    wanted = f"the run is partial, {chunk.count} games are still to be played"
    assert wanted in capsys.readouterr().err


def test_a_report_of_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not a run: it has no manifest.json" in refused(capsys, "report", str(tmp_path))


# --- replay --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [0, 45, 85, 120, 159])
def test_a_game_is_shown_turn_by_turn(
    number: int, run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = find_game(run_dir, number)
    text = printed(capsys, "replay", str(run_dir), "--game", str(number))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Game {number}: {row.agent}, ")
    assert f"Stuck with {row.cards_left} cards left" in lines
    grid = lines[: lines.index(f"Stuck with {row.cards_left} cards left")]
    shown = [int(line.split()[0]) for line in grid if line[:4].strip().isdigit()]
    assert shown == list(range(1, row.turns + 1))


@pytest.mark.parametrize("number", range(0, 160, 7))
def test_turns_add_up_to_the_game(number: int, run_dir: Path) -> None:
    row = find_game(run_dir, number)
    record = record_of(row)
    turns = turns_of(record)
    assert len(turns) == row.turns
    assert sum(len(turn.plays) for turn in turns) == row.plays
    assert sum(play.gap == -10 for turn in turns for play in turn.plays) == row.tricks
    assert turns[-1].left == row.cards_left
    for turn, following in pairwise(turns):
        played = {play.card for play in turn.plays}
        hands = {**following.others, following.seat: following.hand}
        assert set(hands[turn.seat]) == set(turn.hand) - played | set(turn.drawn)
        assert following.deck == turn.deck - len(turn.drawn)
        assert turn.left == 98 - sum(len(t.plays) for t in turns[: turn.number])


def test_json_replays(run_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, "replay", str(run_dir), "--game", "85", "--json"))
    *_, last = GameRecord.parse(document["record"]).replay()
    assert last.outcome is not None
    assert last.outcome.termination is Termination.STUCK
    assert last.cards_left == document["cards_left"] == document["turns"][-1]["left"]
    one = json.loads(
        printed(capsys, "replay", str(run_dir), "--game", "85", "--turn", "2", "--json")
    )
    assert one["turns"] == [document["turns"][1]]


def test_one_turn_is_shown_with_every_play(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turn = turns_of(record_of(find_game(run_dir, 85)))[1]
    text = printed(capsys, "replay", str(run_dir), "--game", "85", "--turn", "2")
    assert f"Turn 2, player {turn.seat + 1} (greedy:extra=4)" in text
    for play in turn.plays:
        assert f"{play.card} on {play.pile}, " in text
    for hand in turn.others.values():
        assert " ".join(map(str, hand)) in text


def test_games_and_turns_that_are_not_there(
    run_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["replay", str(run_dir), "--game"]
    assert "no game 160: this run numbers its games 0..159" in refused(capsys, *asked, "160")
    assert "has no turn 99, its turns are 1-" in refused(capsys, *asked, "0", "--turn", "99")


def test_a_game_that_ended_by_a_fault_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = Cell("odd", 2, "official", "none", True, "seat0")
    broken = faulty_run(tmp_path, cell)
    text = printed(capsys, "replay", str(broken), "--game", "0")
    assert "Ended by a fault with 98 cards left: crash, odd: KeyError: 3" in " ".join(text.split())
    assert text.count("\n   1 ") == 1


def faulty_run(run_dir: Path, cell: Cell) -> Path:
    """A run of one game whose agent crashed at its first decision."""
    from agents.base import Agent
    from eval.match import play_chunk

    class Crashes(Agent):
        name = "odd"

        def act_rows(self, rows: Any, p: Any, streams: Any) -> Any:
            raise KeyError(3)

    order = Order(("greedy",), (cell.table,), 1)
    manifest: Manifest = order.manifest("a command", {}).model_copy(update={"cells": (cell,)})
    (chunk,) = open_run(run_dir, manifest)
    write_chunk(run_dir, chunk, *play_chunk(chunk, 7, [Crashes()]))
    return run_dir
