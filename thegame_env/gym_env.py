"""The Gymnasium environment `TheGame-v0`: one game at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from thegame_env.engine import view_batch
from thegame_env.layout import VIEW_ROW
from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import IllegalAction, Rules
from thegame_env.settings import Settings, check_render_mode, check_snapshot, plain
from thegame_env.single import Observation, SingleGame
from thegame_env.view import View


class Partner(Protocol):
    """Anything that acts for another seat."""

    def act(self, observation: Observation, legal_action_mask: npt.NDArray[np.bool_]) -> int:
        """The action chosen from the observation of the acting seat."""


class TheGameEnv(gymnasium.Env[Observation, np.int64]):
    """The Game for one to five seats.

    By default the agent acts for every seat in turn, and each time sees only what that seat may
    see (self-play with a shared policy). With `seat=` and `partners=` it acts for that seat alone,
    and an episode's steps are its own actions; their rewards include what the partners laid since
    the agent's last one. Should the partners end the game before the agent's first turn, its first
    step (any action will do) ends the episode.

    Observation: Box(0, 1, [size], float32); `env.unwrapped.observation_spec` names its slices.
    Action: Discrete(4 N + 1), `pile * N + (card - 2)` and END_TURN = 4 N. `info["action_mask"]`
    (int8[A], 1 = legal) and `action_masks()` (bool[A]) tell what is legal; at a finished game every
    action is. The info further holds `seat` (the acting one), `cards_left`, and once the game is
    over `is_success` and `termination` ("won", "stuck" or "illegal").

    Args:
        players: Seats, 1 to 5.
        rules: A preset's name or a `Rules` value.
        memory: Whether a seat remembers what has been played.
        talk: "none", "avoid" or "open".
        starter: "seat0" or "agreed".
        observation: "table" or "relative".
        reward: "score", "win" or "shaped" (see stepping.REWARDS).
        illegal: "raise" a ValueError that names the rule broken, or "lose" the game.
        seat: The one seat that the agent plays; None for all of them.
        partners: With `seat`, one partner for all other seats or one each, from the next seat on:
            agents of this project, objects with `act(observation, legal_action_mask)`, or plain
            callables of these two.
        render_mode: "ansi", "human", "rgb_array" or None.

    Raises:
        ValueError: An unknown or contradictory argument, in one sentence.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (so Gymnasium declares it)
        "render_modes": ["ansi", "human", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(
        self,
        players: int = 1,
        rules: str | Rules = "official",
        memory: bool = True,
        talk: str = "none",
        starter: str = "seat0",
        observation: str = "table",
        reward: str = "score",
        illegal: str = "raise",
        seat: int | None = None,
        partners: Partner | Callable[..., int] | Sequence[Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.settings = Settings.make(
            players, rules, memory, talk, starter, observation, reward, illegal
        )
        self.table = self.settings.table
        self.seat = plain(seat)
        self.partners = _partners(self.seat, partners, self.table.players)
        self.render_mode = check_render_mode(render_mode, self.metadata["render_modes"])
        self.observation_spec = self.settings.spec
        self.observation_space = self.settings.observation_space
        self.action_space = self.settings.action_space
        self._one = SingleGame(self.settings)
        self._running = False
        self._early = 0.0
        """Reward that the partners earned before the agent's first action."""

    # --- Gymnasium's interface -------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal the next game: the first one under a new `seed`, else the last seed's next.

        Args:
            seed: Seed of the deals; slot i of the vector environment seeded with `seed - i` plays
                the same games. Without one the first call draws a seed.
            options: `{"deck": [...]}` fixes the deal; `{"position": "..."}` starts anywhere (its
                seat becomes seat 0).

        Returns:
            The acting seat's observation and the info of that position.

        Raises:
            ValueError: A bad option; the running game is unchanged.
        """
        super().reset(seed=seed)
        if seed is None and self._one.origin is None:
            seed = int(self.np_random.integers(2**62))
        self._one.start(seed, options)
        self._running = False
        self._early = self._partners_play()
        self._running = True
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one action of the acting seat.

        Raises:
            IllegalAction: The action breaks a rule (the state is unchanged), unless
                `illegal="lose"`.
            ResetNeeded: The game is over, or none has been dealt.
        """
        if not self._running:
            raise ResetNeeded("the game is over or not dealt yet: call reset() before step()")
        reward = 0.0
        if not self._one.over:
            reward = self._one.act(action)
            reward += self._partners_play()
        reward, self._early = reward + self._early, 0.0
        over = self._one.over
        self._running = not over
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, over, False, self._info()

    def _partners_play(self) -> float:
        """Let the partners act until it is the agent's turn or the game is over; their reward."""
        if self.seat is None:
            return 0.0
        one, reward = self._one, 0.0
        while not one.over and one.seat != self.seat:
            partner = self.partners[(one.seat - self.seat) % self.table.players - 1]
            try:
                reward += one.act(self._ask(partner), strict=True)
            except IllegalAction as error:
                raise IllegalAction(f"the partner on seat {one.seat}: {error}") from None
        return reward

    def _ask(self, partner: Any) -> Any:
        one = self._one
        if not hasattr(partner, "act_rows"):
            choose = getattr(partner, "act", partner)
            return choose(one.obs.copy(), one.mask.astype(bool))
        rows = np.zeros((1, VIEW_ROW), np.int64)
        view_batch(one.engine.games, one.engine.p, rows)
        return partner.act_rows(rows, one.engine.p, one.partner_stream)[0]

    def _observation(self) -> Observation:
        """What the acting seat sees; the agent's own view where a partner ended the game."""
        if self.seat is None or self._one.seat == self.seat:
            return self._one.obs.copy()
        return self._one.observe(self.seat)

    def _info(self) -> dict[str, Any]:
        one = self._one
        info = {"action_mask": one.mask.copy(), "seat": one.seat, "cards_left": one.cards_left}
        return {**info, **one.result()} if one.over else info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions as bool[A] (the name that sb3-contrib asks for)."""
        return self._one.mask.astype(np.bool_)

    def render(self) -> Any:
        """What the acting seat sees: text (ansi), an image uint8[H, W, 3] (rgb_array), or None."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode given to make()")
            return None
        from thegame_env.render import Frame, draw

        if self._one.origin is None:
            raise ResetNeeded("no game has been dealt yet: call reset() before render()")
        last = self._one.actions[-Frame.SHOWN :]
        return draw(self.render_mode, Frame.of(self._one.game, self.table, last, self.seat))

    # --- beyond Gymnasium ------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The whole position, hands open (a reference state)."""
        return self._one.game

    @property
    def view(self) -> View:
        """What the acting seat may see."""
        return View.of(self.game, self.table)

    @property
    def cards_left(self) -> int:
        """Cards in all hands and the deck: the official score, 0 is a win."""
        return self._one.cards_left

    @property
    def record(self) -> GameRecord:
        """The game so far as a record that replays.

        Raises:
            ValueError: The game was started from a position, so it has no deal.
        """
        return self._one.record

    def save(self) -> dict[str, Any]:
        """A snapshot of the state (arrays are copied), for `restore`."""
        return {**self._one.save(), "running": self._running, "early": self._early}

    def restore(self, state: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        """Return to a snapshot of `save`; gives what `reset` gives.

        Raises:
            ValueError: The snapshot is none, of another table, or taken before the first game.
        """
        check_snapshot(state, self.table, (*SingleGame.SAVED, "running", "early"))
        if state["origin"] is None:
            raise ValueError("the saved state was taken before the first game")
        self._one.restore(state)
        self._running, self._early = state["running"], state["early"]
        return self._observation(), self._info()


def _partners(seat: int | None, partners: Any, players: int) -> tuple[Any, ...]:
    if seat is None:
        if partners is not None:
            raise ValueError("partners= needs seat=, the seat that the agent plays")
        return ()
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < players:
        raise ValueError(f"seat must be 0-{players - 1} with {players} players, not {seat!r}")
    if partners is None and players > 1:
        raise ValueError("seat= needs partners=, the agents on the other seats")
    several = isinstance(partners, Sequence) and not isinstance(partners, str)
    each = tuple(partners) if several else (partners,) * (players - 1)
    if len(each) != players - 1:
        raise ValueError(f"{len(each)} partners for {players - 1} other seats")
    for partner in each:
        if not hasattr(partner, "act_rows") and not callable(getattr(partner, "act", partner)):
            raise ValueError(
                f"a partner needs act(observation, legal_action_mask), got {partner!r}"
            )
    return each
