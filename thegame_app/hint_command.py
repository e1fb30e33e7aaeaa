"""`thegame hint`: what to play in a position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thegame_app.cli import JsonOption, print_json

if TYPE_CHECKING:
    from thegame_app.hints import Hint, Plan

POSITION_HELP = (
    'What you see, as "up=23,40 down=77,60 hand=12,34,45 others=6,6 deck=40": other keys are '
    "played, rules, seen and talk."
)
WIDTH = 80
"""Columns of the printed table."""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("hint")(give_hint)


def give_hint(
    position: Annotated[str, typer.Argument(help=POSITION_HELP)],
    strength: Annotated[
        str, typer.Option(help="instant (a second), normal or deep (some seconds).")
    ] = "normal",
    top: Annotated[int, typer.Option(min=1, help="Plans shown at most.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of the dealings that are tried.")] = 0,
    json: JsonOption = False,
) -> None:
    """Rank the plans of a turn, with the cards left and the chance to win to expect."""
    from thegame_app.hints import hint
    from thegame_env.notation import parse_position

    answer = hint(parse_position(position), strength, top, seed)
    if json:
        print_json(answer.document())
    else:
        print_hint(answer)


def print_hint(answer: Hint) -> None:
    """Print a hint for people on stdout, at most 80 columns wide."""
    from rich.console import Console
    from rich.table import Table

    from thegame_app.sentences import sentence

    console = Console(width=WIDTH, highlight=False)
    if answer.plans:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("", justify="right")
        table.add_column(sentence("plan"), max_width=28)
        table.add_column(sentence("cards_left"), justify="right", no_wrap=True)
        table.add_column(sentence("win"), justify="right", no_wrap=True)
        table.add_column(sentence("why"))
        for rank, plan in enumerate(answer.plans, start=1):
            table.add_row("~" * plan.close + str(rank), *_cells(plan))
        console.print(table)
    if any(plan.close for plan in answer.plans):
        console.print(sentence("close"), markup=False)
    console.print(answer.note, markup=False)


def _cells(plan: Plan) -> tuple[str, str, str, str]:
    """Plan, cards left, win chance and reason as they are printed."""
    from thegame_app.sentences import sentence
    from thegame_env.rules import PILES

    steps = [f"{card} {PILES[pile]}" for card, pile in plan.plays]
    steps += [sentence("end_turn")] * plan.ends_turn
    return (
        ", ".join(steps),
        f"{plan.cards_left:.2f} ± {plan.cards_left_se:.2f}",
        f"{100 * plan.win:.1f} ± {100 * plan.win_se:.1f}",
        plan.reason,
    )
