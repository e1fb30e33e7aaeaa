"""The fast game: numba kernels over a batch of B games, in place, no allocation in a step.

`Engine` holds B game rows and B deck rows; the kernels change them. What they do to one row stands
in `moves.py` and `sight.py`, and is offered here too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thegame_env.cards import count, legal_set, legal_tables, nth
from thegame_env.compiled import inlined, kernel, row_of, warn_if_cold
from thegame_env.deal import as_seed, bounded, check_deck, shuffle_into
from thegame_env.layout import (
    DECK_AT,
    GAME,
    GAME_ROW,
    HANDS,
    ILLEGAL,
    LEFT,
    OWED,
    P_AGREED,
    P_CARDS,
    P_EMPTY,
    P_HAND,
    P_MEMORY,
    P_MINIMUM,
    P_NOBODY,
    P_PLAYERS,
    P_TALK,
    P_TRICK,
    PARAMETER_ROW,
    PLAYED,
    PLAYING,
    PLAYS,
    SEAT,
    SEED,
    STARTER,
    STATUS,
    STUCK,
    TALK_CODES,
    TOPS,
    TURNS,
    VIEW_ROW,
    WON,
)
from thegame_env.moves import act, begin, deal_next, is_legal, may_end, opening_level
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, IllegalAction, Outcome, Table, Termination
from thegame_env.sight import mask_into, view_into

__all__ = [
    "Engine",
    "act",
    "act_batch",
    "card_words",
    "deal_batch",
    "deal_next",
    "first_illegal",
    "is_legal",
    "mask_into",
    "may_end",
    "opening_level",
    "parameters",
    "random_steps",
    "read_game",
    "seeds_of",
    "view_batch",
    "view_into",
    "word_cards",
    "write_game",
]

Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]

_TERMINATIONS = {WON: Termination.WON, STUCK: Termination.STUCK, ILLEGAL: Termination.ILLEGAL}


def parameters(table: Table) -> Int64:
    """The parameter row of a table."""
    row = np.zeros(PARAMETER_ROW, np.int64)
    rules = table.rules
    row[P_CARDS], row[P_PLAYERS], row[P_HAND] = rules.cards, table.players, table.hand_size
    row[P_MINIMUM], row[P_EMPTY] = rules.minimum, rules.minimum_empty
    row[P_NOBODY], row[P_TRICK] = rules.stuck == "nobody", rules.trick
    row[P_MEMORY], row[P_TALK] = table.memory, TALK_CODES[table.talk]
    row[P_AGREED] = table.starter == "agreed"
    legal_tables(row)
    return row


# --- batches -------------------------------------------------------------------------------------


@kernel
def deal_batch(games, decks, p):
    """Deal every game of the batch by its own (SEED, GAME)."""
    table = row_of(p, 0)
    for b in range(games.shape[0]):
        game, deck = row_of(games, b), row_of(decks, b)
        shuffle_into(deck, table[P_CARDS], np.uint64(game[SEED]), np.uint64(game[GAME]))
        begin(game, deck, table)


@kernel
def begin_slot(games, decks, p, slot):
    """`begin` for the deck that lies in one slot."""
    begin(row_of(games, slot), row_of(decks, slot), row_of(p, 0))


@kernel
def first_illegal(games, p, actions):
    """Index of the first running game whose action is illegal, -1 if there is none."""
    table = row_of(p, 0)
    for b in range(games.shape[0]):
        game = row_of(games, b)
        if game[STATUS] == PLAYING and not is_legal(game, table, actions[b]):
            return b
    return -1


@kernel
def act_batch(games, decks, p, actions):
    """Take one legal action in every running game."""
    table = row_of(p, 0)
    for b in range(games.shape[0]):
        game = row_of(games, b)
        if game[STATUS] == PLAYING:
            act(game, row_of(decks, b), table, actions[b])


@kernel
def view_batch(games, p, rows):
    """Write the acting seats' views into `rows` (int64[B, VIEW_ROW])."""
    table = row_of(p, 0)
    for b in range(games.shape[0]):
        game = row_of(games, b)
        view_into(game, table, game[SEAT], row_of(rows, b))


# --- play at random (the yardstick of speed, and of tests) ---------------------------------------


@inlined
def random_action(game, p, state):
    """A uniformly random legal action of a running game, and the stream's next state."""
    cards, hand = p[P_CARDS], HANDS + 2 * game[SEAT]
    lo, hi = game[hand], game[hand + 1]
    lo0, hi0 = legal_set(lo, hi, 0, game[TOPS], p)
    lo1, hi1 = legal_set(lo, hi, 1, game[TOPS + 1], p)
    lo2, hi2 = legal_set(lo, hi, 2, game[TOPS + 2], p)
    lo3, hi3 = legal_set(lo, hi, 3, game[TOPS + 3], p)
    n1 = count(lo0, hi0)
    n2 = n1 + count(lo1, hi1)
    n3 = n2 + count(lo2, hi2)
    total = n3 + count(lo3, hi3)
    ends = game[PLAYS] >= game[OWED] or (total == 0 and p[P_NOBODY] == 1)
    draw, state = bounded(state, total + ends)
    if draw == total:
        return N_PILES * cards, state
    pile = (draw >= n1) + (draw >= n2) + (draw >= n3)
    before = (0 if draw < n1 else n1) if draw < n2 else (n2 if draw < n3 else n3)
    lo, hi = legal_set(lo, hi, pile, game[TOPS + pile], p)
    return pile * cards + nth(lo, hi, draw - before), state


@kernel
def random_walk(game, deck, p, state, steps):
    """Play `steps` random legal actions, dealing anew: `(cards laid, the stream's next state)`."""
    laid = 0
    for _ in range(steps):
        action, state = random_action(game, p, state)
        laid += action != N_PILES * p[P_CARDS]
        act(game, deck, p, action)
        if game[STATUS] != PLAYING:
            deal_next(game, deck, p)
    return laid, state


@kernel
def random_steps(games, decks, p, streams, steps):
    """`random_walk` in every game of a batch; returns the cards laid."""
    table, laid = row_of(p, 0), 0
    for b in range(games.shape[0]):
        game, deck = row_of(games, b), row_of(decks, b)
        more, streams[b] = random_walk(game, deck, table, streams[b], steps)
        laid += more
    return laid


class Engine:
    """B games of one table.

    Attributes:
        table: What is played.
        games: Game rows, int64[B, GAME_ROW] (see layout.py).
        decks: Deck orders, int8[B, N].
        p: The table's parameter row.
    """

    def __init__(self, table: Table, batch_size: int) -> None:
        warn_if_cold()
        self.table = table
        self.p = parameters(table)
        self.games: Int64 = np.zeros((batch_size, GAME_ROW), np.int64)
        self.decks: Int8 = np.zeros((batch_size, table.rules.cards), np.int8)

    def deal(self, seeds: npt.ArrayLike, indices: npt.ArrayLike = 0) -> None:
        """Deal game `indices[b]` under `seeds[b]` in every slot (both broadcast to [B])."""
        self.games[:, SEED] = np.asarray(seeds, np.uint64).view(np.int64)
        self.games[:, GAME] = indices
        deal_batch(self.games, self.decks, self.p)

    def deal_deck(self, slot: int, deck: Sequence[int]) -> None:
        """Deal a given deck order in one slot; ValueError on a bad deck."""
        self.decks[slot] = check_deck(self.table.rules, deck)
        begin_slot(self.games, self.decks, self.p, slot)

    def views(self) -> Int64:
        """The acting seats' views, int64[B, VIEW_ROW]."""
        rows = np.zeros((len(self.games), VIEW_ROW), np.int64)
        view_batch(self.games, self.p, rows)
        return rows

    def step(self, actions: npt.ArrayLike) -> None:
        """Take one action in every running game; IllegalAction (state unchanged) if one is not."""
        chosen = np.broadcast_to(np.asarray(actions, np.int64), len(self.games))
        self.check(chosen)
        act_batch(self.games, self.decks, self.p, chosen)

    def check(self, actions: Int64) -> None:
        """Raise IllegalAction, naming slot and rule, unless all running games may take theirs."""
        slot = int(first_illegal(self.games, self.p, actions))
        if slot >= 0:
            try:
                self.game(slot).check(int(actions[slot]))
            except IllegalAction as error:
                raise IllegalAction(f"slot {slot}: {error}") from None

    def game(self, slot: int) -> Game:
        """The reference state of one slot."""
        return read_game(self.table, self.games[slot], self.decks[slot])

    def put(self, slot: int, game: Game) -> None:
        """Set one slot to a reference state."""
        write_game(game, self.games[slot], self.decks[slot])


def read_game(table: Table, row: Int64, deck: Int8) -> Game:
    """The reference state that a game row and its deck row stand for."""
    hands = tuple(
        frozenset(word_cards(int(row[HANDS + 2 * s]), int(row[HANDS + 2 * s + 1])))
        for s in range(table.players)
    )
    status = int(row[STATUS])
    outcome = Outcome(_TERMINATIONS[status], int(row[LEFT])) if status else None
    tops = tuple(int(top) for top in row[TOPS : TOPS + N_PILES])
    return Game(
        rules=table.rules,
        tops=(tops[0], tops[1], tops[2], tops[3]),
        hands=hands,
        deck=tuple(int(card) for card in deck[int(row[DECK_AT]) :]),
        seat=int(row[SEAT]),
        plays=int(row[PLAYS]),
        owed=int(row[OWED]),
        starter=int(row[STARTER]),
        outcome=outcome,
    )


def write_game(game: Game, row: Int64, deck: Int8) -> None:
    """Write a reference state into a game row and its deck row; counters start anew."""
    seed, index = row[SEED], row[GAME]
    row[:] = 0
    row[SEED], row[GAME] = seed, index
    row[TOPS : TOPS + N_PILES] = game.tops
    held = set(game.deck).union(*game.hands)
    for seat, hand in enumerate(game.hands):
        row[HANDS + 2 * seat : HANDS + 2 * seat + 2] = card_words(hand)
    row[PLAYED : PLAYED + 2] = card_words(set(game.rules.deck) - held)
    row[DECK_AT] = game.rules.cards - len(game.deck)
    deck[:] = 0
    deck[int(row[DECK_AT]) :] = game.deck
    row[SEAT], row[PLAYS], row[OWED] = game.seat, game.plays, game.owed
    row[LEFT], row[STARTER], row[TURNS] = game.cards_left, game.starter, 1
    if game.outcome is not None:
        codes = {kind: code for code, kind in _TERMINATIONS.items()}
        row[STATUS] = codes[game.outcome.termination]


def card_words(cards: Sequence[int] | set[int] | frozenset[int]) -> tuple[int, int]:
    """The two words of a set of cards."""
    bits = sum(1 << (card - 2) for card in cards)
    return bits & ((1 << 49) - 1), bits >> 49


def word_cards(lo: int, hi: int) -> list[int]:
    """The cards of two words in ascending order."""
    bits = lo | hi << 49
    return [i + 2 for i in range(bits.bit_length()) if bits >> i & 1]


def seeds_of(seed: int, batch_size: int) -> npt.NDArray[np.uint64]:
    """The seeds of B slots: slot i has `seed + i` (modulo 2**64)."""
    return as_seed(seed) + np.arange(batch_size, dtype=np.uint64)
