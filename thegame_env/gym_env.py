"""The Gymnasium environment `TheGame-v0`: one game at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded

from thegame_env.engine import Engine
from thegame_env.layout import GAME, ILLEGAL, LEFT, PLAYING, SEAT, SEED, STATUS, WON
from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import Rules, Termination
from thegame_env.settings import Settings, start_from
from thegame_env.stepping import observe_slots, step_single
from thegame_env.view import View

Observation = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]


class Partner(Protocol):
    """Anything that acts for another seat."""

    def act(self, observation: Observation, legal_action_mask: npt.NDArray[np.bool_]) -> int:
        """The action chosen from the observation of the acting seat."""


class TheGameEnv(gymnasium.Env[Observation, np.int64]):
    """The Game for one to five seats.

    By default the agent acts for every seat in turn, and each time sees only what that seat may
    see (self-play with a shared policy). With `seat=` and `partners=` it acts for that seat alone,
    and an episode's steps are its own plays.

    Observation: Box(0, 1, [size], float32); `env.unwrapped.observation_spec` names its slices.
    Action: Discrete(4 N + 1), `pile * N + (card - 2)` and END_TURN = 4 N. `info["action_mask"]`
    (int8[A], 1 = legal) and `action_masks()` (bool[A]) tell what is legal; at a finished game every
    action is.

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
            objects with `act(observation, legal_action_mask)`, or plain callables.
        render_mode: "ansi", "human", "rgb_array" or None.

    Raises:
        ValueError: An unknown or contradictory argument, in one sentence.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
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
        self.seat, self.partners = seat, _partners(seat, partners, players)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = ", ".join(self.metadata["render_modes"])
            raise ValueError(f'unknown render_mode "{render_mode}"; known: {modes}')
        self.render_mode = render_mode
        self.observation_spec = self.settings.spec
        self.observation_space = self.settings.observation_space
        self.action_space = self.settings.action_space  # type: ignore[assignment]
        self._engine = Engine(self.table, 1)
        self._engine.games[0, STATUS] = ILLEGAL
        self._args = (self._engine.games, self._engine.decks, self._engine.p)
        self._codes = (self.settings.reward_code, self.settings.encoder)
        self._obs = np.zeros((1, self.observation_spec.size), np.float32)
        self._mask = np.ones((1, self.table.rules.n_actions), np.int8)
        self._buffers = (self._obs[0], self._mask[0], np.zeros(4))
        self._seeded = self._running = False
        self._start: Game | None = None
        self._actions: list[int] = []

    # --- Gymnasium's interface -------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal the next game: the first one under a new `seed`, else the seed's next.

        Args:
            seed: Seed of the deals; slot i of the vector environment seeded with `seed - i` plays
                the same games.
            options: `{"deck": [...]}` fixes the deal, `{"position": "..."}` starts anywhere.

        Returns:
            The acting seat's observation and the info of that position.
        """
        super().reset(seed=seed)
        row = self._engine.games[0]
        if seed is not None or not self._seeded:
            first = self.np_random.integers(2**63) if seed is None else seed
            row[SEED], row[GAME] = np.uint64(first).view(np.int64), 0
            self._seeded = True
        else:
            row[GAME] += 1
        self._start = start_from(self.table, options, int(row[SEED]) ^ int(row[GAME]))
        if self._start is None:
            self._engine.deal(row[SEED].view(np.uint64), row[GAME])
        else:
            self._engine.put(0, self._start)
        self._actions = []
        self._running = True
        observe_slots(self._args[0], self._args[2], self._codes[1], self._obs, self._mask)
        self._partners_play()
        if self.render_mode == "human":
            self.render()
        return self._obs[0].copy(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one action of the acting seat.

        Raises:
            IllegalAction: The action breaks a rule (the state is unchanged), unless
                `illegal="lose"`.
            ResetNeeded: The game is over, or none has been dealt.
        """
        if not self._running:
            raise ResetNeeded("the game is over or not dealt yet: call reset() before step()")
        reward = self._take(action)
        reward += self._partners_play()
        status = int(self._args[0][0, STATUS])
        self._running = status == PLAYING
        if self.render_mode == "human":
            self.render()
        return self._obs[0].copy(), reward, status != PLAYING, False, self._info()

    def _take(self, action: Any) -> float:
        obs, mask, out = self._buffers
        step_single(*self._args, int(action), *self._codes, obs, mask, out)
        if out[1] < 0:
            if self.settings.illegal == "raise":
                self._engine.game(0).check(int(action))
            self._args[0][0, STATUS] = ILLEGAL
            mask[:] = 1
            return 0.0
        self._actions.append(int(action))
        return float(out[0])

    def _partners_play(self) -> float:
        """Let the partners act until it is the agent's turn or the game is over; their reward."""
        if self.seat is None:
            return 0.0
        reward, row = 0.0, self._args[0][0]
        while row[STATUS] == PLAYING and row[SEAT] != self.seat:
            offset = (int(row[SEAT]) - self.seat) % self.table.players
            partner = self.partners[offset - 1]
            choose = getattr(partner, "act", partner)
            action = choose(self._obs[0].copy(), self._mask[0].astype(bool))
            if not self._mask[0][int(action)]:
                self._engine.game(0).check(int(action))
            reward += self._take(action)
        return reward

    def _info(self) -> dict[str, Any]:
        row = self._args[0][0]
        status, left = int(row[STATUS]), self.cards_left
        info = {"action_mask": self._mask[0].copy(), "seat": int(row[SEAT]), "cards_left": left}
        if status != PLAYING:
            info["is_success"] = status == WON
            info["termination"] = self._termination(status).value
        return info

    @staticmethod
    def _termination(status: int) -> Termination:
        if status == WON:
            return Termination.WON
        return Termination.ILLEGAL if status == ILLEGAL else Termination.STUCK

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Legal actions as bool[A], the name that sb3-contrib's MaskablePPO asks for."""
        return self._mask[0].astype(bool)

    def render(self) -> Any:
        """What the acting seat sees: text (ansi), an image uint8[H, W, 3] (rgb_array), or None."""
        if self.render_mode is None:
            return super().render()  # type: ignore[safe-super]
        from thegame_env import render

        frame = render.Frame.of(self.game, self.table, self._actions[-1:] or None)
        if self.render_mode == "rgb_array":
            return render.rgb_array(frame)
        if self.render_mode == "ansi":
            return render.ansi(frame)
        render.human(frame)
        return None

    # --- beyond Gymnasium ------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The whole position, hands open (a reference state)."""
        return self._engine.game(0)

    @property
    def view(self) -> View:
        """What the acting seat may see."""
        return View.of(self.game, self.table)

    @property
    def cards_left(self) -> int:
        """Cards in all hands and the deck: the official score, 0 is a win."""
        return int(self._args[0][0, LEFT])

    @property
    def record(self) -> GameRecord:
        """The game so far as a record that replays.

        Raises:
            ValueError: The game was started from a position, so it has no deal.
        """
        row = self._engine.games[0]
        if self._start is not None and self._start.cards_left < self.table.rules.cards:
            raise ValueError("a game started from a position has no deal to record")
        if self._start is None:
            seed = int(row[SEED].view(np.uint64))
            deck = tuple(int(card) for card in self._engine.decks[0])
            return GameRecord(self.table, deck, tuple(self._actions), seed, int(row[GAME]))
        return GameRecord(self.table, self._dealt_deck(), tuple(self._actions))

    def _dealt_deck(self) -> tuple[int, ...]:
        start = cast(Game, self._start)
        return tuple(c for hand in start.hands for c in sorted(hand)) + start.deck

    def save(self) -> dict[str, Any]:
        """A snapshot of the state (arrays are copied), for `restore`."""
        return {
            "games": self._engine.games.copy(),
            "decks": self._engine.decks.copy(),
            "start": self._start,
            "actions": list(self._actions),
            "running": self._running,
        }

    def restore(self, state: dict[str, Any]) -> tuple[Observation, dict[str, Any]]:
        """Return to a snapshot of `save`; gives what `reset` gives."""
        self._engine.games[:] = state["games"]
        self._engine.decks[:] = state["decks"]
        self._start, self._actions = state["start"], list(state["actions"])
        self._running = state["running"]
        self._seeded = True
        observe_slots(self._args[0], self._args[2], self._codes[1], self._obs, self._mask)
        return self._obs[0].copy(), self._info()


def _partners(seat: int | None, partners: Any, players: int) -> tuple[Any, ...]:
    if seat is None:
        if partners is not None:
            raise ValueError("partners= needs seat=, the seat that the agent plays")
        return ()
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < players:
        raise ValueError(f"seat must be 0-{players - 1} with {players} players, not {seat!r}")
    if partners is None and players > 1:
        raise ValueError("seat= needs partners=, the agents on the other seats")
    each = tuple(partners) if isinstance(partners, Sequence) else (partners,) * (players - 1)
    if len(each) != players - 1:
        raise ValueError(f"{len(each)} partners for {players - 1} other seats")
    for partner in each:
        if not callable(getattr(partner, "act", partner)):
            raise ValueError(
                f"a partner needs act(observation, legal_action_mask), got {partner!r}"
            )
    return each
