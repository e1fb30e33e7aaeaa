"""Pictures of a position, as text, in colour and as an image.

Every picture is made from a `Frame`, which holds the view of one seat, the last actions and the
outcome; other hands and the deck are not in it, so no picture can show them.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from thegame_env.reference import Game
from thegame_env.rules import N_PILES, PILES, Outcome, Table, Termination
from thegame_env.view import SeatTalk, View

WIDTH = 80
"""Columns of the text."""
ARROWS = ("↑", "↑", "↓", "↓")
WAYS = ("higher", "higher", "lower", "lower")


@dataclass(frozen=True, slots=True)
class Frame:
    """What a picture shows.

    Attributes:
        view: What the seat sees.
        seat: The seat that looks.
        acting: The seat that acts.
        owed: Plays owed in the turn of the acting seat, None where another seat looks.
        last: The last actions, the newest one last.
        outcome: None while the game goes on.
    """

    SHOWN: ClassVar[int] = 6
    """Actions worth keeping for `last`."""

    view: View
    seat: int
    acting: int
    owed: int | None
    last: tuple[int, ...]
    outcome: Outcome | None

    @staticmethod
    def of(game: Game, table: Table, last: list[int] | None, seat: int | None = None) -> Frame:
        """The frame of `seat` (by default the acting one) after the actions `last`."""
        seat = game.seat if seat is None else seat
        owed = game.owed if seat == game.seat else None
        shown = tuple(last or ())[-Frame.SHOWN :]
        return Frame(View.of(game, table, seat), seat, game.seat, owed, shown, game.outcome)

    @property
    def title(self) -> list[str]:
        """The table in words."""
        table = self.view.table
        players = f"{table.players} player" + "s" * (table.players > 1)
        settings = [table.rules.spec(), players, "memory" if table.memory else "no memory"]
        return [*settings, f"talk {table.talk}", f"starter {table.starter}"]

    @property
    def offsets(self) -> list[tuple[int, int, SeatTalk | None]]:
        """`(seat, hand size, talk)` of the other seats, from the next one on."""
        talk = self.view.talk or (None,) * len(self.view.others)
        players = len(self.view.others) + 1
        return [
            ((self.seat + i) % players, size, said)
            for i, (size, said) in enumerate(zip(self.view.others, talk, strict=True), start=1)
        ]

    @property
    def turn(self) -> str:
        """Whose turn it is and what it still owes, in words."""
        if self.outcome is not None:
            return outcome_words(self.outcome, self.view.rules.excellent)
        if self.owed is None:
            return f"seat {self.acting} is acting"
        plays = self.view.plays
        if plays >= self.owed:
            return f"seat {self.acting} acts: {plays} played, {self.owed} owed, may end its turn"
        if self.view.may_end_turn:
            return f"seat {self.acting} acts: {plays} played, no card fits, it passes"
        return f"seat {self.acting} acts: {plays} of {self.owed} owed cards played"


def outcome_words(outcome: Outcome, excellent: int) -> str:
    """How the game ended, in words."""
    if outcome.won:
        return "WON: all cards are laid"
    left = f"{outcome.cards_left} card" + "s" * (outcome.cards_left != 1) + " left"
    why = "an illegal action" if outcome.termination is Termination.ILLEGAL else "stuck"
    praise = ", excellent" if outcome.cards_left <= excellent and why == "stuck" else ""
    return f"LOST ({why}): {left}{praise}"


def next_words(view: View, pile: int) -> str:
    """What may be laid on the pile, in words: "higher, or 30 (trick)"."""
    trick = view.tops[pile] - view.rules.trick if pile < 2 else view.tops[pile] + view.rules.trick
    if not view.rules.low < trick < view.rules.high:
        return WAYS[pile]
    return f"{WAYS[pile]}, or {trick} (trick)"


def action_words(view: View, action: int) -> str:
    """An action in words: "54 on up1", "end of turn"."""
    play = view.rules.decode(action)
    return "end of turn" if play is None else f"{play[0]} on {PILES[play[1]]}"


def talk_words(view: View, said: SeatTalk | None) -> str:
    """What a seat says, in words; empty where the table is silent."""
    if said is None:
        return ""
    if view.table.talk == "avoid":
        piles = [PILES[pile] for pile in range(N_PILES) if said.levels[pile]]
        return "please not on " + ", ".join(piles) if piles else "says nothing"
    words = []
    for level, what in ((2, "trick on"), (1, "close to")):
        piles = [PILES[pile] for pile in range(N_PILES) if said.levels[pile] == level]
        words += [f"{what} {', '.join(piles)}"] if piles else []
    words += ["cannot reach its minimum"] if said.stuck else []
    return "; ".join(words) if words else "says nothing"


def places(view: View, card: int) -> list[int]:
    """The piles on which an own card may be laid now."""
    return [pile for pile in range(N_PILES) if view.is_legal(card, pile)]


def draw(mode: str, frame: Frame) -> Any:
    """The frame in a render mode: text, an image, or None after printing it (human)."""
    return {"ansi": ansi, "rgb_array": rgb_array, "human": human}[mode](frame)


# --- text ----------------------------------------------------------------------------------------


def ansi(frame: Frame) -> str:
    """Plain text of at most 80 columns, without colour; lines end with a newline."""
    view = frame.view
    lines = [*_wrapped("The Game: ", ", ".join(frame.title)), "-" * WIDTH]
    lines += [_pile_line(view, pile) for pile in range(N_PILES)]
    lines += ["", f"  deck    {view.deck:>3} cards,  in all hands and the deck: {view.cards_left}"]
    for seat, size, said in frame.offsets:
        words = f"{size:>3} cards   {talk_words(view, said)}".rstrip()
        lines.append(f"{'*' if seat == frame.acting else ' '} seat {seat}  {words}")
    mine = " ".join(f"{card:>2}" for card in sorted(view.hand)) or "no cards"
    mark = "*" if frame.seat == frame.acting else " "
    lines += _wrapped(f"{mark} seat {frame.seat}  hand: ", mine)
    idle = [str(card) for card in sorted(view.hand) if not places(view, card)]
    lines += _wrapped("  fit no pile: ", ", ".join(idle)) if idle else []
    lines += [""]
    if frame.last:
        told = ", ".join(action_words(view, action) for action in frame.last)
        lines += _wrapped("  last:   ", told)
    lines += _wrapped("  now:    ", frame.turn)
    return "\n".join(lines) + "\n"


def _pile_line(view: View, pile: int) -> str:
    return f"  {PILES[pile]:<6}{ARROWS[pile]} {view.tops[pile]:>3}   next: {next_words(view, pile)}"


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(head + text, WIDTH, subsequent_indent=" " * len(head))


def human(frame: Frame) -> None:
    """Print the frame in the terminal, in colour; arrows and words say all that colour says."""
    from rich.console import Console

    Console(highlight=False).print(rich_table(frame))


def rich_table(frame: Frame) -> Any:
    """The frame as a rich renderable (a panel)."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table as Grid
    from rich.text import Text

    view = frame.view
    piles = Grid.grid(padding=(0, 2))
    for pile in range(N_PILES):
        colour = "green" if pile < 2 else "cyan"
        top = Text(f" {view.tops[pile]:>3} ", style=f"bold black on {colour}")
        name = Text(f"{PILES[pile]} {ARROWS[pile]}", style=colour)
        piles.add_row(name, top, f"next: {next_words(view, pile)}")
    seats = Grid.grid(padding=(0, 2))
    seats.add_row("deck", f"{view.deck} cards", f"in all hands and the deck: {view.cards_left}")
    for seat, size, said in frame.offsets:
        mark = "*" if seat == frame.acting else " "
        seats.add_row(f"{mark} seat {seat}", f"{size} cards", talk_words(view, said))
    hand = Text(f"seat {frame.seat} holds ")
    for card in sorted(view.hand):
        fits = bool(places(view, card))
        hand.append(f" {card} ", style="bold black on white" if fits else "dim")
        hand.append(" " if fits else "(no) ")
    style = "bold green" if frame.outcome is not None and frame.outcome.won else "bold"
    last = ", ".join(action_words(view, action) for action in frame.last)
    parts: list[Any] = [piles, "", seats, "", hand, Text("last: " + last) if last else ""]
    parts.append(Text(frame.turn, style="bold red" if _lost(frame) else style))
    return Panel(Group(*parts), title=Text("The Game: " + ", ".join(frame.title)), width=WIDTH)


def _lost(frame: Frame) -> bool:
    return frame.outcome is not None and not frame.outcome.won


def rgb_array(frame: Frame) -> npt.NDArray[np.uint8]:
    """The frame as an image, uint8[600, 960, 3]; needs no display."""
    from thegame_env.picture import paint

    return paint(frame)
