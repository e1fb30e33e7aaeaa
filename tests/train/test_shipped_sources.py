"""Every shipped configuration can begin in a fresh checkout: its starts and teachers are there."""

from pathlib import Path

import pytest

from train import afterstate, ppo
from train.config import PPOConfig, load_config

CONFIGS = Path(__file__).parents[2] / "configs"
LISTS = {"results", "ablations"}
PATHS = [path for path in sorted(CONFIGS.rglob("*.yaml")) if path.stem not in LISTS]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_its_sources_are_there(path):
    config = load_config(path)
    (ppo if isinstance(config, PPOConfig) else afterstate).check_sources(config)
