"""Steps a second of PPO, rollouts and updates together: our batch against single environments.

The same learner with the same settings runs twice: over the games of the batch engine, and over
stable-baselines3's `DummyVecEnv` of as many single environments, each made by `gymnasium.make` and
in a `Monitor`, whose statistics ours writes too. Training uses as many cores as it finds, so this
is wall time; on a busy machine both are slower than they would be alone.
"""

from __future__ import annotations

import time
from typing import Any

import gymnasium
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

import thegame_env  # noqa: F401  (registers TheGame-v0)
from benchmarks.comparison import Comparison
from benchmarks.measure import Speed
from train.config import PPOConfig, parse_config
from train.ppo import make_env, make_model
from train.stopping import Budget
from train.threads import fastest_threads

SETTINGS: dict[str, Any] = {
    "kind": "ppo",
    "minutes": 240,
    "table": {"players": 5},
    "games": 256,
    "n_steps": 64,
    "batch_size": 2048,
    "epochs": 2,
    "clip_range": 0.15,
    "entropy": 0.0005,
}
"""Those of configs/ppo_5p.yaml, without the imitation."""


class Timer(BaseCallback):  # type: ignore[misc]
    """Stops the learning after whole rollouts with their updates; the first ones are not counted.

    Args:
        seconds: Wall time to spend at least.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.marks: list[tuple[float, float, int]] = []

    def _on_rollout_start(self) -> None:
        self.marks.append((time.perf_counter(), time.process_time(), self.num_timesteps))

    def _on_step(self) -> bool:
        return len(self.marks) < 3 or self.marks[-1][0] - self.marks[1][0] < self.seconds

    def speed(self, name: str, threads: int) -> Speed:
        """What was measured between the second rollout's start and the last one's."""
        wall, cpu, steps = (b - a for a, b in zip(self.marks[1], self.marks[-1], strict=True))
        share = min(cpu / wall / threads, 1.0)
        return Speed(name, "steps", steps / wall, len(self.marks) - 2, share)


def train_speed(seconds: float, config: PPOConfig | None = None) -> Comparison:
    """The two speeds: `ours` over the batch, `other` over single environments.

    Args:
        seconds: Wall time for each.
        config: What is learnt; by default SETTINGS.
    """
    config = config or parse_config(SETTINGS, "bench")
    batch, players = make_env(config), config.table.players

    def one() -> Any:
        made = gymnasium.make(
            "TheGame-v0", players=players, observation="relative", reward=config.reward
        )
        return Monitor(made)

    single = DummyVecEnv([one for _ in range(config.games)])
    ours = _speed(f"PPO, batch of {config.games} games", config, batch, seconds)
    other = _speed(f"PPO, DummyVecEnv of {config.games} games", config, single, seconds)
    return Comparison(other, ours)


def _speed(name: str, config: PPOConfig, env: Any, seconds: float) -> Speed:
    model, timer = make_model(config, Budget(config.minutes, None), env), Timer(seconds)
    threads = fastest_threads(model.policy, model.env.reset(), config.batch_size)
    model.learn(1 << 50, callback=timer)
    return timer.speed(f"{name}, {threads} threads", threads)
