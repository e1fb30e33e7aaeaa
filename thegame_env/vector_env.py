"""The vector environment behind `gymnasium.make_vec("TheGame-v0", num_envs=B, ...)`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from thegame_env.engine import Engine, seeds_of
from thegame_env.layout import GAME, ILLEGAL, LEFT, PLAYING, SEAT, SEED, STATUS, WON
from thegame_env.rules import Rules
from thegame_env.settings import Settings, start_from
from thegame_env.stepping import (
    RESET_DISABLED,
    RESET_NEXT_STEP,
    RESET_SAME_STEP,
    observe_slots,
    step_slots,
)

Float32 = npt.NDArray[np.float32]

_MODES = {
    AutoresetMode.NEXT_STEP: RESET_NEXT_STEP,
    AutoresetMode.SAME_STEP: RESET_SAME_STEP,
    AutoresetMode.DISABLED: RESET_DISABLED,
}


class TheGameVectorEnv(VectorEnv[Float32, npt.NDArray[np.int64], Any]):
    """B games side by side in the batch engine; the arguments are those of `TheGameEnv`.

    `infos["action_mask"]` is int8[B, A], `infos["seat"]` and `infos["cards_left"]` are int64[B];
    where games end, `infos["is_success"]` and `infos["cards_left"]` speak of the ended games and
    `infos["_is_success"]` (bool[B]) says which those are. With AutoresetMode.SAME_STEP the last
    observation is `infos["final_obs"]`.

    Args:
        num_envs: B.
        players: See TheGameEnv, as the following seven.
        rules: See there.
        memory: See there.
        talk: See there.
        starter: See there.
        observation: See there.
        reward: See there.
        illegal: See there.
        autoreset_mode: When an ended game is dealt anew; by default at the next step, as in
            Gymnasium's own vector environments.
        copy: Whether each step returns fresh arrays; without it they are reused by the next step.
        render_mode: Only None.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        players: int = 1,
        rules: str | Rules = "official",
        memory: bool = True,
        talk: str = "none",
        starter: str = "seat0",
        observation: str = "table",
        reward: str = "score",
        illegal: str = "raise",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ValueError(f"num_envs must be a whole number from 1 up, not {num_envs!r}")
        if render_mode is not None:
            raise ValueError("the vector environment does not render: use gymnasium.make")
        self.settings = Settings.make(
            players, rules, memory, talk, starter, observation, reward, illegal
        )
        self.table = self.settings.table
        self.num_envs, self.copy, self.render_mode = num_envs, copy, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.observation_spec = self.settings.spec
        self.single_observation_space = self.settings.observation_space
        self.single_action_space = self.settings.action_space  # type: ignore[assignment]
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.engine = Engine(self.table, num_envs)
        self.engine.games[:, STATUS] = ILLEGAL
        self._seeded = self._running = False
        self._allocate()
        self._rewards = np.zeros(num_envs)
        self._ended = np.zeros((num_envs, 2), np.int64)
        self._final = np.zeros_like(self._obs)

    def _allocate(self) -> None:
        self._obs: Float32 = np.empty((self.num_envs, self.observation_spec.size), np.float32)
        self._mask = np.empty((self.num_envs, self.table.rules.n_actions), np.int8)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Float32, dict[str, Any]]:
        """Deal a game in every slot.

        Args:
            seed: Slot i plays the games of the single environment seeded with `seed + i`; a list
                gives each slot its own.
            options: `{"deck": ...}` or `{"position": ...}` for all slots, and `{"reset_mask":
                bool[B]}` to deal only some (with AutoresetMode.DISABLED).
        """
        options = dict(options or {})
        chosen = self._chosen(options.pop("reset_mask", None))
        self._seed(seed, chosen)
        games = self.engine.games
        for slot in range(self.num_envs) if options else ():
            key = int(games[slot, SEED]) ^ int(games[slot, GAME])
            start = start_from(self.table, options, key)
            if start is not None and chosen[slot]:
                self.engine.put(slot, start)
        if not options:
            self._deal(chosen)
        self._running = True
        return self._observed()

    def _chosen(self, reset_mask: Any) -> npt.NDArray[np.bool_]:
        if reset_mask is None:
            return np.ones(self.num_envs, bool)
        mask = np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(f"reset_mask must be bool[{self.num_envs}] with at least one True")
        return mask

    def _seed(self, seed: Any, chosen: npt.NDArray[np.bool_]) -> None:
        games = self.engine.games
        if seed is None and self._seeded:
            games[chosen, GAME] += 1
            return
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else int(seed))
            first = int(self.np_random.integers(2**62)) if seed is None else int(seed)
            seeds = seeds_of(first, self.num_envs)
        else:
            if len(seed) != self.num_envs:
                raise ValueError(f"{len(seed)} seeds for {self.num_envs} environments")
            fresh = np.random.default_rng().integers(2**62, size=self.num_envs)
            seeds = np.array([fresh[i] if s is None else s for i, s in enumerate(seed)], np.uint64)
        games[chosen, SEED] = seeds.view(np.int64)[chosen]
        games[chosen, GAME] = 0
        self._seeded = True

    def _deal(self, chosen: npt.NDArray[np.bool_]) -> None:
        engine = self.engine
        if chosen.all():
            engine.deal(engine.games[:, SEED].view(np.uint64), engine.games[:, GAME])
            return
        part = Engine(self.table, int(chosen.sum()))
        part.deal(engine.games[chosen, SEED].view(np.uint64), engine.games[chosen, GAME])
        engine.games[chosen], engine.decks[chosen] = part.games, part.decks

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Float32, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], Any]:
        """Take one action in every slot.

        Raises:
            IllegalAction: Some slot's action is illegal; nothing has changed in any slot.
            ResetNeeded: `reset` has not been called, or a slot is finished under
                AutoresetMode.DISABLED.
        """
        chosen = np.asarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions must have shape ({self.num_envs},), not {chosen.shape}")
        self._check(chosen)
        if self.copy:
            self._allocate()
        step_slots(
            self.engine.games,
            self.engine.decks,
            self.engine.p,
            chosen,
            _MODES[self.autoreset_mode],
            self.settings.reward_code,
            self.settings.encoder,
            self._obs,
            self._mask,
            self._rewards,
            self._ended,
            self._final,
        )
        terminated = self._ended[:, 0] != PLAYING
        infos = self._infos(terminated)
        return self._obs, self._rewards.copy(), terminated, np.zeros_like(terminated), infos

    def _check(self, actions: npt.NDArray[np.int64]) -> None:
        if not self._running:
            raise ResetNeeded("no game has been dealt yet: call reset() before step()")
        disabled = self.autoreset_mode is AutoresetMode.DISABLED
        if disabled and (self.engine.games[:, STATUS] != PLAYING).any():
            slot = int(np.argmax(self.engine.games[:, STATUS] != PLAYING))
            raise ResetNeeded(f"the game of slot {slot} is over: reset it before step()")
        if self.settings.illegal == "raise":
            self.engine.check(actions)

    def _observed(self) -> tuple[Float32, dict[str, Any]]:
        if self.copy:
            self._allocate()
        engine = self.engine
        observe_slots(engine.games, engine.p, self.settings.encoder, self._obs, self._mask)
        self._ended[:, 1] = engine.games[:, LEFT]
        return self._obs, self._infos(np.zeros(self.num_envs, bool))

    def _infos(self, terminated: npt.NDArray[np.bool_]) -> dict[str, Any]:
        every = np.ones(self.num_envs, bool)
        infos: dict[str, Any] = {
            "action_mask": self._mask,
            "_action_mask": every,
            "seat": self.engine.games[:, SEAT].copy(),
            "_seat": every,
            "cards_left": self._ended[:, 1].copy(),
            "_cards_left": every,
        }
        if terminated.any():
            infos["is_success"] = self._ended[:, 0] == WON
            infos["_is_success"] = terminated
            if self.autoreset_mode is AutoresetMode.SAME_STEP:
                final = np.full(self.num_envs, None, object)
                for slot in np.flatnonzero(terminated):
                    final[slot] = self._final[slot].copy()
                infos["final_obs"], infos["_final_obs"] = final, terminated
                ended = {"is_success": infos["is_success"], "cards_left": infos["cards_left"]}
                infos["final_info"], infos["_final_info"] = ended, terminated
        return infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of all slots, bool[B, A]."""
        return self._mask.astype(bool)

    def save(self) -> dict[str, Any]:
        """A snapshot of all games, for `restore`."""
        return {"games": self.engine.games.copy(), "decks": self.engine.decks.copy()}

    def restore(self, state: dict[str, Any]) -> tuple[Float32, dict[str, Any]]:
        """Return to a snapshot of `save`; gives what `reset` gives."""
        self.engine.games[:] = state["games"]
        self.engine.decks[:] = state["decks"]
        self._running = self._seeded = True
        return self._observed()
