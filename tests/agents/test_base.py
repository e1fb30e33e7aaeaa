"""What every agent shares: one view and a batch are answered alike, plans are whole turns."""

import numpy as np
import pytest

from agents.base import Agent
from agents.play_out import play_games
from agents.registry import make_agent
from thegame_env.engine import Engine
from thegame_env.notation import format_action, parse_position
from thegame_env.rules import Rules, Table
from thegame_env.unseen import complete


class Nearest(Agent):
    """Greedy without a kernel for whole games."""

    name = "nearest"

    def __init__(self, table):
        self._inner = make_agent("greedy", table)

    def act_rows(self, rows, p, streams):
        return self._inner.act_rows(rows, p, streams)


def test_a_plan_is_a_whole_turn_that_the_rules_accept():
    view = parse_position("hand=12,34,56,60,77,88 up=10,33 down=90,80 others=6,6 deck=40")
    agent = make_agent("greedy", view.table)
    plan = agent.plan(view)
    assert [format_action(view.rules, a) for a in plan] == ["34:up2", "12:up1", "end"]
    game = complete(view, 1)
    for action in plan:
        game = game.step(action)
    assert game.seat == 1


def test_a_plan_that_empties_the_hand_has_no_end_of_turn():
    view = parse_position("hand=12,34 up=10,33 down=90,80 others=2 deck=0 played=4")
    plan = make_agent("greedy:extra=5", view.table).plan(view)
    assert [format_action(view.rules, a) for a in plan] == ["34:up2", "12:up1"]


def test_the_same_seed_gives_the_same_action():
    view = parse_position("hand=12,34,56,60,77,88 up=10,33 down=90,80 others=6,6 deck=40")
    agent = make_agent("random", view.table)
    answers = [agent.act(view, seed) for seed in range(30)]
    assert answers == [agent.act(view, seed) for seed in range(30)]
    assert len(set(answers)) > 5


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_a_view_is_answered_alike_alone_and_in_a_batch(name):
    table = Table(Rules.parse("profi"), 3)
    agent, engine = make_agent(name, table), Engine(table, 20)
    engine.deal(3, np.arange(20))
    rows, streams = engine.views(), np.arange(20).astype(np.uint64)
    together, states = agent.act_rows(rows, engine.p, streams.copy()), streams.copy()
    for i in range(20):
        alone = states[i : i + 1].copy()
        assert agent.act_rows(rows[i : i + 1], engine.p, alone)[0] == together[i]


def test_games_are_played_alike_with_and_without_a_kernel_for_whole_games():
    table = Table(players=4)
    deals = np.arange(60)
    with_kernel = play_games(make_agent("greedy", table), table, 5, deals)
    np.testing.assert_array_equal(with_kernel, play_games(Nearest(table), table, 5, deals))
    np.testing.assert_array_equal(with_kernel[7], play_games(Nearest(table), table, [5], [7])[0])


def test_no_games_are_no_games():
    table = Table()
    assert play_games(Nearest(table), table, [], []).shape == (0,)
