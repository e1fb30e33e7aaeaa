"""The cooperative card game The Game (Benndorf) as an environment for agents.

`import thegame_env` registers `TheGame-v0` with Gymnasium and PettingZoo; everything else loads on
first use, so that the import stays fast.
"""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import pettingzoo

from thegame_env.rules import PRESETS, IllegalAction, Outcome, Rules, Table, Termination

__version__ = "0.1.0"

_LAZY = {
    "Game": "reference",
    "Engine": "engine",
    "View": "view",
    "SeatTalk": "view",
    "parse_position": "notation",
    "format_position": "notation",
    "GameRecord": "notation",
    "observation_spec": "observation",
    "TheGameEnv": "gym_env",
    "TheGameVectorEnv": "vector_env",
    "TheGameVecEnv": "sb3_env",
    "TheGameAEC": "aec_env",
}

__all__ = [
    "PRESETS",
    "IllegalAction",
    "Outcome",
    "Rules",
    "Table",
    "Termination",
    *(name for name in _LAZY if name != "TheGameVecEnv"),  # which needs an extra
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"thegame_env.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if "TheGame-v0" not in gymnasium.registry:
    gymnasium.register(
        id="TheGame-v0",
        entry_point="thegame_env.gym_env:TheGameEnv",
        vector_entry_point="thegame_env.vector_env:TheGameVectorEnv",
    )
if "TheGame-v0" not in pettingzoo.aec_registry:
    pettingzoo.register("aec", "TheGame-v0", "thegame_env.aec_env:env")
