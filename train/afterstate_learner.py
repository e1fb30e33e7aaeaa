"""What learns in afterstate self-play: the network, its optimiser, the samples and the games."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt
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

Floats = npt.NDArray[np.float32]

FIRST_SAMPLES = 8 * 1024
"""Samples that must have come before the first gradient step."""
LEAST_RATE = 0.03
"""Share of the learning rate that is left at the end of a run."""


def make_net(config: AfterstateConfig) -> ValueNet:
    """The network of a configuration, with random weights."""
    return ValueNet(config.pile_width, config.card_width, config.width, config.depth_width)


def starting_weights(
    net: ValueNet, weights: str, table: Table, key: str = "start"
) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    """What the configuration names under `key`, see `train.sources.read_start`."""
    wanted = {name: value.shape for name, value in net.state_dict().items()}
    return read_start(weights, KIND, VERSION, table, wanted, key)


class Learner:
    """The network, its optimiser, the samples and the games they come from.

    Where the configuration has a critic, that is a second network, which learns from the same
    samples what it sees of them; the optimiser is one for both.

    A checkpoint holds the networks, the optimiser's moments, the random state, the counters and the
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
        self.critic = make_net(config) if config.critic is not None else None
        nets = [self.net] if self.critic is None else [self.net, self.critic]
        parameters = [parameter for net in nets for parameter in net.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=config.learning_rate)
        self.features = np.zeros((config.buffer, len(nets) * SIZE), np.float32)
        self.targets = np.zeros((config.buffer, BINS), np.float32)
        self.rng = np.random.default_rng(config.seed)
        self.lineage: list[dict[str, Any]] = []
        self.seconds = 0.0
        self.stored = self.fresh = self.games = self.decisions = 0
        if saved is not None:
            self._put(*saved)
        else:
            self._begin()
        self.plays = self._self_plays(0 if saved is None else 1 + self.decisions)

    def _begin(self) -> None:
        """Give the networks the weights that the configuration names."""
        start, critic, table = self.config.start, self.config.critic, self.config.table
        if start is not None:
            given, self.lineage = starting_weights(self.net, start, table)
            self.net.load_state_dict(given)
        if self.critic is not None and critic is not None:
            self.critic.load_state_dict(starting_weights(self.critic, critic, table, "critic")[0])

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
                plays.append(SelfPlay(*plain, config.most, config.decay, self.critic_model()))
        return plays

    def model(self) -> ValueModel:
        """The network as it stands, for play."""
        return _model(self.net)

    def critic_model(self) -> ValueModel | None:
        """The critic as it stands, where there is one."""
        return None if self.critic is None else _model(self.critic)

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
            inputs, targets = torch.from_numpy(self.features[at]), self.targets[at]
            loss = _cross_entropy(self.net, inputs[:, :SIZE], targets)
            losses.append(loss.item())
            if self.critic is not None:
                loss = loss + _cross_entropy(self.critic, inputs[:, SIZE:], targets)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        self.fresh = 0
        model, critic = self.model(), self.critic_model()
        for play in self.plays:
            play.learned(model, critic)
        return float(np.mean(losses))

    def take(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and facts (JSON values) that a later start goes on from."""
        arrays = {f"net.{name}": value.numpy() for name, value in self.net.state_dict().items()}
        if self.critic is not None:
            layers = self.critic.state_dict().items()
            arrays |= {f"critic.{name}": value.numpy() for name, value in layers}
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
        net, critic, moments = _sorted(arrays)
        try:
            self.net.load_state_dict(net)
            if self.critic is not None:
                self.critic.load_state_dict(critic)
        except RuntimeError:
            raise ValueError("the checkpoint is of another network") from None
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": moments})
        self.rng.bit_generator.state = facts["random"]
        self.lineage = facts["lineage"]
        self.seconds, self.games = facts["seconds"], facts["games"]
        self.decisions = facts["decisions"]


def _model(net: ValueNet) -> ValueModel:
    return ValueModel({name: value.numpy() for name, value in net.state_dict().items()})


def _cross_entropy(net: ValueNet, inputs: torch.Tensor, targets: Floats) -> torch.Tensor:
    logs = torch.log_softmax(net(inputs), 1)
    return -(torch.from_numpy(targets) * logs).sum(1).mean()


Layers = dict[str, torch.Tensor]


def _sorted(arrays: Arrays) -> tuple[Layers, Layers, dict[int, Layers]]:
    """Layers of value and critic by name, the optimiser's moments by their number and name."""
    nets: dict[str, Layers] = {"net": {}, "critic": {}}
    moments: dict[int, Layers] = {}
    for key, value in arrays.items():
        part, _, name = key.partition(".")
        tensor = torch.from_numpy(value)
        if part in nets:
            nets[part][name] = tensor
        else:
            index, _, name = name.partition(".")
            moments.setdefault(int(index), {})[name] = tensor[0] if name == "step" else tensor
    return nets["net"], nets["critic"], moments
