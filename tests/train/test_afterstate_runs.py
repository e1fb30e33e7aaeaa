"""Runs of afterstate self-play: configurations, checkpoints, resuming, logs, what is exported."""

from __future__ import annotations

import json
import re
import signal
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from agents.play_out import play_games
from agents.registry import make_agent
from agents.weight_files import load_weights, read_metadata, table_metadata
from train.afterstate import Learner, train
from train.afterstate_config import FIXED, AfterstateConfig
from train.afterstate_watch import CHECKPOINT, WEIGHTS, Watch
from train.config import load_config, parse_config
from train.curves import Curves
from train.development import Score
from train.display import Display
from train.snapshot import read_checkpoint, write_checkpoint

CONFIGS = Path(__file__).parents[2] / "configs"
TINY = {"minutes": 0.004, "games": 4, "most": 4, "buffer": 9000, "evaluation_games": 2}
"""A quarter of a second of self-play."""


def tiny(**changes: object) -> AfterstateConfig:
    return AfterstateConfig.model_validate({**TINY, **changes})


def quiet(_: str) -> None:
    pass


def rewrite(folder: Path, **changes: object) -> None:
    """Change facts of the checkpoint in a folder."""
    arrays, facts = read_checkpoint(folder / CHECKPOINT, "afterstate")
    write_checkpoint(folder / CHECKPOINT, arrays, {**facts, **changes}, "afterstate")


def test_a_run_exports_an_agent_and_is_prolonged(tmp_path: Path) -> None:
    config = AfterstateConfig(players=2, minutes=0.02, games=16, most=6, evaluation_games=8)
    weights = train(config, tmp_path, report=quiet)
    agent = make_agent(f"afterstate:{weights}", config.table)
    assert play_games(agent, config.table, 1, np.arange(4)).min() >= 0
    facts = read_checkpoint(tmp_path / CHECKPOINT, "afterstate")[1]
    assert facts["best"]["games"] == 8
    longer = config.model_copy(update={"minutes": 0.03, "threads": 2, "evaluation_games": 6})
    assert train(longer, tmp_path, resume=True, report=quiet) == weights
    later = read_checkpoint(tmp_path / CHECKPOINT, "afterstate")[1]
    assert later["seconds"] >= 1.8 > facts["seconds"] >= 1.2
    assert later["games"] > facts["games"]
    assert read_metadata(weights)["development"]["games"] == 6


def test_a_learner_is_what_its_checkpoint_says(tmp_path: Path) -> None:
    config = AfterstateConfig(games=32, most=4, batch_size=256, buffer=9000)
    learner = Learner(config)
    while learner.step() is None:
        pass
    write_checkpoint(tmp_path / CHECKPOINT, *learner.take(), "afterstate")
    other = Learner(config, read_checkpoint(tmp_path / CHECKPOINT, "afterstate"))
    (arrays, facts), (again, same) = learner.take(), other.take()
    assert facts == same
    assert set(arrays) == set(again)
    assert {name.split(".")[0] for name in arrays} == {"value", "optimizer"}
    for name, value in arrays.items():
        np.testing.assert_array_equal(value, again[name], err_msg=name)
    before = learner.plays[0].engine.games
    assert (before != other.plays[0].engine.games).any()
    while other.step() is None:
        pass


def test_one_value_learns_several_tables(tmp_path: Path) -> None:
    groups = [
        {"players": [1, 2], "memory": [True, False], "talk": ["none", "open"]},
        {"players": 3, "rules": "profi", "starter": "agreed"},
    ]
    config = tiny(tables=groups, minutes=0.02, most=6, evaluation_games=4)
    assert len(config.played) == 2 + 4 + 1
    weights = train(config, tmp_path, report=quiet)
    metadata = read_metadata(weights)
    assert metadata["tables"] == [table_metadata(table) for table in config.played]
    rows = metadata["development"]["tables"]
    assert [row["starter"] for row in rows] == ["seat0"] * 6 + ["agreed"]
    assert sum(row["games"] for row in rows) == metadata["development"]["games"] == 28
    assert train(config, tmp_path, resume=True, report=quiet) == weights
    assert "development/win_rate/profi-3p-agreed" in scalars(tmp_path)
    assert Learner(tiny(start=str(weights))).lineage[-1]["tables"] == metadata["tables"]


def scalars(folder: Path) -> dict[str, int]:
    """Name of a curve -> how many points it has."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return {name: len(events.Scalars(name)) for name in events.Tags()["scalars"]}


def test_logs_and_lines_tell_how_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("train.afterstate_watch.TOLD_SECONDS", 0.1)
    monkeypatch.setattr("train.afterstate_learner.FIRST_SAMPLES", 1)
    told: list[str] = []
    config = tiny(minutes=0.03, evaluation_minutes=0.01, batch_size=8, games=16)
    train(config, tmp_path, report=told.append)
    points = scalars(tmp_path)
    assert points["train/learning_rate"] == points["train/cross_entropy"] > 0
    judged = points["development/win_rate/official-1p"]
    assert judged == points["development/cards_left/official-1p"] >= 2
    assert points["self_play/games_per_s"] >= 1
    assert sum("development deals won" in line for line in told) == judged


def test_the_best_by_development_deals_is_exported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates = iter([0.1, 0.5, 0.3, 0.4, 0.6])
    monkeypatch.setattr("train.afterstate_watch.judge", lambda *_: [Score(2, next(rates), 1.0)])
    learner, exported = Learner(tiny()), []
    with closing(Curves(tmp_path / "tensorboard")) as log:
        watch = Watch(learner, tmp_path, log, Display(quiet, bar=False))
        for games in range(3):
            learner.games = games
            watch.evaluate()
            exported.append(read_metadata(tmp_path / WEIGHTS)["games"])
        watch.save()
    assert exported == [0, 1, 1]
    best = read_checkpoint(tmp_path / CHECKPOINT, "afterstate")[1]["best"]
    assert best == asdict(Score(2, 0.5, 1.0))
    for reached in (0.5, 0.6):
        train(tiny(minutes=1e-9), tmp_path, resume=True, report=quiet)
        assert read_metadata(tmp_path / WEIGHTS)["development"]["win_rate"] == reached


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
def test_weights_that_are_gone_are_written_again(tmp_path: Path, suffix: str) -> None:
    weights = train(tiny(), tmp_path, report=quiet)
    weights.with_suffix(suffix).unlink()
    train(tiny(), tmp_path, resume=True, report=quiet)
    assert load_weights(weights, "afterstate", read_metadata(weights)["version"])


@pytest.mark.parametrize("tables", [None, {"players": [1, 2]}])
def test_the_best_is_judged_anew_on_other_deals_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: object
) -> None:
    first = train(tiny(tables=tables), tmp_path, report=quiet)
    whole = first.read_bytes()
    scores = iter([0.5, 0.4, 0.6])

    def judge(config: AfterstateConfig, _: object) -> list[Score]:
        rate = next(scores)
        return [Score(config.evaluation_games, rate, 1.0) for _ in config.played]

    monkeypatch.setattr("train.afterstate_watch.judge", judge)
    other = tiny(tables=tables, evaluation_games=3, minutes=1e-9)
    train(other, tmp_path, resume=True, report=quiet)
    reached = read_metadata(first)["development"]
    assert (reached["games"], reached["win_rate"]) == (3 * len(other.played), 0.5)
    assert [row["win_rate"] for row in reached.get("tables", [])] == [0.5] * bool(tables) * 2
    assert first.read_bytes() == whole
    train(other, tmp_path, resume=True, report=quiet)
    assert read_metadata(first)["development"]["win_rate"] == 0.6


class Killed(BaseException):
    """Ends a run like kill -9: nothing is written after it."""


def test_a_run_killed_in_its_first_moments_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killing(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "step", killing)
        with pytest.raises(Killed):
            train(tiny(), tmp_path, report=quiet)
    assert read_checkpoint(tmp_path / CHECKPOINT, "afterstate")[1]["decisions"] == 0
    assert train(tiny(), tmp_path, resume=True, report=quiet).exists()


def test_a_kill_after_an_evaluation_does_not_lose_what_it_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second evaluation finds better weights; the run is killed before anything else."""
    rates = iter([0.1, 0.5, 0.3])
    monkeypatch.setattr("train.afterstate_watch.judge", lambda *_: [Score(2, next(rates), 1.0)])
    evaluate, left = Watch.evaluate, [2]

    def killing(watch: Watch) -> Score:
        score = evaluate(watch)
        left[0] -= 1
        if not left[0]:
            raise Killed
        return score

    monkeypatch.setattr(Watch, "evaluate", killing)
    with pytest.raises(Killed):
        train(tiny(minutes=1, evaluation_minutes=1e-9), tmp_path, report=quiet)
    train(tiny(), tmp_path, resume=True, report=quiet)
    assert read_metadata(tmp_path / WEIGHTS)["development"]["win_rate"] == 0.5


def test_the_lineage_stands_in_the_checkpoint(tmp_path: Path) -> None:
    first = train(tiny(seed=3), tmp_path / "first", report=quiet)
    second = tmp_path / "second"
    config = tiny(start=str(first))
    train(config, second, report=quiet)
    lineage = read_metadata(second / WEIGHTS)["lineage"]
    assert [stage["config"]["seed"] for stage in lineage] == [3]
    for file in (first, first.with_suffix(".json"), second / WEIGHTS):
        file.unlink()
    train(config, second, resume=True, report=quiet)
    assert read_metadata(second / WEIGHTS)["lineage"] == lineage


@pytest.mark.parametrize(
    ("changes", "key"),
    [({"players": 3}, "players"), ({"starter": "agreed"}, "starter"), ({"width": 8}, "width"),
     ({"seed": 1}, "seed"), ({"utility": "win"}, "utility"), ({"search_deals": 1}, "search_deals")],
)  # fmt: skip
def test_another_run_is_not_resumed(tmp_path: Path, changes: dict[str, object], key: str) -> None:
    learner = Learner(tiny(players=2))
    write_checkpoint(tmp_path / CHECKPOINT, *learner.take(), "afterstate")
    with pytest.raises(ValueError, match=f"belongs to a run with {key} .* resume that run, or"):
        train(tiny(**{"players": 2, **changes}), tmp_path, resume=True, report=quiet)


def test_the_fixed_keys_are_keys() -> None:
    assert set(FIXED) < set(AfterstateConfig.model_fields)
    assert not {"minutes", "threads", "checkpoint_minutes", "evaluation_games"} & set(FIXED)


def test_checkpoints_from_before_a_key_existed_go_on(tmp_path: Path) -> None:
    train(tiny(), tmp_path, report=quiet)
    written = read_checkpoint(tmp_path / CHECKPOINT, "afterstate")[1]["config"]
    del written["tables"], written["starter"]
    rewrite(tmp_path, config=written)
    train(tiny(), tmp_path, resume=True, report=quiet)
    rewrite(tmp_path, config=written)
    with pytest.raises(ValueError, match="a run with starter seat0, not agreed"):
        train(tiny(starter="agreed"), tmp_path, resume=True, report=quiet)


def test_bad_checkpoints_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / CHECKPOINT

    def refused(sentence: str) -> None:
        before = path.read_bytes() if path.exists() else b""
        with pytest.raises(ValueError, match=sentence):
            train(tiny(), tmp_path, resume=True, report=quiet)
        assert [file.name for file in tmp_path.iterdir()] == [CHECKPOINT] * path.exists()
        assert not before or path.read_bytes() == before

    refused("nothing to resume")
    arrays, facts = Learner(tiny()).take()
    write_checkpoint(path, arrays, facts, "afterstate")
    whole = path.read_bytes()
    for data in (b"", b"e" * 300, whole[:-3], whole[:40]):
        path.write_bytes(data)
        refused("is damaged: start the run anew")
    write_checkpoint(path, arrays, facts)
    refused("belongs to a run of ppo, not afterstate")
    write_checkpoint(path, {**arrays, "value.net.head.bias": np.zeros(2)}, facts, "afterstate")
    refused("the checkpoint is of another network")
    with monkeypatch.context() as patch:
        patch.setattr("train.snapshot.FEATURES_VERSION", 0)
        write_checkpoint(path, arrays, facts, "afterstate")
    refused("another version of this program")


def test_a_full_disk_is_one_sentence_and_leaves_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(tiny(), tmp_path, report=quiet)
    before = {file: file.read_bytes() for file in tmp_path.glob("*.*")}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agents.weight_files.os.replace", full)
    with pytest.raises(OSError, match=r"cannot write .*checkpoint.*No space left.*make room"):
        train(tiny(minutes=0.005), tmp_path, resume=True, report=quiet)
    monkeypatch.setattr(Watch, "save", lambda _: None)
    (tmp_path / WEIGHTS).rename(tmp_path / "kept")
    with pytest.raises(OSError, match=r"cannot write .*No space left.*make room"):
        train(tiny(minutes=0.005), tmp_path, resume=True, report=quiet)
    (tmp_path / "kept").rename(tmp_path / WEIGHTS)
    assert {file: file.read_bytes() for file in tmp_path.glob("*.*")} == before


def test_a_stopped_run_leaves_a_checkpoint_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, calls = Watch.look, []

    def stopping(watch: Watch, loss: float | None) -> None:
        look(watch, loss)
        calls.append(watch.learner.decisions)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGTERM)

    with monkeypatch.context() as patch:
        patch.setattr(Watch, "look", stopping)
        with pytest.raises(KeyboardInterrupt):
            train(tiny(minutes=1), tmp_path, report=quiet)
    assert calls == [1, 2, 3, 4, 5]
    assert read_checkpoint(tmp_path / CHECKPOINT, "afterstate")[1]["decisions"] == 5
    assert train(tiny(), tmp_path, resume=True, report=quiet).exists()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"tables": {"player": 1}}, 'tables.0: unknown key "player", did you mean "players"'),
        ({"tables": {"players": [1, 9]}}, 'tables.0: "official" is played by 1-5 players, not by'),
        ({"tables": {"players": 1, "memory": "yes"}}, "tables.0.memory: needs true or false, not"),
        ({"tables": [3]}, "tables.0: a group of tables holds keys such as players and rules"),
        ({"tables": {"players": 1}, "talk": "open"}, "give tables or talk, not both"),
        ({"rules": "offical"}, 'unknown rules "offical", did you mean "official"'),
        ({"minuts": 3}, 'unknown key "minuts", did you mean "minutes"'),
        ({"minutes": float("inf")}, "minutes: input should be a finite number, not inf"),
        ({"learning_rate": float("nan")}, "learning_rate: input should be greater than 0, not nan"),
        ({"learning_rate": float("inf")}, "learning_rate: input should be a finite number"),
        ({"players": True}, "players: needs a number, not true or false"),
        ({"players": 2.5}, "players: "),
        ({"players": "two"}, "players: "),
        ({"most": True}, "most: needs a number, not true or false"),
        ({"most": 100_000_000}, "most: input should be less than or equal to 10000"),
        ({"seed": 10**30}, "seed: input should be less than or equal to"),
        ({"memory": "yes"}, "memory: needs true or false, not 'yes'"),
        ({"memory": 1}, "memory: needs true or false, not 1"),
        ({"talk": True}, "talk: "),
        ({"start": ""}, "start: "),
        ({"evaluation_minutes": 0}, "evaluation_minutes: "),
    ],
)  # fmt: skip
def test_a_bad_configuration_is_one_sentence(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        parse_config({"kind": "afterstate", **values}, "run.yaml")
    assert "\n" not in str(caught.value)


def test_every_field_is_explained_and_survives_json() -> None:
    assert all(field.description for field in AfterstateConfig.model_fields.values())
    config = tiny(players=4, talk="open")
    assert parse_config(json.loads(json.dumps(config.model_dump(mode="json"))), "dump") == config


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("afterstate_*.yaml")), ids=lambda p: p.stem)
def test_the_shipped_configurations_are_valid(path: Path) -> None:
    config = load_config(path)
    assert isinstance(config, AfterstateConfig)
    if config.tables is None:
        said = [f"{config.players}p", *[config.rules] * (config.rules != "official")]
        said += ["memory_off"] * (not config.memory) + [config.talk] * (config.talk != "none")
        assert path.stem.startswith("_".join(["afterstate", *said]))
    assert (config.start is None) == path.stem.endswith("_scratch")
    assert config.start is None or (CONFIGS / f"{config.start}.yaml").exists()
