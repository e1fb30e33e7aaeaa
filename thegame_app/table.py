"""The table assistant's game: the log of what was entered, and everything that follows from it.

The log only grows (an undo is an entry too), so its length is a version: whoever enters something
says which version was seen, and an entry made on an older one is refused with what has changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from thegame_app.language import N_, Language, Refusal
from thegame_app.table_entries import EndTurn, Entry, Setup, Undo, describe
from thegame_app.table_state import TableState

SHOWN = 4
"""Changes that a refusal of a stale entry lists at most."""


@dataclass(frozen=True, slots=True)
class Step:
    """An action that still stands.

    Attributes:
        number: Its place in the log, from 1.
        entry: What was entered.
        before: The position that it was entered in.
    """

    number: int
    entry: Entry
    before: TableState


@dataclass(frozen=True, slots=True)
class TableGame:
    """A physical game.

    Attributes:
        setup: How it began.
        state: Where it stands.
        log: Everything entered, in order.
        steps: The actions that still stand.
        taken_back: For every entry of the log the number of the entry that it took back, or 0.
    """

    setup: Setup
    state: TableState
    log: tuple[Entry, ...] = ()
    steps: tuple[Step, ...] = ()
    taken_back: tuple[int, ...] = ()

    @staticmethod
    def start(setup: Setup) -> TableGame:
        """A game that has just been dealt."""
        return TableGame(setup, TableState.start(setup))

    @staticmethod
    def replay(setup: Setup, log: Iterable[Entry]) -> TableGame:
        """The game of a log; Refusal where an entry does not fit."""
        game = TableGame.start(setup)
        for entry in log:
            game = game.enter(entry, game.version)
        return game

    @property
    def version(self) -> int:
        """Length of the log."""
        return len(self.log)

    def enter(self, entry: Entry, seen: int) -> TableGame:
        """The game after an entry.

        Args:
            entry: What is entered.
            seen: The version that whoever enters it has seen.

        Raises:
            Stale: The game has moved on since.
            Refusal: The entry does not fit.
        """
        if not 0 <= seen <= self.version:
            raise Refusal("The page does not belong to this game: load it again.")
        if seen < self.version:
            raise Stale(self, seen)
        if isinstance(entry, Undo):
            return self._undone()
        state = self.state.after(entry)
        return replace(
            self,
            state=state,
            log=(*self.log, entry),
            steps=(*self.steps, Step(self.version + 1, entry, self.state)),
            taken_back=(*self.taken_back, 0),
        )

    def _undone(self) -> TableGame:
        if self.state.outcome is not None:
            raise Refusal(
                "The game is over: its result is recorded, and nothing more can be entered."
            )
        if not self.steps:
            raise Refusal("There is nothing to take back.")
        last = self.steps[-1]
        return replace(
            self,
            state=last.before,
            log=(*self.log, Undo()),
            steps=self.steps[:-1],
            taken_back=(*self.taken_back, last.number),
        )

    @property
    def to_put_back(self) -> int | None:
        """Cards that an undo puts back on the deck; None where it opens no turn again."""
        if not self.steps or self.steps[-1].before.turns == self.state.turns:
            return None
        last = self.steps[-1].entry
        return last.drawn if isinstance(last, EndTurn) else 0

    # --- words -----------------------------------------------------------------------------------

    def told(self, number: int, lang: Language) -> str:
        """Entry `number` of the log (from 1) in a few words."""
        back = self.taken_back[number - 1]
        undone = self.told(back, lang) if back else ""
        return describe(self.log[number - 1], self.setup.names, lang, undone)

    def undo_told(self, lang: Language) -> str:
        """What an undo would take back; empty where there is nothing."""
        return self.told(self.steps[-1].number, lang) if self.steps else ""

    def undo_warning(self, lang: Language) -> str:
        """What an undo would mean for the deck; empty where it stays within the turn."""
        drawn = self.to_put_back
        if drawn is None:
            return ""
        name = self.setup.names[self.steps[-1].before.seat]
        if not drawn:
            return lang("Opens the turn of {name} again.", name=name)
        return lang.plural(
            "Opens the turn of {name} again: {n} card goes back on the deck.",
            "Opens the turn of {name} again: {n} cards go back on the deck.",
            drawn,
            name=name,
        )

    def notice(self, lang: Language) -> str:
        """What the table must do after the undo that was the last entry; empty where nothing."""
        back = self.taken_back[-1] if self.log else 0
        if not back:
            return ""
        entry = self.log[back - 1]
        if self.state.after(entry).turns == self.state.turns:
            return ""
        name, drawn = self.setup.names[self.state.seat], getattr(entry, "drawn", 0)
        if not drawn:
            return lang(
                "The turn of {name} is open again; no card goes back on the deck.", name=name
            )
        return lang.plural(
            "The turn of {name} is open again: put {n} card back on the deck, the one drawn last.",
            "The turn of {name} is open again: put {n} cards back on the deck, those drawn last.",
            drawn,
            name=name,
        )

    def changes_since(self, seen: int, lang: Language) -> list[str]:
        """What was entered after version `seen`, the oldest first."""
        return [self.told(number, lang) for number in range(seen + 1, self.version + 1)]


class Stale(Refusal):
    """An entry made on a page that no longer shows the table.

    Args:
        game: The game as it stands.
        seen: The version that the page shows.
    """

    status = 409
    """The HTTP status code of such a refusal: a conflict."""

    def __init__(self, game: TableGame, seen: int) -> None:
        super().__init__(
            N_(
                "The table has changed since this page was shown ({changes}): look, and enter it "
                "again."
            )
        )
        self.game, self.seen = game, seen

    def text(self, lang: Language) -> str:
        """The sentence in a language, with the latest changes."""
        changes = self.game.changes_since(self.seen, lang)
        shown = changes if len(changes) <= SHOWN else ["...", *changes[-SHOWN:]]
        return lang(self.message, changes="; ".join(shown))
