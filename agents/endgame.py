"""The exact endgame: a line of play that lays every card, where all hands are known.

With the deck empty, a seat that remembers knows the only other hand; then nothing is hidden and
depth-first search with a table of failed positions decides whether the game can be won.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thegame_env.cards import bit_hi, bit_lo, first, legal_set
from thegame_env.compiled import inlined, kernel
from thegame_env.engine import act, may_end
from thegame_env.layout import (
    GAME_ROW,
    HANDS,
    OWED,
    P_CARDS,
    P_MEMORY,
    P_PLAYERS,
    PLAYING,
    PLAYS,
    SEAT,
    STATUS,
    TOPS,
    V_DECK,
    V_SIZES,
    WON,
)
from thegame_env.rules import MAX_SEATS, N_PILES

Int64 = npt.NDArray[np.int64]

MAX_LINE = 64
"""Actions of a line at most: the cards that are left and the turns' ends."""
_MOVES = 64
_SLOTS = 1 << 17
NODES = 40_000
"""Positions searched at most; beyond that nothing is known."""
WON_BY_LINE, LOST, UNKNOWN = 1, 0, -1


class Endgame:
    """The arrays of the search, reused by every call."""

    def __init__(self) -> None:
        self.games: Int64 = np.zeros((MAX_LINE + 1, GAME_ROW), np.int64)
        self.moves: Int64 = np.zeros((MAX_LINE + 1, _MOVES), np.int64)
        self.counts: Int64 = np.zeros((MAX_LINE + 1, 2), np.int64)
        self.failed: Int64 = np.zeros((_SLOTS, 2), np.int64)
        self.stamp: Int64 = np.zeros(1, np.int64)
        self.line: Int64 = np.zeros(MAX_LINE, np.int64)

    def solve(self, game: Int64, deck: npt.NDArray[np.int8], p: Int64) -> tuple[int, list[int]]:
        """Whether the game can be won from here, and by which actions.

        Args:
            game: Game row with an empty deck; not changed.
            deck: Its deck row.
            p: Parameter row.

        Returns:
            `(WON_BY_LINE, actions of all seats)`, `(LOST, [])` or `(UNKNOWN, [])`.
        """
        verdict, length = _solve(
            game, deck, p, NODES, self.games, self.moves, self.counts, self.failed, self.stamp,
            self.line,
        )  # fmt: skip
        return int(verdict), [int(action) for action in self.line[:length]]


def is_known(row: Int64, p: Int64) -> bool:
    """Whether the seat of a view row knows every card: no deck, and at most one other hand.

    Without memory it cannot tell the other hand from what was played.
    """
    others = int(np.count_nonzero(row[V_SIZES + 1 : V_SIZES + MAX_SEATS]))
    return bool(row[V_DECK] == 0 and (others == 0 or (others == 1 and p[P_MEMORY])))


@inlined
def _key(game, players):
    """A position as one word: hands, tops, seat, and whether the minimum is met."""
    key = np.int64(game[SEAT] * 2 + (game[PLAYS] >= game[OWED]))
    for seat in range(2 * players):
        key = (key ^ game[HANDS + seat]) * -7046029254386353131
        key ^= key >> 29
    for pile in range(N_PILES):
        key = (key ^ game[TOPS + pile]) * -4417276706812531889
        key ^= key >> 32
    return key


@kernel
def _list_moves(game, p, moves):
    """The actions of a position, smallest gap first, END_TURN last; returns how many."""
    cards, hand = p[P_CARDS], HANDS + 2 * game[SEAT]
    gaps = np.empty(_MOVES, np.int64)
    n = 0
    for pile in range(N_PILES):
        top = game[TOPS + pile]
        if pile & 1 and top == game[TOPS + pile - 1]:
            continue
        lo, hi = legal_set(game[hand], game[hand + 1], pile, top, p)
        while (lo | hi) and n < _MOVES - 1:
            index = first(lo, hi)
            lo &= ~bit_lo(index)
            hi &= ~bit_hi(index)
            gap = index + 2 - top if pile < 2 else top - index - 2
            i = n
            while i > 0 and gaps[i - 1] > gap:
                gaps[i], moves[i] = gaps[i - 1], moves[i - 1]
                i -= 1
            gaps[i], moves[i] = gap, pile * cards + index
            n += 1
    if may_end(game, p):
        moves[n] = N_PILES * cards
        n += 1
    return n


@kernel
def _solve(game, deck, p, budget, games, moves, counts, failed, stamp, line):
    """Depth-first search for a win: `(verdict, length of the line)`."""
    players = p[P_PLAYERS]
    stamp[0] += 1
    games[0] = game
    counts[0, 0], counts[0, 1] = _list_moves(games[0], p, moves[0]), 0
    depth, visited = 0, 0
    while depth >= 0:
        if counts[depth, 1] == counts[depth, 0] or depth == MAX_LINE:
            depth -= 1
            continue
        action = moves[depth, counts[depth, 1]]
        counts[depth, 1] += 1
        below = games[depth + 1]
        below[:] = games[depth]
        act(below, deck, p, action)
        line[depth] = action
        if below[STATUS] == WON:
            return WON_BY_LINE, depth + 1
        if below[STATUS] != PLAYING:
            continue
        key = _key(below, players)
        at = key & (_SLOTS - 1)
        while failed[at, 0] == stamp[0] and failed[at, 1] != key:
            at = (at + 1) & (_SLOTS - 1)
        if failed[at, 0] == stamp[0]:
            continue
        failed[at, 0], failed[at, 1] = stamp[0], key
        visited += 1
        if visited == budget:
            return UNKNOWN, 0
        depth += 1
        counts[depth, 0], counts[depth, 1] = _list_moves(below, p, moves[depth]), 0
    return LOST, 0
