"""`thegame hint`: what to play in a position."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer

from thegame_app.cli import JsonOption, print_json, say

if TYPE_CHECKING:
    from thegame_app.hint_agent import Player
    from thegame_app.hints import Hint
    from thegame_app.language import Language
    from thegame_env.rules import Table

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
    agent: Annotated[
        str | None, typer.Option(help="Tell, too, what this agent would play: ppo, ppo:PATH, ...")
    ] = None,
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Load a .zip model, which runs the code it holds."),
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
        view = parse_position(position)
        with redirect_stdout(sys.stderr):  # what a plug-in prints is no part of the answer
            player = None if agent is None else asked(agent, view.table, allow_pickle)
            answer = hint(view, strength, top, seed, partners, words, player=player)  # type: ignore[arg-type]
    if json:
        print_json(answer.document())
    elif staged:
        reveal(answer, words)
    else:
        print_hint(answer, words)


def asked(agent: str, table: Table, allow_pickle: bool) -> Player:
    """The agent that is asked for its plan; of an archive it is said that its code runs."""
    from agents.plugins import PICKLE_WARNING, is_archive
    from thegame_app.hint_agent import player_for

    if allow_pickle and is_archive(agent):
        say(f"thegame hint: warning: loading {agent}: {PICKLE_WARNING}")
    return player_for(agent, table, allow_pickle)


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
