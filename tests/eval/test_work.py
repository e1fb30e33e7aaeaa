from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eval import crew
from eval.cells import Table
from eval.manifest import Hardware, RunError
from eval.records import GameRow, missing_chunks, read_chunk, read_manifest
from eval.work import Order, chunk_games, evaluate, rules_hash
from thegame_env.ranges import deal_seed

HERE = Path(__file__).parent
TABLE = Table(3, "official", "none", True, "seat0")
COMMAND = "thegame eval"


def order(*agents: str, games: int = 8, **options: object) -> Order:
    return Order(agents, (TABLE,), games, **options)  # type: ignore[arg-type]


def rows_of(run_dir: Path) -> dict[str, list[GameRow]]:
    """All games by agent."""
    found: dict[str, list[GameRow]] = {}
    for chunk in read_manifest(run_dir).chunks():
        found.setdefault(chunk.cell.agent, []).extend(read_chunk(run_dir, chunk))
    return found


def files_of(run_dir: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (run_dir / "rows").iterdir()}


# --- what is asked for ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 0}, "games must be 1 or more"),
        ({"deals": "training"}, "development or held-out"),
        ({"limit": 0.0}, "must be above 0 s"),
        ({"baseline": "greedy"}, 'the baseline "greedy" is not one of the agents: random'),
        ({"seed": 2**61}, "there is no seed"),
        ({"tables": (replace(TABLE, players=6),)}, "is played by 1-5 players, not by 6"),
        ({"tables": (replace(TABLE, rules="officious"),)}, 'did you mean "official"'),
        ({"tables": (replace(TABLE, talk="loud"),)}, "unknown talk"),
        ({"crossplay": True}, "cross-play needs two agents"),
    ],
)
def test_what_cannot_be_played_is_refused(options: dict[str, object], message: str) -> None:
    fields: dict[str, object] = {"agents": ("random",), "tables": (TABLE,), "games": 5} | options
    with pytest.raises(ValueError, match=message):
        Order(**fields)  # type: ignore[arg-type]


def test_chunks_are_neither_tiny_nor_huge() -> None:
    assert [chunk_games(n) for n in (1, 640, 10_000, 10**6)] == [32, 32, 500, 1000]


def test_a_hash_of_rules_depends_on_the_rules_alone() -> None:
    assert rules_hash("official") == rules_hash("custom/cards:98")
    assert rules_hash("official") != rules_hash("profi")


def test_the_manifest_says_what_was_asked_for() -> None:
    manifest = order("random", "greedy", seed=4, baseline="greedy").manifest("a command", {})
    assert (manifest.seed, manifest.seed_range) == (4, "held-out")
    assert manifest.command == "a command"
    assert manifest.rules_hash == {"official": rules_hash("official")}
    assert "smallest gap" in manifest.descriptions["greedy"]
    assert manifest.hardware == Hardware.here()


# --- playing -------------------------------------------------------------------------------------


def test_one_worker_and_two_give_the_same_rows(tmp_path: Path) -> None:
    asked = order("random", "odd_agents:Remembers", games=70, crossplay=True)
    told: list[tuple[int, int]] = []
    for workers in (1, 2):
        evaluate(
            asked,
            tmp_path / str(workers),
            COMMAND,
            workers,
            progress=lambda done, total: told.append((done, total)),
        )
    one, two = files_of(tmp_path / "1"), files_of(tmp_path / "2")
    assert len(one) == 4 * 3
    assert one == two
    assert told[0] == (0, 280)
    assert told[-1] == (280, 280)
    rows = rows_of(tmp_path / "1")["random"]
    assert [(row.seed, row.game) for row in rows] == [
        (deal_seed("held-out", 1), g) for g in range(70)
    ]


def test_the_same_command_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    evaluate(order("random", "greedy", games=50, baseline="random"), tmp_path, COMMAND)
    before = files_of(tmp_path)
    paths = sorted((tmp_path / "rows").iterdir())
    paths[0].unlink()
    paths[1].write_bytes(paths[1].read_bytes()[:99])
    (tmp_path / "rows" / ".half.jsonl.gz.1.tmp").write_bytes(b"half")
    stamp = paths[2].stat().st_mtime_ns
    told: list[int] = []
    again = order("random", "greedy", games=50, baseline="greedy")
    evaluate(again, tmp_path, COMMAND, progress=lambda done, total: told.append(done))
    assert files_of(tmp_path) == before
    assert paths[2].stat().st_mtime_ns == stamp
    assert told[0] == 100 - sum(int(path.stem.split("-")[-1].split(".")[0]) for path in paths[:2])
    assert read_manifest(tmp_path).baseline == "greedy"


def test_another_run_is_refused_or_overwritten(tmp_path: Path) -> None:
    evaluate(order("random"), tmp_path, "the first command")
    with pytest.raises(RunError, match=r"it differs in games; .*--overwrite.* the first command"):
        evaluate(order("random", games=9), tmp_path, COMMAND)
    (tmp_path / "report.md").write_text("of old")
    evaluate(order("random", games=9), tmp_path, COMMAND, overwrite=True)
    assert len(rows_of(tmp_path)["random"]) == 9
    assert not (tmp_path / "report.md").exists()


def test_a_directory_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    for overwrite in (False, True):
        with pytest.raises(RunError, match="is not empty, and it is no run"):
            evaluate(order("random"), tmp_path, COMMAND, overwrite=overwrite)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_is_no_directory_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunError, match="is a file, and a run is a directory"):
        evaluate(order("random"), tmp_path / "run", COMMAND)


def test_two_commands_do_not_play_into_one_directory(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    tmp_path.joinpath(".lock").touch()
    with tmp_path.joinpath(".lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another command is playing into"):
            evaluate(order("random"), tmp_path, COMMAND)


# --- agents that hang or die ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "ended", "reason"),
    [
        ("odd_agents:Hangs", "timeout", "odd_agents:Hangs: no answer within 0.8 s"),
        pytest.param(
            "odd_agents:DiesWithItsProcess",
            "crash",
            "odd_agents:DiesWithItsProcess: its process died (exit code 7)",
            marks=pytest.mark.long,
        ),
    ],
)
def test_an_agent_that_never_returns_loses_only_its_games(
    tmp_path: Path, agent: str, ended: str, reason: str
) -> None:
    evaluate(order(agent, "greedy", games=5, limit=0.8), tmp_path, COMMAND)
    rows = rows_of(tmp_path)
    faulty = 0
    for ours, theirs in zip(rows[agent], rows["greedy"], strict=True):
        if ours.ended == ended:
            faulty += 1
            assert ours.reason == reason
            assert ours.actions == theirs.actions[: len(ours.actions)]
            assert ours.cards_left < 60
        else:
            assert (ours.actions, ours.ended) == (theirs.actions, theirs.ended)
    assert 0 < faulty < 5


def test_an_agent_that_always_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "GIVE_UP", 2)
    hanging = "odd_agents:HangsAtOnce"
    evaluate(order(hanging, "greedy", games=70, limit=0.8), tmp_path / "one", COMMAND)
    evaluate(order(hanging, "greedy", games=70, limit=0.8), tmp_path / "two", COMMAND, workers=2)
    rows = rows_of(tmp_path / "one")
    assert rows_of(tmp_path / "two") == rows
    assert {row.ended for row in rows[hanging]} == {"timeout"}
    reasons = [row.reason for row in rows[hanging]]
    silent = f"{hanging}: no answer within 0.8 s"
    given_up = f"{hanging}: not asked any more, it hung or died in 2 games of a chunk"
    chunks = [c for c in read_manifest(tmp_path / "one").chunks() if c.cell.agent == hanging]
    expected = [silent if i < 2 else given_up for c in chunks for i in range(c.count)]
    assert len(chunks) > 1
    assert reasons == expected
    assert {row.ended for row in rows["greedy"]} <= {"won", "stuck"}


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("odd_agents:broken_factory", "RuntimeError: the factory has burnt down"),
        ("odd_agents:dying_factory", r"its process died \(exit code 9\) while it was made"),
    ],
)
def test_agents_that_cannot_be_made_are_refused_before_any_game(
    tmp_path: Path, agent: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(order("random", agent), tmp_path / "run", COMMAND)
    assert not (tmp_path / "run").exists()


def test_what_an_agent_prints_stays_off_stdout() -> None:
    command = ["eval", "--agents", "odd_agents:Prints", "--players", "3", "--games", "10", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "thegame_app", *command],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["cells"][0]["faults"] == 0
    assert "I am thinking" in done.stderr
    assert "so is my library" in done.stderr


# --- runs that are cut off -----------------------------------------------------------------------

SLOW = "odd_agents:Slow"
GAMES, CHUNKS = 96, 3


def slow_command(run_dir: Path, *options: str) -> list[str]:
    played = ["--agents", SLOW, "--players", "3", "--games", str(GAMES), "--out", str(run_dir)]
    return ["eval", *played, *options]


def environment(wait_in: Path | None = None) -> dict[str, str]:
    """The environment of a command; its slow agent stops for good once a run has stored a chunk."""
    return os.environ | {"PYTHONPATH": str(HERE), "ODD_WAIT_IN": str(wait_in or "")}


@pytest.fixture
def stored_in_part(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that plays into tmp_path / "run" and has stored a chunk, but not all."""
    run_dir = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "thegame_app", *slow_command(run_dir)],
        env=environment(run_dir),  # plays no further: a busy machine interrupts in time, too
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not list(run_dir.glob("rows/*.gz")):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.01)
    yield process
    if process.poll() is None:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The rows of the same run, played without a break."""
    run_dir = tmp_path_factory.mktemp("whole")
    evaluate(order(SLOW, games=GAMES), run_dir, COMMAND)
    return files_of(run_dir)


def check_that_it_goes_on(run_dir: Path, whole: dict[str, bytes]) -> None:
    kept = {name: data for name, data in files_of(run_dir).items() if name.endswith(".gz")}
    assert 0 < len(missing_chunks(run_dir)) == CHUNKS - len(kept)
    evaluate(order(SLOW, games=GAMES), run_dir, COMMAND)
    assert files_of(run_dir) == whole
    assert kept.items() <= whole.items()


def test_a_killed_run_goes_on_without_losing_or_doubling_a_game(
    tmp_path: Path, whole: dict[str, bytes], stored_in_part: subprocess.Popen[str]
) -> None:
    stored_in_part.kill()
    stored_in_part.communicate()
    deadline = time.monotonic() + 20
    while is_alive(stored_in_part.pid):
        assert time.monotonic() < deadline, "a worker outlives its overseer"
        time.sleep(0.05)
    check_that_it_goes_on(tmp_path / "run", whole)


def is_alive(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_interrupted_run_says_how_it_goes_on(
    tmp_path: Path, whole: dict[str, bytes], stored_in_part: subprocess.Popen[str]
) -> None:
    os.killpg(stored_in_part.pid, signal.SIGINT)
    out, err = stored_in_part.communicate()
    assert stored_in_part.returncode == 130
    assert out == ""
    assert f"go on with: thegame eval --agents {SLOW} --players 3" in err
    assert "Traceback" not in err
    check_that_it_goes_on(tmp_path / "run", whole)


def test_a_full_disk_leaves_a_run_that_goes_on(tmp_path: Path, whole: dict[str, bytes]) -> None:
    pytest.importorskip("resource")
    limit = sorted(map(len, whole.values()))[1]
    code = (
        "import resource, sys; from thegame_app.cli import run;"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}));"
        "sys.exit(run(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, *slow_command(tmp_path / "run")]
    full = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert full.returncode == 2
    assert full.stderr.count("\n") == 1
    assert "cannot be written: File too large; what has been stored is kept" in full.stderr
    assert not list(tmp_path.rglob("*.tmp"))
    check_that_it_goes_on(tmp_path / "run", whole)
