"""The dealing of unseen cards: it agrees with the view, and knows nothing else."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from agents.greedy import act_greedy
from agents.unseen_deals import deal_unseen, new_pool, unseen_into
from thegame_env.deal import as_seed, stream
from thegame_env.engine import Engine, card_words, parameters, view_into, word_cards
from thegame_env.layout import (
    DECK_AT,
    GAME_ROW,
    HANDS,
    P_CARDS,
    PLAYED,
    PLAYING,
    V_MAY_END,
    V_STATUS,
    V_TALK,
    V_UNSEEN,
    VIEW_ROW,
)
from thegame_env.notation import parse_position
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table
from thegame_env.unseen import complete
from thegame_env.view import View

TABLES = [
    Table(players=1),
    Table(players=3, memory=False),
    Table(players=4, talk="avoid"),
    Table(players=5, talk="open"),
    Table(players=2, talk="open", memory=False),
    Table(Rules.parse("profi"), players=3, talk="open"),
    Table(Rules.parse("small-hands"), players=5, talk="avoid"),
    Table(Rules(cards=12, hand_sizes=(3, 3, 3), trick=3), players=3, talk="open"),
]


def views_of_games(table, n):
    """Views of acting seats from all stages of `n` greedy games."""
    engine, found = Engine(table, n), []
    engine.deal(5, np.arange(n))
    while (rows := engine.views()[engine.views()[:, V_STATUS] == PLAYING]).size:
        found += [row.copy() for row in rows[: 1 + n // 4]]
        actions = np.zeros(n, np.int64)
        act_greedy(engine.views(), engine.p, np.zeros(n, np.uint64), actions, 1)
        engine.step(actions)
    return found


def dealt(row, p, n, seed=3):
    """`n` dealt games as (game row, deck row) pairs."""
    pool, state = new_pool(), stream(as_seed(seed), np.uint64(0))
    cards, found = unseen_into(row, pool), []
    for _ in range(n):
        game, deck = np.zeros(GAME_ROW, np.int64), np.zeros(p[P_CARDS], np.int8)
        state = np.uint64(deal_unseen(row, p, pool, cards, state, game, deck))
        found.append((game, deck))
    return found


def hand_of(game, seat):
    return frozenset(word_cards(*map(int, game[HANDS + 2 * seat : HANDS + 2 * seat + 2])))


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_dealt_game_shows_its_seat_the_very_same_view(table):
    """Hand sizes, memory and, word for word, the others' talk: a view row holds them all."""
    p, agree, total = parameters(table), 0, 0
    seen = np.zeros(VIEW_ROW, np.int64)
    silent = np.ones(VIEW_ROW, bool)
    silent[V_TALK : V_TALK + 4] = False
    for row in views_of_games(table, 8):
        for game, deck in dealt(row, p, 3):
            view_into(game, p, 0, seen)
            np.testing.assert_array_equal(seen[silent], row[silent])
            cards = [c for s in range(table.players) for c in hand_of(game, s)]
            cards += deck[game[DECK_AT] :].tolist()
            cards += word_cards(*map(int, game[PLAYED : PLAYED + 2]))
            assert sorted(cards) == list(table.rules.deck)
            agree += np.array_equal(seen, row)
            total += 1
    assert agree >= 0.998 * total
    assert total > 300 or table.rules.cards < 98


@pytest.mark.parametrize("table", TABLES[2:5], ids=str)
def test_hidden_cards_change_no_deal(table):
    """Two games that differ in what the seat cannot see are dealt alike."""
    start = Game.start(table, np.random.default_rng(1).permutation(table.rules.deck))
    view = View.of(start, table)
    for seed in range(40):
        other = View.of(complete(view, seed), table)
        if other.talk == view.talk:
            break
    here, there = (dealt(v.row(), parameters(table), 5) for v in (view, other))
    for (game, deck), (game2, deck2) in zip(here, there, strict=True):
        np.testing.assert_array_equal(game, game2)
        np.testing.assert_array_equal(deck, deck2)


def test_without_talk_every_deal_is_equally_likely():
    """6 unseen cards, a partner's hand of 2: each of the 15 hands, each card first in the deck."""
    rules = Rules(cards=8, hand_sizes=(2, 2))
    view = parse_position(f"hand=2,9 others=2 deck=4 rules={rules.spec()}")
    games = dealt(view.row(), parameters(view.table), 30_000)
    hands = [hand_of(game, 1) for game, _ in games]
    for pair in combinations((3, 4, 5, 6, 7, 8), 2):
        assert hands.count(frozenset(pair)) == pytest.approx(2000, abs=200)
    firsts = np.bincount([deck[game[DECK_AT]] for game, deck in games], minlength=9)
    np.testing.assert_allclose(firsts[3:], 5000, atol=330)


def test_without_memory_the_played_cards_are_drawn_too():
    """The tops are known to be played, any other card may be: here one of 6, equally likely."""
    rules = Rules(cards=10, hand_sizes=(2, 2))
    view = parse_position(f"hand=2,9 up=3,1 down=12,10 others=2 deck=3 rules={rules.spec()}")
    games = dealt(view.row(), parameters(view.table), 12_000)
    played = [frozenset(word_cards(*map(int, game[PLAYED : PLAYED + 2]))) for game, _ in games]
    assert {len(cards) for cards in played} == {3}
    for card in (4, 5, 6, 7, 8, 11):
        assert played.count(frozenset({3, 10, card})) == pytest.approx(2000, abs=200)


@pytest.mark.parametrize(
    ("tops", "said"),
    [
        ("up=19,17 down=18,5", "0001"),
        ("up=19,17 down=18,5", "0210"),
        ("up=19,17 down=18,5", "2012"),
        ("up=19,17 down=18,5", "0000"),
        ("up=19,16 down=4,7", "0000!"),
        ("up=19,16 down=4,7", "0001!"),
    ],
)
def test_a_hand_that_speaks_is_uniform_over_the_hands_that_say_so(tops, said):
    """Against the enumeration of all hands of 3 out of 12 unseen cards."""
    rules = Rules(cards=20, hand_sizes=(0, 3), trick=3)
    text = f"hand=2,20,21 {tops} others=3 deck=9 seen=6 rules={rules.spec()}"
    view = parse_position(f"{text} talk=open:{said}")
    agreeing = []
    for hand in map(frozenset, combinations(sorted(view.unseen), 3)):
        rest = tuple(view.unseen - hand)
        game = Game(rules, view.tops, (view.hand, hand), rest, 0, 0, rules.owed(9, 3))
        if View.of(game, view.table).talk == view.talk:
            agreeing.append(hand)
    assert len(agreeing) > 4
    games = dealt(view.row(), parameters(view.table), 400 * len(agreeing))
    hands = Counter(hand_of(game, 1) for game, _ in games)
    assert set(hands) == set(agreeing)
    assert max(abs(n - 400) for n in hands.values()) < 110


def test_talk_that_no_hand_can_say_still_gives_a_game():
    """All four piles are asked for by a hand of one card; the sizes stay right."""
    text = "hand=12,60 up=30,41 down=77,70 others=1,2 deck=10 talk=open:2222!,1111"
    view = parse_position(text)
    p = parameters(view.table)
    for game, _ in dealt(view.row(), p, 20):
        assert [len(hand_of(game, seat)) for seat in range(3)] == [2, 1, 2]
        seen = np.zeros(VIEW_ROW, np.int64)
        view_into(game, p, 0, seen)
        np.testing.assert_array_equal(seen[V_UNSEEN:V_TALK], view.row()[V_UNSEEN:V_TALK])
        assert seen[V_MAY_END] == view.row()[V_MAY_END]
        assert not set(card_words(view.hand)) & {0} or hand_of(game, 0) == view.hand


def test_the_same_stream_gives_the_same_deals():
    view = View.of(Game.start(Table(players=3), Rules().deck), Table(players=3))
    p = parameters(view.table)
    once, twice, other = (dealt(view.row(), p, 3, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(once, twice, strict=True))
    assert not np.array_equal(once[0][1], other[0][1])
