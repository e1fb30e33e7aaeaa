"""Completing a view to a game: what it must respect, what it may not know."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from strategies import positions, seeds

from thegame_env.notation import parse_position
from thegame_env.reference import Game
from thegame_env.rules import Table
from thegame_env.unseen import complete
from thegame_env.view import SeatTalk, View


@given(positions(running=True), seeds)
def test_the_completed_game_is_one_that_the_seat_may_see(position, seed):
    table, game = position
    view = View.of(game, table)
    completed = complete(view, seed)
    again = View.of(completed, table)
    said = [said.levels for said in again.talk]
    assert said == [said.levels for said in view.talk]
    assert replace(again, talk=()) == replace(view, talk=())
    assert completed.seat == 0
    assert (completed.plays, completed.owed) == (game.plays, game.owed)
    cards = [*completed.deck, *(card for hand in completed.hands for card in hand)]
    assert len(set(cards)) == len(cards)
    assert set(cards) - view.hand <= view.unseen


@given(positions(running=True), seeds)
def test_it_knows_nothing_but_the_view(position, seed):
    table, game = position
    if table.talk != "none":
        table = replace(table, talk="none")
    other = permuted(game, random.Random(seed))
    assert complete(View.of(game, table), seed) == complete(View.of(other, table), seed)


def permuted(game: Game, rng: random.Random) -> Game:
    """The game with the other hands and the deck dealt anew."""
    others = [seat for seat in range(len(game.hands)) if seat != game.seat]
    cards = [*game.deck, *(card for seat in others for card in sorted(game.hands[seat]))]
    rng.shuffle(cards)
    hands = list(game.hands)
    for seat in others:
        size = len(hands[seat])
        hands[seat], cards = frozenset(cards[:size]), cards[size:]
    return replace(game, hands=tuple(hands), deck=tuple(cards))


def test_hands_are_uniform():
    view = parse_position("hand=50 up=9,1 others=2 deck=2 seen=" + all_but(50, 60, 61, 62, 63))
    hands = Counter(tuple(sorted(complete(view, seed).hands[1])) for seed in range(3000))
    assert len(hands) == 6
    assert all(400 < count < 600 for count in hands.values())  # 500 expected, 5 sigma is 102


def all_but(*cards):
    return ",".join(str(card) for card in range(2, 100) if card not in cards)


def test_what_was_played_is_drawn_where_it_is_not_known():
    view = parse_position("hand=50,51,52,53,54,55,56,57 up=9,1 deck=80")
    decks = {complete(view, seed).deck for seed in range(20)}
    assert len(decks) == 20
    assert all(len(deck) == 80 and 9 not in deck for deck in decks)


POSITION = "up=30,1 down=77,100 hand=12,34,45,67,88,90 deck=70 others=6,6 "


@pytest.mark.parametrize(
    ("talk", "first", "second"),
    [
        ("talk=avoid:1000,0010", {20, 31, 32, 33, 34}, {87, 76, 75, 74, 73}),
        ("talk=open:2000,0000", {20}, None),
        ("talk=open:1000,0020", {31, 32, 33, 34}, {87}),
    ],
)
def test_it_agrees_with_what_the_others_say(talk, first, second):
    view = parse_position(POSITION + talk)
    for seed in range(20):
        game = complete(view, seed)
        assert View.of(game, view.table).talk == view.talk
        assert game.hands[1] & first
        assert second is None or game.hands[2] & second


def test_it_agrees_with_a_seat_that_cannot_reach_its_minimum():
    text = "up=90,95 down=10,5 hand=91,92,93,94,96,97 deck=40 others=6 talk=open:0000!"
    view = parse_position(text)
    for seed in range(10):
        assert View.of(complete(view, seed), view.table).talk == (SeatTalk(stuck=True),)


@pytest.mark.parametrize(
    ("talk", "sentence"),
    [
        ("talk=open:2000,2000", "two seats cannot both hold the trick on up1"),
        ("talk=open:0200,0000", "nobody else can hold the trick on up2"),
    ],
)
def test_impossible_talk_is_refused(talk, sentence):
    with pytest.raises(ValueError, match=sentence):
        complete(parse_position(POSITION + talk), 0)


def test_talk_that_no_deal_fits_is_refused():
    seen = all_but(50, 60, 61)
    view = parse_position(f"hand=50 up=9,1 others=1 deck=1 talk=avoid:1000 seen={seen}")
    with pytest.raises(ValueError, match="no deal of the unseen cards agrees"):
        complete(view, 0)


def test_only_the_acting_seat():
    table = Table(players=2)
    game = Game.start(table, range(2, 100))
    with pytest.raises(ValueError, match="acting seat"):
        complete(View.of(game, table, 1), 0)
