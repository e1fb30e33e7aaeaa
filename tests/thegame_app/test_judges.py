"""Which judge a position gets, and that the learned value judges what the plans lead to."""

from __future__ import annotations

import numpy as np
import pytest

from agents.candidates import Planner
from agents.plans import N_DEPTH, N_HI, N_LO
from thegame_app.playouts import Playouts, ValueJudge, afterstate_of, judge_for
from thegame_env.deal import deal
from thegame_env.engine import parameters
from thegame_env.notation import parse_position
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, Table
from thegame_env.view import View


def opening(players: int, **settings: object) -> View:
    table = Table(players=players, **settings)  # type: ignore[arg-type]
    return View.of(Game.start(table, deal(table.rules, 3)), table)


@pytest.mark.parametrize(
    ("view", "partners", "kind"),
    [
        (opening(5), "expert", ValueJudge),
        (opening(5), "casual", Playouts),
        (opening(1), "casual", ValueJudge),
        (opening(5, talk="avoid"), "expert", Playouts),
    ],
)
def test_the_value_judges_where_it_knows_the_table(view: View, partners: str, kind: type) -> None:
    assert type(judge_for(view, partners, 0)) is kind  # type: ignore[arg-type]


@pytest.mark.parametrize("players", [1, 5])
def test_afterstates_are_those_of_the_search(players: int) -> None:
    view = opening(players)
    plans = Planner(parameters(view.table)).candidates(view.row()[None])
    for actions, length, state in zip(plans.actions, plans.lengths, plans.states, strict=True):
        got = afterstate_of(view, actions[:length].tolist())
        for column in (*range(N_PILES), N_LO, N_HI, N_DEPTH):
            assert got[column] == state[column]


def test_dealings_are_the_same_in_every_call_and_nearer_cards_are_better() -> None:
    view = opening(5)
    judge, rules = judge_for(view, "expert", 1), view.rules
    low, high = sorted(view.hand)[:2], sorted(view.hand)[-2:]
    near = [rules.action(low[0], 0), rules.action(low[1], 0), rules.end_turn]
    far = [rules.action(high[0], 0), rules.action(high[1], 0), rules.end_turn]
    left, win = judge.judge([near, far], 0, 40)
    assert left.shape == win.shape == (2, 40)
    assert left[0].mean() < left[1].mean()
    assert win[0].mean() > win[1].mean()
    np.testing.assert_array_equal(judge.judge([near, far], 10, 40)[0], left[:, 10:])


def test_a_plan_that_cannot_meet_the_minimum_leaves_what_it_leaves() -> None:
    tops, hand = (98, 99, 2, 51), (50, 3, 4, 5, 6, 7, 8, 9)
    others = [card for card in range(2, 100) if card not in tops + hand]
    seen = ",".join(str(card) for card in (*tops, *others[:56]))
    view = parse_position(f"up=98,99 down=2,51 hand=50,3,4,5,6,7,8,9 deck=30 seen={seen}")
    judge = judge_for(view, "expert", 1)
    left, win = judge.judge([[view.rules.action(50, 3)]], 0, 8)
    assert (left == 37).all()
    assert (win == 0).all()
