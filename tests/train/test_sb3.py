"""Trained policies in stable-baselines3: they play as before, learn on, and are saved and read."""

import re

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

import thegame_env  # noqa: F401 (registers the environment)
from agents.ppo import KIND, make
from agents.registry import make_agent
from agents.weight_files import shipped
from thegame_env.engine import Engine
from thegame_env.rules import Rules, Table
from thegame_env.sb3_env import TheGameVecEnv
from train.config import parse_config
from train.ppo import make_model
from train.sb3 import load
from train.stopping import Budget

TABLE = Table(players=5)
GAMES = 20
NEAR = 1e-4
"""Logits nearer than this to the highest may come out highest in single precision, too."""
SETTINGS = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "seed": 1}


def games(players=5, **settings):
    env = TheGameVecEnv(8, players=players, observation="relative", **settings)
    env.seed(5)
    return env


def check_plays_as(model, agent):
    """Greedy actions of both over whole games, compared wherever the highest logit is clear."""
    env = TheGameVecEnv(GAMES, players=5, observation="relative")
    env.seed(3)
    observed, ended, compared = env.reset(), np.zeros(GAMES, bool), 0
    while not ended.all():
        masks = env.action_masks()
        mine = model.predict(observed, action_masks=masks, deterministic=True)[0]
        engine = env.vector.engine
        logits = agent.model.logits(engine.views(), engine.p)
        theirs = logits.argmax(axis=1)
        clear = (logits >= logits.max(axis=1, keepdims=True) - NEAR).sum(axis=1) == 1
        np.testing.assert_array_equal(mine[clear], theirs[clear])
        compared += int(clear.sum())
        observed, _, dones, _ = env.step(theirs)
        ended |= dones
    assert compared > 50 * GAMES


def test_the_greedy_actions_are_those_of_the_agent():
    check_plays_as(load("ppo_5p", games(), **SETTINGS), make(TABLE, "ppo_5p"))


def test_it_learns_on_the_critic_first():
    model = load("ppo_5p", games(), critic_first=1, **SETTINGS)
    assert isinstance(model, MaskablePPO)
    begun = {name: value.clone() for name, value in model.policy.state_dict().items()}

    def changed(part):
        state = model.policy.state_dict()
        names = [name for name in begun if name.startswith(part)]
        return any(not torch.equal(begun[name], state[name]) for name in names)

    model.learn(8 * 16)
    assert (changed("actor."), changed("critic.")) == (False, True)
    model.learn(8 * 16, reset_num_timesteps=False)
    assert changed("actor.")


def test_what_it_saves_plays_in_the_harness(tmp_path):
    model = load("ppo_5p", games(), **SETTINGS)
    model.learn(8 * 16)
    path = tmp_path / "mine.zip"
    model.save(path)
    saved = make_agent(str(path), TABLE, allow_pickle=True)
    engine = Engine(TABLE, GAMES)
    engine.deal(1, np.arange(GAMES))
    states = np.zeros(GAMES, np.uint64)
    actions = saved.act_rows(engine.views(), engine.p, states)
    agent = make(TABLE, "ppo_5p")
    assert (actions == agent.act_rows(engine.views(), engine.p, states)).mean() > 0.9
    MaskablePPO.load(path, env=games(), device="cpu").learn(8 * 16)


def test_what_the_learner_of_a_run_saves_plays_too(tmp_path):
    values = {"kind": "ppo", "steps": 128, "games": 8, "n_steps": 16, "batch_size": 64, "epochs": 1}
    config = parse_config(values, "test")
    model = make_model(config, Budget(None, config.steps))
    model.learn(128)
    model.save(tmp_path / "run.zip")
    saved = make_agent(str(tmp_path / "run.zip"), config.table.table, allow_pickle=True)
    engine = Engine(config.table.table, GAMES)
    engine.deal(1, np.arange(GAMES))
    actions = saved.act_rows(engine.views(), engine.p, np.zeros(GAMES, np.uint64))
    assert all(action in engine.game(slot).legal_actions() for slot, action in enumerate(actions))


def test_without_an_environment_it_plays_that_of_its_run():
    model = load("ppo_3p", n_steps=2)
    assert model.env.table == Table(players=3)
    assert model.n_envs == shipped(KIND)["ppo_3p"]["config"]["games"]


def test_a_single_environment_and_another_table_will_do():
    env = gymnasium.make("TheGame-v0", players=2, rules="profi", observation="relative")
    model = load("ppo_5p", env, critic_first=0, n_steps=8, batch_size=8)
    model.learn(16)
    assert model.num_timesteps == 16


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("ppo_9p", {}, 'unknown ppo weights "ppo_9p"'),
        ("nowhere/policy", {}, "no weights at nowhere/policy.safetensors"),
        ("ppo_5p", {"rules": Rules.parse("custom/cards:30")}, "takes 393 actions, not those of"),
    ],
)
def test_what_cannot_be_loaded_is_named(name, settings, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        load(name, games(2, **settings))


def test_the_plain_observation_is_refused():
    with pytest.raises(ValueError, match="reads relative observations of shape"):
        load("ppo_5p", TheGameVecEnv(2, players=5, observation="table"))


def test_another_network_is_refused():
    with pytest.raises(ValueError, match="policy_kwargs: the network is that of the policy"):
        load("ppo_5p", policy_kwargs={"net_arch": [64]})
