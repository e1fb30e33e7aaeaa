"""The table assistant's model, by hand-made games."""

import pytest

from thegame_app.language import Refusal, language
from thegame_app.table import Stale, TableGame
from thegame_app.table_entries import (
    ConfirmResult,
    EndTurn,
    Lay,
    ReportStuck,
    Setup,
    Undo,
    from_document,
    to_document,
)
from thegame_env.rules import PRESETS, Outcome, Rules, Termination

ENGLISH = language("en")
UP1, UP2, DOWN1, DOWN2 = range(4)
SMALL = Rules("small", cards=10, hand_sizes=(3, 3, 2), minimum=2, trick=3)
"""Cards 2..11 between the starts 1 and 12; two players hold six, so the deck begins with four."""


def game_of(*entries, names=("Anna", "Ben"), rules=PRESETS["official"], **setup):
    return TableGame.replay(Setup(tuple(names), rules, **setup), entries)


def refused(game, entry):
    """The sentence that refuses an entry, after checking that the game is as before."""
    before = (game.state, game.version, game.steps)
    with pytest.raises(Refusal) as refusal:
        game.enter(entry, game.version)
    assert (game.state, game.version, game.steps) == before
    text = refusal.value.text(ENGLISH)
    assert "{" not in text
    assert "\n" not in text
    return text


@pytest.mark.parametrize(("players", "deck"), [(1, 90), (2, 84), (3, 80), (4, 74), (5, 68)])
def test_the_deal_leaves_the_deck_of_the_rules(players, deck):
    names = ("Anna", "Ben", "Cleo", "Dan", "Eve")[:players]
    state = game_of(names=names, starter=players - 1).state
    assert (state.deck, state.seat, state.plays, state.owed) == (deck, players - 1, 0, 2)
    assert state.cards_left == 98


def test_a_turn_counts_hands_deck_and_what_is_owed():
    game = game_of(Lay(0, UP1, 20))
    assert (game.state.hands, game.state.still_owed, game.state.to_draw) == ((6, 7), 1, 1)
    game = game.enter(Lay(0, DOWN1, 90), 1).enter(EndTurn(0, 2), 2)
    state = game.state
    assert (state.hands, state.deck, state.seat, state.plays) == ((7, 7), 82, 1, 0)
    assert [pile.top for pile in state.piles] == [20, 1, 90, 100]
    assert state.laid == {20, 90}


@pytest.mark.parametrize(
    ("setup", "sentence"),
    [
        ({"names": ()}, "A game has 1 to 5 players."),
        ({"names": ("A", "B", "C", "D", "E", "F")}, "A game has 1 to 5 players."),
        ({"names": ("Anna", "anna")}, "Two players bear the same name."),
        ({"names": ("Anna", " ")}, "A player needs a name."),
        ({"names": ("Anna", "B" * 25)}, "A name has at most 24 letters, in one line."),
        ({"names": ("Anna", "B\nC")}, "A name has at most 24 letters, in one line."),
        ({"names": ("Anna",), "starter": 1}, "The starter is none of the players."),
        (
            {"names": ("Anna",), "rules": PRESETS["small-hands"]},
            "small-hands cannot be played with this number of players: 1.",
        ),
    ],
)
def test_bad_setups_are_refused(setup, sentence):
    with pytest.raises(Refusal) as refusal:
        Setup(**setup)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (Lay(0, UP2, 20), "Card 20 has been laid already."),
        (Lay(0, UP2, 1), "There is no card 1; the cards are 2-99."),
        (Lay(0, UP2, 100), "There is no card 100; the cards are 2-99."),
        (Lay(0, UP2, -3), "There is no card -3; the cards are 2-99."),
        (Lay(0, 4, 30), "There is no such pile."),
        (Lay(0, -1, 30), "There is no such pile."),
        (Lay(0, 4, None), "There is no such pile."),
        (Lay(1, UP2, 30), "It is the turn of Anna, not of Ben."),
        (Lay(2, UP2, 30), "There is no such player."),
        (EndTurn(1, 1), "It is the turn of Anna, not of Ben."),
        (ReportStuck(1), "It is the turn of Anna, not of Ben."),
        (
            Lay(0, UP1, 11),
            "Card 11 does not fit on up1, which shows 20: it must be higher, or exactly 10.",
        ),
        (EndTurn(0, 1), "Anna has laid 1 of at least 2 cards."),
        (ConfirmResult(97), "Nobody has reported to be stuck."),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_with_a_sentence(entry, sentence):
    assert refused(game_of(Lay(0, UP1, 20)), entry) == sentence


def test_the_gap_on_a_descending_pile_is_told_from_the_other_side():
    text = refused(game_of(Lay(0, DOWN1, 49)), Lay(0, DOWN1, 58))
    assert text == "Card 58 does not fit on down1, which shows 49: it must be lower, or exactly 59."


@pytest.mark.parametrize(
    ("pile", "top", "card", "end"),
    [
        (UP1, 5, 3, "shows 5: it must be higher."),
        (UP1, 11, 3, "shows 11: it must be higher."),
        (UP1, 12, 3, "shows 12: it must be higher, or exactly 2."),
        (DOWN1, 95, 97, "shows 95: it must be lower."),
        (DOWN1, 89, 97, "shows 89: it must be lower, or exactly 99."),
    ],
)
def test_the_trick_is_named_only_where_its_card_exists(pile, top, card, end):
    assert refused(game_of(Lay(0, pile, top)), Lay(0, pile, card)).endswith(end)


@pytest.mark.parametrize(("pile", "top", "back"), [(UP1, 51, 41), (DOWN1, 49, 59)])
def test_the_trick_is_exactly_ten(pile, top, back):
    game = game_of(Lay(0, pile, top))
    for card in (back - 1, back + 1):
        refused(game, Lay(0, pile, card))
    assert game.enter(Lay(0, pile, back), 1).state.piles[pile].top == back


def test_the_refill_is_confirmed_with_the_right_number():
    game = game_of(Lay(0, UP1, 20), Lay(0, UP1, 21))
    assert refused(game, EndTurn(0, 3)) == "Cards that Anna must draw: 2, not 3."
    assert refused(game, EndTurn(0, 0)) == "Cards that Anna must draw: 2, not 0."


def test_a_hand_emptied_in_mid_turn_must_be_refilled_first():
    game = game_of(Lay(0, UP1, 2), Lay(0, UP1, 3), Lay(0, UP1, 4), rules=SMALL)
    assert refused(game, Lay(0, UP1, 5)) == "The hand of Anna is empty: draw first."
    assert game.enter(EndTurn(0, 3), 3).state.seat == 1


def test_the_deck_of_one_makes_the_next_minimum_one():
    game = game_of(Lay(0, UP1, 2), Lay(0, UP1, 3), Lay(0, UP1, 4), EndTurn(0, 3),
                   Lay(1, UP1, 5), Lay(1, UP1, 6), rules=SMALL)  # fmt: skip
    assert (game.state.deck, game.state.to_draw) == (1, 1)
    game = game.enter(EndTurn(1, 1), game.version)
    assert (game.state.deck, game.state.owed, game.state.hands) == (0, 1, (3, 2))


def test_players_without_cards_are_skipped_once_the_deck_is_empty():
    first = [Lay(0, UP1, 2), Lay(0, UP1, 3), EndTurn(0, 2), Lay(1, UP1, 4), Lay(1, UP1, 5)]
    game = game_of(*first, EndTurn(1, 2), Lay(0, UP1, 6), EndTurn(0, 0), rules=SMALL)
    game = game.enter(Lay(1, UP1, 7), game.version).enter(EndTurn(1, 0), game.version + 1)
    game = game.enter(Lay(0, UP1, 8), game.version).enter(Lay(0, UP1, 9), game.version + 1)
    assert (game.state.hands, game.state.seat) == ((0, 2), 1)
    game = game.enter(Lay(1, UP1, 10), game.version).enter(EndTurn(1, 0), game.version + 1)
    assert (game.state.seat, game.state.owed) == (1, 1)
    won = game.enter(Lay(1, UP1, 11), game.version)
    assert won.state.outcome == Outcome(Termination.WON, 0)


# --- a card without its value ----------------------------------------------------------------


def test_an_unknown_top_is_checked_partly_until_the_next_known_card():
    game = game_of(Lay(0, UP1, 95), Lay(0, UP1, None))
    pile = game.state.piles[UP1]
    assert (pile.top, pile.known, pile.unknown) == (None, 95, 1)
    assert pile.possible == {85, 96, 97, 98, 99}
    assert game.state.unknown_cards == 1
    assert refused(game, Lay(0, UP1, 74)) == "Card 74 fits no card that can lie on top of up1."
    known = game.enter(Lay(0, UP1, 86), 2)
    assert (known.state.piles[UP1].top, known.state.piles[UP1].unknown) == (86, 0)
    refused(known, Lay(0, UP1, 75))


def test_unknown_cards_count_like_others():
    game = game_of(Lay(0, UP1, None), Lay(0, UP1, None), EndTurn(0, 2))
    assert (game.state.hands, game.state.deck, game.state.cards_left) == ((7, 7), 82, 96)
    assert game.state.unknown_cards == 2


def test_no_unknown_card_where_none_can_lie():
    game = game_of(Lay(0, UP2, 89), Lay(0, UP1, 99))
    assert refused(game, Lay(0, UP1, None)) == "No card that is still out can lie on up1."


# --- undo ------------------------------------------------------------------------------------


def test_undo_takes_the_counter_back_too():
    game = game_of(Lay(0, UP1, 20), Lay(0, DOWN1, 90), Undo())
    assert (game.state.plays, game.state.hands, game.state.still_owed) == (1, (6, 7), 1)
    assert [pile.top for pile in game.state.piles] == [20, 1, 100, 100]
    assert game.version == 3
    assert game.told(3, ENGLISH) == "taken back (Anna: 90 on down1)"


def test_undo_across_a_refill_says_how_many_cards_go_back_on_the_deck():
    game = game_of(Lay(0, UP1, 20), Lay(0, UP1, 21), Lay(0, UP1, None), EndTurn(0, 3))
    assert game.to_put_back == 3
    assert game.undo_warning(ENGLISH) == (
        "Opens the turn of Anna again: 3 cards go back on the deck."
    )
    assert game.notice(ENGLISH) == ""
    back = game.enter(Undo(), game.version)
    assert back.notice(ENGLISH) == (
        "The turn of Anna is open again: put 3 cards back on the deck, those drawn last."
    )
    assert back.undo_warning(ENGLISH) == ""
    assert back.enter(Undo(), back.version).notice(ENGLISH) == ""
    assert (back.state.seat, back.state.plays, back.state.hands) == (0, 3, (4, 7))
    assert (back.state.deck, back.to_put_back) == (84, None)


def test_undo_across_several_turns_reaches_the_deal():
    game = game_of(Lay(0, UP1, 20), Lay(0, UP1, 21), EndTurn(0, 2), Lay(1, UP2, 5))
    for _ in range(4):
        game = game.enter(Undo(), game.version)
    assert game.state == TableGame.start(game.setup).state
    assert game.version == 8
    assert refused(game, Undo()) == "There is nothing to take back."


def test_undo_of_a_turn_without_refill_puts_nothing_back():
    first = [Lay(0, UP1, 2), Lay(0, UP1, 3), EndTurn(0, 2), Lay(1, UP1, 4), Lay(1, UP1, 5)]
    game = game_of(*first, EndTurn(1, 2), Lay(0, UP1, 6), EndTurn(0, 0), rules=SMALL)
    assert game.to_put_back == 0
    assert game.undo_warning(ENGLISH) == "Opens the turn of Anna again."
    assert game.enter(Undo(), game.version).notice(ENGLISH) == (
        "The turn of Anna is open again; no card goes back on the deck."
    )
    emptied = game.enter(Lay(1, UP1, 7), game.version).enter(Lay(1, UP1, 8), game.version + 1)
    emptied = emptied.enter(Lay(1, UP1, 9), emptied.version)
    assert (emptied.state.seat, emptied.to_put_back) == (0, 0)
    back = emptied.enter(Undo(), emptied.version)
    assert back.notice(ENGLISH) == "The turn of Ben is open again; no card goes back on the deck."


# --- the end ---------------------------------------------------------------------------------


def test_stuck_is_reported_then_confirmed_and_then_all_is_refused():
    game = game_of(Lay(0, UP1, 20), ReportStuck(0))
    assert game.state.outcome is None
    stuck = "Anna is stuck: confirm the result, or take the report back."
    assert refused(game, Lay(0, UP1, 30)) == stuck
    assert refused(game, ReportStuck(0)) == stuck
    assert refused(game, ConfirmResult(96)) == "Cards left: 97, not 96."
    assert game.enter(Undo(), 2).state == game_of(Lay(0, UP1, 20)).state
    over = game.enter(ConfirmResult(97), 2)
    assert over.state.outcome == Outcome(Termination.STUCK, 97)
    sentence = "The game is over: its result is recorded, and nothing more can be entered."
    for entry in (Lay(0, UP1, 30), EndTurn(0, 1), ReportStuck(0), ConfirmResult(97), Undo()):
        assert refused(over, entry) == sentence


def test_who_has_laid_enough_is_not_stuck():
    game = game_of(Lay(0, UP1, 20), Lay(0, UP1, 21))
    assert refused(game, ReportStuck(0)) == "Anna has laid enough cards: end the turn instead."


def test_a_seat_passes_only_where_the_rules_let_it_and_only_by_hand():
    game = game_of(rules=PRESETS["small-hands"])
    assert refused(game, EndTurn(0, 0)) == "Anna has laid 0 of at least 2 cards."
    assert game.enter(EndTurn(0, 0, passes=True), 0).state.seat == 1
    assert refused(game_of(), EndTurn(0, 0, passes=True)) == "Anna has laid 0 of at least 2 cards."


def test_profi_owes_three():
    assert game_of(rules=PRESETS["profi"]).state.owed == 3


def test_two_to_the_end_owes_what_the_hand_holds():
    rules = Rules("pair", cards=4, hand_sizes=(3, 2), minimum_empty=2)
    assert game_of(Lay(0, UP1, 2), Lay(0, UP1, 3), rules=rules).state.owed == 2


# --- stale pages -----------------------------------------------------------------------------


def test_two_stale_phones():
    game = game_of(Lay(0, UP1, 20))
    seen = game.version
    first = game.enter(Lay(0, DOWN1, 90), seen)
    with pytest.raises(Stale) as refusal:
        first.enter(Lay(0, UP1, 25), seen)
    assert str(refusal.value) == (
        "The table has changed since this page was shown (Anna: 90 on down1): look, and enter it "
        "again."
    )
    assert first.enter(Lay(0, UP1, 25), first.version).state.plays == 3


def test_an_undo_makes_a_page_stale_too_although_the_position_is_the_same():
    game = game_of(Lay(0, UP1, 20))
    again = game.enter(Undo(), 1).enter(Lay(0, UP1, 20), 2)
    assert again.state == game.state
    with pytest.raises(Stale):
        again.enter(Undo(), 1)


@pytest.mark.parametrize("seen", [-1, 2, 10**9])
def test_a_version_that_never_was_is_refused(seen):
    with pytest.raises(Refusal, match="does not belong to this game"):
        game_of(Lay(0, UP1, 20)).enter(Undo(), seen)


def test_a_long_absence_names_the_latest_changes_only():
    game = game_of(*(Lay(0, UP1, card) for card in range(2, 9)))
    with pytest.raises(Stale) as refusal:
        game.enter(Undo(), 0)
    assert str(refusal.value).count("Anna") == 4
    assert "8 on up1" in str(refusal.value)


def test_entries_survive_json():
    entries = [Lay(0, UP1, 20), Lay(0, UP2, None), EndTurn(1, 2, True), ReportStuck(0),
               ConfirmResult(4), Undo()]  # fmt: skip
    assert [from_document(to_document(entry)) for entry in entries] == entries
    with pytest.raises(ValueError, match="not an entry"):
        from_document({"kind": "lay", "seat": 0})


def test_the_told_log_is_short_and_complete():
    game = game_of(Lay(0, UP1, 20), Lay(0, UP2, None), EndTurn(0, 2), ReportStuck(1), Undo(),
                   ReportStuck(1), ConfirmResult(96))  # fmt: skip
    assert game.changes_since(0, ENGLISH) == [
        "Anna: 20 on up1",
        "Anna: a card without its value on up2",
        "Anna: turn over, 2 cards drawn",
        "Ben: stuck",
        "taken back (Ben: stuck)",
        "Ben: stuck",
        "result confirmed, 96 cards left",
    ]
