"""How a speed is measured: the best of several rounds, in CPU time of one thread.

CPU time, because other programs on the machine would count as our slowness otherwise; the best
round, because what disturbs a round (caches, clock rates, a neighbour) only ever slows it down.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Speed:
    """A measured speed.

    Attributes:
        name: What was measured.
        unit: What was counted: "plays", "steps", "afterstates" or "games".
        per_s: Units a second of CPU time, best round.
        rounds: Rounds measured.
        cpu_share: CPU time over wall time of all rounds; well below 1 on a busy machine.
    """

    name: str
    unit: str
    per_s: float
    rounds: int
    cpu_share: float


def best_speed(
    name: str, unit: str, work: Callable[[], int], seconds: float, all_threads: bool = False
) -> Speed:
    """The speed of `work`, which does a little of it and returns how many units it did.

    Args:
        name: What is measured.
        unit: What `work` counts.
        work: Called again and again; once before, unmeasured (it may compile kernels).
        seconds: Wall time to spend, spread over `ROUNDS` rounds of at least one call each.
        all_threads: Count the CPU time of all threads, for work that multiplies large matrices.
    """
    work()
    clock = time.process_time if all_threads else time.thread_time
    best, wall, cpu = 0.0, time.perf_counter(), clock()
    for _ in range(ROUNDS):
        best = max(best, _round(work, seconds / ROUNDS, clock))
    wall, cpu = time.perf_counter() - wall, clock() - cpu
    return Speed(name, unit, best, ROUNDS, min(cpu / wall, 1.0))


def _round(work: Callable[[], int], seconds: float, clock: Callable[[], float]) -> float:
    units, end, started = 0, time.perf_counter() + seconds, clock()
    while True:
        units += work()
        if time.perf_counter() >= end:
            # The clock's tick, so that a single short call cannot give infinity.
            return units / max(clock() - started, 1e-7)
