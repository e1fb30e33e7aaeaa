"""Random tables, games and players, for hypothesis and for plain seeded loops."""

import itertools
import random
from collections.abc import Iterator

from hypothesis import strategies as st

from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table

PLAYED = tuple(
    (name, players)
    for name, rules in PRESETS.items()
    for players, size in enumerate(rules.hand_sizes, start=1)
    if size
)
"""Every (preset, players) that exists."""
SETTINGS = tuple(itertools.product((True, False), ("none", "avoid", "open"), ("seat0", "agreed")))
"""Every (memory, talk, starter)."""
PRESET_TABLES = tuple(
    Table(PRESETS[name], players, *setting)
    for (name, players), setting in itertools.product(PLAYED, SETTINGS)
)


def random_rules(rng: random.Random, cards: int | None = None) -> Rules:
    """Custom rules of any size; hands and minimum stay small enough for a plain search."""
    cards = cards or rng.choice((rng.randint(1, 12), rng.randint(1, 98)))
    sizes = tuple(rng.randint(0, min(6, cards // players)) for players in range(1, 6))
    if not any(sizes):
        sizes = (1, *sizes[1:])
    return Rules(
        "custom",
        cards=cards,
        hand_sizes=sizes,
        minimum=rng.randint(1, min(3, cards)),
        minimum_empty=rng.randint(1, min(3, cards)),
        stuck=rng.choice(("acting", "nobody")),
        excellent=rng.randint(0, 12),
        trick=rng.choice((1, 2, 3, 10, 10, 48)),
    )


def random_table(rng: random.Random) -> Table:
    """A table of a preset or, one time in three, of custom rules; any settings."""
    if rng.random() < 2 / 3:
        return rng.choice(PRESET_TABLES)
    rules = random_rules(rng)
    players = [n for n, size in enumerate(rules.hand_sizes, start=1) if size]
    return Table(rules, rng.choice(players), *rng.choice(SETTINGS))


def random_deck(rng: random.Random, rules: Rules) -> tuple[int, ...]:
    """A shuffled deck."""
    return tuple(rng.sample(rules.deck, rules.cards))


def movement(game: Game, action: int) -> int:
    """How far a play moves its pile's top (a trick: less than 0); 3 for END_TURN."""
    play = game.rules.decode(action)
    if play is None:
        return 3
    card, pile = play
    return card - game.tops[pile] if pile < 2 else game.tops[pile] - card


def choose(rng: random.Random, game: Game, legal: list[int], skill: float) -> int:
    """One of the legal actions: the one of least movement with chance `skill`, else any.

    Purely random games end early; skill brings games to the empty deck and to the win.
    """
    if rng.random() < skill:
        return min(legal, key=lambda action: movement(game, action))
    return rng.choice(legal)


def play(rng: random.Random, table: Table, skill: float) -> Iterator[tuple[Game, int | None]]:
    """The positions of a random game, each with the action taken there (None at the end)."""
    game = Game.start(table, random_deck(rng, table.rules))
    while game.outcome is None:
        action = choose(rng, game, game.legal_actions(), skill)
        yield game, action
        game = game.step(action)
    yield game, None


def record(table: Table, deck: tuple[int, ...], actions: list[int]) -> str:
    """The line that reproduces a game."""
    return str(GameRecord(table, deck, tuple(actions)))


# --- hypothesis ----------------------------------------------------------------------------------

seeds = st.integers(0, 2**64 - 1)
rules = seeds.map(lambda seed: random_rules(random.Random(seed))) | st.sampled_from(
    tuple(PRESETS.values())
)
tables = seeds.map(lambda seed: random_table(random.Random(seed)))


@st.composite
def positions(draw: st.DrawFn, running: bool = False) -> tuple[Table, Game]:
    """A table and a position that arises in a random game there, early and late ones alike."""
    rng = random.Random(draw(seeds))
    table = random_table(rng)
    games = [game for game, _ in play(rng, table, rng.choice((0.0, 0.5, 0.95)))]
    return table, rng.choice(games[:-1] if running and len(games) > 1 else games)
