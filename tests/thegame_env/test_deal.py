"""Deals: reproducible, independent of the batch, uniform; and the agreed starter."""

import random

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chisquare
from strategies import random_deck, random_rules, rules, seeds

from thegame_env.deal import OPENING_LEVELS, agreed_starter, as_seed, check_deck, deal
from thegame_env.deal import opening_level as opening_level_of
from thegame_env.engine import Engine, card_words, opening_level, parameters
from thegame_env.rules import PRESETS, Rules, Table


@given(rules, seeds, seeds)
def test_a_deal_is_a_permutation(table_rules: Rules, seed: int, game: int) -> None:
    deck = deal(table_rules, seed, game)
    assert sorted(deck) == list(table_rules.deck)
    assert deal(table_rules, seed, game) == deck


def test_seed_and_game_index_both_matter() -> None:
    decks = {deal(Rules(), seed, game) for seed in range(30) for game in range(30)}
    assert len(decks) == 900


def test_a_known_deal() -> None:
    # Stored games and results name deals by (seed, game): these must never change.
    assert deal(Rules(), 1)[:8] == (2, 24, 80, 77, 76, 95, 51, 94)
    assert deal(Rules(), 2)[:8] == (52, 67, 78, 25, 44, 98, 33, 46)


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_a_deal_does_not_depend_on_the_batch(batch_size: int) -> None:
    engine = Engine(Table(Rules(), 3), batch_size)
    seeds_of_slots = [1000 + slot for slot in range(batch_size)]
    engine.deal(seeds_of_slots, 5)
    for slot, seed in enumerate(seeds_of_slots):
        assert tuple(engine.decks[slot]) == deal(Rules(), seed, 5)


def test_seeds_beyond_63_bits() -> None:
    engine = Engine(Table(Rules(), 1), 2)
    engine.deal(np.array([2**64 - 1, 2**63], np.uint64))
    assert tuple(engine.decks[0]) == deal(Rules(), 2**64 - 1)
    assert tuple(engine.decks[1]) == deal(Rules(), 2**63)


def test_where_the_first_card_lies_is_uniform() -> None:
    engine = Engine(Table(Rules(), 1), 20_000)
    engine.deal(11, np.arange(20_000))
    for card in (2, 50, 99):
        places = np.argmax(engine.decks == card, axis=1)
        assert chisquare(np.bincount(places, minlength=98)).pvalue > 0.001


def test_all_orders_of_a_small_deck_are_equally_likely() -> None:
    tiny = Rules("custom", 4, (1,), 1, 1)
    engine = Engine(Table(tiny, 1), 24_000)
    engine.deal(np.arange(24_000), 0)
    codes = engine.decks.astype(int) @ [1000, 100, 10, 1]
    _, counts = np.unique(codes, return_counts=True)
    assert len(counts) == 24
    assert chisquare(counts).pvalue > 0.001


def test_neighbouring_seeds_are_not_alike() -> None:
    decks = np.array([deal(Rules(), seed) for seed in range(500)])
    same = (decks[1:] == decks[:-1]).mean()
    assert same == pytest.approx(1 / 98, abs=0.003)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, True])
def test_seeds_that_are_refused(seed: object) -> None:
    with pytest.raises(ValueError, match="a seed must be a whole number"):
        as_seed(seed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("deck", "sentence"),
    [
        ((2, 3, 4), r"the deck lacks card 5 \(1 missing in all\)"),
        ((), r"the deck lacks card 2 \(4 missing in all\)"),
        ((2, 3, 3, 5), "the deck holds card 3 twice"),
        ((1, 2, 3, 4), "the deck holds 1, cards are 2-5"),
        ((2, 3, 4, 6), "the deck holds 6, cards are 2-5"),
        ((2, 3, 4, 5, 5), "the deck holds card 5 twice"),
        ((2, 3, 4.0, 5), "a deck must be a sequence of whole numbers"),
        ("2345", "a deck must be a sequence of whole numbers"),
        (7, "a deck must be a sequence of whole numbers"),
    ],
)
def test_decks_that_are_refused(deck: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_deck(Rules("custom", 4, (1,)), deck)  # type: ignore[arg-type]


def test_a_deck_may_be_an_array() -> None:
    deck = check_deck(Rules("custom", 4, (1,)), np.array([3, 2, 5, 4], np.int8))
    assert deck == (3, 2, 5, 4)
    assert all(type(card) is int for card in deck)


# --- the agreed starter --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "level"),
    [
        # Two plays are owed, so the limits are 8, 14 and 20 together.
        ((2, 3, 40, 45, 50, 55), 3),
        ((5, 96, 40, 45, 50, 55), 3),
        ((5, 95, 40, 45, 50, 55), 2),
        ((8, 93, 40, 45, 50, 55), 2),
        ((8, 92, 40, 45, 50, 55), 1),
        ((11, 90, 40, 45, 50, 55), 1),
        ((12, 90, 40, 45, 50, 55), 0),
        # 12 on 1, then the trick 2 on 12: 11 - 10.
        ((12, 2, 40, 45, 50, 55), 3),
        # 25 on 1 and the trick 15 on 25: 24 - 10 = 14.
        ((15, 25, 48, 50, 52, 54), 2),
    ],
)
def test_opening_levels_by_hand(hand: tuple[int, ...], level: int) -> None:
    assert OPENING_LEVELS == (4, 7, 10)
    assert opening_level_of(Rules(), hand) == level


def test_both_engines_announce_the_same_level() -> None:
    rng = random.Random(5)
    for _ in range(300):
        table_rules = rng.choice([random_rules(rng), *PRESETS.values()])
        players = max(n for n, size in enumerate(table_rules.hand_sizes, start=1) if size)
        table = Table(table_rules, players)
        hand = random_deck(rng, table_rules)[: table.hand_size]
        fast = opening_level(*card_words(hand), parameters(table))
        assert fast == opening_level_of(table_rules, hand)


def test_the_levels_cut_official_openings_into_similar_groups() -> None:
    rng = np.random.default_rng(1)
    for players, shares in ((2, (20, 22, 29, 29)), (4, (28, 23, 27, 22))):
        table = Table(Rules(), players)
        p = parameters(table)
        levels = [
            opening_level(*card_words((rng.permutation(98)[: table.hand_size] + 2).tolist()), p)
            for _ in range(5000)
        ]
        found = 100 * np.bincount(levels, minlength=4) / len(levels)
        assert found == pytest.approx(shares, abs=2.0)


def test_the_best_level_starts_and_ties_go_to_the_lowest_seat() -> None:
    poor, good = (40, 45, 50, 55, 60, 65), (2, 3, 50, 51, 52, 53)
    same = (99, 98, 47, 48, 49, 54)
    assert agreed_starter(Rules(), [poor, good, same]) == 1
    assert agreed_starter(Rules(), [good, poor, same]) == 0
    assert agreed_starter(Rules(), [poor, poor, poor]) == 0
