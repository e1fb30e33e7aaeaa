"""`thegame review`: grades, luck apart from decisions, what it may know, the command."""

import json

import numpy as np
import pytest

from agents.registry import make_agent
from thegame_app.cli import run
from thegame_app.grading import STRENGTHS, Strength
from thegame_app.language import LANGUAGES, language
from thegame_app.replay_command import turns_of
from thegame_app.review import COSTLY, curve, grade_of, review
from thegame_app.review_text import review_text, sparkline
from thegame_env.deal import deal
from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Table
from thegame_env.view import View

SHORT = Table(PRESETS["small-hands"], 3)


@pytest.fixture(autouse=True)
def _little_work(monkeypatch):
    """Enough dealings to see a blunder, and quick."""
    monkeypatch.setitem(STRENGTHS, "instant", Strength(plans=8, first=12, finalists=2, deals=24))


def opening_blunder(table, deck):
    """The highest card on an ascending pile and the lowest on a descending one."""
    game, rules = Game.start(table, deck), table.rules
    hand = sorted(game.hands[game.seat])
    return [rules.action(hand[-1], 0), rules.action(hand[0], 2), rules.end_turn]


def played(table, agent="greedy", first=(), index=0):
    """A whole game of one deal, its first actions given."""
    player, deck = make_agent(agent, table), deal(table.rules, 5, index)
    game, actions = Game.start(table, deck), []
    while game.outcome is None:
        at = len(actions)
        action = first[at] if at < len(first) else player.act(View.of(game, table))
        game = game.step(action)
        actions.append(action)
    return GameRecord(table, deck, tuple(actions), 5, index)


@pytest.mark.parametrize("players", [1, 2, 4])
def test_a_known_blunder_is_bad_and_costs_most(players):
    table = Table(players=players)
    blunder = opening_blunder(table, deal(table.rules, 5, 0))
    result = review(played(table, "sequence", blunder), "instant")
    first = result.turns[0]
    assert first.grade == "bad"
    assert first.lost_cards > 3
    assert result.costly[0] is first
    assert len(result.costly) <= COSTLY


def test_what_the_best_player_plays_is_never_bad():
    result = review(played(Table(players=2), "afterstate"), "instant")
    assert result.counts["bad"] <= 1
    assert result.counts["best"] > len(result.turns) / 2


@pytest.mark.parametrize(
    ("lost", "best", "grade"),
    [
        ((0.0, 0.0, 0.0, 0.0), True, "best"),
        ((0.3, 0.2, 0.0, 0.01), False, "best"),
        ((0.3, 0.05, 0.0, 0.01), False, "fine"),
        ((0.04, 0.001, 0.004, 0.0001), False, "best"),
        ((0.04, 0.001, 0.006, 0.0001), False, "fine"),
        ((0.6, 0.3, 0.0, 0.01), False, "fine"),
        ((0.6, 0.1, 0.0, 0.01), False, "inaccurate"),
        ((0.0, 0.1, 0.05, 0.01), False, "inaccurate"),
        ((1.6, 0.1, 0.0, 0.01), False, "bad"),
        ((0.1, 0.1, 0.2, 0.01), False, "bad"),
        ((0.1, 0.1, 0.2, 0.1), False, "fine"),
    ],
)
def test_grades_by_hand(lost, best, grade):
    assert grade_of(*lost, best) == grade


@pytest.mark.parametrize("seat", [None, 1])
def test_expectation_decisions_and_luck_add_up_to_the_result(seat):
    result = review(played(SHORT), "instant", seat=seat)
    total = result.turns[0].cards_best + result.lost_cards - result.luck_cards
    assert total == pytest.approx(result.cards_left)
    wins = result.turns[0].win_best + sum(t.luck_win - t.lost_win for t in result.turns)
    assert wins == pytest.approx(float(result.cards_left == 0), abs=1e-9)


def test_every_turn_is_judged_as_it_was_played():
    record = played(SHORT)
    replayed = turns_of(record)
    result = review(record, "instant")
    assert [turn.number for turn in result.turns] == list(range(1, len(result.turns) + 1))
    assert len(replayed) - len(result.turns) in (0, 1)  # in a last turn nothing may be possible
    for turn in result.turns:
        other = replayed[turn.number - 1]
        assert (turn.seat, sorted(turn.view.hand)) == (other.seat, other.hand)
        plays = [play for play in map(SHORT.rules.decode, turn.played) if play]
        assert [card for card, _ in plays] == [play.card for play in other.plays]


def test_one_seat_can_be_reviewed():
    result = review(played(SHORT), "instant", seat=2)
    assert {turn.seat for turn in result.turns} == {2}


@pytest.mark.parametrize(("seat", "told"), [(1, True), (None, False)])
def test_what_luck_holds_is_told_where_one_seat_is_reviewed(seat, told):
    text = review_text(review(played(Table(players=2)), "instant", seat=seat), language("en"))
    assert ("other players count as luck" in text) is told


def test_a_turn_is_judged_from_its_own_view_only():
    table = Table(players=3)
    deck = deal(table.rules, 5, 0)
    hidden = np.random.default_rng(1).permutation(deck[6:])
    other = (*deck[:6], *(int(card) for card in hidden))
    actions = opening_blunder(table, deck)
    turns = []
    for cards in (deck, other):
        result = review(GameRecord(table, cards, tuple(actions)), "instant")
        assert result.ended == "unfinished"
        turns.append(result.turns[0].document())
    assert turns[0] == turns[1]


def test_the_same_afterstate_is_the_same_plan():
    """Two cards on two piles in either order: neither order loses anything against the other."""
    table = Table(players=2)
    deck = deal(table.rules, 5, 3)
    best = review(GameRecord(table, deck, tuple(opening_blunder(table, deck))), "instant")
    low, high, *rest = best.turns[0].best
    if table.rules.decode(low)[1] == table.rules.decode(high)[1]:
        low, high, *rest = (*opening_blunder(table, deck)[:2], table.rules.end_turn)
    turns = [
        review(GameRecord(table, deck, (*pair, *rest)), "instant").turns[0]
        for pair in ((low, high), (high, low))
    ]
    assert turns[0].cards_played == turns[1].cards_played


def test_the_curve_ends_with_the_result():
    result = review(played(SHORT), "instant")
    numbers, cards, win = curve(result)
    assert len(numbers) == len(cards) == len(win) == len(result.turns) + 1
    assert cards[-1] == result.cards_left
    assert win[-1] == (result.cards_left == 0)


def test_sparkline_by_hand():
    assert sparkline([0, 4, 8]) == "▁▅█"
    assert sparkline([0, 0]) == "▁▁"


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_text_fits_into_80_columns(code):
    text = review_text(review(played(Table(players=2)), "instant"), language(code))
    assert max(map(len, text.splitlines())) <= 80
    assert "{" not in text


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def record_file(tmp_path):
    path = tmp_path / "game.txt"
    path.write_text(f"{played(SHORT)}\n")
    return path


def test_command_prints_turns_curve_and_balance(record_file, capsys):
    assert run(["review", str(record_file), "--strength", "instant", "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("turn  player  grade")
    assert "by luck." in " ".join(out.split())
    assert "Grades: best" in out


def test_command_prints_json(record_file, capsys):
    assert run(["review", str(record_file), "--strength", "instant", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert GameRecord.parse(document["record"]) == played(SHORT)
    assert {"grade", "lost_cards", "lost_win", "luck_cards", "position", "played", "best"} <= set(
        document["turns"][0]
    )
    assert sum(document["grades"].values()) == len(document["turns"])


@pytest.mark.parametrize(("name", "begins"), [("curve.svg", b"<?xml"), ("curve.png", b"\x89PNG")])
def test_command_draws_the_curve(record_file, tmp_path, name, begins, capsys):
    out = tmp_path / name
    arguments = [str(record_file), "--strength", "instant", "--player", "1", "--out", str(out)]
    drawn = set()
    for _ in range(2):
        assert run(["review", *arguments]) == 0
        drawn.add(out.read_bytes())
    (picture,) = drawn
    assert picture.startswith(begins)
    assert name in capsys.readouterr().err


def test_a_game_of_a_run_can_be_reviewed(tmp_path, capsys):
    folder = tmp_path / "run"
    arguments = ["--agents", "greedy", "--players", "2", "--games", "2", "--out", str(folder)]
    assert run(["eval", *arguments]) == 0
    capsys.readouterr()
    arguments = [str(folder), "--game", "1", "--player", "1", "--strength", "instant", "--json"]
    assert run(["review", *arguments]) == 0
    assert GameRecord.parse(json.loads(capsys.readouterr().out)["record"]).game == 1


def test_the_only_game_of_a_run_needs_no_number(tmp_path, capsys):
    for games in (1, 2):
        folder = tmp_path / f"run{games}"
        arguments = ["--agents", "greedy", "--players", "2", "--games", str(games)]
        assert run(["eval", *arguments, "--out", str(folder)]) == 0
    capsys.readouterr()
    one, two = str(tmp_path / "run1"), str(tmp_path / "run2")
    assert run(["review", one, "--player", "2", "--strength", "instant", "--json"]) == 0
    assert {turn["seat"] for turn in json.loads(capsys.readouterr().out)["turns"]} == {1}
    assert run(["replay", one, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["number"] == 0
    for command in ("review", "replay"):
        assert run([command, two]) == 2
        assert "holds 2 games: say which with --game" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.txt"], "nowhere.txt"),
        (["deck=2,3"], "deck"),
        (["players=2 deck=2"], "deck"),
        (["FILE", "--game", "3"], "--game goes with a run's directory"),
        (["FOLDER"], "not a run"),
        (["FOLDER", "--game", "0"], "not a run"),
        (["FILE", "--player", "7"], "there is no player 7, players are 1-3"),
        (["FILE", "--strength", "weak"], 'unknown strength "weak"'),
        (["FILE", "--partners", "rude"], 'unknown partners "rude"'),
        (["FILE", "--lang", "xx"], 'unknown language "xx"'),
        (["FILE", "--out", "curve.gif"], "must end in one of .svg, .png"),
    ],
)
def test_bad_input_is_one_sentence(record_file, tmp_path, capsys, arguments, sentence):
    places = {"FILE": str(record_file), "FOLDER": str(tmp_path)}
    assert run(["review", *(places.get(word, word) for word in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_a_game_without_a_turn_has_nothing_to_review():
    table = Table(players=2)
    with pytest.raises(ValueError, match="nothing to review"):
        review(GameRecord(table, deal(table.rules, 5, 0)))
