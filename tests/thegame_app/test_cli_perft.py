"""`thegame` itself, and `thegame perft`."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from thegame_app import cli
from thegame_app.cli import make_app, run
from thegame_env import perft
from thegame_env.deal import deal
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table

TINY = "custom/cards:5/hand_sizes:1/minimum:1"


def counted(*arguments: str) -> dict[str, Any]:
    """The document of `thegame perft ... --json`."""
    result = CliRunner().invoke(make_app(), ["perft", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def count(table: Table, deck: tuple[int, ...], depth: int) -> int:
    return perft.perft_reference(Game.start(table, deck), depth)


@pytest.mark.parametrize("engine", ["reference", "fast", "both"])
def test_json_document(engine: str) -> None:
    got = counted("--players", "2", "--rules", "profi", "--depth", "3", "--engine", engine)
    deck = deal(Rules(), 0)
    assert got.pop("seconds") >= 0
    assert got == {
        "nodes": count(Table(PRESETS["profi"], 2), deck, 3),
        "players": 2,
        "rules": "profi",
        "depth": 3,
        "deck": list(deck),
        "engine": engine,
    }


def test_seed_and_given_deck() -> None:
    deck = deal(Rules(), 5)
    by_seed = counted("--players", "1", "--depth", "3", "--seed", "5")
    given = counted("--players", "1", "--depth", "3", "--deck", ",".join(map(str, deck)))
    assert by_seed["deck"] == given["deck"] == list(deck)
    assert by_seed["nodes"] == given["nodes"] == count(Table(Rules(), 1), deck, 3)


def test_divide() -> None:
    got = counted(
        "--players", "1", "--rules", TINY, "--depth", "4", "--divide", "--deck", "4,2,3,5,6"
    )
    assert list(got["divide"]) == ["4:up1", "4:up2", "4:down1", "4:down2"]
    assert sum(got["divide"].values()) == got["nodes"]
    assert got["divide"]["4:up1"] == got["divide"]["4:up2"] < got["divide"]["4:down1"]


@pytest.mark.parametrize(("depth", "nodes"), [("0", 1), ("6", 0)])
def test_depths_at_both_ends(depth: str, nodes: int) -> None:
    got = counted(
        "--players", "1", "--rules", TINY, "--depth", depth, "--divide", "--engine", "both"
    )
    assert got["nodes"] == nodes


def test_plain_text(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = "perft --players 1 --depth 1 --deck 6,2,3,4,5 --divide --rules"
    assert run([*arguments.split(), TINY]) == 0
    out, err = capsys.readouterr()
    assert out == "6:up1 1\n6:up2 1\n6:down1 1\n6:down2 1\nnodes 4\n"
    assert err == ""


def test_engines_that_differ_are_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The reference forgets that a game owes a minimum.
    monkeypatch.setattr(Game, "may_end_turn", property(lambda game: game.plays > 0))
    arguments = ["perft", "--players", "2", "--depth", "3", "--engine", "both", "--json"]
    assert run(arguments) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["engine"] == "both"
    assert err.startswith("thegame perft: the engines differ: only one allows end at up=")


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--players 6 --depth 1", '"official" is played by 1-5 players, not by 6'),
        ("--players 1 --depth 1 --rules small-hands", "is played by 2-5 players, not by 1"),
        ("--players 1 --depth 1 --rules profy", 'unknown rules "profy", did you mean "profi"'),
        ("--players 1 --depth 1 --deck 2,3,3", "the deck holds card 3 twice"),
        ("--players 1 --depth 1 --deck 2,3", "the deck lacks card 4 (96 missing in all)"),
        ("--players 1 --depth 1 --deck 2,x", 'deck: "x" is not a card'),
        ("--players 1 --depth 1 --deck 2,100", "the deck holds 100, cards are 2-99"),
        ("--players 1 --depth -1", "'--depth'"),
        ("--players one --depth 1", "'--players'"),
        ("--players 1", "Missing option '--depth'"),
        ("--players 1 --depth 1 --engine slow", "'slow' is not one of"),
        ("--players 1 --depth 1 --sed 4", "No such option: --sed"),
        ("--players 1 --depth 1 --seed -4", "'--seed'"),
        ("--players 1 --depth 1 more", "unexpected extra argument"),
    ],
)
@pytest.mark.parametrize("end", ["", " --json"])
def test_bad_input_is_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: str, sentence: str, end: str
) -> None:
    assert run(("perft " + arguments + end).split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("thegame: ")
    assert err.count("\n") == 1
    assert sentence in err


def test_unknown_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["perf"]) == 2
    assert "No such command 'perf'" in capsys.readouterr().err


def app_raising(error: BaseException) -> typer.Typer:
    app = typer.Typer(pretty_exceptions_enable=False)
    app.callback()(lambda: None)

    @app.command("fail")
    def fail() -> None:
        raise error

    return app


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (FileNotFoundError(2, "No such file or directory", "a.json"), 2, "a.json"),
        (ValueError("over\n  two lines"), 2, "thegame: over two lines\n"),
        (ModuleNotFoundError("No module", name="torch.nn"), 2, "needs the library torch"),
        (KeyboardInterrupt(), 130, "thegame: interrupted\n"),
        (typer.Abort(), 130, "thegame: interrupted\n"),
        (typer.Exit(1), 1, ""),
    ],
)
def test_errors_become_sentences(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.setattr(cli, "make_app", lambda: app_raising(error))
    assert run(["fail"]) == code
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [ZeroDivisionError(), ModuleNotFoundError("No module", name="thegame_env.gone")]
)
def test_faults_of_the_program_are_not_hidden(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(cli, "make_app", lambda: app_raising(error))
    with pytest.raises(type(error)):
        run(["fail"])


def test_json_knows_no_nan() -> None:
    with pytest.raises(ValueError, match="JSON"):
        cli.print_json({"rate": float("nan")})


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_appears_late_and_only_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool
) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", str(int(terminal)))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(cli, "PATIENCE", 0.1)
    with cli.late_progress() as progress:
        progress.add_task("counting", total=3)
        assert not progress.live.is_started
        time.sleep(0.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert ("counting" in err) is terminal
    assert bool(err) is terminal


# --- the process ---------------------------------------------------------------------------------

COMMAND = (str(Path(sys.executable).parent / "thegame"),)
MODULE = (sys.executable, "-m", "thegame_app")


@pytest.mark.parametrize("command", [COMMAND, MODULE], ids=["command", "module"])
def test_as_a_process(command: tuple[str, ...]) -> None:
    arguments = f"perft --players 1 --rules {TINY} --depth 2 --deck 4,2,3,5,6 --engine reference"
    done = subprocess.run(
        [*command, *arguments.split(), "--json"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    # 4 on a pile, then 2 on each pile but, an ascending one taken, not on that.
    assert json.loads(done.stdout)["nodes"] == 2 * 3 + 2 * 4


def test_version_and_help() -> None:
    version = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True)
    assert (version.returncode, version.stdout) == (0, "thegame 0.1.0\n")
    for arguments in ([], ["--help"]):
        shown = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
        assert shown.returncode == 0
        assert "perft" in shown.stdout


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from thegame_app.cli import run; code = run(['--help']); "
        "heavy = {'numba', 'torch', 'gymnasium', 'matplotlib', 'scipy'} & set(sys.modules); "
        "sys.exit(f'loaded: {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_ends_a_long_count(capsys: pytest.CaptureFixture[str]) -> None:
    # At this depth the fast engine would count for years; Ctrl-C arrives after half a second.
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        code = run(["perft", "--players", "2", "--depth", "30"])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert code == 130
    assert capsys.readouterr().err == "thegame: interrupted\n"
