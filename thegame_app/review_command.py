"""`thegame review`: what each turn of a game cost, and what luck did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thegame_app.cli import JsonOption, late_progress, print_json, say

if TYPE_CHECKING:
    from thegame_app.review import Review
    from thegame_env.notation import GameRecord

RECORD_HELP = (
    "The game: a run's directory (with --game where it holds several), a file with its record, or "
    'the record itself, as "players=2 deck=... actions=...".'
)


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("review")(review_game)


def review_game(
    record: Annotated[str, typer.Argument(help=RECORD_HELP)],
    game: Annotated[int | None, typer.Option(help="Number of the game within the run.")] = None,
    player: Annotated[
        int | None, typer.Option(min=1, help="Judge the turns of this player only, from 1 on.")
    ] = None,
    strength: Annotated[
        str, typer.Option(help="instant, normal or deep: work a turn, as for a hint.")
    ] = "normal",
    partners: Annotated[
        str, typer.Option(help="expert (they plan as you do) or casual (the nearest card first).")
    ] = "expert",
    lang: Annotated[
        str | None, typer.Option(help="en, de or pl; by default that of the system.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the curve: a .svg or .png file.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the dealings that are tried.")] = 0,
    json: JsonOption = False,
) -> None:
    """Grade every turn of a game by the cards and the chance to win that it lost."""
    from thegame_app.refusals import language_asked_for, spoken
    from thegame_app.review_text import review_text

    words = language_asked_for(lang)
    with spoken(words):
        kind, read = _format(out), _read(record, game)
        result = _review(read, strength, partners, seed, _seat(read, player))
    if out is not None:
        from eval.records import write_atomic
        from thegame_app.review_plot import draw

        write_atomic(out, draw(result, words, kind))
        say(f"thegame review: the curve is in {out}")
    if json:
        print_json(result.document())
    else:
        print(review_text(result, words))


def _seat(record: GameRecord, player: int | None) -> int | None:
    """The seat of a player, None for all; a Refusal where the game has no such player."""
    from thegame_app.language import Refusal

    players = record.table.players
    if player is not None and player > players:
        raise Refusal("there is no player {player}, players are 1-{last}",
                      player=player, last=players)  # fmt: skip
    return None if player is None else player - 1


def _format(out: Path | None) -> str:
    if out is None:
        return ""
    from thegame_app.review_plot import plot_format

    return plot_format(out)


def _review(
    record: GameRecord, strength: str, partners: str, seed: int, seat: int | None
) -> Review:
    """The review, with a progress display."""
    from thegame_app.review import review

    with late_progress() as progress:
        task = progress.add_task("turns", total=None)
        return review(
            record,
            strength,
            partners,  # type: ignore[arg-type]
            seed,
            seat,
            lambda done, total: progress.update(task, completed=done, total=total),
        )


def _read(text: str, game: int | None) -> GameRecord:
    """The record that the argument stands for; ValueError where there is none."""
    from thegame_app.language import Refusal
    from thegame_env.notation import GameRecord

    path = None if "=" in text else Path(text)
    if path is not None and path.is_dir():
        return _of_run(path, game)
    if game is not None:
        raise Refusal("--game goes with a run's directory")
    if path is None:
        return GameRecord.parse(text)
    try:
        return GameRecord.parse(path.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        raise Refusal("there is no file or directory {path}", path=path) from None
    except UnicodeDecodeError:
        raise Refusal("{path} is not a game record", path=path) from None


def _of_run(path: Path, game: int | None) -> GameRecord:
    from eval.records import find_game
    from thegame_app.replay_command import game_of, record_of

    return record_of(find_game(path, game_of(path, game)))
