"""`thegame hint` and the API behind it: ranking, notes, reasons, bad input."""

import json

import numpy as np
import pytest

from thegame_app.cli import run
from thegame_app.hints import CLOSE, STRENGTHS, hint, is_close, turn_plans
from thegame_app.playouts import Dealings
from thegame_app.reasons import gaps_of, reason_for
from thegame_env.notation import format_position, parse_position
from thegame_env.reference import Game
from thegame_env.rules import PILES, Rules, Table
from thegame_env.unseen import complete
from thegame_env.view import View

MIDDLE = "up=23,40 down=77,60 hand=12,30,44,67,88,54 others=6,6 deck=20"
LOST = "up=90,95 down=10,5 hand=96,50 others=6,6 deck=20"
STUCK = "up=90,95 down=10,5 hand=50,51 others=6,6 deck=20"
MET = STUCK + " played=2"
LAST = "up=90,95 down=10,5 hand=97 deck=0"


def instant(text, **options):
    return hint(parse_position(text), "instant", **options)


# --- the answer ----------------------------------------------------------------------------------


def test_json_has_the_promised_shape(capsys):
    assert run(["hint", MIDDLE, "--strength", "instant", "--top", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["position", "strength", "plans", "note"]
    assert document["position"] == format_position(parse_position(MIDDLE))
    assert document["strength"] == "instant"
    assert len(document["plans"]) == 3
    for plan in document["plans"]:
        assert list(plan) == [
            "plays", "ends_turn", "cards_left", "cards_left_se", "win", "win_se", "close", "reason",
        ]  # fmt: skip
        assert all(play["pile"] in PILES for play in plan["plays"])
        assert 0 <= plan["win"] <= 1
        assert plan["reason"]


def test_plans_are_ranked_by_cards_left():
    plans = instant(MIDDLE, top=50).plans
    assert 1 < len(plans) <= STRENGTHS["instant"].finalists
    figures = [plan.cards_left for plan in plans]
    assert figures == sorted(figures)
    assert not plans[0].close


@pytest.mark.parametrize("text", [MIDDLE, "hand=12,34,45,67,88,90,5,97", LAST, MET])
def test_every_plan_can_be_played_and_closes_the_turn(text):
    view = parse_position(text)
    plans, complete_ = turn_plans(view, 30)
    assert complete_
    assert len(set(plans)) == len(plans)
    for plan in plans:
        game = complete(view, 1)
        for action in plan:
            assert game.seat == 0
            game = game.step(action)
        assert game.outcome or game.seat != 0 or game.plays == 0


def test_the_same_seed_gives_the_same_hint():
    assert instant(MIDDLE, seed=4) == instant(MIDDLE, seed=4)
    assert instant(MIDDLE, seed=4) != instant(MIDDLE, seed=5)


def test_permuting_unseen_cards_changes_nothing():
    table = Table(Rules(), 3)
    game = Game.start(table, table.rules.deck)
    unseen = [*sorted(game.hands[1] | game.hands[2]), *game.deck]
    for seed in range(3):
        mixed = [int(card) for card in np.random.default_rng(seed).permutation(unseen)]
        other = Game.start(table, [*sorted(game.hands[0]), *mixed])
        assert hint(View.of(other, table), "instant") == hint(View.of(game, table), "instant")


def test_dealing_number_d_does_not_depend_on_the_count():
    view = parse_position(MIDDLE)
    plans, _ = turn_plans(view, 3)
    few, many = (Dealings(view, 7).cards_left(plans, count) for count in (5, 20))
    np.testing.assert_array_equal(few, many[:, :5])


ENDS_EARLY = "up=90,95 down=10,5 hand=96,50 others=6 deck=20 rules=small-hands"
"""A plan lays 96 and passes, but where nobody holds a legal card the game is over before that."""


@pytest.mark.parametrize("text", ["hand=12,34,45,67,88,90 others=6,6", ENDS_EARLY])
def test_playouts_agree_with_the_reference_game(text):
    from agents.registry import make_agent

    view = parse_position(text)
    plans, _ = turn_plans(view, 2)
    dealings = Dealings(view, 3)
    left = dealings.cards_left(plans, 30)
    player = make_agent(dealings.player, view.table)
    keys = np.random.SeedSequence(3).generate_state(30, np.uint64)
    for m, plan in enumerate(plans):
        for d, key in enumerate(keys.tolist()):
            game = complete(view, key)
            for action in plan:
                game = game.step(action) if game.outcome is None else game
            while game.outcome is None:
                game = game.step(player.act(View.of(game, view.table)))
            assert game.cards_left == left[m, d]


def test_close_is_three_standard_errors_of_the_paired_difference():
    best = np.array([10, 20, 30, 40])
    assert is_close(best + np.array([0, 2, 0, 2]), best)  # mean 1, standard error 0.58
    assert not is_close(best + np.array([3, 3, 3, 4]), best)  # mean 3.25, standard error 0.25
    assert is_close(best, best)
    assert CLOSE == 3.0


# --- what it says beside the plans ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "plans", "note"),
    [
        (STUCK, 0, "Stuck: no card of your hand can be laid, and 2 more must be."),
        (MET, 1, "Minimum met: end your turn."),
        (LOST, 1, "The minimum cannot be met (2 more): the game is lost."),
        ("up=98,95 down=3,4 hand=99 others=1 deck=0", 2, ""),
        ("up=99,95 down=3,4 hand=97 others=1 deck=0", 1, "This is the only legal plan."),
        ("up=40,60 down=50,30 hand= deck=0", 0, "The game is won"),
        (STUCK + " rules=small-hands", 1, "you pass"),
    ],
)
def test_the_note_begins_with_what_matters_most(text, plans, note):
    answer = instant(text)
    assert len(answer.plans) == plans
    assert note in answer.note[:60]


def test_no_move_is_invented_where_no_card_is_legal():
    assert instant(MET).plans[0].plays == ()
    assert instant(MET).plans[0].ends_turn


def test_a_lost_position_lays_what_it_can():
    (plan,) = instant(LOST).plans
    assert plan.plays == ((96, 1),)
    assert (plan.ends_turn, plan.cards_left, plan.cards_left_se, plan.win) == (False, 33, 0, 0)


def test_winning_plans_are_certain():
    best = instant(LAST).plans[0]
    assert (best.cards_left, best.win, best.win_se, best.ends_turn) == (0, 1, 0, False)
    assert best.reason == "lays the last cards"


def test_played_cards_are_unknown_only_without_seen():
    start = "hand=12,34,45,67,88,90 others=6,6"
    remembered = MIDDLE.replace("deck=20", "deck=75 seen=5")
    assert "treated as unknown" in instant(MIDDLE).note
    assert "treated as unknown" not in instant(start).note
    assert "treated as unknown" not in instant(remembered).note


def test_the_figures_are_explained():
    note = instant(MIDDLE).note
    assert "200 dealings" in note
    assert "greedy:extra=4" in note


# --- reasons -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plays", "reason"),
    [
        (((30, 1), (44, 1), (54, 1)), "uses the trick (30 on up2)"),
        (((44, 1), (54, 1)), "must play: minimum of 2"),
        (((67, 2), (88, 1)), "must play: minimum of 2"),
        (((44, 1), (67, 2), (54, 2)), "moves the piles by 27"),
    ],
)
def test_reasons_are_facts_of_the_position(plays, reason):
    assert reason_for(parse_position(MIDDLE), plays).startswith(reason)


def test_a_kept_pair_is_named():
    view = parse_position("up=23,20 down=77,60 hand=44,54,25,24 others=6,6 deck=20")
    assert reason_for(view, ((24, 0), (25, 0))) == "small steps; keeps the pair 54/44 together"
    assert "pair" not in reason_for(view, ((24, 0), (44, 0)))


def test_gaps_by_hand():
    view = parse_position(MIDDLE)
    assert gaps_of(view, ((30, 1), (44, 1), (67, 2), (54, 2))) == [-10, 14, 10, 13]


# --- the command ---------------------------------------------------------------------------------


def test_text_fits_into_80_columns(capsys):
    assert run(["hint", MIDDLE, "--strength", "instant"]) == 0
    out = capsys.readouterr().out
    assert "cards left" in out
    assert "uses the trick" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["hand=12,12"], "card 12 stands there twice"),
        (["up=1,2,3 hand=12"], "up must be two tops"),
        (["down=50,60"], "the hand is missing"),
        (["hand=12,34", "--strength", "brilliant"], 'unknown strength "brilliant"'),
        (["hand=12,34", "--top", "0"], "top"),
        (["hand=12,34", "--seed", "-1"], "seed"),
        ([], "position"),
    ],
)
def test_bad_input_is_one_sentence(capsys, arguments, sentence):
    assert run(["hint", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1
