"""The own hand of one phone: entered by its owner, kept up to date by what is laid and drawn.

It is private to the phone. Nothing that another phone sees or is answered may depend on it, so it
lives beside the game and never in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from thegame_app.language import Language, Refusal
from thegame_app.table import TableGame
from thegame_app.table_entries import EndTurn, Entry, Lay
from thegame_env.rules import N_PILES, Table
from thegame_env.view import View, legal_on


@dataclass(frozen=True, slots=True)
class OwnHand:
    """The cards that the owner of a phone has entered.

    Attributes:
        seat: Whose hand it is.
        drawn: For every card entered the number of the log entry that drew it, 0 where that is
            not known. A card stays here once it is laid, so that an undo brings it back; one whose
            refill was taken back is no longer held.
    """

    seat: int
    drawn: Mapping[int, int] = field(default_factory=dict)

    def cards(self, game: TableGame) -> frozenset[int]:
        """The cards held now."""
        standing = {0, *(step.number for step in game.steps)}
        held = (card for card, number in self.drawn.items() if number in standing)
        return frozenset(held) - game.state.laid

    def missing(self, game: TableGame) -> int:
        """Cards of the hand that are not entered yet; below 0 where too many are."""
        return game.state.hands[self.seat] - len(self.cards(game))

    def with_cards(self, game: TableGame, cards: Iterable[int]) -> OwnHand:
        """The hand with more cards entered; those that it holds already change nothing.

        Raises:
            Refusal: A card does not exist, has been played, or is one too many.
        """
        rules = game.setup.rules
        new = sorted(set(cards) - self.cards(game))
        for card in new:
            if not rules.low < card < rules.high:
                raise Refusal(
                    "There is no card {card}; the cards are {low}-{high}.",
                    card=card,
                    low=rules.low + 1,
                    high=rules.high - 1,
                )
            if card in game.state.laid:
                raise Refusal("Card {card} has been laid already.", card=card)
        missing = self.missing(game)
        if len(new) > missing:
            raise Refusal(
                "Your hand holds {size} cards; still to be entered: {n}.",
                size=game.state.hands[self.seat],
                n=max(missing, 0),
            )
        number = self._refill(game, missing)
        return replace(self, drawn={**self.drawn, **dict.fromkeys(new, number)})

    def exactly(self, game: TableGame, cards: Iterable[int]) -> OwnHand:
        """The hand with these cards and no others; Refusal as for `with_cards`."""
        wanted = frozenset(cards)
        hand = self
        for card in self.cards(game) - wanted:
            hand = hand.without(game, card)
        return hand.with_cards(game, wanted)

    def _refill(self, game: TableGame, missing: int) -> int:
        """The refill that cards entered now must come from, 0 where they may be older."""
        for step in reversed(game.steps):
            entry = step.entry
            if isinstance(entry, EndTurn) and entry.seat == self.seat:
                return step.number if missing <= entry.drawn else 0
        return 0

    def without(self, game: TableGame, card: int) -> OwnHand:
        """The hand without a card; Refusal where it is not held."""
        if card not in self.cards(game):
            raise Refusal("Card {card} is not in your hand.", card=card)
        return replace(self, drawn={c: n for c, n in self.drawn.items() if c != card})

    def check(self, game: TableGame, entry: Entry) -> None:
        """Refusal where this phone enters a card that contradicts the hand that it knows."""
        if not isinstance(entry, Lay) or entry.card is None:
            return
        held = entry.card in self.cards(game)
        if entry.seat == self.seat and not held and not self.missing(game):
            raise Refusal(
                "Card {card} is not in the hand that you entered: correct one of them.",
                card=entry.card,
            )
        if entry.seat != self.seat and held:
            raise Refusal("Card {card} is in your own hand.", card=entry.card)

    def told(self, game: TableGame, lang: Language) -> str:
        """What the owner should do about the hand; empty where it is complete."""
        missing = self.missing(game)
        if missing > 0:
            return lang.plural(
                "Enter {n} more card of your hand.", "Enter {n} more cards of your hand.", missing
            )
        if missing < 0:
            return lang.plural(
                "Your hand shows {n} card too many: take out the one that you no longer hold.",
                "Your hand shows {n} cards too many: take out those that you no longer hold.",
                -missing,
            )
        return ""


def read_cards(text: str) -> tuple[int, ...]:
    """The cards of a quick entry such as "12 34, 56"; Refusal where it is something else."""
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    if len(text) > 400 or not all(re.fullmatch(r"[0-9]{1,3}", part) for part in parts):
        raise Refusal("Enter cards as numbers, for example 12 34 56.")
    return tuple(map(int, parts))


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a hint reckons with where the table does not know.

    Attributes:
        view: What the owner sees, every gap filled in.
        open_piles: Piles 0..3 whose top is not known; no plan may use them.
        cards: The cards that the hint takes for those without a value.
    """

    view: View
    open_piles: frozenset[int]
    cards: tuple[int, ...]


def hint_view(game: TableGame, hand: OwnHand) -> Assumed:
    """What a hint for the owner of `hand` is computed from.

    A card without its value is taken for the nearest one that is not seen and could have been laid
    there, so that every counter adds up.

    Raises:
        Refusal: There is no hint now; says why.
    """
    state = game.state
    if state.outcome is not None:
        raise Refusal("The game is over.")
    if state.reported:
        raise Refusal("Stuck is reported: there is nothing to advise.")
    if state.seat != hand.seat:
        raise Refusal(
            "Hints are for your own turn; now it is the turn of {name}.",
            name=game.setup.names[state.seat],
        )
    if not state.hands[hand.seat]:
        raise Refusal("Your hand is empty: draw, and end your turn.")
    if hand.missing(game):
        raise Refusal("A hint needs your whole hand: enter the cards that you hold.")
    tops, assumed = _filled_in(game, hand.cards(game))
    players = game.setup.players
    table = Table(game.setup.rules, players, memory=game.setup.memory)
    view = View(
        table=table,
        tops=tops,
        hand=hand.cards(game),
        deck=state.deck,
        others=tuple(state.hands[(hand.seat + i) % players] for i in range(1, players)),
        plays=state.plays,
        seen=state.laid | frozenset(assumed) if game.setup.memory else None,
    )
    unknown = frozenset(pile for pile in range(N_PILES) if state.piles[pile].unknown)
    return Assumed(view, unknown, assumed)


def _filled_in(
    game: TableGame, held: frozenset[int]
) -> tuple[tuple[int, int, int, int], tuple[int, ...]]:
    """The tops with every unknown card taken for a likely one, and the cards so assumed."""
    rules = game.setup.rules
    pool, assumed, tops = set(game.state.unlaid - held), [], list(rules.starts)
    for step in game.steps:
        entry = step.entry
        if not isinstance(entry, Lay):
            continue
        card = entry.card
        if card is None:
            top = tops[entry.pile]
            card = min(
                pool,
                key=lambda c: (
                    not legal_on(rules, (top,) * N_PILES, c, entry.pile),
                    abs(c - top),
                    c,
                ),
            )
            pool.remove(card)
            assumed.append(card)
        tops[entry.pile] = card
    return (tops[0], tops[1], tops[2], tops[3]), tuple(assumed)
