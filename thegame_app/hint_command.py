"""`thegame hint`: what to play in a position."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from thegame_app.cli import JsonOption, print_json

if TYPE_CHECKING:
    from thegame_app.hints import Hint
    from thegame_app.language import Language

POSITION_HELP = (
    'What you see, as "up=23,40 down=77,60 hand=12,34,45 others=6,6 deck=40": other keys are '
    "played, rules, seen and talk."
)


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("hint")(give_hint)


def give_hint(
    position: Annotated[str, typer.Argument(help=POSITION_HELP)],
    strength: Annotated[
        str, typer.Option(help="instant (a second), normal or deep (some seconds).")
    ] = "normal",
    top: Annotated[int, typer.Option(min=1, help="Plans shown at most.")] = 5,
    partners: Annotated[
        str, typer.Option(help="expert (they plan as you do) or casual (the nearest card first).")
    ] = "casual",
    lang: Annotated[
        str | None, typer.Option(help="en, de or pl; by default that of the system.")
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Reveal the pile first, then the card, then all.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the dealings that are tried.")] = 0,
    json: JsonOption = False,
) -> None:
    """Rank the plans of a turn, with the cards left and the chance to win to expect."""
    from thegame_app.hints import hint
    from thegame_app.language import Refusal
    from thegame_app.refusals import language_asked_for, spoken
    from thegame_env.notation import parse_position

    words = language_asked_for(lang)
    with spoken(words):
        if staged and json:
            raise Refusal("either --staged or --json, not both")
        answer = hint(parse_position(position), strength, top, seed, partners, words)  # type: ignore[arg-type]
    if json:
        print_json(answer.document())
    elif staged:
        reveal(answer, words)
    else:
        print_hint(answer, words)


def print_hint(answer: Hint, lang: Language) -> None:
    """Print a hint for people on stdout, at most 80 columns wide."""
    from thegame_app.hint_text import hint_text

    print(hint_text(answer, lang))


def reveal(answer: Hint, lang: Language) -> None:
    """Print a hint in stages; at a terminal the next one comes with Enter."""
    from thegame_app.hint_text import stages

    shown = stages(answer, lang)
    for number, (heading, text) in enumerate(shown, start=1):
        print(f"{heading}\n{text}")
        if number < len(shown):
            if sys.stdin.isatty():
                print(lang("Press Enter for more."), end=" ", flush=True)
                sys.stdin.readline()
            print()
