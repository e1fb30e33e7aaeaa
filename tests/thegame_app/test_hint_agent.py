"""`thegame hint --agent`: what an agent would play, judged beside the plans of the hint."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from agents.base import Agent
from agents.registry import make_agent
from thegame_app.cli import run
from thegame_app.grading import STRENGTHS, afterstate, turn_plans
from thegame_app.hint_agent import Player, player_for, turn_of
from thegame_app.hint_text import agent_text
from thegame_app.hints import hint
from thegame_app.language import LANGUAGES, Refusal, language
from thegame_app.playouts import Playouts
from thegame_env.notation import parse_position
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table
from thegame_env.view import View

ENGLISH = language("en")
START = "up=14,23 down=90,77 seen=2,5,96,99 hand=12,13,30,67,80,88 others=6,6,6,6"
FORGOTTEN = "up=23,40 down=77,60 hand=12,30,44,54,67,88 others=6,6,6,6 deck=38"
LOST = "up=90,95 down=10,5 hand=96,50 others=6,6 deck=20"
ENDS_EARLY = "up=90,95 down=10,5 hand=96,50 others=6 deck=20 rules=small-hands"
PLUGIN = """
from agents.registry import make_agent

def loud(table):
    print("here I am")
    return make_agent("greedy", table)
"""


class Told(Agent):
    """Takes settled actions, one after another."""

    name = "told"

    def __init__(self, *actions):
        self.actions = list(actions)

    def act_rows(self, rows, p, streams):
        return np.array([self.actions.pop(0)])


def told(view, *plays):
    """A player that lays these cards and then ends its turn."""
    rules = view.rules
    return Player("told", Told(*(rules.action(*play) for play in plays), rules.end_turn))


def asked(text, player, **options):
    return hint(parse_position(text), "instant", player=player, **options)


def by_name(name, text=START, **options):
    return asked(text, player_for(name, parse_position(text).table), **options)


# --- where the plan stands -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["greedy", "sequence", "ppo", "afterstate"])
def test_an_agent_plays_card_after_card_from_the_seats_view(name):
    view = parse_position(START)
    answer = by_name(name, seed=4)
    actions = make_agent(name, view.table).plan(view, 4)
    plays = tuple(play for play in map(view.rules.decode, actions) if play is not None)
    assert answer.agent.plan.plays == plays
    assert answer.agent.plan.ends_turn is (actions[-1] == view.rules.end_turn)


def test_the_rest_of_a_turn_is_told_in_its_middle():
    answer = by_name("greedy", START.replace("hand=12,13,30,67,80,88", "hand=12,30,67,80 played=2"))
    assert answer.agent.plan.ends_turn
    assert answer.agent.rank


def test_the_same_plan_in_another_order_has_its_rank_and_figures():
    best = asked(START, None).plans[0]
    player = told(parse_position(START), *best.plays[::-1])
    own = asked(START, player).agent
    assert own.rank == 1
    assert own.plan.plays == best.plays[::-1]
    assert (own.plan.cards_left, own.plan.win) == (best.cards_left, best.win)


def test_every_listed_plan_has_the_rank_that_the_list_gives_it():
    view, listed = parse_position(START), asked(START, None, top=5).plans
    for rank, plan in enumerate(listed, start=1):
        answer = asked(START, told(view, *plan.plays), top=5)
        assert answer.agent.rank == rank
        assert answer.plans == listed
        assert answer.agent.plan.difference == plan.difference


def test_a_plan_that_the_hint_would_not_look_at_is_judged_on_the_same_dealings():
    view = parse_position(START)
    plays = (80, 0), (88, 0)
    answer = asked(START, told(view, *plays), top=2)
    actions = (*(view.rules.action(*play) for play in plays), view.rules.end_turn)
    plans, _ = turn_plans(view, STRENGTHS["instant"].plans)
    assert afterstate(view, actions) not in [afterstate(view, plan) for plan in plans]
    best = [view.rules.action(*play) for play in answer.plans[0].plays] + [view.rules.end_turn]
    left = Playouts(view, "casual", 0).cards_left([actions, best], 0, answer.deals)
    assert answer.agent.rank is None
    assert len(answer.plans) == 3
    assert answer.plans[-1] == answer.agent.plan
    assert answer.agent.plan.plays == plays
    assert answer.agent.plan.cards_left == pytest.approx(left[0].mean())
    assert answer.agent.plan.difference == pytest.approx((left[0] - left[1]).mean())


def test_without_an_agent_nothing_is_told():
    answer = asked(START, None)
    assert answer.agent is None
    assert answer.document()["agent"] is None
    assert agent_text(answer, ENGLISH) == ""


def test_where_the_game_is_over_nobody_plays():
    answer = by_name("greedy", LOST.replace("96", "51"))
    assert (answer.plans, answer.agent) == ((), None)


def test_a_lost_turn_is_played_as_far_as_it_goes():
    answer = by_name("greedy", LOST)
    assert answer.agent.plan.plays == ((96, 1),)
    assert (answer.agent.rank, answer.agent.plan.ends_turn) == (1, False)


@pytest.mark.parametrize("seed", range(3))
def test_a_pass_belongs_to_the_plan_although_the_game_may_be_over_before(seed):
    view = parse_position(ENDS_EARLY)
    actions = turn_of(player_for("greedy", view.table), view, seed)
    assert actions == (view.rules.action(96, 1), view.rules.end_turn)


def test_permuting_unseen_cards_changes_nothing():
    table = Table(players=3)
    game = Game.start(table, table.rules.deck)
    unseen = [*sorted(game.hands[1] | game.hands[2]), *game.deck]
    player = player_for("ppo", table)
    answers = []
    for seed in range(3):
        mixed = [int(card) for card in np.random.default_rng(seed).permutation(unseen)]
        other = Game.start(table, [*sorted(game.hands[0]), *mixed])
        answers.append(hint(View.of(other, table), "instant", player=player))
    assert answers[0] == answers[1] == answers[2]


# --- agents that cannot be asked -----------------------------------------------------------------


class Fails(Agent):
    name = "fails"

    def act_rows(self, rows, p, streams):
        raise KeyError("no idea")


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        (Told(Rules().action(88, 2), Rules().end_turn), "plays illegally here: END_TURN: 1 of 2"),
        (Told(Rules().action(12, 0)), "plays illegally here: card 12 cannot lie on up1"),
        (Told(Rules().action(99, 0)), "card 99 is not in the hand of player 1"),
        (Told(100_000), "plays illegally here: action 100000 does not exist"),
        (Fails(), "The agent mine failed: 'no idea'"),
    ],
)
def test_an_agent_that_does_not_play_by_the_rules_is_refused(agent, sentence):
    with pytest.raises(Refusal, match=re.escape(sentence)):
        asked(START, Player("mine", agent))


@pytest.mark.parametrize(
    ("position", "agent", "sentence"),
    [
        (START, "gredy", 'unknown agent "gredy", did you mean "greedy"?'),
        (START, "greedy:extra=lots", "extra must be a whole number"),
        (START, "nowhere:Agent", 'nor can a module "nowhere" be imported'),
        (START, "ppo:nowhere/policy", "no weights at nowhere/policy.safetensors"),
        (START, "ppo:ppo_3p", "was trained for official, 3 players"),
        (FORGOTTEN, "ppo:ppo_5p", "remembers what was played: add seen=..., the cards played"),
        (START, "model.zip", "--allow-pickle"),
    ],
)
@pytest.mark.parametrize("json_", [False, True])
def test_an_agent_that_cannot_be_had_is_one_sentence(capsys, position, agent, sentence, json_):
    arguments = ["hint", position, "--agent", agent, "--lang", "en", *["--json"] * json_]
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1


# --- what is printed -----------------------------------------------------------------------------


def test_json_tells_the_agents_plan(capsys):
    arguments = ["hint", START, "--agent", "ppo", "--strength", "instant", "--json"]
    assert run(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    own = document["agent"]
    assert (own["agent"], own["rank"]) == ("ppo", 1)
    assert set(own["plan"]) == set(document["plans"][0])
    assert own["plan"]["cards_left"] == document["plans"][0]["cards_left"]


def test_what_a_plug_in_prints_is_no_part_of_the_answer(capsys, tmp_path, monkeypatch):
    (tmp_path / "loud_agents.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ["hint", START, "--agent", "loud_agents:loud", "--strength", "instant", "--json"]
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["agent"]["agent"] == "loud_agents:loud"
    assert "here I am" in err


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_text_fits_into_80_columns_and_marks_the_plan_below_the_others(capsys, code):
    arguments = ["--agent", "random", "--strength", "instant", "--top", "2", "--lang", code]
    assert run(["hint", START, *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(" - ") for line in lines) == 1
    assert any(line.startswith("random ") for line in lines)


@pytest.mark.parametrize(
    ("rank", "close", "sentence"),
    [
        (1, False, "told would play {plays}: the best plan."),
        (2, True, "plan 2, too close to the best to call ("),
        (2, False, "plan 2, 1.50 ± 0.25 cards worse than the best."),
        (None, True, "below the ranked plans, too close to the best to call (1.50"),
        (None, False, "below the ranked plans, 1.50 ± 0.25 cards worse than the best."),
    ],
)
def test_one_sentence_says_where_the_plan_stands(rank, close, sentence):
    answer = asked(START, told(parse_position(START), (13, 1), (88, 2)))
    plan = replace(answer.agent.plan, close=close, difference=1.5, difference_se=0.25)
    answer = replace(answer, agent=replace(answer.agent, rank=rank, plan=plan))
    said = {code: agent_text(answer, language(code)) for code in LANGUAGES}
    plays = "13\N{NO-BREAK SPACE}up2, 88\N{NO-BREAK SPACE}down1, end"
    assert sentence.format(plays=plays) in said["en"]
    assert len(set(said.values())) == 3
