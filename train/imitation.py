"""The loop of the imitation phase: rounds, logs, evaluations and checkpoints, until it is over."""

from __future__ import annotations

import dataclasses
from typing import Any

from train.clone import Clone
from train.watch import Watch


def imitate(clone: Clone, model: Any, watch: Watch) -> None:
    """Imitate the teacher until the time is spent or somebody asks to stop; saved either way.

    Args:
        clone: The phase, begun or resumed.
        model: The learner; afterwards it is ready for PPO unless the run was stopped.
        watch: Looks after the run; `watch.clone` tells how far the phase is.
    """
    clone.start(model.env.reset() if model._last_obs is None else model._last_obs)
    stop, config = watch.stop, watch.config
    saved = judged = began = clone.seconds
    first = clone.positions

    def keep_on() -> bool:
        rate = (clone.positions - first) / max(clone.seconds - began, 1e-9)
        text = f"clone: {clone.positions:,} positions, {rate:,.0f}/s"
        watch.display.move(clone.progress, text)
        return not stop.requested

    while clone.progress < 1.0 and not stop.requested:
        for name, value in clone.round(keep_on).items():
            model.logger.record(name, value)
        model._last_obs, model._last_episode_starts = clone.obs, model.env.episode_starts
        if clone.seconds - judged >= 60.0 * config.evaluation.every_minutes:
            judged = clone.seconds
            _note(clone, watch, over=False)
            watch.evaluate()
        model.logger.dump(clone.positions)
        if clone.seconds - saved >= 60.0 * config.checkpoint_minutes:
            saved = clone.seconds
            _note(clone, watch, over=False)
            watch.save()
    _note(clone, watch, over=not stop.requested)
    if not stop.requested:
        clone.finish()
        watch.clone["development"] = dataclasses.asdict(watch.evaluate())
    watch.save()


def _note(clone: Clone, watch: Watch, over: bool) -> None:
    """Tell the watch how far the phase is, for checkpoints and exported weights."""
    watch.clone = {**clone.facts(), "seconds": clone.seconds, "over": over}
