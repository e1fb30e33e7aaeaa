"""A critic that remembers makes the targets of a value that does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from agents.afterstate_features import N_PILES, PILE, SIZE, VERSION
from agents.value_bins import BIN_OF, utility_of
from agents.value_model import ValueModel
from agents.weight_files import SHIPPED, load_weights, read_metadata
from thegame_env.layout import LEFT
from thegame_env.rules import Table
from train.afterstate import AfterstateConfig, Learner, check_sources, train
from train.self_play import SelfPlay
from train.snapshot import read_checkpoint

RUN = {
    "players": 2, "memory": False, "critic": "afterstate_2p", "start": "afterstate_2p_memory_off",
    "minutes": 0.004, "games": 4, "most": 4, "buffer": 9000, "evaluation_games": 2,
}  # fmt: skip


def model_of(name: str) -> ValueModel:
    return ValueModel(load_weights(SHIPPED / name, "afterstate", VERSION)[0])


def config(**changes: object) -> AfterstateConfig:
    return AfterstateConfig.model_validate({**RUN, **changes})


def test_samples_hold_both_and_the_critic_predicts() -> None:
    table, critic = Table(players=2, memory=False), model_of("afterstate_2p")
    value, worth = model_of("afterstate_2p_memory_off"), utility_of("blend")
    play = SelfPlay(table, value, worth, 3, 7, most=8, decay=0.0, critic=critic)
    lefts, samples = [], []
    while len(samples) < 3:
        samples += play.step(0.0)
    lefts = play.finished
    cards = slice(N_PILES * PILE, N_PILES * PILE + 98)
    for left, (features, targets) in zip(lefts, samples, strict=True):
        assert features.shape == (len(targets), 2 * SIZE)
        own, known = features[:, :SIZE], features[:, SIZE:]
        assert np.array_equal(own[:, cards], known[:, cards])  # the hand is the same
        assert (own != known).any(axis=1).all()  # what is unseen, and that it is remembered, is not
        predicted = critic.predict(np.ascontiguousarray(known))
        np.testing.assert_allclose(targets[:-1], predicted[1:], atol=1e-6)
        assert targets[-1].argmax() == BIN_OF[left]
    assert (play.engine.games[:, LEFT] > 0).any()


def test_both_learn_and_only_the_value_is_exported(tmp_path: Path) -> None:
    learner = Learner(config())
    assert learner.critic is not None
    before = {name: value.clone() for name, value in learner.critic.state_dict().items()}
    while not learner.ready():
        learner.collect()
    learner.learn()
    after = learner.critic.state_dict()
    assert any(not before[name].equal(after[name]) for name in before)
    assert learner.plays[0].critic is not None
    layer = learner.critic.state_dict()["head.bias"].numpy()
    assert np.array_equal(learner.plays[0].critic._layers["head"][1], layer)
    weights = train(config(), tmp_path, report=lambda _: None)
    assert read_metadata(weights)["config"]["critic"] == "afterstate_2p"
    assert "critic.head.bias" not in load_weights(weights, "afterstate", VERSION)[0]


def test_a_run_goes_on_with_its_critic(tmp_path: Path) -> None:
    train(config(), tmp_path, report=lambda _: None)
    arrays, facts = read_checkpoint(tmp_path / "checkpoint.safetensors", "afterstate")
    resumed = Learner(config(minutes=1), (arrays, facts))
    assert resumed.critic is not None
    for name, value in resumed.critic.state_dict().items():
        assert np.array_equal(value.numpy(), arrays[f"critic.{name}"]), name


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"memory": True}, "critic is for seats without memory"),
        ({"search_deals": 4}, "critic is for seats without memory"),
    ],
)
def test_a_critic_where_it_does_not_belong_is_refused(
    changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        config(**changes)


def test_an_unknown_critic_is_refused_before_anything_is_written() -> None:
    with pytest.raises(ValueError, match='critic: unknown afterstate weights "nowhere"'):
        check_sources(config(critic="nowhere"))
