"""What happens beside the learning: progress, logs, evaluations, checkpoints, stopping."""

from __future__ import annotations

import dataclasses
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from train.config import PPOConfig
from train.development import Score, judge, mean_of, table_name
from train.display import Display
from train.export import export
from train.snapshot import Arrays, take_learning, take_play, write_checkpoint
from train.stopping import Budget, StopRequest

CHECKPOINT, POLICY = "checkpoint.safetensors", "policy.safetensors"
"""Names in a run's folder: what --resume goes on from, and the best policy so far."""
RECENT = 1000
"""Games of training whose results are averaged in the logs."""


class Watch(BaseCallback):  # type: ignore[misc]
    """Looks after a run of MaskablePPO.

    Between two updates only what `take_play` takes changes. So a copy of that, taken when playing
    begins, and the weights as they are make a whole checkpoint at any moment of play; a run stops
    within one action, and goes on from the last update.

    Args:
        config: The run.
        out: Its folder.
        budget: What it may spend.
        stop: Whether somebody asked it to stop.
        display: Where progress is shown.
        best: The best evaluation so far.
        clone: How far the imitation before PPO is, and what it reached; empty without one.

    Attributes:
        lineage: What is known of the runs whose weights this one began with.
    """

    def __init__(
        self,
        config: PPOConfig,
        out: Path,
        budget: Budget,
        stop: StopRequest,
        display: Display,
        best: Score | None = None,
        clone: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.config, self.out, self.budget = config, out, budget
        self.stop, self.display, self.best = stop, display, best
        self.clone = dict(clone or {})
        self.lineage: list[dict[str, Any]] = []
        self.latest: Score | None = None
        self._play: Arrays = {}
        self._playing = False
        self._saved = self._judged = self._told = budget.seconds
        self._begun_steps, self._begun = 0, time.monotonic()
        self._left: deque[int] = deque(maxlen=RECENT)
        self._turns = self._chosen = 0

    # --- what SB3 calls --------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        self._begun_steps, self._begun = self.model.num_timesteps, time.monotonic()

    def _on_rollout_start(self) -> None:
        self._play, self._playing = take_play(self.model), True
        if self.budget.seconds - self._judged >= 60.0 * self.config.evaluation.every_minutes:
            self.evaluate()
        if self.budget.seconds - self._saved >= 60.0 * self.config.checkpoint_minutes:
            self.save()

    def _on_step(self) -> bool:
        infos, dones = self.locals["infos"], self.locals["dones"]
        self._left.extend(infos[slot]["cards_left"] for slot in np.flatnonzero(dones))
        self._count_turns(self.locals["actions"], self.locals["action_masks"])
        if self.budget.seconds - self._told >= 0.5:
            self._told = self.budget.seconds
            self.display.move(self.budget.spent(self.model.num_timesteps), self._progress())
        return not (self.stop.requested or self.budget.time_is_up())

    def _on_rollout_end(self) -> None:
        self._playing = False
        log = self.logger
        log.record("play/win_rate", np.mean(np.equal(self._left, 0)) if self._left else 0.0)
        log.record("play/cards_left", np.mean(self._left) if self._left else 0.0)
        log.record("play/turns_ended_by_choice", self._chosen / max(self._turns, 1))
        log.record("time/steps_per_s", self.steps_per_second)
        if "train/entropy_loss" in log.name_to_value:
            log.record("train/entropy", -log.name_to_value["train/entropy_loss"])
        self._turns = self._chosen = 0

    # --- its parts -------------------------------------------------------------------------------

    def _count_turns(self, actions: Any, masks: Any) -> None:
        """Count the turns ended by END_TURN, and those in which a card could have been laid."""
        ended = actions == masks.shape[1] - 1
        self._turns += int(ended.sum())
        self._chosen += int((masks[ended].sum(axis=1) > 1).sum())

    @property
    def steps_per_second(self) -> float:
        """Actions a second since this start, updates and evaluations included."""
        seconds = time.monotonic() - self._begun
        return float((self.model.num_timesteps - self._begun_steps) / max(seconds, 1e-9))

    @property
    def in_clone(self) -> bool:
        """Whether the imitation has begun and is not over."""
        return not self.clone.get("over", True)

    @property
    def steps_learnt(self) -> int:
        """Actions that the policy has learnt from: all but those since the last update."""
        return int(self._play["steps"][0]) if self._playing else self.model.num_timesteps

    def _progress(self) -> str:
        text = f"{self.model.num_timesteps:,} steps, {self.steps_per_second:,.0f}/s"
        if self.latest:
            text += f", {100 * self.latest.win_rate:.1f} % won"
        return text

    def evaluate(self) -> Score:
        """Judge the policy as it is; the best one so far is exported."""
        scores = self._judge()
        score = mean_of(scores)
        self.latest, self._judged = score, self.budget.seconds
        self.logger.record("development/win_rate", score.win_rate)
        self.logger.record("development/cards_left", score.cards_left)
        self.display.line(
            f"{self._place()}: {100 * score.win_rate:.1f} % of "
            f"{score.games:,} development deals won, {score.cards_left:.1f} cards left"
        )
        if score.better_than(self.best):
            self.best = score
            net, steps = self.model.policy.actor, self.steps_learnt
            seconds = self.budget.seconds if steps else 0.0
            export(
                self.out / POLICY, net, self.config, score, steps, seconds, self.clone,
                self.lineage, scores,
            )  # fmt: skip
        return score

    def _judge(self) -> list[Score]:
        """The score at each table; each is logged where there are several."""
        config, net = self.config, self.model.policy.actor
        tables, kind = config.all_tables, config.network.observation
        games = max(config.evaluation.games // len(tables), 1)
        scores = [judge(net, table, games, kind) for table in tables]
        for table, score in zip(tables, scores, strict=True):
            if len(tables) > 1:
                self.logger.record(f"development/win_rate/{table_name(table)}", score.win_rate)
                self.logger.record(f"development/cards_left/{table_name(table)}", score.cards_left)
        return scores

    def _place(self) -> str:
        """How far the run is, in words."""
        if self.clone and not self.steps_learnt:
            positions = self.clone["positions"]
            return f"clone, {self.clone['seconds'] / 60:.1f} min, {positions:,} positions"
        return f"{self.budget.seconds / 60:.1f} min, {self.steps_learnt:,} steps"

    def save(self) -> None:
        """Write the checkpoint of the last moment between two updates."""
        play = self._play if self._playing else take_play(self.model)
        best = dataclasses.asdict(self.best) if self.best else None
        facts = {
            "config": self.config.model_dump(mode="json"),
            "seconds": 0.0 if self.in_clone else self.budget.seconds,
            "best": best,
            "clone": self.clone,
            "lineage": self.lineage,
        }
        arrays = {**play, **take_learning(self.model)}
        write_checkpoint(self.out / CHECKPOINT, arrays, facts)
        self._saved = self.budget.seconds
