"""Perft: how many action sequences of a length exist from a position.

Plays and END_TURN are actions; a finished game has none, so a sequence that ends early counts only
at the lengths up to its end. Equal counts of two implementations at some depth mean that they agree
on nearly everything that can happen in that many actions; `first_difference` finds where they
do not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from thegame_env.cards import count, legal_set
from thegame_env.compiled import inlined, kernel, lowest_bit
from thegame_env.engine import Engine, act, may_end
from thegame_env.layout import GAME_ROW, HANDS, P_CARDS, PLAYING, SEAT, STATUS, TOPS, WORD
from thegame_env.notation import GameRecord, format_action, format_position
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, Table
from thegame_env.view import View

AT_ONCE = 6
"""Depths up to this are one kernel call (well under a second); an interrupt waits for its end."""
_CHOICES = 2 * N_PILES + 1
"""Words that hold the legal actions of a game row: two a pile, and END_TURN."""


# --- the reference -------------------------------------------------------------------------------


def perft_reference(game: Game, depth: int) -> int:
    """Number of action sequences of length `depth` (0 or more) from `game`."""
    if depth == 0:
        return 1
    if depth == 1:
        return len(game.legal_actions())
    return sum(nodes for _, nodes in divide_reference(game, depth))


def divide_reference(game: Game, depth: int) -> Iterator[tuple[int, int]]:
    """For every legal action, itself and the sequences of length `depth` that begin with it."""
    for action in game.legal_actions():
        yield action, perft_reference(game.step(action), depth - 1)


# --- the fast engine -----------------------------------------------------------------------------


@inlined
def list_choices(game, p, choices):
    """Write the legal actions of a game row into `choices` (int64[9]); return how many."""
    choices[:] = 0
    if game[STATUS] != PLAYING:
        return 0
    hand = HANDS + 2 * game[SEAT]
    number = 0
    for pile in range(N_PILES):
        lo, hi = legal_set(game[hand], game[hand + 1], pile, game[TOPS + pile], p)
        choices[2 * pile], choices[2 * pile + 1] = lo, hi
        number += count(lo, hi)
    if may_end(game, p):
        choices[2 * N_PILES] = 1
        number += 1
    return number


@inlined
def take_choice(choices, cards):
    """Remove the lowest action from `choices` and return it; -1 where none is left."""
    for word in range(_CHOICES):
        bits = choices[word]
        if bits:
            choices[word] = bits & (bits - 1)
            index = lowest_bit(bits) + (WORD if word & 1 else 0)
            return (word >> 1) * cards + index
    return -1


@kernel
def count_sequences(game, deck, p, depth):
    """Number of action sequences of length `depth` (1 or more) from a game row, which stays.

    Depth-first with an explicit stack of game rows (a self-recursive kernel cannot be cached). The
    last action of a sequence is counted, not taken.
    """
    games = np.empty((depth, GAME_ROW), np.int64)
    choices = np.empty((depth, _CHOICES), np.int64)
    games[0] = game
    total = list_choices(game, p, choices[0])
    if depth == 1:
        return total
    total, ply = 0, 0
    while ply >= 0:
        action = take_choice(choices[ply], p[P_CARDS])
        if action < 0:
            ply -= 1
            continue
        games[ply + 1] = games[ply]
        act(games[ply + 1], deck, p, action)
        number = list_choices(games[ply + 1], p, choices[ply + 1])
        if ply + 2 == depth:
            total += number
        else:
            ply += 1
    return total


@kernel
def first_actions(game, p, actions):
    """Write the legal actions of a game row into `actions` in codec order; return how many."""
    choices = np.empty(_CHOICES, np.int64)
    number = list_choices(game, p, choices)
    for i in range(number):
        actions[i] = take_choice(choices, p[P_CARDS])
    return number


def perft_fast(engine: Engine, depth: int, slot: int = 0) -> int:
    """Number of action sequences of length `depth` (0 or more) from one slot of an engine."""
    if depth == 0:
        return 1
    if depth > AT_ONCE:
        return sum(nodes for _, nodes in divide_fast(engine, depth, slot))
    return int(count_sequences(engine.games[slot], engine.decks[slot], engine.p, depth))


def divide_fast(engine: Engine, depth: int, slot: int = 0) -> Iterator[tuple[int, int]]:
    """For every legal action, itself and the sequences of length `depth` that begin with it."""
    for action in legal_fast(engine, slot):
        yield action, perft_fast(_after(engine, slot, action), depth - 1)


def legal_fast(engine: Engine, slot: int = 0) -> list[int]:
    """The legal actions of one slot in ascending order; none in a finished game."""
    actions: npt.NDArray[np.int64] = np.empty(engine.table.rules.n_actions, np.int64)
    number = int(first_actions(engine.games[slot], engine.p, actions))
    return [int(action) for action in actions[:number]]


def _after(engine: Engine, slot: int, action: int) -> Engine:
    child = Engine(engine.table, 1)
    child.games[0], child.decks[0], child.p = engine.games[slot], engine.decks[slot], engine.p
    child.step(action)
    return child


# --- both ----------------------------------------------------------------------------------------


def first_difference(table: Table, deck: tuple[int, ...], depth: int, engine: Engine) -> str | None:
    """Where slot 0 of `engine`, dealt `deck`, departs from the reference within `depth` actions.

    Returns:
        None where both agree; else the actions that only one of them allows, the position and a
        record that replays to it.
    """
    game = Game.start(table, deck)
    taken: list[int] = []
    while depth:
        ours = dict(divide_reference(game, depth))
        theirs = dict(divide_fast(engine, depth))
        if ours == theirs:
            return None
        apart = sorted(set(ours) ^ set(theirs))
        if apart:
            record = GameRecord(table, deck, tuple(taken))
            names = ", ".join(format_action(table.rules, action) for action in apart)
            position = format_position(View.of(game, table))
            return f"only one allows {names} at {position} ({record})"
        action = next(action for action in ours if ours[action] != theirs[action])
        game, engine, depth = game.step(action), _after(engine, 0, action), depth - 1
        taken.append(action)
    return None
