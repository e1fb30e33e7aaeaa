"""The PettingZoo environment."""

import copy
import pickle
import random
import warnings

import numpy as np
import pettingzoo
import pytest
from gymnasium.error import ResetNeeded
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from strategies import PLAYED, choose

import thegame_env
from thegame_env import aec_env
from thegame_env.gym_env import TheGameEnv
from thegame_env.rules import IllegalAction

DICT_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
)
"""PettingZoo spares these, by name, only to those of its own games that observe dicts."""


@pytest.fixture
def spared():
    with warnings.catch_warnings():
        for message in DICT_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        yield


def choose_here(rng, env, skill=0.8):
    """An action of the selected seat; None where its game is over."""
    if env.terminations[env.agent_selection]:
        return None
    game = env.unwrapped.game
    return choose(rng, game, game.legal_actions(), skill)


@pytest.mark.usefixtures("spared")
@pytest.mark.parametrize(("rules", "players"), PLAYED)
def test_api_and_seed_tests_find_nothing(rules, players, capsys):
    kwargs = {"players": players, "rules": rules}
    api_test(aec_env.env(**kwargs), num_cycles=60)
    api_test(aec_env.raw_env(**kwargs), num_cycles=60)
    seed_test(lambda: aec_env.env(**kwargs), num_cycles=60)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.usefixtures("spared")
@pytest.mark.parametrize("observation", ["table", "relative"])
@pytest.mark.parametrize("reward", ["score", "win", "shaped"])
def test_api_test_finds_nothing_with_other_settings(observation, reward):
    settings = {"talk": "open", "memory": False, "starter": "agreed"}
    env = aec_env.env(players=4, observation=observation, reward=reward, **settings)
    api_test(env, num_cycles=60)
    seed_test(lambda: aec_env.env(players=4, observation=observation, **settings), num_cycles=60)


def test_names():
    env = aec_env.env(players=3)
    assert isinstance(env, OrderEnforcingWrapper)
    assert isinstance(env.unwrapped, thegame_env.TheGameAEC)
    assert str(env) == "thegame_v0"
    assert env.possible_agents == ["seat_0", "seat_1", "seat_2"]
    assert env.metadata["is_parallelizable"] is False


def test_plays_the_games_of_the_gymnasium_environment():
    kwargs = {"players": 3, "rules": "profi", "talk": "open", "observation": "relative"}
    kwargs["reward"] = "shaped"
    aec, single = aec_env.env(**kwargs), TheGameEnv(**kwargs)
    rng = random.Random(0)
    for seed in (5, None, None):
        aec.reset(seed=seed)
        obs, info = single.reset(seed=seed)
        done = False
        while not done:
            seen, _, over, _, _ = aec.last()
            assert not over
            assert aec.agent_selection == f"seat_{info['seat']}"
            assert np.array_equal(seen["observation"], obs)
            assert np.array_equal(seen["action_mask"], info["action_mask"])
            action = choose_here(rng, aec)
            aec.step(action)
            obs, reward, done, _, info = single.step(action)
            assert set(aec.rewards.values()) == {reward}
        assert aec.unwrapped.record == single.record


def test_every_seat_gets_the_whole_reward():
    env, rng = aec_env.env(players=4), random.Random(3)
    env.reset(seed=8)
    returns = dict.fromkeys(env.possible_agents, 0.0)
    finals = {}
    for agent in env.agent_iter():
        observation, reward, over, truncated, info = env.last()
        assert not truncated
        returns[agent] += reward
        if over:
            finals[agent] = info
            assert observation["action_mask"].all()
        env.step(choose_here(rng, env))
    left = env.unwrapped.game.cards_left
    assert list(finals) == list(returns) or set(finals) == set(returns)
    for agent, total in returns.items():
        assert total == pytest.approx((98 - left) / 98)
        assert finals[agent] == {
            "cards_left": left,
            "is_success": left == 0,
            "termination": "won" if left == 0 else "stuck",
        }
    assert env.agents == []


def test_only_the_acting_seat_has_legal_actions():
    env, rng = aec_env.env(players=3, talk="avoid"), random.Random(1)
    env.reset(seed=2)
    for _ in range(15):
        for agent in env.agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            assert seen["action_mask"].any() == (agent == env.agent_selection)
            hand = env.unwrapped.observation_spec["hand"]
            cards = {int(i) + 2 for i in np.flatnonzero(seen["observation"][hand])}
            assert cards == env.unwrapped.game.hands[int(agent[-1])]
        env.step(choose_here(rng, env))


@pytest.mark.parametrize("action", [392, -1, 400, 10**30])
def test_an_illegal_action_may_lose_the_game_for_all(action):
    env = aec_env.env(players=2, illegal="lose")
    env.reset(seed=1)
    first = int(np.flatnonzero(env.last()[0]["action_mask"])[0])
    env.step(first)
    env.step(action)
    assert env.terminations == {"seat_0": True, "seat_1": True}
    assert env.infos["seat_1"]["termination"] == "illegal"
    returns = {}
    for agent in env.agent_iter():
        returns[agent] = env.last()[1]
        env.step(None)
    assert returns == {"seat_0": 0.0, "seat_1": 1 / 98}  # seat_0 has seen its 1/98 before


def test_an_illegal_action_is_refused_by_default():
    env = aec_env.env(players=2)
    env.reset(seed=1)
    before = env.unwrapped.game, dict(env.rewards), env.agent_selection
    with pytest.raises(IllegalAction, match="0 of 2 owed cards"):
        env.step(392)
    with pytest.raises(IllegalAction, match="action 400 does not exist"):
        env.step(400)
    with pytest.raises(IllegalAction, match="whole number"):
        env.step(None)
    assert (env.unwrapped.game, dict(env.rewards), env.agent_selection) == before


def test_dead_seats_take_none_and_then_nothing():
    env = aec_env.raw_env(players=2, illegal="lose")
    env.reset(seed=1)
    env.step(-1)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    env.step(None)
    env.step(None)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(None)
    env.reset()
    assert env.agents == ["seat_0", "seat_1"]


def test_options():
    env = aec_env.env(players=2)
    env.reset(seed=1, options={"deck": list(range(2, 100))})
    assert env.unwrapped.game.hands[1] == frozenset(range(9, 16))
    assert env.unwrapped.record.deck == tuple(range(2, 100))
    env.reset(options={"position": "up=9,1 hand=10,11 others=1 deck=0 seen=" + seen_but(10, 11)})
    assert env.unwrapped.game.tops == (9, 1, 100, 100)


def seen_but(*held):
    """All cards but three, one of them hidden."""
    return ",".join(str(card) for card in range(2, 100) if card not in (*held, 50))


def test_unseeded_games_differ():
    records = set()
    for _ in range(3):
        env = aec_env.raw_env()
        env.reset()
        records.add(env.record.deck)
        env.reset()
        records.add(env.record.deck)
    assert len(records) == 6


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike(copied):
    env, rng = aec_env.raw_env(players=3), random.Random(0)
    env.reset(seed=4)
    for _ in range(9):
        env.step(choose_here(rng, env))
    twin = copied(env)
    for one in (env, twin):
        rng = random.Random(1)
        while one.agents:
            one.step(choose_here(rng, one))
    assert env.record == twin.record


def test_render():
    env = aec_env.env(players=2, render_mode="ansi")
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert "on up1" in env.render()
    raw = aec_env.raw_env(render_mode="ansi")
    with pytest.raises(ResetNeeded):
        raw.render()
    with pytest.raises(ResetNeeded):
        raw.observe("seat_0")
    raw.close()


def test_pettingzoo_makes_it_by_name():
    made = pettingzoo.make("aec", "TheGame-v0", players=3, rules="profi")
    made.reset(seed=1)
    assert made.possible_agents == ["seat_0", "seat_1", "seat_2"]
    assert made.unwrapped.table.rules.name == "profi"
