"""Imitation of a teacher before PPO: the student learns the learned value's choice of actions.

The teacher values the plans of every position. An action is worth what the best plan that begins
with it is worth, and the student learns the softmax of these worths, so that it is not forced to
tell apart what hardly differs. The order of plays on different piles makes no difference, so a plan
may begin with its first play on any of its piles. Later the student makes small what it expects to
lose by these worths. At first the teacher plays; then the student, in more and more of the games,
while the teacher goes on telling what it would do (DAgger: Ross, Gordon and Bagnell 2011): so the
student learns in the positions that its own mistakes lead to. The critic learns the return of these
games in the same pass.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from thegame_env.layout import GAME_ROW
from train.config import CloneSection
from train.play_counts import PlayCounts
from train.teachers import ACTIONS, teacher_for
from train.training_env import TrainingEnv

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SAME = 1e-6
"""Worths that differ by less are of plans in another order."""


@dataclass(slots=True)
class Labels:
    """What a teacher said of the games of one table at one moment."""

    games: Int64
    decks: npt.NDArray[np.int8]
    actions: Int64
    worth: Floats

    @property
    def best(self) -> Int64:
        """The best action of every game."""
        rows = np.arange(len(self.actions))
        best: Int64 = self.actions[rows, self.worth.argmax(axis=1)]
        return best


class Samples:
    """The latest labelled positions of one table, as game rows: they are seen when drawn.

    Args:
        size: Positions kept.
        cards: N.
        decks: Whether the decks' order is kept too (only a critic that sees it needs it).
    """

    def __init__(self, size: int, cards: int, decks: bool) -> None:
        self.games: Int64 = np.zeros((size, GAME_ROW), np.int64)
        self.decks: npt.NDArray[np.int8] = np.zeros((size if decks else 0, cards), np.int8)
        self.actions: npt.NDArray[np.int16] = np.zeros((size, ACTIONS), np.int16)
        self.worth: Floats = np.zeros((size, ACTIONS), np.float32)
        self.returns: Floats = np.zeros(size, np.float32)
        self.stored = 0

    def add(self, labels: list[Labels], returns: Floats) -> None:
        """Keep the positions of a stretch of play; returns are float32[T, B]."""
        for label, each in zip(labels, returns, strict=True):
            at = (self.stored + np.arange(len(each))) % len(self.games)
            self.games[at], self.actions[at] = label.games, label.actions
            self.worth[at], self.returns[at] = label.worth, each
            if len(self.decks):
                self.decks[at] = label.decks
            self.stored += len(each)

    def draw(self, n: int) -> Int64:
        """Places of `n` positions drawn evenly."""
        return np.random.randint(0, min(self.stored, len(self.games)), n)  # noqa: NPY002


class Clone:
    """The imitation phase of a run.

    A resumed one goes on with the games as they are, and who plays them. The labelled positions
    are not in the checkpoint, which they would make many times as large: the first round after a
    resumption learns from the positions of that round alone.

    Args:
        config: What it does.
        gamma: Discount of the returns that the critic learns.
        model: The PPO learner; its policy learns, its environment is played.
        seconds: Processor seconds spent before this start.
        positions: Positions labelled before.
        student: The games that the student plays, bool[B]; by default none yet.

    Attributes:
        student: The same as it is now.
        counts: What the games came to, for the logs.

    Raises:
        ValueError: A table has no teacher.
    """

    def __init__(
        self,
        config: CloneSection,
        gamma: float,
        model: Any,
        seconds: float = 0.0,
        positions: int = 0,
        student: Bools | None = None,
    ) -> None:
        self.config, self.gamma = config, gamma
        self.policy, self.env = model.policy, model.env
        assert isinstance(self.env, TrainingEnv)
        parts = self.env.parts
        tables = [part.table for part in parts]
        self.teachers = [teacher_for(table, config.teacher, config.most) for table in tables]
        cards = tables[0].rules.cards
        size = max(config.buffer // len(parts), config.batch_size)
        self.samples = [Samples(size, cards, bool(self.env.hidden)) for _ in parts]
        self.obs: Floats = np.empty((0, 0), np.float32)
        self._before, self._began = seconds, time.process_time()
        self.positions, self.agreement = positions, 0.0
        none: Bools = np.zeros(self.env.num_envs, np.bool_)
        self.student, self.counts = none if student is None else student.copy(), PlayCounts()

    @property
    def seconds(self) -> float:
        """Processor seconds spent, those before a resumption included."""
        return self._before + time.process_time() - self._began

    @property
    def progress(self) -> float:
        """Share of the imitation that is over, 0..1."""
        return min(self.seconds / (60.0 * self.config.minutes), 1.0)

    @property
    def student_share(self) -> float:
        """Share of the games that begin now in which the student will play."""
        return min(2.0 * self.progress, 1.0) * self.config.student_share

    def start(self, obs: Floats) -> None:
        """Begin with the observations of the environment as it stands.

        The clock runs from here, after the first labels, for which kernels may be compiled.
        """
        for part, teacher in zip(self.env.parts, self.teachers, strict=True):
            teacher.label(part.vector.engine.views())
        self.obs, self._began = obs, time.process_time()

    def facts(self) -> dict[str, Any]:
        """What the exported weights tell of the imitation."""
        return {
            "teachers": {teacher.name: teacher.weights_hash for teacher in self.teachers},
            "minutes": round(self.seconds / 60.0, 2),
            "positions": self.positions,
            "agreement": round(self.agreement, 4),
        }

    def round(self, keep_on: Callable[[], bool]) -> dict[str, float]:
        """Play a segment in all games and learn from it; what there is to log.

        `keep_on` is asked after every action; where it answers no, the segment is thrown away.
        """
        labels: list[list[Labels]] = []
        rewards, ended = [], []
        for _ in range(self.config.segment):
            masks = self.env.action_masks()
            said, actions = self._decide(masks)
            self.obs, reward, dones, infos = self.env.step(actions)
            self.counts.add(actions, masks, dones, infos)
            self.student[dones] = np.random.random(int(dones.sum())) < self.student_share  # noqa: NPY002
            labels.append(said)
            rewards.append(reward)
            ended.append(dones)
            if not keep_on():
                return {}
        returns = self._returns(np.array(rewards), np.array(ended))
        for i, samples in enumerate(self.samples):
            samples.add([said[i] for said in labels], returns[:, self.env.slots[i]])
        fresh = returns.size
        self.positions += fresh
        return self._learn(max(int(fresh * self.config.reuse / self.config.batch_size), 1))

    def _decide(self, masks: Bools) -> tuple[list[Labels], Int64]:
        """The teachers' labels, and the actions that are played, int64[B]."""
        said = []
        for part, teacher in zip(self.env.parts, self.teachers, strict=True):
            engine = part.vector.engine
            actions, worth = teacher.label(engine.views())
            decks = engine.decks.copy() if self.env.hidden else engine.decks[:0]
            said.append(Labels(engine.games.copy(), decks, actions, worth))
        played = np.concatenate([label.best for label in said])
        slots = np.flatnonzero(self.student)
        if len(slots):
            with torch.no_grad():
                logits = self.policy.masked_logits(torch.from_numpy(self.obs[slots]), masks[slots])
            played[slots] = logits.argmax(1).numpy()
        return said, played

    def _returns(self, rewards: Floats, ended: npt.NDArray[np.bool_]) -> Floats:
        """Discounted returns float32[T, B]; a game's rest is what the critic expects."""
        with torch.no_grad():
            after = self.policy.critic(torch.from_numpy(self.obs))[:, 0].numpy()
        returns: Floats = np.empty_like(rewards, np.float32)
        for t in range(len(rewards) - 1, -1, -1):
            after = rewards[t] + self.gamma * np.where(ended[t], 0.0, after)
            returns[t] = after
        return returns

    def _learn(self, steps: int) -> dict[str, float]:
        """Gradient steps on drawn positions; means of losses and agreement.

        The critic takes part in every other step: it has far less to learn than the actor.
        """
        config, optimizer = self.config, self.policy.optimizer
        cosine = 0.5 * (1.0 + math.cos(math.pi * self.progress))
        rate = config.final_learning_rate
        rate += cosine * (config.learning_rate - config.final_learning_rate)
        for group in optimizer.param_groups:
            group["lr"] = rate
        imitations, values, agreements = [], [], []
        for step in range(steps):
            obs, masks, actions, worth, returns = self._batch()
            loss, agreement = self._imitation(obs, masks, actions, worth)
            imitations.append(loss.item())
            agreements.append(agreement)
            if step % 2 == 0:
                value = torch.square(self.policy.critic(obs)[:, 0] - returns).mean()
                values.append(value.item())
                loss = loss + config.value_weight * value
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        self.agreement = float(np.mean(agreements))
        return {
            "clone/loss": float(np.mean(imitations)),
            "clone/value_loss": float(np.mean(values)),
            "clone/agreement": self.agreement,
            "clone/student_share": self.student_share,
            "clone/learning_rate": rate,
        }

    def _batch(self) -> tuple[torch.Tensor, ...]:
        """Observations, masks, first actions, their worths and returns, evenly of all tables."""
        n = max(self.config.batch_size // len(self.samples), 1)
        parts = []
        for i, samples in enumerate(self.samples):
            at = samples.draw(n)
            decks = samples.decks[at] if len(samples.decks) else samples.decks
            seen = self.env.observe(i, samples.games[at], decks)
            told = samples.actions[at].astype(np.int64), samples.worth[at], samples.returns[at]
            parts.append((*seen, *told))
        joined = [
            one[0] if len(one) == 1 else np.concatenate(one) for one in zip(*parts, strict=True)
        ]
        return tuple(torch.from_numpy(array) for array in joined)

    def _imitation(
        self, obs: torch.Tensor, masks: torch.Tensor, actions: torch.Tensor, worth: torch.Tensor
    ) -> tuple[torch.Tensor, float]:
        """What is to become small, and how often the likeliest action is the teacher's best."""
        config = self.config
        logits = self.policy.masked_logits(obs, masks)
        logs = torch.log_softmax(logits, 1)
        most = worth.amax(1, keepdim=True)
        chosen = (actions == logits.detach().argmax(1, keepdim=True)) & (worth >= most - SAME)
        agreement = chosen.any(1).float().mean().item()
        if self.progress < config.cross_entropy or config.cross_entropy == 1.0:
            target = torch.softmax(worth / config.temperature, 1)
            return -(target * logs.gather(1, actions)).sum(1).mean(), agreement
        regret = torch.full_like(logits, config.worst / config.temperature)
        lost = (most - worth).clamp(max=config.worst) / config.temperature
        regret.scatter_reduce_(1, actions, lost, "amin")
        chances = torch.softmax(logits, 1)
        return (chances * (regret + logs.clamp(min=-50.0))).sum(1).mean(), agreement

    def finish(self) -> None:
        """Make the policy ready for PPO: sharper, with an optimiser that remembers nothing."""
        self.policy.actor.sharpen(self.config.sharpen)
        self.policy.optimizer.state.clear()
