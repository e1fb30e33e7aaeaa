"""The games that a run learns from, as one stable-baselines3 `VecEnv` over one or more tables.

Beyond `TheGameVecEnv` it can start games late (a curriculum), and append to the observations what
only a critic may see while it learns: the other hands and the order of the deck.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from thegame_env.compiled import kernel
from thegame_env.layout import DECK_AT, HANDS, P_CARDS, P_PLAYERS, SEAT, WORD
from thegame_env.observation import ENCODERS
from thegame_env.rules import MAX_SEATS, Table
from thegame_env.sb3_env import TheGameVecEnv
from thegame_env.stepping import observe_slots
from train.late_starts import LateStarts

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
Bools = npt.NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

DEALS_A_PART = 1 << 16
"""Distance of the deal seeds of two tables of a run."""


def hidden_size(cards: int) -> int:
    """Length of what only the critic sees: the hands of offsets 1..4, and the deck's order."""
    return MAX_SEATS * cards


@kernel
def write_hidden(games: Any, decks: Any, p: Any, out: Any) -> None:
    """Write the other hands by offset, and when each card of the deck comes (1 next, near 0 last).

    Args:
        games: int64[n, GAME_ROW].
        decks: int8[n, N].
        p: Parameter row.
        out: Out, float32[n, MAX_SEATS * N].
    """
    cards, players = p[P_CARDS], p[P_PLAYERS]
    out[:] = np.float32(0.0)
    for b in range(games.shape[0]):
        game = games[b]
        for offset in range(1, players):
            hand = HANDS + 2 * ((game[SEAT] + offset) % players)
            for index in range(cards):
                word, bit = (hand, index) if index < WORD else (hand + 1, index - WORD)
                out[b, (offset - 1) * cards + index] = np.float32((game[word] >> bit) & 1)
        for at in range(game[DECK_AT], cards):
            index = decks[b, at] - 2
            out[b, (MAX_SEATS - 1) * cards + index] = np.float32(1.0 - (at - game[DECK_AT]) / cards)


class TrainingEnv(VecEnv):  # type: ignore[misc]
    """B games, spread evenly over tables with equally long observations.

    Args:
        tables: What is played.
        games: B; at least one a table.
        observation: Kind of the observation.
        reward: Kind of the reward.
        hidden: Whether to append what only the critic may see.
        late: Where some of the games begin, by table; None for ordinary deals.

    Raises:
        ValueError: Fewer games than tables, or tables whose observations differ.
    """

    def __init__(
        self,
        tables: Sequence[Table],
        games: int,
        observation: str,
        reward: str,
        hidden: bool = False,
        late: Sequence[LateStarts] | None = None,
    ) -> None:
        if games < len(tables):
            raise ValueError(f"games: {games} are too few for {len(tables)} tables")
        bounds = np.linspace(0, games, len(tables) + 1).round().astype(int)
        self.parts = [
            TheGameVecEnv(
                int(n), table.players, table.rules, table.memory, table.talk, table.starter,
                observation=observation, reward=reward,
            )
            for table, n in zip(tables, np.diff(bounds), strict=True)
        ]  # fmt: skip
        self.slots = [slice(a, b) for a, b in pairwise(bounds)]
        self.code, self.late = ENCODERS[observation], late
        self.seen = self.parts[0].observation_spec.size
        actions = self.parts[0].action_space.n
        for part in self.parts:
            if (part.observation_spec.size, part.action_space.n) != (self.seen, actions):
                raise ValueError("tables: their observations differ, one network cannot read both")
        cards = tables[0].rules.cards
        self.hidden = hidden_size(cards) if hidden else 0
        space = spaces.Box(0.0, 1.0, (self.seen + self.hidden,), np.float32)
        self._actions: Int64 = np.zeros(games, np.int64)
        self.render_mode = None
        super().__init__(games, space, spaces.Discrete(actions))

    # --- playing ---------------------------------------------------------------------------------

    def start(self, seed: int) -> None:
        """Fix the deals: slot b of the first table has seed + b, and so on."""
        for i, part in enumerate(self.parts):
            part.seed(seed + i * DEALS_A_PART)

    def reset(self) -> Floats:
        """Deal a game in every slot."""
        obs = [part.reset() for part in self.parts]
        fresh = [self._finish(i, one, np.ones(len(one), np.bool_)) for i, one in enumerate(obs)]
        return _joined(fresh)

    def step_async(self, actions: npt.ArrayLike) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[Floats, Floats, Bools, list[dict[str, Any]]]:
        """Take the actions; see TheGameVecEnv.step_wait."""
        seen, rewards, ended, infos = [], [], [], []
        for i, (part, slots) in enumerate(zip(self.parts, self.slots, strict=True)):
            part.step_async(self._actions[slots])
            obs, reward, dones, told = part.step_wait()
            seen.append(self._finish(i, obs, dones))
            rewards.append(reward)
            ended.append(dones)
            infos += told
        return _joined(seen), _joined(rewards), _joined(ended), infos

    def _finish(self, i: int, obs: Floats, fresh: Bools) -> Floats:
        """Observations of part i, with late starts among its fresh games, and the hidden part."""
        vector = self.parts[i].vector
        engine = vector.engine
        if self.late is not None:
            slots = self.late[i].place(engine.games, engine.decks, np.flatnonzero(fresh))
            if len(slots):
                obs[slots], vector._mask[slots] = self._seen(i, engine.games[slots])
        return self._with_hidden(i, obs, engine.games, engine.decks)

    def _with_hidden(self, i: int, obs: Floats, games: Int64, decks: Int8) -> Floats:
        if not self.hidden:
            return obs
        hidden: Floats = np.empty((len(obs), self.hidden), np.float32)
        write_hidden(games, decks, self.parts[i].vector.engine.p, hidden)
        return np.concatenate([obs, hidden], axis=1)

    def _seen(self, i: int, games: Int64) -> tuple[Floats, Int8]:
        obs: Floats = np.empty((len(games), self.seen), np.float32)
        masks: Int8 = np.empty((len(games), int(self.action_space.n)), np.int8)
        observe_slots(games, self.parts[i].vector.engine.p, self.code, obs, masks)
        return obs, masks

    def observe(self, i: int, games: Int64, decks: Int8) -> tuple[Floats, Int8]:
        """What `step_wait` would show of games of part i, and the masks int8[n, A]."""
        obs, masks = self._seen(i, games)
        return self._with_hidden(i, obs, games, decks), masks

    def action_masks(self) -> Bools:
        """Legal actions of all slots, bool[B, A]."""
        return _joined([part.action_masks() for part in self.parts])

    # --- snapshots -------------------------------------------------------------------------------

    @property
    def episode_starts(self) -> Bools:
        """bool[B]: the slots whose game has just been dealt."""
        return _joined([part.episode_starts for part in self.parts])

    def save(self) -> dict[str, Any]:
        """Arrays that tell all games and where later ones begin, for `restore`."""
        games = {
            f"{i}.{name}": value
            for i, part in enumerate(self.parts)
            for name, value in part.save().items()
            if name != "table"
        }
        return games | {f"{i}.late": late.save() for i, late in enumerate(self.late or ())}

    def restore(self, arrays: dict[str, Any]) -> Floats:
        """Return to what `save` told; gives the observations."""
        seen = []
        for i, late in enumerate(self.late or ()):
            late.restore(arrays[f"{i}.late"])
        for i, part in enumerate(self.parts):
            names = ("games", "decks", "last", "returns", "lengths")
            state = {name: arrays[f"{i}.{name}"] for name in names}
            obs = part.restore({"table": part.table, **state})
            engine = part.vector.engine
            seen.append(self._with_hidden(i, obs, engine.games, engine.decks))
        return _joined(seen)

    # --- the rest of VecEnv's interface ----------------------------------------------------------

    def env_method(
        self, method_name: str, *arguments: Any, indices: Any = None, **named: Any
    ) -> Any:
        """`action_masks` of all slots as one array; AttributeError for any other method."""
        if method_name != "action_masks":
            raise AttributeError(f'a slot has no method "{method_name}", only "action_masks"')
        return self.action_masks()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, which all slots share, once a slot."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: AttributeError."""
        raise AttributeError(f'"{attr_name}" cannot be set: make a new environment instead')

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Whether a slot does what the wrapper does: only `Monitor`'s episode statistics."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to release."""


def _joined(parts: list[npt.NDArray[Scalar]]) -> npt.NDArray[Scalar]:
    """The arrays one behind another, without a copy where there is one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
