"""What happens beside the learning: progress, logs, evaluations, checkpoints, stopping."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from train.config import PPOConfig
from train.development import Score, judge_weights, mean_of, table_name
from train.display import Display, time_left
from train.export import Best, describe
from train.play_counts import PlayCounts
from train.snapshot import Arrays, take_learning, take_play, write_checkpoint
from train.stopping import Budget, StopRequest

CHECKPOINT, POLICY = "checkpoint.safetensors", "policy.safetensors"
"""Names in a run's folder: what --resume goes on from, and the best policy so far."""
STUDENT = "clone.student"
"""Name in a checkpoint of the imitation: the games that the student plays."""


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

    Attributes:
        best: The best policy so far.
        clone: How far the imitation before PPO is, and what it reached; empty without one.
        student: While imitating: the games that the student plays, bool[B].
        lineage: What is known of the runs whose weights this one began with.
        waited: Evaluations since the best one.
    """

    def __init__(
        self, config: PPOConfig, out: Path, budget: Budget, stop: StopRequest, display: Display
    ) -> None:
        super().__init__()
        self.config, self.out, self.budget = config, out, budget
        self.stop, self.display = stop, display
        self.best: Best | None = None
        self.clone: dict[str, Any] = {}
        self.student: Any = None
        self.lineage: list[dict[str, Any]] = []
        self.waited = 0
        self._scores: list[Score] = []
        self._play: Arrays = {}
        self._updates: int | None = None  # Those done when `_play` was taken.
        self._logged = 0  # Updates whose logs are written.
        self._judged_at: tuple[int, int] | None = None
        self._has_checkpoint = False
        self._saved = self._judged = self._told = 0.0
        self._begun_steps, self._begun = 0, time.monotonic()
        self._counts = PlayCounts()

    def put(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        """Go on from a checkpoint; the files of the best policy become what it tells.

        Where that was judged on other deals than this run judges on, it is judged anew.
        """
        self.clone, self.lineage, self.waited = facts["clone"], facts["lineage"], facts["waited"]
        self.student, self._has_checkpoint = arrays.get(STUDENT), True
        best = Best.of(arrays, facts)
        if best is not None and best.score.games != self._games * len(self.config.all_tables):
            scores = self._judge(best.arrays)
            best = best.judged(self.config, mean_of(scores), scores)
        if best is not None:
            best.write(self.out / POLICY)
        self.best = best

    # --- what SB3 calls --------------------------------------------------------------------------

    def _on_training_start(self) -> None:
        self._begun_steps, self._begun = self.model.num_timesteps, time.monotonic()
        self._saved = self._judged = self._told = self.budget.seconds
        self._logged = self.model._n_updates
        self.secure()

    def _on_training_end(self) -> None:
        self._log_update()

    def _log_update(self) -> None:
        """Write the logs of an update that is done, and of the play before it."""
        if self._logged != self.model._n_updates:
            self._logged = self.model._n_updates
            self.model.dump_logs(self._logged // self.model.n_epochs)

    def _on_rollout_start(self) -> None:
        self._log_update()
        self._play, self._updates = take_play(self.model), self.model._n_updates
        if self.budget.seconds - self._judged >= 60.0 * self.config.evaluation.every_minutes:
            self.evaluate()
            if self.out_of_patience:
                self.display.line(f"{self.waited} evaluations without a new best: training ends")
        if self.budget.seconds - self._saved >= 60.0 * self.config.checkpoint_minutes:
            self.save()

    def _on_step(self) -> bool:
        told = self.locals
        self._counts.add(told["actions"], told["action_masks"], told["dones"], told["infos"])
        if self.budget.seconds - self._told >= 0.5:
            self._told = self.budget.seconds
            spent = self.budget.spent(self.model.num_timesteps)
            self.display.move(self._share(spent), self._progress(), self.seconds_left)
        return not self.over

    def _on_rollout_end(self) -> None:
        for name, value in self._counts.take().items():
            self.logger.record(name, value)
        self.logger.record("time/steps_per_s", self.steps_per_second)

    # --- how far it is ---------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether to end: asked to, out of time, or out of patience."""
        return self.stop.requested or self.budget.time_is_up() or self.out_of_patience

    @property
    def out_of_patience(self) -> bool:
        """Whether too many evaluations have brought no new best."""
        patience = self.config.evaluation.patience
        return patience is not None and self.waited >= patience

    @property
    def steps_per_second(self) -> float:
        """Actions a second since this start, updates and evaluations included."""
        seconds = time.monotonic() - self._begun
        return float((self.model.num_timesteps - self._begun_steps) / max(seconds, 1e-9))

    @property
    def seconds_left(self) -> float | None:
        """Seconds of PPO to go; None where it is too early to tell."""
        config, left = self.config, []
        if config.minutes is not None:
            left.append(60.0 * config.minutes - self.budget.seconds)
        if config.steps is not None and self.steps_per_second > 0:
            left.append((config.steps - self.model.num_timesteps) / self.steps_per_second)
        return min(left, default=None)

    @property
    def in_clone(self) -> bool:
        """Whether the imitation has begun and is not over."""
        return not self.clone.get("over", True)

    @property
    def steps_learnt(self) -> int:
        """Actions that the policy has learnt from: all but those since the last update."""
        return int(self._play["steps"][0]) if self._in_play else self.model.num_timesteps

    @property
    def _in_play(self) -> bool:
        """Whether `_play` tells the last moment between two updates."""
        return bool(self._updates == self.model._n_updates)

    def _share(self, spent: float) -> float:
        """Share of the whole run after a share of PPO.

        Where minutes do not tell how long PPO takes, the imitation counts as half of the run.
        """
        if self.config.clone is None:
            return spent
        first = self.config.clone.minutes
        second = self.config.minutes or first
        return (first + spent * second) / (first + second)

    def move_clone(self, progress: float, text: str, left: float | None) -> None:
        """Show how far the imitation is.

        Args:
            progress: Share of it, 0..1.
            text: What is told beside it.
            left: Seconds of it to go, if they are known.
        """
        if left is not None and self.config.minutes is not None:
            left += 60.0 * self.config.minutes
        self.display.move(progress * self._share(0.0), text, left)

    def _progress(self) -> str:
        text = f"{self.model.num_timesteps:,} steps, {self.steps_per_second:,.0f}/s"
        if self._scores:
            text += f", {100 * mean_of(self._scores).win_rate:.1f} % won"
        return text

    # --- evaluations -----------------------------------------------------------------------------

    @property
    def _moment(self) -> tuple[int, int]:
        """What tells the weights of one moment from those of another."""
        return self.model._n_updates, self.clone.get("positions", 0)

    @property
    def is_judged(self) -> bool:
        """Whether the policy as it is has been evaluated already."""
        return self._judged_at == self._moment

    def evaluate(self, prefix: str = "", at: int | None = None) -> Score:
        """Judge the policy as it is, log and tell that; the best one so far is saved.

        Args:
            prefix: Put before the names in the logs.
            at: Where on their axis; by default the actions learnt from.
        """
        weights = self.model.policy.actor.weights()
        arrays = {name: value.numpy().copy() for name, value in weights.items()}
        self._scores = self._judge(arrays)
        score = mean_of(self._scores)
        self._judged, self._judged_at = self.budget.seconds, self._moment
        left = time_left(None if self.in_clone or self.over else self.seconds_left)
        self.display.line(
            f"{self._place()}: {100 * score.win_rate:.1f} % of "
            f"{score.games:,} development deals won, {score.cards_left:.1f} cards left"
            + (f"; {left}" if left else "")
        )
        if self.clone and not self.steps_learnt:
            self.clone["development"] = asdict(score)
        self._keep(score, arrays)
        self.log_scores(prefix, at)
        return score

    @property
    def _games(self) -> int:
        """Deals that an evaluation plays at each table."""
        return max(self.config.evaluation.games // len(self.config.all_tables), 1)

    def _judge(self, arrays: Arrays) -> list[Score]:
        """The score of a policy at each table."""
        kind = self.config.network.observation
        return [judge_weights(arrays, one, self._games, kind) for one in self.config.all_tables]

    def _keep(self, score: Score, arrays: Arrays) -> None:
        """Save the policy if it is the best one: in a checkpoint, then in its own files."""
        if not score.better_than(self.best.score if self.best else None):
            self.waited += bool(self.steps_learnt and self.model.actor_has_learnt)
            return
        steps = self.steps_learnt
        seconds = self.budget.seconds if steps else 0.0
        told = describe(
            self.config, score, self._scores, steps, seconds, dict(self.clone), self.lineage
        )
        self.waited, self.best = 0, Best(score, arrays, told)
        self.save()
        self.best.write(self.out / POLICY)

    def log_scores(self, prefix: str = "", at: int | None = None) -> None:
        """Add the latest scores to the curves, by table and the mean of several.

        See `evaluate` for the arguments.
        """
        named = dict(zip(map(table_name, self.config.all_tables), self._scores, strict=True))
        if len(named) > 1:
            named["mean"] = mean_of(self._scores)
        for name, one in named.items():
            self.logger.record(f"{prefix}development/win_rate/{name}", one.win_rate)
            self.logger.record(f"{prefix}development/cards_left/{name}", one.cards_left)
        self.logger.dump(self.steps_learnt if at is None else at)

    def _place(self) -> str:
        """How far the run is, in words."""
        if self.clone and not self.steps_learnt:
            positions = self.clone["positions"]
            return f"clone, {self.clone['seconds'] / 60:.1f} min, {positions:,} positions"
        return f"{self.budget.seconds / 60:.1f} min, {self.steps_learnt:,} steps"

    # --- checkpoints -----------------------------------------------------------------------------

    def save(self) -> None:
        """Write the checkpoint of the last moment between two updates."""
        play = self._play if self._in_play else take_play(self.model)
        best, told = self.best.take() if self.best else ({}, {"best": None, "policy": None})
        facts = {
            "config": self.config.model_dump(mode="json"),
            "seconds": self.budget.seconds,
            "clone": self.clone,
            "lineage": self.lineage,
            "waited": self.waited,
            **told,
        }
        student = {STUDENT: self.student} if self.in_clone else {}
        arrays = {**play, **take_learning(self.model), **student, **best}
        write_checkpoint(self.out / CHECKPOINT, arrays, facts)
        self._saved, self._has_checkpoint = self.budget.seconds, True

    def secure(self) -> None:
        """Write a checkpoint if the run has none, so that it can be resumed from its first moment.

        Its games must have been dealt.
        """
        if not self._has_checkpoint:
            self.save()

    @contextmanager
    def rescuing(self) -> Iterator[None]:
        """While entered, a file that cannot be written ends the run with what it learnt saved.

        That is tried; where the checkpoint has no room either, the older one stays.
        """
        try:
            yield
        except OSError:
            if self.model._last_obs is not None:
                with suppress(OSError):
                    self.save()
            raise
