"""Steps a second through the environments' Python interfaces, at random legal play.

The random player (sampling.py) chooses from the masks inside the measured time. What an ended game
costs is in it too: the vector environment's step that deals it anew counts as a step, as it does
for whoever trains with it; a reset of the single environments does not count, but its time does.
"""

from __future__ import annotations

import gymnasium
import numpy as np

import thegame_env  # noqa: F401  (registers TheGame-v0)
from benchmarks.measure import Speed, best_speed
from benchmarks.sampling import RandomPlayer

VECTOR_GAMES, SB3_GAMES = 1024, 512
PLAYERS = 5
_AT_ONCE = 200
"""Steps of a single environment in one call."""


def vector_env_speed(observation: str, seconds: float, games: int = VECTOR_GAMES) -> Speed:
    """`gymnasium.make_vec("TheGame-v0", num_envs=games)` with its masks, as registered."""
    env = gymnasium.make_vec("TheGame-v0", num_envs=games, players=PLAYERS, observation=observation)
    choose = RandomPlayer(games)
    infos = env.reset(seed=0)[1]

    def work() -> int:
        nonlocal infos
        infos = env.step(choose(infos["action_mask"]))[4]
        return games

    return best_speed(f"vector env, {games} games, {observation}", "steps", work, seconds)


def gym_env_speed(observation: str, seconds: float) -> Speed:
    """`gymnasium.make("TheGame-v0")` with the wrappers that it adds."""
    env = gymnasium.make("TheGame-v0", players=PLAYERS, observation=observation)
    choose = RandomPlayer(1).one
    info = env.reset(seed=0)[1]

    def work() -> int:
        nonlocal info
        for _ in range(_AT_ONCE):
            _, _, terminated, _, info = env.step(choose(info["action_mask"]))
            if terminated:
                info = env.reset()[1]
        return _AT_ONCE

    return best_speed(f"Gymnasium env, {observation}", "steps", work, seconds)


def aec_speed(observation: str, seconds: float) -> Speed:
    """The PettingZoo AEC environment, driven by `agent_iter` and `last`."""
    from thegame_env.aec_env import env as make_aec

    env = make_aec(players=PLAYERS, observation=observation)
    choose = RandomPlayer(1).one
    seed = 0

    def work() -> int:
        nonlocal seed
        env.reset(seed=seed)
        seed, steps = seed + 1, 0
        for _ in env.agent_iter():
            seen, _, terminated, _, _ = env.last()
            env.step(None if terminated else choose(seen["action_mask"]))
            steps += not terminated
        return steps

    return best_speed(f"PettingZoo AEC env, {observation}", "steps", work, seconds)


def sb3_vecenv_speed(observation: str, seconds: float, games: int = SB3_GAMES) -> Speed:
    """The stable-baselines3 VecEnv, with `env_method("action_masks")` and all infos.

    Raises:
        ImportError: stable-baselines3 is not installed.
    """
    from thegame_env.sb3_env import TheGameVecEnv

    env = TheGameVecEnv(games, PLAYERS, observation=observation)
    choose = RandomPlayer(games)
    env.reset()

    def work() -> int:
        masks = env.env_method("action_masks")
        env.step(choose(masks.view(np.int8)))
        return games

    return best_speed(f"SB3 VecEnv, {games} games, {observation}", "steps", work, seconds)
