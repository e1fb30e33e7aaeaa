"""Trains a policy: `thegame train configs/ppo_*.yaml`.

First, where the configuration says so, it imitates a teacher (clone.py); then it learns by
sb3-contrib's MaskablePPO (Schulman et al. 2017, with the action masks of Huang and Ontanon 2022)
over the batch engine, with the networks of `policy_network.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import VecEnv

from agents.ppo import KIND
from thegame_env.observation import VERSION, observation_spec
from thegame_env.ranges import training_seed
from thegame_env.rules import Table
from train.clone import Clone, Teacher
from train.config import PPOConfig
from train.development import Score
from train.display import Display
from train.imitation import imitate
from train.late_starts import LateStarts
from train.policy import SharedPilePolicy, networks
from train.policy_network import Shape
from train.snapshot import put_learning, put_play, read_checkpoint
from train.sources import read_start
from train.stopping import Budget, StopRequest
from train.threads import fastest_threads, use_threads
from train.training_env import TrainingEnv, hidden_size
from train.watch import CHECKPOINT, POLICY, Watch

DEALS_A_SEED = 1 << 24
"""Distance of the deal seeds of two seeds of a run, so that their deals differ."""
ENDLESS = 1 << 50
"""More actions than any run takes: the minutes end it."""
FIXED = (
    "table", "tables", "network", "start", "clone", "hidden_critic", "late_starts", "games",
    "n_steps", "reward", "seed",
)  # fmt: skip
"""Parts of a configuration that a resumed run cannot change."""


class Learner(MaskablePPO):  # type: ignore[misc]
    """MaskablePPO that at first may teach only the critic, so that the policy is not spoilt by it.

    Attributes:
        critic_first: Updates in which the actor stays as it is.
    """

    critic_first = 0

    def train(self) -> None:
        """See MaskablePPO.train."""
        ripe = self._n_updates >= self.critic_first * self.n_epochs
        self.policy.actor.requires_grad_(ripe)
        super().train()


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
        ValueError: Nothing to resume, a checkpoint of another configuration or version, or no
            teacher to imitate.
        OSError: A file cannot be written; what was saved before is intact.
        KeyboardInterrupt: It was asked to stop; checkpoint and policy are written.
    """
    arrays, facts = read_checkpoint(out / CHECKPOINT) if resume else ({}, {})
    if resume:
        _check_same(config, facts["config"], out / CHECKPOINT)
    budget = Budget(config.minutes, config.steps, facts.get("seconds", 0.0))
    use_threads(config.threads or 1)
    model, told = make_model(config, budget), facts.get("clone", {})
    clone = None
    if config.clone is not None and not told.get("over"):
        spent = told.get("seconds", 0.0), told.get("positions", 0)
        clone = Clone(config.clone, config.gamma, model, *spent)
    lineage = facts.get("lineage", [])
    if config.start is not None and not resume:
        lineage = begin_with(model.policy.actor, config.start, config.all_tables[0])
    out.mkdir(parents=True, exist_ok=True)
    if not config.threads:
        fastest_threads(model.policy, make_env(config).reset(), config.batch_size)
    logs = str(out / "tensorboard")
    model.set_logger(Logger(logs, [TensorBoardOutputFormat(logs)]))
    if resume:
        put_learning(model, arrays)
        put_play(model, arrays)
    with StopRequest() as stop, Display(report) as display:
        best = Score(**facts["best"]) if facts.get("best") else None
        watch = Watch(config, out, budget, stop, display, best, told)
        watch.model, watch.lineage = model, lineage
        if clone is not None:
            imitate(clone, model, watch)
        budget.begin()
        steps = (config.steps or ENDLESS) - model.num_timesteps
        if steps > 0 and not budget.time_is_up() and not stop.requested:
            # Games under way are played on: dealt anew together, they would end together too.
            fresh = clone is None and not resume
            model.learn(steps, callback=watch, reset_num_timesteps=fresh)
            watch.save()
        if not watch.in_clone:
            watch.evaluate()
            model.logger.dump(model.num_timesteps)
    model.logger.close()
    if stop.requested:
        raise KeyboardInterrupt
    return out / POLICY


def make_env(config: PPOConfig) -> TrainingEnv:
    """The games of a configuration, not dealt yet."""
    tables, late = config.all_tables, config.late_starts
    starts = None
    if late is not None:
        told = late.share, late.cards_left, late.player, config.seed
        starts = [LateStarts(table, *told) for table in tables]
    env = TrainingEnv(
        tables,
        config.games,
        config.network.observation,
        config.reward,
        config.hidden_critic,
        starts,
    )
    env.start(training_seed(config.seed * DEALS_A_SEED))
    return env


def shape_of(config: PPOConfig) -> Shape:
    """The layout of what the networks read."""
    table, kind = config.all_tables[0], config.network.observation
    hidden = hidden_size(table.rules.cards) if config.hidden_critic else 0
    if kind == "relative":
        return replace(Shape.of(table), hidden=hidden)
    size = observation_spec(kind, table).size
    return Shape(table.rules.cards, table.rules.trick, 0, size, 0, 0, hidden)


def make_model(config: PPOConfig, budget: Budget, env: VecEnv | None = None) -> Any:
    """The learner of a configuration; its step size falls evenly with what is spent.

    Args:
        config: What to learn.
        budget: What is spent of it.
        env: Games to learn from instead of the configuration's.
    """
    torch.distributions.Distribution.set_default_validate_args(False)
    model: Any = None

    def learning_rate(_: float) -> float:
        spent = budget.spent(model.num_timesteps) if model is not None else 0.0
        return config.learning_rate + spent * (config.final_learning_rate - config.learning_rate)

    model = Learner(
        SharedPilePolicy,
        env or make_env(config),
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
        policy_kwargs={"shape": shape_of(config), "network": config.network},
        seed=config.seed,
        device="cpu",
    )
    model.critic_first = config.critic_first
    return model


def check_sources(config: PPOConfig) -> None:
    """ValueError where a start or a teacher of the configuration cannot be had; writes nothing."""
    tables = config.all_tables
    if config.clone is not None:
        for table in tables:
            Teacher(table, config.clone.teacher, config.clone.most)
    if config.start is not None:
        actor, _ = networks(shape_of(config), config.network, tables[0].rules.n_actions)
        begin_with(actor, config.start, tables[0])


def begin_with(actor: Any, weights: str, table: Table) -> list[dict[str, Any]]:
    """Give the actor the weights of a trained policy; what is known of how they were learnt.

    Raises:
        ValueError: There are no such weights, or they are of another network.
    """
    state = actor.weights()
    wanted = {name: value.shape for name, value in state.items()}
    given, lineage = read_start(weights, KIND, VERSION, table, wanted)
    for name, value in state.items():
        value.copy_(given[name])
    return lineage


def _check_same(config: PPOConfig, before: dict[str, Any], path: Path) -> None:
    now = config.model_dump(mode="json")
    for key in FIXED:
        if now[key] != before.get(key):
            raise ValueError(
                f"{path} belongs to a run with {key} {before.get(key)}, not {now[key]}: "
                "resume that run, or start this one in another folder"
            )
