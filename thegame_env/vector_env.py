"""The vector environment behind `gymnasium.make_vec("TheGame-v0", num_envs=B, ...)`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from thegame_env.deal import as_seed
from thegame_env.engine import Engine, seeds_of
from thegame_env.layout import (
    GAME,
    ILLEGAL,
    LEFT,
    PLAYING,
    SEAT,
    SEED,
    STATUS,
    STEPS,
    STUCK,
    TOPS,
    WON,
)
from thegame_env.reference import Game
from thegame_env.rules import IllegalAction, Rules, Termination
from thegame_env.settings import Settings, check_render_mode, check_snapshot, plain, start_from
from thegame_env.stepping import (
    RESET_DISABLED,
    RESET_NEXT_STEP,
    RESET_SAME_STEP,
    observe_slots,
    step_slots,
)

Float32 = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Arrays = tuple[Float32, npt.NDArray[np.float64], Bools, Bools, dict[str, Any]]

_MODES = {
    AutoresetMode.NEXT_STEP: RESET_NEXT_STEP,
    AutoresetMode.SAME_STEP: RESET_SAME_STEP,
    AutoresetMode.DISABLED: RESET_DISABLED,
}
_TERMINATIONS = np.full(4, None, object)
"""Names by status."""
_TERMINATIONS[[WON, STUCK, ILLEGAL]] = [
    Termination.WON.value,
    Termination.STUCK.value,
    Termination.ILLEGAL.value,
]


class TheGameVectorEnv(VectorEnv[Float32, npt.NDArray[np.int64], Any]):
    """B games side by side in the batch engine; the arguments are those of `TheGameEnv`.

    The infos are those of Gymnasium's own `SyncVectorEnv` over B single environments:
    `action_mask` (int8[B, A]), `seat` and `cards_left` (int64[B]), and where games end `is_success`
    and `termination`, each with its mask `_key` (bool[B]). With AutoresetMode.SAME_STEP these two
    and the ended games' `cards_left` are in `infos["final_info"]` instead, and the last
    observations in `infos["final_obs"]`.

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
        copy: Whether each step returns fresh arrays; without it observations and masks are reused
            by the next step.
        render_mode: "ansi", "rgb_array" or None; `render` gives one frame a slot.

    Raises:
        ValueError: An unknown or contradictory argument, in one sentence.
    """

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
        num_envs = plain(num_envs)
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ValueError(f"num_envs must be a whole number from 1 up, not {num_envs!r}")
        self.settings = Settings.make(
            players, rules, memory, talk, starter, observation, reward, illegal
        )
        self.table = self.settings.table
        self.num_envs, self.copy = num_envs, copy
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        modes = ["ansi", "rgb_array"]
        self.metadata = {"render_modes": modes, "autoreset_mode": self.autoreset_mode}
        self.render_mode = check_render_mode(render_mode, modes)
        self.observation_spec = self.settings.spec
        self.single_observation_space = self.settings.observation_space
        self.single_action_space = self.settings.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.engine = Engine(self.table, num_envs)
        self.engine.games[:, STATUS] = ILLEGAL
        self.dealt = False
        self._allocate()
        self._rewards = np.zeros(num_envs)
        self._ended = np.zeros((num_envs, 2), np.int64)
        self._final = np.zeros_like(self._obs)
        self._last = np.zeros(num_envs, np.int64)

    def _allocate(self) -> None:
        self._obs: Float32 = np.empty((self.num_envs, self.observation_spec.size), np.float32)
        self._mask = np.empty((self.num_envs, self.table.rules.n_actions), np.int8)

    # --- reset -----------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Float32, dict[str, Any]]:
        """Deal a game in every slot: the next one of its seed, or the first of a new seed.

        Args:
            seed: Slot i plays the games of the single environment seeded with `seed + i`; a list
                gives each slot its own, None in it leaves the slot's seed.
            options: `{"deck": ...}` or `{"position": ...}` for all slots, and `{"reset_mask":
                bool[B]}` to deal only some (for AutoresetMode.DISABLED).

        Raises:
            ValueError: A bad seed or option; nothing has changed in any slot.
        """
        if options is not None and not isinstance(options, dict):
            raise ValueError(f"reset options must be a dict, not {options!r}")
        rest = dict(options or {})
        slots = self._slots(rest.pop("reset_mask", None))
        seeds, indices = self._next_deals(seed)
        asked = slots if rest else slots[:0]
        starts = [start_from(self.table, rest, int(seeds[i]), int(indices[i])) for i in asked]
        games = self.engine.games
        games[slots, SEED], games[slots, GAME] = seeds.view(np.int64)[slots], indices[slots]
        if not rest:
            self._deal(slots)
        for slot, start in zip(asked, starts, strict=True):
            self._put(int(slot), start)
        self.dealt = True
        return self._observed()

    def _slots(self, reset_mask: Any) -> npt.NDArray[np.int64]:
        if reset_mask is None:
            return np.arange(self.num_envs)
        mask = np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != bool or not mask.any():
            raise ValueError(f"reset_mask must be bool[{self.num_envs}] with at least one True")
        if not self.dealt and not mask.all():
            raise ValueError("the first reset() deals all games: call it without a reset_mask")
        return np.flatnonzero(mask)

    def _next_deals(self, seed: Any) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Seed and game index of every slot's next game."""
        games, batch = self.engine.games, self.num_envs
        fresh = np.zeros(batch, np.int64)
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            return seeds_of(int(seed), batch), fresh
        each = [None] * batch if seed is None else list(seed)
        if len(each) != batch:
            raise ValueError(f"{len(each)} seeds for {batch} environments")
        if self.dealt:
            seeds, indices = games[:, SEED].view(np.uint64).copy(), games[:, GAME] + 1
        else:
            seeds, indices = seeds_of(int(self.np_random.integers(2**62)), batch), fresh
        for slot, given in enumerate(each):
            if given is not None:
                seeds[slot], indices[slot] = as_seed(given), 0
        return seeds, indices

    def _put(self, slot: int, start: Game | tuple[int, ...] | None) -> None:
        if isinstance(start, Game):
            self.engine.put(slot, start)
        elif start is not None:
            self.engine.deal_deck(slot, start)

    def _deal(self, slots: npt.NDArray[np.int64]) -> None:
        engine = self.engine
        if len(slots) == self.num_envs:
            engine.deal(engine.games[:, SEED].view(np.uint64), engine.games[:, GAME])
            return
        part = Engine(self.table, len(slots))
        part.deal(engine.games[slots, SEED].view(np.uint64), engine.games[slots, GAME])
        engine.games[slots], engine.decks[slots] = part.games, part.decks

    def _observed(self) -> tuple[Float32, dict[str, Any]]:
        if self.copy:
            self._allocate()
        engine = self.engine
        observe_slots(engine.games, engine.p, self.settings.encoder, self._obs, self._mask)
        return self._obs, self._position_infos()

    # --- step ------------------------------------------------------------------------------------

    def step(self, actions: npt.ArrayLike) -> Arrays:
        """Take one action in every slot.

        Raises:
            IllegalAction: Some slot's action is illegal (unless `illegal="lose"`); nothing has
                changed in any slot.
            ResetNeeded: `reset` has not been called, or a slot is finished under
                AutoresetMode.DISABLED.
        """
        chosen = self._checked(actions)
        if self.copy:
            self._allocate()
        engine, settings = self.engine, self.settings
        step_slots(
            engine.games,
            engine.decks,
            engine.p,
            chosen,
            _MODES[self.autoreset_mode],
            settings.reward_code,
            settings.encoder,
            self._obs,
            self._mask,
            self._rewards,
            self._ended,
            self._final,
        )
        self._last = chosen
        terminated = self._ended[:, 0] != PLAYING
        infos = self._position_infos()
        if terminated.any():
            self._add_endings(infos, terminated)
        return self._obs, self._rewards.copy(), terminated, np.zeros_like(terminated), infos

    def _checked(self, actions: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """The actions as int64[B], after all that `step` refuses."""
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,):
            raise IllegalAction(f"actions must have shape ({self.num_envs},), not {chosen.shape}")
        if chosen.dtype.kind not in "iu":
            raise IllegalAction(f"actions must be whole numbers, not {chosen.dtype}")
        if not self.dealt:
            raise ResetNeeded("no game has been dealt yet: call reset() before step()")
        chosen = chosen.astype(np.int64)
        if self.autoreset_mode is AutoresetMode.DISABLED:
            over = self.engine.games[:, STATUS] != PLAYING
            if over.any():
                slot = int(np.argmax(over))
                raise ResetNeeded(f"the game of slot {slot} is over: reset it before step()")
        if self.settings.illegal == "raise":
            self.engine.check(chosen)
        return chosen

    def _position_infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        games = self.engine.games
        for key, value in (
            ("action_mask", self._mask),
            ("seat", games[:, SEAT].copy()),
            ("cards_left", games[:, LEFT].copy()),
        ):
            infos[key], infos["_" + key] = value, np.ones(self.num_envs, np.bool_)
        return infos

    def _add_endings(self, infos: dict[str, Any], terminated: Bools) -> None:
        status = self._ended[:, 0]
        into = infos
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            final = np.full(self.num_envs, None, object)
            for slot in np.flatnonzero(terminated):
                final[slot] = self._final[slot].copy()
            left = np.where(terminated, self._ended[:, 1], 0)
            into = {"cards_left": left, "_cards_left": terminated.copy()}
            infos["final_obs"], infos["_final_obs"] = final, terminated.copy()
            infos["final_info"], infos["_final_info"] = into, terminated.copy()
        into["is_success"], into["_is_success"] = status == WON, terminated.copy()
        into["termination"], into["_termination"] = _TERMINATIONS[status], terminated.copy()

    # --- beyond stepping -------------------------------------------------------------------------

    def action_masks(self) -> Bools:
        """Legal actions of all slots, bool[B, A]."""
        return self._mask.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """What each slot's acting seat sees: texts (ansi) or images uint8[H, W, 3] (rgb_array)."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode given to make_vec()")
            return None
        if not self.dealt:
            raise ResetNeeded("no game has been dealt yet: call reset() before render()")
        from thegame_env.render import Frame, draw

        frames = []
        for slot in range(self.num_envs):
            last = [int(self._last[slot])] if self.engine.games[slot, STEPS] else []
            frames.append(Frame.of(self.engine.game(slot), self.table, last))
        return tuple(draw(self.render_mode, frame) for frame in frames)

    def save(self) -> dict[str, Any]:
        """A snapshot of all games (arrays are copied), for `restore`."""
        return {
            "table": self.table,
            "games": self.engine.games.copy(),
            "decks": self.engine.decks.copy(),
            "last": self._last.copy(),
        }

    def restore(self, state: dict[str, Any]) -> tuple[Float32, dict[str, Any]]:
        """Return to a snapshot of `save`; gives what `reset` gives.

        Raises:
            ValueError: The snapshot is none, of another table or batch size, or was taken before
                the first game.
        """
        check_snapshot(state, self.table, ("games", "decks", "last"))
        if state["games"].shape != self.engine.games.shape:
            raise ValueError("the saved state is of another number of games")
        if not state["games"][:, TOPS].all():
            raise ValueError("the saved state was taken before the first game")
        self.engine.games[:] = state["games"]
        self.engine.decks[:] = state["decks"]
        self._last = state["last"].copy()
        self.dealt = True
        return self._observed()
