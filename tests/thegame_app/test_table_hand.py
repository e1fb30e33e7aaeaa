"""The own hand of a phone, and what a hint is computed from."""

import pytest

from thegame_app.language import Refusal, language
from thegame_app.table import TableGame
from thegame_app.table_entries import EndTurn, Lay, ReportStuck, Setup, Undo
from thegame_app.table_hand import OwnHand, hint_view, read_cards
from thegame_env.rules import PRESETS

ENGLISH = language("en")
UP1, UP2, DOWN1, DOWN2 = range(4)
HELD = (12, 13, 30, 54, 44, 88, 90)


def game_of(*entries, memory=True):
    return TableGame.replay(Setup(("Anna", "Ben"), PRESETS["official"], memory=memory), entries)


def enter(game, *entries):
    for entry in entries:
        game = game.enter(entry, game.version)
    return game


@pytest.fixture
def dealt():
    game = game_of()
    return game, OwnHand(0).with_cards(game, HELD)


def test_the_hand_follows_plays_and_undo(dealt):
    game, hand = dealt
    game = enter(game, Lay(0, UP1, 12), Lay(0, UP1, 13))
    assert hand.cards(game) == set(HELD) - {12, 13}
    assert hand.missing(game) == 0
    assert hand.cards(enter(game, Undo())) == set(HELD) - {12}


def test_drawn_cards_go_back_with_the_refill(dealt):
    game, hand = dealt
    game = enter(game, Lay(0, UP1, 12), Lay(0, UP1, 13), EndTurn(0, 2))
    assert hand.told(game, ENGLISH) == "Enter 2 more cards of your hand."
    hand = hand.with_cards(game, (70, 71))
    assert hand.told(game, ENGLISH) == ""
    back = enter(game, Undo())
    assert hand.cards(back) == set(HELD) - {12, 13}
    assert hand.cards(enter(back, Undo())) == set(HELD) - {12}
    assert hand.missing(enter(back, Undo())) == 0


def test_a_hand_first_entered_in_mid_game_asks_for_what_an_undo_cannot_know():
    game = game_of(Lay(0, UP1, 2), Lay(0, UP1, 3), EndTurn(0, 2))
    hand = OwnHand(0).with_cards(game, HELD)
    back = enter(game, Undo())
    assert hand.told(back, ENGLISH) == (
        "Your hand shows 2 cards too many: take out those that you no longer hold."
    )
    hand = hand.without(back, 12).without(back, 13)
    assert hand.missing(back) == 0


def test_a_card_laid_without_its_value_is_asked_for(dealt):
    game, hand = dealt
    game = enter(game, Lay(0, UP1, None))
    assert hand.missing(game) == -1
    assert hand.without(game, 12).missing(game) == 0


@pytest.mark.parametrize(
    ("cards", "sentence"),
    [
        ((1,), "There is no card 1; the cards are 2-99."),
        ((100,), "There is no card 100; the cards are 2-99."),
        ((20,), "Card 20 has been laid already."),
        (range(30, 38), "Your hand holds 7 cards; still to be entered: 7."),
    ],
)
def test_cards_that_cannot_be_held_are_refused(cards, sentence):
    game = enter(game_of(Lay(0, UP1, 20)), Lay(0, UP1, 21), EndTurn(0, 2))
    with pytest.raises(Refusal) as refusal:
        OwnHand(0).with_cards(game, cards)
    assert str(refusal.value) == sentence


def test_the_same_cards_again_change_nothing(dealt):
    game, hand = dealt
    assert hand.with_cards(game, HELD[:3]) == hand


def test_the_whole_hand_may_be_set_at_once(dealt):
    game, hand = dealt
    assert hand.exactly(game, (12, 13, 20)).cards(game) == {12, 13, 20}
    with pytest.raises(Refusal, match="still to be entered: 7"):
        hand.exactly(game, range(20, 28))


def test_a_card_that_is_not_held_cannot_be_taken_out(dealt):
    game, hand = dealt
    with pytest.raises(Refusal, match="Card 14 is not in your hand"):
        hand.without(game, 14)


def test_the_own_phone_refuses_what_contradicts_its_hand(dealt):
    game, hand = dealt
    with pytest.raises(Refusal, match="not in the hand that you entered"):
        hand.check(game, Lay(0, UP1, 14))
    hand.check(game, Lay(0, UP1, 12))
    hand.check(game, Lay(0, UP1, None))
    game = enter(game, Lay(0, UP1, 12), Lay(0, UP1, 13), EndTurn(0, 2))
    with pytest.raises(Refusal, match="is in your own hand"):
        hand.check(game, Lay(1, UP1, 30))
    hand.check(game, Lay(1, UP1, 31))
    OwnHand(0).check(game_of(), Lay(0, UP1, 14))


def test_quick_entry_reads_numbers_however_they_are_parted():
    assert read_cards(" 12 34,56;78\n9 ") == (12, 34, 56, 78, 9)
    assert read_cards("  ") == ()
    for text in ("12a", "1.5", "-3", "1234", "12 " * 200):
        with pytest.raises(Refusal, match="Enter cards as numbers"):
            read_cards(text)


# --- hints -----------------------------------------------------------------------------------


def test_a_hint_is_computed_from_what_the_owner_sees(dealt):
    game, hand = dealt
    game = enter(game, Lay(0, DOWN1, 90))
    view = hint_view(game, hand).view
    assert (view.hand, view.tops) == (set(HELD) - {90}, (1, 1, 90, 100))
    assert (view.deck, view.others, view.plays, view.owed) == (84, (7,), 1, 1)
    assert view.seen == {90}


def test_a_table_without_memory_gives_a_view_without_memory():
    game = game_of(Lay(0, UP1, 20), memory=False)
    hand = OwnHand(0).with_cards(game, range(30, 36))
    assert hint_view(game, hand).view.seen is None


def test_an_unknown_card_is_taken_for_the_nearest_one_not_seen(dealt):
    game, hand = dealt
    game = enter(game, Lay(0, UP1, 12), Lay(0, UP1, 13), EndTurn(0, 2))
    hand = hand.with_cards(game, (14, 15))
    game = enter(game, Lay(1, UP1, None), Lay(1, DOWN1, None), Lay(1, DOWN1, 95), EndTurn(1, 3))
    assumed = hint_view(game, hand)
    assert assumed.cards == (16, 99)
    assert assumed.open_piles == {UP1}
    assert assumed.view.tops == (16, 1, 95, 100)
    assert assumed.view.seen == {12, 13, 16, 95, 99}


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (
            (Lay(0, UP1, 12), Lay(0, UP1, 13), EndTurn(0, 2)),
            "Hints are for your own turn; now it is the turn of Ben.",
        ),
        ((ReportStuck(0),), "Stuck is reported: there is nothing to advise."),
        (
            (*(Lay(0, UP1, card) for card in sorted(HELD)[:6]), Lay(0, UP2, 90)),
            "Your hand is empty: draw, and end your turn.",
        ),
        ((Lay(0, UP1, None),), "A hint needs your whole hand: enter the cards that you hold."),
    ],
)
def test_where_there_is_no_hint_the_reason_is_told(dealt, entries, sentence):
    game, hand = dealt
    with pytest.raises(Refusal) as refusal:
        hint_view(enter(game, *entries), hand)
    assert str(refusal.value) == sentence
