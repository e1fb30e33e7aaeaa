"""What one seat may see, as a readable value: the input of agents, hints and notation.

`View.of` reads it off a reference game; the fast engine writes the same facts into view rows
(`engine.view_into`), and `row`/`from_row` convert between the two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from thegame_env.engine import card_words, parameters, word_cards
from thegame_env.layout import (
    P_MEMORY,
    TALK_STEP,
    TALK_STUCK,
    V_ACTING,
    V_DECK,
    V_HAND,
    V_LEFT,
    V_MAY_END,
    V_OWED,
    V_PARAMETERS,
    V_PLAYS,
    V_SIZES,
    V_STATUS,
    V_TALK,
    V_TOPS,
    V_UNSEEN,
    VIEW_ROW,
)
from thegame_env.layout import STUCK as STATUS_STUCK
from thegame_env.layout import WON as STATUS_WON
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, Rules, Table, Talk

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SeatTalk:
    """What a seat says.

    Attributes:
        levels: For each pile under `avoid` 0 or 1 ("please not here"), under `open` 0..2.
        stuck: Only under `open`: "I cannot reach my minimum as things stand".
    """

    levels: tuple[int, int, int, int] = (0, 0, 0, 0)
    stuck: bool = False

    @property
    def word(self) -> int:
        """The talk word of the fast engine (see layout.V_TALK)."""
        return sum(v << (2 * k) for k, v in enumerate(self.levels)) | self.stuck * TALK_STUCK

    @staticmethod
    def from_word(word: int) -> SeatTalk:
        """The talk that a talk word stands for."""
        a, b, c, d = ((word >> (2 * pile)) & 3 for pile in range(N_PILES))
        return SeatTalk((a, b, c, d), bool(word & TALK_STUCK))


@dataclass(frozen=True, slots=True)
class View:
    """One seat's knowledge of a position.

    Attributes:
        table: Rules, players, memory, talk and starter.
        tops: Top cards of up1, up2, down1, down2.
        hand: The own cards.
        deck: Cards in the deck.
        others: Hand sizes of the other seats, from the next seat on.
        plays: Cards laid this turn.
        seen: The cards known to be played; None when the seat does not remember (memory off).
        talk: What the other seats say, from the next seat on; empty when the table is silent.
        acting: Whether it is this seat's turn.
    """

    table: Table
    tops: tuple[int, int, int, int]
    hand: frozenset[int]
    deck: int
    others: tuple[int, ...] = ()
    plays: int = 0
    seen: frozenset[int] | None = None
    talk: tuple[SeatTalk, ...] = ()
    acting: bool = True

    @staticmethod
    def of(game: Game, table: Table, seat: int | None = None) -> View:
        """What `seat` (by default the acting one) sees of `game` at this table."""
        seat = game.seat if seat is None else seat
        acting = seat == game.seat
        players = len(game.hands)
        others = [(seat + offset) % players for offset in range(1, players)]
        held = set(game.deck).union(*game.hands)
        return View(
            table=table,
            tops=game.tops,
            hand=game.hands[seat],
            deck=len(game.deck),
            others=tuple(len(game.hands[other]) for other in others),
            plays=game.plays if acting else 0,
            seen=frozenset(game.rules.deck) - held if table.memory else None,
            talk=tuple(speak(game, other, table.talk) for other in others)
            if table.talk != "none"
            else (),
            acting=acting,
        )

    @property
    def rules(self) -> Rules:
        """The rules played."""
        return self.table.rules

    @property
    def cards_left(self) -> int:
        """Cards in all hands and the deck."""
        return len(self.hand) + sum(self.others) + self.deck

    @property
    def owed(self) -> int:
        """Plays still owed this turn; 0 when another seat is acting."""
        start = self.rules.owed(self.deck, len(self.hand) + self.plays)
        return max(start - self.plays, 0) if self.acting else 0

    @property
    def unseen(self) -> frozenset[int]:
        """The cards that may lie in the deck or in other hands."""
        visible = frozenset(self.tops) if self.seen is None else self.seen
        return frozenset(self.rules.deck) - self.hand - visible

    def is_legal(self, card: int, pile: int) -> bool:
        """Whether `card`, whoever holds it, may be laid on `pile` now."""
        return legal_on(self.rules, self.tops, card, pile)

    @property
    def plays_now(self) -> list[tuple[int, int]]:
        """Every legal `(card, pile)` of the own hand, in codec order."""
        hand = sorted(self.hand)
        return [(card, pile) for pile in range(4) for card in hand if self.is_legal(card, pile)]

    @property
    def may_end_turn(self) -> bool:
        """Whether END_TURN is legal."""
        passes = self.rules.stuck == "nobody" and not self.plays_now
        return self.acting and self.cards_left > 0 and (not self.owed or passes)

    def row(self) -> Int64:
        """The view row of the fast engine, int64[VIEW_ROW]."""
        row = np.zeros(VIEW_ROW, np.int64)
        row[V_HAND : V_HAND + 2] = card_words(self.hand)
        row[V_UNSEEN : V_UNSEEN + 2] = card_words(self.unseen)
        row[V_TOPS : V_TOPS + N_PILES] = self.tops
        row[V_DECK], row[V_PLAYS], row[V_OWED] = self.deck, self.plays, self.owed
        row[V_SIZES : V_SIZES + 1 + len(self.others)] = (len(self.hand), *self.others)
        row[V_LEFT], row[V_MAY_END] = self.cards_left, self.may_end_turn
        row[V_TALK : V_TALK + len(self.talk)] = [said.word for said in self.talk]
        row[V_PARAMETERS : V_PARAMETERS + 10] = parameters(self.table)[:10]
        row[V_ACTING] = self.acting
        if not self.cards_left:
            row[V_STATUS] = STATUS_WON
        elif self.acting and self.owed and not self.plays_now and self.rules.stuck == "acting":
            row[V_STATUS] = STATUS_STUCK
        return row

    @staticmethod
    def from_row(table: Table, row: Int64) -> View:
        """The view that a row of the fast engine stands for, `table` being its table."""
        tops = [int(top) for top in row[V_TOPS : V_TOPS + N_PILES]]
        hand = frozenset(word_cards(int(row[V_HAND]), int(row[V_HAND + 1])))
        unseen = frozenset(word_cards(int(row[V_UNSEEN]), int(row[V_UNSEEN + 1])))
        others = tuple(int(size) for size in row[V_SIZES + 1 : V_SIZES + table.players])
        others_talk = table.players - 1 if table.talk != "none" else 0
        words = row[V_TALK : V_TALK + others_talk]
        return View(
            table=table,
            tops=(tops[0], tops[1], tops[2], tops[3]),
            hand=hand,
            deck=int(row[V_DECK]),
            others=others,
            plays=int(row[V_PLAYS]),
            seen=frozenset(table.rules.deck) - hand - unseen
            if row[V_PARAMETERS + P_MEMORY]
            else None,
            talk=tuple(SeatTalk.from_word(int(word)) for word in words),
            acting=bool(row[V_ACTING]),
        )


def legal_on(rules: Rules, tops: tuple[int, ...], card: int, pile: int) -> bool:
    """Whether `card` may be laid on `pile` when the piles show `tops`."""
    top, trick = tops[pile], rules.trick
    return card > top or card == top - trick if pile < 2 else card < top or card == top + trick


def speak(game: Game, seat: int, talk: Talk) -> SeatTalk:
    """What `seat` says: a public function of its own hand and the piles (see RULES, table talk)."""
    if talk == "none":
        return SeatTalk()
    hand, most = game.hands[seat], 1 if talk == "avoid" else 2
    a, b, c, d = (min(_level(game, hand, pile), most) for pile in range(N_PILES))
    started = game.plays if seat == game.seat else 0
    owed = (
        game.owed if seat == game.seat else game.rules.owed(len(game.deck), len(hand))
    ) - started
    stuck = talk == "open" and not _can_reach(game.rules, game.tops, hand, owed)
    return SeatTalk((a, b, c, d), stuck)


def _level(game: Game, hand: frozenset[int], pile: int) -> int:
    sign = 1 if pile < 2 else -1
    gaps = [(card - game.tops[pile]) * sign for card in hand]
    if -game.rules.trick in gaps:
        return 2
    return int(any(1 <= gap <= TALK_STEP for gap in gaps))


def _can_reach(rules: Rules, tops: tuple[int, ...], hand: frozenset[int], owed: int) -> bool:
    if owed <= 0:
        return True
    return any(
        legal_on(rules, tops, card, pile)
        and _can_reach(rules, (*tops[:pile], card, *tops[pile + 1 :]), hand - {card}, owed - 1)
        for pile in range(N_PILES)
        for card in hand
    )
