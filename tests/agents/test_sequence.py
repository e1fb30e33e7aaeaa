"""`sequence`, `signals`, `rollout`: best turns of hand-made positions, legality, no peeking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agents.play_out import play_games
from agents.registry import make_agent
from agents.sequence import penalties_for, sequence_games, weights_for
from agents.turn_score import N_TERMS, PHASES
from thegame_env.deal import deal
from thegame_env.engine import parameters
from thegame_env.notation import format_action, parse_position
from thegame_env.ranges import deal_seed
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table
from thegame_env.view import View

SMALL = Rules("custom", cards=24, hand_sizes=(6, 5, 4), minimum=2, trick=5)
LARGE_HANDS = Rules("custom", cards=60, hand_sizes=(30, 28), minimum=3, trick=10)


def turn(agent: str, position: str) -> list[str]:
    view = parse_position(position)
    plan = make_agent(agent, view.table).plan(view)
    return [format_action(view.rules, action) for action in plan]


def test_it_takes_the_only_order_that_meets_the_minimum() -> None:
    plan = turn("sequence", "up=90,95 down=10,5 hand=96,86 deck=20 others=6,6")
    assert plan[:2] in (["96:up1", "86:up1"], ["96:up2", "86:up2"])


def test_it_opens_a_trick_within_the_turn() -> None:
    plan = turn("sequence", "up=50,70 down=20,30 hand=43,53,45,57,60,62 deck=30 others=6,6")
    at = plan.index("53:up1")
    assert plan[at + 1] == "43:up1"


def test_with_everything_known_it_lays_all_that_can_be_laid() -> None:
    """59 lies behind the top: only the trick from 69 frees it."""
    plan = turn("sequence", "up=60,98 down=2,3 hand=69,59,61 deck=0 seen=" + seen({69, 59, 61}))
    assert sorted(plan) == ["59:up1", "61:up1", "69:up1"]
    assert plan.index("59:up1") == plan.index("69:up1") + 1


def seen(hand: set[int]) -> str:
    return ",".join(str(card) for card in range(2, 100) if card not in hand)


def games_of(table: Table, count: int) -> list[Game]:
    return [Game.start(table, deal(table.rules, 5, i)) for i in range(count)]


TABLES = [
    *(Table(rules, 3, talk="open") for rules in PRESETS.values()),
    Table(PRESETS["profi"], 1),
    Table(PRESETS["official"], 5, memory=False, talk="avoid"),
    Table(PRESETS["small-hands"], 4),
    Table(SMALL, 1),
    Table(SMALL, 3, talk="open", starter="agreed"),
    Table(LARGE_HANDS, 2),
]


@pytest.mark.parametrize("name", ["sequence", "signals", "rollout:deals=4,plans=6"])
@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.rules.name}-{t.players}-{t.talk}")
def test_games_are_legal_and_repeat(name: str, table: Table) -> None:
    count = 6 if name.startswith("rollout") else 40
    first = play_games(make_agent(name, table), table, 5, np.arange(count))
    again = play_games(make_agent(name, table), table, 5, np.arange(count))
    assert (first == again).all()
    one = play_games(make_agent(name, table), table, 5, [count - 1])
    assert one[0] == first[-1]
    assert first.min() >= 0


@pytest.mark.parametrize("name", ["sequence", "signals", "rollout:deals=4,plans=6"])
def test_hidden_cards_change_nothing(name: str) -> None:
    table = Table(players=3)
    agent = make_agent(name, table)
    for game in games_of(table, 4):
        deck = (*game.deck[1:], game.deck[0])
        hidden = replace(game, hands=(game.hands[0], game.hands[2], game.hands[1]), deck=deck)
        assert agent.act(View.of(game, table), 3) == agent.act(View.of(hidden, table), 3)


def test_at_a_silent_table_signals_is_sequence() -> None:
    table = Table(players=4)
    silent = play_games(make_agent("sequence", table), table, 5, np.arange(50))
    assert (play_games(make_agent("signals", table), table, 5, np.arange(50)) == silent).all()
    assert not penalties_for(table).any()


def test_a_pile_that_a_partner_needs_is_spared() -> None:
    """Two equal plays: the one on the pile that the next seat asks for is left alone."""
    base = "up=30,29 down=3,4 hand=33,99 deck=30 others=6,6 played=1"
    assert turn("signals", f"{base} talk=open:2000,0000")[0] == "33:up2"
    assert turn("signals", f"{base} talk=open:0200,0000")[0] == "33:up1"


def test_it_is_far_stronger_than_greedy_and_talk_helps() -> None:
    seeds, games = deal_seed("development", 7), np.arange(300)
    silent, loud = Table(players=4), Table(players=4, talk="open")
    greedy = play_games(make_agent("greedy", silent), silent, seeds, games)
    sequence = play_games(make_agent("sequence", silent), silent, seeds, games)
    signals = play_games(make_agent("signals", loud), loud, seeds, games)
    assert sequence.mean() < greedy.mean() - 8
    assert (sequence == 0).mean() > 0.4
    assert (signals == 0).mean() > 0.45


def test_whole_games_in_the_kernel_are_of_like_strength() -> None:
    table, games = Table(players=5), np.arange(400)
    seeds = np.full(400, deal_seed("development", 7), np.uint64)
    left = np.zeros(400, np.int64)
    sequence_games(parameters(table), seeds, games, left, weights_for(table), 80.0)
    stepwise = play_games(make_agent("sequence", table), table, seeds, games)
    assert abs(left.mean() - stepwise.mean()) < 0.8


def test_every_table_has_weights() -> None:
    for players in range(1, 6):
        for memory in (True, False):
            weights = weights_for(Table(players=players, memory=memory))
            assert weights.shape == (PHASES, N_TERMS)


def test_a_margin_is_checked_and_named() -> None:
    assert make_agent("sequence:margin=8", Table()).name == "sequence:margin=8"
    assert make_agent("sequence", Table()).name == "sequence"
    with pytest.raises(ValueError, match="sequence: margin must be a number from 0 up"):
        make_agent("sequence:margin=x", Table())


@pytest.mark.parametrize(("given", "name"), [("deals=0", "deals"), ("plans=x", "plans")])
def test_rollout_refuses_bad_parameters(given: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"rollout: {name} must be a whole number from 1 up"):
        make_agent(f"rollout:{given}", Table())


def test_rollout_plays_its_planned_turn() -> None:
    """At a silent table the first action's search decides the whole turn."""
    table = Table(players=2)
    agent = make_agent("rollout:deals=8,plans=10", table)
    left = play_games(agent, table, 5, np.arange(8))
    assert (left < 60).all()
    assert not agent._planned  # type: ignore[attr-defined]
