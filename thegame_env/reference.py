"""The readable game: an immutable state and checked moves. This is the specification.

The fast engine must agree with it step by step (tests/thegame_env/test_agreement.py). Nothing here
is clever: a state is a value, `step` returns a new one, and every rule stands once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from thegame_env.deal import agreed_starter, check_deck
from thegame_env.rules import PILES, IllegalAction, Outcome, Rules, Table, Termination


@dataclass(frozen=True, slots=True)
class Game:
    """One position, everything open.

    Attributes:
        rules: The rules played.
        tops: Top cards of up1, up2, down1, down2.
        hands: The cards of every seat.
        deck: The face-down cards, the next one to be drawn first.
        seat: The acting seat.
        plays: Cards that it has laid this turn.
        owed: Plays owed this turn, fixed when the turn began.
        starter: The seat that began the game.
        outcome: None while the game goes on.
    """

    rules: Rules
    tops: tuple[int, int, int, int]
    hands: tuple[frozenset[int], ...]
    deck: tuple[int, ...]
    seat: int
    plays: int
    owed: int
    starter: int = 0
    outcome: Outcome | None = None

    @staticmethod
    def start(table: Table, deck: Sequence[int]) -> Game:
        """Deal `deck` in blocks, seat 0 first; the starter begins. ValueError on a bad deck."""
        rules, size = table.rules, table.hand_size
        cards = check_deck(rules, deck)
        hands = tuple(frozenset(cards[s * size : (s + 1) * size]) for s in range(table.players))
        rest = cards[table.players * size :]
        starter = agreed_starter(rules, [*map(tuple, hands)]) if table.starter == "agreed" else 0
        owed = rules.owed(len(rest), size)
        return Game(rules, rules.starts, hands, rest, starter, 0, owed, starter).settled()

    @property
    def cards_left(self) -> int:
        """Cards in all hands and the deck: the official score, 0 is a win."""
        return len(self.deck) + sum(map(len, self.hands))

    def is_legal(self, card: int, pile: int) -> bool:
        """Whether `card`, whoever holds it, may be laid on `pile` now."""
        top, trick = self.tops[pile], self.rules.trick
        return card > top or card == top - trick if pile < 2 else card < top or card == top + trick

    def plays_of(self, seat: int) -> list[tuple[int, int]]:
        """Every legal `(card, pile)` in the hand of `seat`, in codec order."""
        hand = sorted(self.hands[seat])
        return [(card, pile) for pile in range(4) for card in hand if self.is_legal(card, pile)]

    @property
    def may_end_turn(self) -> bool:
        """Whether END_TURN is legal: the minimum is met, or this preset lets the seat pass."""
        passes = self.rules.stuck == "nobody" and not self.plays_of(self.seat)
        return self.outcome is None and (self.plays >= self.owed or passes)

    def legal_actions(self) -> list[int]:
        """The legal actions in ascending order; none in a finished game."""
        if self.outcome is not None:
            return []
        actions = [self.rules.action(card, pile) for card, pile in self.plays_of(self.seat)]
        return actions + [self.rules.end_turn] * self.may_end_turn

    def check(self, action: int) -> None:
        """Raise IllegalAction, with the rule that it breaks, unless `action` is legal here."""
        if self.outcome is not None:
            raise IllegalAction(
                f"the game is over ({self.outcome.termination}), no action is legal"
            )
        play = self.rules.decode(action)
        if play is None and not self.may_end_turn:
            raise IllegalAction(f"END_TURN: {self.plays} of {self.owed} owed cards are played")
        if play is None:
            return
        card, pile = play
        if card not in self.hands[self.seat]:
            raise IllegalAction(f"card {card} is not in the hand of seat {self.seat}")
        if not self.is_legal(card, pile):
            way, sign = ("higher", "-") if pile < 2 else ("lower", "+")
            raise IllegalAction(
                f"card {card} cannot lie on {PILES[pile]} (top {self.tops[pile]}): it must be "
                f"{way}, or the trick {self.tops[pile]} {sign} {self.rules.trick}"
            )

    def step(self, action: int) -> Game:
        """The position after a legal `action`; IllegalAction otherwise."""
        self.check(action)
        play = self.rules.decode(action)
        if play is None:
            return self._turn_ended().settled()
        card, pile = play
        a, b, c, d = (card if k == pile else top for k, top in enumerate(self.tops))
        hands = _with(self.hands, self.seat, self.hands[self.seat] - {card})
        after = replace(self, tops=(a, b, c, d), hands=hands, plays=self.plays + 1)
        if not hands[self.seat] and after.cards_left:
            after = after._turn_ended()
        return after.settled()

    def _turn_ended(self) -> Game:
        """Refill, then the next seat that can act: one without cards is skipped."""
        players = len(self.hands)
        drawn = self.rules.hand_size(players) - len(self.hands[self.seat])
        hand = self.hands[self.seat] | set(self.deck[:drawn])
        hands, deck = _with(self.hands, self.seat, hand), self.deck[drawn:]
        seat = next(
            s % players for s in range(self.seat + 1, self.seat + 1 + players) if hands[s % players]
        )
        owed = self.rules.owed(len(deck), len(hands[seat]))
        return replace(self, hands=hands, deck=deck, seat=seat, plays=0, owed=owed)

    def settled(self) -> Game:
        """This position with its outcome: won without cards, lost when the acting seat is stuck."""
        if not self.cards_left:
            return replace(self, outcome=Outcome(Termination.WON, 0))
        if self.plays >= self.owed or self.plays_of(self.seat):
            return self
        if self.rules.stuck == "nobody" and any(map(self.plays_of, range(len(self.hands)))):
            return self
        return replace(self, outcome=Outcome(Termination.STUCK, self.cards_left))


def _with(
    hands: tuple[frozenset[int], ...], seat: int, hand: frozenset[int]
) -> tuple[frozenset[int], ...]:
    return (*hands[:seat], hand, *hands[seat + 1 :])
