"""The pictures: what they show, and what they must not."""

import random
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from strategies import PRESET_TABLES, play, positions, seeds
from test_unseen import permuted

from thegame_env.gym_env import TheGameEnv
from thegame_env.notation import parse_position
from thegame_env.render import Frame, ansi, human, rgb_array
from thegame_env.rules import PRESETS, Outcome, Rules, Table, Termination
from thegame_env.unseen import complete

POSITION = (
    "up=23,40 down=77,60 hand=12,34,45,67,88,90 deck=40 others=6,6 played=0 talk=open:0120,0000!"
)


def frame_of(text, last=None):
    view = parse_position(text)
    return replace(Frame.of(complete(view, 1), view.table, last), view=view)


def test_ansi_in_full():
    assert ansi(frame_of(POSITION, [21, 392])) == (
        "The Game: official, 3 players, no memory, talk open, starter seat0\n" + "-" * 80 + "\n"
        "  up1   ↑  23   next: higher, or 13 (trick)\n"
        "  up2   ↑  40   next: higher, or 30 (trick)\n"
        "  down1 ↓  77   next: lower, or 87 (trick)\n"
        "  down2 ↓  60   next: lower, or 70 (trick)\n"
        "\n"
        "  deck     40 cards,  in all hands and the deck: 58\n"
        "  seat 1    6 cards   trick on down1; close to up2\n"
        "  seat 2    6 cards   cannot reach its minimum\n"
        "* seat 0  hand: 12 34 45 67 88 90\n"
        "\n"
        "  last:   23 on up1, end of turn\n"
        "  now:    seat 0 acts: 0 of 2 owed cards played\n"
    )


def test_cards_that_fit_no_pile_are_named():
    text = ansi(frame_of("up=90,60 down=20,30 hand=40,50,55,95 deck=40"))
    assert "fit no pile: 55\n" in text  # 50 and 40 are tricks, 95 lies beyond up1


def test_the_turn_in_words():
    table = Table(players=2)
    text = "up=9,1 hand=20,30,40 others=7 deck=40 played={}"
    assert "1 of 2 owed cards played" in ansi(frame_of(text.format(1)))
    assert "3 played, 2 owed, may end its turn" in ansi(frame_of(text.format(3)))
    passes = "up=98,99 down=3,2 hand=20 others=1 deck=0 rules=small-hands"
    game = complete(parse_position(passes), 1)
    frame = replace(Frame.of(game, table, None), outcome=None)
    assert "seat 0 acts: 0 played, no card fits, it passes" in ansi(
        replace(frame, view=parse_position(passes))
    )


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(Termination.WON, 0), "WON: all cards are laid"),
        (Outcome(Termination.STUCK, 1), "LOST (stuck): 1 card left, excellent"),
        (Outcome(Termination.STUCK, 10), "LOST (stuck): 10 cards left\n"),
        (Outcome(Termination.ILLEGAL, 5), "LOST (an illegal action): 5 cards left\n"),
    ],
)
def test_the_outcome_in_words(outcome, words):
    assert words in ansi(replace(frame_of(POSITION), outcome=outcome))


def test_lines_fit_into_80_columns():
    rng = random.Random(3)
    tables = [*PRESET_TABLES[::9], Table(Rules("custom", 98, (98,), 3, 2, "nobody", 4, 7))]
    for table in tables:
        games = [game for game, _ in play(rng, table, 0.9)]
        for game in (games[0], games[len(games) // 2], games[-1]):
            text = ansi(Frame.of(game, table, [5, 100, 300, table.rules.end_turn, 7, 8, 9]))
            assert max(map(len, text.splitlines())) <= 80
            assert text.endswith("\n")


@given(positions(), seeds)
def test_hidden_cards_show_nowhere(position, seed):
    table, game = position
    table = replace(table, talk="none")
    other = permuted(game, random.Random(seed))
    assert Frame.of(game, table, None) == Frame.of(other, table, None)


def test_a_seat_that_is_not_acting_may_look():
    table = Table(players=2)
    game = next(play(random.Random(1), table, 0.5))[0]
    text = ansi(Frame.of(game, table, None, seat=1))
    assert "* seat 0    7 cards" in text
    assert "  seat 1  hand: " + " ".join(f"{card:>2}" for card in sorted(game.hands[1])) in text
    assert "seat 0 is acting" in text


def test_human_prints_words_and_arrows(capsys):
    human(frame_of(POSITION, [21]))
    text = capsys.readouterr().out
    for words in ("up1 ↑", "down2 ↓", "lower, or 70 (trick)", "cannot reach its minimum"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 80
    human(replace(frame_of(POSITION), outcome=Outcome(Termination.WON, 0)))
    assert "WON: all cards are laid" in capsys.readouterr().out


@pytest.mark.parametrize("table", [Table(), Table(PRESETS["profi"], 5, talk="open")])
def test_images_are_drawn_without_a_display(table, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    games = [game for game, _ in play(random.Random(1), table, 0.97)]
    images = [rgb_array(Frame.of(game, table, [5, 392])) for game in (games[0], games[-1])]
    for image in images:
        assert (image.shape, image.dtype) == ((600, 960, 3), np.uint8)
        assert len(np.unique(image @ np.array([1, 256, 65536]))) > 50
    assert not np.array_equal(*images)


def test_an_image_shows_each_card_of_the_hand():
    frame = frame_of("hand=5,6,7,8 up=9,1 deck=20 others=3")
    other = replace(frame, view=replace(frame.view, hand=frozenset({5, 6, 7, 18})))
    rows, columns, _ = np.nonzero(rgb_array(frame) != rgb_array(other))
    assert rows.min() > 430  # only below the label of the own hand
    assert columns.min() > 280  # only the fourth card


def test_a_large_hand_stays_in_the_image():
    table = Table(Rules("custom", 98, (60,), 2))
    game = next(play(random.Random(1), table, 0.5))[0]
    image = rgb_array(Frame.of(game, table, None))
    assert (image[460:530, -20:] == image[470, -1]).all()


def test_environments_render_what_they_play(capsys):
    env = TheGameEnv(players=2, render_mode="human")
    env.reset(seed=1)
    env.step(env.game.legal_actions()[0])
    assert capsys.readouterr().out.count("The Game") == 2
    made = gymnasium.make("TheGame-v0", render_mode="rgb_array")
    made.reset(seed=1)
    assert made.render().shape == (600, 960, 3)
