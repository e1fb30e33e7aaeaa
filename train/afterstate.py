"""Learns the afterstate value by self-play: `thegame train configs/afterstate_*.yaml`.

The loop reads top to bottom: play a decision in every game, and once enough games have ended, fit
the network to their lambda-returns (afterstate_learner.py); now and then log, evaluate, save
(afterstate_watch.py). With several tables every round plays at one of them, drawn at random, and
the network learns from all. One process, one thread unless the configuration says otherwise; its
keys are explained in afterstate_config.py.

A resumed run goes on with the network, the optimiser, the counters and the best evaluation; its
samples and the games under way are not kept, so it first plays until there are samples again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from agents.afterstate import KIND
from train.afterstate_config import FIXED, AfterstateConfig
from train.afterstate_learner import Learner, make_net, starting_weights
from train.afterstate_watch import CHECKPOINT, WEIGHTS, Watch, still_best
from train.curves import Curves
from train.development import Score
from train.display import Display
from train.snapshot import check_same, read_checkpoint, writing
from train.stopping import StopRequest


def check_sources(config: AfterstateConfig) -> None:
    """ValueError where start or critic of the configuration cannot be had; writes nothing."""
    for key, weights in (("start", config.start), ("critic", config.critic)):
        if weights is not None:
            starting_weights(make_net(config), weights, config.table, key)


def train(
    config: AfterstateConfig,
    out: Path,
    resume: bool = False,
    report: Callable[[str], None] = print,
) -> Path:
    """Run a configuration; returns the exported weights file of the best value.

    Args:
        config: What to learn, and for how long.
        out: Folder of the run: checkpoint, TensorBoard logs, weights.
        resume: Go on from the checkpoint in `out`.
        report: Called with one line of progress every half minute and at every evaluation.

    Raises:
        ValueError: Nothing to resume, a damaged checkpoint or one of another configuration or
            version, or no weights to begin with.
        OSError: A file cannot be written; what was saved before is intact.
        KeyboardInterrupt: It was asked to stop; the checkpoint is written.
    """
    learner, best = _resumed(config, out) if resume else (Learner(config), None)
    after = learner.games if resume else None
    with (
        writing(out),
        closing(Curves(out / "tensorboard", after)) as log,
        StopRequest() as stop,
        Display(report) as display,
    ):
        watch = Watch(learner, out, log, display, best)
        if not resume:
            watch.save()  # so that the run can be resumed from its first moment
        while learner.progress < 1.0 and not stop.requested:
            watch.look(learner.step())
        watch.save()
        if stop.requested:
            raise KeyboardInterrupt
        watch.evaluate()
        watch.save()
    return out / WEIGHTS


def _resumed(config: AfterstateConfig, out: Path) -> tuple[Learner, Score | None]:
    """The learner of a checkpoint, and its best evaluation where the weights are still there."""
    path = out / CHECKPOINT
    arrays, facts = read_checkpoint(path, KIND)
    check_same(path, config.model_dump(mode="json"), _made_with(facts), FIXED)
    learner = Learner(config, (arrays, facts))
    best = Score(**facts["best"]) if facts["best"] else None
    return learner, still_best(config, out / WEIGHTS, best) if best else None


def _made_with(facts: dict[str, Any]) -> dict[str, Any]:
    """The configuration of a checkpoint, in JSON values; keys that came later as by default."""
    return {**AfterstateConfig().model_dump(mode="json"), **facts["config"]}


__all__ = ["AfterstateConfig", "Learner", "check_sources", "train"]
