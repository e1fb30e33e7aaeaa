"""The directory of a run: the manifest, one row a game, and how long the decisions took.

    runs/NAME/
      manifest.json                               what was asked for, and on what it ran
      rows/<cell>-<first game>-<count>.jsonl.gz   one line a game, the same bytes everywhere
      timings/<cell>-<first game>-<count>.json    times, which no two machines share

A chunk of rows appears under its name only when it is whole, so a run that was killed goes on
by playing the chunks that are not there. Times are kept apart from the rows, because the rows
of a run are the same for one worker and for many.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from eval.cells import Cell, Chunk, Starter, Talk
from eval.manifest import Manifest, RunError
from eval.timing import Timing

Ended = Literal["won", "stuck", "crash", "illegal", "timeout"]

FAULTS: tuple[Ended, ...] = ("crash", "illegal", "timeout")
_ACTIONS = b',"actions":['
_DAMAGE = (gzip.BadGzipFile, EOFError, zlib.error, ValueError, TypeError)


@dataclass(frozen=True, slots=True)
class GameRow:
    """One game, as it is stored: where it was played, how it went, and all of its actions.

    Attributes:
        agent: see `Cell`; the next five fields are the cell's too.
        seed: of the deals, below 2**63.
        game: index of the deal under that seed; also the game's place within its cell.
        seats: the agent of every seat, length `players`.
        won: whether all cards were played.
        cards_left: cards in the deck and in all hands at the end.
        turns: turns begun.
        tricks: plays that went backwards by ten.
        plays: cards played.
        ended: why the game ended. "crash", "illegal" and "timeout" are faults of an agent.
        reason: a sentence about the fault; empty without one.
        deck: what remained in the deck, next card first.
        hands: what remained in each hand, length `players`.
        actions: every action from the deal on, so that the game can be replayed.

    Raises:
        ValueError: on creation, if the fields contradict each other.
    """

    agent: str
    players: int
    rules: str
    talk: Talk
    memory: bool
    starter: Starter
    seed: int
    game: int
    seats: list[str]
    won: bool
    cards_left: int
    turns: int
    tricks: int
    plays: int
    ended: Ended
    reason: str
    deck: list[int]
    hands: list[list[int]]
    actions: list[int]

    def __post_init__(self) -> None:
        if not len(self.seats) == len(self.hands) == self.players:
            raise ValueError(f"game {self.game}: seats and hands must number {self.players}")
        if self.cards_left != len(self.deck) + sum(map(len, self.hands)):
            raise ValueError(f"game {self.game}: cards_left is not what deck and hands hold")
        if not self.won == (self.ended == "won") == (self.cards_left == 0):
            raise ValueError(f"game {self.game}: won, ended and cards_left contradict each other")

    @property
    def cell(self) -> Cell:
        """The cell this game belongs to."""
        return Cell(
            self.agent, self.players, self.rules, self.talk, self.memory, self.starter
        )  # fmt: skip


def open_run(run_dir: Path, manifest: Manifest) -> list[Chunk]:
    """Begin a run, or go on with one, and return the chunks that are still to be played.

    Args:
        run_dir: made if it does not exist.
        manifest: what to play. An earlier manifest stays as it is, with its command and date.

    Raises:
        RunError: the directory holds another run, or a manifest that cannot be read.
        OSError: the directory cannot be written.
    """
    if (run_dir / "manifest.json").exists():
        earlier = read_manifest(run_dir)
        changed = earlier.differences(manifest)
        if changed:
            raise RunError(
                f"{run_dir} holds another run: it differs in {', '.join(changed)}; choose another "
                "name, or --overwrite it, or repeat the command it was made by: " + earlier.command
            )
        return missing_chunks(run_dir)
    write_manifest(run_dir, manifest)
    return list(manifest.chunks())


def write_manifest(run_dir: Path, manifest: Manifest) -> None:
    """Write manifest.json; it is replaced in one step or not at all."""
    text = manifest.model_dump_json(indent=2) + "\n"
    write_atomic(run_dir / "manifest.json", text.encode())


def read_manifest(run_dir: Path) -> Manifest:
    """Read manifest.json.

    Raises:
        RunError: it is absent, or not a manifest; the message names the wrong fields.
    """
    path = run_dir / "manifest.json"
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise RunError(f"{run_dir} is not a run: it has no manifest.json") from None
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise RunError(f"{path} is not a manifest: {'; '.join(wrong)}") from error


def write_chunk(
    run_dir: Path, chunk: Chunk, rows: Sequence[GameRow], timing: Timing | None = None
) -> None:
    """Store the games of a chunk; the rows appear whole or not at all.

    The timing goes first, so that a chunk whose rows exist needs nothing more.

    Args:
        run_dir: the run.
        chunk: which games these are.
        rows: games `chunk.first` and following, in order, with plain Python numbers.
        timing: how long they took, if it was measured.

    Raises:
        RunError: the rows are not the games of the chunk.
        OSError: the disk is full or cannot be written; nothing that was there is lost.
    """
    _check_rows(chunk, rows)
    if timing is not None:
        write_atomic(chunk.timing_path(run_dir), json.dumps(asdict(timing)).encode())
    write_atomic(chunk.rows_path(run_dir), pack_rows(rows))


def read_chunk(run_dir: Path, chunk: Chunk, actions: bool = True) -> list[GameRow]:
    """Read the games of a chunk.

    Args:
        run_dir: the run.
        chunk: which games.
        actions: whether to read the actions too; rows without them are read twice as fast.

    Raises:
        RunError: the file is absent, cut short, damaged, or holds other games.
        OSError: the file is there but may not be read.
    """
    path = chunk.rows_path(run_dir)
    try:
        lines = gzip.decompress(path.read_bytes()).splitlines()
        if not actions:
            lines = [line[: line.rindex(_ACTIONS)] + _ACTIONS + b"]}" for line in lines]
        rows = [GameRow(**json.loads(line)) for line in lines]
        _check_rows(chunk, rows)
    except FileNotFoundError:
        raise RunError(f"{path} has not been played yet") from None
    except _DAMAGE as error:
        raise RunError(f"{path} is damaged and must be played again: {error}") from error
    return rows


def read_timing(run_dir: Path, chunk: Chunk) -> Timing | None:
    """Read how long a chunk took; None if that was not measured or cannot be read."""
    try:
        stored = json.loads(chunk.timing_path(run_dir).read_bytes())
        histogram = {int(k): int(n) for k, n in stored.pop("histogram").items()}
        return Timing(**stored, histogram=histogram)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def missing_chunks(run_dir: Path) -> list[Chunk]:
    """Return the chunks that are absent or damaged, in the order of their games' numbers.

    Raises:
        RunError: the directory has no usable manifest.
    """
    return [c for c in read_manifest(run_dir).chunks() if not _is_whole(run_dir, c)]


def find_game(run_dir: Path, number: int) -> GameRow:
    """Return one game by its number within the run; see `Manifest` for the numbering.

    Raises:
        RunError: there is no such game, or its chunk is absent or damaged.
    """
    chunk, place = read_manifest(run_dir).locate(number)
    return read_chunk(run_dir, chunk)[place]


def pack_rows(rows: Sequence[GameRow]) -> bytes:
    """Return rows as compressed JSON lines; equal rows give equal bytes."""
    names = [field.name for field in fields(GameRow)]
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=buffer, mtime=0) as out:
        for row in rows:
            line = json.dumps({name: getattr(row, name) for name in names}, separators=(",", ":"))
            out.write(line.encode() + b"\n")
    return buffer.getvalue()


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file under a temporary name beside it and rename it, making its directory.

    Raises:
        OSError: it could not be written; the temporary file is gone, an earlier file is intact.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _check_rows(chunk: Chunk, rows: Sequence[GameRow]) -> None:
    """Raise RunError unless these are the games of the chunk, in order."""
    if len(rows) != chunk.count:
        raise RunError(f"{chunk.name} has {len(rows)} games instead of {chunk.count}")
    for game, row in enumerate(rows, chunk.first):
        if row.game != game or row.cell != chunk.cell:
            raise RunError(f"{chunk.name} has game {row.game} of {row.cell} in place of {game}")


def _is_whole(run_dir: Path, chunk: Chunk) -> bool:
    try:
        read_chunk(run_dir, chunk, actions=False)
    except RunError:
        return False
    return True
