"""`thegame play --terminal`: the game by typed lines, also from a pipe; the command's options."""

import io
import subprocess
import sys

import pytest
from session_games import new

from thegame_app.cli import run
from thegame_app.language import LANGUAGES, Refusal, language
from thegame_app.play_command import dealt
from thegame_app.session import PERSON
from thegame_app.store import Store
from thegame_app.terminal import play_of, said_text
from thegame_env.rules import PILES
from thegame_env.view import SeatTalk


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """Play the lines of a text; returns exit code and what was printed."""

    def played(lines, *options, plain=True):
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        mode = ["--terminal", *(["--plain"] if plain else [])]
        code = run(["play", *mode, "--data", str(tmp_path), "--lang", "en", *options])
        return code, capsys.readouterr().out

    return played


def game_in(folder):
    store = Store(folder)
    (stored,) = store.games()
    store.close()
    return stored.session


def test_a_turn_with_undo_and_a_partner(play, tmp_path):
    lines = "5 up1\n14:u1\nundo\n14 2\nend\nquit\n"
    code, out = play(lines, "--players", "2", "--agents", "greedy", "--seed", "3")
    assert code == 0
    for line in (
        "Your hand: 5 14 30 77 79 86 91",
        "Lay 2 more cards.",
        "Player 1 laid 5 on up1.",
        "Player 1 took 14 back from up1.",
        "Player 1 laid 14 on up2.",
        "Minimum met: end the turn, or go on.",
        "Player 1 ended the turn.",
        "Player 2 laid ",
        "The game is saved",
    ):
        assert line in out
    assert game_in(tmp_path).seats == (PERSON, "greedy")


def test_the_game_goes_on_where_it_was_left(play, tmp_path):
    play("5 up1\n", "--seed", "3", "--players", "2")
    _, out = play("14 up1\n")
    assert "up1 (ascending): 5" in out
    assert game_in(tmp_path).version == 2
    play("quit\n", "--new")
    store = Store(tmp_path)
    assert len(store.games()) == 2
    store.close()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("6 up1", "Card 6 is not in your hand."),
        ("100 up1", "There is no card 100"),
        ("5 up9", "There is no such pile"),
        ("5", "This is not understood"),
        ("five up1", "This is not understood"),
        ("end", "cards still to be laid: 2"),
        ("undo", "nothing to take back"),
        ("hint divine", "The strength of a hint"),
        ("٥ up1", "This is not understood"),
    ],
)
def test_wrong_lines_are_a_sentence(play, tmp_path, line, sentence):
    code, out = play(f"{line}\n", "--players", "2", "--seed", "3")
    assert code == 0
    assert sentence in out
    assert game_in(tmp_path).version == 0


def test_help_show_and_hint(play):
    _, out = play("help\nshow\nhint\n\n", "--seed", "3")
    assert "undo : take the last card" in out
    assert out.count("Your hand:") == 2
    assert "cards left" in out


def test_a_whole_game_ends_with_its_result(play, tmp_path):
    session = new(1, seed=8)
    lines = []
    while not session.over:
        game = session.game
        if game.may_end_turn:
            session = session.end_turn(0, session.version)
            lines.append("end")
            continue
        card, pile = min(game.plays_of(0), key=lambda play: abs(play[0] - game.tops[play[1]]))
        session = session.play(0, card, pile, session.version)
        lines.append(f"{card} {pile + 1}")
    code, out = play("\n".join(lines) + "\n", "--seed", "8")
    assert code == 0
    assert f"Cards left: {session.game.cards_left}" in out
    assert "Player 1 still held:" in out
    assert "thegame review" in out
    assert game_in(tmp_path).actions == session.actions


def test_people_at_one_keyboard_see_their_cards_when_they_come(play):
    _, out = play("\n5 up1\n14 up1\nend\n", "--players", "2", "--agents", PERSON, "--seed", "3")
    before, _, after = out.partition("Player 2: press Enter")
    assert "Your hand: 5 14" in before
    assert "Your hand" not in after


def test_colours_and_boxes_only_without_plain(play):
    _, drawn = play("hint\n", "--seed", "3", plain=False)
    assert "╭" in drawn
    assert "▲ up1" in drawn
    _, plain = play("hint\n", "--seed", "3")
    assert plain.isascii() or set(filter(lambda c: not c.isascii(), plain)) <= {"±"}


def test_a_pipe_needs_no_terminal(tmp_path):
    command = [sys.executable, "-m", "thegame_app", "play", "--terminal", "--plain", "--seed", "3"]
    answer = subprocess.run(
        [*command, "--data", str(tmp_path), "--lang", "en"],
        input="quit\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Your hand:" in answer.stdout
    assert answer.stderr == ""


def test_lines_are_read_in_several_forms():
    lang = language("en")
    for line in ("54 up1", " 54:UP1 ", "54 1", "54 u1"):
        assert play_of(line, lang) == (54, 0)
    with pytest.raises(Refusal):
        play_of("54up1x9", lang)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_pile_may_be_named_as_it_is_shown(code):
    lang = language(code)
    for pile in range(4):
        assert play_of(f"54 {lang.pile(pile)}", lang) == (54, pile)
        assert play_of(f"54 {PILES[pile]}", lang) == (54, pile)
    with pytest.raises(Refusal) as refused:
        play_of("54 up9", lang)
    assert lang.pile(3) in refused.value.text(lang)


@pytest.mark.parametrize("code", ["de", "pl"])
def test_no_line_of_the_terminal_stays_english(play, code):
    """What is said in one language and in English has no line in common but figures and names."""
    lines = "help\n5 up1\n6 up1\nundo\nend\nfoo\nshow\nquit\n"
    options = ["--players", "2", "--agents", PERSON, "--seed", "3", "--new"]
    _, english = play("\n" + lines, *options)
    _, other = play("\n" + lines, *options, "--lang", code)
    typed = {line.strip() for line in lines.splitlines()}
    assert {line for line in english.splitlines() if line.strip()} & {
        line for line in other.splitlines() if line.strip()
    } <= typed


def test_lines_from_a_pipe_are_shown_as_if_they_were_typed(play):
    _, out = play("5 up9\n", "--seed", "3", "--players", "2")
    assert "Player 1> 5 up9\n" in out


def test_what_seats_say_in_words():
    lang = language("en")
    said = SeatTalk((0, 1, 2, 0), True)
    open_talk = "up2: good for me, down1: very good for me, I cannot reach my minimum"
    assert said_text(said, True, lang) == open_talk
    assert said_text(SeatTalk((1, 0, 0, 0)), False, lang) == "please not on up1"


# --- options ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agents", "players", "rules", "seats"),
    [
        ([], None, None, (PERSON,)),
        ([], 3, None, (PERSON, "afterstate", "afterstate")),
        ([], 3, "small-hands", (PERSON, "afterstate", "afterstate")),
        ([], 3, "custom/cards:60", (PERSON, "sequence", "sequence")),
        (["greedy"], 3, None, (PERSON, "greedy", "greedy")),
        (["greedy,person"], 3, None, (PERSON, "greedy", PERSON)),
        (["greedy", "greedy:extra=4"], None, None, (PERSON, "greedy", "greedy:extra=4")),
    ],
)
def test_who_sits_where(agents, players, rules, seats):
    assert dealt(players, rules, None, None, agents, 1).seats == seats


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--players", "1", "--agents", "greedy"], "first: 0, agents named for them: 1"),
        (["--players", "2", "--agents", "greedy,random"], "first: 1, agents named for them: 2"),
        (["--agents", "person,random,greedy,expert:1s,sequence"], "agents named for them: 5"),
        (["--players", "2", "--agents", "nobody"], "nobody"),
        (["--players", "1", "--rules", "small-hands"], "is played by 2-5 players"),
        (["--rules", "extreme"], "unknown rules"),
        (["--players", "6"], "players"),
        (["--talk", "loud"], "unknown talk"),
        (["--starter", "me"], "unknown starter"),
        (["--seed", "-1"], "seed"),
        (["--seed", str(2**63)], "seed"),
        (["--lang", "xx"], "unknown language"),
        (["--lan"], "not both"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path, capsys, options, sentence):
    assert run(["play", "--terminal", "--plain", "--data", str(tmp_path), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert len(err.splitlines()) == 1


def test_plain_goes_with_the_terminal(capsys):
    assert run(["play", "--plain"]) == 2
    assert "--terminal" in capsys.readouterr().err


def loaded(code, module):
    """Whether a fresh interpreter that ran the code has loaded a module."""
    command = [sys.executable, "-c", f"import sys; {code}; print({module!r} in sys.modules)"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return answer.stdout.strip() == "True"


def test_only_what_is_needed_is_loaded():
    assert not loaded("import thegame_app.cli as c; c.make_app()", "fastapi")
    assert not loaded("import thegame_app.web.app", "torch")
