"""The game in a terminal: the same session as the page's, by typed lines.

Every line is a command, so that it can come from a pipe as well. With `plain` the output is lines
of text and nothing else: no colour, no boxes, no erasing, as screen readers and pipes like it.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from thegame_app.crew import Crew, partners_of
from thegame_app.language import Language, Refusal
from thegame_app.session import PERSON, Session
from thegame_app.session_changes import Change
from thegame_app.session_record import change_and_keep, run_folder
from thegame_app.store import Store
from thegame_env.rules import N_PILES, PILES
from thegame_env.view import SeatTalk, speak

if TYPE_CHECKING:
    from thegame_app.hints import Hint

PAUSE = 0.6
"""Seconds between two plays of agents, where somebody watches."""
COMMANDS = {
    "end": "end", "e": "end", "undo": "undo", "u": "undo", "hint": "hint", "h": "hint",
    "help": "help", "?": "help", "show": "show", "s": "show", "quit": "quit", "q": "quit",
}  # fmt: skip
PILE_WORDS = {
    **{name: pile for pile, name in enumerate(PILES)},
    **{name: pile for pile, name in enumerate(("u1", "u2", "d1", "d2"))},
    **{str(pile + 1): pile for pile in range(4)},
}
"""Names of the piles that are understood in every language, beside those of the own one."""


class Screen(Protocol):
    """Where the game is shown."""

    def say(self, text: str) -> None:
        """Show a line."""

    def board(self, session: Session, seat: int) -> None:
        """Show what a seat sees."""

    def advice(self, answer: Hint) -> None:
        """Show a hint."""

    def hide(self) -> None:
        """Take the last player's cards off the screen, where that can be done."""


def play_in_terminal(store: Store, game: str, plain: bool, lang: Language) -> None:
    """Play a stored game until it is over, the input ends, or the player leaves.

    Args:
        store: Where the game is kept; it is saved after every play.
        game: Its name.
        plain: Lines of text only.
        lang: What the player reads.
    """
    screen: Screen = PlainScreen(lang)
    if not plain:
        from thegame_app.terminal_rich import RichScreen

        screen = RichScreen(lang)
    Terminal(store, game, screen, lang).run()


class Terminal:
    """A game between one keyboard and the store."""

    def __init__(self, store: Store, game: str, screen: Screen, lang: Language) -> None:
        self._store, self._game, self._screen, self._lang = store, game, screen, lang
        self._crew = Crew()
        self._shown: int | None = None
        self._pause = PAUSE if sys.stdout.isatty() and sys.stdin.isatty() else 0.0

    @property
    def session(self) -> Session:
        """The game as it is now."""
        return self._store.game(self._game).session

    def run(self) -> None:
        """Play; see `play_in_terminal`."""
        self._screen.say(self._lang("Type help for the commands. The game is saved all the time."))
        while not self.session.over:
            if self.session.agent is not None:
                self._let_agent_play()
            elif not self._let_person_play():
                self._screen.say(self._lang("The game is saved: thegame play goes on with it."))
                return
        self._screen.say(ending(self.session, self._lang))
        if self.session.seed is not None:
            folder = run_folder(self._store, self._game)
            self._screen.say(
                self._lang("Every turn graded: thegame review {folder}", folder=folder)
            )

    def _let_agent_play(self) -> None:
        before = self.session
        action = self._crew.choose(before)
        self._change(lambda session: session.advance(action, before.version))
        time.sleep(self._pause)

    def _let_person_play(self) -> bool:
        """Ask for one command and do it; False when the player leaves."""
        session = self.session
        seat = session.game.seat
        if self._shown != seat and not self._show_hand(session, seat):
            return False
        line = self._ask(self._lang("Player {number}>", number=seat + 1) + " ")
        if line is None:
            return False
        word, _, rest = line.strip().lower().partition(" ")
        command = "end" if word == self._lang("end").lower() else COMMANDS.get(word)
        if command == "quit":
            return False
        try:
            self._obey(command, line, rest.strip(), session, seat)
        except Refusal as refusal:
            self._screen.say(refusal.text(self._lang))
        return True

    def _show_hand(self, session: Session, seat: int) -> bool:
        """Show the hand of the seat at turn; where several people play here, once it has come."""
        if len(session.people) > 1:
            self._screen.hide()
            text = self._lang("Player {number}: press Enter to see your cards.", number=seat + 1)
            if self._ask(text + " ") is None:
                return False
        self._screen.board(session, seat)
        self._shown = seat
        return True

    def _obey(self, command: str | None, line: str, rest: str, session: Session, seat: int) -> None:
        seen = session.version
        if command == "help":
            self._screen.say(help_text(self._lang))
        elif command == "show":
            self._screen.board(session, seat)
        elif command == "hint":
            self._advise(session, seat, rest)
        elif command == "end":
            self._change(lambda game: game.end_turn(seat, seen))
        elif command == "undo":
            self._change(lambda game: game.undo(seat, seen))
        elif line.strip():
            card, pile = play_of(line, self._lang)
            self._change(lambda game: game.play(seat, card, pile, seen))

    def _advise(self, session: Session, seat: int, strength: str) -> None:
        from thegame_app.hints import hint

        chosen = strength or "instant"
        if chosen not in ("instant", "normal", "deep"):
            raise Refusal("The strength of a hint is instant, normal or deep.")
        partners = partners_of(session, seat)
        view = session.view(seat)
        self._screen.advice(hint(view, chosen, top=3, partners=partners, lang=self._lang))

    def _change(self, command: Callable[[Session], Session]) -> None:
        """Do what was asked, tell it, and show the board to a person who goes on."""
        seen = self.session.version
        session = change_and_keep(self._store, self._game, command).session
        for change in session.since(seen):
            self._tell(change)
        if session.over or session.agent is not None or session.game.seat != self._shown:
            self._shown = None
        else:
            self._screen.board(session, session.game.seat)

    def _tell(self, change: Change) -> None:
        text = change.text(self._lang)
        self._screen.say(text[0].upper() + text[1:] + ".")

    def _ask(self, prompt: str) -> str | None:
        """A typed line; None at the end of the input.

        A line that does not come from a keyboard is shown behind the prompt, as if it was typed.
        """
        try:
            line = input(prompt)
        except EOFError:
            return None
        if not sys.stdin.isatty():
            print(line)
        return line


def play_of(line: str, lang: Language) -> tuple[int, int]:
    """The card and the pile of a line such as "54 up1"; Refusal where it is none.

    Piles may be named as in the language, too.
    """
    found = re.fullmatch(r"\s*(\d{1,3})[\s:]+(\w+)\s*", line.lower(), re.ASCII)
    if not found:
        raise Refusal('This is not understood: "{line}". Type help.', line=line.strip()[:40])
    card, pile = found.groups()
    names = [lang.pile(number) for number in range(N_PILES)]
    words = {**PILE_WORDS, **{name: number for number, name in enumerate(names)}}
    if pile not in words:
        raise Refusal("There is no such pile; the piles are {piles}.", piles=", ".join(names))
    return int(card), words[pile]


def help_text(lang: Language) -> str:
    """The commands."""
    names = " ".join(lang.pile(number) for number in range(N_PILES))
    return "\n".join(
        (
            lang(
                "54 {pile} : lay 54 on {pile} (the piles: {piles}, or 1 2 3 4)", pile=0, piles=names
            ),
            lang("end : end the turn"),
            lang("undo : take the last card of this turn back"),
            lang("hint, hint normal, hint deep : advice"),
            lang("show : show the table again"),
            lang("quit : leave; the game is saved"),
        )
    )


def ending(session: Session, lang: Language) -> str:
    """How a finished game ended, and what was left."""
    game = session.game
    if not game.cards_left:
        return lang("Won: all cards are on the piles.")
    lines = [lang("Stuck: the game is over. Cards left: {cards}", cards=game.cards_left)]
    for seat, hand in enumerate(game.hands):
        cards = " ".join(map(str, sorted(hand))) or "-"
        lines.append(lang("Player {number} still held: {cards}", number=seat + 1, cards=cards))
    return "\n".join(lines)


def said_text(said: SeatTalk, open_talk: bool, lang: Language) -> str:
    """What a seat says of the piles, in words."""
    words = []
    for pile, level in enumerate(said.levels):
        if level == 2:
            words.append(lang("{pile}: very good for me", pile=pile))
        elif level and open_talk:
            words.append(lang("{pile}: good for me", pile=pile))
        elif level:
            words.append(lang("please not on {pile}", pile=pile))
    if said.stuck:
        words.append(lang("I cannot reach my minimum"))
    return ", ".join(words)


def owed_text(session: Session, lang: Language) -> str:
    """What the seat at turn still has to do."""
    game = session.game
    owed = game.owed - game.plays
    if owed > 0:
        return lang.plural("Lay {n} more card.", "Lay {n} more cards.", owed)
    return lang("Minimum met: end the turn, or go on.")


def table_lines(session: Session, seat: int, lang: Language) -> list[str]:
    """The other seats and the deck, a line each."""
    game, talk = session.game, session.table.talk
    lines = [lang("Deck: {cards}", cards=len(game.deck))]
    for other, hand in enumerate(game.hands):
        if other == seat:
            continue
        size = lang.plural("{n} card", "{n} cards", len(hand))
        name = session.seats[other]
        who = lang("person") if name == PERSON else name
        line = lang("Player {number} ({who}): {size}", number=other + 1, who=who, size=size)
        said = said_text(speak(game, other, talk), talk == "open", lang) if talk != "none" else ""
        lines.append(f"{line}; {said}" if said else line)
    return lines


class PlainScreen:
    """Lines of text on stdout."""

    def __init__(self, lang: Language) -> None:
        self._lang = lang

    def say(self, text: str) -> None:
        """See Screen."""
        print(text, flush=True)

    def hide(self) -> None:
        """Nothing: lines that were said cannot be unsaid."""

    def board(self, session: Session, seat: int) -> None:
        """See Screen."""
        lang, game = self._lang, session.game
        for pile, top in enumerate(game.tops):
            way = lang("ascending") if pile < 2 else lang("descending")
            self.say(f"{lang.pile(pile)} ({way}): {top}")
        for line in table_lines(session, seat, lang):
            self.say(line)
        cards = " ".join(map(str, sorted(game.hands[seat])))
        self.say(lang("Your hand: {cards}", cards=cards))
        self.say(owed_text(session, lang))

    def advice(self, answer: Hint) -> None:
        """See Screen."""
        from thegame_app.hint_text import figures_of, steps_text

        lang = self._lang
        for rank, plan in enumerate(answer.plans, start=1):
            figures = ", ".join(figures_of(plan, rank == 1, lang))
            self.say(f"{rank}. {steps_text(plan, lang)}: {figures}; {plan.reason}")
        self.say(answer.note)
