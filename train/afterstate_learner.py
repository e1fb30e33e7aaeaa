"""What learns in afterstate self-play: the network, its optimiser, the samples and the games."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import torch

from agents.afterstate import KIND
from agents.afterstate_features import SIZE, VERSION
from agents.value_bins import BINS, utility_of
from agents.value_model import ValueModel
from thegame_env.ranges import training_seed
from thegame_env.rules import Table
from train.afterstate_config import AfterstateConfig
from train.search_play import SearchPlay
from train.self_play import SelfPlay
from train.snapshot import Arrays
from train.sources import read_start
from train.threads import use_threads
from train.value_net import ValueNet

FIRST_SAMPLES = 8 * 1024
"""Samples that must have come before the first gradient step."""
LEAST_RATE = 0.03
"""Share of the learning rate that is left at the end of a run."""


def make_net(config: AfterstateConfig) -> ValueNet:
    """The network of a configuration, with random weights."""
    return ValueNet(config.pile_width, config.card_width, config.width, config.depth_width)


def starting_weights(
    net: ValueNet, weights: str, table: Table
) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    """What `start` names, see `train.sources.read_start`."""
    wanted = {name: value.shape for name, value in net.state_dict().items()}
    return read_start(weights, KIND, VERSION, table, wanted)


class Learner:
    """The network, its optimiser, the samples and the games they come from.

    A checkpoint holds the network, the optimiser's moments, the random state, the counters and the
    lineage. It holds neither the samples nor the games under way: after a resume the games are
    dealt anew, and nothing is learnt until `FIRST_SAMPLES` new samples have come.

    Args:
        config: What to learn, and for how long.
        saved: Arrays and facts of the checkpoint to go on from; without it a new run begins, with
            the weights of `start` where the configuration has it.

    Attributes:
        lineage: What is known of the runs whose weights this one began with, oldest first.
        seconds: Processor time spent on playing and learning.
        games: Games that have ended, `decisions` the rounds of play.
        stored: Samples that have come since this start, `fresh` those not learnt from yet.

    Raises:
        ValueError: There are no weights to begin with, or the checkpoint is of another network.
    """

    def __init__(
        self, config: AfterstateConfig, saved: tuple[Arrays, dict[str, Any]] | None = None
    ) -> None:
        torch.manual_seed(config.seed)
        use_threads(config.threads)
        self.config = config
        self.net = make_net(config)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=config.learning_rate)
        self.features = np.zeros((config.buffer, SIZE), np.float32)
        self.targets = np.zeros((config.buffer, BINS), np.float32)
        self.rng = np.random.default_rng(config.seed)
        self.lineage: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.stored = self.fresh = self.games = self.decisions = 0
        if saved is not None:
            self._put(*saved)
        elif config.start is not None:
            given, self.lineage = starting_weights(self.net, config.start, config.table)
            self.net.load_state_dict(given)
        self.plays = self._self_plays(0 if saved is None else 1 + self.decisions)

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

    @property
    def learning_rate(self) -> float:
        """Adam's step now: it falls along a cosine."""
        cosine = 0.5 * (1.0 + math.cos(math.pi * self.progress))
        return self.config.learning_rate * (LEAST_RATE + (1.0 - LEAST_RATE) * cosine)

    def step(self) -> float | None:
        """One decision in every game, then a fit if enough samples have come; its loss or None."""
        began = time.process_time()
        self.collect()
        loss = self.learn() if self.ready() else None
        self.seconds += time.process_time() - began
        return loss

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
        return self.fresh >= 4 * self.config.batch_size and self.stored >= FIRST_SAMPLES

    def learn(self) -> float:
        """Fit the fresh samples (and older ones with them); the mean cross-entropy in nats."""
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
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

    def take(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and facts (JSON values) that a later start goes on from."""
        arrays = {f"net.{name}": value.numpy() for name, value in self.net.state_dict().items()}
        for index, moments in self.optimizer.state_dict()["state"].items():
            for name, value in moments.items():
                arrays[f"optimizer.{index}.{name}"] = np.atleast_1d(value.numpy())
        facts = {
            "config": self.config.model_dump(mode="json"),
            "lineage": self.lineage,
            "random": self.rng.bit_generator.state,
            "seconds": self.seconds,
            "games": self.games,
            "decisions": self.decisions,
        }
        return arrays, facts

    def _put(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        """Restore what `take` took."""
        net, moments = _sorted(arrays)
        try:
            self.net.load_state_dict(net)
        except RuntimeError:
            raise ValueError("the checkpoint is of another network") from None
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.rng.bit_generator.state = facts["random"]
        self.lineage = facts["lineage"]
        self.seconds, self.games = facts["seconds"], facts["games"]
        self.decisions = facts["decisions"]


def _sorted(
    arrays: Arrays,
) -> tuple[dict[str, torch.Tensor], dict[int, dict[str, torch.Tensor]]]:
    """The layers of the network by name, and the optimiser's moments by their number and name."""
    net: dict[str, torch.Tensor] = {}
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in arrays.items():
        part, _, name = key.partition(".")
        tensor = torch.from_numpy(value)
        if part == "net":
            net[name] = tensor
        else:
            index, _, name = name.partition(".")
            moments.setdefault(int(index), {})[name] = tensor[0] if name == "step" else tensor
    return net, moments
