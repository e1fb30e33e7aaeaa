"""Named ranges of deal seeds: what agents learn on, are tuned on, and are judged on.

The ranges are disjoint intervals of the seeds 0 .. 2**63 - 1, so that no deal of one can be a deal
of another, whatever is drawn in it. Seeds below 2**62 are free for training and for play; an
environment that is reset without a seed draws from them, too.
"""

from __future__ import annotations

from thegame_env.deal import as_seed
from thegame_env.rules import unknown

RANGES: dict[str, range] = {
    "training": range(2**62),
    "development": range(2**62, 2**62 + 2**61),
    "held-out": range(2**62 + 2**61, 2**63),
}
"""Name -> the deal seeds of the range.

* `training`: for learning.
* `development`: for choosing between versions and tuning parameters.
* `held-out`: for the figures that are published, and for nothing else.
"""


def deal_seed(name: str, seed: int) -> int:
    """The deal seed of number `seed` (from 0) in the range `name`.

    Raises:
        ValueError: No range of that name (the known ones are listed), or no such number in it.
    """
    if name not in RANGES:
        raise ValueError(unknown("range of deals", name, RANGES))
    as_seed(seed)
    seeds = RANGES[name]
    last = seeds.stop - seeds.start - 1
    if seed > last:
        raise ValueError(f'the range "{name}" ends at seed {last}, there is no seed {seed}')
    return seeds.start + int(seed)


def training_seed(number: int) -> int:
    """The deal seed of training number `number` (from 0); never one that agents are judged on."""
    return deal_seed("training", number)


def range_of(seed: int) -> str:
    """The name of the range that a deal seed belongs to; ValueError outside of all."""
    for name, seeds in RANGES.items():
        if seed in seeds:
            return name
    raise ValueError(f"deal seed {seed} belongs to no range, they end at 2**63")
