"""A critic that remembers teaches a value that does not; running means of weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from agents.afterstate_features import MOVED, N_PILES, PILE, SIZE, VERSION, features_of
from agents.value_bins import BIN_OF, BINS, utility_of
from agents.value_model import ValueModel
from agents.weight_files import SHIPPED, hash_of, load_weights, read_metadata
from thegame_env.engine import Engine
from thegame_env.layout import LEFT, TOPS, TURNS
from thegame_env.rules import Table
from train.actor_critic import ComparedBuffer, actor_losses
from train.actor_play import ActorPlay, Compared
from train.afterstate import AfterstateConfig, Learner, check_sources, train
from train.averaged import Averaged
from train.snapshot import read_checkpoint
from train.value_net import ValueNet

RUN = {
    "players": 2, "memory": False, "critic": "afterstate_2p", "start": "afterstate_2p_memory_off",
    "minutes": 0.004, "games": 4, "most": 4, "buffer": 9000, "evaluation_games": 2,
}  # fmt: skip
CARDS = slice(N_PILES * PILE, N_PILES * PILE + 98)
"""Where the hand stands among the features."""


def model_of(name: str) -> ValueModel:
    return ValueModel(load_weights(SHIPPED / name, "afterstate", VERSION)[0])


def config(**changes: object) -> AfterstateConfig:
    return AfterstateConfig.model_validate({**RUN, **changes})


def play_of(temperature: float, plans: int = 3) -> ActorPlay:
    value, critic = model_of("afterstate_2p_memory_off"), model_of("afterstate_2p")
    table, worth = Table(players=2, memory=False), utility_of("blend")
    return ActorPlay(table, value, worth, 3, 7, 8, 0.0, critic, temperature, plans)


def changed_by_learning(learner: Learner) -> list[bool]:
    """Whether the value and the critic are others after they have learnt once."""
    assert learner.critic is not None
    nets = (learner.value, learner.critic)
    before = [{name: value.copy() for name, value in net.weights().items()} for net in nets]
    while not learner.ready():
        learner.collect()
    learner.learn()
    return [
        any(not np.array_equal(old[name], value) for name, value in net.weights().items())
        for old, net in zip(before, nets, strict=True)
    ]


def test_the_critic_learns_from_what_it_would_remember() -> None:
    play, samples = play_of(0.001), []
    while len(samples) < 3:
        samples += play.step(0.0)
    for left, (features, targets) in zip(play.finished, samples, strict=True):
        assert features.shape == (len(targets), SIZE)
        predicted = play.critic.predict(features)
        np.testing.assert_allclose(targets[:-1], predicted[1:], atol=1e-6)
        assert targets[-1].argmax() == BIN_OF[left]
    assert (play.engine.games[:, LEFT] > 0).any()


def test_compared_are_plans_of_one_decision_and_the_first_was_played() -> None:
    play = play_of(0.001)
    for _ in range(4):
        play.step(0.0)
    for groups in play.taken():
        assert (groups.mask.sum(axis=1) > 1).all()
        own, known, mask = groups.own, groups.known, groups.mask
        assert np.array_equal(own[..., CARDS], known[..., CARDS])  # the hand is the same
        assert not own[~mask].any()
        assert not known[~mask].any()
    assert play.taken() == []


def test_the_critic_sees_what_a_seat_sees_that_remembers() -> None:
    play = play_of(0.001)
    for _ in range(6):
        play.step(0.0)
    play.taken()
    game = play.engine.games.copy()
    engine = Engine(Table(players=2), 3)
    engine.games[:], engine.decks[:] = game, play.engine.decks
    views = engine.views()
    play.step(0.0)
    (groups,) = play.taken()
    lost = np.flatnonzero(play.engine.games[:, TURNS] < game[:, TURNS])
    assert not len(lost), "no game may end here: its view is gone"
    after = play.engine.games
    for b, (known, mask) in enumerate(zip(groups.known, groups.mask, strict=True)):
        plans = play.value.planner.candidates(views[b : b + 1])
        vectors = np.empty((len(plans.states), SIZE), np.float32)
        turns = np.zeros(len(vectors), np.int64)
        features_of(views[b : b + 1], turns, plans.states, engine.p, vectors)
        for row in known[mask]:
            assert (vectors == row).all(axis=1).any()
        same = (vectors == known[0]).all(axis=1)  # and the first of them was played
        assert (plans.states[same, :N_PILES] == after[b, TOPS : TOPS + N_PILES]).all(axis=1).any()


@pytest.mark.parametrize("seed", range(6))
def test_a_single_game_goes_on_where_the_drawn_plan_ends_it(seed: int) -> None:
    value, critic = model_of("afterstate_2p_memory_off"), model_of("afterstate_2p")
    table, worth = Table(players=2, memory=False), utility_of("blend")
    play = ActorPlay(table, value, worth, 1, seed, 8, 0.0, critic, 0.003, 3)
    while len(play.finished) < 4:
        play.step(0.0)


def test_a_small_temperature_plays_the_best_and_a_large_one_anything() -> None:
    play = play_of(1e-6)
    choice = play.value.choose(play.engine.views())
    starts = choice.plans.starts
    assert np.array_equal(play._drawn(choice)[starts[:-1]], choice.best)
    play = play_of(1.0)
    choice = play.value.choose(play.engine.views())
    firsts = np.array([play._drawn(choice)[starts[:-1]] for _ in range(400)])
    drawn = [len(np.unique(column)) for column in firsts.T]
    assert drawn == list(np.diff(starts))  # all plans are nearly as likely


def test_the_actor_comes_to_prefer_what_is_best_on_average_over_what_it_cannot_see() -> None:
    """Two plans; by a hidden bit the first is worth 0.9 or 0, the second 0.4: 0.6 x 0.9 > 0.4."""
    rng = np.random.default_rng(0)
    buffer = ComparedBuffer(1000, 3)
    groups = Compared.empty(1000, 3)
    hidden = rng.random(1000) < 0.6
    groups.own[:, 0, 0] = groups.own[:, 1, 1] = 1.0
    groups.known[:, :, :2] = groups.own[:, :, :2]
    groups.known[:, :, 2] = hidden[:, None]
    groups.mask[:, :2] = True
    buffer.add(groups)
    assert len(buffer) == 1000
    worth = torch.zeros(BINS)
    worth[0] = 1.0

    def critic(features: torch.Tensor) -> torch.Tensor:
        wins = torch.where(features[:, 0] == 1.0, 0.9 * features[:, 2], 0.4).clamp(1e-6, 1 - 1e-6)
        logits = torch.full((len(features), BINS), -30.0)
        logits[:, 0], logits[:, 5] = wins.log(), (1 - wins).log()
        return logits

    torch.manual_seed(0)
    net = torch.nn.Linear(SIZE, BINS)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.03)
    for _ in range(400):
        choice, _ = actor_losses(net, critic, buffer.draw(256, rng), worth, 0.1)
        optimizer.zero_grad()
        choice.backward()
        optimizer.step()
    first, second = torch.softmax(net(torch.from_numpy(groups.own[0, :2])), 1)[:, 0].tolist()
    assert first - second == pytest.approx(0.9 * hidden.mean() - 0.4, abs=0.02)


def test_without_a_choice_or_a_difference_nothing_is_lost() -> None:
    groups = Compared.empty(4, 3)
    groups.mask[:, 0] = True
    groups.mask[:2, 1] = True
    groups.own[:] = groups.known[:] = 0.5
    net = torch.nn.Linear(SIZE, BINS)
    choice, forecast = actor_losses(net, net, groups, torch.rand(BINS), 0.01)
    assert choice.item() == pytest.approx(0.0, abs=1e-6)
    assert forecast.item() == pytest.approx(0.0, abs=1e-6)


def test_a_buffer_keeps_the_newest() -> None:
    buffer = ComparedBuffer(5, 2)
    for number in range(1, 9):
        groups = Compared.empty(1, 2)
        groups.own[:] = number
        buffer.add(groups)
    drawn = buffer.draw(200, np.random.default_rng(0)).own[:, 0, 0]
    assert sorted(np.unique(drawn)) == [4, 5, 6, 7, 8]


def test_the_mean_follows_the_network() -> None:
    averaged = Averaged(ValueNet(4, 4, 4, 4), 0.75)
    start = {name: value.copy() for name, value in averaged.weights().items()}
    averaged.follow()  # the first time it is the network itself
    with torch.no_grad():
        for parameter in averaged.net.parameters():
            parameter += 1.0
    averaged.follow()
    for name, value in averaged.weights().items():  # in the beginning faster than by its decay
        np.testing.assert_allclose(value, start[name] + 1.0 - 2.0 / 11.0, atol=1e-6)
    for _ in range(60):
        averaged.follow()
    with torch.no_grad():
        averaged.net.head.bias += 1.0
    averaged.follow()
    for name, value in averaged.weights().items():
        np.testing.assert_allclose(
            value, start[name] + 1.0 + 0.25 * (name == "head.bias"), atol=1e-5
        )
    other = Averaged(ValueNet(4, 4, 4, 4), 0.75)
    other.put(averaged.take("value"), "value")
    for name, value in averaged.take("value").items():
        assert np.array_equal(other.take("value")[name], value)
    with pytest.raises(ValueError, match="another network"):
        other.put(averaged.take("critic"), "value")


def test_both_learn_and_only_the_value_is_exported(tmp_path: Path) -> None:
    learner = Learner(config(critic_first=0.0))
    assert learner.critic is not None
    assert changed_by_learning(learner) == [True, True]
    (play,) = learner.plays
    assert isinstance(play, ActorPlay)
    for model, net in ((play.critic, learner.critic), (play.value.model, learner.value)):
        assert np.array_equal(model._layers["head"][0], net.weights()["head.weight"].T)
    weights = train(config(), tmp_path, report=lambda _: None)
    assert read_metadata(weights)["config"]["critic"] == "afterstate_2p"
    assert read_metadata(weights)["critic_weights"] == hash_of(
        SHIPPED / "afterstate_2p.safetensors"
    )
    layers = load_weights(weights, "afterstate", VERSION)[0]
    kept = read_checkpoint(tmp_path / "checkpoint.safetensors", "afterstate")[0]
    assert set(layers) == set(ValueNet().state_dict())
    assert all(np.array_equal(kept[f"value.mean.{name}"], value) for name, value in layers.items())


def test_a_gradient_step_is_taught_as_many_decisions_as_the_configuration_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[int] = []
    draw = ComparedBuffer.draw

    def counted(buffer: ComparedBuffer, n: int, rng: np.random.Generator) -> Compared:
        drawn.append(n)
        return draw(buffer, n, rng)

    monkeypatch.setattr(ComparedBuffer, "draw", counted)
    changed_by_learning(Learner(config(critic_first=0.0, taught=7)))
    assert set(drawn) == {7}


def test_at_first_the_critic_learns_alone() -> None:
    learner = Learner(config(critic_first=0.99, minutes=10))
    assert changed_by_learning(learner) == [False, True]
    assert set(learner.losses) == {"cross_entropy"}
    Learner(config(minutes=10), learner.take())  # a checkpoint from then is gone on with


def test_what_silent_tables_with_memory_never_taught_is_taken_as_nothing() -> None:
    columns = slice(MOVED, MOVED + 2)
    learner = Learner(config(start="afterstate_2p"))
    assert not learner.value.weights()["pile.weight"][:, columns].any()
    assert learner.value.weights()["pile.weight"][:, :MOVED].any()
    learner = Learner(config(start="afterstate_2p_memory_off"))
    assert learner.value.weights()["pile.weight"][:, columns].all()


def test_a_run_goes_on_with_its_critic(tmp_path: Path) -> None:
    train(config(), tmp_path, report=lambda _: None)
    arrays, facts = read_checkpoint(tmp_path / "checkpoint.safetensors", "afterstate")
    resumed = Learner(config(minutes=1), (arrays, facts))
    assert resumed.critic is not None
    for name, net in (("value", resumed.value), ("critic", resumed.critic)):
        for key, value in net.take(name).items():
            assert np.array_equal(value, arrays[key]), key


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"memory": True}, "without memory .memory: false., not for official-2p"),
        ({"search_deals": 4}, "critic is for play without a search"),
        ({"explore": 0.1}, "explore is of no use with a critic"),
        ({"critic": None, "temperature": 0.1}, "temperature is of no use without a critic"),
        ({"critic": None, "taught": 1024}, "taught is of no use without a critic"),
        ({"taught": 0}, "taught"),
        ({"average": 1.0}, "average"),
        ({"temperature": 0}, "temperature"),
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
