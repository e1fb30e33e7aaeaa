"""The loop of the imitation phase: rounds, logs, evaluations and checkpoints, until it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from train.clone import Clone
from train.curves import logging_to
from train.watch import Watch

TAGS = "clone/"
"""What the names of the imitation's curves begin with; their axis is the positions labelled."""


def imitate(clone: Clone, model: Any, watch: Watch) -> None:
    """Imitate the teacher until the time is spent or somebody asks to stop; saved either way.

    Its curves lie in a folder of their own, since their axis is not that of PPO's: TensorBoard
    shows them as a run of their own.

    Args:
        clone: The phase, begun or resumed.
        model: The learner; afterwards it is ready for PPO unless the run was stopped.
        watch: Looks after the run; `watch.clone` tells how far the phase is.
    """
    if model._last_obs is None:
        model._last_obs, model._last_episode_starts = model.env.reset(), model.env.episode_starts
    resumed_at = clone.positions if watch.clone else None
    clone.start(model._last_obs)
    _note(clone, watch, over=False)
    watch.secure()
    with logging_to(model, watch.out / "tensorboard" / "clone", resumed_at):
        _rounds(clone, model, watch)
        if not watch.stop.requested:
            clone.finish()
            _note(clone, watch, over=True)
            watch.evaluate(TAGS, clone.positions)
        watch.save()


def _rounds(clone: Clone, model: Any, watch: Watch) -> None:
    """Play and learn; evaluate and save what is due."""
    stop, config = watch.stop, watch.config
    saved = judged = clone.seconds
    speed = Speed(clone)
    keep_on = _shown(clone, watch, speed)
    while clone.progress < 1.0 and not stop.requested:
        logs = clone.round(keep_on)
        model._last_obs, model._last_episode_starts = clone.obs, model.env.episode_starts
        _note(clone, watch, over=False)
        if not logs:
            return
        logs |= {f"{TAGS}{name}": value for name, value in clone.counts.take().items()}
        logs[f"{TAGS}time/steps_per_s"] = speed.positions_per_second
        for name, value in logs.items():
            model.logger.record(name, value)
        model.logger.dump(clone.positions)
        if clone.seconds - judged >= 60.0 * config.evaluation.every_minutes:
            judged = clone.seconds
            watch.evaluate(TAGS, clone.positions)
        if clone.seconds - saved >= 60.0 * config.checkpoint_minutes:
            saved = clone.seconds
            watch.save()


def _shown(clone: Clone, watch: Watch, speed: Speed) -> Callable[[], bool]:
    """What shows the progress after every action, and says whether to go on."""

    def keep_on() -> bool:
        text = f"clone: {clone.positions:,} positions, {speed.positions_per_second:,.0f}/s"
        watch.move_clone(clone.progress, text, speed.seconds_left)
        return not watch.stop.requested

    return keep_on


class Speed:
    """How fast the imitation has been since this start.

    Args:
        clone: The phase, whose clock is processor time; this one's is that of the wall.
    """

    def __init__(self, clone: Clone) -> None:
        self._clone, self._began = clone, time.monotonic()
        self._progress, self._positions = clone.progress, clone.positions

    @property
    def positions_per_second(self) -> float:
        """Positions labelled a second, learning and evaluations included."""
        seconds = time.monotonic() - self._began
        return (self._clone.positions - self._positions) / max(seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Seconds to go; None before there is anything to tell by."""
        gained = self._clone.progress - self._progress
        seconds = time.monotonic() - self._began
        return seconds * (1.0 - self._clone.progress) / gained if gained > 0 else None


def _note(clone: Clone, watch: Watch, over: bool) -> None:
    """Tell the watch how far the phase is, for checkpoints and exported weights."""
    told = {**clone.facts(), "seconds": clone.seconds, "over": over}
    watch.clone, watch.student = {**watch.clone, **told}, clone.student
