"""Hints know the view and nothing else; any position text gets an answer or one sentence."""

import json

import numpy as np
import pytest

from agents.registry import make_agent
from thegame_app.cli import run
from thegame_app.grading import STRENGTHS, Strength
from thegame_app.hints import hint
from thegame_env.deal import deal
from thegame_env.notation import POSITION_KEYS, format_position, parse_position
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Table
from thegame_env.view import View, speak

TABLES = [
    Table(),
    Table(players=2),
    Table(players=3, memory=False),
    Table(players=4, talk="avoid"),
    Table(players=5, talk="open"),
    Table(PRESETS["profi"], 3),
    Table(PRESETS["small-hands"], 2),
]
QUICK, LONG = 50, 1000
TRIES = 30
"""Deals tried for one in which the others say the same."""
TEXTS, MANY_TEXTS = 1500, 100_000


def positions(count):
    """(game, table) of running greedy games, spread over tables and phases."""
    found = []
    for number in range(count):
        table = TABLES[number % len(TABLES)]
        greedy = make_agent("greedy:extra=2", table)
        game, wanted = Game.start(table, deal(table.rules, 11, number)), 1 + number * 7 % 60
        for _ in range(wanted):
            after = game.step(greedy.act(View.of(game, table)))
            if after.outcome is not None:
                break
            game = after
        found.append((game, table))
    return found


def permuted(game, table, rng):
    """The game with the unseen cards dealt anew, so that the others still say the same."""
    seats = [seat for seat in range(table.players) if seat != game.seat]
    cards = [card for seat in seats for card in sorted(game.hands[seat])] + list(game.deck)
    said = [speak(game, seat, table.talk) for seat in seats]
    for _ in range(TRIES):
        rest = [int(card) for card in rng.permutation(cards)]
        hands = list(game.hands)
        for seat in seats:
            size = len(game.hands[seat])
            hands[seat], rest = frozenset(rest[:size]), rest[size:]
        other = Game(
            game.rules, game.tops, tuple(hands), tuple(rest), game.seat, game.plays, game.owed,
            game.starter, game.outcome,
        )  # fmt: skip
        if [speak(other, seat, table.talk) for seat in seats] == said:
            return other
    return game


def check_leaks(count):
    rng = np.random.default_rng(5)
    changed = 0
    for number, (game, table) in enumerate(positions(count)):
        other = permuted(game, table, rng)
        changed += (other.hands, other.deck) != (game.hands, game.deck)
        partners = ("casual", "expert")[number % 2]
        documents = [
            json.dumps(hint(View.of(g, table), "instant", seed=3, partners=partners).document())
            for g in (game, other)
        ]
        assert documents[0] == documents[1], format_position(View.of(game, table))
    assert changed > 0.6 * count


@pytest.fixture
def _little_work(monkeypatch):
    monkeypatch.setitem(STRENGTHS, "instant", Strength(plans=6, first=2, finalists=2, deals=4))


@pytest.mark.usefixtures("_little_work")
def test_permuting_unseen_cards_changes_no_byte():
    check_leaks(QUICK)


@pytest.mark.long
def test_permuting_unseen_cards_changes_no_byte_of_many():
    check_leaks(LONG)


# --- any text ------------------------------------------------------------------------------------


def random_number(rng):
    choices = ("2", "99", "100", "1", "0", "7", "-3", "x", "", "1.5", "999999999999")
    return str(rng.integers(0, 101)) if rng.random() < 0.8 else str(rng.choice(choices))


def random_text(rng):
    """A position text: half of them nearly right, the others wild."""
    tokens = []
    for key in POSITION_KEYS:
        if rng.random() < (0.1 if key == "hand" else 0.5):
            continue
        count = {"up": 2, "down": 2, "deck": 1, "played": 1}.get(key, int(rng.integers(0, 9)))
        value = ",".join(random_number(rng) for _ in range(count))
        if key == "rules":
            value = str(rng.choice([*PRESETS, "custom/cards:9", "custom/trick:0", "nonsense"]))
        elif key == "talk":
            value = str(rng.choice(["none", "open:0120", "avoid:0101,0000", "open:2222!", "x:0"]))
        elif key == "others":
            value = ",".join(str(rng.integers(0, 8)) for _ in range(rng.integers(0, 5)))
        tokens.append(f"{key}={value}")
    if rng.random() < 0.2:
        wild = rng.choice(["", "=", "hand", "hand==", "💥=3", "hand=２", "up=1,1", "\x00", "a=b=c"])
        tokens.insert(int(rng.integers(0, len(tokens) + 1)), str(wild))
    return " ".join(tokens)


def likely_text(rng):
    """A position that mostly makes sense."""
    cards = [int(card) for card in rng.permutation(np.arange(2, 100))[:12]]
    players = int(rng.integers(1, 6))
    full = (8, 7, 6, 6, 6)[players - 1]
    up, down = cards[:2], cards[2:4]
    parts = [f"up={up[0]},{up[1]}", f"down={down[0]},{down[1]}"]
    parts.append("hand=" + ",".join(map(str, cards[4 : 4 + rng.integers(1, full + 1)])))
    if players > 1:
        parts.append("others=" + ",".join([str(rng.integers(0, full + 1))] * (players - 1)))
    parts.append(f"deck={rng.integers(0, 50)}")
    return " ".join(parts)


def answer_to(text):
    """The hint, or the sentence that refuses the text."""
    try:
        return hint(parse_position(text), "instant")
    except ValueError as error:
        return str(error)


def check_texts(count):
    rng = np.random.default_rng(8)
    answered = 0
    for number in range(count):
        text = likely_text(rng) if number % 4 == 0 else random_text(rng)
        answer = answer_to(text)
        if isinstance(answer, str):
            assert len(answer.splitlines()) == 1, text
            continue
        answered += 1
        json.dumps(answer.document(), allow_nan=False)
        figures = [plan.cards_left for plan in answer.plans]
        assert figures == sorted(figures), text
        assert answer.note, text
    assert answered > count / 20


@pytest.mark.usefixtures("_little_work")
def test_any_text_gets_an_answer_or_a_sentence():
    check_texts(TEXTS)


@pytest.mark.long
@pytest.mark.usefixtures("_little_work")
def test_any_text_of_many_gets_an_answer_or_a_sentence():
    check_texts(MANY_TEXTS)


@pytest.mark.usefixtures("_little_work")
def test_the_command_answers_any_text_too(capsys):
    rng = np.random.default_rng(9)
    for _ in range(60):
        text = random_text(rng).replace("\x00", "")
        code = run(["hint", "--strength", "instant", "--", text])
        out, err = capsys.readouterr()
        assert (code, bool(out), len(err.splitlines())) in [(0, True, 0), (2, False, 1)], text
