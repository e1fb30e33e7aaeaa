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
from stable_baselines3.common.vec_env import VecEnv

from agents.ppo import KIND
from thegame_env.observation import VERSION, observation_spec
from thegame_env.ranges import training_seed
from thegame_env.rules import Table
from train.clone import Clone
from train.config import PPOConfig
from train.curves import logging_to
from train.display import Display
from train.imitation import imitate
from train.late_starts import LateStarts
from train.policy import SharedPilePolicy, networks
from train.policy_network import Shape
from train.snapshot import Arrays, check_same, put_learning, put_play, read_checkpoint, writing
from train.sources import read_start
from train.stopping import Budget, StopRequest
from train.teachers import teacher_for
from train.threads import fastest_threads, use_threads
from train.training_env import TrainingEnv, hidden_size
from train.watch import CHECKPOINT, POLICY, STUDENT, Watch

DEALS_A_SEED = 1 << 24
"""Distance of the deal seeds of two seeds of a run, so that their deals differ."""
ENDLESS = 1 << 50
"""More actions than any run takes: the minutes end it."""
TOLD_SECONDS = 60.0
"""Between lines of progress where there is no bar."""
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

    @property
    def actor_has_learnt(self) -> bool:
        """Whether an update so far has taught the actor."""
        return bool(self._n_updates > self.critic_first * self.n_epochs)

    def train(self) -> None:
        """See MaskablePPO.train; the entropy itself is logged too."""
        ripe = self._n_updates >= self.critic_first * self.n_epochs
        self.policy.actor.requires_grad_(ripe)
        super().train()
        entropy = -self.logger.name_to_value["train/entropy_loss"]
        self.logger.record("train/entropy", entropy)


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
        check_same(out / CHECKPOINT, config.model_dump(mode="json"), facts["config"], FIXED)
    budget = Budget(config.minutes, config.steps, facts.get("seconds", 0.0))
    use_threads(config.threads or 1)
    model = make_model(config, budget)
    clone = _imitation(config, model, arrays, facts.get("clone", {}))
    lineage = []
    if config.start is not None and not resume:
        lineage = begin_with(model.policy.actor, config.start, config.all_tables[0])
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    if not config.threads:
        fastest_threads(model.policy, make_env(config).reset(), config.batch_size)
    if resume:
        put_learning(model, arrays)
        put_play(model, arrays)
    with StopRequest() as stop, Display(report, every=TOLD_SECONDS) as display:
        watch = Watch(config, out, budget, stop, display)
        watch.model, watch.lineage = model, lineage
        if resume:
            watch.put(arrays, facts)
        with watch.rescuing():
            if clone is not None:
                imitate(clone, model, watch)
            if not watch.in_clone:
                _learn(model, watch, resumed=resume and clone is None, cloned=clone is not None)
    if stop.requested:
        raise KeyboardInterrupt
    return out / POLICY


def _imitation(config: PPOConfig, model: Any, arrays: Arrays, told: dict[str, Any]) -> Clone | None:
    """The imitation to begin or to go on with; None where there is none, or it is over."""
    if config.clone is None or told.get("over"):
        return None
    spent = told.get("seconds", 0.0), told.get("positions", 0)
    return Clone(config.clone, config.gamma, model, *spent, arrays.get(STUDENT))


def _learn(model: Any, watch: Watch, resumed: bool, cloned: bool) -> None:
    """Let PPO learn what is left to learn, and judge what it came to.

    Args:
        model: The learner.
        watch: Looks after the run.
        resumed: Whether PPO had begun before this start.
        cloned: Whether an imitation has just ended.
    """
    config, budget = watch.config, watch.budget
    after = model.num_timesteps if resumed else None
    with logging_to(model, watch.out / "tensorboard", after):
        if cloned:
            watch.log_scores()
        budget.begin()
        steps = (config.steps or ENDLESS) - model.num_timesteps
        if steps > 0 and not watch.over:
            # Games under way are played on: dealt anew together, they would end together too.
            fresh = not (resumed or cloned)
            model.learn(steps, watch, log_interval=None, reset_num_timesteps=fresh)
            watch.save()
        if not watch.is_judged:
            watch.evaluate()


def make_env(config: PPOConfig) -> TrainingEnv:
    """The games of a configuration, not dealt yet."""
    env = TrainingEnv(
        config.all_tables,
        config.games,
        config.network.observation,
        config.reward,
        config.hidden_critic,
        _late_starts(config),
    )
    env.start(training_seed(config.seed * DEALS_A_SEED))
    return env


def _late_starts(config: PPOConfig) -> list[LateStarts] | None:
    """Where games of each table may begin late; None where none does."""
    late = config.late_starts
    if late is None:
        return None
    told = late.share, late.cards_left, late.player, config.seed
    return [LateStarts(table, *told) for table in config.all_tables]


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
    """ValueError where a configuration's start, teacher or late starts cannot be had.

    Writes nothing.
    """
    tables = config.all_tables
    _late_starts(config)
    if config.clone is not None:
        for table in tables:
            teacher_for(table, config.clone.teacher, config.clone.most)
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
