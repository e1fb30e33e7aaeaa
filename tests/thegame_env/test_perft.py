"""Counts of action sequences: stored ones, both engines, and the report of a difference."""

import json
import random

import numpy as np
import pytest
from data_files import DATA, DEALS
from strategies import random_deck, random_table

from thegame_env.engine import Engine
from thegame_env.layout import GAME_ROW, P_LEGAL
from thegame_env.notation import GameRecord
from thegame_env.perft import (
    divide_fast,
    divide_reference,
    first_difference,
    perft_fast,
    perft_reference,
)
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table

ENTRIES = json.loads((DATA / "perft.json").read_text())
NAMES = [entry["name"] for entry in ENTRIES]


def dealt(table: Table, deck: tuple[int, ...]) -> Engine:
    engine = Engine(table, 1)
    engine.deal_deck(0, deck)
    return engine


def table_of(entry: dict) -> Table:
    return Table(Rules.parse(entry["rules"]), entry["players"])


def test_the_file_is_as_promised() -> None:
    assert list(DEALS) == NAMES
    assert len(ENTRIES) >= 12
    for entry in ENTRIES:
        made = entry["made_by"]["reference"] + entry["made_by"]["fast"]
        assert made == [int(depth) for depth in entry["counts"]] == [1, 2, 3, 4, 5, 6]
        assert entry["made_by"]["reference"][:4] == [1, 2, 3, 4]


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_engine_counts_to_depth_six(entry: dict) -> None:
    engine = dealt(table_of(entry), tuple(entry["deck"]))
    before = engine.games.copy()
    counts = {str(depth): perft_fast(engine, depth) for depth in range(1, 7)}
    assert counts == entry["counts"]
    assert np.array_equal(engine.games, before)


@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_reference_counts_to_depth_three(entry: dict) -> None:
    game = Game.start(table_of(entry), entry["deck"])
    counts = {depth: perft_reference(game, int(depth)) for depth in ("1", "2", "3")}
    assert counts == {depth: entry["counts"][depth] for depth in counts}


@pytest.mark.long
@pytest.mark.parametrize("entry", ENTRIES, ids=NAMES)
def test_reference_counts_as_deep_as_the_file_says(entry: dict) -> None:
    game = Game.start(table_of(entry), entry["deck"])
    for depth in entry["made_by"]["reference"]:
        assert perft_reference(game, depth) == entry["counts"][str(depth)]


def test_first_plies_by_hand() -> None:
    # Eight cards on four untouched piles; no trick can reach an untouched pile.
    deck = Rules().deck
    game = Game.start(Table(Rules(), 1), deck)
    assert perft_reference(game, 0) == perft_fast(dealt(Table(Rules(), 1), deck), 0) == 1
    assert perft_reference(game, 1) == 32
    # Hand 2-9. A card c laid first leaves seven cards on the three other piles, and on its own pile
    # those beyond it: 9 - c of them ascending, c - 2 descending. No two cards are ten apart.
    assert perft_reference(game, 2) == sum(
        2 * (3 * 7 + 9 - c) + 2 * (3 * 7 + c - 2) for c in range(2, 10)
    )


def test_divide_splits_the_count_by_first_action() -> None:
    rng = random.Random(3)
    for _ in range(20):
        table = random_table(rng)
        deck = random_deck(rng, table.rules)
        game, engine = Game.start(table, deck), dealt(table, deck)
        plain, fast = dict(divide_reference(game, 2)), dict(divide_fast(engine, 2))
        assert plain == fast
        assert list(plain) == game.legal_actions()
        assert sum(plain.values()) == perft_fast(engine, 2)


def test_depths_beyond_one_kernel_call_add_up() -> None:
    table = Table(Rules("custom", 7, (1,), 1, 1, trick=3), 1)
    engine = dealt(table, table.rules.deck)
    game = Game.start(table, table.rules.deck)
    assert perft_fast(engine, 7) == perft_reference(game, 7) > 0


def test_a_finished_game_has_no_sequence() -> None:
    table = Table(Rules("custom", 2, (2,), 1, 1), 1)
    engine = dealt(table, (2, 3))
    longest = [perft_fast(engine, depth) for depth in range(1, 6)]
    assert longest == [perft_reference(Game.start(table, (2, 3)), depth) for depth in range(1, 6)]
    # One or two plays, an END_TURN between them or not, and then it is won.
    assert longest[0] == 8
    assert longest[-2:] == [0, 0]


def test_other_slots_are_counted_from_their_own_row() -> None:
    table = Table(Rules(), 2)
    engine = Engine(table, 3)
    engine.deal([5, 6, 7])
    single = Engine(table, 1)
    single.deal([7])
    assert perft_fast(engine, 3, slot=2) == perft_fast(single, 3)
    assert engine.games.shape == (3, GAME_ROW)


def test_engines_that_agree_have_no_difference() -> None:
    table = Table(Rules(), 3)
    assert first_difference(table, table.rules.deck, 3, dealt(table, table.rules.deck)) is None


def test_a_difference_is_named_with_its_position() -> None:
    table = Table(Rules(), 1)
    deck = (40, 50, *(card for card in table.rules.deck if card not in (40, 50)))
    engine = dealt(table, deck)
    # Forbid card 40 (bit 38 of the first word) on an ascending pile with top 50: the trick.
    engine.p[P_LEGAL + 2 * 50] &= ~(1 << 38)
    text = first_difference(table, deck, 3, engine)
    assert text is not None
    assert text.startswith("only one allows 40:up1 at up=50,1 ")
    record = GameRecord.parse(text[text.index("(") + 1 : -1])
    assert [*record.replay()][-1].tops == (50, 1, 100, 100)
