"""The vector environment of stable-baselines3."""

import copy
import importlib
import subprocess
import sys

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv, VecMonitor

from thegame_env.deal import deal
from thegame_env.reference import Game
from thegame_env.rules import IllegalAction
from thegame_env.sb3_env import TheGameVecEnv
from thegame_env.vector_env import TheGameVectorEnv


def random_actions(rng, env):
    keys = rng.random((env.num_envs, env.action_space.n)) * env.action_masks()
    keys[:, -1] *= 1e-9
    return keys.argmax(axis=1)


def test_follows_the_vector_environment():
    kwargs = {"players": 3, "talk": "avoid", "observation": "relative", "reward": "shaped"}
    ours = TheGameVecEnv(6, **kwargs)
    vector = TheGameVectorEnv(6, autoreset_mode="SameStep", **kwargs)
    ours.seed(7)
    obs = ours.reset()
    assert np.array_equal(obs, vector.reset(seed=7)[0])
    rng = np.random.default_rng(0)
    returns, lengths, ended = np.zeros(6), np.zeros(6, int), 0
    for _ in range(120):
        actions = random_actions(rng, ours)
        obs, rewards, dones, infos = ours.step(actions)
        wanted, exact, over, _, told = vector.step(actions)
        assert np.array_equal(obs, wanted)
        assert obs.dtype == rewards.dtype == np.float32
        assert np.allclose(rewards, exact)
        assert np.array_equal(dones, over)
        returns, lengths = returns + exact, lengths + 1
        for slot, info in enumerate(infos):
            assert info["TimeLimit.truncated"] is False
            if not dones[slot]:
                assert set(info) == {"cards_left", "TimeLimit.truncated"}
                assert info["cards_left"] == told["cards_left"][slot]
                continue
            ended += 1
            assert np.array_equal(info["terminal_observation"], told["final_obs"][slot])
            assert info["is_success"] is bool(told["final_info"]["is_success"][slot])
            assert info["cards_left"] == told["final_info"]["cards_left"][slot]
            assert info["episode"]["r"] == pytest.approx(returns[slot])
            assert info["episode"]["l"] == lengths[slot]
            assert info["episode"]["t"] >= 0.0
        returns[dones], lengths[dones] = 0.0, 0
        assert np.array_equal(ours.episode_starts, dones)
    assert ended >= 12


def test_observations_are_not_reused():
    env = TheGameVecEnv(3)
    first = env.reset()
    before = first.copy()
    env.step(random_actions(np.random.default_rng(0), env))
    assert np.array_equal(first, before)


def test_masks_come_as_one_array():
    env = TheGameVecEnv(4, players=2)
    env.reset()
    masks = env.env_method("action_masks")
    assert isinstance(masks, np.ndarray)
    assert (masks.shape, masks.dtype) == ((4, 393), bool)
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), masks)
    assert np.array_equal(env.env_method("action_masks", indices=[2, 0]), masks[[2, 0]])
    assert np.array_equal(env.env_method("action_masks", indices=1), masks[[1]])


def test_the_rest_of_the_interface():
    env = TheGameVecEnv(3, players=2, rules="profi")
    assert isinstance(env, VecEnv)
    assert env.get_attr("table", [0, 2]) == [env.table, env.table]
    assert env.get_attr("render_mode") == [None] * 3
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(VecMonitor, indices=0) == [False]
    assert not env.has_attr("no_such_thing")
    assert env.get_images() == [None] * 3
    with pytest.raises(AttributeError, match='no method "fly"'):
        env.env_method("fly")
    with pytest.raises(AttributeError, match='"table" cannot be set'):
        env.set_attr("table", None)
    env.close()


def test_seeds_hold_for_one_reset():
    env = TheGameVecEnv(2)
    assert env.seed(3) == [3, 4]
    env.reset()
    env.reset()
    rules = env.table.rules
    wanted = [Game.start(env.table, deal(rules, seed, 1)) for seed in (3, 4)]
    assert [env.vector.engine.game(slot) for slot in range(2)] == wanted


def test_options_hold_for_their_slot():
    deck = list(range(2, 100))
    for again in (False, True):
        env = TheGameVecEnv(3, players=2)
        if again:
            env.reset()
        env.seed(5)
        env.set_options([{}, {"deck": deck}, {}])
        env.reset()
        games = [env.vector.engine.game(slot) for slot in range(3)]
        rules = env.table.rules
        decks = [deal(rules, 5), deck, deal(rules, 7)]
        assert games == [Game.start(env.table, each) for each in decks]
        env.reset()
        assert env.vector.engine.game(1) == Game.start(env.table, deal(rules, 6, 1))


def test_an_illegal_action_changes_nothing():
    env = TheGameVecEnv(2, players=2)
    env.reset()
    before = env.save()
    with pytest.raises(IllegalAction, match="slot 0: END_TURN"):
        env.step(np.array([392, 392]))
    assert np.array_equal(env.save()["games"], before["games"])
    assert np.array_equal(env.save()["lengths"], before["lengths"])


def test_a_restored_batch_goes_on_as_before():
    env = TheGameVecEnv(5, players=2)
    env.seed(1)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(20):
        env.step(random_actions(rng, env))
    state = copy.deepcopy(env.save())
    other = TheGameVecEnv(5, players=2)

    def run(env):
        rng = np.random.default_rng(1)
        return [env.step(random_actions(rng, env)) for _ in range(40)]

    obs = other.restore(state)
    assert np.array_equal(obs, env.restore(state))
    for one, two in zip(run(env), run(other), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one[:3], two[:3], strict=True))
        ended = [[i["episode"]["r"], i["episode"]["l"]] for i in one[3] if "episode" in i]
        assert ended == [[i["episode"]["r"], i["episode"]["l"]] for i in two[3] if "episode" in i]


def test_draws_one_table_a_slot():
    env = TheGameVecEnv(2, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert len(images) == 2
    assert not np.array_equal(images[0], images[1])
    assert np.array_equal(env.render(), np.concatenate(images))


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
def test_maskable_ppo_learns_and_is_evaluated():
    env = TheGameVecEnv(8, players=2, observation="relative")
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=0)
    model.learn(256)
    assert model.num_timesteps == 256
    assert len(model.ep_info_buffer) == len(model.ep_success_buffer) > 0
    mean, _ = evaluate_policy(model, env, n_eval_episodes=8)
    assert 0.0 < mean <= 1.0


def test_one_sentence_without_stable_baselines3(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.monitor", None)
    monkeypatch.delitem(sys.modules, "thegame_env.sb3_env")
    with pytest.raises(ImportError, match=r"needs stable-baselines3: pip install") as caught:
        importlib.import_module("thegame_env.sb3_env")
    assert caught.value.__suppress_context__


def test_the_package_loads_no_torch():
    code = (
        "import sys, thegame_env, thegame_env.gym_env, thegame_env.vector_env, thegame_env.render;"
        "from thegame_env import *;"
        "sys.exit(any(m in sys.modules for m in ('torch', 'stable_baselines3')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
