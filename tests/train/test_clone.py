"""Imitation: the labels by hand, it learns, it resumes, bad teachers are refused."""

import json

import numpy as np
import pytest
import torch

from agents.afterstate_features import VERSION as VALUE_VERSION
from agents.value_bins import utility_of
from agents.weight_files import SHIPPED, load_weights, read_metadata, save_weights
from thegame_env.engine import Engine
from thegame_env.observation import VERSION
from thegame_env.rules import Table
from train.clone import Clone
from train.config import parse_config
from train.development import Score
from train.ppo import begin_with, check_sources, make_model, train
from train.snapshot import read_checkpoint
from train.stopping import Budget
from train.teachers import ACTIONS, NEVER, SearchTeacher, Teacher, first_actions, teacher_for
from train.watch import CHECKPOINT, POLICY


def config(**changes):
    values = {
        "kind": "ppo",
        "steps": 256,
        "table": {"players": 5},
        "clone": {"minutes": 0.01, "batch_size": 64, "segment": 4, "buffer": 1000},
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


def clone_of(run):
    model = make_model(run, Budget(None, 1))
    clone = Clone(run.clone, run.gamma, model)
    clone.start(model.env.reset())
    return clone


def test_the_best_plan_behind_each_first_action_by_hand():
    """Cards 2..99: actions 7 and 3 are on up1, 100 and 105 on up2, 392 is END_TURN."""
    starts = np.array([0, 4, 5])
    plans = np.array([[7, 100, 392], [3, 7, 392], [7, 105, 3], [392, 0, 0], [5, 392, 0]])
    lengths, utility = np.array([3, 3, 3, 1, 2]), np.array([0.2, 0.9, 0.6, 0.1, 0.3], np.float32)
    actions, worth = np.empty((2, ACTIONS), np.int64), np.empty((2, ACTIONS), np.float32)
    first_actions(starts, plans, lengths, utility, 98, actions, worth)
    assert actions[0, :5].tolist() == [7, 100, 3, 105, 392]
    assert worth[0, :5] == pytest.approx([0.6, 0.2, 0.9, 0.6, 0.1])
    assert (actions[1, 0], worth[1, 0]) == (5, pytest.approx(0.3))
    assert (worth[0, 5:] == NEVER).all()
    assert (worth[1, 1:] == NEVER).all()


def test_the_teacher_recommends_what_the_agent_plays():
    from agents.registry import make_agent

    table = Table(players=5)
    engine = Engine(table, 64)
    engine.deal(np.arange(64))
    teacher, agent = Teacher(table, "afterstate", 40), make_agent("afterstate", table)
    for _ in range(5):
        rows = engine.views()
        actions, worth = teacher.label(rows)
        played = agent.act_rows(rows, engine.p, np.zeros(64, np.uint64))
        worth_played = np.where(actions == played[:, None], worth, NEVER).max(axis=1)
        assert worth_played == pytest.approx(worth.max(axis=1), abs=1e-5)
        engine.step(played)


@pytest.mark.parametrize("players", [1, 3])
def test_the_search_recommends_what_the_agent_plays(players):
    from agents.registry import make_agent

    table, search = Table(players=players), "expert:deals=16"
    engine = Engine(table, 6)
    engine.deal(np.arange(6))
    teacher, agent = teacher_for(table, search, 24), make_agent(search, table)
    assert isinstance(teacher, SearchTeacher)
    assert (teacher.name, teacher.weights_hash) == (search, agent.weights_hash)
    for row in engine.views():
        streams = np.array([teacher._state])
        actions, worth = teacher.label(row[None])
        played = agent.act_rows(row[None], engine.p, streams)
        assert worth[0][actions[0] == played[0]].max() == worth[0].max()
        assert (worth[0] > NEVER).sum() > 1
        assert teacher._state == streams[0]


def test_a_policy_learns_from_the_search(tmp_path):
    section = {"teacher": "expert:deals=4", "minutes": 0.005, "batch_size": 16, "segment": 2}
    policy = train(config(clone=section, games=4, n_steps=16), tmp_path, report=quiet)
    told = json.loads(policy.with_suffix(".json").read_text())["clone"]
    assert list(told["teachers"]) == ["expert:deals=4"]
    assert told["positions"] > 0


def test_the_teacher_plays_by_the_utility_that_it_was_trained_for(tmp_path):
    arrays, metadata = load_weights(SHIPPED / "afterstate_5p", "afterstate", VALUE_VERSION)
    save_weights(tmp_path / "winner", arrays, {**metadata, "config": {"utility": "win"}})
    table = Table(players=5)
    assert Teacher(table, "afterstate", 9)._value.utility[1] > 0
    teacher = Teacher(table, str(tmp_path / "winner"), 9)
    assert teacher._value.utility.tolist() == utility_of("win").tolist()


def test_imitation_learns_and_the_critic_with_it():
    clone = clone_of(config(clone={"minutes": 5, "batch_size": 256, "segment": 8}, games=64))
    logs = [clone.round(lambda: True) for _ in range(25)]
    assert logs[-1]["clone/loss"] < 0.8 * logs[0]["clone/loss"]
    assert logs[-1]["clone/value_loss"] < 0.8 * logs[0]["clone/value_loss"]
    assert logs[-1]["clone/agreement"] > logs[0]["clone/agreement"] + 0.1
    assert clone.positions == 25 * 8 * 64


def test_returns_are_discounted_sums_and_end_with_the_game():
    clone = clone_of(config())
    for parameter in clone.policy.critic.parameters():
        torch.nn.init.zeros_(parameter)
    torch.nn.init.constant_(clone.policy.critic.out.bias, 8.0)
    clone.gamma = 0.5
    rewards = np.array([[1.0, 1.0], [2.0, 2.0]], np.float32).repeat(8, axis=1)
    ended = np.array([[False, False], [False, True]]).repeat(8, axis=1)
    returns = clone._returns(rewards, ended)
    assert returns[:, 0].tolist() == [1 + 0.5 * (2 + 0.5 * 8), 2 + 0.5 * 8]
    assert returns[:, 15].tolist() == [1 + 0.5 * 2, 2]


def test_the_student_plays_in_more_and_more_games():
    clone = clone_of(config(clone={"minutes": 10, "student_share": 0.6}))
    clone._before = 0.0
    assert clone.student_share == pytest.approx(0.0, abs=0.05)
    clone._before = 150.0
    assert clone.student_share == pytest.approx(0.3, abs=0.05)
    clone._before = 400.0
    assert clone.student_share == 0.6


def test_a_run_clones_then_learns_and_tells_so(tmp_path):
    lines = []
    weights = train(config(critic_first=1), tmp_path, report=lines.append)
    told = json.loads(weights.with_suffix(".json").read_text())["clone"]
    assert told["teachers"]["afterstate_5p"]
    assert told["positions"] > 0
    assert lines[0].startswith("clone, 0.0 min, ")
    assert "256 steps" in lines[-1]
    _, facts = read_checkpoint(tmp_path / CHECKPOINT)
    assert facts["clone"]["over"]
    assert facts["clone"]["development"]["games"] == 10


def test_a_policy_of_the_imitation_tells_no_minutes_of_ppo(tmp_path, monkeypatch):
    monkeypatch.setattr(Budget, "seconds", property(lambda _: 500.0))
    monkeypatch.setattr(Score, "better_than", lambda _, other: other is None)
    told = read_metadata(train(config(), tmp_path, report=quiet))
    assert (told["steps"], told["seconds"]) == (0, 0)


def test_what_the_head_does_not_see_counts_no_more_after_ppo_or_a_start(tmp_path):
    small = {"pile": 8, "context": 16, "deep": 16, "head": 16, "value": 8}
    first = train(config(steps=128, clone=None), tmp_path / "first", report=quiet)
    blind = config(clone=None, network={**small, "sees": ["facts"]}, start=str(first))
    last = train(blind, tmp_path / "second", report=quiet)
    arrays = load_weights(last, "ppo", VERSION)[0]
    assert {name for name, array in arrays.items() if not array.any()} == {
        "around.weight",
        "others.weight",
    }


def test_only_the_critic_learns_at_first():
    model = make_model(config(critic_first=1, clone=None), Budget(None, 512))
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    model.learn(128)
    after = model.policy.state_dict()
    for name, value in before.items():
        same = torch.equal(value, after[name])
        assert same == (not name.startswith("critic.")), name
    model.learn(128, reset_num_timesteps=False)
    assert not torch.equal(before["actor.play.weight"], model.policy.actor.play.weight)


def test_an_interrupted_imitation_goes_on_where_it_was(tmp_path, monkeypatch):
    run = config(clone={"minutes": 0.05, "batch_size": 64, "segment": 4, "buffer": 1000})
    round_ = Clone.round
    calls = []

    def stopping_round(clone, keep_on):
        calls.append(None)
        if len(calls) == 3:
            signal_stop()
        return round_(clone, keep_on)

    def signal_stop():
        import signal

        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Clone, "round", stopping_round)
    with pytest.raises(KeyboardInterrupt):
        train(run, tmp_path, report=quiet)
    monkeypatch.undo()
    arrays, facts = read_checkpoint(tmp_path / CHECKPOINT)
    assert not facts["clone"]["over"]
    assert facts["clone"]["positions"] == 2 * 4 * 16
    assert any(name.startswith("optimizer.") for name in arrays)
    assert not (tmp_path / POLICY).exists()
    train(run, tmp_path, resume=True, report=quiet)
    _, after = read_checkpoint(tmp_path / CHECKPOINT)
    assert after["clone"]["over"]
    assert after["clone"]["positions"] > 2 * 4 * 16
    assert after["clone"]["seconds"] >= facts["clone"]["seconds"]


def test_a_run_resumed_in_ppo_does_not_clone_again(tmp_path, monkeypatch):
    train(config(), tmp_path, report=quiet)
    monkeypatch.setattr(Clone, "round", None)
    train(config(steps=512), tmp_path, resume=True, report=quiet)
    arrays, _ = read_checkpoint(tmp_path / CHECKPOINT)
    assert arrays["steps"][0] == 512


def test_several_tables_are_cloned_side_by_side(tmp_path):
    weights = train(config(tables=[{"players": 5}, {"players": 3}]), tmp_path, report=quiet)
    metadata = read_metadata(weights)
    assert set(metadata["clone"]["teachers"]) == {"afterstate_5p", "afterstate_3p"}
    assert [table["players"] for table in metadata["tables"]] == [5, 3]
    assert metadata["development"]["games"] == 10


@pytest.mark.parametrize(
    ("table", "teacher", "sentence"),
    [
        (
            {"players": 5, "rules": "custom/cards:60"},
            "afterstate",
            "clone.teacher: no afterstate weights .* trains some; name those by clone.teacher=PATH",
        ),
        ({"players": 4}, "afterstate_5p", "clone.teacher: .*; afterstate_4p would serve"),
        ({"players": 4}, "nowhere", 'clone.teacher: unknown afterstate weights "nowhere"'),
        ({"players": 4}, str(SHIPPED / "sequence"), "clone.teacher: .*not 'afterstate' ones"),
        ({"players": 4}, "expert:100ms", 'clone.teacher: "expert:100ms" has no number of dealings'),
        ({"players": 4}, "expert:deals=1", "clone.teacher: .*deals"),
    ],
)
def test_a_bad_teacher_is_refused_before_anything_is_written(tmp_path, table, teacher, sentence):
    with pytest.raises(ValueError, match=sentence):
        train(config(table=table, clone={"teacher": teacher}), tmp_path / "run", report=quiet)
    assert not (tmp_path / "run").exists()


def test_a_run_begins_with_the_weights_of_another(tmp_path):
    first = train(config(steps=128, clone=None), tmp_path / "first", report=quiet)
    run = config(steps=128, clone=None, start=str(first.with_suffix("")))
    model = make_model(run, Budget(None, 1))
    before = begin_with(model.policy.actor, run.start, run.table.table)
    arrays = load_weights(first, "ppo", VERSION)[0]
    for name, value in model.policy.actor.weights().items():
        assert np.array_equal(value.numpy(), arrays[name]), name
    assert before[0]["steps"] == 128
    second = train(run, tmp_path / "second", report=quiet)
    assert [stage["steps"] for stage in read_metadata(second)["lineage"]] == [128]
    third = config(steps=128, clone=None, start=str(second))
    lineage = read_metadata(train(third, tmp_path / "third", report=quiet))["lineage"]
    assert len(lineage) == 2
    resumed = train(third.model_copy(update={"steps": 256}), tmp_path / "third", True, quiet)
    assert read_metadata(resumed)["lineage"] == lineage


def test_weights_of_another_network_do_not_begin_a_run(tmp_path):
    first = train(config(steps=128, clone=None), tmp_path / "first", report=quiet)
    wider = config(clone=None, network={"pile": 9}, start=str(first))
    with pytest.raises(ValueError, match=r"start: .* is of another network than this run's"):
        train(wider, tmp_path / "second", report=quiet)
    with pytest.raises(ValueError, match='start: unknown ppo weights "nowhere"; known'):
        train(config(clone=None, start="nowhere"), tmp_path / "third", report=quiet)
    assert not (tmp_path / "third").exists()
    with pytest.raises(ValueError, match=r"start: afterstate_5p.* holds 'afterstate' weights"):
        check_sources(config(clone=None, start=str(SHIPPED / "afterstate_5p")))
    with pytest.raises(ValueError, match=r'clone\.teacher: unknown afterstate weights "nowhere"'):
        check_sources(config(clone={"teacher": "nowhere"}))
