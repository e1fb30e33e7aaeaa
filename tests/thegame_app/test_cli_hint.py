"""`thegame hint` and the API behind it: ranking, notes, reasons, stages, bad input."""

import json

import numpy as np
import pytest

from thegame_app.cli import run
from thegame_app.grading import CLOSE, STRENGTHS, Standing, race, standard_error, turn_plans
from thegame_app.hint_text import stages
from thegame_app.hints import hint, refine
from thegame_app.language import Refusal, language
from thegame_app.playouts import Playouts
from thegame_app.reasons import gaps_of, reason_for
from thegame_env.engine import read_game
from thegame_env.notation import format_position, parse_position
from thegame_env.reference import Game
from thegame_env.rules import PILES, Rules, Table
from thegame_env.unseen import complete
from thegame_env.view import View

ENGLISH = language("en")
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
    assert list(document) == ["position", "strength", "plans", "note", "partners", "deals", "agent"]
    assert document["position"] == format_position(parse_position(MIDDLE))
    assert document["strength"] == "instant"
    assert document["partners"] == "casual"
    assert len(document["plans"]) == 3
    for plan in document["plans"]:
        assert list(plan) == [
            "plays", "ends_turn", "cards_left", "cards_left_se", "win", "win_se", "close", "reason",
            "difference", "difference_se",
        ]  # fmt: skip
        assert all(play["pile"] in PILES for play in plan["plays"])
        assert 0 <= plan["win"] <= 1
        assert plan["reason"]


@pytest.mark.parametrize("partners", ["casual", "expert"])
def test_plans_are_ranked_by_cards_left(partners):
    plans = instant(MIDDLE, top=50, partners=partners).plans
    assert STRENGTHS["instant"].finalists < len(plans) <= STRENGTHS["instant"].plans
    figures = [plan.cards_left for plan in plans]
    assert figures == sorted(figures)
    assert not plans[0].close
    differences = [plan.cards_left - plans[0].cards_left for plan in plans]
    assert [plan.difference for plan in plans] == pytest.approx(differences)


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


@pytest.mark.parametrize("text", [MIDDLE, MIDDLE + " talk=open:0120,1000"])
def test_dealing_number_d_does_not_depend_on_the_count(text):
    view = parse_position(text)
    plans, _ = turn_plans(view, 3)
    first = Playouts(view, "expert", 7).cards_left(plans, 0, 5)
    more = Playouts(view, "expert", 7).cards_left(plans, 3, 300)
    np.testing.assert_array_equal(first[:, 3:], more[:, :2])


ENDS_EARLY = "up=90,95 down=10,5 hand=96,50 others=6 deck=20 rules=small-hands"
"""A plan lays 96 and passes, but where nobody holds a legal card the game is over before that."""


@pytest.mark.parametrize("text", ["hand=12,34,45,67,88,90 others=6,6", ENDS_EARLY])
def test_playouts_agree_with_the_reference_game(text):
    """With nothing left to plan for the own seat: all others are greedy."""
    from agents.registry import make_agent

    view = parse_position(text)
    plans, _ = turn_plans(view, 2)
    judge = Playouts(view, "casual", 3)
    judge._extras[0] = 4
    left = judge.cards_left(plans, 0, 30)
    games, decks = judge.dealings(30)
    player = make_agent(judge.partners, view.table)
    for m, plan in enumerate(plans):
        for d in range(30):
            game = read_game(view.table, games[d], decks[d]).settled()
            for action in plan:
                game = game.step(action) if game.outcome is None else game
            while game.outcome is None:
                game = game.step(player.act(View.of(game, view.table)))
            assert game.cards_left == left[m, d]


def test_close_is_three_standard_errors_of_the_paired_difference():
    best = np.array([10.0, 20, 30, 40])
    near = best + np.array([0, 2, 0, 2])  # mean 1, standard error 0.58
    far = best + np.array([3, 3, 3, 4])  # mean 3.25, standard error 0.25
    standing = Standing(((), (), ()), np.array([best, near, far]), np.zeros((3, 4)))
    assert [standing.is_close(plan) for plan in range(3)] == [False, True, False]
    assert standing.lost(2) == pytest.approx((3.25, 0.25))
    assert CLOSE == 3.0


class Told:
    """A judge with settled opinions: plan i leaves i cards, and alternately one more or less."""

    own = partners = "told"

    def __init__(self):
        self.asked = []

    def judge(self, plans, start, stop):
        self.asked.append((len(plans), start, stop))
        noise = np.where(np.arange(start, stop) % 2, 1.0, -1.0)
        left = np.array([plan[0] + noise for plan in plans])
        return left, np.zeros_like(left)


def test_the_race_halves_the_plans_and_doubles_the_dealings():
    judge, strength = Told(), STRENGTHS["instant"]
    plans = [(i,) for i in (7, 3, 9, 1, 5, 2, 8, 4, 6, 0, 10, 12, 11, 13)]
    standings = list(race(judge, plans, strength, deals=70))
    assert judge.asked == [(14, 0, 12), (7, 12, 24), (6, 24, 48), (6, 48, 70)]
    assert [standing.deals for standing in standings] == [12, 24, 48, 70]
    assert standings[-1].plans == tuple((i,) for i in range(6))
    assert standings[-1].left.shape == (6, 70)


def test_a_plan_can_be_kept_in_the_race():
    plans = [(i,) for i in range(14)]
    *_, last = race(Told(), plans, STRENGTHS["instant"], 70, always=(13,))
    assert last.plans[-1] == (13,)


def test_standard_error_by_hand():
    assert standard_error(np.array([1.0, 3.0])) == pytest.approx(1)
    assert standard_error(np.array([1.0])) == 0


def test_refining_ends_with_the_hint_and_grows():
    view = parse_position(MIDDLE)
    answers = list(refine(view, "normal"))
    assert answers[-1] == hint(view, "normal")
    deals = [answer.deals for answer in answers]
    assert deals[0] == STRENGTHS["normal"].first
    assert deals == sorted(set(deals))
    assert all(len(answer.plans) == 5 for answer in answers)


def test_with_little_left_there_are_more_dealings():
    late, early = parse_position(LAST), parse_position("hand=12,34,45,67,88,90,5,97")
    strength = STRENGTHS["normal"]
    assert strength.deals_at(early) == strength.deals
    assert strength.deals_at(late) == 4 * strength.deals


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


def test_a_plan_that_nobody_would_play_is_still_a_choice():
    """Beyond the minimum only gaps within reach are judged, but 60 may be laid on 19."""
    answer = instant("up=19,99 down=2,3 hand=60 played=2 deck=10 others=1")
    assert len(answer.plans) == 1
    assert "only legal plan" not in answer.note


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


@pytest.mark.parametrize(
    ("partners", "sentence"),
    [("casual", "play casually, the nearest card first (greedy"), ("expert", "as well as you do")],
)
def test_the_figures_are_explained(partners, sentence):
    answer = instant(MIDDLE, partners=partners)
    assert f"{answer.deals} dealings" in answer.note
    assert sentence in answer.note
    assert answer.partners == partners


def test_alone_there_are_no_partners():
    answer = instant("hand=12,34,45,67,88,90,5,97")
    assert "artners" not in answer.note
    assert answer.document()["partners"] is None


def test_partners_matter():
    assert instant(MIDDLE, partners="casual") != instant(MIDDLE, partners="expert")


def test_talk_changes_the_dealings_and_is_said():
    asked = instant(MIDDLE + " talk=open:2000,0000")
    assert "agree with what the others say" in asked.note
    assert asked.plans[0].cards_left != instant(MIDDLE).plans[0].cards_left


def test_an_unknown_top_is_named_and_left_alone():
    answer = hint(parse_position(MIDDLE), "instant", unknown_tops=[1])
    assert "The top of up2 is not known" in answer.note
    assert all(pile != 1 for plan in answer.plans for _, pile in plan.plays)
    assert any(pile == 1 for _, pile in instant(MIDDLE).plans[0].plays)


def test_an_unknown_top_is_used_where_nothing_else_fits():
    answer = hint(parse_position("up=23,99 down=2,3 hand=40 deck=0"), "instant", unknown_tops=[0])
    assert answer.plans[0].plays == ((40, 0),)


def test_another_seats_turn_is_refused():
    table = Table(players=2)
    view = View.of(Game.start(table, table.rules.deck), table, 1)
    with pytest.raises(Refusal, match="another player's turn"):
        hint(view)


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
    assert reason_for(parse_position(MIDDLE), plays, ENGLISH).startswith(reason)


@pytest.mark.parametrize(
    ("position", "plays", "goes_on"),
    [
        ("up=2,5 down=99,98", ((23, 0), (60, 2), (41, 1), (42, 1)), False),
        ("up=2,5 down=99,98", ((40, 0), (60, 2), (41, 0), (42, 0)), True),
        ("up=2,5 down=99,98 played=2", ((40, 1), (42, 1)), False),
    ],
)
def test_going_on_while_gaps_are_small_is_said_of_every_play_beyond_the_minimum(
    position, plays, goes_on
):
    view = parse_position(f"{position} hand=23,40,41,42,60 others=7 deck=20")
    assert ("goes on" in reason_for(view, plays, ENGLISH)) is goes_on


def test_a_kept_pair_is_named():
    view = parse_position("up=23,20 down=77,60 hand=44,54,25,24 others=6,6 deck=20")
    assert (
        reason_for(view, ((24, 0), (25, 0)), ENGLISH)
        == "small steps; keeps the pair 54/44 together"
    )
    assert "pair" not in reason_for(view, ((24, 0), (44, 0)), ENGLISH)


@pytest.mark.parametrize(
    ("plays", "fact"),
    [
        (((30, 1), (44, 3)), "spares down1, a partner asked for it"),
        (((67, 2), (54, 2)), "closes the gap on down1 although a partner asked for it"),
    ],
)
def test_what_partners_ask_for_is_a_reason(plays, fact):
    view = parse_position(MIDDLE + " talk=avoid:0010,0000")
    assert fact in reason_for(view, plays, ENGLISH)


def test_a_trick_at_stake_is_named_before_a_step():
    view = parse_position(MIDDLE + " talk=open:1000,0020")
    assert "spares down1" in reason_for(view, ((30, 1), (44, 3)), ENGLISH)


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


@pytest.mark.parametrize("code", ["en", "de", "pl"])
def test_every_language_fits_into_80_columns(capsys, code):
    arguments = [MIDDLE + " talk=open:2000,0000", "--strength", "instant", "--lang", code]
    assert run(["hint", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].startswith(" 1  ")


def test_stages_reveal_the_pile_then_the_card_then_all(capsys):
    assert run(["hint", MIDDLE, "--strength", "instant", "--staged", "--lang", "en"]) == 0
    out = capsys.readouterr().out
    pile, card, everything = out.split("\n\n")
    assert pile == "The pile\nLook at up2 first."
    assert card.startswith("The card\nLay ")
    assert card.endswith(" on up2 first.")
    assert "cards left" in everything


def test_there_is_one_stage_where_nothing_is_laid():
    assert len(stages(instant(MET), ENGLISH)) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["hand=12,12"], "card 12 stands there twice"),
        (["up=1,2,3 hand=12"], "up must be two tops"),
        (["down=50,60"], "the hand is missing"),
        (["hand=12,34", "--strength", "brilliant"], 'unknown strength "brilliant"'),
        (["hand=12,34", "--partners", "rude"], 'unknown partners "rude"'),
        (["hand=12,34", "--lang", "fr"], 'unknown language "fr"'),
        (["hand=12,34", "--staged", "--json"], "either --staged or --json"),
        (["hand=12,34 others=6 talk=open:2000"], "nobody else can hold the trick on up1"),
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
