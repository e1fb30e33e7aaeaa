"""How a critic that remembers teaches a value that does not: the loss, and what it is drawn from.

The value is an actor (see `train/actor_play.py`): of the plans of a decision it should prefer those
that are worth more on average over all that may have been played. What each was worth, Q, the
critic tells, who knows what was played. The loss is that of discrete soft actor-critic (Haarnoja et
al. 2018, Christodoulou 2019), the divergence of the actor's choice from softmax(Q / temperature):

    sum over plans of p (log p - log softmax(Q / temperature)),  p = softmax(utility / temperature)

As it is linear in Q, the mean over decisions that look alike to the actor is right, and its
smallest value is reached by what is best on average. Only differences of utilities count there, so
the forecast itself is fitted to the critic's by a divergence of small weight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from agents.afterstate_features import SIZE
from train.actor_play import Compared

Forward = Callable[[torch.Tensor], torch.Tensor]


class ComparedBuffer:
    """The last decisions, with the plans that were compared.

    Args:
        size: Decisions kept.
        plans: Plans of a decision.
    """

    def __init__(self, size: int, plans: int) -> None:
        self._groups, self._stored = Compared.empty(size, plans), 0

    def __len__(self) -> int:
        return min(self._stored, len(self._groups))

    def add(self, groups: Compared) -> None:
        """Keep some more, in place of the oldest."""
        at = (self._stored + np.arange(len(groups))) % len(self._groups)
        self._groups[at] = groups
        self._stored += len(groups)

    def draw(self, n: int, rng: np.random.Generator) -> Compared:
        """Some of them, drawn uniformly, with repetition."""
        return self._groups[rng.integers(0, len(self), n)]


def actor_losses(
    actor: Forward, critic: Forward, groups: Compared, worth: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Two losses of the actor, in nats.

    Args:
        actor: Logits over the bins of cards left: float32[m, SIZE] -> float32[m, BINS].
        critic: The same; no gradient flows into it.
        groups: n decisions with K plans each.
        worth: Utility of every bin, float32[BINS].
        temperature: Of the choice.

    Returns:
        The mean divergence of its choices from what the critic would choose, and that of its
        forecasts from the critic's.
    """
    shape = groups.mask.shape
    mask = torch.from_numpy(groups.mask)
    own = torch.log_softmax(actor(torch.from_numpy(groups.own).reshape(-1, SIZE)), 1)
    with torch.no_grad():
        known = torch.log_softmax(critic(torch.from_numpy(groups.known).reshape(-1, SIZE)), 1)
    logs, wanted = (
        _log_choice((chances.exp() @ worth).reshape(shape) / temperature, mask)
        for chances in (own, known)
    )
    choice = (logs.exp() * (logs - wanted)).masked_fill(~mask, 0.0).sum(1).mean()
    forecast = (known.exp() * (known - own)).sum(1).reshape(shape)[mask].mean()
    return choice, forecast


def _log_choice(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Logarithms of a softmax over the plans that there are."""
    return torch.log_softmax(logits.masked_fill(~mask, torch.finfo(logits.dtype).min), 1)
