"""The rules' small cases with their answers, each played by the reference and by the engine."""

from collections.abc import Sequence

import numpy as np
import pytest
from strategies import PLAYED

from thegame_env.engine import Engine
from thegame_env.perft import legal_fast
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, IllegalAction, Outcome, Rules, Table, Termination

OFFICIAL = PRESETS["official"]
END = OFFICIAL.end_turn
UNTOUCHED = (1, 1, 100, 100)
UP1, UP2, DOWN1, DOWN2 = range(4)


def position(
    *hands: Sequence[int],
    deck: Sequence[int] = (),
    tops: tuple[int, int, int, int] = UNTOUCHED,
    plays: int = 0,
    rules: Rules = OFFICIAL,
) -> Game:
    """A position with seat 0 to act; the cards not named lie on the piles."""
    owed = rules.owed(len(deck), len(hands[0]) + plays)
    sets = tuple(frozenset(hand) for hand in hands)
    return Game(rules, tops, sets, tuple(deck), 0, plays, owed).settled()


def lay(card: int, pile: int) -> int:
    return OFFICIAL.action(card, pile)


def step(game: Game, *actions: int) -> Game:
    """Take the actions in both engines, which must agree after each."""
    engine = Engine(Table(game.rules, len(game.hands)), 1)
    engine.put(0, game)
    assert engine.game(0) == game
    for action in actions:
        assert legal_fast(engine) == game.legal_actions()
        game = game.step(action)
        engine.step(action)
        assert engine.game(0) == game
    assert legal_fast(engine) == game.legal_actions()
    return game


def stuck(cards_left: int) -> Outcome:
    return Outcome(Termination.STUCK, cards_left)


# --- 1 and 2: which card may lie where -----------------------------------------------------------


@pytest.mark.parametrize(
    ("pile", "top", "legal", "illegal"),
    [
        (UP1, 51, (52, 99, 41), (42, 40, 50, 39)),
        (UP2, 51, (61, 41), (31,)),
        (DOWN1, 49, (48, 2, 59), (58, 60, 99)),
        (DOWN2, 49, (39, 59), (50, 69)),
        (UP1, 1, (2, 99), ()),
        (DOWN1, 100, (2, 99), ()),
        # Tricks off the ends of the cards: 12 - 10 is the lowest, 89 + 10 the highest.
        (UP1, 12, (2,), (3,)),
        (UP1, 11, (12,), (2,)),
        (DOWN1, 89, (99,), (98,)),
        (DOWN1, 90, (89,), (99,)),
    ],
)
def test_legality(pile: int, top: int, legal: tuple[int, ...], illegal: tuple[int, ...]) -> None:
    a, b, c, d = (top if k == pile else start for k, start in enumerate(UNTOUCHED))
    for card in legal + illegal:
        game = position((card, 20, 21, 70), tops=(a, b, c, d))
        assert game.is_legal(card, pile) is (card in legal)
        assert (lay(card, pile) in game.legal_actions()) is (card in legal)
        if card in legal:
            assert step(game, lay(card, pile)).tops[pile] == card


def test_no_trick_on_an_untouched_pile() -> None:
    game = position(range(2, 10), deck=range(10, 100))
    assert len(game.legal_actions()) == 32
    # -9 and 110 do not exist in the codec either.
    for card in (-9, 110):
        with pytest.raises(ValueError, match="does not exist"):
            lay(card, UP1)


def test_the_trick_may_be_played_any_number_of_times() -> None:
    game = position((5, 15, 25, 35, 99), deck=(50,), tops=(45, 98, 3, 2))
    game = step(game, lay(35, UP1), lay(25, UP1), lay(15, UP1), lay(5, UP1))
    assert game.tops == (5, 98, 3, 2)
    assert game.plays == 4


# --- 3 to 5: the deal and the minimum ------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), PLAYED)
def test_the_deal(name: str, players: int) -> None:
    rules = PRESETS[name]
    game = Game.start(Table(rules, players), rules.deck)
    size = rules.hand_size(players)
    # Blocks of the deck, seat 0 the first.
    expected = tuple(
        frozenset(range(2 + seat * size, 2 + seat * size + size)) for seat in range(players)
    )
    assert game.hands == expected
    assert game.deck == rules.deck[players * size :]
    assert (game.tops, game.seat, game.plays) == (UNTOUCHED, 0, 0)
    assert game.owed == rules.minimum
    assert game.cards_left == 98
    assert game.outcome is None


def test_decks_of_the_published_game_after_the_deal() -> None:
    tables = [Table(OFFICIAL, players) for players in range(1, 6)]
    decks = [len(Game.start(table, OFFICIAL.deck).deck) for table in tables]
    assert decks == [90, 84, 80, 74, 68]


def test_one_card_completes_a_turn_once_the_deck_is_empty() -> None:
    game = position((40, 41), (50,), tops=(30, 98, 3, 2))
    assert game.owed == 1
    assert END not in game.legal_actions()
    after = step(game, lay(40, UP1))
    assert END in after.legal_actions()
    assert step(after, END).seat == 1


def test_a_deck_of_one_goes_to_the_seat_and_the_next_owes_one() -> None:
    game = position((40, 41, 42, 43, 44, 45, 46), (50, 51), deck=(60,))
    assert game.owed == 2
    after = step(game, lay(40, UP1), lay(41, UP1), END)
    assert after.hands[0] == {42, 43, 44, 45, 46, 60}
    assert (after.seat, after.owed, after.deck) == (1, 1, ())


def test_the_minimum_is_fixed_when_the_turn_begins() -> None:
    game = position((40, 41, 42), (50, 51), deck=(60,))
    assert game.owed == step(game, lay(40, UP1)).owed == 2


# --- 6 and 7: beyond the minimum -----------------------------------------------------------------


def test_an_unplayable_rest_is_no_loss_after_the_minimum() -> None:
    game = position((96, 97, 50), (2,), deck=(60, 61), tops=(95, 95, 5, 6))
    after = step(game, lay(96, UP1), lay(97, UP1))
    assert after.outcome is None
    assert after.legal_actions() == [END]
    refilled = step(after, END)
    assert refilled.hands[0] == {50, 60, 61}
    assert (refilled.seat, refilled.outcome) == (1, None)


def test_a_seat_may_go_on_after_the_minimum() -> None:
    game = position((40, 50, 45, 44), (60,), deck=(70, 71), tops=(30, 98, 3, 2))
    after = step(game, lay(44, UP1), lay(50, UP1))
    assert after.legal_actions() == [lay(40, UP1), END]
    assert step(after, lay(40, UP1)).legal_actions() == [lay(45, UP1), END]


# --- 8 to 10: ends of turns ----------------------------------------------------------------------


def test_the_last_card_wins_at_once() -> None:
    game = position((40, 41, 42))
    after = step(game, lay(40, UP1), lay(41, UP1), lay(42, UP1))
    assert after.outcome == Outcome(Termination.WON, 0)
    assert after.plays == 3


def test_the_seat_refills_and_the_next_seat_acts() -> None:
    game = position((20, 21, 22, 23, 24, 25), (30,), (40,), deck=range(50, 60))
    after = step(game, lay(20, UP1), lay(21, UP1), lay(22, UP1), END)
    assert after.hands[0] == {23, 24, 25, 50, 51, 52}
    assert after.deck == tuple(range(53, 60))
    assert (after.seat, after.plays) == (1, 0)


def test_an_emptied_hand_ends_the_turn_and_refills() -> None:
    game = position((20, 21), (30,), deck=range(50, 60))
    after = step(game, lay(20, UP1), lay(21, UP1))
    assert after.hands[0] == {50, 51, 52, 53, 54, 55, 56}
    assert (after.seat, after.plays, after.outcome) == (1, 0, None)


def test_an_emptied_hand_alone_refills_and_goes_on() -> None:
    after = step(position((20, 21), deck=(50, 51, 52)), lay(20, UP1), lay(21, UP1))
    assert after.hands == ({50, 51, 52},)
    assert (after.seat, after.plays, after.owed) == (0, 0, 1)


def test_seats_without_cards_are_skipped() -> None:
    game = position((20, 21), (), (30, 31), ())
    after = step(game, lay(20, UP1), END)
    assert after.seat == 2
    # Seat 3 has none, seat 0 has one; then seats 1 and 3 stay out.
    assert step(after, lay(30, UP1), END).seat == 0


def test_a_seat_that_lays_its_last_card_with_the_deck_empty_stays_out() -> None:
    after = step(position((20,), (30, 31)), lay(20, UP1))
    assert (after.seat, after.hands[0]) == (1, frozenset())
    # Its only partner goes on alone, turn after turn.
    assert step(after, lay(30, UP1), END).seat == 1


# --- losing --------------------------------------------------------------------------------------


def test_losing_is_a_matter_of_sequences() -> None:
    game = position((96, 86), deck=(50,), tops=(90, 95, 10, 5))
    assert [OFFICIAL.decode(action) for action in game.legal_actions()] == [(96, UP1), (96, UP2)]
    assert game.owed == 2
    after = step(game, lay(96, UP1))
    assert after.outcome is None
    assert after.legal_actions() == [lay(86, UP1)]
    assert step(after, lay(86, UP1)).tops[UP1] == 86
    # One card off, and the same start is lost.
    other = position((96, 84), deck=(50,), tops=(90, 95, 10, 5))
    assert step(other, lay(96, UP1)).outcome == stuck(2)


def test_a_partner_who_could_play_does_not_save_the_game() -> None:
    assert position((50,), (97,), tops=(95, 96, 5, 6)).outcome == stuck(2)


def test_cards_of_the_last_turn_count_as_played() -> None:
    game = position((96, 50), (97,), deck=(60,), tops=(95, 96, 5, 6))
    assert game.outcome is None
    assert step(game, lay(96, UP1)).outcome == stuck(3)


def test_a_drawn_card_may_lose_the_game() -> None:
    rules = Rules("custom", 5, (1,), 1, 1)
    table = Table(rules, 1)
    game = Game.start(table, (5, 2, 6, 3, 4))
    for card, pile in ((5, UP1), (2, DOWN1), (6, UP2), (3, DOWN2)):
        game = step(game, rules.action(card, pile))
    assert game.outcome == stuck(1)


# --- presets -------------------------------------------------------------------------------------


def test_profi_owes_three() -> None:
    game = position((20, 21, 22, 23), deck=(50,), tops=(10, 98, 3, 2), rules=PRESETS["profi"])
    two = step(game, lay(20, UP1), lay(21, UP1))
    assert END not in two.legal_actions()
    assert END in step(two, lay(22, UP1)).legal_actions()


def test_two_to_the_end_owes_two_on_an_empty_deck() -> None:
    rules = PRESETS["two-to-the-end"]
    game = position((20, 21, 22), (40,), rules=rules)
    one = step(game, lay(20, UP1))
    assert END not in one.legal_actions()
    after = step(one, lay(21, UP1), END)
    # But never more than the hand holds: the 40 alone completes its turn.
    assert (after.seat, after.owed) == (1, 1)
    assert step(after, lay(40, UP1)).seat == 0


def test_two_to_the_end_is_lost_with_one_card_played() -> None:
    game = position((96, 50), tops=(95, 97, 5, 6), rules=PRESETS["two-to-the-end"])
    assert step(game, lay(96, UP1)).outcome == stuck(1)
    assert step(position((96, 50), tops=(95, 97, 5, 6)), lay(96, UP1)).outcome is None


SMALL = PRESETS["small-hands"]


def test_small_hands_lets_a_stuck_seat_pass() -> None:
    game = position((50, 51), (97, 30), deck=(60,), tops=(95, 96, 5, 6), rules=SMALL)
    assert game.outcome is None
    assert game.legal_actions() == [END]
    after = step(game, END)
    assert (after.seat, after.plays, after.owed) == (1, 0, 1)
    # Passing is an end of the turn: the hand is filled up.
    assert after.hands[0] == {50, 51, 60}


def test_small_hands_passes_in_mid_turn_too() -> None:
    game = position((97, 50), (98, 30), deck=(60,), tops=(95, 96, 5, 6), rules=SMALL)
    one = step(game, lay(97, UP2))
    assert (one.plays, one.owed, one.outcome) == (1, 2, None)
    assert one.legal_actions() == [END]


def test_small_hands_allows_no_pass_to_a_seat_that_can_play() -> None:
    game = position((97, 50), (98, 30), deck=(60,), tops=(95, 96, 5, 6), rules=SMALL)
    assert END not in game.legal_actions()
    with pytest.raises(IllegalAction, match="END_TURN: 0 of 2 owed cards are played"):
        game.step(END)


def test_small_hands_is_lost_once_no_seat_can_play() -> None:
    assert position((50, 51), (52, 53), tops=(95, 96, 5, 6), rules=SMALL).outcome == stuck(4)
    game = position((97, 50), (30, 31), deck=(60,), tops=(95, 96, 5, 6), rules=SMALL)
    # 97 was the last playable card of all, and one more is owed.
    assert step(game, lay(97, UP1)).outcome == stuck(4)


def test_small_hands_with_the_minimum_met_refills_before_it_is_lost() -> None:
    hands = ((97, 98, 50), (30, 31))
    game = position(*hands, deck=(99, 60), tops=(95, 96, 5, 6), rules=SMALL)
    after = step(game, lay(97, UP1), lay(98, UP1))
    assert after.legal_actions() == [END]
    # Seat 0 draws the 99, so seat 1 may pass to it.
    passing = step(after, END)
    assert (passing.seat, passing.outcome) == (1, None)
    assert step(passing, END, lay(99, UP2), END).outcome == stuck(4)


def test_small_hands_alone_is_not_played() -> None:
    with pytest.raises(ValueError, match="is played by 2-5 players, not by 1"):
        Table(SMALL, 1)


# --- 11 and 15: what is refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lay(60, UP1), "card 60 is not in the hand of seat 0"),
        (
            lay(20, UP1),
            r"card 20 cannot lie on up1 \(top 51\): it must be higher, or the trick 51 - 10",
        ),
        (
            lay(98, DOWN1),
            r"card 98 cannot lie on down1 \(top 49\): it must be lower, or the trick 49 \+ 10",
        ),
        (END, "END_TURN: 0 of 2 owed cards are played"),
        (393, "action 393 does not exist"),
        (-1, "action -1 does not exist"),
    ],
)
def test_an_illegal_action_names_its_rule_and_changes_nothing(action: int, sentence: str) -> None:
    game = position((20, 98), (60,), deck=(70,), tops=(51, 52, 49, 48))
    with pytest.raises(IllegalAction, match=sentence):
        game.step(action)
    engine = Engine(Table(OFFICIAL, 2), 2)
    engine.put(0, game)
    engine.put(1, game)
    before = engine.games.copy(), engine.decks.copy()
    with pytest.raises(IllegalAction, match="slot 1: " + sentence):
        engine.step([lay(98, UP1), action])
    assert np.array_equal(engine.games, before[0])
    assert np.array_equal(engine.decks, before[1])


def test_a_finished_game_refuses_every_action() -> None:
    lost = position((50,), tops=(95, 96, 5, 6))
    won = step(position((40,)), lay(40, UP1))
    for game, how in ((lost, "stuck"), (won, "won")):
        assert game.legal_actions() == []
        assert not game.may_end_turn
        for action in (END, lay(50, UP1), lay(40, UP1)):
            with pytest.raises(IllegalAction, match=rf"the game is over \({how}\)"):
                game.step(action)


def test_the_engine_leaves_finished_games_alone() -> None:
    engine = Engine(Table(OFFICIAL, 1), 2)
    engine.put(0, position((50,), tops=(95, 96, 5, 6)))
    engine.put(1, position((40, 41)))
    engine.step([END, lay(40, UP1)])
    assert engine.game(0) == position((50,), tops=(95, 96, 5, 6))
    assert engine.game(1).plays == 1


# --- the starter ---------------------------------------------------------------------------------


def test_seat_0_starts_unless_agreed() -> None:
    poor, good = (40, 45, 50, 55, 60, 65, 66), (2, 3, 47, 51, 52, 53, 54)
    deck = (*poor, *good, *(c for c in OFFICIAL.deck if c not in poor + good))
    by_default = Game.start(Table(OFFICIAL, 2), deck)
    assert (by_default.seat, by_default.starter) == (0, 0)
    agreed = Game.start(Table(OFFICIAL, 2, starter="agreed"), deck)
    assert (agreed.seat, agreed.starter) == (1, 1)
    assert step(agreed, lay(2, UP1), lay(3, UP1), END).seat == 0


def test_a_bad_deck_is_refused() -> None:
    with pytest.raises(ValueError, match="the deck holds card 2 twice"):
        Game.start(Table(OFFICIAL, 1), (2, *OFFICIAL.deck[:-1]))
    with pytest.raises(ValueError, match="the deck lacks card 2"):
        Engine(Table(OFFICIAL, 1), 1).deal_deck(0, OFFICIAL.deck[1:])
