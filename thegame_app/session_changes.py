"""What the table sees of a game: plays, ends of turns, what was taken back; and refused plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from thegame_app.language import N_, Language, Refusal
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, PILES

Kind = Literal["play", "end", "undo"]
TOLD = 6
"""Changes that a stale command is told at most."""


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the log, as everybody at the table saw it.

    Attributes:
        kind: A play, the end of a turn, or a play taken back.
        seat: Who did it.
        card: The card laid or taken back, else 0.
        pile: Its pile.
        gap: How far the pile moved; the trick is negative.
    """

    kind: Kind
    seat: int
    card: int = 0
    pile: int = 0
    gap: int = 0

    def text(self, lang: Language) -> str:
        """What happened, in one sentence without its full stop."""
        facts = {"number": self.seat + 1, "card": self.card, "pile": self.pile, "gap": -self.gap}
        if self.kind == "end":
            return lang("player {number} ended the turn", **facts)
        if self.kind == "undo":
            return lang("player {number} took {card} back from {pile}", **facts)
        if self.gap < 0:
            return lang("player {number} laid {card} on {pile}, the trick: {gap} back", **facts)
        return lang("player {number} laid {card} on {pile}", **facts)


class Stale(Refusal):
    """A command that was made on an older version; `changes` came after it."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__(N_("The game has gone on since then: {what}. Please look and try again."))
        self.changes = tuple(changes)

    def text(self, lang: Language) -> str:
        """The sentence, with what has changed."""
        what = "; ".join(change.text(lang) for change in self.changes[-TOLD:])
        return lang(self.message, what=what or "?")


def change_of(before: Game, action: int) -> Change:
    """What the table sees of an action."""
    play = before.rules.decode(action)
    if play is None:
        return Change("end", before.seat)
    card, pile = play
    gap = card - before.tops[pile]
    return Change("play", before.seat, card, pile, gap if pile < 2 else -gap)


def check_play(game: Game, seat: int, card: int, pile: int) -> None:
    """Refuse a play that the rules forbid, with the rule that it breaks."""
    rules = game.rules
    if not 0 <= pile < N_PILES:
        raise Refusal("There is no such pile; the piles are {piles}.", piles=", ".join(PILES))
    if card not in rules.deck:
        raise Refusal(
            "There is no card {card}; the cards are {low}-{high}.",
            card=card,
            low=rules.low + 1,
            high=rules.high - 1,
        )
    if card not in game.hands[seat]:
        held = set(game.deck).union(*game.hands)
        if card not in held:
            raise Refusal("Card {card} has been laid already.", card=card)
        raise Refusal("Card {card} is not in your hand.", card=card)
    if not game.is_legal(card, pile):
        message = (
            N_("{card} cannot lie on {pile}: higher than {top}, or exactly {trick} lower.")
            if pile < 2
            else N_("{card} cannot lie on {pile}: lower than {top}, or exactly {trick} higher.")
        )
        raise Refusal(message, card=card, pile=pile, top=game.tops[pile], trick=rules.trick)
