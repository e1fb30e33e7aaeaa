"""The keyword arguments that all environments share, checked once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces

from thegame_env.deal import check_deck
from thegame_env.notation import parse_position
from thegame_env.observation import ENCODERS, ObservationSpec, observation_spec
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table, unknown
from thegame_env.stepping import REWARDS
from thegame_env.unseen import complete

Illegal = Literal["raise", "lose"]


@dataclass(frozen=True, slots=True)
class Settings:
    """A table, what the agent sees of it, what it is rewarded for, what an illegal action does."""

    table: Table
    observation: str = "table"
    reward: str = "score"
    illegal: str = "raise"

    def __post_init__(self) -> None:
        observation_spec(self.observation, self.table)
        if self.reward not in tuple(REWARDS):
            raise ValueError(unknown("reward", self.reward, REWARDS))
        if self.illegal not in get_args(Illegal):
            raise ValueError(unknown("illegal", self.illegal, get_args(Illegal)))

    @staticmethod
    def make(
        players: int,
        rules: str | Rules,
        memory: bool,
        talk: Any,
        starter: Any,
        observation: str,
        reward: str,
        illegal: str,
    ) -> Settings:
        """Settings of an environment's keyword arguments; ValueError names the bad one."""
        table = Table(Rules.parse(rules), plain(players), memory, talk, starter)
        return Settings(table, observation, reward, illegal)

    @property
    def spec(self) -> ObservationSpec:
        """The layout of the observation."""
        return observation_spec(self.observation, self.table)

    @property
    def encoder(self) -> int:
        """Code of the observation for the kernels."""
        return ENCODERS[self.observation]

    @property
    def reward_code(self) -> int:
        """Code of the reward for the kernels."""
        return REWARDS[self.reward]

    @property
    def observation_space(self) -> spaces.Box[Any]:
        """Box(0, 1, [size], float32)."""
        return spaces.Box(0.0, 1.0, (self.spec.size,), np.float32)

    @property
    def action_space(self) -> spaces.Discrete[np.int64]:
        """Discrete(4 N + 1): every card on every pile, and END_TURN."""
        return spaces.Discrete(self.table.rules.n_actions)


def start_from(
    table: Table, options: dict[str, Any] | None, seed: int, game: int
) -> Game | tuple[int, ...] | None:
    """What `reset(options=...)` asks for: a position, a whole deck order, or None for a deal.

    `{"deck": [...]}` fixes the deal; `{"position": "..."}` starts anywhere: the position's seat
    becomes seat 0, and the unseen cards are dealt by (seed, game).

    Raises:
        ValueError: An unknown option, a bad deck, a position that is over or of another table.
    """
    if not options:
        return None
    if not isinstance(options, dict):
        raise ValueError(f"reset options must be a dict, not {options!r}")
    for key in options:
        if key not in ("deck", "position"):
            raise ValueError(unknown("reset option", key, ("deck", "position")))
    if len(options) > 1:
        raise ValueError('give either "deck" or "position" as a reset option, not both')
    if "deck" in options:
        return check_deck(table.rules, options["deck"])
    return _position(table, options["position"], seed, game)


def _position(table: Table, text: str, seed: int, game: int) -> Game:
    view = parse_position(text)
    if view.rules != table.rules or view.table.players != table.players:
        raise ValueError(
            f"the position is for {view.table.players} players of {view.rules.spec()}, this "
            f"environment for {table.players} of {table.rules.spec()}"
        )
    key = np.random.SeedSequence([seed, game]).generate_state(1, np.uint64)[0]
    start = complete(view, int(key))
    if start.outcome is not None:
        raise ValueError(f"the position is over ({start.outcome.termination}), nothing can be done")
    return start


def plain(number: Any) -> Any:
    """A numpy integer as an int; anything else as it is, for the checks to judge."""
    return int(number) if isinstance(number, np.integer) else number


def check_snapshot(state: Any, table: Table, names: Iterable[str]) -> None:
    """Refuse what `restore` cannot return to.

    Args:
        state: What should have come from the `save` of the same kind of environment.
        table: The table it must be of.
        names: The entries it must have beside its table.

    Raises:
        ValueError: It comes from no such `save`, or from another table.
    """
    if not isinstance(state, dict) or not {"table", *names} <= state.keys():
        raise ValueError("a state to restore is what save() of such an environment returned")
    if state["table"] != table:
        raise ValueError("the saved state is of another table")


def check_render_mode(mode: str | None, known: list[str]) -> str | None:
    """The render mode, if it is None or a known one; ValueError names the known ones."""
    if mode is not None and mode not in known:
        raise ValueError(unknown("render_mode", mode, known))
    return mode
