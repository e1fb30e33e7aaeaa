"""The screen of the terminal game for eyes: cards and piles drawn with rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from thegame_app.hint_text import hint_text
from thegame_app.language import Language
from thegame_app.session import Session
from thegame_app.terminal import owed_text, table_lines

if TYPE_CHECKING:
    from thegame_app.hints import Hint


class RichScreen:
    """Boxes and colours on stdout; arrows and words say the same as the colours."""

    def __init__(self, lang: Language) -> None:
        self._lang, self._console = lang, Console(highlight=False)

    def say(self, text: str) -> None:
        """See Screen."""
        self._console.print(Text(text))

    def hide(self) -> None:
        """See Screen."""
        self._console.clear()

    def board(self, session: Session, seat: int) -> None:
        """See Screen."""
        lang, game, console = self._lang, session.game, self._console
        console.print()
        console.print(Columns([self._pile(session, pile) for pile in range(4)]))
        for line in table_lines(session, seat, lang):
            console.print(Text(line, style="dim"))
        cards = [self._card(session, card) for card in sorted(game.hands[seat])]
        console.print(Columns(cards))
        console.print(Text(owed_text(session, lang), style="bold"))

    def _pile(self, session: Session, pile: int) -> Panel:
        way, style = ("▲", "blue") if pile < 2 else ("▼", "red")
        word = self._lang("ascending") if pile < 2 else self._lang("descending")
        last = next((c for c in reversed(session.changes_left) if c.kind == "play"), None)
        mark = " *" if last is not None and last.pile == pile else ""
        top = Text(f"{session.game.tops[pile]}{mark}", style="bold", justify="center")
        return Panel(top, title=f"{way} {self._lang.pile(pile)}", subtitle=word, border_style=style,
                     width=16)  # fmt: skip

    def _card(self, session: Session, card: int) -> Panel:
        game = session.game
        legal = [pile for pile in range(4) if game.is_legal(card, pile)]
        trick = any(
            card == top + (-1 if pile < 2 else 1) * game.rules.trick
            for pile, top in enumerate(game.tops)
        )
        style = "bold" if legal else "dim strike"
        return Panel(Text(f"{card}", style=style), border_style="yellow" if trick else "white",
                     subtitle="↩" if trick else None, width=8)  # fmt: skip

    def advice(self, answer: Hint) -> None:
        """See Screen."""
        self.say(hint_text(answer, self._lang))
