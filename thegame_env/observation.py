"""Observations: tables of named slices over one float32 vector, all values in 0..1.

Two kinds exist. `table` lists the facts as they lie on the table. `relative` tells the same facts
as seen from each pile in its own direction; it has the same slices at every table of equally many
cards (players, preset, memory and talk are told by values), so that one network serves them all.

The piles stay in the order of the action codec, and are not sorted by their tops: slice k and
actions k*N..(k+1)*N-1 speak of the same pile, so that a head which is shared by the piles needs no
permutation, and the symmetry of two piles of a kind comes from sharing weights.

The encoders read view rows only (see layout.py), so they cannot leak what a seat may not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from thegame_env.cards import (
    beyond,
    bit_hi,
    bit_lo,
    count,
    fresh_cards,
    mirrored,
    shifted,
    trick_index,
    window,
    write_bits,
    write_set,
)
from thegame_env.compiled import kernel, reverse_bits, row_of
from thegame_env.engine import parameters
from thegame_env.layout import (
    P_CARDS,
    P_EMPTY,
    P_HAND,
    P_MEMORY,
    P_MINIMUM,
    P_NOBODY,
    P_PLAYERS,
    P_TALK,
    P_TRICK,
    TALK_NONE,
    TALK_OPEN,
    TALK_STUCK,
    V_DECK,
    V_HAND,
    V_LEFT,
    V_OWED,
    V_PLAYS,
    V_SIZES,
    V_TALK,
    V_TOPS,
    V_UNSEEN,
)
from thegame_env.rules import MAX_SEATS, N_PILES, PILES, Table, unknown

ObservationKind = Literal["table", "relative"]
VERSION = 2
"""Raised whenever the meaning of a slice changes: weights name the version they were trained on."""
WINDOW = 40
"""Gaps 1..WINDOW are shown card by card; what lies beyond is counted."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A named part of the vector: `observation[offset : offset + size]`."""

    name: str
    offset: int
    size: int
    meaning: str


@dataclass(frozen=True, slots=True)
class ObservationSpec:
    """The layout of one kind of observation at one table.

    Attributes:
        kind: "table" or "relative".
        slices: All parts, in order and without gaps.
        size: Length of the vector.
        pile_size: With `relative`, the vector starts with four blocks of this size, one a pile.
    """

    kind: str
    slices: tuple[Slice, ...]
    size: int
    pile_size: int

    def __getitem__(self, name: str) -> slice:
        """The Python slice of the part called `name`; KeyError names the known ones."""
        for part in self.slices:
            if part.name == name:
                return slice(part.offset, part.offset + part.size)
        raise KeyError(unknown("slice", name, [part.name for part in self.slices]))

    def describe(self) -> str:
        """A table of name, offset, size and meaning, one slice a line."""
        wide = max(len(part.name) for part in self.slices)
        lines = [f"{s.name:<{wide}}  {s.offset:>4} +{s.size:<3} {s.meaning}" for s in self.slices]
        return "\n".join(lines)


def observation_spec(kind: str, table: Table) -> ObservationSpec:
    """The layout of `kind` at `table`; ValueError names the known kinds."""
    if kind == "table":
        parts, pile_size = _table_parts(table), 0
    elif kind == "relative":
        block = _pile_parts(table)
        pile_size = sum(size for _, size, _ in block)
        parts = [(f"{pile}.{name}", size, text) for pile in PILES for name, size, text in block]
        parts += _shared_parts(table)
    else:
        raise ValueError(unknown("observation", kind, get_args(ObservationKind)))
    slices, offset = [], 0
    for name, size, meaning in parts:
        slices.append(Slice(name, offset, size, meaning))
        offset += size
    return ObservationSpec(kind, tuple(slices), offset, pile_size)


Parts = list[tuple[str, int, str]]


def _table_parts(table: Table) -> Parts:
    cards, players = table.rules.cards, table.players
    parts: Parts = [
        ("hand", cards, "own hand: 1 where card 2..N+1 is held"),
        ("tops", N_PILES, "tops of up1, up2, down1, down2, over N+2"),
        ("deck", 1, "cards in the deck, over N"),
        ("sizes", players, "hand sizes by offset, the own one first, over the full hand"),
        ("plays", 1, "cards laid this turn, over the full hand"),
        ("owed", 1, "plays still owed this turn, over the full hand"),
        ("players", 1, f"players, over {MAX_SEATS}"),
    ]
    if table.memory:
        parts.append(("unseen", cards, "1 where card 2..N+1 may lie in the deck or another hand"))
    if table.talk != "none" and players > 1:
        text = "what the others say of each pile, by offset 1.., over 2 (avoid: 0 or 1)"
        parts.append(("talk", N_PILES * (players - 1), text))
    if table.talk == "open" and players > 1:
        parts.append(("talk_stuck", players - 1, "1 where offset 1.. cannot reach its minimum"))
    return parts


def _pile_parts(table: Table) -> Parts:
    behind = table.rules.trick - 1
    return [
        ("hand", WINDOW, "own cards at gap 1..W beyond the top"),
        ("unseen", WINDOW, "unseen cards at gap 1..W (0 without memory)"),
        ("fresh", WINDOW, "1 at gap 1..W where at most one pile has passed the card"),
        ("nearest", WINDOW, "own cards at gap 1..W that no other pile takes at a smaller gap"),
        ("pairs", WINDOW, "own cards at gap 1..W whose trick, the card behind them, is own too"),
        ("live_pairs", WINDOW, "the same of cards own or unseen (own ones without memory)"),
        ("hand_behind", behind, "own cards at gap -1..-(trick-1): a trick away from a gap ahead"),
        ("unseen_behind", behind, "unseen cards at gap -1..-(trick-1)"),
        ("trick_hand", 1, "the trick's card is in the own hand"),
        ("trick_unseen", 1, "the trick's card is unseen"),
        ("room", 1, "card values beyond the top, over N"),
        ("hand_beyond", 1, "own cards beyond the top, over the full hand"),
        ("unseen_beyond", 1, "unseen cards beyond the top, over N"),
        ("talk_step", MAX_SEATS - 1, "offset 1..4 asks for this pile (a step or the trick)"),
        ("talk_trick", MAX_SEATS - 1, "offset 1..4 holds the trick (talk open)"),
    ]


def _shared_parts(table: Table) -> Parts:
    cards = table.rules.cards
    return [
        ("hand", cards, "own hand: 1 where card 2..N+1 is held"),
        ("unseen", cards, "unseen cards (0 without memory)"),
        ("deck", 1, "cards in the deck, over N"),
        ("left", 1, "cards in all hands and the deck, over N"),
        ("sizes", MAX_SEATS, "hand sizes by offset, the own one first, over 8"),
        ("plays", 1, "cards laid this turn, over 8"),
        ("owed", 1, "plays still owed this turn, over 3"),
        ("players", MAX_SEATS, "one-hot number of players"),
        ("full_hand", 1, "cards in a full hand, over 8"),
        ("minimum", 1, "plays owed while the deck lasts, over 3"),
        ("minimum_empty", 1, "plays owed once it is empty, over 3"),
        ("passes", 1, "1 where a stuck seat passes"),
        ("memory_known", 1, "1 where unseen is known, 0 where it is not (memory off)"),
        ("talk_setting", 3, "one-hot none, avoid, open"),
        ("talk_stuck", MAX_SEATS - 1, "offset 1..4 cannot reach its minimum (talk open)"),
    ]


# --- the encoders --------------------------------------------------------------------------------


@kernel
def encode_table(row, p, out):
    """Write the `table` observation of a view row into `out` (float32[size])."""
    cards, players, full = p[P_CARDS], p[P_PLAYERS], p[P_HAND]
    write_set(row[V_HAND], row[V_HAND + 1], cards, out, 0)
    at = cards
    for pile in range(N_PILES):
        out[at + pile] = np.float32(row[V_TOPS + pile]) / np.float32(cards + 2)
    at += N_PILES
    out[at] = np.float32(row[V_DECK]) / np.float32(cards)
    at += 1
    for offset in range(players):
        out[at + offset] = np.float32(row[V_SIZES + offset]) / np.float32(full)
    at += players
    out[at] = np.float32(row[V_PLAYS]) / np.float32(full)
    out[at + 1] = np.float32(row[V_OWED]) / np.float32(full)
    out[at + 2] = np.float32(players) / np.float32(MAX_SEATS)
    at += 3
    if p[P_MEMORY]:
        write_set(row[V_UNSEEN], row[V_UNSEEN + 1], cards, out, at)
        at += cards
    if p[P_TALK] != TALK_NONE:
        for offset in range(players - 1):
            word = row[V_TALK + offset]
            scale = 2.0 if p[P_TALK] == TALK_OPEN else 1.0
            for pile in range(N_PILES):
                out[at] = np.float32(((word >> (2 * pile)) & 3) / scale)
                at += 1
    if p[P_TALK] == TALK_OPEN:
        for offset in range(players - 1):
            out[at] = np.float32((row[V_TALK + offset] & TALK_STUCK) != 0)
            at += 1


@kernel
def encode_relative(row, p, out):
    """Write the `relative` observation of a view row into `out` (float32[size])."""
    cards, lo, hi = p[P_CARDS], row[V_HAND], row[V_HAND + 1]
    unseen_lo = row[V_UNSEEN] if p[P_MEMORY] else 0
    unseen_hi = row[V_UNSEEN + 1] if p[P_MEMORY] else 0
    fresh_lo, fresh_hi = fresh_cards(
        row[V_TOPS], row[V_TOPS + 1], row[V_TOPS + 2], row[V_TOPS + 3], cards
    )
    sets = lo, hi, unseen_lo, unseen_hi, fresh_lo, fresh_hi
    at = 0
    for pile in range(2):
        near = _nearest(row, p, pile)
        at = _write_pile(row, p, pile, sets, near, out, at)
    down_lo, down_hi = mirrored(lo, hi, cards)
    down_unseen_lo, down_unseen_hi = mirrored(unseen_lo, unseen_hi, cards)
    down_fresh_lo, down_fresh_hi = mirrored(fresh_lo, fresh_hi, cards)
    sets = down_lo, down_hi, down_unseen_lo, down_unseen_hi, down_fresh_lo, down_fresh_hi
    for pile in range(2, N_PILES):
        near = _nearest(row, p, pile)
        at = _write_pile(row, p, pile, sets, mirrored(near[0], near[1], cards), out, at)
    write_set(lo, hi, cards, out, at)
    write_set(unseen_lo, unseen_hi, cards, out, at + cards)
    _write_shared(row, p, out, at + 2 * cards)


@kernel
def _nearest(row, p, pile):
    """The own cards that no other pile takes at a smaller gap (the trick's is the smallest)."""
    cards, top, lo, hi = p[P_CARDS], row[V_TOPS + pile], row[V_HAND], row[V_HAND + 1]
    for other in range(N_PILES):
        if other == pile:
            continue
        beside = row[V_TOPS + other]
        taken_lo, taken_hi = beyond(other, beside, cards)
        if (other < 2) == (pile < 2):
            if (beside <= top) if pile < 2 else (beside >= top):
                taken_lo, taken_hi = 0, 0
        else:
            # The other's gap is smaller beyond the middle of the two tops.
            middle = (top + beside) >> 1 if pile < 2 else (top + beside + 1) >> 1
            half_lo, half_hi = beyond(pile, middle, cards)
            taken_lo &= half_lo
            taken_hi &= half_hi
        trick = trick_index(other, beside, cards, p[P_TRICK])
        if trick >= 0:
            taken_lo |= bit_lo(trick)
            taken_hi |= bit_hi(trick)
        lo &= ~taken_lo
        hi &= ~taken_hi
    return lo, hi


@kernel
def _write_pile(row, p, pile, sets, near, out, at):
    """Write a pile's block. Returns where the next begins.

    `sets` (own, unseen and fresh cards) and `near` are seen in the pile's direction.
    """
    lo, hi, unseen_lo, unseen_hi, fresh_lo, fresh_hi = sets
    cards, trick = p[P_CARDS], p[P_TRICK]
    top = row[V_TOPS + pile] if pile < 2 else cards + 3 - row[V_TOPS + pile]
    ahead, unseen = window(lo, hi, top - 1), window(unseen_lo, unseen_hi, top - 1)
    tricks = shifted(lo, hi, top - 1 - trick)
    unseen_tricks = shifted(unseen_lo, unseen_hi, top - 1 - trick)
    write_bits(ahead, WINDOW, out, at)
    write_bits(unseen, WINDOW, out, at + WINDOW)
    write_bits(window(fresh_lo, fresh_hi, top - 1), WINDOW, out, at + 2 * WINDOW)
    write_bits(window(near[0], near[1], top - 1), WINDOW, out, at + 3 * WINDOW)
    write_bits(ahead & tricks, WINDOW, out, at + 4 * WINDOW)
    write_bits((ahead | unseen) & (tricks | unseen_tricks), WINDOW, out, at + 5 * WINDOW)
    at += 6 * WINDOW
    back = shifted(lo, hi, top - trick - 2)
    back_unseen = shifted(unseen_lo, unseen_hi, top - trick - 2)
    write_bits(reverse_bits(back) >> (64 - trick), trick - 1, out, at)
    write_bits(reverse_bits(back_unseen) >> (64 - trick), trick - 1, out, at + trick - 1)
    at += 2 * (trick - 1)
    out[at] = back & 1
    out[at + 1] = back_unseen & 1
    out[at + 2] = np.float32(cards + 1 - top) / np.float32(cards)
    mask_lo, mask_hi = beyond(0, top, cards)
    out[at + 3] = np.float32(count(lo & mask_lo, hi & mask_hi)) / np.float32(p[P_HAND])
    beyond_unseen = count(unseen_lo & mask_lo, unseen_hi & mask_hi)
    out[at + 4] = np.float32(beyond_unseen) / np.float32(cards)
    at += 5
    for offset in range(MAX_SEATS - 1):
        level = (row[V_TALK + offset] >> (2 * pile)) & 3
        out[at + offset] = level > 0
        out[at + MAX_SEATS - 1 + offset] = level > 1
    return at + 2 * (MAX_SEATS - 1)


@kernel
def _write_shared(row, p, out, at):
    """Write the scalar slices at the end of a `relative` observation."""
    out[at] = np.float32(row[V_DECK]) / np.float32(p[P_CARDS])
    out[at + 1] = np.float32(row[V_LEFT]) / np.float32(p[P_CARDS])
    at += 2
    for offset in range(MAX_SEATS):
        out[at + offset] = np.float32(min(row[V_SIZES + offset] / 8, 1.0))
    at += MAX_SEATS
    out[at] = np.float32(min(row[V_PLAYS] / 8, 1.0))
    out[at + 1] = np.float32(min(row[V_OWED] / 3, 1.0))
    at += 2
    for players in range(1, MAX_SEATS + 1):
        out[at + players - 1] = np.float32(p[P_PLAYERS] == players)
    at += MAX_SEATS
    out[at] = np.float32(min(p[P_HAND] / 8, 1.0))
    out[at + 1] = np.float32(min(p[P_MINIMUM] / 3, 1.0))
    out[at + 2] = np.float32(min(p[P_EMPTY] / 3, 1.0))
    out[at + 3] = np.float32(p[P_NOBODY])
    out[at + 4] = np.float32(p[P_MEMORY])
    at += 5
    for setting in range(3):
        out[at + setting] = np.float32(p[P_TALK] == setting)
    at += 3
    for offset in range(MAX_SEATS - 1):
        out[at + offset] = np.float32((row[V_TALK + offset] & TALK_STUCK) != 0)


ENCODE_TABLE, ENCODE_RELATIVE = 0, 1


@kernel
def encode(kind, row, p, out):
    """Write the observation of `kind` (ENCODE_TABLE or ENCODE_RELATIVE) into `out`."""
    if kind == ENCODE_TABLE:
        encode_table(row, p, out)
    else:
        encode_relative(row, p, out)


@kernel
def encode_batch(kind, rows, p, out):
    """Write the observations of `rows` (int64[B, VIEW_ROW]) into `out` (float32[B, size])."""
    table = row_of(p, 0)
    for b in range(rows.shape[0]):
        encode(kind, row_of(rows, b), table, row_of(out, b))


ENCODERS: dict[str, int] = {"table": ENCODE_TABLE, "relative": ENCODE_RELATIVE}


def observe(view: Any, kind: str = "relative") -> npt.NDArray[np.float32]:
    """The observation of a `View`, float32[size]."""
    out = np.zeros(observation_spec(kind, view.table).size, np.float32)
    encode_batch(ENCODERS[kind], view.row()[None], parameters(view.table), out[None])
    return out
