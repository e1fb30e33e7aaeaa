"""The store: autosave, a killed process, migrations, what it refuses, and records of games."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from session_games import new, played, step

from eval.records import find_game
from thegame_app.cli import run
from thegame_app.language import Refusal
from thegame_app.session import PERSON
from thegame_app.session_changes import Stale
from thegame_app.session_record import change_and_keep, row_of, run_folder, save_run
from thegame_app.store import CACHED, FILE, Store, UnknownGame, data_folder


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path)
    yield store
    store.close()


def test_every_change_is_there_after_a_new_start(store, tmp_path):
    stored = store.add_game(new(2, seats=[PERSON, "random"], seed=3))
    for _ in range(12):
        stored = store.change_game(stored.id, step)
        again = Store(tmp_path)
        found = again.game(stored.id)
        again.close()
        assert found.session == stored.session
        assert found.changed == stored.changed
    assert played(found.session).actions == played(stored.session).actions


def test_a_refusal_leaves_the_file_as_it_was(store):
    stored = store.add_game(new(2, seed=3))
    before = (store.folder / FILE).read_bytes()
    with pytest.raises(Refusal, match="not in your hand"):
        store.change_game(stored.id, lambda session: session.play(0, 6, 0, 0))
    assert store.game(stored.id) == stored
    assert (store.folder / FILE).read_bytes() == before


KILLED = """
import sys
from pathlib import Path
from thegame_app.store import Store
sys.path.insert(0, sys.argv[3])
from session_games import step
store = Store(Path(sys.argv[1]))
while True:
    stored = store.change_game(sys.argv[2], step)
    print(stored.session.version, flush=True)
"""


def test_killing_the_process_loses_nothing_that_was_told(store, tmp_path):
    name = store.add_game(new(5, seed=3)).id
    command = [sys.executable, "-c", KILLED, str(tmp_path), name, str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = [int(process.stdout.readline()) for _ in range(5)][-1]
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().split("\n")
    told = max([told, *(int(line) for line in rest[:-1])])
    session = store.game(name).session
    assert session.version in (told, told + 1)
    assert session == played(new(5, seed=3), session.version)


def test_two_processes_do_not_overwrite_each_other(store, tmp_path):
    name = store.add_game(new(2, seed=3)).id
    other = Store(tmp_path)
    other.change_game(name, lambda session: session.play(0, 5, 0, 0))
    with pytest.raises(Stale):
        store.change_game(name, lambda session: session.play(0, 14, 0, 0))
    assert store.game(name).session == other.game(name).session
    other.close()


def test_an_unknown_game_is_refused(store):
    with pytest.raises(UnknownGame, match="no such game"):
        store.game("nowhere")


def test_games_are_listed_the_last_changed_first(store):
    first, second = (store.add_game(new(1, seed=seed)).id for seed in (1, 2))
    store.change_game(first, step)
    over = store.add_game(played(new(1))).id
    assert [stored.id for stored in store.games()] == [over, first, second]
    assert [stored.id for stored in store.games(finished=False)] == [first, second]
    assert [stored.id for stored in store.games(finished=True)] == [over]
    assert len(store.games(most=1)) == 1


def test_a_damaged_game_does_not_hide_the_others(store, tmp_path):
    bad, good = (store.add_game(new(1, seed=seed)).id for seed in (1, 2))
    for text in ("", "[1]", json.dumps({"rules": "official"})):
        with store.transaction() as db:
            db.execute("UPDATE games SET document = ? WHERE id = ?", (text, bad))
        again = Store(tmp_path)
        assert [stored.id for stored in again.games()] == [good]
        with pytest.raises(Refusal, match="damaged"):
            again.game(bad)
        again.close()


def test_only_so_many_games_stay_in_memory(store):
    names = [store.add_game(new(1, seed=seed)).id for seed in range(CACHED + 3)]
    assert len(store._cache) == CACHED
    assert store.game(names[0]).session == new(1, seed=0)


def test_only_the_user_can_read_the_file(store):
    assert (store.folder / FILE).stat().st_mode & 0o077 == 0


# --- other parts' tables ---------------------------------------------------------------------

STEPS = ["CREATE TABLE teas (name TEXT)", "ALTER TABLE teas ADD COLUMN minutes INTEGER"]


def test_migrations_run_once_each(store, tmp_path):
    store.migrate("tea", STEPS[:1])
    with store.transaction() as db:
        db.execute("INSERT INTO teas VALUES ('assam')")
    again = Store(tmp_path)
    again.migrate("tea", STEPS)
    again.migrate("tea", STEPS)
    with again.transaction() as db:
        assert db.execute("SELECT * FROM teas").fetchall() == [("assam", None)]
    again.close()


def test_a_failed_migration_leaves_nothing(store):
    with pytest.raises(sqlite3.OperationalError):
        store.migrate("tea", ["CREATE TABLE teas (name TEXT); CREATE NONSENSE"])
    store.migrate("tea", STEPS)


def test_a_later_version_is_refused(store, tmp_path):
    store.migrate("play", [""] * 99)
    with pytest.raises(ValueError, match="later version"):
        Store(tmp_path)


def test_a_part_is_made_once(store):
    first = store.part("tea", lambda _: object())
    assert store.part("tea", lambda _: object()) is first


def test_a_foreign_file_is_refused(tmp_path):
    (tmp_path / FILE).write_text("this is no database, it is a poem about tea and patience")
    with pytest.raises(ValueError, match="not a data file"):
        Store(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "data")
    assert run(["play", "--terminal", "--plain", "--data", folder]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_where_the_data_lies(tmp_path, monkeypatch):
    monkeypatch.setenv("THEGAME_DATA", str(tmp_path / "a"))
    assert data_folder() == tmp_path / "a"
    assert data_folder(tmp_path / "b") == tmp_path / "b"
    monkeypatch.delenv("THEGAME_DATA")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "c"))
    assert data_folder() == tmp_path / "c" / "thegame"


# --- access ----------------------------------------------------------------------------------


def test_tokens_open_their_scope_only(store):
    token = store.token("game:a:1")
    assert store.token("game:a:1") == token
    assert store.scope_of(token) == "game:a:1"
    assert store.scope_of(token + "x") is None
    store.grant("browser", "game:a:1")
    store.grant("browser", "game:a:1")
    assert store.grants("browser") == {"game:a:1"}
    assert store.grants("other") == frozenset()


# --- records ---------------------------------------------------------------------------------


def test_a_finished_game_is_kept_as_a_run(store, capsys):
    stored = store.add_game(new(3, seats=[PERSON, "greedy", "random"], seed=3, talk="open"))
    while not stored.session.over:
        stored = change_and_keep(store, stored.id, step)
    folder = run_folder(store, stored.id)
    row = find_game(folder, 0)
    assert row == row_of(stored.session)
    assert row.seats == [PERSON, "greedy", "random"]
    assert row.cards_left == stored.session.game.cards_left
    assert run(["replay", str(folder), "--game", "0"]) == 0
    assert "person+greedy+random" in capsys.readouterr().out
    save_run(stored.session, folder)


def test_a_running_game_has_no_record(store):
    with pytest.raises(Refusal, match="still going on"):
        row_of(new(1))


def test_a_given_deck_has_no_place_in_a_run():
    session = new(1)
    session = type(session).new(session.table, session.seats, deck=session.deck)
    with pytest.raises(Refusal, match="not dealt from a seed"):
        row_of(played(session))
