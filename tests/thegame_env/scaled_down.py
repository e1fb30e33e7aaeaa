"""Tiny tables counted out: every deal, every game, the exact chance of uniformly random play.

Two independent ways: `count_reference` goes backwards over the reference's positions (each one's
tally is the sum of those that follow), `count_engine` pushes paths and chances forward through the
rows of the fast engine, ply by ply.
"""

import functools
import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np

from thegame_env.engine import Engine, act_batch
from thegame_env.layout import PLAYING, STATUS, STEPS, TRICKS, TURNS, WON
from thegame_env.perft import legal_fast
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table

TABLES = {
    "one card in hand": Table(Rules("custom", 5, (1,), 1, 1), 1),
    "four cards": Table(Rules("custom", 4, (2,), 2, 1, trick=2), 1),
    "four cards, two seats": Table(Rules("custom", 4, (0, 1), 1, 1, trick=2), 2),
    "five cards": Table(Rules("custom", 5, (3,), 2, 1, trick=2), 1),
    "five cards, two seats": Table(Rules("custom", 5, (0, 2), 2, 1, trick=3), 2),
    "six cards": Table(Rules("custom", 6, (2,), 2, 2, trick=3), 1),
    "six cards, two seats": Table(Rules("custom", 6, (0, 2), 2, 1, trick=4), 2),
    "six cards, passing": Table(Rules("custom", 6, (0, 2), 2, 1, "nobody", trick=4), 2),
    "seven cards": Table(Rules("custom", 7, (3,), 3, 1, trick=3), 1),
    "seven cards, two seats": Table(Rules("custom", 7, (0, 3), 2, 2, trick=2), 2),
}
"""The tables of tests/data/scaled_down.json."""


@dataclass(frozen=True)
class Tally:
    """What all deals of a table come to.

    Attributes:
        deals: Deck orders, N factorial.
        winnable: Deals that can be won with all cards open.
        games: Complete action sequences.
        won: Those that end with all cards laid.
        lost: Those that end stuck.
        win_rate: Chance that uniformly random legal actions win a random deal, as "a/b".
    """

    deals: int
    winnable: int
    games: int
    won: int
    lost: int
    win_rate: str

    def as_dict(self) -> dict[str, int | str]:
        return asdict(self)


def distinct_deals(table: Table) -> Iterator[tuple[int, ...]]:
    """One deck order for each way to deal: the order inside a hand does not matter."""
    size, players = table.hand_size, table.players
    for deck in itertools.permutations(table.rules.deck):
        hands = [deck[seat * size : (seat + 1) * size] for seat in range(players)]
        if all(list(hand) == sorted(hand) for hand in hands):
            yield deck


def copies(table: Table) -> int:
    """Deck orders behind each of the distinct deals."""
    return math.factorial(table.hand_size) ** table.players


def count_reference(table: Table) -> Tally:
    """The tally, by going backwards over the reference's positions."""
    deals = winnable = won = lost = 0
    chance = Fraction(0)
    for deck in distinct_deals(table):
        wins, losses, rate = _backwards(Game.start(table, deck))
        deals, winnable = deals + 1, winnable + (wins > 0)
        won, lost, chance = won + wins, lost + losses, chance + rate
    return _tally(table, deals, winnable, won, lost, chance)


@functools.lru_cache(maxsize=200_000)
def _backwards(game: Game) -> tuple[int, int, Fraction]:
    """Won and lost games from a position, and the chance that random play wins it."""
    if game.outcome is not None:
        return int(game.outcome.won), int(not game.outcome.won), Fraction(int(game.outcome.won))
    after = [_backwards(game.step(action)) for action in game.legal_actions()]
    won, lost, rates = zip(*after, strict=True)
    return sum(won), sum(lost), sum(rates) / Fraction(len(after))


def count_engine(table: Table) -> Tally:
    """The tally, by pushing paths and chances forward through the engine's rows."""
    deals = winnable = won = lost = 0
    chance = Fraction(0)
    engine = Engine(table, 1)
    for deck in distinct_deals(table):
        engine.deal_deck(0, deck)
        wins, losses, rate = _forwards(engine)
        deals, winnable = deals + 1, winnable + (wins > 0)
        won, lost, chance = won + wins, lost + losses, chance + rate
    return _tally(table, deals, winnable, won, lost, chance)


def _forwards(engine: Engine) -> tuple[int, int, Fraction]:
    front = {engine.games[0].tobytes(): (1, Fraction(1))}
    won, lost, rate = 0, 0, Fraction(0)
    while front:
        following: dict[bytes, tuple[int, Fraction]] = {}
        for key, (paths, chance) in front.items():
            row = np.frombuffer(key, np.int64)
            engine.games[0] = row
            legal = legal_fast(engine)
            if row[STATUS] == WON:
                won, rate = won + paths, rate + chance
            elif row[STATUS] != PLAYING:
                lost += paths
            for action in legal:
                engine.games[0] = row
                act_batch(engine.games, engine.decks, engine.p, np.array([action]))
                # Counters that tell how a position was reached, not what it is.
                engine.games[0, [TURNS, TRICKS, STEPS]] = 0
                after = engine.games[0].tobytes()
                more, likely = following.get(after, (0, Fraction(0)))
                following[after] = (more + paths, likely + chance / len(legal))
        front = following
    return won, lost, rate


def _tally(table: Table, deals: int, winnable: int, won: int, lost: int, chance: Fraction) -> Tally:
    each = copies(table)
    rate = chance / deals
    return Tally(
        deals=deals * each,
        winnable=winnable * each,
        games=(won + lost) * each,
        won=won * each,
        lost=lost * each,
        win_rate=f"{rate.numerator}/{rate.denominator}",
    )
