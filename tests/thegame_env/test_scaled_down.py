"""Tiny tables, counted out over all deals: by hand, by the reference and by the engine."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from data_files import DATA
from scaled_down import TABLES, Tally, count_engine, count_reference

from thegame_env.rules import Table

STORED = json.loads((DATA / "scaled_down.json").read_text())
TALLIES = {
    entry.pop("name"): (entry.pop("rules"), entry.pop("players"), Tally(**entry))
    for entry in STORED
}
QUICK = ("one card in hand", "four cards", "four cards, two seats", "five cards, two seats")


def test_every_table_is_stored() -> None:
    assert list(TALLIES) == list(TABLES)
    for name, (rules, players, tally) in TALLIES.items():
        assert (rules, players) == (TABLES[name].rules.spec(), TABLES[name].players)
        assert tally.games == tally.won + tally.lost


def test_one_card_in_hand_by_hand() -> None:
    """Cards 2-6, one in hand, no trick: the order of the deck is the order of play.

    A card is stuck only if both ascending tops are above it and both descending tops below it,
    which needs four cards: so only the last card can be, and it must be the 4, with 5 and 6 on the
    ascending piles and 2 and 3 on the descending ones. That happens in 24 of the 120 deck orders
    (4 last), and then in 2 * 2 ways: 24 * 4 = 96 games are lost.

    The chance, by the order of low (2, 3) and high (5, 6) cards. A low card may go on an untouched
    pile of either direction, and on the descending pile with the other low card if it comes second
    and is the 2 (let e be 1 then, else 0; likewise f for the high cards in the order 5, 6). The
    path to the loss puts the first low card on either descending pile, the second on the other:

        low low high high:  2/4 * 1/(3 + e) * 2/2 * 1/(1 + f)
        low high low high:  2/4 * 2/3 * 1/(2 + e) * 1/(1 + f)
        low high high low:  2/4 * 2/3 * 1/(2 + f) * 1/(1 + e)

    Summed over e and f: 7/16 + 5/12 + 5/12 = 61/48. The three orders that begin with a high card
    are their mirror images, so 61/24 over 120 deals: lost with chance 61/2880.
    """
    tally = TALLIES["one card in hand"][2]
    assert tally.deals == 120
    assert tally.lost == 96
    assert tally.win_rate == "2819/2880"


def test_seats_make_no_difference_with_one_card_in_hand() -> None:
    rules = TABLES["one card in hand"].rules
    pair = Table(replace(rules, hand_sizes=(1, 1)), 2)
    assert count_reference(pair) == TALLIES["one card in hand"][2]


@pytest.mark.parametrize("name", QUICK)
def test_reference_and_engine_give_the_stored_tally(name: str) -> None:
    assert count_reference(TABLES[name]) == TALLIES[name][2]
    assert count_engine(TABLES[name]) == TALLIES[name][2]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in TABLES if name not in QUICK])
def test_engine_gives_the_stored_tally_of_larger_tables(name: str) -> None:
    assert count_engine(TABLES[name]) == TALLIES[name][2]


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in TABLES if name not in QUICK])
def test_reference_gives_the_stored_tally_of_larger_tables(name: str) -> None:
    assert count_reference(TABLES[name]) == TALLIES[name][2]


def test_passing_keeps_some_games_alive() -> None:
    strict, passing = TALLIES["six cards, two seats"][2], TALLIES["six cards, passing"][2]
    assert passing.won > strict.won
    assert Fraction(passing.win_rate) > Fraction(strict.win_rate)
