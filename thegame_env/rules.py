"""The rules as values: presets, the action codec, how a game ends.

This is the only place where the numbers 98, 100 and 10 of the published game stand. Everything
else asks a `Rules` value, so that a scaled-down table (for exact counts) is just another value.
"""

from __future__ import annotations

import difflib
import operator
import re
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Literal, get_args

PILES = ("up1", "up2", "down1", "down2")
"""Pile names in codec order; the first two ascend, the last two descend."""
N_PILES = 4
MAX_SEATS = 5
MAX_CARDS = 98
"""Two machine words of 49 bits hold a set of cards in the fast engine."""
MAX_TRICK = 48
"""So that a pile's window reaches back to its trick in one word."""

Talk = Literal["none", "avoid", "open"]
Starter = Literal["seat0", "agreed"]
StuckWhen = Literal["acting", "nobody"]


class Termination(StrEnum):
    """How a game ended."""

    WON = "won"
    STUCK = "stuck"
    ILLEGAL = "illegal"
    """Only with `illegal="lose"`: an unmasked checker chose an illegal action."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished game; `cards_left` counts all hands and the deck (0 is a win)."""

    termination: Termination
    cards_left: int

    @property
    def won(self) -> bool:
        """Whether all cards were laid."""
        return self.termination is Termination.WON


class IllegalAction(ValueError):
    """An action that the rules forbid; the message names the rule that it breaks."""


@dataclass(frozen=True, slots=True)
class Rules:
    """One table of rules.

    Attributes:
        name: Preset name, or "custom"; it is a label, not a rule, so it does not take part in ==.
        cards: Number of cards N; they are numbered 2..N+1 between the starts 1 and N+2.
        hand_sizes: Cards in a full hand for 1..5 players; 0 where that count is not played.
        minimum: Plays owed in a turn that starts with cards in the deck.
        minimum_empty: Plays owed in a turn that starts with the deck empty.
        stuck: "acting" when the acting seat that cannot reach its minimum loses the game;
            "nobody" when it passes, and the game is lost once no seat holds a legal card.
        excellent: The most cards left that still count as excellent.
        trick: Distance of the backwards trick.

    A turn never owes more plays than the hand holds when it starts.
    """

    name: str = field(default="official", compare=False)
    cards: int = 98
    hand_sizes: tuple[int, ...] = (8, 7, 6, 6, 6)
    minimum: int = 2
    minimum_empty: int = 1
    stuck: StuckWhen = "acting"
    excellent: int = 9
    trick: int = 10

    def __post_init__(self) -> None:
        for name in ("cards", "minimum", "minimum_empty", "excellent", "trick"):
            value = getattr(self, name)
            if not _is_whole(value):
                raise ValueError(f"{name} must be a whole number, not {value!r}")
        if not 1 <= self.cards <= MAX_CARDS:
            raise ValueError(f"cards must be between 1 and {MAX_CARDS}, not {self.cards}")
        if not 1 <= self.minimum <= self.cards or not 1 <= self.minimum_empty <= self.cards:
            raise ValueError("minimum and minimum_empty must lie between 1 and the cards")
        if not 1 <= self.trick <= MAX_TRICK:
            raise ValueError(f"trick must be between 1 and {MAX_TRICK}, not {self.trick}")
        if self.excellent < 0:
            raise ValueError(f"excellent must be a number of cards from 0 up, not {self.excellent}")
        if self.stuck not in get_args(StuckWhen):
            raise ValueError(f'stuck must be "acting" or "nobody", not {self.stuck!r}')
        self._check_hands()

    def _check_hands(self) -> None:
        if not isinstance(self.hand_sizes, tuple) or not all(map(_is_whole, self.hand_sizes)):
            raise ValueError(f"hand_sizes must be a tuple of numbers, not {self.hand_sizes!r}")
        if not 1 <= len(self.hand_sizes) <= MAX_SEATS or not any(self.hand_sizes):
            raise ValueError(f"hand_sizes needs one to {MAX_SEATS} sizes, at least one not 0")
        for players, size in enumerate(self.hand_sizes, start=1):
            if size < 0 or players * size > self.cards:
                raise ValueError(
                    f"hands of {size} for {players} players do not fit into {self.cards} cards"
                )

    # --- the table ---------------------------------------------------------------------------

    @property
    def low(self) -> int:
        """Start of the ascending piles."""
        return 1

    @property
    def high(self) -> int:
        """Start of the descending piles."""
        return self.cards + 2

    @property
    def starts(self) -> tuple[int, int, int, int]:
        """Tops of the four untouched piles in codec order."""
        return (self.low, self.low, self.high, self.high)

    @property
    def deck(self) -> tuple[int, ...]:
        """All cards in ascending order."""
        return tuple(range(self.low + 1, self.high))

    def hand_size(self, players: int) -> int:
        """Cards in a full hand at a table of `players`; ValueError where that is not played."""
        if not _is_whole(players):
            raise ValueError(f"players must be a whole number, not {players!r}")
        if 1 <= players <= len(self.hand_sizes) and self.hand_sizes[players - 1]:
            return self.hand_sizes[players - 1]
        played = [n for n, size in enumerate(self.hand_sizes, start=1) if size]
        raise ValueError(f'"{self.name}" is played by {_span(played)} players, not by {players}')

    def owed(self, deck_size: int, hand_size: int) -> int:
        """Plays owed in a turn that starts with these sizes of deck and own hand."""
        return min(self.minimum if deck_size else self.minimum_empty, hand_size)

    def mirror(self, card: int) -> int:
        """The card as seen from the other direction (2 <-> N+1)."""
        return self.low + self.high - card

    # --- the action codec --------------------------------------------------------------------

    @property
    def end_turn(self) -> int:
        """The END_TURN action, the last of the codec."""
        return N_PILES * self.cards

    @property
    def n_actions(self) -> int:
        """Size of the action space: every card on every pile, and END_TURN."""
        return N_PILES * self.cards + 1

    def action(self, card: int, pile: int) -> int:
        """The action that lays `card` on `pile` (0..3); ValueError if either does not exist."""
        if not self.low < card < self.high:
            raise ValueError(
                f"card {card} does not exist, cards are {self.low + 1}-{self.high - 1}"
            )
        if not 0 <= pile < N_PILES:
            raise ValueError(f"pile {pile} does not exist, piles are 0-{N_PILES - 1}")
        return pile * self.cards + card - self.low - 1

    def decode(self, action: int) -> tuple[int, int] | None:
        """`(card, pile)` of a play, None for END_TURN; IllegalAction outside the codec."""
        try:
            number = operator.index(action)
        except TypeError:
            raise IllegalAction(f"an action is a whole number, not {action!r}") from None
        if not 0 <= number < self.n_actions:
            raise IllegalAction(f"action {number} does not exist, actions are 0-{self.end_turn}")
        if number == self.end_turn:
            return None
        pile, index = divmod(number, self.cards)
        return index + self.low + 1, pile

    # --- text --------------------------------------------------------------------------------

    def spec(self) -> str:
        """Text that `Rules.parse` reads back: the preset's name, or what differs from `official`.

        Equal rules have equal texts, whatever their names.
        """
        for name, preset in PRESETS.items():
            if preset == self:
                return name
        base = Rules()
        parts = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if entry.name == "name" or value == getattr(base, entry.name):
                continue
            text = "-".join(map(str, value)) if isinstance(value, tuple) else str(value)
            parts.append(f"{entry.name}:{text}")
        return "custom" + "".join("/" + part for part in parts)

    @staticmethod
    def parse(text: str | Rules) -> Rules:
        """The `Rules` of a preset's name or of a `spec()`; ValueError names the known ones."""
        if isinstance(text, Rules):
            return text
        if not isinstance(text, str):
            raise ValueError(f"rules must be a preset name or a Rules value, not {text!r}")
        if text in PRESETS:
            return PRESETS[text]
        if text.split("/")[0] == "custom":
            return replace(Rules(name="custom"), **_custom_fields(text))
        raise ValueError(unknown("rules", text, PRESETS))


def _custom_fields(text: str) -> dict[str, Any]:
    known = {entry.name: entry.type for entry in fields(Rules) if entry.name != "name"}
    values: dict[str, Any] = {}
    for part in text.split("/")[1:]:
        key, _, value = part.partition(":")
        if key not in known:
            raise ValueError(unknown("field of custom rules", key, known))
        if key in values:
            raise ValueError(f"custom rules: {key} is given twice")
        if key == "stuck":
            values[key] = value
        elif key == "hand_sizes" and re.fullmatch(r"[0-9]+(-[0-9]+)*", value):
            values[key] = tuple(int(number) for number in value.split("-"))
        elif key != "hand_sizes" and re.fullmatch(r"[0-9]+", value):
            values[key] = int(value)
        else:
            what = "sizes such as 8-7-6" if key == "hand_sizes" else "one whole number"
            raise ValueError(f'custom rules: {key} needs {what}, not "{value}"')
    return values


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _span(played: list[int]) -> str:
    """The player counts as text: "1-5", or "1, 3" where they have gaps."""
    if len(played) > 1 and played[-1] - played[0] + 1 == len(played):
        return f"{played[0]}-{played[-1]}"
    return ", ".join(map(str, played))


def unknown(what: str, got: object, known: Any) -> str:
    """One sentence for an unknown name: what it was, the nearest known one, all known ones."""
    names = [str(name) for name in known]
    near = difflib.get_close_matches(str(got), names, n=1)
    hint = f', did you mean "{near[0]}"?' if near else ";"
    return f'unknown {what} "{got}"{hint} known: {", ".join(names)}'


PRESETS: dict[str, Rules] = {
    rules.name: rules
    for rules in (
        Rules(),
        Rules("profi", minimum=3),
        Rules("profi-short", minimum=3, hand_sizes=(7, 6, 5, 5, 5)),
        Rules("small-hands", hand_sizes=(0, 6, 6, 5, 5), stuck="nobody"),
        Rules("two-to-the-end", minimum_empty=2, excellent=10),
    )
}
"""The five presets by name."""


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that is printed beside a result: rules, players, memory, talk, starter.

    Raises:
        ValueError: A player count that the rules do not know, or an unknown setting.
    """

    rules: Rules = Rules()
    players: int = 1
    memory: bool = True
    talk: Talk = "none"
    starter: Starter = "seat0"

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Rules):
            raise ValueError(f"rules must be a Rules value (Rules.parse), not {self.rules!r}")
        self.rules.hand_size(self.players)
        if not isinstance(self.memory, bool):
            raise ValueError(f"memory must be True or False, not {self.memory!r}")
        if self.talk not in get_args(Talk):
            raise ValueError(unknown("talk", self.talk, get_args(Talk)))
        if self.starter not in get_args(Starter):
            raise ValueError(unknown("starter", self.starter, get_args(Starter)))

    @property
    def hand_size(self) -> int:
        """Cards in a full hand at this table."""
        return self.rules.hand_size(self.players)
