"""What a seat sees: the readable view, the fast engine's row, and the way between them."""

import random

import numpy as np
import pytest
from hypothesis import given
from strategies import PRESET_TABLES, play, positions

from thegame_env.engine import Engine, mask_into, view_into
from thegame_env.layout import V_MAY_END, V_STATUS, VIEW_ROW
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table
from thegame_env.view import SeatTalk, View, speak


def engine_row(table, game, seat):
    engine = Engine(table, 1)
    engine.put(0, game)
    row = np.zeros(VIEW_ROW, np.int64)
    view_into(engine.games[0], engine.p, seat, row)
    return engine, row


@given(positions(running=True))
def test_every_field_of_the_row_is_the_engines(position):
    table, game = position
    if game.outcome is not None:
        return
    for seat in range(table.players):
        _, row = engine_row(table, game, seat)
        assert View.of(game, table, seat).row().tolist() == row.tolist()


@given(positions())
def test_a_view_reads_back_from_the_engines_row(position):
    table, game = position
    for seat in range(table.players):
        _, row = engine_row(table, game, seat)
        assert View.from_row(table, row) == View.of(game, table, seat)


def test_the_end_of_a_game_changes_only_what_a_hand_cannot_show():
    rng, ended = random.Random(1), set()
    small = [
        Table(Rules("custom", 12, (4, 4, 4), stuck=stuck), 3) for stuck in ("acting", "nobody")
    ]
    for table in (*PRESET_TABLES[::7], *small * 20):
        *_, (game, _) = play(rng, table, 0.97)
        ended.add(game.outcome.termination)
        for seat in range(table.players):
            _, row = engine_row(table, game, seat)
            differs = np.flatnonzero(View.of(game, table, seat).row() != row)
            assert set(differs.tolist()) <= {V_STATUS, V_MAY_END}
            if seat == game.seat and (game.outcome.won or table.rules.stuck == "acting"):
                assert not len(differs)
    assert len(ended) == 2


@given(positions(running=True))
def test_plays_and_mask_are_what_the_reference_accepts(position):
    table, game = position
    if game.outcome is not None:
        return
    view = View.of(game, table)
    actions = [table.rules.action(*play) for play in view.plays_now]
    actions += [table.rules.end_turn] * view.may_end_turn
    assert actions == game.legal_actions()
    engine, row = engine_row(table, game, game.seat)
    mask = np.zeros(table.rules.n_actions, np.int8)
    mask_into(row, engine.p, mask)
    assert np.flatnonzero(mask).tolist() == actions


@given(positions())
def test_sizes_and_sets_fit_the_game(position):
    table, game = position
    view = View.of(game, table)
    hidden = set(game.deck).union(*(h for s, h in enumerate(game.hands) if s != game.seat))
    assert view.cards_left == game.cards_left
    assert hidden <= view.unseen
    if table.memory:
        assert view.unseen == hidden
    assert view.owed == max(game.owed - game.plays, 0)


def game_of(hand, other, tops, deck=(), plays=0, owed=2):
    return Game(
        PRESETS["official"], tops, (frozenset(hand), frozenset(other)), deck, 0, plays, owed
    )


@pytest.mark.parametrize(
    ("tops", "hand", "avoid", "open_"),
    [
        ((50, 20, 80, 90), {40}, (1, 0, 0, 0), (2, 0, 0, 0)),
        ((50, 20, 80, 90), {54}, (1, 0, 0, 0), (1, 0, 0, 0)),
        ((50, 20, 80, 90), {55, 39, 41, 46}, (0, 0, 0, 0), (0, 0, 0, 0)),
        ((50, 20, 80, 90), {86, 76}, (0, 0, 1, 1), (0, 0, 1, 1)),
        ((50, 20, 80, 60), {70, 24}, (0, 1, 0, 1), (0, 1, 0, 2)),
    ],
)
def test_talk_levels(tops, hand, avoid, open_):
    game = game_of({2}, hand, tops)
    assert speak(game, 1, "avoid").levels == avoid
    assert speak(game, 1, "open").levels == open_
    assert speak(game, 1, "none") == SeatTalk()


@pytest.mark.parametrize(
    ("hand", "deck", "stuck"),
    [
        ({96, 86}, (50,), False),  # 96 on 90, then 86 by the trick
        ({96, 85}, (50,), False),  # 85 by the trick on up2, which shows 95
        ({94, 40}, (50,), True),  # only 94 fits, and nothing after it
        ({94, 40}, (), False),  # the deck is empty: one card is enough
        ({40}, (), True),
        ({94}, (50,), False),  # no more can be owed than is held
    ],
)
def test_who_cannot_reach_the_minimum_says_so(hand, deck, stuck):
    game = game_of({2}, hand, (90, 95, 10, 5), deck)
    assert speak(game, 1, "open").stuck is stuck
    assert speak(game, 1, "avoid").stuck is False


def test_talk_words_round_trip():
    for said in (SeatTalk(), SeatTalk((1, 2, 0, 1)), SeatTalk((2, 2, 2, 2), True)):
        assert SeatTalk.from_word(said.word) == said


def test_a_seat_that_is_not_acting_owes_nothing():
    table = Table(players=2)
    game = next(play(random.Random(0), table, 0.5))[0]
    view = View.of(game, table, 1)
    assert (view.acting, view.owed, view.plays, view.may_end_turn) == (False, 0, 0, False)
