"""The policy class that sb3-contrib's MaskablePPO trains: the networks of `policy_network.py`.

It replaces the feature extractor and the action layer of `MaskableActorCriticPolicy`, and answers
PPO's three questions directly from masked logits: SB3's distribution classes spend on 393 actions,
of which a dozen are legal, more time than the network needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from train.config import NetworkSection
from train.policy_network import PlainNet, PolicyNet, Shape, ValueNet

Masks = npt.NDArray[np.bool_] | torch.Tensor | None

ILLEGAL = -1e8
"""Logit of an illegal action: its probability is exactly 0, and no NaN arises from it."""


class SharedPilePolicy(MaskableActorCriticPolicy):  # type: ignore[misc]
    """Actor and critic over an observation, and what only the critic sees behind it.

    Args:
        arguments: Those of MaskableActorCriticPolicy.
        shape: Layout of the observation.
        network: Kind and widths.
        options: Keyword arguments of MaskableActorCriticPolicy.
    """

    def __init__(
        self, *arguments: Any, shape: Shape, network: NetworkSection, **options: Any
    ) -> None:
        self.shape, self.network = shape, network
        super().__init__(*arguments, **options)

    def _build(self, lr_schedule: Any) -> None:
        self.mlp_extractor = nn.Identity()
        self.actor, self.critic = networks(self.shape, self.network, int(self.action_space.n))
        self.optimizer = torch.optim.Adam(
            self.parameters(), lr=lr_schedule(1.0), eps=1e-5, fused=True
        )

    def masked_logits(self, obs: torch.Tensor, masks: Masks) -> torch.Tensor:
        """Logits float32[B, A], `ILLEGAL` where the mask (bool[B, A]) says so."""
        logits: torch.Tensor = self.actor(obs)
        if masks is None:
            return logits
        legal = torch.as_tensor(masks, dtype=torch.bool, device=logits.device)
        return logits.masked_fill(~legal.reshape(logits.shape), ILLEGAL)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions int64[B], values float32[B, 1] and log probabilities float32[B]."""
        logits = self.masked_logits(obs, action_masks)
        actions = logits.argmax(1) if deterministic else draw(logits)
        return actions, self.critic(obs), log_probability(logits, actions)

    def _predict(
        self, observation: Any, deterministic: bool = False, action_masks: Masks = None
    ) -> torch.Tensor:
        return self.forward(observation, deterministic, action_masks)[0]

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Masks = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values float32[B, 1], log probabilities of `actions` and entropies, float32[B]."""
        logits = self.masked_logits(obs, action_masks)
        logs = torch.log_softmax(logits, 1)
        entropy = -(logs.exp() * logs).sum(1)
        return self.critic(obs), logs.gather(1, actions[:, None])[:, 0], entropy

    def get_distribution(self, obs: torch.Tensor, action_masks: Masks = None) -> Any:
        """SB3's distribution over the legal actions, for callers outside of training."""
        distribution = self.action_dist.proba_distribution(self.actor(obs))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Values float32[B, 1]."""
        value: torch.Tensor = self.critic(obs)
        return value


def networks(shape: Shape, network: NetworkSection, actions: int) -> tuple[Any, nn.Module]:
    """The actor and the critic of a configuration."""
    if network.kind == "mlp":
        seen = shape.seen
        actor = PlainNet(seen, network.widths, actions, small=True)
        return actor, PlainNet(seen + shape.hidden, network.widths, 1, small=False)
    widths = network.pile, network.context, network.deep, network.head, network.mix
    piles = PolicyNet(shape, *widths, sees=network.sees)
    context = network.value_context
    return piles, ValueNet(shape, network.value_pile, context, context, network.value)


def draw(logits: torch.Tensor) -> torch.Tensor:
    """An action of each row by its probability, int64[B], by inverting the cumulated ones.

    The threshold lies above 0 and at most at the sum as it was rounded, so it is first reached at
    an action that adds to the sum: never at one of probability 0.
    """
    sums = torch.softmax(logits, 1).cumsum(1)
    threshold = (1.0 - torch.rand(len(sums), 1)) * sums[:, -1:]
    return (sums < threshold).sum(1)


def log_probability(logits: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """Log probabilities of `actions` (int64[B]), float32[B]."""
    return torch.log_softmax(logits, 1).gather(1, actions[:, None])[:, 0]
