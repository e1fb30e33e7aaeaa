"""The first layer of the learned value, computed from sets of cards instead of long vectors.

Nearly all features are bits, most of them 0, and the plans of a turn differ in a few cards. So the
layer is a sum of weight rows (as in the NNUE networks of chess and shogi programs): for each pile
and top the sum is made once a turn with the whole hand; for a plan, the rows of the cards that it
lays are taken off again. `afterstate_features` defines the features; a test holds the two equal.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import (
    BACK,
    BACK_UNSEEN,
    MOVED,
    OWN,
    OWN_BEYOND,
    OWN_PAIRS,
    PAIRS,
    PAIRS_BEYOND,
    ROOM,
    TALK,
    UNSEEN,
    UNSEEN_BEYOND,
    frame_of,
    pile_counts,
    pile_words,
    unseen_of,
    write_shared,
)
from agents.plans import N_HI, N_LO
from thegame_env.cards import mirrored
from thegame_env.compiled import inlined, kernel, lowest_bit, popcount
from thegame_env.layout import P_CARDS, P_MEMORY, P_TALK, TALK_NONE, V_HAND, V_TALK, V_TOPS, WORD
from thegame_env.rules import MAX_CARDS, MAX_SEATS, N_PILES

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

_TOPS = MAX_CARDS + 4


class Sums:
    """The arrays that the sums of a turn are kept in; one a thread, reused by every call.

    Args:
        pile_width: Outputs of the pile encoder.
        card_width: Outputs of the card encoder.
    """

    def __init__(self, pile_width: int, card_width: int) -> None:
        self.piles: Floats = np.zeros((N_PILES * _TOPS, pile_width), np.float32)
        self.words: Int64 = np.zeros((N_PILES * _TOPS, 4), np.int64)
        self.own: Floats = np.zeros((N_PILES * _TOPS, 2), np.float32)
        self.stamps: Int64 = np.zeros(N_PILES * _TOPS + 2, np.int64)
        self.cards: Floats = np.zeros((2, card_width), np.float32)
        self.turn: Int64 = np.zeros(1, np.int64)

    @property
    def arrays(self) -> tuple[Floats, Int64, Floats, Int64, Floats, Int64]:
        """The arguments `sums, words, own, stamps, card_sums, turn` of the kernel."""
        return self.piles, self.words, self.own, self.stamps, self.cards, self.turn


@inlined
def _add(word, weights, at, factor, out):
    """Add `factor` times the rows `at + i` of every bit i of the word."""
    while word:
        row = weights[at + lowest_bit(word)]
        word &= word - 1
        for j in range(out.shape[0]):
            out[j] += factor * row[j]


@inlined
def _pile_sum(
    row, pile, top, before, hand_lo, hand_hi, lo, hi, p, weights, bias, out, words, shares
):  # fmt: skip
    """The sum of a pile with the whole hand; words and shares keep what changes with the hand."""
    out[:] = bias
    ahead, unseen, pairs, back, back_unseen, own_pairs, far_pairs = pile_words(
        top, hand_lo, hand_hi, lo, hi, p
    )
    one = np.float32(1.0)
    _add(ahead, weights, OWN, one, out)
    _add(unseen, weights, UNSEEN, one, out)
    _add(pairs, weights, PAIRS, one, out)
    _add(back, weights, BACK, one, out)
    _add(back_unseen, weights, BACK_UNSEEN, one, out)
    _add(own_pairs, weights, OWN_PAIRS, one, out)
    words[0], words[1], words[2], words[3] = ahead, pairs, back, own_pairs
    live = np.float32((popcount(pairs) + far_pairs) * 0.0625)
    room, own, beyond = pile_counts(top, hand_lo, hand_hi, lo, hi, p)
    for j in range(out.shape[0]):
        out[j] += room * weights[ROOM, j] + own * weights[OWN_BEYOND, j]
        out[j] += beyond * weights[UNSEEN_BEYOND, j] + live * weights[PAIRS_BEYOND, j]
    shares[0], shares[1] = own, live
    if p[P_TALK] != TALK_NONE or not p[P_MEMORY]:
        for offset in range(MAX_SEATS - 1):
            level = (row[V_TALK + offset] >> (2 * pile)) & 3
            _add(np.int64(level > 0), weights, TALK + offset, one, out)
            _add(np.int64(level > 1), weights, TALK + MAX_SEATS - 1 + offset, one, out)
        moved, far = np.float32(top != before), np.float32((top - before) / 10.0)
        for j in range(out.shape[0]):
            out[j] += moved * weights[MOVED, j] + far * weights[MOVED + 1, j]


@kernel
def first_layer(
    rows, starts, states, p, pile_weights, pile_bias, card_weights, card_bias,
    sums, words, own, stamps, card_sums, turn, out,
):  # fmt: skip
    """Rectified outputs of both encoders and the shared facts, of every plan of every turn.

    Args:
        rows: int64[n, VIEW_ROW], views of the acting seats.
        starts: int64[n + 1]; the plans of turn i are starts[i]..starts[i + 1].
        states: int64[total, STATE], their afterstates.
        p: Parameter row.
        pile_weights: float32[PILE, pile width].
        pile_bias: float32[pile width].
        card_weights: float32[CARDS, card width].
        card_bias: float32[card width].
        sums: See `Sums`, as the following five.
        words: See there.
        own: See there.
        stamps: See there.
        card_sums: See there.
        turn: See there.
        out: float32[total, 4 * pile width + card width + SHARED].
    """
    cards, width, card_width = p[P_CARDS], pile_bias.shape[0], card_bias.shape[0]
    flip, zero, minus = cards + 3, np.float32(0.0), np.float32(-1.0)
    for i in range(rows.shape[0]):
        row = rows[i]
        turn[0] += 1
        root_lo, root_hi = row[V_HAND], row[V_HAND + 1]
        unseen_lo, unseen_hi = unseen_of(row, p)
        root_m_lo, root_m_hi = mirrored(root_lo, root_hi, cards)
        unseen_m_lo, unseen_m_hi = mirrored(unseen_lo, unseen_hi, cards)
        for t in range(starts[i], starts[i + 1]):
            node, encoded = states[t], out[t]
            lo, hi = node[N_LO], node[N_HI]
            m_lo, m_hi = mirrored(lo, hi, cards)
            frame = frame_of(node, cards)
            for k in range(N_PILES):
                pile, at = frame[k + 1], k * width
                key = pile * _TOPS + node[pile]
                falling = pile >= 2
                top = flip - node[pile] if falling else node[pile]
                new = stamps[key] != turn[0]
                if new:
                    stamps[key] = turn[0]
                    before = flip - row[V_TOPS + pile] if falling else row[V_TOPS + pile]
                    _pile_sum(
                        row, pile, top, before,
                        root_m_lo if falling else root_lo, root_m_hi if falling else root_hi,
                        unseen_m_lo if falling else unseen_lo,
                        unseen_m_hi if falling else unseen_hi,
                        p, pile_weights, pile_bias, sums[key], words[key], own[key],
                    )  # fmt: skip
                own_lo, own_hi = (m_lo, m_hi) if falling else (lo, hi)
                other_lo = unseen_m_lo if falling else unseen_lo
                other_hi = unseen_m_hi if falling else unseen_hi
                ahead, _, pairs, back, _, own_pairs, far_pairs = pile_words(
                    top, own_lo, own_hi, other_lo, other_hi, p
                )
                _, beyond, _ = pile_counts(top, own_lo, own_hi, other_lo, other_hi, p)
                block, fewer = encoded[at : at + width], beyond - own[key, 0]
                lost = np.float32((popcount(pairs) + far_pairs) * 0.0625) - own[key, 1]
                for j in range(width):
                    block[j] = sums[key, j] + fewer * pile_weights[OWN_BEYOND, j]
                    block[j] += lost * pile_weights[PAIRS_BEYOND, j]
                _add(words[key, 0] ^ ahead, pile_weights, OWN, minus, block)
                _add(words[key, 1] ^ pairs, pile_weights, PAIRS, minus, block)
                _add(words[key, 2] ^ back, pile_weights, BACK, minus, block)
                _add(words[key, 3] ^ own_pairs, pile_weights, OWN_PAIRS, minus, block)
                for j in range(width):
                    block[j] = max(block[j], zero)
            at = N_PILES * width
            swap = frame[0]
            hand_lo, hand_hi = (root_m_lo, root_m_hi) if frame[0] else (root_lo, root_hi)
            if stamps[N_PILES * _TOPS + swap] != turn[0]:
                stamps[N_PILES * _TOPS + swap] = turn[0]
                base, one = card_sums[swap], np.float32(1.0)
                base[:] = card_bias
                _add(hand_lo, card_weights, 0, one, base)
                _add(hand_hi, card_weights, WORD, one, base)
                _add(unseen_m_lo if frame[0] else unseen_lo, card_weights, MAX_CARDS, one, base)
                _add(
                    unseen_m_hi if frame[0] else unseen_hi,
                    card_weights,
                    MAX_CARDS + WORD,
                    one,
                    base,
                )
            block = encoded[at : at + card_width]
            for j in range(card_width):
                block[j] = card_sums[swap, j]
            _add(hand_lo ^ (m_lo if frame[0] else lo), card_weights, 0, minus, block)
            _add(hand_hi ^ (m_hi if frame[0] else hi), card_weights, WORD, minus, block)
            for j in range(card_width):
                block[j] = max(block[j], zero)
            write_shared(row, node, p, encoded, at + card_width)
