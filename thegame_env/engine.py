"""The fast game: numba kernels over a batch of B games, in place, no allocation in a step.

`Engine` holds B game rows and B deck rows; the kernels below change them. The same moves as in
`reference.py`, on the layout of `layout.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thegame_env.cards import (
    all_hi,
    all_lo,
    any_legal,
    bit_hi,
    bit_lo,
    count,
    fits,
    holds,
    legal_set,
    legal_tables,
    nth,
    pile_of,
    talk_word,
    trick_index,
)
from thegame_env.compiled import inlined, kernel, warn_if_cold
from thegame_env.deal import (
    MAX_MOVEMENT,
    OPENING_LEVELS,
    as_seed,
    bounded,
    check_deck,
    shuffle_into,
)
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
    STEPS,
    STUCK,
    TALK_CODES,
    TALK_NONE,
    TOPS,
    TRICKS,
    TURNS,
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
    WON,
)
from thegame_env.reference import Game
from thegame_env.rules import (
    MAX_SEATS,
    N_PILES,
    IllegalAction,
    Outcome,
    Table,
    Termination,
)

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


# --- one game ------------------------------------------------------------------------------------


@inlined
def seat_has_legal(game, p, seat):
    """Whether the seat holds a card that may be laid now."""
    return any_legal(
        game[HANDS + 2 * seat],
        game[HANDS + 2 * seat + 1],
        game[TOPS],
        game[TOPS + 1],
        game[TOPS + 2],
        game[TOPS + 3],
        p,
    )


@inlined
def owed_by(deck_size, hand_size, p):
    """Plays owed in a turn that starts with these sizes."""
    return min(p[P_MINIMUM] if deck_size else p[P_EMPTY], hand_size)


@inlined
def hand_count(game, seat):
    """Cards in the seat's hand."""
    return count(game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1])


@inlined
def may_end(game, p):
    """Whether END_TURN is legal for the acting seat."""
    if game[STATUS] != PLAYING:
        return False
    if game[PLAYS] >= game[OWED]:
        return True
    return p[P_NOBODY] == 1 and not seat_has_legal(game, p, game[SEAT])


@inlined
def is_legal(game, p, action):
    """Whether the action is legal; False for anything outside the codec."""
    cards = p[P_CARDS]
    if action < 0 or action > N_PILES * cards or game[STATUS] != PLAYING:
        return False
    if action == N_PILES * cards:
        return may_end(game, p)
    pile = pile_of(action, cards)
    index = action - pile * cards
    seat = game[SEAT]
    if not holds(game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1], index):
        return False
    return fits(pile, game[TOPS + pile], index, p[P_TRICK])


@inlined
def settle(game, p):
    """Set STATUS: won without cards, stuck when the acting seat cannot go on."""
    if game[LEFT] == 0:
        game[STATUS] = WON
        return
    if game[PLAYS] >= game[OWED] or seat_has_legal(game, p, game[SEAT]):
        return
    if p[P_NOBODY]:
        for seat in range(p[P_PLAYERS]):
            if seat_has_legal(game, p, seat):
                return
    game[STATUS] = STUCK


@inlined
def cards_between(deck, start, stop):
    """The set of the deck's cards at start..stop-1: `(lo, hi)`."""
    lo, hi = 0, 0
    for i in range(start, stop):
        index = np.int64(deck[i]) - 2
        lo |= bit_lo(index)
        hi |= bit_hi(index)
    return lo, hi


@inlined
def end_turn(game, deck, p):
    """Refill the acting seat and pass the turn on; a seat without cards is skipped."""
    cards, players, seat = p[P_CARDS], p[P_PLAYERS], game[SEAT]
    at = game[DECK_AT]
    drawn = min(p[P_HAND] - hand_count(game, seat), cards - at)
    lo, hi = cards_between(deck, at, at + drawn)
    game[HANDS + 2 * seat] |= lo
    game[HANDS + 2 * seat + 1] |= hi
    game[DECK_AT] = at + max(drawn, 0)
    size = 0
    for _ in range(players):
        seat = seat + 1 if seat + 1 < players else 0
        size = hand_count(game, seat)
        if size:
            break
    game[SEAT] = seat
    game[PLAYS] = 0
    game[OWED] = owed_by(cards - game[DECK_AT], size, p)
    game[TURNS] += 1


@inlined
def act(game, deck, p, action):
    """Take a legal action: lay the card or end the turn, then settle the game."""
    cards = p[P_CARDS]
    game[STEPS] += 1
    if action == N_PILES * cards:
        end_turn(game, deck, p)
        settle(game, p)
        return
    pile = pile_of(action, cards)
    index = action - pile * cards
    seat = game[SEAT]
    lo, hi = bit_lo(index), bit_hi(index)
    if index == trick_index(pile, game[TOPS + pile], cards, p[P_TRICK]):
        game[TRICKS] += 1
    game[TOPS + pile] = index + 2
    game[HANDS + 2 * seat] &= ~lo
    game[HANDS + 2 * seat + 1] &= ~hi
    game[PLAYED] |= lo
    game[PLAYED + 1] |= hi
    game[PLAYS] += 1
    game[LEFT] -= 1
    if game[LEFT] and not (game[HANDS + 2 * seat] | game[HANDS + 2 * seat + 1]):
        end_turn(game, deck, p)
    settle(game, p)


# --- the deal ------------------------------------------------------------------------------------


@kernel
def least_movement(lo, hi, owed, p, limit):
    """Least movement of an opening turn of exactly `owed` plays, if at most `limit` (else above).

    Depth-first with an explicit stack (numba cannot load self-recursive kernels from its cache); a
    frame holds hand, tops, the next (pile, card) to try as a running number, and the movement.
    """
    cards, trick, best = p[P_CARDS], p[P_TRICK], MAX_MOVEMENT
    stack = np.zeros((owed + 1, 8), np.int64)
    stack[0, 0], stack[0, 1] = lo, hi
    stack[0, 2] = stack[0, 3] = 1
    stack[0, 4] = stack[0, 5] = cards + 2
    depth = 0
    while depth >= 0:
        frame = stack[depth]
        if depth == owed or frame[6] == N_PILES * cards:
            if depth == owed:
                best = min(best, frame[7])
            depth -= 1
            continue
        pile, index = frame[6] // cards, frame[6] % cards
        frame[6] += 1
        top = frame[2 + pile]
        if not holds(frame[0], frame[1], index) or not fits(pile, top, index, trick):
            continue
        moved = frame[7] + (index + 2 - top if pile < 2 else top - index - 2)
        if moved - trick * (owed - depth - 1) > min(limit, best):
            continue
        depth += 1
        stack[depth] = frame
        stack[depth, 0] &= ~bit_lo(index)
        stack[depth, 1] &= ~bit_hi(index)
        stack[depth, 2 + pile] = index + 2
        stack[depth, 6], stack[depth, 7] = 0, moved
    return best


@kernel
def opening_level(lo, hi, p):
    """The level 0..3 that a hand announces before the first turn (see deal.opening_level)."""
    owed = owed_by(1, count(lo, hi), p)
    least = least_movement(lo, hi, owed, p, OPENING_LEVELS[2] * owed)
    level = 0
    for bound in OPENING_LEVELS:
        level += least <= bound * owed
    return level


@kernel
def begin(game, deck, p):
    """Deal the game row from its deck row, choose the starter, open the first turn."""
    cards, players, size = p[P_CARDS], p[P_PLAYERS], p[P_HAND]
    seed, index = game[SEED], game[GAME]
    game[:] = 0
    game[SEED], game[GAME] = seed, index
    game[TOPS] = game[TOPS + 1] = 1
    game[TOPS + 2] = game[TOPS + 3] = cards + 2
    for seat in range(players):
        lo, hi = cards_between(deck, seat * size, (seat + 1) * size)
        game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1] = lo, hi
    game[DECK_AT] = players * size
    game[LEFT] = cards
    if p[P_AGREED]:
        best = -1
        for seat in range(players):
            level = opening_level(game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1], p)
            if level > best:
                best = level
                game[SEAT] = seat
    game[STARTER] = game[SEAT]
    game[OWED] = owed_by(cards - game[DECK_AT], size, p)
    game[TURNS] = 1
    settle(game, p)


@kernel
def deal_next(game, deck, p):
    """Deal the next game of this slot's seed."""
    game[GAME] += 1
    shuffle_into(deck, np.uint64(game[SEED]), np.uint64(game[GAME]))
    begin(game, deck, p)


@kernel
def deal_batch(games, decks, p):
    """Deal every game of the batch by its own (SEED, GAME)."""
    for b in range(games.shape[0]):
        shuffle_into(decks[b], np.uint64(games[b, SEED]), np.uint64(games[b, GAME]))
        begin(games[b], decks[b], p)


# --- what a seat may see -------------------------------------------------------------------------


@kernel
def view_into(game, p, seat, row):
    """Write what `seat` may see into the view row `row` (int64[VIEW_ROW])."""
    cards, players = p[P_CARDS], p[P_PLAYERS]
    lo, hi = game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1]
    acting = seat == game[SEAT]
    row[V_HAND], row[V_HAND + 1] = lo, hi
    known_lo, known_hi = lo | game[PLAYED], hi | game[PLAYED + 1]
    if not p[P_MEMORY]:
        known_lo, known_hi = lo, hi
        for pile in range(N_PILES):
            index = game[TOPS + pile] - 2
            if 0 <= index < cards:
                known_lo |= bit_lo(index)
                known_hi |= bit_hi(index)
    row[V_UNSEEN] = all_lo(cards) & ~known_lo
    row[V_UNSEEN + 1] = all_hi(cards) & ~known_hi
    for pile in range(N_PILES):
        row[V_TOPS + pile] = game[TOPS + pile]
    row[V_DECK] = cards - game[DECK_AT]
    row[V_PLAYS] = game[PLAYS] if acting else 0
    row[V_OWED] = max(game[OWED] - game[PLAYS], 0) if acting else 0
    row[V_LEFT] = game[LEFT]
    for i in range(10):
        row[V_PARAMETERS + i] = p[i]
    row[V_MAY_END] = acting and may_end(game, p)
    row[V_STATUS] = game[STATUS]
    row[V_ACTING] = acting
    for offset in range(MAX_SEATS):
        other = (seat + offset) % players
        row[V_SIZES + offset] = hand_count(game, other) if offset < players else 0
        if offset:
            talks = offset < players and p[P_TALK] != TALK_NONE
            row[V_TALK + offset - 1] = seat_talk(game, p, other) if talks else 0


@kernel
def seat_talk(game, p, seat):
    """The talk word of a seat: a public function of its own hand and the piles."""
    lo, hi = game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1]
    owed = owed_by(p[P_CARDS] - game[DECK_AT], count(lo, hi), p)
    if seat == game[SEAT]:
        owed = max(game[OWED] - game[PLAYS], 0)
    return talk_word(
        lo,
        hi,
        game[TOPS],
        game[TOPS + 1],
        game[TOPS + 2],
        game[TOPS + 3],
        owed,
        p,
    )


@kernel
def view_batch(games, p, rows):
    """Write the acting seats' views into `rows` (int64[B, VIEW_ROW])."""
    for b in range(games.shape[0]):
        view_into(games[b], p, games[b, SEAT], rows[b])


@kernel
def mask_into(row, p, mask):
    """Write the legal actions of a view row into `mask` (int8[A]); all of them once it is over."""
    cards = p[P_CARDS]
    if row[V_STATUS] != PLAYING:
        mask[:] = 1
        return
    mask[:] = 0
    mask[N_PILES * cards] = row[V_MAY_END]
    for pile in range(N_PILES):
        lo, hi = legal_set(row[V_HAND], row[V_HAND + 1], pile, row[V_TOPS + pile], p)
        for word, base in ((lo, pile * cards), (hi, pile * cards + 49)):
            while word:
                low = word & -word
                mask[base + count(low - 1, 0)] = 1
                word ^= low


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
    laid = 0
    for b in range(games.shape[0]):
        more, streams[b] = random_walk(games[b], decks[b], p, streams[b], steps)
        laid += more
    return laid


@kernel
def first_illegal(games, p, actions):
    """Index of the first running game whose action is illegal, -1 if there is none."""
    for b in range(games.shape[0]):
        if games[b, STATUS] == PLAYING and not is_legal(games[b], p, actions[b]):
            return b
    return -1


@kernel
def act_batch(games, decks, p, actions):
    """Take one legal action in every running game."""
    for b in range(games.shape[0]):
        if games[b, STATUS] == PLAYING:
            act(games[b], decks[b], p, actions[b])


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
        begin(self.games[slot], self.decks[slot], self.p)

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
