"""What is entered at the table assistant: the events that a physical game is the sum of."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from thegame_app.language import Language, Refusal
from thegame_env.rules import MAX_SEATS, Rules

MAX_NAME = 24
"""Letters of a player's name at most, so that it fits a phone."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How a physical game begins.

    Attributes:
        names: The players in the order of their seats.
        rules: The rules played.
        starter: The seat that the table agreed should start.
        memory: Whether the table allows to look through the piles (or to remember all of it).

    Raises:
        Refusal: Names, player count or starter do not fit.
    """

    names: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)
    starter: int = 0
    memory: bool = True

    def __post_init__(self) -> None:
        for name in self.names:
            check_name(name)
        if len({name.casefold() for name in self.names}) < len(self.names):
            raise Refusal("Two players bear the same name.")
        if not 1 <= len(self.names) <= MAX_SEATS:
            raise Refusal("A game has 1 to {most} players.", most=MAX_SEATS)
        try:
            self.rules.hand_size(len(self.names))
        except ValueError:
            raise Refusal(
                "{rules} cannot be played with this number of players: {n}.",
                rules=self.rules.name,
                n=len(self.names),
            ) from None
        if not 0 <= self.starter < len(self.names):
            raise Refusal("The starter is none of the players.")

    @property
    def players(self) -> int:
        """How many play."""
        return len(self.names)

    @property
    def full(self) -> int:
        """Cards in a full hand."""
        return self.rules.hand_size(self.players)


def check_name(name: str) -> None:
    """Refusal unless `name` can stand on the page: not empty, short, in one line."""
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        raise Refusal("A player needs a name.")
    if len(name) > MAX_NAME or not name.isprintable():
        raise Refusal("A name has at most {most} letters, in one line.", most=MAX_NAME)


@dataclass(frozen=True, slots=True)
class Lay:
    """A card was laid; `card` is None where only its legality was confirmed, by hand."""

    seat: int
    pile: int
    card: int | None


@dataclass(frozen=True, slots=True)
class EndTurn:
    """The turn is over and the refill is done.

    Attributes:
        seat: Whose turn.
        drawn: Cards that were drawn.
        passes: Confirmed by hand: no card of the hand fits (only where the rules let a seat pass).
    """

    seat: int
    drawn: int
    passes: bool = False


@dataclass(frozen=True, slots=True)
class ReportStuck:
    """The acting player says that the minimum cannot be reached."""

    seat: int


@dataclass(frozen=True, slots=True)
class ConfirmResult:
    """The table agrees: the game is lost with so many cards left."""

    cards_left: int


@dataclass(frozen=True, slots=True)
class Undo:
    """The last action that still stands is taken back."""


Entry = Lay | EndTurn | ReportStuck | ConfirmResult | Undo
KINDS: dict[str, type[Any]] = {
    "lay": Lay,
    "end_turn": EndTurn,
    "stuck": ReportStuck,
    "confirm": ConfirmResult,
    "undo": Undo,
}


def to_document(entry: Entry) -> dict[str, Any]:
    """The entry for JSON; `from_document` reads it back."""
    kind = next(kind for kind, made in KINDS.items() if isinstance(entry, made))
    return {"kind": kind, **dataclasses.asdict(entry)}


def from_document(document: dict[str, Any]) -> Entry:
    """The entry of a document.

    Raises:
        ValueError: It is none.
    """
    values = dict(document)
    made = KINDS.get(values.pop("kind", ""))
    if made is None or values.keys() != {entry.name for entry in dataclasses.fields(made)}:
        raise ValueError(f"not an entry of a table: {document!r}")
    entry: Entry = made(**values)
    return entry


def describe(entry: Entry, names: tuple[str, ...], lang: Language, undone: str = "") -> str:
    """What was entered, in a few words; `undone` describes what an `Undo` takes back."""
    match entry:
        case Lay(seat, pile, None):
            return lang("{name}: a card without its value on {pile}", name=names[seat], pile=pile)
        case Lay(seat, pile, card):
            return lang("{name}: {card} on {pile}", name=names[seat], card=card, pile=pile)
        case EndTurn(seat, drawn, _):
            return lang.plural(
                "{name}: turn over, {n} card drawn",
                "{name}: turn over, {n} cards drawn",
                drawn,
                name=names[seat],
            )
        case ReportStuck(seat):
            return lang("{name}: stuck", name=names[seat])
        case ConfirmResult(cards_left):
            return lang.plural(
                "result confirmed, {n} card left", "result confirmed, {n} cards left", cards_left
            )
        case Undo():
            return lang("taken back ({undone})", undone=undone)
