"""Trains a policy by MaskablePPO: `thegame train configs/ppo_*.yaml`.

sb3-contrib's MaskablePPO (Schulman et al. 2017, with the action masks of Huang and Ontanon 2022)
over the batch engine, with the networks of `policy_network.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from thegame_env.ranges import training_seed
from thegame_env.sb3_env import TheGameVecEnv
from train.config import PPOConfig
from train.development import Score
from train.display import Display
from train.policy import SharedPilePolicy
from train.policy_network import Shape
from train.snapshot import put_learning, put_play, read_checkpoint
from train.stopping import Budget, StopRequest
from train.threads import fastest_threads
from train.watch import CHECKPOINT, POLICY, Watch

DEALS_A_SEED = 1 << 20
"""Distance of the deal seeds of two seeds of a run, so that their deals differ."""
ENDLESS = 1 << 50
"""More actions than any run takes: the minutes end it."""
FIXED = ("table", "network", "games", "n_steps", "reward", "seed")
"""Parts of a configuration that a resumed run cannot change."""


def train(
    config: PPOConfig,
    out: Path,
    resume: bool = False,
    report: Callable[[str], None] = print,
) -> Path:
    """Run a configuration; returns the exported weights file of the best policy.

    Args:
        config: What to learn, and for how long.
        out: Folder of the run: checkpoint, TensorBoard logs, policy.
        resume: Go on from the checkpoint in `out`.
        report: Called with one line of progress at every evaluation.

    Raises:
        ValueError: Nothing to resume, or a checkpoint of another configuration or version.
        OSError: A file cannot be written; what was saved before is intact.
        KeyboardInterrupt: It was asked to stop; checkpoint and policy are written.
    """
    arrays, facts = read_checkpoint(out / CHECKPOINT) if resume else ({}, {})
    if resume:
        _check_same(config, facts["config"], out / CHECKPOINT)
    out.mkdir(parents=True, exist_ok=True)
    budget = Budget(config.minutes, config.steps, facts.get("seconds", 0.0))
    torch.set_num_threads(config.threads or 1)
    model = make_model(config, budget)
    if not config.threads:
        fastest_threads(model.policy, config.batch_size)
    logs = str(out / "tensorboard")
    model.set_logger(Logger(logs, [TensorBoardOutputFormat(logs)]))
    if resume:
        put_learning(model, arrays)
        put_play(model, arrays)
    steps = (config.steps or ENDLESS) - model.num_timesteps
    with StopRequest() as stop, Display(report) as display:
        best = Score(**facts["best"]) if facts.get("best") else None
        watch = Watch(config, out, budget, stop, display, best)
        if steps > 0 and not budget.time_is_up():
            model.learn(steps, callback=watch, reset_num_timesteps=not resume)
            watch.save()
        watch.model = model
        watch.evaluate()
        model.logger.dump(model.num_timesteps)
    model.logger.close()
    if stop.requested:
        raise KeyboardInterrupt
    return out / POLICY


def make_model(config: PPOConfig, budget: Budget) -> Any:
    """The learner of a configuration; its step size falls evenly with what is spent."""
    table = config.table.table
    torch.distributions.Distribution.set_default_validate_args(False)
    env = TheGameVecEnv(
        config.games,
        table.players,
        table.rules,
        table.memory,
        table.talk,
        table.starter,
        observation="relative",
        reward=config.reward,
    )
    model: Any = None

    def learning_rate(_: float) -> float:
        spent = budget.spent(model.num_timesteps) if model is not None else 0.0
        return config.learning_rate + spent * (config.final_learning_rate - config.learning_rate)

    model = MaskablePPO(
        SharedPilePolicy,
        env,
        learning_rate=learning_rate,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        ent_coef=config.entropy,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={"shape": Shape.of(table), "network": config.network},
        seed=config.seed,
        device="cpu",
    )
    env.seed(training_seed(config.seed * DEALS_A_SEED))
    return model


def _check_same(config: PPOConfig, before: dict[str, Any], path: Path) -> None:
    now = config.model_dump()
    for key in FIXED:
        if now[key] != before.get(key):
            raise ValueError(
                f"{path} belongs to a run with {key} {before.get(key)}, not {now[key]}: "
                "resume that run, or start this one in another folder"
            )
