"""The rules as values: presets, codec, text form, and what they refuse."""

import pytest
from hypothesis import given
from strategies import PLAYED, rules

from thegame_env.rules import PRESETS, IllegalAction, Outcome, Rules, Table, Termination

# name: hand sizes, minimum, minimum with the deck empty, stuck, excellent (RULES, presets)
NUMBERS = {
    "official": ((8, 7, 6, 6, 6), 2, 1, "acting", 9),
    "profi": ((8, 7, 6, 6, 6), 3, 1, "acting", 9),
    "profi-short": ((7, 6, 5, 5, 5), 3, 1, "acting", 9),
    "small-hands": ((0, 6, 6, 5, 5), 2, 1, "nobody", 9),
    "two-to-the-end": ((8, 7, 6, 6, 6), 2, 2, "acting", 10),
}


def test_there_are_five_presets() -> None:
    assert list(PRESETS) == list(NUMBERS)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_the_presets(name: str) -> None:
    found = PRESETS[name]
    assert found.name == name
    numbers = (found.hand_sizes, found.minimum, found.minimum_empty, found.stuck, found.excellent)
    assert numbers == NUMBERS[name]
    assert (found.cards, found.trick, found.starts) == (98, 10, (1, 1, 100, 100))
    assert found.deck == tuple(range(2, 100))


def test_decks_after_the_deal() -> None:
    sizes = [98 - players * Rules().hand_size(players) for players in range(1, 6)]
    assert sizes == [90, 84, 80, 74, 68]


@pytest.mark.parametrize(
    ("name", "deck", "hand", "owed"),
    [
        ("official", 1, 6, 2),
        ("official", 0, 6, 1),
        ("official", 0, 1, 1),
        ("official", 0, 0, 0),
        ("profi", 1, 6, 3),
        ("profi", 0, 6, 1),
        ("two-to-the-end", 0, 2, 2),
        ("two-to-the-end", 0, 1, 1),
        ("profi-short", 5, 2, 2),
    ],
)
def test_plays_owed(name: str, deck: int, hand: int, owed: int) -> None:
    assert PRESETS[name].owed(deck, hand) == owed


# --- the codec -----------------------------------------------------------------------------------


def test_codec_of_the_published_game() -> None:
    official = Rules()
    assert (official.n_actions, official.end_turn) == (393, 392)
    assert official.action(2, 0) == 0
    assert official.action(99, 0) == 97
    assert official.action(2, 1) == 98
    assert official.action(54, 2) == 2 * 98 + 52
    assert official.action(99, 3) == 391
    assert official.decode(392) is None


@given(rules)
def test_codec_round_trip(table_rules: Rules) -> None:
    for action in range(table_rules.end_turn):
        play = table_rules.decode(action)
        assert play is not None
        card, pile = play
        assert card in table_rules.deck
        assert table_rules.action(card, pile) == action
    assert table_rules.decode(table_rules.end_turn) is None
    plays = {table_rules.action(card, pile) for card in table_rules.deck for pile in range(4)}
    assert plays == set(range(table_rules.end_turn))


@pytest.mark.parametrize("action", [-1, 393, 10**9])
def test_actions_outside_the_codec(action: int) -> None:
    with pytest.raises(IllegalAction, match=f"action {action} does not exist, actions are 0-392"):
        Rules().decode(action)


@pytest.mark.parametrize("action", [1.5, "3", None])
def test_actions_that_are_no_numbers(action: object) -> None:
    with pytest.raises(IllegalAction, match="an action is a whole number"):
        Rules().decode(action)  # type: ignore[arg-type]


@pytest.mark.parametrize(("card", "pile"), [(1, 0), (100, 0), (2, 4), (2, -1)])
def test_plays_that_do_not_exist(card: int, pile: int) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        Rules().action(card, pile)


def test_mirror() -> None:
    assert [Rules().mirror(card) for card in (2, 50, 99)] == [99, 51, 2]
    assert Rules().mirror(Rules().low) == Rules().high


# --- text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NUMBERS)
def test_a_preset_is_written_by_its_name(name: str) -> None:
    assert PRESETS[name].spec() == name
    assert Rules.parse(name) is PRESETS[name]
    assert Rules.parse(PRESETS[name]) is PRESETS[name]


@given(rules)
def test_text_round_trip(table_rules: Rules) -> None:
    assert Rules.parse(table_rules.spec()) == table_rules


def test_custom_rules_in_text() -> None:
    tiny = Rules("tiny", cards=20, hand_sizes=(5, 4), stuck="nobody", trick=4)
    assert tiny.spec() == "custom/cards:20/hand_sizes:5-4/stuck:nobody/trick:4"
    # The name is a label: rules that are equal to a preset's are written as that preset.
    assert Rules.parse("custom") == Rules() == Rules("mine")
    assert Rules("mine", minimum=3).spec() == "profi"
    # A preset's name does not cover other numbers.
    assert Rules("profi", minimum=4).spec() == "custom/minimum:4"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("offical", 'unknown rules "offical", did you mean "official"'),
        ("", 'unknown rules ""; known: official, profi'),
        ("custom/card:9", 'unknown field of custom rules "card", did you mean "cards"'),
        ("custom/cards:x", 'cards needs one whole number, not "x"'),
        ("custom/cards:9-8", 'cards needs one whole number, not "9-8"'),
        ("custom/cards", 'cards needs one whole number, not ""'),
        ("custom/hand_sizes:8,7", 'hand_sizes needs sizes such as 8-7-6, not "8,7"'),
        ("custom/trick:3/trick:4", "trick is given twice"),
        ("custom/stuck:never", "stuck must be"),
        ("custom/cards:5", "hands of 8 for 1 players do not fit into 5 cards"),
    ],
)
def test_text_that_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Rules.parse(text)


def test_rules_of_another_type_are_refused() -> None:
    with pytest.raises(ValueError, match="preset name or a Rules value, not 3"):
        Rules.parse(3)  # type: ignore[arg-type]


# --- values that are refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"cards": 0}, "cards must be between 1 and 98, not 0"),
        ({"cards": 99}, "cards must be between 1 and 98, not 99"),
        ({"cards": 98.0}, "cards must be a whole number, not 98.0"),
        ({"minimum": True}, "minimum must be a whole number, not True"),
        ({"minimum": 0}, "must lie between 1 and the cards"),
        ({"minimum_empty": 0}, "must lie between 1 and the cards"),
        ({"trick": 0}, "trick must be between 1 and 48, not 0"),
        ({"trick": 49}, "trick must be between 1 and 48, not 49"),
        ({"excellent": -1}, "excellent must be a number of cards from 0 up"),
        ({"stuck": "all"}, "stuck must be"),
        ({"hand_sizes": ()}, "needs one to 5 sizes"),
        ({"hand_sizes": (0, 0)}, "needs one to 5 sizes, at least one not 0"),
        ({"hand_sizes": (1,) * 6}, "needs one to 5 sizes"),
        ({"hand_sizes": (8, -1)}, "hands of -1 for 2 players do not fit"),
        ({"hand_sizes": (8, 50)}, "hands of 50 for 2 players do not fit into 98 cards"),
        ({"hand_sizes": [8, 7]}, "hand_sizes must be a tuple of numbers"),
        ({"hand_sizes": (8, "7")}, "hand_sizes must be a tuple of numbers"),
    ],
)
def test_rules_that_are_refused(fields: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Rules(**fields)


@pytest.mark.parametrize(("name", "players"), PLAYED)
def test_tables_that_exist(name: str, players: int) -> None:
    assert Table(PRESETS[name], players).hand_size == PRESETS[name].hand_sizes[players - 1]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"players": 0}, '"official" is played by 1-5 players, not by 0'),
        ({"players": 6}, '"official" is played by 1-5 players, not by 6'),
        ({"players": 2.0}, "players must be a whole number, not 2.0"),
        ({"players": True}, "players must be a whole number, not True"),
        ({"rules": PRESETS["small-hands"]}, '"small-hands" is played by 2-5 players, not by 1'),
        ({"rules": Rules("odd", hand_sizes=(3, 0, 3)), "players": 2}, "is played by 1, 3 players"),
        ({"rules": Rules("solo", hand_sizes=(3,)), "players": 2}, "is played by 1 players"),
        ({"rules": "official"}, "rules must be a Rules value"),
        ({"memory": 1}, "memory must be True or False, not 1"),
        ({"talk": "loud"}, 'unknown talk "loud"; known: none, avoid, open'),
        ({"starter": "seat1"}, 'unknown starter "seat1", did you mean "seat0"'),
    ],
)
def test_tables_that_are_refused(settings: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Table(**settings)


def test_outcome_knows_whether_it_is_won() -> None:
    assert Outcome(Termination.WON, 0).won
    assert not Outcome(Termination.STUCK, 3).won
    assert not Outcome(Termination.ILLEGAL, 3).won
