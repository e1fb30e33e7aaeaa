"""How torch computes: with how many threads, and without the slow smallest numbers."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

ROUNDS = 3
"""Gradient computations timed for each number of threads."""


def use_threads(threads: int) -> None:
    """Let torch compute with so many threads, to which numbers below the smallest normal one are 0.

    Gradients of actions of almost no probability are such numbers, and with them a product of
    matrices takes ten times as long. Threads that torch starts later do as this one does.
    """
    torch.set_flush_denormal(True)
    torch.set_num_threads(threads)


def fastest_threads(policy: Any, obs: npt.NDArray[np.float32], batch_size: int) -> int:
    """The number of threads with which the policy's gradients are fastest; it is left set.

    `obs` are observations of positions (float32[n, size]), repeated to fill the batch.

    On a busy machine one thread can beat two several times over, because torch's threads wait for
    each other at every layer.
    """
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    candidates = [n for n in (1, 2, 4, 8, 16) if n <= most]
    batch = torch.from_numpy(np.resize(obs, (batch_size, obs.shape[1])))
    best = min(candidates, key=lambda threads: _seconds(policy, batch, threads))
    use_threads(best)
    return best


def _seconds(policy: Any, obs: torch.Tensor, threads: int) -> float:
    """Seconds of the fastest of some gradient computations; the gradients are thrown away."""
    use_threads(threads)
    actions = torch.zeros(len(obs), dtype=torch.long)
    times = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        values, logs, entropy = policy.evaluate_actions(obs, actions)
        (values.mean() + logs.mean() + entropy.mean()).backward()
        times.append(time.perf_counter() - began)
    policy.zero_grad(set_to_none=True)
    return min(times[1:])
