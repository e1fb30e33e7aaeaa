"""The table assistant's part of the data file: players, games, entries, results, own hands."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from thegame_app.language import N_, Refusal
from thegame_app.store import Store, UnknownGame, now
from thegame_app.table import TableGame
from thegame_app.table_entries import Entry, Setup, from_document, to_document
from thegame_app.table_hand import OwnHand
from thegame_app.table_history import PastGame
from thegame_env.rules import Rules

MIGRATIONS = (
    """
    CREATE TABLE table_players (name TEXT PRIMARY KEY, used TEXT NOT NULL);
    CREATE TABLE table_games (
        id TEXT PRIMARY KEY,
        begun TEXT NOT NULL,
        rules TEXT NOT NULL,
        names TEXT NOT NULL,
        starter INTEGER NOT NULL,
        memory INTEGER NOT NULL
    );
    CREATE TABLE table_events (
        game TEXT NOT NULL,
        number INTEGER NOT NULL,
        entered TEXT NOT NULL,
        entry TEXT NOT NULL,
        PRIMARY KEY (game, number)
    );
    CREATE TABLE table_results (
        game TEXT PRIMARY KEY,
        ended TEXT NOT NULL,
        result TEXT NOT NULL,
        cards_left INTEGER NOT NULL,
        turns INTEGER NOT NULL
    );
    CREATE TABLE table_hands (
        game TEXT NOT NULL,
        browser TEXT NOT NULL,
        seat INTEGER NOT NULL,
        drawn TEXT NOT NULL,
        PRIMARY KEY (game, browser)
    );
    """,
)
"""Tables of the table assistant; see `Store.migrate`."""
GAME_TABLES = ("table_events", "table_results", "table_hands")
"""Tables whose rows go when their game is deleted."""


@dataclass(frozen=True, slots=True)
class Running:
    """A game that goes on.

    Attributes:
        id: Its identifier.
        begun: When it was set up, ISO 8601 in UTC.
        names: The players in the order of their seats.
        rules: The preset.
    """

    id: str
    begun: str
    names: tuple[str, ...]
    rules: str


class TableStore:
    """Games at the table, kept in the data file; every entry is committed before it is answered.

    Args:
        store: The data file.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache: dict[str, TableGame] = {}
        store.migrate("table", MIGRATIONS)

    # --- players ---------------------------------------------------------------------------------

    def players(self, most: int = 30) -> list[str]:
        """Saved players, the last to play first."""
        with self._store.transaction() as db:
            rows = db.execute(
                "SELECT name FROM table_players ORDER BY used DESC, name LIMIT ?", (most,)
            ).fetchall()
        return [row[0] for row in rows]

    def forget_player(self, name: str) -> None:
        """Remove a saved player; the games stay as they were played."""
        with self._store.transaction() as db:
            db.execute("DELETE FROM table_players WHERE name = ?", (name,))

    # --- games -----------------------------------------------------------------------------------

    def add_game(self, setup: Setup) -> str:
        """Keep a new game and its players; the game's identifier, which cannot be guessed."""
        name, moment = secrets.token_urlsafe(9), now()
        with self._store.transaction() as db:
            db.execute(
                "INSERT INTO table_games VALUES (?, ?, ?, ?, ?, ?)",
                (name, moment, setup.rules.spec(), json.dumps(setup.names), setup.starter,
                 setup.memory),
            )  # fmt: skip
            db.executemany(
                "INSERT OR REPLACE INTO table_players VALUES (?, ?)",
                [(player, moment) for player in setup.names],
            )
        return name

    def game(self, name: str) -> TableGame:
        """The game of an identifier; UnknownGame where there is none."""
        with self._store.transaction() as db:
            (version,) = db.execute(
                "SELECT count(*) FROM table_events WHERE game = ?", (name,)
            ).fetchone()
            game = self._cache.get(name)
            if game is None or game.version > version or not self._exists(db, name):
                game = TableGame.start(self._setup(db, name))
            rows = db.execute(
                "SELECT entry FROM table_events WHERE game = ? AND number > ? ORDER BY number",
                (name, game.version),
            ).fetchall()
        for (text,) in rows:
            game = game.enter(from_document(json.loads(text)), game.version)
        self._cache[name] = game
        return game

    def _exists(self, db: sqlite3.Connection, name: str) -> bool:
        return db.execute("SELECT 1 FROM table_games WHERE id = ?", (name,)).fetchone() is not None

    def _setup(self, db: sqlite3.Connection, name: str) -> Setup:
        row = db.execute(
            "SELECT names, rules, starter, memory FROM table_games WHERE id = ?", (name,)
        ).fetchone()
        if row is None:
            raise UnknownGame(N_("There is no such game."))
        return Setup(tuple(json.loads(row[0])), Rules.parse(row[1]), row[2], bool(row[3]))

    def enter(
        self,
        name: str,
        entry: Entry,
        seen: int,
        check: Callable[[TableGame], None] | None = None,
    ) -> TableGame:
        """Enter something and keep it; a refusal changes nothing.

        Args:
            name: The game.
            entry: What is entered.
            seen: The version that the page showed.
            check: What else may refuse the entry, once it is known not to be stale.

        Raises:
            Refusal: See `TableGame.enter` and `check`, or UnknownGame.
        """
        with self._store.transaction() as db:
            before = self.game(name)
            game = before.enter(entry, seen)
            if check is not None:
                check(before)
            db.execute(
                "INSERT INTO table_events VALUES (?, ?, ?, ?)",
                (name, game.version, now(), json.dumps(to_document(entry))),
            )
            outcome = game.state.outcome
            if outcome is not None:
                db.execute(
                    "INSERT INTO table_results VALUES (?, ?, ?, ?, ?)",
                    (name, now(), outcome.termination, outcome.cards_left, game.state.turns),
                )
        self._cache[name] = game
        return game

    def running(self) -> list[Running]:
        """Games without a result, the last set up first."""
        with self._store.transaction() as db:
            rows = db.execute(
                "SELECT id, begun, names, rules FROM table_games "
                "WHERE id NOT IN (SELECT game FROM table_results) ORDER BY begun DESC, rowid DESC"
            ).fetchall()
        return [Running(row[0], row[1], tuple(json.loads(row[2])), row[3]) for row in rows]

    def past(self) -> list[PastGame]:
        """Finished games, the last to end first."""
        with self._store.transaction() as db:
            rows = db.execute(
                "SELECT id, begun, ended, rules, names, result, cards_left, turns "
                "FROM table_games JOIN table_results ON id = game ORDER BY ended DESC"
            ).fetchall()
        return [
            PastGame(game, begun, ended, rules, tuple(json.loads(names)), result, left, turns)
            for game, begun, ended, rules, names, result, left, turns in rows
        ]

    def delete(self, name: str) -> None:
        """Delete a game with all that belongs to it; UnknownGame where there is none."""
        with self._store.transaction() as db:
            self._setup(db, name)
            for table in GAME_TABLES:
                db.execute(f"DELETE FROM {table} WHERE game = ?", (name,))
            db.execute("DELETE FROM table_games WHERE id = ?", (name,))
        self._cache.pop(name, None)

    # --- own hands -------------------------------------------------------------------------------

    def hand(self, name: str, browser: str) -> OwnHand | None:
        """The hand that a phone, known by its secret cookie, keeps in a game."""
        with self._store.transaction() as db:
            row = db.execute(
                "SELECT seat, drawn FROM table_hands WHERE game = ? AND browser = ?",
                (name, browser),
            ).fetchone()
        if row is None:
            return None
        return OwnHand(row[0], {int(card): number for card, number in json.loads(row[1]).items()})

    def change_hand(
        self, name: str, browser: str, command: Callable[[TableGame, OwnHand | None], OwnHand]
    ) -> OwnHand:
        """Apply a command to a phone's hand and keep the result; a refusal changes nothing."""
        with self._store.transaction() as db:
            hand = command(self.game(name), self.hand(name, browser))
            db.execute(
                "INSERT OR REPLACE INTO table_hands VALUES (?, ?, ?, ?)",
                (name, browser, hand.seat, json.dumps(dict(hand.drawn))),
            )
        return hand

    def forget_hand(self, name: str, browser: str) -> None:
        """Forget the hand that a phone keeps in a game."""
        with self._store.transaction() as db:
            db.execute("DELETE FROM table_hands WHERE game = ? AND browser = ?", (name, browser))


def seat_of(game: TableGame, seat: int) -> int:
    """The seat, if the game has it; Refusal otherwise."""
    if not 0 <= seat < game.setup.players:
        raise Refusal("There is no such player.")
    return seat
