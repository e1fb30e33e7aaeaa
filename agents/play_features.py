"""The legal plays of many positions and what a policy sees of each, in training as in play.

Of a play: its pile and gap; which own and unseen cards lie around the card that is laid, in the
pile's direction, from ten values behind it on; and how all cards fit once it is laid
(`write_facts`). Where a seat does not remember, the cards that at most one pile has passed are
taken as unseen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import FITS, write_fits
from thegame_env.cards import bit_hi, bit_lo, count, first, fresh_cards, mirrored, shifted
from thegame_env.compiled import inlined, kernel, lowest_bit
from thegame_env.layout import P_CARDS, P_MEMORY, V_HAND, V_TOPS, V_UNSEEN
from thegame_env.rules import N_PILES

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BEHIND, AROUND = 10, 49
"""Cards around the one that is laid, in the pile's direction: from how far behind, and how many."""
FACTS = 2 * FITS + 3
"""Numbers that `write_facts` tells."""
TABLE, CARD, PILE, GAP, HELD = 0, 1, 2, 3, 4
"""Columns of a play: its position, the card's index, the pile, the gap's place (gap - 1, or N for
the trick) and the number of the held card among those of all positions."""
_STRETCH = (1 << AROUND) - 1


@dataclass(slots=True)
class Plays:
    """The legal plays of B positions, n of m held cards.

    Attributes:
        plays: int64[n, 5]; position by position, those of a card side by side.
        starts: int64[B + 1]; those of position b are starts[b]..starts[b + 1].
        words: int64[m, 4], the stretches around each held card as bits: own and unseen cards in the
            ascending, then in the descending direction.
        facts: float32[n, FACTS], of the tops after each play.
        now: float32[B, FACTS], of the tops as they are.
    """

    plays: Int64
    starts: Int64
    words: Int64
    facts: Floats
    now: Floats


def plays_of(sets: Int64, tops: Int64, cards: int, trick: int) -> Plays:
    """The legal plays of positions.

    Args:
        sets: int64[B, 4], own and unseen cards as bits (lo, hi, lo, hi).
        tops: int64[B, K].
        cards: N.
        trick: Distance of the backwards trick.
    """
    held = count_held(sets)
    plays, words = np.empty((held * N_PILES, 5), np.int64), np.empty((held, 4), np.int64)
    starts, now = np.empty(len(sets) + 1, np.int64), np.empty((len(sets), FACTS), np.float32)
    facts = np.empty((held * N_PILES, FACTS), np.float32)
    n = list_plays(sets, tops, cards, trick, plays, starts, words, facts, now)
    return Plays(plays[:n], starts, words, facts[:n], now)


@kernel
def count_held(sets):
    """Own cards of all positions."""
    held = 0
    for i in range(sets.shape[0]):
        held += count(sets[i, 0], sets[i, 1])
    return held


@kernel
def sets_of_views(rows, p, sets, tops):
    """Own and unseen cards int64[B, 4] and tops int64[B, K] of view rows."""
    for i in range(rows.shape[0]):
        row = rows[i]
        for k in range(N_PILES):
            tops[i, k] = row[V_TOPS + k]
        _keep(
            row[V_HAND], row[V_HAND + 1], row[V_UNSEEN], row[V_UNSEEN + 1], p[P_MEMORY] == 1,
            p[P_CARDS], tops[i], sets[i],
        )  # fmt: skip


@kernel
def sets_of_observations(obs, cards, block, room, memory, sets, tops):
    """The same of `relative` observations, whose shared part begins with own and unseen cards.

    Args:
        obs: float32[B, size].
        cards: N.
        block: Length of a pile's block.
        room: Place in it of the card values beyond the top.
        memory: Place of the number that tells whether the unseen cards are known.
        sets: Out, int64[B, 4].
        tops: Out, int64[B, K].
    """
    at = N_PILES * block
    for i in range(obs.shape[0]):
        vector = obs[i]
        for k in range(N_PILES):
            beyond = np.int64(np.rint(vector[k * block + room] * cards))
            tops[i, k] = cards + 1 - beyond if k < 2 else beyond + 2
        lo, hi, unseen_lo, unseen_hi = 0, 0, 0, 0
        for index in range(cards):
            if vector[at + index] > 0.5:
                lo |= bit_lo(index)
                hi |= bit_hi(index)
            if vector[at + cards + index] > 0.5:
                unseen_lo |= bit_lo(index)
                unseen_hi |= bit_hi(index)
        _keep(lo, hi, unseen_lo, unseen_hi, vector[memory] > 0.5, cards, tops[i], sets[i])


@inlined
def _keep(lo, hi, unseen_lo, unseen_hi, known, cards, tops, out):
    """Write own and unseen cards, the latter guessed where they are not known."""
    if not known:
        unseen_lo, unseen_hi = fresh_cards(tops[0], tops[1], tops[2], tops[3], cards)
        unseen_lo &= ~lo
        unseen_hi &= ~hi
    out[0], out[1], out[2], out[3] = lo, hi, unseen_lo, unseen_hi


@kernel
def list_plays(sets, tops, cards, trick, plays, starts, words, facts, now):
    """List the legal plays and what is seen of them, see `Plays`; returns how many there are."""
    n, held, node = 0, 0, np.empty(N_PILES, np.int64)
    for i in range(sets.shape[0]):
        starts[i] = n
        lo, hi, unseen_lo, unseen_hi = sets[i, 0], sets[i, 1], sets[i, 2], sets[i, 3]
        down_lo, down_hi = mirrored(lo, hi, cards)
        down_unseen_lo, down_unseen_hi = mirrored(unseen_lo, unseen_hi, cards)
        write_facts(lo, hi, unseen_lo, unseen_hi, tops[i], cards, trick, now[i])
        left_lo, left_hi = lo, hi
        while left_lo | left_hi:
            at = first(left_lo, left_hi)
            left_lo &= ~bit_lo(at)
            left_hi &= ~bit_hi(at)
            up, down = at - BEHIND, cards - 1 - at - BEHIND
            words[held, 0] = shifted(lo, hi, up) & _STRETCH
            words[held, 1] = shifted(unseen_lo, unseen_hi, up) & _STRETCH
            words[held, 2] = shifted(down_lo, down_hi, down) & _STRETCH
            words[held, 3] = shifted(down_unseen_lo, down_unseen_hi, down) & _STRETCH
            for pile in range(N_PILES):
                gap = at + 2 - tops[i, pile] if pile < 2 else tops[i, pile] - at - 2
                if gap < 1 and gap != -trick:
                    continue
                node[:] = tops[i]
                node[pile] = at + 2
                own_lo, own_hi = lo & ~bit_lo(at), hi & ~bit_hi(at)
                write_facts(own_lo, own_hi, unseen_lo, unseen_hi, node, cards, trick, facts[n])
                play = plays[n]
                play[TABLE], play[CARD], play[PILE], play[HELD] = i, at, pile, held
                play[GAP] = gap - 1 if gap >= 1 else cards
                n += 1
            held += 1
    starts[sets.shape[0]] = n
    return n


@kernel
def write_facts(lo, hi, unseen_lo, unseen_hi, tops, cards, trick, out):
    """Tell how the cards fit on tops: float32[FACTS].

    Own and unseen cards in buckets of their smallest gap (`afterstate_features.write_fits`), and
    the stretch that no pile takes but by the trick: from the higher top of the descending piles to
    the lower one of the ascending, where they begin and end and how many values lie between them,
    over N.
    """
    write_fits(lo, hi, unseen_lo, unseen_hi, tops, trick, out, 0)
    up, down = min(tops[0], tops[1]), max(tops[2], tops[3])
    out[2 * FITS] = np.float32(down - 2) / np.float32(cards)
    out[2 * FITS + 1] = np.float32(up - 2) / np.float32(cards)
    out[2 * FITS + 2] = np.float32(max(up + 1 - down, 0)) / np.float32(cards)


@kernel
def spread_words(words, out):
    """The stretches as numbers 0 or 1: int64[m, 4] -> float32[m, 2, 2 * AROUND], zeros before."""
    for i in range(words.shape[0]):
        for part in range(4):
            word, at = words[i, part], AROUND * (part & 1)
            while word:
                out[i, part >> 1, at + lowest_bit(word)] = np.float32(1.0)
                word &= word - 1
