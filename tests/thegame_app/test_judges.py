"""Which judge a position gets, and that the learned value judges what the plans lead to."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.afterstate_features import VERSION
from agents.candidates import Planner
from agents.plans import N_DEPTH, N_HI, N_LO
from agents.turn_value import afterstate_of
from agents.value_bins import utility_of
from agents.weight_files import SHIPPED, load_weights, save_weights, shipped
from thegame_app.grading import turn_plans
from thegame_app.hints import hint
from thegame_app.playouts import LEARNED, Playouts, judge_for
from thegame_app.value_judge import ValueJudge
from thegame_env.deal import deal
from thegame_env.engine import parameters
from thegame_env.notation import parse_position
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, Rules, Table
from thegame_env.view import View


def opening(players: int, rules: str = "official", **settings: Any) -> View:
    table = Table(Rules.parse(rules), players, **settings)
    return View.of(Game.start(table, deal(table.rules, 3)), table)


@pytest.mark.parametrize(
    ("view", "partners", "kind"),
    [
        (opening(5), "expert", ValueJudge),
        (opening(5), "casual", Playouts),
        (opening(1), "casual", ValueJudge),
        (opening(5, "profi-short", talk="avoid"), "expert", ValueJudge),
        (opening(5, "custom/cards:60"), "expert", Playouts),
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


TABLES = [metadata["table"] for metadata in shipped(LEARNED).values()]


@pytest.mark.parametrize("settings", TABLES, ids=str)
def test_hints_use_the_value_of_every_table_that_has_one(settings: dict[str, Any]) -> None:
    view = opening(**settings)
    judge = judge_for(view, "expert", 0)
    assert type(judge) is ValueJudge
    plans, complete = turn_plans(view, 8)
    assert complete
    left, win = judge.judge(plans, 0, 16)
    assert left.shape == win.shape == (len(plans), 16)
    assert ((left >= 0) & (left <= view.cards_left)).all()
    assert ((win >= 0) & (win <= 1)).all()
    answer = hint(view, "instant", partners="expert")
    assert "A learned value makes the figures" in answer.note
    memory = "on" if view.table.memory else "off"
    assert f"{view.table.rules.spec()}, players: {view.table.players}, memory {memory}, " \
           f"talk {view.table.talk}." in answer.note  # fmt: skip
    assert ("is not remembered" in answer.note) != view.table.memory
    assert ("agree with what the others say" in answer.note) == bool(view.talk)


def test_the_value_judges_by_the_utility_that_it_was_trained_for(tmp_path: Path) -> None:
    view = opening(5)
    arrays, metadata = load_weights(SHIPPED / "afterstate_5p", LEARNED, VERSION)
    for name, config in (("blend", metadata["config"]), ("win", {"utility": "win"}), ("blend", {})):
        save_weights(tmp_path / f"{len(config)}", arrays, {**metadata, "config": config})
        judge = ValueJudge(view, tmp_path / f"{len(config)}", Playouts(view, "expert", 0))
        assert judge._ahead.value.utility.tolist() == utility_of(name).tolist()


def test_without_a_value_for_the_table_games_are_played_out(monkeypatch: Any) -> None:
    monkeypatch.setattr("thegame_app.playouts.shipped_for", lambda kind, table: None)
    answer = hint(opening(2), "instant", partners="expert")
    assert "A learned value" not in answer.note
    assert "(sequence)" in answer.note


@pytest.mark.parametrize("settings", [{}, {"talk": "open"}], ids=["silent", "talk"])
def test_hints_at_the_same_time_do_not_disturb_each_other(settings: dict[str, Any]) -> None:
    view = opening(3, **settings)
    plans, _ = turn_plans(view, 8)

    def judged(_: int) -> bytes:
        return Playouts(view, "casual", 1).cards_left(plans, 0, 60).tobytes()

    alone = judged(0)
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(judged, range(40))) == {alone}
