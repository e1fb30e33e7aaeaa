"""`thegame perft`: how many action sequences of a length a deal has, by one engine or by both."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from thegame_app.cli import JsonOption, late_progress, print_json, say

if TYPE_CHECKING:
    from thegame_env.engine import Engine
    from thegame_env.rules import Table

EngineChoice = Literal["reference", "fast", "both"]
Deck = tuple[int, ...]


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("perft")(perft)


def perft(
    players: Annotated[int, typer.Option(help="Number of players.")],
    depth: Annotated[int, typer.Option(min=0, help="Length of the action sequences.")],
    rules: Annotated[
        str, typer.Option(help="A preset, or custom rules: custom/cards:20/hand_sizes:3-3.")
    ] = "official",
    deck: Annotated[
        str | None,
        typer.Option(help="The whole deck order as 2,3,...; seat 0 is dealt the first cards."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the deal where no deck is given.")] = 0,
    divide: Annotated[bool, typer.Option("--divide", help="Count by first action too.")] = False,
    engine: Annotated[EngineChoice, typer.Option(help="Who counts.")] = "fast",
    json: JsonOption = False,
) -> None:
    """Count the action sequences of a length: plays and END_TURN, none in a finished game."""
    from thegame_env.deal import check_deck, deal
    from thegame_env.rules import Rules, Table

    table = Table(Rules.parse(rules), players)
    cards = deal(table.rules, seed) if deck is None else check_deck(table.rules, _numbers(deck))
    started = time.perf_counter()
    counts = [_count(name, table, cards, depth) for name in _engines(engine)]
    result = {
        "nodes": sum(counts[0].values()) if depth else 1,
        "players": players,
        "rules": table.rules.spec(),
        "depth": depth,
        "deck": cards,
        "engine": engine,
        "seconds": time.perf_counter() - started,
    }
    if json:
        print_json(result | ({"divide": counts[0]} if divide else {}))
    else:
        _print_lines(counts[0] if divide else {}, result["nodes"])
    if counts[0] != counts[-1]:
        say(f"thegame perft: the engines differ: {_difference(table, cards, depth)}")
        raise typer.Exit(1)


def _engines(engine: EngineChoice) -> tuple[EngineChoice, ...]:
    return ("reference", "fast") if engine == "both" else (engine,)


def _numbers(text: str) -> list[int]:
    """The numbers of a comma-separated deck; ValueError names what is not one."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit()):
            raise ValueError(f'deck: "{part}" is not a card; give every card once as 2,3,...')
    return [int(part) for part in parts]


def _count(engine: EngineChoice, table: Table, deck: Deck, depth: int) -> dict[str, int]:
    """Sequences by first action (in text); shows progress where it takes its time."""
    from thegame_env import perft as counting
    from thegame_env.notation import format_action
    from thegame_env.reference import Game

    if not depth:
        return {}
    game = Game.start(table, deck)
    if engine == "reference":
        parts = counting.divide_reference(game, depth)
    else:
        parts = counting.divide_fast(_dealt(table, deck), depth)
    counts = {}
    with late_progress() as progress:
        task = progress.add_task(f"perft, {engine}", total=len(game.legal_actions()))
        for action, nodes in parts:
            counts[format_action(table.rules, action)] = nodes
            progress.advance(task)
    return counts


def _dealt(table: Table, deck: Deck) -> Engine:
    from thegame_env.engine import Engine

    engine = Engine(table, 1)
    engine.deal_deck(0, deck)
    return engine


def _print_lines(counts: dict[str, int], nodes: object) -> None:
    for action, number in counts.items():
        print(f"{action} {number}")
    print(f"nodes {nodes}")


def _difference(table: Table, deck: Deck, depth: int) -> str | None:
    from thegame_env.perft import first_difference

    return first_difference(table, deck, depth, _dealt(table, deck))
