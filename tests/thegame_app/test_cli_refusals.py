"""What the command line refuses it refuses in the language of its user."""

import pytest

from thegame_app.cli import run
from thegame_app.language import LANGUAGES


def refusals(capsys, *arguments):
    """What a command says in each language; every time one line, and exit code 2."""
    said = set()
    for code in LANGUAGES:
        assert run([*arguments, "--lang", code]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == 1
        said.add(err)
    return said


@pytest.mark.parametrize(
    "position",
    [
        "hand=12,12",
        "hand=12,101",
        "hand=12 colour=4",
        "hand=12 hnd=4",
        "hand=12 hand=13",
        "hand=a",
        "hand=12 deck=1,2",
        "twelve",
        "up=1,2,3 hand=12",
        "up=1,100 hand=12",
        "up=5,5 hand=12",
        "up=5,6 hand=5",
        "up=5,6 seen=12 hand=12",
        "down=50,60",
        "hand=2,3,4,5,6,7,8,9,10",
        "hand=2 others=9",
        "hand=2 played=1",
        "hand=2 seen=5",
        "up=5,6 hand=2 seen=5 played=3",
        "up=5,6 hand=2 deck=98",
        "up=5,6 hand=2 seen=5 deck=98",
        "up=5,6 hand=2 seen=5 deck=1",
        "hand=2 deck=1",
        "hand=12,34 others=6 talk=loud:2000",
        "hand=12,34 others=6 talk=avoid:2000",
        "hand=12,34 others=6 talk=open:0000,0000",
        "hand=12,34 others=6 talk=open:3000",
        "hand=12,34 others=6 talk=open:2000",
    ],
)
def test_a_wrong_position_is_refused_in_the_users_language(capsys, position):
    assert len(refusals(capsys, "hint", position, "--strength", "instant")) == len(LANGUAGES)


@pytest.mark.parametrize(
    "arguments",
    [
        ["hint", "hand=2", "--strength", "brilliant"],
        ["review", "nowhere"],
        ["review", "deck=2,3 memory=maybe"],
        ["review", "rules=official"],
        ["review", ".", "--strength", "instant"],
        ["review", "deck=2,3", "--game", "3"],
    ],
)
def test_a_wrong_request_is_refused_in_the_users_language(capsys, arguments):
    assert len(refusals(capsys, *arguments)) == len(LANGUAGES)


def test_an_agent_that_cannot_play_is_refused_in_the_users_language(capsys, tmp_path):
    play = ["play", "--terminal", "--plain", "--data", str(tmp_path), "--players", "2"]
    assert len(refusals(capsys, *play, "--agents", "nobody")) == len(LANGUAGES)
