"""A run's best policy is never lost: kills at bad moments, patience, a full disk."""

import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from agents.weight_files import load_weights, read_metadata
from thegame_env.observation import VERSION
from train.clone import Clone
from train.config import parse_config
from train.development import Score
from train.ppo import train
from train.snapshot import read_checkpoint
from train.stopping import Budget, StopRequest
from train.watch import CHECKPOINT, POLICY, STUDENT, Watch

TINY = "custom/cards:8/hand_sizes:2/trick:8"
ALWAYS = 1e-9
"""Minutes between evaluations: one before every stretch of play, that is every 128 steps."""


def config(patience=None, deals=10, every=ALWAYS, **changes):
    values = {
        "kind": "ppo",
        "steps": 1024,
        "table": {"rules": TINY, "players": 1},
        "network": {"pile": 8, "context": 16, "head": 16, "value": 8},
        "games": 8,
        "n_steps": 16,
        "batch_size": 32,
        "epochs": 1,
        "evaluation": {"games": deals, "every_minutes": every, "patience": patience},
        "threads": 1,
    }
    return parse_config({**values, **changes}, "test")


def quiet(_):
    pass


class Killed(BaseException):
    """Ends a run like kill -9: nothing is written after it."""


def script(monkeypatch, *rates):
    """Evaluations come out as told, and end the run where that is no number."""
    left = iter(rates)

    def judged(arrays, table, games, kind):
        rate = next(left)
        if rate is None:
            raise Killed
        return Score(games, rate, 50.0)

    monkeypatch.setattr("train.watch.judge_weights", judged)


def state(folder):
    """Bytes of all that a run has saved in a folder, temporary files too."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_best(folder, rate, steps):
    metadata = read_metadata(folder / POLICY)
    assert (metadata["development"]["win_rate"], metadata["steps"]) == (rate, steps)
    arrays, facts = read_checkpoint(folder / CHECKPOINT)
    assert facts["best"]["win_rate"] == rate
    assert facts["policy"] == metadata
    for name, array in load_weights(folder / POLICY, "ppo", VERSION)[0].items():
        assert array.tobytes() == arrays[f"best.{name}"].tobytes(), name


# --- kills ---------------------------------------------------------------------------------------


def test_a_best_policy_newer_than_the_last_checkpoint_is_kept(tmp_path, monkeypatch):
    """The run is killed in the evaluation after 512 steps; its checkpoint is of 256 steps."""
    script(monkeypatch, 0.0, 0.1, 0.5, 0.3, None)
    with pytest.raises(Killed):
        train(config(), tmp_path, report=quiet)
    assert_best(tmp_path, 0.5, 256)
    assert int(read_checkpoint(tmp_path / CHECKPOINT)[0]["steps"][0]) == 256
    script(monkeypatch, *[0.4] * 9)
    train(config(), tmp_path, resume=True, report=quiet)
    assert_best(tmp_path, 0.5, 256)


@pytest.mark.parametrize("at", [1, 2])
def test_a_kill_between_two_files_is_mended_by_the_next_start(tmp_path, monkeypatch, at):
    """Killed before the second policy's `at`-th file: the checkpoint has it, the files do not."""
    from agents import weight_files

    write, calls = weight_files.write_atomic, []

    def killing(path, data):
        if path.name.startswith("policy."):
            calls.append(path)
            if len(calls) == 2 + at:
                raise Killed
        write(path, data)

    script(monkeypatch, 0.1, 0.5)
    monkeypatch.setattr(weight_files, "write_atomic", killing)
    with pytest.raises(Killed):
        train(config(), tmp_path, report=quiet)
    assert read_metadata(tmp_path / POLICY)["steps"] == 0
    monkeypatch.setattr(weight_files, "write_atomic", write)
    script(monkeypatch, None)
    with pytest.raises(Killed):
        train(config(), tmp_path, resume=True, report=quiet)
    assert_best(tmp_path, 0.5, 128)


def test_a_policy_that_is_gone_comes_back(tmp_path):
    train(config(steps=128), tmp_path, report=quiet)
    before = state(tmp_path)
    (tmp_path / POLICY).unlink()
    train(config(steps=128), tmp_path, resume=True, report=quiet)
    assert state(tmp_path)[POLICY] == before[POLICY]


def test_a_run_killed_in_its_first_moments_can_be_resumed(tmp_path, monkeypatch):
    def killing(_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Watch, "_on_step", killing)
        with pytest.raises(Killed):
            train(config(every=5), tmp_path, report=quiet)
    arrays, facts = read_checkpoint(tmp_path / CHECKPOINT)
    assert (int(arrays["steps"][0]), facts["best"]) == (0, None)
    assert facts["seconds"] < 1
    weights = train(config(steps=128, every=5), tmp_path, resume=True, report=quiet)
    assert read_metadata(weights)["steps"] == 128


def test_the_best_is_judged_anew_where_a_resumed_run_judges_on_other_deals(tmp_path):
    train(config(steps=128), tmp_path, report=quiet)
    arrays = load_weights(tmp_path / POLICY, "ppo", VERSION)[0]
    train(config(steps=128, deals=20), tmp_path, resume=True, report=quiet)
    assert read_metadata(tmp_path / POLICY)["development"]["games"] == 20
    for name, array in load_weights(tmp_path / POLICY, "ppo", VERSION)[0].items():
        assert array.tobytes() == arrays[name].tobytes()


# --- when it ends --------------------------------------------------------------------------------


def test_patience_ends_a_run_and_more_of_it_goes_on(tmp_path, monkeypatch):
    lines = []
    script(monkeypatch, 0.1, 0.2, 0.5, 0.4, 0.5, None)
    train(config(patience=2), tmp_path, report=lines.append)
    assert lines[-1] == "2 evaluations without a new best: training ends"
    assert [line.split(":")[0].split(", ")[1] for line in lines[:-1]] == [
        "0 steps", "128 steps", "256 steps", "384 steps", "512 steps",
    ]  # fmt: skip
    assert_best(tmp_path, 0.5, 256)
    script(monkeypatch, 0.5)
    train(config(patience=2), tmp_path, resume=True, report=quiet)
    script(monkeypatch, 0.6, 0.1, 0.1, 0.1, None)
    train(config(patience=3), tmp_path, resume=True, report=quiet)
    assert_best(tmp_path, 0.6, 512)


def test_evaluations_while_only_the_critic_learns_do_not_try_patience(tmp_path, monkeypatch):
    script(monkeypatch, *[0.5] * 7, None)
    train(config(patience=2, critic_first=4), tmp_path, report=quiet)
    assert int(read_checkpoint(tmp_path / CHECKPOINT)[0]["steps"][0]) == 6 * 128


def test_no_time_counts_before_training_begins(monkeypatch):
    clock = [50.0]
    monkeypatch.setattr("train.stopping.time.monotonic", lambda: clock[0])
    budget = Budget(1.0, None, seconds=30.0)
    clock[0] = 500.0
    assert budget.seconds == 30.0
    budget.begin()
    clock[0] = 510.0
    assert budget.seconds == 40.0


# --- the imitation -------------------------------------------------------------------------------


def cloning(**changes):
    clone = {"minutes": 0.05, "batch_size": 64, "segment": 4, "buffer": 1000}
    values = {"table": {"players": 5}, "games": 16, "n_steps": 8, "batch_size": 64, "steps": 128}
    return config(**{**values, "clone": clone, **changes})


def test_a_resumed_imitation_knows_which_games_the_student_plays(tmp_path, monkeypatch):
    round_, seen = Clone.round, []

    def first_round(clone, keep_on):
        clone.student[[1, 4]] = True
        stop[0].requested = True
        return round_(clone, keep_on)

    def later_round(clone, keep_on):
        seen.append(clone.student.nonzero()[0].tolist())
        return round_(clone, keep_on)

    stop, init = [], StopRequest.__init__

    def kept(self):
        init(self)
        stop.append(self)

    monkeypatch.setattr(StopRequest, "__init__", kept)
    monkeypatch.setattr(Clone, "round", first_round)
    with pytest.raises(KeyboardInterrupt):
        train(cloning(), tmp_path, report=quiet)
    arrays, facts = read_checkpoint(tmp_path / CHECKPOINT)
    assert arrays[STUDENT].nonzero()[0].tolist() == [1, 4]
    assert facts["seconds"] == 0.0
    monkeypatch.setattr(Clone, "round", later_round)
    train(cloning(), tmp_path, resume=True, report=quiet)
    assert seen[0] == [1, 4]
    arrays, facts = read_checkpoint(tmp_path / CHECKPOINT)
    assert facts["clone"]["over"]
    assert STUDENT not in arrays


def test_a_stop_in_the_last_evaluation_of_the_imitation_tells_it_once(tmp_path, monkeypatch):
    judge, lines = Watch._judge, []

    def stopping(watch, arrays):
        watch.stop.requested = True
        return judge(watch, arrays)

    monkeypatch.setattr(Watch, "_judge", stopping)
    monkeypatch.setattr(Clone, "progress", property(lambda clone: float(clone.positions > 0)))
    with pytest.raises(KeyboardInterrupt):
        train(cloning(every=5), tmp_path, report=lines.append)
    assert len(lines) == 1
    assert lines[0].startswith("clone, ")
    _, facts = read_checkpoint(tmp_path / CHECKPOINT)
    assert (facts["clone"]["over"], facts["seconds"]) == (True, 0.0)
    assert facts["clone"]["development"]["games"] == 10


# --- a full disk ---------------------------------------------------------------------------------


def full(*_, **__):
    raise OSError(28, "No space left on device")


def test_a_policy_without_room_is_in_the_checkpoint_nevertheless(tmp_path, monkeypatch):
    script(monkeypatch, 0.1, 0.2)
    train(config(steps=128), tmp_path, report=quiet)
    before = state(tmp_path)
    with monkeypatch.context() as patch:
        script(patch, 0.2, 0.5)
        patch.setattr("train.export.save_weights", full)
        with pytest.raises(OSError, match=r"cannot write .*policy.safetensors: No space left on "):
            train(config(steps=256), tmp_path, resume=True, report=quiet)
    after = state(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {CHECKPOINT}
    script(monkeypatch, 0.4)
    train(config(steps=256), tmp_path, resume=True, report=quiet)
    assert_best(tmp_path, 0.5, 256)


def test_curves_without_room_end_the_run_with_its_learning_saved(tmp_path, monkeypatch):
    from train.curves import Curves

    write = Curves.write

    def filling(curves, values, excluded, step):
        if step == 384:
            curves.close()
            curves._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115
        write(curves, values, excluded, step)

    monkeypatch.setattr(Curves, "write", filling)
    with pytest.raises(OSError, match=r"cannot write .*events.*: No space left on device; make"):
        train(config(), tmp_path, report=quiet)
    assert int(read_checkpoint(tmp_path / CHECKPOINT)[0]["steps"][0]) == 384


FILLED = """
import os, sys
from pathlib import Path
from thegame_app.cli import run

disk = Path(sys.argv[1])
out = disk / "run"


def train(*options):
    return run(["train", "configs/smoke.yaml", "--out", str(out), "--set", "evaluation.games=2",
                *options])


def saved():
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


def fill(spare):
    space = os.statvfs(disk)
    (disk / "filler").write_bytes(bytes(space.f_bavail * space.f_frsize - spare))


assert train("--set", "steps=512") == 0
before = saved()
for spare in (0, 32768):
    fill(spare)
    print("full", file=sys.stderr, flush=True)
    assert train("--resume", "--set", "steps=2048") == 2
    assert saved() == before
    (disk / "filler").unlink()
assert train("--resume", "--set", "steps=1024") == 0
"""


def mounted(folder, program):
    """The command that runs a program in a name space where a small disk lies at a folder."""
    mount = f'mount -t tmpfs -o size=8m none "{folder}" && exec "$@"'
    return ["unshare", "-rm", "sh", "-c", mount, "sh", *program]


def test_a_really_full_disk(tmp_path):
    """Full to the last byte, then with room for the curves but not for a checkpoint."""
    if which("unshare") is None or subprocess.run(mounted(tmp_path, ["true"]), check=False,
                                                  capture_output=True).returncode:  # fmt: skip
        pytest.skip("this machine mounts no small disk without privileges")
    program = [sys.executable, "-c", FILLED, str(tmp_path)]
    done = subprocess.run(
        mounted(tmp_path, program), capture_output=True, text=True, check=False,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    parts = done.stderr.split("full\n")[1:]
    for part, file in zip(parts, ("events", CHECKPOINT), strict=True):
        told = [line for line in part.splitlines() if line.startswith("thegame: ")]
        assert len(told) == 1
        assert f"/{file}" in told[0]
        assert "No space left on device; make room and go on with --resume" in told[0]
