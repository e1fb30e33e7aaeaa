"""What a user would use otherwise: other libraries' games, each beside our environment of its kind.

All are played at random through their Python interfaces, on one core, with what an agent needs at
each step: the observation and the legal actions. They are other games, so the ratios tell what an
environment step costs, not how good a library is.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import gymnasium

import thegame_env  # noqa: F401  (registers TheGame-v0)
from benchmarks.environment_speed import (
    PLAYERS,
    aec_speed,
    gym_env_speed,
    vector_env_speed,
)
from benchmarks.measure import Speed, best_speed
from benchmarks.sampling import RandomPlayer

SYNC_GAMES = 64


@dataclass(frozen=True, slots=True)
class Comparison:
    """Another environment's speed beside ours."""

    other: Speed
    ours: Speed

    @property
    def ratio(self) -> float:
        """How many of our steps are taken in the time of one of theirs."""
        return self.ratio_to(self.ours)

    def ratio_to(self, ours: Speed) -> float:
        """The same for another environment of ours."""
        return ours.per_s / self.other.per_s


@dataclass(frozen=True, slots=True)
class Rival:
    """One comparison that can be run.

    Attributes:
        name: What it is, in a table.
        needs: Modules that must be installed for it.
        measure: Its speed for a time in seconds.
        ours: The speed of our environment with the same kind of interface.
    """

    name: str
    needs: tuple[str, ...]
    measure: Callable[[float], Speed]
    ours: Callable[[float], Speed]

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules that are not installed."""
        return tuple(module for module in self.needs if find_spec(module) is None)


def rlcard_speed(seconds: float) -> Speed:
    """RLCard's Uno, by `reset` and `step`; its states hold the observation and legal actions."""
    import rlcard

    env = rlcard.make("uno", config={"seed": 0})
    pick = random.Random(0).choice

    def work() -> int:
        state, _ = env.reset()
        steps = 0
        while not env.is_over():
            state, _ = env.step(pick(list(state["legal_actions"])))
            steps += 1
        return steps

    return best_speed("RLCard, Uno", "steps", work, seconds)


def openspiel_speed(seconds: float) -> Speed:
    """OpenSpiel's Hanabi for five through pyspiel, with observation tensors and legal actions."""
    import pyspiel

    game = pyspiel.load_game(f"hanabi(players={PLAYERS})")
    draw = random.Random(0)

    def work() -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(draw.choices(outcomes, weights)[0])
                continue
            state.observation_tensor(state.current_player())
            state.apply_action(draw.choice(state.legal_actions()))
            steps += 1
        return steps

    return best_speed("OpenSpiel, Hanabi", "steps", work, seconds)


def pettingzoo_speed(seconds: float) -> Speed:
    """PettingZoo's Texas Hold'em, by `agent_iter` and `last`."""
    import pettingzoo

    env = pettingzoo.make("aec", "classic/texas_holdem-v4")
    choose = RandomPlayer(1).one
    seed = 0

    def work() -> int:
        nonlocal seed
        env.reset(seed=seed)
        seed, steps = seed + 1, 0
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else choose(seen["action_mask"]))
            steps += not over
        return steps

    return best_speed("PettingZoo, Texas Hold'em", "steps", work, seconds)


def sync_vector_speed(seconds: float, games: int = SYNC_GAMES) -> Speed:
    """Gymnasium's SyncVectorEnv over our single environment."""
    env = gymnasium.make_vec(
        "TheGame-v0",
        num_envs=games,
        vectorization_mode="sync",
        players=PLAYERS,
        observation="table",
    )
    choose = RandomPlayer(games)
    infos = env.reset(seed=0)[1]

    def work() -> int:
        nonlocal infos
        infos = env.step(choose(infos["action_mask"]))[4]
        return games

    return best_speed(f"SyncVectorEnv of our env, {games} games", "steps", work, seconds)


def _our_gym(seconds: float) -> Speed:
    return gym_env_speed("table", seconds)


def _our_aec(seconds: float) -> Speed:
    return aec_speed("table", seconds)


def _our_vector(seconds: float) -> Speed:
    return vector_env_speed("table", seconds)


RIVALS = (
    Rival("an RLCard game", ("rlcard",), rlcard_speed, _our_gym),
    Rival("an OpenSpiel card game", ("pyspiel",), openspiel_speed, _our_gym),
    Rival("a PettingZoo classic game", ("rlcard", "pygame"), pettingzoo_speed, _our_aec),
    Rival("Gymnasium's SyncVectorEnv of our environment", (), sync_vector_speed, _our_vector),
)


def compare(rival: Rival, seconds: float) -> Comparison:
    """Measure a rival and our environment, one after the other."""
    return Comparison(rival.measure(seconds), rival.ours(seconds))


def skipped(rivals: tuple[Rival, ...] = RIVALS) -> str | None:
    """One sentence on what cannot be compared here; None where everything can."""
    absent = [rival for rival in rivals if rival.missing]
    if not absent:
        return None
    modules = sorted({module for rival in absent for module in rival.missing})
    names = ", ".join(rival.name for rival in absent)
    return (
        f"Not compared: {names} ({', '.join(modules)} not installed: "
        'pip install "thegame-env[bench]").'
    )
