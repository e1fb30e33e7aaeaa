"""The vector environment as stable-baselines3 wants it, for `MaskablePPO("MlpPolicy", env)`.

The only module of this package that imports stable-baselines3 (and with it torch).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from thegame_env.rules import Rules
from thegame_env.settings import check_snapshot
from thegame_env.vector_env import TheGameVectorEnv

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise ImportError(
        'TheGameVecEnv needs stable-baselines3: pip install "thegame-env[train]"'
    ) from None

Indices = int | Iterable[int] | None


class TheGameVecEnv(VecEnv):  # type: ignore[misc]
    """B games as one stable-baselines3 `VecEnv`; an ended game is dealt anew in the same step.

    `env_method("action_masks")` answers with one bool[B, A] array. Every info holds `cards_left`
    and `TimeLimit.truncated` (always False); where a game ended, also `is_success`,
    `terminal_observation` and `episode` (return `r`, length `l`, seconds since the start `t`, as
    SB3's `Monitor` writes them), and `cards_left` then is that game's score.

    Args:
        num_envs: B.
        players: See gym_env.TheGameEnv, as the following seven.
        rules: See there.
        memory: See there.
        talk: See there.
        starter: See there.
        observation: See there.
        reward: See there.
        illegal: See there.
        render_mode: "rgb_array" or None.

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
        render_mode: str | None = None,
    ) -> None:
        self.vector = TheGameVectorEnv(
            num_envs,
            players,
            rules,
            memory,
            talk,
            starter,
            observation,
            reward,
            illegal,
            autoreset_mode=AutoresetMode.SAME_STEP,
            render_mode=render_mode,
        )
        self.settings, self.table = self.vector.settings, self.vector.table
        self.observation_spec = self.vector.observation_spec
        self.render_mode = render_mode
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)
        self._started = time.time()
        self._actions: npt.ArrayLike = ()
        super().__init__(
            num_envs, self.vector.single_observation_space, self.vector.single_action_space
        )

    # --- playing ---------------------------------------------------------------------------------

    def reset(self) -> npt.NDArray[np.float32]:
        """Deal a game in every slot, by the seeds and options given to `seed` and `set_options`."""
        seeds: list[int | None] = list(self._seeds)
        plain = np.array([not options for options in self._options])
        if plain.all() or not self.vector.dealt:
            obs, _ = self.vector.reset(seed=seeds)
        elif plain.any():
            obs, _ = self.vector.reset(seed=seeds, options={"reset_mask": plain})
        for slot in np.flatnonzero(~plain):
            only = np.arange(self.num_envs) == slot
            options = {**self._options[slot], "reset_mask": only}
            obs, _ = self.vector.reset(seed=seeds, options=options)
        self._returns[:] = 0.0
        self._lengths[:] = 0
        self._reset_seeds()
        self._reset_options()
        return obs

    def step_async(self, actions: npt.ArrayLike) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        list[dict[str, Any]],
    ]:
        """Take the actions: observations float32[B, size], rewards, dones, one info a slot.

        Raises:
            IllegalAction: Some slot's action is illegal; nothing has changed in any slot.
        """
        obs, rewards, dones, _, told = self.vector.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        infos = [
            {"cards_left": left, "TimeLimit.truncated": False}
            for left in told["cards_left"].tolist()
        ]
        for slot in np.flatnonzero(dones):
            infos[slot].update(self._ending(int(slot), told))
        self._returns[dones] = 0.0
        self._lengths[dones] = 0
        return obs, rewards.astype(np.float32), dones, infos

    def _ending(self, slot: int, told: dict[str, Any]) -> dict[str, Any]:
        final = told["final_info"]
        return {
            "cards_left": int(final["cards_left"][slot]),
            "is_success": bool(final["is_success"][slot]),
            "terminal_observation": told["final_obs"][slot],
            "episode": {
                "r": float(self._returns[slot]),
                "l": int(self._lengths[slot]),
                "t": round(time.time() - self._started, 6),
            },
        }

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions of all slots, bool[B, A]."""
        return self.vector.action_masks()

    # --- the rest of VecEnv's interface ----------------------------------------------------------

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> Any:
        """`action_masks` of the chosen slots as one array; no slot has another method.

        Raises:
            AttributeError: Another method.
        """
        if method_name != "action_masks":
            raise AttributeError(f'a slot has no method "{method_name}", only "action_masks"')
        masks = self.action_masks(*method_args, **method_kwargs)
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The attribute, which all slots share, once a chosen slot."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Refused: the slots share one batch, its settings are fixed when it is made.

        Raises:
            AttributeError: Always.
        """
        raise AttributeError(f'"{attr_name}" cannot be set: make a new environment instead')

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Indices = None
    ) -> list[bool]:
        """Whether a slot does what the wrapper does: only `Monitor`'s episode statistics."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """One drawn table a slot; None each without render_mode="rgb_array"."""
        if self.render_mode != "rgb_array":
            return [None] * self.num_envs
        return list(self.vector.render() or ())

    def close(self) -> None:
        """Nothing to release."""
        self.vector.close()

    # --- snapshots -------------------------------------------------------------------------------

    @property
    def episode_starts(self) -> npt.NDArray[np.bool_]:
        """bool[B]: the slots whose game has just been dealt."""
        starts: npt.NDArray[np.bool_] = self._lengths == 0
        return starts

    def save(self) -> dict[str, Any]:
        """A snapshot of all games and running episode statistics, for `restore`."""
        return {
            **self.vector.save(),
            "returns": self._returns.copy(),
            "lengths": self._lengths.copy(),
        }

    def restore(self, state: dict[str, Any]) -> npt.NDArray[np.float32]:
        """Return to a snapshot; gives the observations, as `reset` does.

        To resume training exactly, assign them to the model's `_last_obs`, and `episode_starts` to
        its `_last_episode_starts`.

        Raises:
            ValueError: As TheGameVectorEnv.restore.
        """
        check_snapshot(state, self.table, ("returns", "lengths"))
        obs, _ = self.vector.restore(state)
        self._returns[:] = state["returns"]
        self._lengths[:] = state["lengths"]
        return obs
