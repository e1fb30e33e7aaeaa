"""Positions, actions and records as text."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from strategies import PRESET_TABLES, choose, play, positions, random_deck, seeds, tables

from thegame_env.notation import (
    GameRecord,
    format_action,
    format_position,
    parse_action,
    parse_position,
)
from thegame_env.rules import PRESETS, IllegalAction, Rules, Table
from thegame_env.view import SeatTalk, View

EXAMPLE = (
    "up=23,40 down=77,60 hand=12,34,45,67,88,90 deck=40 others=6,6 played=0 rules=official "
    "seen=unknown"
)


def written(view):
    """The view as a position tells it: the starter no longer matters."""
    return replace(view, table=replace(view.table, starter="seat0"))


# --- positions -----------------------------------------------------------------------------------


@given(positions())
def test_parsing_what_was_formatted_gives_the_view_back(position):
    table, game = position
    view = View.of(game, table)
    assert parse_position(format_position(view)) == written(view)


def test_every_preset_table_round_trips():
    rng = random.Random(0)
    for table in PRESET_TABLES[::3]:
        games = [game for game, _ in play(rng, table, 0.9)]
        for game in (games[0], games[1], rng.choice(games), games[-1]):
            view = View.of(game, table)
            assert parse_position(format_position(view)) == written(view)


def test_the_order_of_the_tokens_does_not_matter():
    tokens = EXAMPLE.split()
    random.Random(1).shuffle(tokens)
    assert parse_position(" ".join(tokens)) == parse_position(EXAMPLE)


def test_the_example_in_words():
    view = parse_position(EXAMPLE)
    assert view.tops == (23, 40, 77, 60)
    assert view.hand == {12, 34, 45, 67, 88, 90}
    assert (view.deck, view.others, view.plays, view.owed) == (40, (6, 6), 0, 2)
    assert (view.table.players, view.table.memory, view.seen) == (3, False, None)
    assert format_position(view) == EXAMPLE


def test_what_is_left_out_takes_its_default():
    view = parse_position("hand=2,3,4,5,6,7,8,9")
    assert view == View(Table(), (1, 1, 100, 100), frozenset(range(2, 10)), 90, seen=frozenset())
    late = parse_position("hand=50 up=98,1 seen=" + ",".join(map(str, range(2, 50))))
    assert late.seen == frozenset(range(2, 50)) | {98}
    assert late.deck == 48


def test_memory_is_off_where_it_is_not_told_what_was_seen():
    assert parse_position("hand=2,3,4 up=9,1 deck=10").seen is None
    assert parse_position("hand=2,3,4,5,6,7,8,9 seen=unknown").seen is None
    assert parse_position("hand=2,3,4,5,6,7,8,9 seen=").seen == frozenset()


@pytest.mark.parametrize(
    ("text", "talk", "said"),
    [
        ("talk=open:0120,0000!", "open", (SeatTalk((0, 1, 2, 0)), SeatTalk(stuck=True))),
        ("talk=0120,0000", "open", (SeatTalk((0, 1, 2, 0)), SeatTalk())),
        ("talk=0110,0000", "avoid", (SeatTalk((0, 1, 1, 0)), SeatTalk())),
        ("talk=open:0110,0000", "open", (SeatTalk((0, 1, 1, 0)), SeatTalk())),
        ("talk=none", "none", ()),
    ],
)
def test_talk(text, talk, said):
    view = parse_position(f"{EXAMPLE} {text}")
    assert (view.table.talk, view.talk) == (talk, said)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hand", '"hand" is not of the form key=value'),
        ("hnd=3", 'unknown key "hnd", did you mean "hand"?'),
        ("hand=3 hand=4", "hand is given twice"),
        ("deck=98", "the hand is missing"),
        ("hand=3,x", 'hand: "x" is not a whole number'),
        ("hand=3,-4", 'hand: "-4" is not a whole number'),
        ("hand=3,,4", 'hand: "" is not a whole number'),
        ("hand=3,100", "hand: card 100 does not exist, cards are 2-99"),
        ("hand=1", "hand: card 1 does not exist"),
        ("hand=7,8,7", "hand: card 7 stands there twice"),
        ("hand=7 rules=offical", 'unknown rules "offical", did you mean "official"?'),
        ("hand=7 up=5", 'up must be two tops such as up=23,40, not "5"'),
        ("hand=7 up=100,1", "up: a top is 1 or a card 2-99, not 100"),
        ("hand=7 down=1,99", "down: a top is 100 or a card 2-99, not 1"),
        ("hand=7 up=5,5", "card 5 lies on two piles"),
        ("hand=7 up=5,1 down=5,100", "card 5 lies on two piles"),
        ("hand=7,8 down=8,100", "card 8 is in the hand and on down1"),
        ("hand=7,8 up=9,1 seen=8", "card 8 is in the hand and among the seen cards"),
        ("hand=7 up=9,1 seen=8,8", "seen: card 8 stands there twice"),
        ("hand=7 seen=200", "seen: card 200 does not exist"),
        ("hand=7 deck=1,2", 'deck must be one whole number, not "1,2"'),
        ("hand=7 deck=", 'deck must be one whole number, not ""'),
        ("hand=2,3,4,5,6,7,8,9,10", "9 cards in hand and 0 played this turn are more than a full"),
        ("hand=2,3,4,5,6,7,8 up=11,1 played=2", "7 cards in hand and 2 played this turn are more"),
        ("hand=7 others=7 deck=89", "up to 98: neither in a hand nor in the deck nor seen: 1"),
        ("hand=7 others=8", "others: a hand of 8 is larger than a full hand of 7"),
        ("hand=7 others=5,5,5,5,5", "is played by 1-5 players, not by 6"),
        ("hand=7 rules=small-hands", "is played by 2-5 players, not by 1"),
        ("hand=7 deck=98", "hand, others, deck and the seen cards add up to 99 cards, more than"),
        ("hand=7 up=9,1 deck=97", "hand, others, deck and the tops add up to 99 cards, more than"),
        ("hand=7 up=9,1 seen=8 deck=90", "neither in a hand nor in the deck nor seen: 5"),
        ("hand=7 seen=unknown deck=90", "neither in a hand nor in the deck and no pile touched: 7"),
        ("hand=7 seen=8", "cards are seen, but no pile has been touched"),
        ("hand=7 played=1", "played=1, but no pile has been touched"),
        ("hand=7 up=9,1 seen=9,8 played=3", "played=3 is more than the cards seen (2)"),
        ("hand=7 up=9,1 others=3 talk=012", '"012" is not four levels 0-2 such as 0120'),
        ("hand=7 up=9,1 others=3 talk=loud:0000", 'talk: unknown setting "loud"'),
        ("hand=7 up=9,1 others=3 talk=avoid:0200", "avoid knows only the levels 0 and 1, and no !"),
        ("hand=7 up=9,1 others=3 talk=0000,0000", "talk: 2 groups for 1 other seats"),
    ],
)
def test_what_contradicts_itself_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the whole sentence is compared below)
        parse_position(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_position_must_be_text():
    with pytest.raises(ValueError, match="a position must be text, not int"):
        parse_position(5)


def test_only_the_acting_seat_has_a_position():
    table = Table(players=2)
    game = next(play(random.Random(1), table, 0.5))[0]
    with pytest.raises(ValueError, match="only the view of the acting seat"):
        format_position(View.of(game, table, 1))


# --- actions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [*PRESETS.values(), Rules("custom", 7, (2,), 1, trick=2)])
def test_every_action_round_trips(rules):
    for action in range(rules.n_actions):
        assert parse_action(rules, format_action(rules, action)) == action


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("54", 'unknown pile ""'),
        ("54:up3", 'unknown pile "up3", did you mean "up2"?'),
        ("x:up1", '"x:up1" is not an action such as 54:up1, or end'),
        ("100:up1", "card 100 does not exist"),
    ],
)
def test_broken_actions(text, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parse_action(PRESETS["official"], text)
    assert sentence in str(caught.value)


# --- records -------------------------------------------------------------------------------------


@given(tables, seeds)
def test_records_round_trip_and_replay(table, seed):
    rng = random.Random(seed)
    deck = random_deck(rng, table.rules)
    game = next(GameRecord(table, deck).replay())
    actions, games = [], [game]
    while game.outcome is None:
        actions.append(choose(rng, game, game.legal_actions(), 0.7))
        game = game.step(actions[-1])
        games.append(game)
    for record in (
        GameRecord(table, deck, tuple(actions)),
        GameRecord(table, deck, tuple(actions), seed, 10**12),
    ):
        assert GameRecord.parse(str(record)) == record
        assert list(record.replay()) == games


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("players=1", "record: the deck is missing"),
        ("deck=2,3", "the deck lacks card 4 (96 missing in all)"),
        ("deck=2,2", "the deck holds card 2 twice"),
        ("deck=2 memory=maybe", 'record: memory is on or off, not "maybe"'),
        ("deck=2 talk=loud", 'unknown talk "loud"'),
        ("deck=2 players=6", "is played by 1-5 players, not by 6"),
        ("deck=2 actions=5:up1,", '"" is not an action'),
        ("deck=2 colour=red", 'unknown key "colour"'),
    ],
)
def test_broken_records(text, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        GameRecord.parse(text)
    assert sentence in str(caught.value)


def test_a_record_whose_actions_do_not_fit_says_which():
    record = GameRecord(Table(), tuple(range(2, 100)), (0, 1, 500))
    with pytest.raises(IllegalAction, match="action 3 of the record: action 500 does not exist"):
        list(record.replay())
