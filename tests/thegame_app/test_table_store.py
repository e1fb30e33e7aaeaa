"""The data file of the table assistant: players, restart, kill, two phones, results, deletion."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from thegame_app.language import Refusal
from thegame_app.store import Store, UnknownGame
from thegame_app.table import Stale
from thegame_app.table_entries import ConfirmResult, EndTurn, Lay, ReportStuck, Setup, Undo
from thegame_app.table_hand import OwnHand
from thegame_app.table_store import TableStore
from thegame_env.rules import PRESETS, Rules

UP1, UP2, DOWN1, DOWN2 = range(4)
PAIR = Setup(("Anna", "Ben"), PRESETS["profi"], starter=1, memory=False)


@pytest.fixture
def tables(tmp_path):
    store = Store(tmp_path)
    yield TableStore(store)
    store.close()


def reopened(tmp_path):
    return TableStore(Store(tmp_path))


def lose(tables, name, cards=0):
    game = tables.game(name)
    for card in range(2, 2 + cards):
        game = tables.enter(name, Lay(game.state.seat, UP1, card), game.version)
    game = tables.enter(name, ReportStuck(game.state.seat), game.version)
    return tables.enter(name, ConfirmResult(game.state.cards_left), game.version)


def test_a_game_comes_back_as_it_was(tables, tmp_path):
    name = tables.add_game(PAIR)
    entries = [Lay(1, UP1, 20), Lay(1, UP2, None), Undo(), Lay(1, DOWN1, 60), Lay(1, UP1, 21)]
    for version, entry in enumerate(entries):
        game = tables.enter(name, entry, version)
    again = reopened(tmp_path).game(name)
    assert again == game
    assert (again.version, again.state.seat, again.state.plays) == (5, 1, 3)
    assert again.setup == PAIR


def test_custom_rules_come_back(tables, tmp_path):
    name = tables.add_game(Setup(("Anna",), Rules("mine", cards=20, hand_sizes=(4,))))
    assert reopened(tmp_path).game(name).setup.rules.cards == 20


def test_a_refusal_keeps_nothing(tables, tmp_path):
    name = tables.add_game(PAIR)
    tables.enter(name, Lay(1, UP1, 20), 0)
    for entry, seen in [(Lay(1, UP1, 20), 1), (Lay(0, UP1, 30), 1), (Undo(), 0), (Undo(), 7)]:
        with pytest.raises(Refusal):
            tables.enter(name, entry, seen)
    assert reopened(tmp_path).game(name).version == 1


def test_a_further_check_may_refuse(tables):
    name = tables.add_game(PAIR)

    def never(game):
        raise Refusal("Not now.")

    with pytest.raises(Refusal, match="Not now"):
        tables.enter(name, Lay(1, UP1, 20), 0, never)
    assert tables.game(name).version == 0


def test_two_programs_on_one_file_agree_on_the_version(tables, tmp_path):
    other, name = reopened(tmp_path), tables.add_game(PAIR)
    assert other.game(name).version == 0
    tables.enter(name, Lay(1, UP1, 20), 0)
    with pytest.raises(Stale):
        other.enter(name, Lay(1, UP1, 30), 0)
    assert other.enter(name, Lay(1, UP1, 30), 1).version == 2
    assert tables.game(name).version == 2


def test_of_many_phones_at_once_one_is_taken(tables):
    name, done = tables.add_game(PAIR), []

    def lay(card):
        try:
            tables.enter(name, Lay(1, UP1, card), 0)
            done.append(card)
        except Stale:
            pass

    threads = [threading.Thread(target=lay, args=(card,)) for card in range(20, 36)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 1
    assert tables.game(name).state.laid == set(done)


KILLED = """
import os, signal, sys
from pathlib import Path
from thegame_app.store import Store
from thegame_app.table_entries import EndTurn, Lay, Setup
from thegame_app.table_store import TableStore
tables = TableStore(Store(Path(sys.argv[1])))
name = tables.add_game(Setup(("Anna", "Ben")))
entries = [Lay(0, 0, 20), Lay(0, 0, 21), EndTurn(0, 2), Lay(1, 2, None)]
for version, entry in enumerate(entries):
    tables.enter(name, entry, version)
print(name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is not known there")
def test_killing_the_program_loses_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    game = reopened(tmp_path).game(done.stdout.strip())
    assert (game.version, game.state.seat, game.state.plays, game.state.deck) == (4, 1, 1, 82)
    assert game.state.piles[DOWN1].top is None


def test_a_result_is_recorded_once(tables, tmp_path):
    name = tables.add_game(PAIR)
    assert [game.id for game in tables.running()] == [name]
    over = lose(tables, name, cards=2)
    for entry in (Undo(), ConfirmResult(96), EndTurn(1, 0)):
        with pytest.raises(Refusal, match="The game is over"):
            tables.enter(name, entry, over.version)
    again = reopened(tmp_path)
    assert again.running() == []
    (past,) = again.past()
    assert (past.result, past.cards_left, past.turns, past.rules) == ("stuck", 96, 1, "profi")


def test_players_are_saved_the_last_to_play_first(tables):
    tables.add_game(Setup(("Anna", "Ben")))
    tables.add_game(Setup(("Cleo", "Anna")))
    assert tables.players() == ["Anna", "Cleo", "Ben"]
    tables.forget_player("Cleo")
    assert tables.players() == ["Anna", "Ben"]


def test_a_deleted_game_leaves_nothing(tables, tmp_path):
    name, kept = tables.add_game(PAIR), tables.add_game(PAIR)
    lose(tables, kept)
    tables.change_hand(name, "browser", lambda game, hand: OwnHand(1).with_cards(game, [20]))
    lose(tables, name)
    tables.delete(name)
    for again in (tables, reopened(tmp_path)):
        with pytest.raises(UnknownGame):
            again.game(name)
        assert again.hand(name, "browser") is None
        assert [game.id for game in again.past()] == [kept]
    with pytest.raises(UnknownGame):
        tables.delete(name)


def test_every_phone_has_its_own_hand(tables, tmp_path):
    name = tables.add_game(PAIR)
    tables.change_hand(name, "one", lambda game, hand: OwnHand(0).with_cards(game, [20, 30]))
    tables.change_hand(name, "two", lambda game, hand: OwnHand(1).with_cards(game, [40]))
    again = reopened(tmp_path)
    assert again.hand(name, "one") == OwnHand(0, {20: 0, 30: 0})
    assert again.hand(name, "two") == OwnHand(1, {40: 0})
    assert again.hand(name, "three") is None
    again.forget_hand(name, "one")
    assert again.hand(name, "one") is None
    assert again.hand(name, "two") is not None
