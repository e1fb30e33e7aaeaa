"""How many threads torch should use: whatever is fastest on this machine as busy as it is."""

from __future__ import annotations

import os
import time
from typing import Any

import torch

ROUNDS = 3
"""Gradient computations timed for each number of threads."""


def fastest_threads(policy: Any, batch_size: int) -> int:
    """The number of threads with which the policy's gradients are fastest; it is left set.

    On a busy machine one thread can beat two several times over, because torch's threads wait for
    each other at every layer.
    """
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    candidates = [n for n in (1, 2, 4, 8, 16) if n <= most]
    best = min(candidates, key=lambda threads: _seconds(policy, batch_size, threads))
    torch.set_num_threads(best)
    return best


def _seconds(policy: Any, batch_size: int, threads: int) -> float:
    """Seconds of the fastest of some gradient computations; the gradients are thrown away."""
    torch.set_num_threads(threads)
    obs = torch.zeros(batch_size, policy.observation_space.shape[0])
    actions = torch.zeros(batch_size, dtype=torch.long)
    times = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        values, logs, entropy = policy.evaluate_actions(obs, actions)
        (values.mean() + logs.mean() + entropy.mean()).backward()
        times.append(time.perf_counter() - began)
    policy.zero_grad(set_to_none=True)
    return min(times[1:])
