"""What TensorBoard shows: the promised curves, none of which runs backwards; and a full disk."""

import json
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from thegame_env.rules import Rules, Table
from train.config import parse_config
from train.curves import Curves
from train.development import table_name
from train.ppo import train

LOGS, CLONE = "tensorboard", "tensorboard/clone"


def config(**changes):
    values = {
        "kind": "ppo",
        "steps": 256,
        "table": {"players": 5},
        "network": {"pile": 8, "context": 16, "deep": 16, "head": 16, "value": 8},
        "games": 16,
        "n_steps": 8,
        "batch_size": 64,
        "epochs": 1,
        "evaluation": {"games": 10},
        "threads": 1,
    }
    return parse_config({**values, **changes}, "test")


def quiet(_):
    pass


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    events = EventAccumulator(str(folder))
    events.Reload()
    return {
        tag: [(point.step, point.value) for point in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def runs_forwards(points):
    steps = [step for step, _ in points]
    return steps == sorted(set(steps))


def test_the_logs_hold_what_is_promised(tmp_path):
    weights = train(config(), tmp_path, report=quiet)
    told = curves(tmp_path / LOGS)
    assert told.keys() >= {
        "development/win_rate/official-5p",
        "development/cards_left/official-5p",
        "play/turns_ended_by_choice",
        "play/win_rate",
        "time/steps_per_s",
        "train/approx_kl",
        "train/entropy",
        "train/explained_variance",
    }
    assert not (tmp_path / CLONE).exists()
    development = json.loads(weights.with_suffix(".json").read_text())["development"]
    (reached,) = told["development/cards_left/official-5p"]
    assert reached == (256, pytest.approx(development["cards_left_mean"]))


def test_an_update_is_logged_where_it_was_done(tmp_path):
    train(config(), tmp_path, report=quiet)
    told = curves(tmp_path / LOGS)
    assert [step for step, _ in told["train/entropy"]] == [128, 256]
    assert [-value for _, value in told["train/entropy_loss"]] == [
        value for _, value in told["train/entropy"]
    ]
    assert [step for step, _ in told["time/steps_per_s"]] == [128, 256]


def test_the_imitation_has_curves_of_its_own(tmp_path):
    clone = {"minutes": 0.02, "batch_size": 64, "segment": 4, "buffer": 1000}
    train(config(clone=clone), tmp_path, report=quiet)
    cloned, learnt = curves(tmp_path / CLONE), curves(tmp_path / LOGS)
    assert all(tag.startswith("clone/") for tag in cloned)
    assert not any(tag.startswith("clone/") for tag in learnt)
    assert cloned.keys() >= {
        "clone/loss",
        "clone/agreement",
        "clone/development/win_rate/official-5p",
        "clone/play/turns_ended_by_choice",
        "clone/time/steps_per_s",
    }
    for points in [*cloned.values(), *learnt.values()]:
        assert runs_forwards(points)
    last = cloned["clone/development/cards_left/official-5p"][-1]
    scores = learnt["development/cards_left/official-5p"]
    assert [step for step, _ in scores] == [0, 256]
    assert scores[0][1] == last[1]


def test_what_was_logged_beyond_the_checkpoint_is_void_after_a_resumption(tmp_path):
    train(config(), tmp_path, report=quiet)
    stray = Curves(tmp_path / LOGS)
    stray.write({"play/win_rate": 0.5}, {"play/win_rate": ()}, 257)
    stray.close()
    assert curves(tmp_path / LOGS)["play/win_rate"][-1] == (257, 0.5)
    train(config(steps=512), tmp_path, resume=True, report=quiet)
    told = curves(tmp_path / LOGS)
    assert all(map(runs_forwards, told.values()))
    assert [step for step, _ in told["play/win_rate"]][-2:] == [384, 512]
    assert 257 not in dict(told["play/win_rate"])


def test_several_tables_are_named_and_have_a_mean(tmp_path):
    run = config(tables={"players": [2, 3], "starter": ["seat0", "agreed"]})
    train(run, tmp_path, report=quiet)
    told = curves(tmp_path / LOGS)
    names = ["official-2p", "official-3p", "official-2p-agreed", "official-3p-agreed"]
    left = [told[f"development/cards_left/{name}"][0][1] for name in names]
    assert told["development/cards_left/mean"][0][1] == pytest.approx(sum(left) / 4)


def test_a_table_has_a_name_of_its_own():
    profi = Table(Rules.parse("profi"), 2, memory=False, talk="open", starter="agreed")
    assert table_name(profi) == "profi-2p-memory_off-open-agreed"
    assert table_name(Table(players=5)) == "official-5p"


def test_a_full_disk_is_told_and_leaves_whole_records(tmp_path):
    writer = Curves(tmp_path)
    writer.write({"x": 1.0}, {"x": ()}, 1)
    whole = writer.path.read_bytes()
    file = writer._file

    class Full:
        """A disk with room for five bytes."""

        def __init__(self):
            self.room = 5

        def write(self, data):
            if not self.room:
                raise OSError(28, "No space left on device")
            written, self.room = file.write(data[: self.room]), 0
            return written

        def __getattr__(self, name):
            return getattr(file, name)

    writer._file = Full()
    with pytest.raises(OSError, match=r"events.*: No space left on device; make room and go on"):
        writer.write({"x": 2.0}, {"x": ()}, 2)
    assert writer.path.read_bytes() == whole
    writer._file = file
    writer.write({"x": 3.0, "unseen": 1.0}, {"x": (), "unseen": ("tensorboard",)}, 3)
    writer.close()
    assert curves(tmp_path) == {"x": [(1, 1.0), (3, 3.0)]}
