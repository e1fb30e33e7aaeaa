"""`thegame play`: the game in a browser, or in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thegame_app.cli import say

if TYPE_CHECKING:
    from thegame_app.session import Session
    from thegame_app.store import Store, Stored

AGENTS_HELP = (
    "Who plays as player 2, 3, ...: person, or an agent such as greedy:extra=4; by commas, or the "
    "option several times. A single one plays all of them; by default the strongest one."
)


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("play")(play)


def play(
    players: Annotated[
        int | None, typer.Option(min=1, max=5, help="By default as --agents asks for, else 1.")
    ] = None,
    rules: Annotated[str | None, typer.Option(help="Preset; official by default.")] = None,
    talk: Annotated[str | None, typer.Option(help="none, avoid or open.")] = None,
    starter: Annotated[str | None, typer.Option(help="seat0 (player 1) or agreed.")] = None,
    agents: Annotated[list[str] | None, typer.Option(help=AGENTS_HELP)] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the deal.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Deal anew: do not go on.")] = False,
    terminal: Annotated[bool, typer.Option("--terminal", help="Play here.")] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="With --terminal: lines of text, no colour, no boxes.")
    ] = False,
    lan: Annotated[
        bool, typer.Option("--lan", help="Let others on this network join, each by a link.")
    ] = False,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: a free one.")] = 0,
    data: Annotated[Path | None, typer.Option(help="Data folder (or THEGAME_DATA).")] = None,
    lang: Annotated[str | None, typer.Option(help="en, de or pl.")] = None,
) -> None:
    """Play against the deck, alone, with agents, or with others; the game is saved all the time.

    Without options about the table it goes on with the game that was played last.
    """
    from thegame_app.language import Refusal
    from thegame_app.refusals import language_asked_for, spoken
    from thegame_app.store import Store, data_folder

    words = language_asked_for(lang)
    with spoken(words):
        if plain and not terminal:
            raise Refusal("--plain goes with --terminal")
        if terminal and lan:
            raise Refusal("either --terminal or --lan, not both")
        store = Store(data_folder(data))
        asked = any(value is not None for value in (players, rules, talk, starter, agents, seed))
        stored = None if asked or new else last_game(store)
        if stored is None:
            session = dealt(players, rules, talk, starter, agents or [], seed)
            stored = store.add_game(session, session.people[:1] if lan else None)
        if terminal:
            from thegame_app.terminal import play_in_terminal

            play_in_terminal(store, stored.id, plain, words)
        else:
            from thegame_app.web.serve import serve

            serve(store, stored, lan=lan, lang=lang, port=port, browser=browser, tell=say)


def last_game(store: Store) -> Stored | None:
    """The game last played here that is not finished."""
    return next((stored for stored in store.games(finished=False) if stored.here), None)


def dealt(
    players: int | None,
    rules: str | None,
    talk: str | None,
    starter: str | None,
    agents: list[str],
    seed: int | None,
) -> Session:
    """A new game as the options ask for it; a person sits at the first seat.

    Without a number of players there are as many as were named, and one for the first seat.

    Raises:
        ValueError: Options that do not fit each other, or an agent that cannot play.
    """
    from agents.registry import split_agents
    from thegame_app.crew import Crew, strongest
    from thegame_app.session import Session
    from thegame_env.rules import MAX_SEATS, Rules, Table

    named = [name for text in agents for name in split_agents(text)]
    table = Table(
        Rules.parse(rules or "official"),
        min(len(named) + 1, MAX_SEATS) if players is None else players,
        True,
        talk or "none",  # type: ignore[arg-type]
        starter or "seat0",  # type: ignore[arg-type]
    )
    seats = seats_of(named or [strongest(table)] * (table.players > 1), table.players)
    Crew().check(seats, table, foreign=True)
    return Session.new(table, seats, seed)


def seats_of(named: list[str], players: int) -> tuple[str, ...]:
    """Who sits where: a person first, then the named ones; a single one at all other seats."""
    from thegame_app.language import Refusal
    from thegame_app.session import PERSON

    others = named * (players - 1) if len(named) == 1 < players else named
    if len(others) != players - 1:
        raise Refusal(
            "players beside the first: {seats}, agents named for them: {agents}",
            agents=len(named),
            seats=players - 1,
        )
    return (PERSON, *others)
