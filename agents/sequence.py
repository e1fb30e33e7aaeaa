"""`sequence` and `signals`: plan the whole turn by a score of what it leaves behind.

`sequence` enumerates the plans of its turn (agents/turn_search.py), scores their afterstates by
fifteen counted facts (agents/turn_score.py) and takes the best; with the deck empty and nobody else
holding a card it searches exhaustively. It knows its own hand, the tops, the sizes, what it owes
and, with memory on, which cards are unseen; it is silent. The idea of scoring whole turns by the
movement they cost is common to all strong players of this game; the terms beyond movement and
their weights were found by CMA-ES (Hansen 2006) on development deals (benchmarks/tune_sequence.py).

`signals` adds table talk: a pile that a partner asks to be spared is worth more as it lies. The
bonus depends on what was said (a step, or the trick), how many seats away the partner is, and
whether it is stuck. It plans anew after every card, because the talk changes. At a silent table it
is `sequence`.
"""

from __future__ import annotations

import functools
import json
import re

import numpy as np
import numpy.typing as npt

from agents.base import Agent, KernelAgent
from agents.turn_score import FLOATS, N_TERMS, PHASES, weigh
from agents.turn_search import MARGIN, PLAN_AT, WORK, search_turn
from agents.weight_files import SHIPPED
from thegame_env.cards import all_hi, all_lo, bit_hi, bit_lo
from thegame_env.compiled import hold, inlined, kernel, row_of
from thegame_env.deal import shuffle_into
from thegame_env.layout import (
    DECK_AT,
    GAME_ROW,
    HANDS,
    LEFT,
    OWED,
    P_CARDS,
    P_MEMORY,
    PLAYED,
    PLAYING,
    PLAYS,
    SEAT,
    STATUS,
    TALK_STUCK,
    TOPS,
    TURNS,
    V_DECK,
    V_HAND,
    V_LEFT,
    V_MAY_END,
    V_OWED,
    V_TALK,
    V_TOPS,
    V_UNSEEN,
    VIEW_ROW,
)
from thegame_env.moves import act, begin
from thegame_env.rules import MAX_SEATS, N_PILES, Table

Floats = npt.NDArray[np.float64]
OFFSETS = MAX_SEATS - 1
SAYS_STEP, SAYS_TRICK, SAYS_STUCK = 0, 1, 2
"""Rows of the penalties: a step was asked for, the trick, and what a stuck seat adds."""


@inlined
def listen(row, penalties, asked):
    """Fill `asked` (float64[piles]): what leaving each pile alone is worth to the partners."""
    for pile in range(N_PILES):
        asked[pile] = 0.0
        for offset in range(OFFSETS):
            word = row[V_TALK + offset]
            level = (word >> (2 * pile)) & 3
            if level:
                asked[pile] += penalties[level - 1, offset]
                if word & TALK_STUCK:
                    asked[pile] += penalties[SAYS_STUCK, offset]


@kernel
def act_sequence(rows, p, streams, actions, weights, penalties, margin):
    """Fill `actions` (int64[n]) for the view rows `rows` (int64[n, VIEW_ROW]).

    Args:
        rows: Views.
        p: Parameter row.
        streams: Not used.
        actions: Out.
        weights: float64[PHASES, N_TERMS] of the score.
        penalties: float64[3, OFFSETS], see `listen`.
        margin: Plans this much below the best are not continued beyond the minimum.
    """
    ints, floats, asked = np.zeros(WORK, np.int64), np.zeros(FLOATS), np.zeros(N_PILES)
    for i in range(rows.shape[0]):
        row = rows[i]
        listen(row, penalties, asked)
        weigh(row, p, weights, floats)
        laid = search_turn(row, p, asked, margin, ints, floats)
        ends = laid == 0 and row[V_MAY_END]
        actions[i] = N_PILES * p[P_CARDS] if ends else ints[PLAN_AT]


# --- whole games, planned once a turn: for tuning and for speed ----------------------------------


@inlined
def _glance(game, p, row):
    """Write into a view row what the search reads of the acting seat's view."""
    cards, hand = p[P_CARDS], HANDS + 2 * game[SEAT]
    lo, hi = game[hand], game[hand + 1]
    known_lo, known_hi = lo | game[PLAYED], hi | game[PLAYED + 1]
    if not p[P_MEMORY]:
        known_lo, known_hi = lo, hi
        for pile in range(N_PILES):
            index = game[TOPS + pile] - 2
            if 0 <= index < cards:
                known_lo |= bit_lo(index)
                known_hi |= bit_hi(index)
    row[V_HAND], row[V_HAND + 1] = lo, hi
    row[V_UNSEEN] = all_lo(cards) & ~known_lo
    row[V_UNSEEN + 1] = all_hi(cards) & ~known_hi
    for pile in range(N_PILES):
        row[V_TOPS + pile] = game[TOPS + pile]
    row[V_DECK], row[V_LEFT] = cards - game[DECK_AT], game[LEFT]
    row[V_OWED] = game[OWED] - game[PLAYS]


@kernel
def sequence_games(parameters, seeds, indices, left, weights, margin):
    """Play silent games (seed, index), each turn planned once; `left` receives the cards left."""
    games, decks = np.zeros((1, GAME_ROW), np.int64), np.zeros((1, parameters[P_CARDS]), np.int8)
    rows, work = np.zeros((1, VIEW_ROW), np.int64), np.zeros((1, WORK), np.int64)
    tables, silence = np.zeros((1, FLOATS)), np.zeros((1, N_PILES))
    game, deck, p, row = row_of(games, 0), row_of(decks, 0), row_of(parameters, 0), row_of(rows, 0)
    ints, floats, asked = row_of(work, 0), row_of(tables, 0), row_of(silence, 0)
    for i in range(seeds.shape[0]):
        shuffle_into(deck, p[P_CARDS], seeds[i], np.uint64(indices[i]))
        begin(game, deck, p)
        while game[STATUS] == PLAYING:
            _glance(game, p, row)
            weigh(row, p, weights, floats)
            laid = search_turn(row, p, asked, margin, ints, floats)
            turn = game[TURNS]
            for k in range(laid):
                act(game, deck, p, ints[PLAN_AT + k])
            if game[STATUS] == PLAYING and game[TURNS] == turn:
                act(game, deck, p, N_PILES * p[P_CARDS])
        left[i] = game[LEFT]
    hold((games, decks, rows, work, tables, silence))


# --- weights -------------------------------------------------------------------------------------


@functools.cache
def _tuned() -> dict[str, dict[str, list[list[float]]]]:
    tuned: dict[str, dict[str, list[list[float]]]] = json.loads(
        (SHIPPED / "sequence.json").read_text()
    )["tuned"]
    return tuned


def table_key(table: Table) -> str:
    """The name under which a table's weights stand, such as "minimum 2, 5 players, memory on"."""
    memory = "on" if table.memory else "off"
    return f"minimum {table.rules.minimum}, {table.players} players, memory {memory}"


def weights_for(table: Table) -> Floats:
    """The tuned weights of the score for a table, or those of the nearest one: see TERMS."""
    known = _tuned()["weights"]
    nearest = min(known, key=lambda key: _distance(key, table))
    return np.array(known[nearest]).reshape(PHASES, N_TERMS)


def penalties_for(table: Table) -> Floats:
    """The tuned worth of sparing a pile, float64[3, OFFSETS]; zeros at a silent table."""
    if table.talk == "none" or table.players == 1:
        return np.zeros((3, OFFSETS))
    return np.array(_tuned()["penalties"][table.talk]).reshape(3, OFFSETS)


def _distance(key: str, table: Table) -> tuple[bool, int, int]:
    minimum, players, memory = re.findall(r"\d+|\bon\b|\boff\b", key)
    return (
        (memory == "on") != table.memory,
        abs(int(minimum) - table.rules.minimum),
        abs(int(players) - table.players),
    )


def make(table: Table, *, margin: float = MARGIN) -> Agent:
    """The agent `sequence[:margin=...]`; a smaller one is faster and weaker (8: twice as fast)."""
    silence = np.zeros((3, OFFSETS))
    given = _checked("sequence", margin)
    name = "sequence" if given == MARGIN else f"sequence:margin={margin}"
    return KernelAgent(name, act_sequence, weights_for(table), silence, given)


def make_signals(table: Table, *, margin: float = MARGIN) -> Agent:
    """The agent `signals[:margin=...]`."""
    given = _checked("signals", margin)
    name = "signals" if given == MARGIN else f"signals:margin={margin}"
    return KernelAgent(name, act_sequence, weights_for(table), penalties_for(table), given)


def _checked(name: str, margin: float) -> float:
    if not isinstance(margin, int | float) or not 0 <= margin < 1e9:
        raise ValueError(f"{name}: margin must be a number from 0 up, not {margin!r}")
    return float(margin)
