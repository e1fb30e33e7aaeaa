"""MaskablePPO on the batch engine: it learns, and a run goes on as if it had never stopped."""

import json
import signal

import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

from agents.registry import make_agent
from thegame_env.notation import parse_position
from train.config import parse_config
from train.development import Score, judge
from train.ppo import make_model, train
from train.snapshot import read_checkpoint, write_checkpoint, writing
from train.stopping import Budget, StopRequest
from train.threads import fastest_threads
from train.watch import CHECKPOINT, POLICY, Watch

TINY = "custom/cards:8/hand_sizes:2/trick:8"
"""Played alone. Its optimum is exactly 1: `greedy` wins every deal. Random play wins 63 %."""


def config(**changes):
    values = {
        "kind": "ppo",
        "steps": 256,
        "table": {"rules": TINY, "players": 1},
        "network": {"pile": 16, "context": 32, "head": 32, "value": 16},
        "games": 8,
        "n_steps": 16,
        "batch_size": 32,
        "epochs": 2,
        "evaluation": {"games": 10},
        "threads": 1,
    }
    return parse_config({**values, **changes}, "test")


def quiet(_):
    pass


def test_ppo_masters_a_tiny_table(tmp_path):
    learning = {"games": 64, "batch_size": 256, "learning_rate": 3e-3, "entropy": 1e-3}
    run = config(steps=30_000, evaluation={"games": 3000}, **learning)
    before = judge(make_model(run, Budget(None, 1)).policy.actor, run.table.table, 3000)
    train(run, tmp_path, report=quiet)
    reached = json.loads((tmp_path / POLICY).with_suffix(".json").read_text())["development"]
    assert before.win_rate < 0.9
    assert reached["win_rate"] > 0.995


LATE = {"share": 0.5, "cards_left": 6, "player": "random"}


def assert_same(whole, parts):
    """The checkpoints of two folders are alike, but for the evaluations on the way to them."""
    (one, _), (other, _) = (read_checkpoint(folder / CHECKPOINT) for folder in (whole, parts))
    assert one.keys() == other.keys()
    for name in one:
        if not name.startswith("best."):
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("late", [None, LATE], ids=["dealt", "late"])
def test_a_resumed_run_equals_one_without_a_break(tmp_path, late):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    level = {"learning_rate": 1e-3, "final_learning_rate": 1e-3, "late_starts": late}
    train(config(steps=512, **level), whole, report=quiet)
    train(config(steps=256, **level), parts, report=quiet)
    train(config(steps=512, **level), parts, resume=True, report=quiet)
    assert_same(whole, parts)


@pytest.mark.parametrize("late", [None, LATE], ids=["dealt", "late"])
def test_a_checkpoint_taken_in_mid_play_goes_on_exactly(tmp_path, monkeypatch, late):
    """The run is asked to stop at its 20th action, 4 actions after the first update."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run = config(steps=512, learning_rate=1e-3, final_learning_rate=1e-3, late_starts=late)
    train(run, whole, report=quiet)
    calls = []
    on_step = Watch._on_step

    def stopping_step(watch):
        calls.append(None)
        watch.stop.requested = len(calls) == 20
        return on_step(watch)

    with monkeypatch.context() as patch:
        patch.setattr(Watch, "_on_step", stopping_step)
        with pytest.raises(KeyboardInterrupt):
            train(run, parts, report=quiet)
    arrays, _ = read_checkpoint(parts / CHECKPOINT)
    assert arrays["steps"][0] == 128
    train(run, parts, resume=True, report=quiet)
    assert_same(whole, parts)


def test_what_a_run_leaves_behind(tmp_path):
    lines = []
    weights = train(config(), tmp_path, report=lines.append)
    metadata = json.loads(weights.with_suffix(".json").read_text())
    assert metadata["steps"] == 256
    assert metadata["table"]["rules"] == TINY
    assert metadata["config"]["network"]["pile"] == 16
    assert metadata["development"]["games"] == 10
    assert any((tmp_path / "tensorboard").iterdir())
    assert len(lines) == 1
    assert "256 steps" in lines[0]
    assert make_agent(f"ppo:{weights}", config().table.table).weights_hash


@pytest.mark.parametrize("observation", ["table", "relative"])
def test_a_plain_network_is_trained_and_plays_by_its_path(tmp_path, observation):
    network = {"kind": "mlp", "observation": observation, "widths": [8]}
    weights = train(config(network=network), tmp_path, report=quiet)
    agent = make_agent(f"ppo:{weights}", config().table.table)
    view = parse_position(f"up=1,1 down=10,10 hand=3,5 others= deck=6 rules={TINY}")
    assert view.rules.decode(agent.act(view)) in view.plays_now


def test_the_critic_may_see_more_and_games_may_begin_late(tmp_path):
    late = {"share": 0.5, "cards_left": 40, "player": "greedy"}
    run = config(table={"players": 3}, hidden_critic=True, late_starts=late)
    weights = train(run, tmp_path, report=quiet)
    assert make_agent(f"ppo:{weights}", run.table.table).weights_hash
    train(config(**{**run.model_dump(mode="json"), "steps": 512}), tmp_path, True, quiet)


def test_time_ends_a_run(tmp_path):
    weights = train(config(steps=None, minutes=0.01), tmp_path, report=quiet)
    assert json.loads(weights.with_suffix(".json").read_text())["seconds"] <= 5


def test_masks_are_obeyed_while_playing():
    """The environment raises on an illegal action, so some thousand drawn ones must be legal."""
    run = config(table={"players": 3})
    model = make_model(run, Budget(None, 1))

    class Nothing(BaseCallback):
        def _on_step(self):
            return True

    model._setup_learn(1, Nothing(), True)
    callback, buffer = model._init_callback(Nothing()), model.rollout_buffer
    assert all(model.collect_rollouts(model.env, callback, buffer, 16) for _ in range(25))


def test_the_step_size_falls_with_what_is_spent():
    budget = Budget(None, 1000)
    model = make_model(config(learning_rate=1e-3, final_learning_rate=0.0), budget)
    model.num_timesteps = 250
    assert model.lr_schedule(1.0) == pytest.approx(7.5e-4)


def test_a_run_resumes_only_what_it_is(tmp_path):
    with pytest.raises(ValueError, match="nothing to resume"):
        train(config(), tmp_path, resume=True, report=quiet)
    train(config(), tmp_path, report=quiet)
    with pytest.raises(ValueError, match="belongs to a run with games 8, not 16"):
        train(config(games=16), tmp_path, resume=True, report=quiet)


def test_a_bad_checkpoint_is_refused(tmp_path):
    path = tmp_path / CHECKPOINT
    write_checkpoint(path, {"x": np.zeros(3)}, {"seconds": 1.0})
    arrays, facts = read_checkpoint(path)
    assert (arrays["x"].tolist(), facts["seconds"]) == ([0.0] * 3, 1.0)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match="damaged"):
        read_checkpoint(path)


def test_a_checkpoint_of_another_observation_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("train.snapshot.OBSERVATION_VERSION", 0)
    write_checkpoint(tmp_path / CHECKPOINT, {"x": np.zeros(3)}, {})
    monkeypatch.undo()
    with pytest.raises(ValueError, match="another version"):
        read_checkpoint(tmp_path / CHECKPOINT)


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / CHECKPOINT
    write_checkpoint(path, {"x": np.zeros(3)}, {})
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agents.weight_files.os.replace", full)
    with pytest.raises(OSError, match=r"No space left on device; make room"):
        write_checkpoint(path, {"x": np.ones(3)}, {})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == [CHECKPOINT]


def test_room_is_the_remedy_of_a_full_disk_only(tmp_path):
    told = pytest.raises(OSError, match=r": Permission denied; put that right and go on")
    with told, writing(tmp_path):
        raise OSError(13, "Permission denied")


def test_what_differs_in_a_section_is_named_alone(tmp_path):
    train(config(), tmp_path, report=quiet)
    values = config().model_dump(mode="json")
    other = config(network={**values["network"], "pile": 9})
    with pytest.raises(ValueError, match=r"a run with network\.pile 16, not 9: resume that run"):
        train(other, tmp_path, resume=True, report=quiet)
    with pytest.raises(ValueError, match=r"a run with clone None, not {'teacher'"):
        train(config(clone={"minutes": 1}), tmp_path, resume=True, report=quiet)


def test_signals_ask_first_and_interrupt_then():
    before = signal.getsignal(signal.SIGTERM)
    with StopRequest() as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.requested
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before


def test_scores_are_ordered_by_wins_then_cards():
    assert Score(10, 0.2, 9.0).better_than(Score(10, 0.1, 3.0))
    assert Score(10, 0.1, 3.0).better_than(Score(10, 0.1, 4.0))
    assert not Score(10, 0.1, 4.0).better_than(Score(10, 0.1, 4.0))
    assert Score(10, 0.0, 98.0).better_than(None)


def test_the_thread_count_is_one_that_the_machine_has():
    threads = torch.get_num_threads()
    model = make_model(config(), Budget(None, 1))
    assert fastest_threads(model.policy, model.env.reset(), 32) == torch.get_num_threads() >= 1
    assert all(parameter.grad is None for parameter in model.policy.parameters())
    torch.set_num_threads(threads)
