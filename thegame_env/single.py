"""One game at a time in the batch engine: what the Gymnasium and PettingZoo environments share."""

from __future__ import annotations

import operator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from thegame_env.deal import as_seed, stream
from thegame_env.engine import Engine
from thegame_env.layout import GAME, ILLEGAL, LEFT, PLAYING, SEAT, SEED, STATUS, WON
from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import IllegalAction, Termination
from thegame_env.settings import Settings, check_snapshot, start_from
from thegame_env.stepping import observe_seat, observe_slots, step_single

Observation = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]

TERMINATIONS = {WON: Termination.WON, ILLEGAL: Termination.ILLEGAL}
"""By status; every other status of a finished game is STUCK."""


class SingleGame:
    """One game of a table, with the observation and the legal actions of its acting seat.

    Attributes:
        settings: Table, observation, reward, what an illegal action does.
        row: The game row, int64[GAME_ROW].
        status: Its STATUS; `seat` (the acting one) and `cards_left` (all hands and the deck)
            likewise are kept as plain ints, which cost less to read than array elements.
        obs: The acting seat's observation, float32[size]; `act` and `start` overwrite it.
        mask: Its legal actions, int8[A]; all of them once the game is over.
        actions: The actions taken in this game.
        origin: Where the game comes from: "seed", "deck", "position"; None before the first one.
        partner_stream: Random state for agents on other seats, uint64[1], one stream a game.
    """

    SAVED: ClassVar = ("games", "decks", "actions", "origin", "partner_stream")
    """Entries of a snapshot, beside its table."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engine = Engine(settings.table, 1)
        self.engine.games[0, STATUS] = ILLEGAL
        self.row = self.engine.games[0]
        self.status, self.seat, self.cards_left = ILLEGAL, 0, 0
        self._obs: Observation = np.zeros((1, settings.spec.size), np.float32)
        self._mask: Mask = np.ones((1, settings.table.rules.n_actions), np.int8)
        self.obs: Observation = self._obs[0]
        self.mask: Mask = self._mask[0]
        self._out = np.zeros(4)
        self._kernel_args = (self.engine.games, self.engine.decks, self.engine.p)
        self._codes = (settings.reward_code, settings.encoder, self.obs, self.mask, self._out)
        self._end_turn = settings.table.rules.end_turn
        self.actions: list[int] = []
        self.origin: str | None = None
        self.partner_stream = np.zeros(1, np.uint64)

    def start(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Deal game 0 of `seed`, or the next game of the last one; options as in `start_from`.

        Raises:
            ValueError: A bad seed or option; the running game is unchanged.
        """
        if seed is None:
            number, game = self.row[SEED].view(np.uint64), int(self.row[GAME]) + 1
        else:
            number, game = as_seed(seed), 0
        start = start_from(self.settings.table, options, int(number), game)
        self.row[SEED], self.row[GAME] = number.view(np.int64), game
        if start is None:
            self.engine.deal(number, game)
            self.origin = "seed"
        elif isinstance(start, Game):
            self.engine.put(0, start)
            self.origin = "position"
        else:
            self.engine.deal_deck(0, start)
            self.origin = "deck"
        self.actions = []
        self.partner_stream[0] = stream(number, np.uint64(game))
        self._observe()

    def _observe(self) -> None:
        row = self.row
        self.status, self.seat, self.cards_left = int(row[STATUS]), int(row[SEAT]), int(row[LEFT])
        observe_slots(
            self.engine.games, self.engine.p, self.settings.encoder, self._obs, self._mask
        )

    def act(self, action: Any, strict: bool = False) -> float:
        """Take an action of the acting seat; returns its reward.

        With `illegal="lose"` an illegal action ends the game (reward 0, the cards untouched),
        unless `strict`.

        Raises:
            IllegalAction: The action breaks a rule; nothing has changed.
        """
        try:
            number = operator.index(action)
        except TypeError:
            number = -1
        known = number if 0 <= number <= self._end_turn else -1
        step_single(*self._kernel_args, known, *self._codes)
        reward: float
        reward, status, left, seat = self._out.tolist()
        if status < 0:
            return self._refuse(action, strict)
        self.status, self.seat, self.cards_left = int(status), int(seat), int(left)
        self.actions.append(number)
        return reward

    def _refuse(self, action: Any, strict: bool) -> float:
        if strict or self.over or self.settings.illegal == "raise":
            self._complain(action)
        self.row[STATUS] = self.status = ILLEGAL
        self.mask[:] = 1
        return 0.0

    def _complain(self, action: Any) -> None:
        """Raise IllegalAction with the rule that the action breaks."""
        try:
            number = operator.index(action)
        except TypeError:
            raise IllegalAction(f"an action is a whole number, not {action!r}") from None
        self.game.check(number)

    def observe(self, seat: int) -> Observation:
        """What `seat` sees, a fresh float32[size]."""
        out: Observation = np.zeros_like(self.obs)
        observe_seat(self.engine.games, self.engine.p, seat, self.settings.encoder, out)
        return out

    # --- the position ----------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The whole position, hands open (a reference state)."""
        return self.engine.game(0)

    @property
    def over(self) -> bool:
        """Whether the game has ended (also before the first deal)."""
        return self.status != PLAYING

    def result(self) -> dict[str, Any]:
        """What the infos say of a finished game: `is_success` and `termination`; else nothing."""
        if self.status == PLAYING:
            return {}
        kind = TERMINATIONS.get(self.status, Termination.STUCK)
        return {"is_success": self.status == WON, "termination": kind.value}

    @property
    def record(self) -> GameRecord:
        """The game so far; ValueError where it was started from a position."""
        if self.origin not in ("seed", "deck"):
            raise ValueError("only a game that was dealt has a record, not one from a position")
        deck = tuple(int(card) for card in self.engine.decks[0])
        seed = int(self.row[SEED].view(np.uint64)) if self.origin == "seed" else None
        game = int(self.row[GAME]) if seed is not None else 0
        return GameRecord(self.settings.table, deck, tuple(self.actions), seed, game)

    # --- snapshots -------------------------------------------------------------------------------

    def save(self) -> dict[str, Any]:
        """A snapshot that `restore` returns to (arrays are copied)."""
        return {
            "table": self.settings.table,
            "games": self.engine.games.copy(),
            "decks": self.engine.decks.copy(),
            "actions": list(self.actions),
            "origin": self.origin,
            "partner_stream": self.partner_stream.copy(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Return to a snapshot; ValueError where it is none, or of another table."""
        check_snapshot(state, self.settings.table, self.SAVED)
        self.engine.games[:] = state["games"]
        self.engine.decks[:] = state["decks"]
        self.actions, self.origin = list(state["actions"]), state["origin"]
        self.partner_stream[:] = state["partner_stream"]
        if self.origin is None:
            self.status = ILLEGAL
        else:
            self._observe()

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "state": self.save()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Build anew: the buffers are views of each other, which copies of them would not be."""
        SingleGame.__init__(self, state["settings"])
        self.restore(state["state"])
