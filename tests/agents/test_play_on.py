"""Playing a position on: the same games as the agents that it stands for."""

import numpy as np
import pytest

from agents.greedy import greedy_games
from agents.play_on import PLANS, play_plans_on
from agents.sequence import penalties_for, sequence_games, weights_for
from agents.turn_score import FLOATS, weigh
from agents.turn_search import MARGIN, PLAN_AT, WORK, search_turn
from thegame_env.deal import deal
from thegame_env.engine import Engine, parameters
from thegame_env.reference import Game
from thegame_env.rules import MAX_SEATS, N_PILES, PRESETS, Rules, Table
from thegame_env.view import View

GAMES = 40
TABLES = [
    Table(),
    Table(players=3, memory=False),
    Table(PRESETS["profi"], 2),
    Table(PRESETS["small-hands"], 4),
    Table(Rules(cards=20, hand_sizes=(4, 3, 3), trick=3), 3),
]


def played_on(table, extras, actions=()):
    """Cards left of GAMES deals that are played on after `actions`."""
    engine = Engine(table, GAMES)
    engine.deal(3, np.arange(GAMES))
    left = np.zeros((1, GAMES), np.int64)
    plan = np.array([[*actions, 0]], np.int64)
    play_plans_on(
        engine.games, engine.decks, engine.p[None], plan, np.array([len(actions)]),
        np.array(extras, np.int64), weights_for(table), penalties_for(table), MARGIN, left,
    )  # fmt: skip
    return left[0]


def deals():
    return np.full(GAMES, 3, np.uint64), np.arange(GAMES), np.zeros(GAMES, np.int64)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("extra", [-10, 4])
def test_greedy_seats_play_greedy(table, extra):
    seeds, indices, left = deals()
    greedy_games(parameters(table), seeds, indices, left, extra)
    np.testing.assert_array_equal(played_on(table, [extra] * MAX_SEATS), left)


@pytest.mark.parametrize("table", TABLES)
def test_planning_seats_play_sequence(table):
    seeds, indices, left = deals()
    sequence_games(parameters(table), seeds, indices, left, weights_for(table), MARGIN)
    np.testing.assert_array_equal(played_on(table, [PLANS] * MAX_SEATS), left)


def planned(view):
    """The turn that `sequence` searches for a view, END_TURN included where it is needed."""
    ints, floats, row = np.zeros(WORK, np.int64), np.zeros(FLOATS), view.row()
    weigh(row, parameters(view.table), weights_for(view.table), floats)
    laid = search_turn(row, parameters(view.table), np.zeros(N_PILES), MARGIN, ints, floats)
    return [int(action) for action in ints[PLAN_AT : PLAN_AT + laid]]


@pytest.mark.parametrize("table", TABLES[1:])
def test_mixed_seats_each_play_their_own_way(table):
    """Seat 0 plans, the others are greedy: played again by the reference game."""
    from agents.registry import make_agent

    greedy = make_agent("greedy:extra=4", table)
    left = played_on(table, [PLANS, *[4] * (MAX_SEATS - 1)])
    for index in range(10):
        game = Game.start(table, deal(table.rules, 3, index))
        while game.outcome is None:
            view = View.of(game, table)
            if game.seat:
                game = game.step(greedy.act(view))
                continue
            for action in planned(view):
                game = game.step(action)
            open_turn = game.outcome is None and game.seat == 0
            if open_turn and (game.plays or view.may_end_turn):
                game = game.step(table.rules.end_turn)
        assert game.cards_left == left[index]


def test_a_plan_is_played_first():
    table = Table(players=2)
    lays = [table.rules.action(card, 0) for card in sorted(deal(table.rules, 3, 0)[:7])[:2]]
    engine = Engine(table, 1)
    engine.deal(3, 0)
    left = np.zeros((1, 1), np.int64)
    actions = np.array([[*lays, table.rules.end_turn]])
    play_plans_on(
        engine.games, engine.decks, engine.p[None], actions, np.array([3]),
        np.full(MAX_SEATS, PLANS), weights_for(table), penalties_for(table), MARGIN, left,
    )  # fmt: skip
    engine.step(lays[0])
    engine.step(lays[1])
    engine.step(table.rules.end_turn)
    after = np.zeros((1, 1), np.int64)
    play_plans_on(
        engine.games, engine.decks, engine.p[None], actions, np.array([0]),
        np.full(MAX_SEATS, PLANS), weights_for(table), penalties_for(table), MARGIN, after,
    )  # fmt: skip
    assert left == after


def test_talk_is_heard_by_planning_seats():
    """The silent game and the talking one differ in nothing but the penalties."""
    silent, talking = Table(players=4), Table(players=4, talk="open")
    plans = [PLANS] * MAX_SEATS
    assert (played_on(talking, plans) != played_on(silent, plans)).any()
