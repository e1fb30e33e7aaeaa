"""What learns in afterstate self-play: the network, its optimiser, the samples and the games."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from agents.afterstate import KIND
from agents.afterstate_features import MOVED, SIZE, VERSION
from agents.value_bins import BINS, utility_of
from agents.value_model import ValueModel
from agents.weight_files import tables_of
from thegame_env.ranges import training_seed
from thegame_env.rules import Table
from train.actor_critic import ComparedBuffer, actor_losses
from train.actor_play import ActorPlay
from train.afterstate_config import AfterstateConfig
from train.averaged import Averaged
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
    """What the configuration names under `key`, see `train.sources.read_start`.

    Silent tables with memory never show how far a plan moves a pile; so what the network would do
    with it is still as random as it began, and is set to 0.
    """
    wanted = {name: value.shape for name, value in net.state_dict().items()}
    given, lineage = read_start(weights, KIND, VERSION, table, wanted, key)
    played = tables_of(lineage[-1])
    if all(row["memory"] and row["talk"] == "none" for row in played):
        given["pile.weight"][:, MOVED : MOVED + 2] = 0.0
    return given, lineage


class Learner:
    """The network, its optimiser, the samples and the games they come from.

    Where the configuration has a critic, that is a second network: it learns from the samples, and
    teaches the first (see `train/actor_critic.py`); the optimiser is one for both.

    A checkpoint holds the networks and the means of their weights, the optimiser's moments, the
    random state, the counters and the lineage. It holds neither the samples nor the games under
    way: after a resume the games are dealt anew, and nothing is learnt until `FIRST_SAMPLES` new
    samples have come.

    Args:
        config: What to learn, and for how long.
        saved: Arrays and facts of the checkpoint to go on from; without it a new run begins, with
            the weights of `start` where the configuration has it.

    Attributes:
        lineage: What is known of the runs whose weights this one began with, oldest first.
        critic_weights: Hash of the weights that the critic began with.
        losses: Of the last fit, in nats by name: "cross_entropy" (of what learns from the samples,
            the critic where there is one), "choice" and "forecast" (what the critic teaches).
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
        self.lineage: list[dict[str, Any]] = []
        self.critic_weights: str | None = None
        self.value = Averaged(self._net("start", saved is None), config.average)
        self.critic: Averaged | None = None
        self.groups = ComparedBuffer(0, config.compared)
        if config.critic is not None:
            self.critic = Averaged(self._net("critic", saved is None), config.average)
            self.groups = ComparedBuffer(max(config.buffer // 5, 1), config.compared)
        parameters = [parameter for net in self._nets for parameter in net.net.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=config.learning_rate)
        self.features = np.zeros((config.buffer, SIZE), np.float32)
        self.targets = np.zeros((config.buffer, BINS), np.float32)
        self.worth = utility_of(config.utility)
        self.rng = np.random.default_rng(config.seed)
        self.losses: dict[str, float] = {}
        self.seconds = 0.0
        self.stored = self.fresh = self.games = self.decisions = 0
        if saved is not None:
            self._put(*saved)
        self.plays = self._self_plays(0 if saved is None else 1 + self.decisions)

    @property
    def _nets(self) -> list[Averaged]:
        return [self.value] if self.critic is None else [self.value, self.critic]

    def _net(self, key: str, begins: bool) -> ValueNet:
        """A network, with the weights that the configuration names under `key` where a run begins.

        What is known of them is kept, too.
        """
        net = make_net(self.config)
        weights: str | None = getattr(self.config, key)
        if weights is not None and begins:
            given, lineage = starting_weights(net, weights, self.config.table, key)
            net.load_state_dict(given)
            if key == "start":
                self.lineage = lineage
            else:
                self.critic_weights = lineage[-1]["weights"]
        return net

    def _self_plays(self, round_: int) -> list[SelfPlay]:
        config, model = self.config, self.model()
        seed = config.seed * 1_000_003 + round_ * config.games
        plays: list[SelfPlay] = []
        for number, table in enumerate(config.played):
            dealt = training_seed(seed + number * config.games)
            plain = (table, model, self.worth, config.games, dealt, config.most, config.decay)
            if config.search_deals:
                plays.append(SearchPlay(*plain, config.search_deals, config.search_plans))
            elif self.critic is not None:
                critic, drawn = self.critic.model(), (config.temperature, config.compared)
                plays.append(ActorPlay(*plain, critic, *drawn))
            else:
                plays.append(SelfPlay(*plain))
        return plays

    def model(self) -> ValueModel:
        """The value as it stands, for play."""
        return self.value.model()

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
        if isinstance(play, ActorPlay):
            for groups in play.taken():
                self.groups.add(groups)

    def ready(self) -> bool:
        """Whether enough new samples have come for some gradient steps."""
        return self.fresh >= 4 * self.config.batch_size and self.stored >= FIRST_SAMPLES

    def learn(self) -> float:
        """Fit the fresh samples (and older ones with them); the first of `losses`."""
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        losses: dict[str, list[float]] = {"cross_entropy": []}
        for _ in range(max(int(self.fresh * config.reuse / config.batch_size), 1)):
            at = self.rng.integers(0, min(self.stored, config.buffer), config.batch_size)
            inputs, targets = torch.from_numpy(self.features[at]), self.targets[at]
            loss = _cross_entropy(self._nets[-1].net, inputs, targets)
            losses["cross_entropy"].append(loss.item())
            if self._teaches:
                taught = self._taught()
                loss = loss + taught["choice"] + config.forecast * taught["forecast"]
                for name, value in taught.items():
                    losses.setdefault(name, []).append(value.item())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for net in self._nets:
                net.follow()
        self.fresh = 0
        self._go_on()
        self.losses = {name: float(np.mean(values)) for name, values in losses.items()}
        return self.losses["cross_entropy"]

    @property
    def _teaches(self) -> bool:
        """Whether there is a critic that has learnt enough to teach, and something to compare."""
        begun = self.progress >= self.config.critic_first
        return self.critic is not None and begun and len(self.groups) > 0

    def _taught(self) -> dict[str, torch.Tensor]:
        """What the critic teaches, on some of the last decisions."""
        assert self.critic is not None
        groups = self.groups.draw(self.config.taught, self.rng)
        choice, forecast = actor_losses(
            self.value.net, self.critic.mean, groups, torch.from_numpy(self.worth),
            self.config.temperature,
        )  # fmt: skip
        return {"choice": choice, "forecast": forecast}

    def _go_on(self) -> None:
        """Play on with what was learnt."""
        model, critic = self.model(), self.critic
        known = None if critic is None else critic.model()
        for play in self.plays:
            play.learned(model)
            if isinstance(play, ActorPlay) and known is not None:
                play.critic = known

    def take(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays and facts (JSON values) that a later start goes on from."""
        arrays = self.value.take("value")
        if self.critic is not None:
            arrays |= self.critic.take("critic")
        for index, moments in self.optimizer.state_dict()["state"].items():
            for name, value in moments.items():
                arrays[f"optimizer.{index}.{name}"] = np.atleast_1d(value.numpy())
        facts = {
            "config": self.config.model_dump(mode="json"),
            "lineage": self.lineage,
            "critic_weights": self.critic_weights,
            "random": self.rng.bit_generator.state,
            "seconds": self.seconds,
            "games": self.games,
            "decisions": self.decisions,
        }
        return arrays, facts

    def _put(self, arrays: Arrays, facts: dict[str, Any]) -> None:
        """Restore what `take` took."""
        self.value.put(arrays, "value")
        if self.critic is not None:
            self.critic.put(arrays, "critic")
        state = {**self.optimizer.state_dict(), "state": _moments(arrays)}
        self.optimizer.load_state_dict(state)
        self.rng.bit_generator.state = facts["random"]
        self.lineage, self.critic_weights = facts["lineage"], facts["critic_weights"]
        self.seconds, self.games = facts["seconds"], facts["games"]
        self.decisions = facts["decisions"]


def _cross_entropy(net: ValueNet, inputs: torch.Tensor, targets: Floats) -> torch.Tensor:
    logs = torch.log_softmax(net(inputs), 1)
    return -(torch.from_numpy(targets) * logs).sum(1).mean()


def _moments(arrays: Arrays) -> dict[int, dict[str, torch.Tensor]]:
    """The optimiser's moments by the number of the weights and by name."""
    moments: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in arrays.items():
        part, _, rest = key.partition(".")
        if part == "optimizer":
            index, _, name = rest.partition(".")
            tensor = torch.from_numpy(value)
            moments.setdefault(int(index), {})[name] = tensor[0] if name == "step" else tensor
    return moments
