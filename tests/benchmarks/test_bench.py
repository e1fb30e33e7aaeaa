"""Every benchmark runs at a tiny size and gives finite figures; no test looks at how fast it is."""

import itertools
import json
import math
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import measure, start_speed
from benchmarks.comparison import RIVALS, Comparison, Rival, compare, skipped, sync_vector_speed
from benchmarks.engine_speed import engine_speed, engine_work, reference_speed, reference_work
from benchmarks.environment_speed import (
    aec_speed,
    gym_env_speed,
    sb3_vecenv_speed,
    vector_env_speed,
)
from benchmarks.machine import describe_machine
from benchmarks.measure import ROUNDS, Speed, best_speed
from benchmarks.sampling import RandomPlayer
from benchmarks.start_speed import cold_and_warm_start, import_seconds
from benchmarks.suite import Figures, parts
from benchmarks.value_speed import self_play_speed, value_speed
from thegame_app import bench_command
from thegame_app.cli import run
from thegame_env.rules import PRESETS, Rules, Table

TINY = 1e-3
SB3 = pytest.mark.skipif(find_spec("stable_baselines3") is None, reason="needs stable-baselines3")
ONE_KERNEL = (
    "from thegame_env.engine import Engine; from thegame_env.rules import Table; Engine(Table(), 1)"
)


def check_speed(speed: Speed, unit: str) -> None:
    assert speed.unit == unit
    assert speed.rounds == ROUNDS
    assert math.isfinite(speed.per_s)
    assert speed.per_s > 0
    assert 0 < speed.cpu_share <= 1


# --- how it is measured --------------------------------------------------------------------------


def test_the_first_call_is_not_measured_and_each_round_calls_at_least_once():
    calls = []

    def work() -> int:
        calls.append(1)
        return 1

    check_speed(best_speed("nothing", "steps", work, 0.0), "steps")
    assert len(calls) == 1 + ROUNDS


def test_the_best_round_counts_in_cpu_time(monkeypatch):
    """A clock that ticks 4 s of wall time and 2 s of CPU time whenever it is read."""
    wall, cpu = itertools.count(0, 4), itertools.count(0, 2)
    clock = SimpleNamespace(perf_counter=lambda: next(wall), thread_time=lambda: next(cpu))
    monkeypatch.setattr(measure, "time", clock)
    done = iter([999, 10, 30, 50, 20, 40])
    speed = best_speed("uneven", "steps", lambda: next(done), 0.0)
    assert speed.per_s == 50 / 2
    assert speed.cpu_share == 0.5


def test_more_work_in_a_call_is_more_speed():
    few = best_speed("few", "steps", lambda: 1 + 0 * sum(range(1000)), TINY)
    many = best_speed("many", "steps", lambda: 10**6 + 0 * sum(range(1000)), TINY)
    assert many.per_s > few.per_s


# --- the engine and the reference ----------------------------------------------------------------


@pytest.mark.parametrize("players", range(1, 6))
def test_engine_speed(players):
    check_speed(engine_speed(Table(Rules(), players), TINY), "plays")


def test_reference_speed():
    check_speed(reference_speed(Table(Rules(), 5), TINY), "plays")


@pytest.mark.parametrize("rules", ["official", "profi", "small-hands"])
@pytest.mark.parametrize("players", [2, 5])
def test_both_play_the_same_games(rules, players):
    table = Table(PRESETS[rules], players)
    fast, readable = engine_work(table, 1, 150), reference_work(table, 150)
    for _ in range(3):
        assert fast() == readable()


# --- the player ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 63, 64, 65, 393])
def test_the_player_chooses_every_legal_action_and_no_other(size):
    rng = np.random.default_rng(size)
    masks = (rng.random((20, size)) < 0.05).astype(np.int8)
    masks[:, [0, size - 1]] = 1
    masks[0] = 1
    choose = RandomPlayer(20)
    chosen = np.zeros_like(masks)
    for _ in range(60 * size):
        chosen[np.arange(20), choose(masks)] = 1
    assert not chosen[masks == 0].any()
    assert (chosen[1:] == masks[1:]).all()


def test_the_player_for_one_mask():
    mask = np.zeros(393, np.int8)
    mask[200] = 1
    assert RandomPlayer(1).one(mask) == 200


# --- the environments ----------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["table", "relative"])
def test_environment_speeds(observation):
    check_speed(vector_env_speed(observation, TINY, games=8), "steps")
    check_speed(gym_env_speed(observation, TINY), "steps")
    check_speed(aec_speed(observation, TINY), "steps")


@SB3
def test_sb3_vecenv_speed():
    check_speed(sb3_vecenv_speed("relative", TINY, games=8), "steps")


@SB3
def test_train_speed():
    """Whole rollouts with their updates are counted, in both environments."""
    from benchmarks.train_speed import SETTINGS, train_speed
    from train.config import parse_config

    small = {"games": 4, "n_steps": 4, "batch_size": 16, "network": {"pile": 4, "context": 4}}
    pair = train_speed(TINY, parse_config({**SETTINGS, **small}, "test"))
    for speed in (pair.ours, pair.other):
        assert speed.unit == "steps"
        assert 0 < speed.per_s < math.inf
        assert speed.rounds >= 1
        assert 0 < speed.cpu_share <= 1
    assert "DummyVecEnv of 4 games" in pair.other.name


@SB3
def test_training_settings_are_those_of_the_configuration():
    from pathlib import Path

    from benchmarks.train_speed import SETTINGS
    from train.config import load_config, parse_config

    path = Path(__file__).parents[2] / "configs" / "ppo_5p.yaml"
    ours, theirs = parse_config(SETTINGS, "bench"), load_config(path)
    for key in ("network", "games", "n_steps", "batch_size", "epochs", "clip_range", "entropy"):
        assert getattr(ours, key) == getattr(theirs, key), key


# --- the learned value ---------------------------------------------------------------------------


def test_value_speed():
    check_speed(value_speed(2, TINY), "afterstates")


@pytest.mark.parametrize("talk", ["none", "open"])
def test_self_play_speed(talk):
    check_speed(self_play_speed(2, talk, TINY), "games")


# --- the start -----------------------------------------------------------------------------------


def test_import_seconds():
    assert 0 < import_seconds(tries=1) < math.inf


def test_the_cold_start_is_told_on_stderr_and_the_warm_one_is_silent():
    cold, warm = cold_and_warm_start(ONE_KERNEL)
    assert "compiling the game's kernels" in cold.message
    assert warm.message == ""
    for start in (cold, warm):
        assert 0 < start.cpu_s < math.inf
        assert 0 < start.seconds < math.inf


def test_first_use_runs_through():
    start_speed.first_use()


# --- beside others -------------------------------------------------------------------------------


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_rivals(rival):
    if rival.missing:
        pytest.skip(f"needs {', '.join(rival.missing)}")
    pair = compare(rival, TINY)
    check_speed(pair.other, "steps")
    check_speed(pair.ours, "steps")


def test_ratio():
    slow, fast = Speed("a", "steps", 2.0, 1, 1.0), Speed("b", "steps", 6.0, 1, 1.0)
    assert Comparison(slow, fast).ratio == 3.0
    assert Comparison(slow, fast).ratio_to(slow) == 1.0


def test_what_is_missing_is_one_sentence():
    rivals = (
        Rival("a game", ("no_such_library",), sync_vector_speed, sync_vector_speed),
        Rival("our own", (), sync_vector_speed, sync_vector_speed),
        Rival("another", ("no_such_library", "nor_this"), sync_vector_speed, sync_vector_speed),
    )
    assert skipped(rivals) == (
        "Not compared: a game, another (no_such_library, nor_this not installed: "
        'pip install "thegame-env[bench]").'
    )
    assert skipped(rivals[1:2]) is None


# --- the suite and the command -------------------------------------------------------------------


def test_machine():
    machine = describe_machine()
    assert machine["cpu"]
    assert isinstance(machine["cores"], int)
    assert {"numpy", "numba", "gymnasium"} <= set(machine["versions"])


def test_no_figures_is_a_document_too():
    document = Figures().as_dict()
    assert document["engine_plays_per_s"] is None
    assert document["engine_over_reference"] is None
    assert json.loads(json.dumps(document)) == document


def test_the_slowest_engine_is_the_headline():
    speed = Speed("engine", "plays", 5.0, 1, 1.0)
    figures = Figures(engine={1: speed, 5: replace(speed, per_s=4.0)}, reference=speed)
    assert figures.as_dict()["engine_plays_per_s"] == 4.0
    assert figures.engine_over_reference == 4.0 / 5.0


def test_a_full_run_includes_the_first_start():
    names = [name for name, _ in parts(TINY, quick=False, others=True)]
    assert "first and later start" in names
    assert "Gymnasium's SyncVectorEnv of our environment" in names


def test_json(monkeypatch, capsys):
    monkeypatch.setattr(bench_command, "QUICK_SECONDS", TINY)
    assert run(["bench", "--quick", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for name in ("engine_plays_per_s", "gym_env_steps_per_s", "aec_steps_per_s"):
        assert 0 < document[name] < math.inf
    assert set(document["vector_env_steps_per_s"]) == {"table", "relative"}
    assert set(document["engine_plays_per_s_by_players"]) == set("12345")
    assert set(document["afterstates_per_s"]) == set("135")
    assert set(document["self_play_games_per_s"]) == {"none", "open"}
    assert document["compile_cold_s"] is None
    assert any("--quick" in sentence for sentence in document["skipped"])
    assert document["comparisons"] == []
    assert document["import_s"] > 0
    assert document["engine_over_reference"] > 0


def test_tables(monkeypatch, capsys):
    monkeypatch.setattr(bench_command, "QUICK_SECONDS", TINY)
    monkeypatch.setenv("COLUMNS", "120")
    assert run(["bench", "--quick", "--compare"]) == 0
    out = capsys.readouterr().out
    for text in ("vector env, 1024 games, relative", "import thegame_env", "SyncVectorEnv"):
        assert text in out
    assert "The first compilation was not measured (--quick)." in out
    for rival in RIVALS:
        for module in rival.missing:
            assert module in out
    assert "Machine: " in out


@SB3
def test_the_training_bench_prints_one_document(monkeypatch, capsys):
    from benchmarks import train_speed

    speeds = Speed("a", "steps", 2.0, 1, 0.1), Speed("b", "steps", 12.0, 1, 0.1)
    monkeypatch.setattr(train_speed, "train_speed", lambda seconds: Comparison(*speeds))
    assert run(["bench", "--train", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["training"]["ratio"] == 6.0
    assert document["training"]["ours"]["per_s"] == 12.0
    assert run(["bench", "--train", "--quick"]) == 0
    out, err = capsys.readouterr()
    assert "b: 12 steps a second" in out
    assert "the machine is busy" in err


def test_training_is_measured_alone(capsys):
    assert run(["bench", "--train", "--compare"]) == 2
    assert "either --train or --compare" in capsys.readouterr().err


def test_an_unknown_option_is_refused(capsys):
    assert run(["bench", "--slow"]) == 2
    assert "--slow" in capsys.readouterr().err
