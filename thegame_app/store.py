"""What is kept between two starts: one SQLite file in the user's data folder.

Every change is committed before it is answered (WAL, synchronous FULL), so killing the process
loses nothing. Each part of the app brings its own tables as a list of migrations (`Store.migrate`).
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from thegame_app.language import Refusal
from thegame_app.session import Session
from thegame_app.session_changes import Stale

Part = TypeVar("Part")

VARIABLE = "THEGAME_DATA"
"""Environment variable with the data folder."""
FILE = "thegame.sqlite3"
CACHED = 100
"""Games kept in memory beside the file."""

MIGRATIONS = (
    """
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE games (
        id TEXT PRIMARY KEY,
        created TEXT NOT NULL,
        changed TEXT NOT NULL,
        version INTEGER NOT NULL,
        finished INTEGER NOT NULL,
        here TEXT NOT NULL,
        document TEXT NOT NULL
    );
    CREATE INDEX games_by_date ON games (changed);
    CREATE TABLE tokens (token TEXT PRIMARY KEY, scope TEXT NOT NULL);
    CREATE TABLE grants (
        browser TEXT NOT NULL, scope TEXT NOT NULL, PRIMARY KEY (browser, scope)
    );
    """,
)
"""Tables of games, settings and access; see `Store.migrate`."""


def data_folder(given: Path | None = None) -> Path:
    """The folder of the data file: as given, else by THEGAME_DATA, else the system's place."""
    if given is not None:
        return given
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "thegame"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "thegame"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "thegame"


def now() -> str:
    """Date and time, ISO 8601, UTC, to the microsecond."""
    return datetime.now(UTC).isoformat()


class UnknownGame(Refusal):
    """There is no game of this name."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A session with what the store knows of it.

    Attributes:
        id: Its name, which cannot be guessed.
        session: The game.
        here: Seats that are played where the server runs; others come through links.
        created: Date and time, ISO 8601, UTC.
        changed: When it was last changed.
    """

    id: str
    session: Session
    here: tuple[int, ...]
    created: str
    changed: str


class Store:
    """The data file.

    Threads may share a store: a transaction holds a lock. Processes may share the file.

    Args:
        folder: Where the file lies; made where there is none.

    Raises:
        Refusal: The file is not a data file of this program, or is of a later version.
        OSError: It cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE
        if not path.exists():
            path.touch(mode=0o600)
        self._lock = threading.RLock()
        self._cache: dict[str, Stored] = {}
        self._parts: dict[str, Any] = {}
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            self._open(path)
        except BaseException:
            self._db.close()
            raise

    def _open(self, path: Path) -> None:
        try:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL)"
            )
        except sqlite3.OperationalError as error:
            raise Refusal("{path} cannot be used: {why}", path=path, why=str(error)) from None
        except sqlite3.DatabaseError as error:
            raise Refusal(
                "{path} is not a data file of this program: {why}", path=path, why=str(error)
            ) from None
        self.migrate("play", MIGRATIONS)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are committed together, or not at all after an exception."""
        with self._lock:
            if self._db.in_transaction:
                yield self._db
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise

    def migrate(self, part: str, steps: Sequence[str]) -> None:
        """Bring a part's tables up to date: run those of its steps that have not yet been run.

        Args:
            part: Name of the part.
            steps: SQL scripts; version n of the tables is what the first n of them make. Add to
                their end, never change one.

        Raises:
            Refusal: The file was written by a later version of the program.
        """
        with self.transaction() as db:
            row = db.execute("SELECT version FROM parts WHERE name = ?", (part,)).fetchone()
            done = row[0] if row else 0
            if done > len(steps):
                raise Refusal(
                    "{path} was written by a later version of thegame", path=self.folder / FILE
                )
            for step in steps[done:]:
                for statement in filter(str.strip, step.split(";")):
                    db.execute(statement)
            db.execute("INSERT OR REPLACE INTO parts VALUES (?, ?)", (part, len(steps)))

    def part(self, name: str, make: Callable[[Store], Part]) -> Part:
        """What `make` makes of this store, made once: another part's way to its tables.

        Args:
            name: Of the part.
            make: Called with the store on the first use.
        """
        with self._lock:
            if name not in self._parts:
                self._parts[name] = make(self)
            part: Part = self._parts[name]
        return part

    # --- settings --------------------------------------------------------------------------------

    def setting(self, name: str) -> str | None:
        """A value that was kept under a name."""
        with self.transaction() as db:
            row = db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else None

    def keep_setting(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        with self.transaction() as db:
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    # --- games -----------------------------------------------------------------------------------

    def add_game(self, session: Session, here: Sequence[int] | None = None) -> Stored:
        """Keep a new game.

        Args:
            session: The game.
            here: Seats played where the server runs; by default all people's.
        """
        seats = session.people if here is None else tuple(here)
        moment = now()
        stored = Stored(secrets.token_urlsafe(9), session, seats, moment, moment)
        with self.transaction() as db:
            db.execute(
                "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?)",
                (stored.id, moment, moment, session.version, session.over, json.dumps(seats),
                 json.dumps(session.document())),
            )  # fmt: skip
        self._remember(stored)
        return stored

    def _remember(self, stored: Stored) -> None:
        """Keep a game in memory; the one that was kept longest makes room."""
        with self._lock:
            self._cache.pop(stored.id, None)
            self._cache[stored.id] = stored
            if len(self._cache) > CACHED:
                del self._cache[next(iter(self._cache))]

    def game(self, name: str) -> Stored:
        """The game of a name; UnknownGame where there is none."""
        with self.transaction() as db:
            row = db.execute(
                "SELECT version, created, changed, here FROM games WHERE id = ?", (name,)
            ).fetchone()
            if row is None:
                raise UnknownGame("There is no such game.")
            cached = self._cache.get(name)
            if cached is not None and cached.session.version == row[0]:
                return cached
            (text,) = db.execute("SELECT document FROM games WHERE id = ?", (name,)).fetchone()
        session = Session.restore(_document(text))
        stored = Stored(name, session, tuple(json.loads(row[3])), row[1], row[2])
        self._remember(stored)
        return stored

    def change_game(self, name: str, command: Callable[[Session], Session]) -> Stored:
        """Apply a command to a game and keep the result; a Refusal of the command changes nothing.

        Raises:
            Refusal: What the command refuses, or UnknownGame.
        """
        with self.transaction() as db:
            before = self.game(name)
            session = command(before.session)
            moment = now()
            done = db.execute(
                "UPDATE games SET changed = ?, version = ?, finished = ?, document = ? "
                "WHERE id = ? AND version = ?",
                (moment, session.version, session.over, json.dumps(session.document()), name,
                 before.session.version),
            )  # fmt: skip
            if done.rowcount != 1:
                raise Stale(())
            stored = Stored(name, session, before.here, before.created, moment)
        self._remember(stored)
        return stored

    def games(self, most: int = 50, finished: bool | None = None) -> list[Stored]:
        """The games, the last changed first; by default finished ones and others.

        One that cannot be read is passed over, so that it does not hide the others.
        """
        wanted = (0, 1) if finished is None else (int(finished),) * 2
        with self.transaction() as db:
            rows = db.execute(
                "SELECT id FROM games WHERE finished IN (?, ?) "
                "ORDER BY changed DESC, rowid DESC LIMIT ?",
                (*wanted, most),
            ).fetchall()
        found = []
        for (name,) in rows:
            with contextlib.suppress(Refusal):
                found.append(self.game(name))
        return found

    # --- who may see what ------------------------------------------------------------------------

    def token(self, scope: str) -> str:
        """The secret word that opens a scope, such as "owner" or "game:NAME:2"."""
        with self.transaction() as db:
            row = db.execute("SELECT token FROM tokens WHERE scope = ?", (scope,)).fetchone()
            if row:
                return str(row[0])
            token = secrets.token_urlsafe(18)
            db.execute("INSERT INTO tokens VALUES (?, ?)", (token, scope))
        return token

    def scope_of(self, token: str) -> str | None:
        """What a secret word opens; None where it opens nothing."""
        with self.transaction() as db:
            row = db.execute("SELECT scope FROM tokens WHERE token = ?", (token,)).fetchone()
        return str(row[0]) if row else None

    def grant(self, browser: str, scope: str) -> None:
        """Let a browser, known by its secret cookie, into a scope."""
        with self.transaction() as db:
            db.execute("INSERT OR IGNORE INTO grants VALUES (?, ?)", (browser, scope))

    def grants(self, browser: str) -> frozenset[str]:
        """The scopes that a browser may enter."""
        with self.transaction() as db:
            rows = db.execute("SELECT scope FROM grants WHERE browser = ?", (browser,)).fetchall()
        return frozenset(row[0] for row in rows)


def _document(text: str) -> dict[str, Any]:
    """The stored document; where it is none, one that cannot be restored."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
