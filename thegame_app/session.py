"""A game in progress, as the page and the terminal play it: commands, refusals, undo, versions.

A `Session` is a value: a command returns the next one, or raises a `Refusal` and changes nothing.
It consists of a deal and a log of what was done, so that storing these two stores everything. The
length of the log is the version; every command names the version that it was made on, and one made
on an older version is refused with what has changed since.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agents.base import Agent
from thegame_app.language import Refusal
from thegame_app.session_changes import Change, Stale, change_of, check_play
from thegame_env.deal import check_deck, deal
from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table
from thegame_env.view import View

PERSON = "person"
"""What stands in `Session.seats` for a seat that no agent plays."""
UNDO = -1
"""The entry of a log that takes the last play back; all others are actions."""
MOST_UNDONE = 1000
"""Plays that may be taken back in one game, so that a log stays short enough to be replayed."""


@dataclass(frozen=True, slots=True)
class Session:
    """A game with its past.

    Attributes:
        table: What is played.
        seats: For every seat PERSON or the specification of an agent.
        deck: The whole deck order as dealt.
        seed: Seed of the deal; None where the deck was given.
        log: Actions and UNDO, in the order in which they came.
        positions: Every position from the deal to now, without those that were taken back.
        actions: What led from one position to the next.
        changes: The log, as the table saw it.
    """

    table: Table
    seats: tuple[str, ...]
    deck: tuple[int, ...]
    seed: int | None
    log: tuple[int, ...] = ()
    positions: tuple[Game, ...] = field(default=(), repr=False)
    actions: tuple[int, ...] = ()
    changes: tuple[Change, ...] = field(default=(), repr=False)

    @staticmethod
    def new(
        table: Table,
        seats: Sequence[str],
        seed: int | None = None,
        deck: Sequence[int] | None = None,
    ) -> Session:
        """Deal a game.

        Args:
            table: What is played.
            seats: For every seat PERSON or an agent's specification.
            seed: Of the deal and of the agents' random streams, below 2**63; drawn where neither
                it nor the deck is given.
            deck: The deck order, instead of a seed's.

        Raises:
            Refusal: A bad seed, deck, or number of seats.
        """
        if len(seats) != table.players:
            raise Refusal(
                "{seats} seats do not fit a table of {players} players.",
                seats=len(seats),
                players=table.players,
            )
        if seed is not None and not 0 <= seed < 2**63:
            raise Refusal("The seed must be a whole number below 2**63, not {seed}.", seed=seed)
        if deck is None:
            seed = secrets.randbits(62) if seed is None else seed
            order = deal(table.rules, seed)
        else:
            order, seed = check_deck(table.rules, deck), None
        return Session(table, tuple(seats), order, seed, positions=(Game.start(table, order),))

    # --- what is known of it ---------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The position now, everything open: never show it to a seat while the game goes on."""
        return self.positions[-1]

    @property
    def version(self) -> int:
        """Raised by every change."""
        return len(self.log)

    @property
    def over(self) -> bool:
        """Whether the game is finished."""
        return self.game.outcome is not None

    @property
    def agent(self) -> str | None:
        """The agent at turn; None where it is a person's turn, or the game is over."""
        name = self.seats[self.game.seat]
        return None if self.over or name == PERSON else name

    @property
    def people(self) -> tuple[int, ...]:
        """The seats of people."""
        return tuple(seat for seat, name in enumerate(self.seats) if name == PERSON)

    def view(self, seat: int) -> View:
        """What a seat may know."""
        return View.of(self.game, self.table, seat)

    def may_undo(self, seat: int) -> bool:
        """Whether a play of the running turn can be taken back by this seat."""
        game = self.game
        return not self.over and game.seat == seat and game.plays > 0 and self.seats[seat] == PERSON

    def since(self, version: int) -> tuple[Change, ...]:
        """The changes after a version."""
        return self.changes[version:]

    # --- commands --------------------------------------------------------------------------------

    def play(self, seat: int, card: int, pile: int, seen: int) -> Session:
        """Lay a card of a person's hand on a pile.

        Args:
            seat: Who lays it.
            card: The card.
            pile: 0..3 for up1, up2, down1, down2.
            seen: The version that the player saw.

        Raises:
            Refusal: The game is over, it is not this seat's turn, or the rules forbid it; a Stale
                where the game has gone on.
        """
        self.check_turn(seat, seen)
        check_play(self.game, seat, card, pile)
        return self._do(self.table.rules.action(card, pile))

    def end_turn(self, seat: int, seen: int) -> Session:
        """End a person's turn; see `play` for the refusals."""
        self.check_turn(seat, seen)
        game = self.game
        if not game.may_end_turn:
            owed = game.owed - game.plays
            raise Refusal("The turn cannot end yet; cards still to be laid: {owed}.", owed=owed)
        return self._do(self.table.rules.end_turn)

    def undo(self, seat: int, seen: int) -> Session:
        """Take back the last play of the running turn; see `play` for the refusals."""
        self.check_turn(seat, seen)
        if not self.may_undo(seat):
            raise Refusal("There is nothing to take back: no card was laid in this turn.")
        if self.log.count(UNDO) >= MOST_UNDONE:
            raise Refusal("In this game no more plays can be taken back.")
        return self._do(UNDO)

    def check_turn(self, seat: int, seen: int) -> None:
        """Refuse what a person at `seat` cannot do now, whatever it is; see `play`."""
        self._check_version(seen)
        acting = self.game.seat
        if not 0 <= seat < self.table.players or self.seats[seat] != PERSON:
            raise Refusal("There is no person at this seat.")
        if seat != acting:
            raise Refusal("It is the turn of player {number}.", number=acting + 1)

    def advance(self, action: int, seen: int) -> Session:
        """Take the action that the agent at turn chose (see `chosen`).

        Raises:
            Refusal: No agent is at turn, the action is illegal, or (Stale) the game has gone on.
        """
        self._check_version(seen)
        if self.agent is None:
            raise Refusal("It is not the turn of an agent.")
        if action not in self.game.legal_actions():
            raise Refusal("The agent {agent} chose an action that is not legal.", agent=self.agent)
        return self._do(action)

    def chosen(self, agent: Agent) -> int:
        """What the agent at turn does; it sees its seat's view and nothing else.

        Its random numbers are a function of the seed and the number of actions, so a game that is
        read back from its log goes on as it would have gone on.
        """
        words = [self.seed or 0, len(self.actions)]
        key = np.random.SeedSequence(words).generate_state(1, np.uint64)[0]
        return agent.act(self.view(self.game.seat), int(key))

    def what_if(self, step: int) -> Session:
        """A new game that goes on after the first `step` actions of this finished one.

        Raises:
            Refusal: This game is not over, or it has no such step to go on from.
        """
        if not self.over:
            raise Refusal("The game is still going on: it can be replayed when it is over.")
        if not 0 <= step < len(self.actions):
            raise Refusal("There is no step {step} to go on from.", step=step)
        start = Session(self.table, self.seats, self.deck, self.seed, positions=self.positions[:1])
        for action in self.actions[:step]:
            start = start._do(action)
        return start

    # --- storing ---------------------------------------------------------------------------------

    @property
    def record(self) -> GameRecord:
        """The game as a record that replays."""
        return GameRecord(self.table, self.deck, self.actions, self.seed)

    def document(self) -> dict[str, Any]:
        """All of it, for JSON; `restore` reads it back."""
        table = self.table
        return {
            "rules": table.rules.spec(),
            "players": table.players,
            "memory": table.memory,
            "talk": table.talk,
            "starter": table.starter,
            "seats": list(self.seats),
            "seed": self.seed,
            "deck": None if self.seed is not None else list(self.deck),
            "log": list(self.log),
        }

    @staticmethod
    def restore(document: dict[str, Any]) -> Session:
        """The session of a document.

        Raises:
            Refusal: The document is none of `document()`.
        """
        try:
            table = Table(
                Rules.parse(document["rules"]),
                document["players"],
                document["memory"],
                document["talk"],
                document["starter"],
            )
            session = Session.new(table, document["seats"], document["seed"], document["deck"])
            for entry in document["log"]:
                session = session._do(entry)
        except (KeyError, TypeError, IndexError, ValueError) as error:
            raise Refusal("The stored game is damaged: {why}", why=repr(error)) from None
        return session

    # --- inside ----------------------------------------------------------------------------------

    def _check_version(self, seen: int) -> None:
        if self.over:
            raise Refusal("The game is over: nothing more can be done in it.")
        if not 0 <= seen <= self.version:
            raise Refusal("This game has no version {version}.", version=seen)
        if seen < self.version:
            raise Stale(self.since(seen))

    def _do(self, entry: int) -> Session:
        if entry == UNDO:
            return self._undone()
        before = self.game
        after = before.step(entry)
        return replace(
            self,
            log=(*self.log, entry),
            positions=(*self.positions, after),
            actions=(*self.actions, entry),
            changes=(*self.changes, change_of(before, entry)),
        )

    def _undone(self) -> Session:
        last = self.changes_left[-1]
        return replace(
            self,
            log=(*self.log, UNDO),
            positions=self.positions[:-1],
            actions=self.actions[:-1],
            changes=(*self.changes, replace(last, kind="undo")),
        )

    @property
    def changes_left(self) -> list[Change]:
        """The changes without those that were taken back: one for every action."""
        pairs = zip(self.positions, self.actions, strict=False)
        return [change_of(before, action) for before, action in pairs]
