"""What a seat may see of a game row: its view row, and the mask of its legal actions."""

from __future__ import annotations

from thegame_env.cards import (
    all_hi,
    all_lo,
    bit_hi,
    bit_lo,
    count,
    legal_set,
    talk_word,
    write_mask,
)
from thegame_env.compiled import kernel
from thegame_env.layout import (
    DECK_AT,
    HANDS,
    LEFT,
    OWED,
    P_CARDS,
    P_MEMORY,
    P_PLAYERS,
    P_TALK,
    PLAYED,
    PLAYING,
    PLAYS,
    SEAT,
    STATUS,
    TALK_NONE,
    TOPS,
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
)
from thegame_env.moves import hand_count, may_end, owed_by
from thegame_env.rules import MAX_SEATS, N_PILES


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
    other = seat
    for offset in range(MAX_SEATS):
        row[V_SIZES + offset] = hand_count(game, other) if offset < players else 0
        other = other + 1 if other + 1 < players else 0
    for offset in range(MAX_SEATS - 1):
        row[V_TALK + offset] = 0
    if p[P_TALK] != TALK_NONE:
        _hear(game, p, seat, row)


@kernel
def _hear(game, p, seat, row):
    """Write what the others say into a view row."""
    for offset in range(1, p[P_PLAYERS]):
        other = seat + offset
        other -= p[P_PLAYERS] if other >= p[P_PLAYERS] else 0
        row[V_TALK + offset - 1] = seat_talk(game, p, other)


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
def mask_into(row, p, mask):
    """Write the legal actions of a view row into `mask` (int8[A]); all of them once it is over."""
    cards = p[P_CARDS]
    if row[V_STATUS] != PLAYING:
        for action in range(N_PILES * cards + 1):
            mask[action] = 1
        return
    for pile in range(N_PILES):
        lo, hi = legal_set(row[V_HAND], row[V_HAND + 1], pile, row[V_TOPS + pile], p)
        write_mask(lo, hi, cards, mask, pile * cards)
    mask[N_PILES * cards] = row[V_MAY_END]
