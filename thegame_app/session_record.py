"""A finished game as the directory of a run of one game, as `thegame replay` reads it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from eval.cells import Cell, Chunk
from eval.manifest import Hardware, Manifest, RunError
from eval.records import GameRow, open_run, write_chunk
from thegame_app.language import Refusal
from thegame_app.replay_command import turns_of
from thegame_app.session import Session
from thegame_app.store import Store, Stored, now
from thegame_env.ranges import range_of
from thegame_env.rules import Termination


def row_of(session: Session) -> GameRow:
    """The row of a finished game; its agent is the list of who sat there.

    Raises:
        Refusal: The game is not over, or its deck was given and not dealt from a seed.
    """
    outcome, game, table = session.game.outcome, session.game, session.table
    if outcome is None:
        raise Refusal("The game is still going on: there is no record of it yet.")
    if session.seed is None:
        raise Refusal("This game was not dealt from a seed: it has no place in a run.")
    laid = [change for change in session.changes_left if change.kind == "play"]
    return GameRow(
        agent="+".join(dict.fromkeys(session.seats)),
        players=table.players,
        rules=table.rules.spec(),
        talk=table.talk,
        memory=table.memory,
        starter=table.starter,
        seed=session.seed,
        game=0,
        seats=list(session.seats),
        won=outcome.won,
        cards_left=game.cards_left,
        turns=len(turns_of(session.record)),
        tricks=sum(change.gap < 0 for change in laid),
        plays=len(laid),
        ended="won" if outcome.termination is Termination.WON else "stuck",
        reason="",
        deck=list(game.deck),
        hands=[sorted(hand) for hand in game.hands],
        actions=list(session.actions),
    )


def save_run(session: Session, folder: Path) -> None:
    """Write the game into the directory of a run of its own.

    Raises:
        Refusal: See `row_of`.
        RunError: The directory holds another run.
        OSError: It cannot be written.
    """
    row = row_of(session)
    cell: Cell = row.cell
    manifest = Manifest(
        command="thegame play",
        version=version("thegame-env"),
        started=now(),
        seed=row.seed,
        seed_range=range_of(row.seed),
        games=1,
        chunk_games=1,
        cells=(cell,),
        hardware=Hardware.here(),
    )
    if open_run(folder, manifest):
        write_chunk(folder, Chunk(cell, 0, 1), [row])


def change_and_keep(store: Store, name: str, command: Callable[[Session], Session]) -> Stored:
    """`Store.change_game`; a game that is over now is written as a run, too.

    A run that cannot be written does not undo the play: the game itself is in the store.
    """
    stored = store.change_game(name, command)
    if stored.session.over and stored.session.seed is not None:
        with contextlib.suppress(OSError, RunError):
            save_run(stored.session, run_folder(store, name))
    return stored


def run_folder(store: Store, name: str) -> Path:
    """Where the run of a finished game lies."""
    return store.folder / "records" / name
