"""What happens beside afterstate self-play: progress, logs, evaluations, checkpoints, weights."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.afterstate import KIND
from agents.afterstate_features import VERSION
from agents.turn_value import LATE, TurnValue
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_weights, save_weights, table_metadata
from thegame_env.engine import parameters
from thegame_env.ranges import deal_seed
from thegame_env.rules import Table
from train.afterstate_config import AfterstateConfig
from train.afterstate_learner import Learner
from train.curves import Curves
from train.development import Score, mean_of, scores_told, table_name
from train.display import Display
from train.snapshot import write_checkpoint, writing

CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "weights.safetensors"
"""Names in a run's folder: what --resume goes on from, and the best value so far."""
RECENT = 5000
"""Games of self-play whose results are averaged in the logs."""
TOLD_SECONDS = 30.0
"""Between two lines of progress."""


class Watch:
    """Looks after a run of afterstate self-play.

    Args:
        learner: The run.
        out: Its folder.
        log: Where its curves go.
        display: Where progress is shown.
        best: The best evaluation so far, of the weights that lie in the folder.
    """

    def __init__(
        self,
        learner: Learner,
        out: Path,
        log: Curves,
        display: Display,
        best: Score | None = None,
    ) -> None:
        self.learner, self.out, self.log, self.display = learner, out, log, display
        self.best = best
        self._saved = self._told = time.monotonic()
        self._judged = learner.seconds

    def look(self, loss: float | None) -> None:
        """After every step: show, log, evaluate and save what is due; `loss` where it learnt."""
        learner, config, now = self.learner, self.learner.config, time.monotonic()
        self.display.move(learner.progress, f"{learner.games:,} games")
        if loss is not None:
            rate = learner.learning_rate
            losses = {f"train/{name}": value for name, value in learner.losses.items()}
            self._log({**losses, "train/learning_rate": rate})
        if now - self._told > TOLD_SECONDS:
            self._told = now
            self._tell()
        due = learner.seconds - self._judged >= 60 * config.evaluation_minutes
        if due and learner.progress < 1.0:  # The end is judged anyway.
            self.evaluate()
        if now - self._saved >= 60 * config.checkpoint_minutes:
            self.save()

    def _tell(self) -> None:
        """One line of progress, and the same in the logs."""
        learner = self.learner
        last = RECENT // len(learner.plays) + 1
        recent = np.concatenate([play.finished[-last:] for play in learner.plays])
        recent = recent if recent.size else np.zeros(1)
        rate = learner.games / max(learner.seconds, 1e-9)
        won, cards = float(np.mean(recent == 0)), float(recent.mean())
        self._log({
            "self_play/win_rate": won, "self_play/cards_left": cards, "self_play/games_per_s": rate,
        })  # fmt: skip
        left = learner.config.minutes - learner.seconds / 60
        self.display.line(
            f"{learner.games} games ({rate:.0f}/s), lately {100 * won:.1f} % "
            f"won, {cards:.2f} cards left; {left:.1f} minutes to go"
        )

    def evaluate(self) -> Score:
        """Judge the value as it is, which the minutes do not count; the best one is exported."""
        learner = self.learner
        scores = judge(learner.config, learner.model())
        score = mean_of(scores)
        self._judged = learner.seconds
        self._log_scores(score, scores)
        self.display.line(
            f"{learner.games} games: {100 * score.win_rate:.1f} % of {score.games:,} development "
            f"deals won, {score.cards_left:.2f} cards left"
        )
        if score.better_than(self.best):
            self.best = score
            export(learner, self.out / WEIGHTS, score, scores)
            self.save()  # or a start after a kill would think less of these weights
        return score

    def _log_scores(self, score: Score, scores: list[Score]) -> None:
        """The score of each table, and their mean where there are several."""
        names = [table_name(table) for table in self.learner.config.played]
        told = dict(zip(names, scores, strict=True))
        if len(scores) > 1:
            told["mean"] = score
        for name, one in told.items():
            self._log({
                f"development/win_rate/{name}": one.win_rate,
                f"development/cards_left/{name}": one.cards_left,
            })  # fmt: skip

    def _log(self, values: dict[str, float]) -> None:
        """Add a point to each curve, over the games played."""
        self.log.write(values, dict.fromkeys(values, ()), self.learner.games)

    def save(self) -> None:
        """Write the checkpoint."""
        arrays, facts = self.learner.take()
        facts["best"] = asdict(self.best) if self.best else None
        write_checkpoint(self.out / CHECKPOINT, arrays, facts, KIND)
        self._saved = time.monotonic()


def judge(config: AfterstateConfig, model: ValueModel) -> list[Score]:
    """Play the development deals 0..`evaluation_games`-1 of every table by a value."""
    return [_judge_at(table, config, model) for table in config.played]


def _judge_at(table: Table, config: AfterstateConfig, model: ValueModel) -> Score:
    games, worth = config.evaluation_games, utility_of(config.utility)
    value = TurnValue(parameters(table), model, worth, late=LATE)
    seeds = np.full(games, deal_seed("development", 0), np.uint64)
    left = value.play(table, seeds, np.arange(games))
    return Score(games, float(np.mean(left == 0)), float(left.mean()))


def still_best(config: AfterstateConfig, path: Path, best: Score) -> Score | None:
    """The best evaluation of a checkpoint; None where its weights at `path` are gone or damaged.

    Where it was on other deals than this run's, the weights are judged anew, as their JSON then
    tells.

    Raises:
        OSError: That cannot be written; the sentence tells the remedy.
    """
    try:
        arrays, metadata = load_weights(path, KIND, VERSION)
    except ValueError:
        return None
    if best.games == config.evaluation_games * len(config.played):
        return best
    scores = judge(config, ValueModel(arrays))
    score = mean_of(scores)
    with writing(path):
        told = scores_told(config.played, score, scores, config.tables is not None)
        save_weights(path, arrays, {**metadata, "development": told})
    return score


def export(learner: Learner, path: Path, score: Score, scores: list[Score]) -> None:
    """Write the network for the agent `afterstate`, with what is known of it.

    Args:
        learner: The run as it stands.
        path: Where (.safetensors); a JSON file comes beside it.
        score: What it reached on development deals.
        scores: The same of every table.
    """
    config = learner.config
    metadata: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "table": table_metadata(config.table),
        "config": config.model_dump(mode="json"),
        "seconds": round(learner.seconds),
        "games": learner.games,
        "lineage": learner.lineage,
        "critic_weights": learner.critic_weights,
        "development": scores_told(config.played, score, scores, config.tables is not None),
        "libraries": {"torch": torch.__version__, "numpy": np.__version__},
    }
    if config.tables is not None:
        described = [table_metadata(table) for table in config.played]
        metadata["tables"] = [row for i, row in enumerate(described) if row not in described[:i]]
    save_weights(path, learner.value.weights(), metadata)
