"""The PettingZoo (AEC) environment: every seat is an agent of its own.

After `import thegame_env`, `pettingzoo.make("aec", "TheGame-v0")` makes it; or as its own games:

    from thegame_env import aec_env

    env = aec_env.env(players=3, rules="official")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        over = terminated or truncated
        action = None if over else choose(observation["observation"], observation["action_mask"])
        env.step(action)
"""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import Rules
from thegame_env.settings import Settings, check_render_mode
from thegame_env.single import SingleGame


class TheGameAEC(AECEnv):  # type: ignore[misc]
    """The Game with the agents seat_0, seat_1, ...

    A seat keeps acting until it ends its turn or its hand is empty. An observation is a dict of
    `observation` (float32[size]; `observation_spec` names its slices) and `action_mask` (int8[A]),
    which is all zero for a seat that is not acting, and all one once the game is over. Every agent
    gets the reward of every action, whoever took it, and all terminate together. An illegal action
    raises or loses the game for all of them (`illegal=`).

    Args:
        players: Seats, 1 to 5 (2 by default); see gym_env.TheGameEnv, as the following seven.
        rules: See there.
        memory: See there.
        talk: See there.
        starter: See there.
        observation: See there.
        reward: See there.
        illegal: See there.
        render_mode: "ansi", "human", "rgb_array" or None.

    Raises:
        ValueError: An unknown or contradictory argument, in one sentence.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "thegame_v0",
        "render_modes": ["ansi", "human", "rgb_array"],
        "render_fps": 4,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        players: int = 2,
        rules: str | Rules = "official",
        memory: bool = True,
        talk: str = "none",
        starter: str = "seat0",
        observation: str = "table",
        reward: str = "score",
        illegal: str = "raise",
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.settings = Settings.make(
            players, rules, memory, talk, starter, observation, reward, illegal
        )
        self.table = self.settings.table
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.observation_spec = self.settings.spec
        self._one = SingleGame(self.settings)
        self.possible_agents = [f"seat_{seat}" for seat in range(self.table.players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        size = self.table.rules.n_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": self.settings.observation_space,
                    "action_mask": spaces.Box(0, 1, (size,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: self.settings.action_space for agent in self.possible_agents}
        self._begin([])

    def observation_space(self, agent: str) -> spaces.Dict:
        """Dict of `observation` and `action_mask`, the same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Discrete(4 N + 1), the codec of `Rules`."""
        return self.action_spaces[agent]

    # --- PettingZoo's interface ------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the next game: the first one under a new `seed`, else the last seed's next.

        Args:
            seed: As in gym_env.TheGameEnv.reset: both play the same games.
            options: `{"deck": [...]}` or `{"position": "..."}`. (PettingZoo's `api_test` passes an
                option that is called "options"; it is ignored.)

        Raises:
            ValueError: A bad seed or option; the running game is unchanged.
        """
        if isinstance(options, dict):
            options = {key: value for key, value in options.items() if key != "options"}
        if seed is None and self._one.origin is None:
            seed = int(np.random.default_rng().integers(2**62))
        self._one.start(seed, options)
        self._begin(list(self.possible_agents))
        if self.render_mode == "human":
            self.render()

    def _begin(self, agents: list[str]) -> None:
        self.agents = agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.agent_selection = self.possible_agents[self._one.seat]
        self._skip_agent_selection = None
        self._tell()

    def _tell(self) -> None:
        info = {"cards_left": self._one.cards_left, **self._one.result()}
        self.infos = {agent: info.copy() for agent in self.agents}

    def step(self, action: Any) -> None:
        """Take one action of the selected seat; a seat whose game is over takes None.

        Raises:
            IllegalAction: The action breaks a rule (the state is unchanged), unless
                `illegal="lose"`.
            ValueError: A seat whose game is over took an action.
            ResetNeeded: All seats are done, or no game has been dealt.
        """
        if not self.agents:
            raise ResetNeeded("the game is over or not dealt yet: call reset() before step()")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        reward, one = self._one.act(action), self._one
        self._cumulative_rewards[agent] = 0.0
        for each in self.agents:
            self.rewards[each] = reward
            self._cumulative_rewards[each] += reward
        self.agent_selection = self.possible_agents[one.seat]
        if one.over:
            self.terminations = dict.fromkeys(self.agents, True)
        self._tell()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> dict[str, Any]:
        """What the seat sees, as a dict of fresh arrays `observation` and `action_mask`.

        Raises:
            ResetNeeded: No game has been dealt.
        """
        one, seat = self._one, self._seats[agent]
        if one.origin is None:
            raise ResetNeeded("no game has been dealt yet: call reset() before observe()")
        if seat == one.seat:
            return {"observation": one.obs.copy(), "action_mask": one.mask.copy()}
        mask = np.ones_like(one.mask) if one.over else np.zeros_like(one.mask)
        return {"observation": one.observe(seat), "action_mask": mask}

    def render(self) -> Any:
        """What the acting seat sees: text (ansi), an image uint8[H, W, 3] (rgb_array), or None."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode")
            return None
        from thegame_env.render import Frame, draw

        if self._one.origin is None:
            raise ResetNeeded("no game has been dealt yet: call reset() before render()")
        last = self._one.actions[-Frame.SHOWN :]
        return draw(self.render_mode, Frame.of(self._one.game, self.table, last))

    def close(self) -> None:
        """Nothing to release: frames are drawn without a window."""

    # --- beyond PettingZoo -----------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The whole position, hands open (a reference state)."""
        return self._one.game

    @property
    def record(self) -> GameRecord:
        """The game so far as a record that replays; ValueError if started from a position."""
        return self._one.record


raw_env = TheGameAEC


def env(**kwargs: Any) -> OrderEnforcingWrapper:
    """The environment as it is usually played; the arguments are those of `TheGameAEC`.

    Only the wrapper that enforces the order of calls is around it. PettingZoo's wrappers for
    illegal actions would name no rule, and punish one seat of a team: the environment handles
    them itself.
    """
    return OrderEnforcingWrapper(raw_env(**kwargs))
