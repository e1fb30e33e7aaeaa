"""The position of a physical game, as far as the table knows it.

Hands are counted, not known, and a card may have been laid without its value. A pile then has a set
of possible tops, and a card on it is refused only if it fits none of them: that check is sound (it
never refuses what the rules allow) but partial, until the next known card lies there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from thegame_app.language import N_, Refusal
from thegame_app.table_entries import (
    ConfirmResult,
    EndTurn,
    Entry,
    Lay,
    ReportStuck,
    Setup,
    Undo,
)
from thegame_env.rules import N_PILES, Outcome, Termination
from thegame_env.view import legal_on

_MISFITS = {
    (True, True): N_(
        "Card {card} does not fit on {pile}, which shows {top}: it must be higher, or exactly "
        "{back}."
    ),
    (True, False): N_("Card {card} does not fit on {pile}, which shows {top}: it must be higher."),
    (False, True): N_(
        "Card {card} does not fit on {pile}, which shows {top}: it must be lower, or exactly "
        "{back}."
    ),
    (False, False): N_("Card {card} does not fit on {pile}, which shows {top}: it must be lower."),
}
"""Sentences by whether the pile ascends, and whether the card of the trick exists."""


@dataclass(frozen=True, slots=True)
class Pile:
    """What the table knows of one pile.

    Attributes:
        known: The last card with a known value, or the start.
        unknown: Cards laid on it since, without their values.
        possible: What the top may be; exactly `{known}` where nothing unknown lies on it.
    """

    known: int
    unknown: int
    possible: frozenset[int]

    @staticmethod
    def at(top: int) -> Pile:
        """A pile with a known top."""
        return Pile(top, 0, frozenset({top}))

    @property
    def top(self) -> int | None:
        """The top, None where its value is not known."""
        return None if self.unknown else self.known


@dataclass(frozen=True, slots=True)
class TableState:
    """One position; `after` gives the next one.

    Attributes:
        setup: How the game began.
        piles: up1, up2, down1, down2.
        laid: The cards known to lie on the piles.
        hands: Cards in every hand.
        deck: Cards in the deck.
        seat: Whose turn it is.
        plays: Cards laid this turn.
        owed: Cards owed this turn, fixed when it began.
        turns: Turns begun.
        reported: Whether the acting player has reported to be stuck.
        outcome: None while the game goes on.
    """

    setup: Setup
    piles: tuple[Pile, Pile, Pile, Pile]
    laid: frozenset[int]
    hands: tuple[int, ...]
    deck: int
    seat: int
    plays: int
    owed: int
    turns: int = 1
    reported: bool = False
    outcome: Outcome | None = None

    @staticmethod
    def start(setup: Setup) -> TableState:
        """The position after the deal."""
        rules, full = setup.rules, setup.full
        a, b, c, d = map(Pile.at, rules.starts)
        deck = rules.cards - setup.players * full
        hands = (full,) * setup.players
        owed = rules.owed(deck, full)
        return TableState(setup, (a, b, c, d), frozenset(), hands, deck, setup.starter, 0, owed)

    # --- what follows from the counters ----------------------------------------------------------

    @property
    def cards_left(self) -> int:
        """Cards in all hands and the deck."""
        return self.deck + sum(self.hands)

    @property
    def unlaid(self) -> frozenset[int]:
        """Cards that are not known to lie on a pile."""
        return frozenset(self.setup.rules.deck) - self.laid

    @property
    def still_owed(self) -> int:
        """Cards that the acting player still owes."""
        return max(self.owed - self.plays, 0)

    @property
    def to_draw(self) -> int:
        """Cards that the acting player draws should the turn end now."""
        return min(self.setup.full - self.hands[self.seat], self.deck)

    @property
    def unknown_cards(self) -> int:
        """Cards that lie on the piles without their values, buried ones too."""
        return self.setup.rules.cards - self.cards_left - len(self.laid)

    @property
    def may_pass(self) -> bool:
        """Whether the acting player may end the turn early by saying that no card fits."""
        return self.setup.rules.stuck == "nobody" and self.still_owed > 0

    @property
    def next_seat(self) -> int:
        """Who comes after this turn: the next player with cards once the refill is done."""
        players = self.setup.players
        after = self._refilled()
        seats = (s % players for s in range(self.seat + 1, self.seat + 1 + players))
        return next((seat for seat in seats if after[seat]), self.seat)

    def fits(self, card: int, pile: int) -> bool:
        """Whether `card` may lie on pile 0..3, as far as that can be checked."""
        rules = self.setup.rules
        tops = self.piles[pile].possible
        return any(legal_on(rules, (top,) * N_PILES, card, pile) for top in tops)

    def fitting(self, pile: int) -> frozenset[int]:
        """The cards still out that may lie on pile 0..3."""
        return frozenset(card for card in self.unlaid if self.fits(card, pile))

    # --- the next position -----------------------------------------------------------------------

    def after(self, entry: Entry) -> TableState:
        """The position after an entry; `Undo` is not for a position but for the game.

        Raises:
            Refusal: The entry does not fit; says why.
        """
        if self.outcome is not None:
            raise Refusal(
                "The game is over: its result is recorded, and nothing more can be entered."
            )
        match entry:
            case Lay():
                return self._laid(entry)
            case EndTurn():
                return self._ended(entry)
            case ReportStuck():
                return self._stuck(entry)
            case ConfirmResult():
                return self._confirmed(entry)
            case Undo():
                raise ValueError("a position cannot be undone, a TableGame can")

    def _check_turn(self, seat: int) -> None:
        names = self.setup.names
        if self.reported:
            raise Refusal(
                "{name} is stuck: confirm the result, or take the report back.",
                name=names[self.seat],
            )
        if not 0 <= seat < len(names):
            raise Refusal("There is no such player.")
        if seat != self.seat:
            raise Refusal(
                "It is the turn of {acting}, not of {name}.",
                acting=names[self.seat],
                name=names[seat],
            )

    def _check_lay(self, entry: Lay) -> None:
        rules, card, pile = self.setup.rules, entry.card, entry.pile
        if not 0 <= pile < N_PILES:
            raise Refusal("There is no such pile.")
        if not self.hands[self.seat]:
            raise Refusal(
                "The hand of {name} is empty: draw first.", name=self.setup.names[self.seat]
            )
        if card is None:
            return
        if not rules.low < card < rules.high:
            raise Refusal(
                "There is no card {card}; the cards are {low}-{high}.",
                card=card,
                low=rules.low + 1,
                high=rules.high - 1,
            )
        if card in self.laid:
            raise Refusal("Card {card} has been laid already.", card=card)
        if not self.fits(card, pile):
            raise self._misfit(card, pile)

    def _misfit(self, card: int, pile: int) -> Refusal:
        """Why a card does not fit; the trick is named only where its card exists."""
        rules, top = self.setup.rules, self.piles[pile].top
        if top is None:
            return Refusal(
                "Card {card} fits no card that can lie on top of {pile}.", card=card, pile=pile
            )
        back = top + (-rules.trick if pile < 2 else rules.trick)
        message = _MISFITS[pile < 2, rules.low < back < rules.high]
        return Refusal(message, card=card, pile=pile, top=top, back=back)

    def _laid(self, entry: Lay) -> TableState:
        self._check_turn(entry.seat)
        self._check_lay(entry)
        if entry.card is None:
            pile, laid = self._covered(entry.pile), self.laid
        else:
            pile, laid = Pile.at(entry.card), self.laid | {entry.card}
        a, b, c, d = (pile if k == entry.pile else old for k, old in enumerate(self.piles))
        hands = self._with(self.hands[self.seat] - 1)
        after = replace(self, piles=(a, b, c, d), laid=laid, hands=hands, plays=self.plays + 1)
        if not after.cards_left:
            return replace(after, outcome=Outcome(Termination.WON, 0))
        if not hands[self.seat] and not self.deck:
            return after._next_turn()
        return after

    def _covered(self, pile: int) -> Pile:
        """The pile with one more card on it whose value is not known."""
        possible = self.fitting(pile)
        if not possible:
            raise Refusal("No card that is still out can lie on {pile}.", pile=pile)
        old = self.piles[pile]
        return Pile(old.known, old.unknown + 1, possible)

    def _ended(self, entry: EndTurn) -> TableState:
        self._check_turn(entry.seat)
        name = self.setup.names[self.seat]
        if self.still_owed and not (self.may_pass and entry.passes):
            raise Refusal(
                "{name} has laid {plays} of at least {owed} cards.",
                name=name,
                plays=self.plays,
                owed=self.owed,
            )
        if entry.drawn != self.to_draw:
            raise Refusal(
                "Cards that {name} must draw: {right}, not {drawn}.",
                name=name,
                right=self.to_draw,
                drawn=entry.drawn,
            )
        return self._next_turn()

    def _next_turn(self) -> TableState:
        hands, deck, seat = self._refilled(), self.deck - self.to_draw, self.next_seat
        owed = self.setup.rules.owed(deck, hands[seat])
        return replace(
            self, hands=hands, deck=deck, seat=seat, plays=0, owed=owed, turns=self.turns + 1
        )

    def _stuck(self, entry: ReportStuck) -> TableState:
        self._check_turn(entry.seat)
        if not self.still_owed:
            raise Refusal(
                "{name} has laid enough cards: end the turn instead.",
                name=self.setup.names[self.seat],
            )
        return replace(self, reported=True)

    def _confirmed(self, entry: ConfirmResult) -> TableState:
        if not self.reported:
            raise Refusal("Nobody has reported to be stuck.")
        if entry.cards_left != self.cards_left:
            raise Refusal(
                "Cards left: {right}, not {left}.", right=self.cards_left, left=entry.cards_left
            )
        return replace(self, outcome=Outcome(Termination.STUCK, self.cards_left))

    def _refilled(self) -> tuple[int, ...]:
        return self._with(self.hands[self.seat] + self.to_draw)

    def _with(self, own: int) -> tuple[int, ...]:
        """All hand sizes, that of the acting player changed."""
        return (*self.hands[: self.seat], own, *self.hands[self.seat + 1 :])
