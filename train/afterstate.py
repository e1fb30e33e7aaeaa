"""Learns the afterstate value by self-play: `thegame train configs/afterstate_*.yaml`.

The loop reads top to bottom: play a decision in every game; once enough games have ended, fit the
network to their lambda-returns; now and then log, evaluate, save. With several tables every round
plays at one of them, drawn at random, and the network learns from all. One process, one thread
unless the configuration says otherwise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch.utils.tensorboard import SummaryWriter

from agents.afterstate import KIND
from agents.afterstate_features import SIZE, VERSION
from agents.turn_value import LATE, TurnValue
from agents.value_bins import BINS, utility_of
from agents.value_model import ValueModel
from agents.weight_files import save_weights, table_metadata
from thegame_env.engine import parameters
from thegame_env.ranges import deal_seed, training_seed
from thegame_env.rules import Rules, Starter, Table
from train.display import Display
from train.search_play import SearchPlay
from train.self_play import SelfPlay
from train.sources import read_start
from train.stopping import StopRequest
from train.tables import Groups, distinct_tables
from train.threads import use_threads
from train.value_net import ValueNet

ONE_TABLE = ("players", "rules", "memory", "talk", "starter")
"""Keys that tell a single table, in place of `tables`."""


class AfterstateConfig(BaseModel):
    """One self-play run of the afterstate value; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["afterstate"] = "afterstate"
    players: int = Field(1, ge=1, le=5, description="Seats.")
    rules: str = Field("official", description="Preset, or a custom spec.")
    memory: bool = Field(True, description="Whether seats remember what was played.")
    talk: Literal["none", "avoid", "open"] = Field("none", description="Table talk.")
    starter: Starter = Field("seat0", description="Who begins.")
    tables: Groups | None = Field(None, description="Several tables in place of one: a list of "
                                  "groups of players, rules, memory, talk and starter, each a "
                                  "value or a list of values to combine.")  # fmt: skip
    utility: Literal["win", "score", "blend"] = Field("blend", description="What play maximises.")
    start: str | None = Field(None, min_length=1, description="Weights to begin with: a shipped "
                              "name or a path; of another table or talk they save much of the "
                              "time.")  # fmt: skip
    minutes: float = Field(15.0, gt=0, description="Length of the run, in minutes of "
                           "processor time.")  # fmt: skip
    games: int = Field(256, ge=1, description="Games played side by side, at each table.")
    most: int = Field(24, ge=1, description="Plans valued a turn (at least 96 once the deck is "
                      "empty).")  # fmt: skip
    decay: float = Field(0.8, ge=0, le=1, description="Lambda of the returns.")
    explore: float = Field(0.02, ge=0, le=1, description="Share of random plans, in every other "
                           "stretch of play.")  # fmt: skip
    search_deals: int = Field(0, ge=0, description="Dealings that every decision is searched on, "
                              "the search teaching the value (expert iteration); 0: no "
                              "search.")  # fmt: skip
    search_plans: int = Field(6, ge=2, description="Plans that a search judges.")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's step at the start; it falls along "
                                 "a cosine to 3 % of that.")  # fmt: skip
    batch_size: int = Field(1024, ge=1, description="Samples a gradient step.")
    reuse: float = Field(2.0, gt=0, description="Times that a sample is drawn, on average.")
    buffer: int = Field(100_000, ge=1, description="Samples kept.")
    pile_width: int = Field(64, ge=1, description="Outputs of the pile encoder.")
    card_width: int = Field(64, ge=1, description="Outputs of the card encoder.")
    width: int = Field(128, ge=1, description="Units of the body.")
    depth_width: int = Field(64, ge=1, description="Units behind it.")
    seed: int = Field(0, ge=0, description="Seed of deals, exploration and weights.")
    threads: int = Field(1, ge=1, description="torch threads.")
    checkpoint_minutes: float = Field(2.0, gt=0, description="Between checkpoints.")
    evaluation_games: int = Field(1000, ge=1, description="Development deals a table at the end.")

    @model_validator(mode="after")
    def _is_played(self) -> AfterstateConfig:
        both = [key for key in ONE_TABLE if key in self.model_fields_set]
        if self.tables is not None and both:
            raise ValueError(f"give tables or {', '.join(both)}, not both")
        _ = self.played
        return self

    @property
    def played(self) -> Sequence[Table]:
        """The tables."""
        if self.tables is not None:
            return distinct_tables(self.tables)
        rules = Rules.parse(self.rules)
        return [Table(rules, self.players, self.memory, self.talk, self.starter)]

    @property
    def table(self) -> Table:
        """The table, or the first of several."""
        return self.played[0]


def starting_weights(
    net: ValueNet, weights: str, table: Table
) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    """What `start` names, see `train.sources.read_start`."""
    wanted = {name: value.shape for name, value in net.state_dict().items()}
    return read_start(weights, KIND, VERSION, table, wanted)


def check_sources(config: AfterstateConfig) -> None:
    """ValueError where the start of the configuration cannot be had; writes nothing."""
    if config.start is not None:
        widths = config.pile_width, config.card_width, config.width, config.depth_width
        starting_weights(ValueNet(*widths), config.start, config.table)


class Learner:
    """The network, its optimiser, the samples and the games they come from."""

    def __init__(self, config: AfterstateConfig) -> None:
        torch.manual_seed(config.seed)
        use_threads(config.threads)
        self.config = config
        self.net = ValueNet(config.pile_width, config.card_width, config.width, config.depth_width)
        self.lineage: list[dict[str, Any]] = []
        if config.start is not None:
            self._begin_with(config.start)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate)
        self.features = np.zeros((config.buffer, SIZE), np.float32)
        self.targets = np.zeros((config.buffer, BINS), np.float32)
        self.rng = np.random.default_rng(config.seed)
        self.seconds = 0.0
        self.stored = self.fresh = self.games = self.decisions = 0
        self.plays = self._self_plays(0)

    def _begin_with(self, weights: str) -> None:
        given, self.lineage = starting_weights(self.net, weights, self.config.table)
        self.net.load_state_dict(given)

    def _self_plays(self, round_: int) -> list[SelfPlay]:
        config, model = self.config, self.model()
        seed = config.seed * 1_000_003 + round_ * config.games
        plays: list[SelfPlay] = []
        for number, table in enumerate(config.played):
            dealt = training_seed(seed + number * config.games)
            plain = (table, model, utility_of(config.utility), config.games, dealt)
            if config.search_deals:
                plays.append(
                    SearchPlay(*plain, config.most, config.decay, config.search_deals,
                               config.search_plans)
                )  # fmt: skip
            else:
                plays.append(SelfPlay(*plain, config.most, config.decay))
        return plays

    def model(self) -> ValueModel:
        """The network as it stands, for play."""
        return ValueModel({name: value.numpy() for name, value in self.net.state_dict().items()})

    @property
    def progress(self) -> float:
        """Share of the run that is over, 0..1."""
        return min(self.seconds / (60.0 * self.config.minutes), 1.0)

    def collect(self) -> None:
        """One decision in every game of a table; ended games become samples."""
        exploring = (self.decisions // (200 * len(self.plays))) % 2 == 0
        self.decisions += 1
        play = self.plays[self.rng.integers(len(self.plays)) if len(self.plays) > 1 else 0]
        for features, targets in play.step(self.config.explore if exploring else 0.0):
            at = (self.stored + np.arange(len(features))) % self.config.buffer
            self.features[at], self.targets[at] = features, targets
            self.stored += len(features)
            self.fresh += len(features)
            self.games += 1

    def ready(self) -> bool:
        """Whether enough new samples have come for some gradient steps."""
        return self.fresh >= 4 * self.config.batch_size and self.stored >= 8 * 1024

    def learn(self) -> float:
        """Fit the fresh samples (and older ones with them); the mean cross-entropy in nats."""
        config = self.config
        cosine = 0.5 * (1.0 + math.cos(math.pi * self.progress))
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (0.03 + 0.97 * cosine)
        losses = []
        for _ in range(max(int(self.fresh * config.reuse / config.batch_size), 1)):
            at = self.rng.integers(0, min(self.stored, config.buffer), config.batch_size)
            inputs = torch.from_numpy(self.features[at])
            logs = torch.log_softmax(self.net(inputs), 1)
            loss = -(torch.from_numpy(self.targets[at]) * logs).sum(1).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        self.fresh = 0
        model = self.model()
        for play in self.plays:
            play.learned(model)
        return float(np.mean(losses))

    def save(self, path: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        partial = path.with_suffix(".part")
        torch.save(
            {
                "config": self.config.model_dump(),
                "net": self.net.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "random": [self.rng.bit_generator.state, torch.get_rng_state()],
                "counters": [self.seconds, self.games, self.decisions],
            },
            partial,
        )
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint; games that were under way are dealt anew."""
        state = torch.load(path, weights_only=True)
        defaults = {key: field.default for key, field in AfterstateConfig.model_fields.items()}
        made_with, config = {**defaults, **state["config"]}, self.config.model_dump()
        if made_with != config:
            differ = [key for key, value in config.items() if made_with.get(key) != value]
            raise ValueError(f"the checkpoint was made with another {', '.join(differ)}")
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.rng.bit_generator.state = state["random"][0]
        torch.set_rng_state(state["random"][1])
        self.seconds, self.games, self.decisions = state["counters"]
        self.plays = self._self_plays(1 + self.decisions)

    def evaluate(self, table: Table, games: int) -> npt.NDArray[np.int64]:
        """Cards left, int64[games], on development deals of a table."""
        worth = utility_of(self.config.utility)
        value = TurnValue(parameters(table), self.model(), worth, late=LATE)
        seeds = np.full(games, deal_seed("development", 0), np.uint64)
        return value.play(table, seeds, np.arange(games))


def train(config: AfterstateConfig, out: Path, resume: bool = False, report: Any = print) -> Path:
    """Run a configuration; returns the exported weights file.

    Args:
        config: What to learn, and for how long.
        out: Folder of the run: checkpoint, TensorBoard logs, weights.
        resume: Go on from the checkpoint in `out`.
        report: Called with one line of progress every half minute.

    Raises:
        ValueError: Nothing to resume, or another configuration's checkpoint.
        KeyboardInterrupt: It was asked to stop; the checkpoint is written.
    """
    learner, checkpoint = Learner(config), out / "checkpoint.pt"
    out.mkdir(parents=True, exist_ok=True)
    if resume:
        if not checkpoint.exists():
            raise ValueError(f"nothing to resume: {checkpoint} does not exist")
        learner.load(checkpoint)
    log = SummaryWriter(str(out / "tensorboard"))
    saved = told = time.monotonic()
    began, before = time.process_time(), learner.seconds
    with StopRequest() as stop, Display(report) as display:
        try:
            while learner.progress < 1.0 and not stop.requested:
                learner.collect()
                if learner.ready():
                    log.add_scalar("train/cross_entropy", learner.learn(), learner.games)
                now = time.monotonic()
                learner.seconds = before + time.process_time() - began
                display.move(learner.progress, f"{learner.games:,} games")
                if now - told > 30:
                    told = now
                    display.line(_tell(learner, log))
                if now - saved > 60 * config.checkpoint_minutes:
                    saved = now
                    learner.save(checkpoint)
        finally:
            learner.save(checkpoint)
            log.close()
    if stop.requested:
        raise KeyboardInterrupt
    return export(learner, out / "weights.safetensors")


def _tell(learner: Learner, log: SummaryWriter) -> str:
    last = 5000 // len(learner.plays) + 1
    recent = np.concatenate([play.finished[-last:] for play in learner.plays])
    recent = recent if recent.size else np.zeros(1)
    rate = learner.games / max(learner.seconds, 1e-9)
    log.add_scalar("self_play/win_rate", np.mean(recent == 0), learner.games)
    log.add_scalar("self_play/cards_left", recent.mean(), learner.games)
    log.add_scalar("self_play/games_per_s", rate, learner.games)
    left = learner.config.minutes - learner.seconds / 60
    return (
        f"{learner.games} games ({rate:.0f}/s), lately {100 * np.mean(recent == 0):.1f} % won, "
        f"{recent.mean():.2f} cards left; {left:.1f} minutes to go"
    )


def export(learner: Learner, path: Path) -> Path:
    """Write the network for the agent `afterstate`, with what it reached on development deals."""
    config = learner.config
    left = [learner.evaluate(table, config.evaluation_games) for table in config.played]
    metadata: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "table": table_metadata(config.table),
        "config": config.model_dump(),
        "seconds": round(learner.seconds),
        "games": learner.games,
        "lineage": learner.lineage,
        "development": _reached(np.concatenate(left)),
    }
    if config.tables is not None:
        described = [table_metadata(table) for table in config.played]
        metadata["tables"] = [row for i, row in enumerate(described) if row not in described[:i]]
        metadata["development"]["tables"] = [
            {**row, "starter": table.starter, **_reached(ended)}
            for row, table, ended in zip(described, config.played, left, strict=True)
        ]
    arrays = {name: value.numpy() for name, value in learner.net.state_dict().items()}
    save_weights(path, arrays, metadata)
    return path


def _reached(left: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {
        "games": len(left),
        "win_rate": float(np.mean(left == 0)),
        "cards_left_mean": float(left.mean()),
    }


__all__ = ["AfterstateConfig", "Learner", "check_sources", "export", "train"]
