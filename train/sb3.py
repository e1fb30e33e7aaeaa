"""Trained policies for stable-baselines3: go on learning with your own environment and settings.

    from train.sb3 import load

    model = load("ppo_5p")  # or the path of a weights file, such as runs/demo/policy
    model.learn(1_000_000)
    model.save("mine.zip")  # `thegame eval --agents mine.zip --allow-pickle` plays it

The weights of the actor are those that were exported. The critic is not exported, so it is fresh:
`load` lets it learn alone at first, because the forecasts of a fresh critic would spoil the actor.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from agents.ppo import KIND
from agents.weight_files import Arrays, load_weights, path_for
from thegame_env.observation import VERSION
from thegame_env.rules import Table
from thegame_env.sb3_env import TheGameVecEnv
from train.config import PPOConfig, parse_config
from train.policy import SharedPilePolicy
from train.ppo import Learner, shape_of

CRITIC_FIRST = 10
"""Updates in which only the critic learns, unless something else is asked for."""


def load(
    path_or_name: str | Path, env: Any = None, critic_first: int = CRITIC_FIRST, **settings: Any
) -> MaskablePPO:
    """A MaskablePPO whose actor plays as a trained policy does; its critic is fresh.

    Args:
        path_or_name: Name of shipped weights, or the path of a weights file.
        env: Games to learn from, of any table whose observations and actions are those of the
            policy; by default as many as its run played, at its (first) table.
        critic_first: Updates in which only the critic learns.
        settings: Keyword arguments of MaskablePPO, such as `n_steps`, instead of those of the run
            that trained the policy; the learning rate is the one that this run ended with.

    Raises:
        ValueError: There are no such weights, they are damaged, the environment's observations or
            actions are others, or another network is asked for.
    """
    if "policy_kwargs" in settings:
        raise ValueError("policy_kwargs: the network is that of the policy, it cannot be changed")
    path = path_for(KIND, str(path_or_name), Table()).with_suffix(".safetensors")
    arrays, metadata = load_weights(path, KIND, VERSION)
    told = parse_config(metadata.get("config") or {}, f"{path.with_suffix('.json')}: config")
    config = told.model_copy(update={"hidden_critic": False})
    games = _games(config) if env is None else env
    _check_spaces(path, games, config)
    kwargs = {"shape": shape_of(config), "network": config.network}
    options = {**_settings(config), "device": "cpu", **settings, "policy_kwargs": kwargs}
    model = Learner(SharedPilePolicy, games, **options)
    model.critic_first = critic_first
    _put(path, model.policy.actor.weights(), arrays)
    return model


def _games(config: PPOConfig) -> TheGameVecEnv:
    """The games of a run, at its first table."""
    table = config.all_tables[0]
    return TheGameVecEnv(
        config.games, table.players, table.rules, table.memory, table.talk, table.starter,
        config.network.observation, config.reward,
    )  # fmt: skip


def _settings(config: PPOConfig) -> dict[str, Any]:
    """What a run gave to MaskablePPO, with the step size of its end."""
    return {
        "learning_rate": config.final_learning_rate,
        "n_steps": config.n_steps,
        "batch_size": config.batch_size,
        "n_epochs": config.epochs,
        "gamma": config.gamma,
        "gae_lambda": config.gae_lambda,
        "clip_range": config.clip_range,
        "ent_coef": config.entropy,
        "vf_coef": config.value_weight,
        "max_grad_norm": config.max_grad_norm,
    }


def _check_spaces(path: Path, env: Any, config: PPOConfig) -> None:
    """ValueError where a policy cannot read an environment's observations or take its actions."""
    size, actions = shape_of(config).seen, config.all_tables[0].rules.n_actions
    shape, count = env.observation_space.shape, getattr(env.action_space, "n", None)
    if shape != (size,) or count != actions:
        raise ValueError(
            f"{path.name} reads {config.network.observation} observations of shape ({size},) and "
            f"takes {actions} actions, not those of this environment: {shape} and {count}"
        )


def _put(path: Path, state: Mapping[str, torch.Tensor], arrays: Arrays) -> None:
    """Copy the arrays of a weights file into an actor; ValueError where they do not fit it."""
    for name, value in state.items():
        if name not in arrays or arrays[name].shape != tuple(value.shape):
            raise ValueError(f"{path.name} is of another network than this program's ({name})")
        value.copy_(torch.from_numpy(arrays[name].copy()))
