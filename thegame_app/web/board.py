"""What one visitor may know of a game, as plain values: the page shows it, and JSON is it.

Everything here is read off the seat's `View`, the public changes and the table's setting. While
the game goes on, the other hands, the deck's order and the seed stay out of it.
"""

from __future__ import annotations

from typing import Any

from thegame_app.language import Language
from thegame_app.session import PERSON, Session
from thegame_app.session_changes import Change
from thegame_app.store import Stored
from thegame_env.reference import Game
from thegame_env.rules import PILES
from thegame_env.view import speak

SHOWN = 8
"""Changes listed at most."""


def board_of(
    stored: Stored, seat: int | None, mine: tuple[int, ...], lang: Language
) -> dict[str, Any]:
    """The game as it is known at one seat, or (seat None) to an onlooker.

    Where one visitor plays several seats, the hand is there only in that seat's own turn.

    Args:
        stored: The game.
        seat: Whose page it is.
        mine: The seats that the visitor plays.
        lang: Language of the texts.
    """
    session, game = stored.session, stored.session.game
    outcome = game.outcome
    shows = seat is not None and (len(mine) < 2 or game.seat == seat or session.over)
    acts = shows and game.seat == seat and not session.over
    return {
        "game": stored.id,
        "version": session.version,
        "rules": session.table.rules.spec(),
        "players": session.table.players,
        "talk": session.table.talk,
        "starter": session.table.starter,
        "you": seat,
        "status": "playing" if outcome is None else str(outcome.termination),
        "cards_left": game.cards_left,
        "excellent": outcome is not None and game.cards_left <= session.table.rules.excellent,
        "deck": len(game.deck),
        "turn": {
            "seat": game.seat,
            "plays": game.plays,
            "owed": game.owed,
            "agent": session.agent,
            "yours": acts,
            "pass_to": _pass_to(session, seat, mine),
        },
        "seats": [_seat(session, number, mine) for number in range(session.table.players)],
        "piles": _piles(session),
        "hand": _hand(game, seat, acts) if shows and seat is not None else None,
        "may_end": acts and game.may_end_turn,
        "may_undo": acts and seat is not None and session.may_undo(seat),
        "last": [_told(change, lang) for change in session.changes[-SHOWN:]],
    }


def _pass_to(session: Session, seat: int | None, mine: tuple[int, ...]) -> int | None:
    """The seat to which the device is to be passed, where its player uses it too."""
    acting = session.game.seat
    return acting if not session.over and seat != acting and acting in mine else None


def _seat(session: Session, seat: int, mine: tuple[int, ...]) -> dict[str, Any]:
    game, talk = session.game, session.table.talk
    said = speak(game, seat, talk) if talk != "none" else None
    return {
        "seat": seat,
        "agent": None if session.seats[seat] == PERSON else session.seats[seat],
        "cards": len(game.hands[seat]),
        "acting": game.seat == seat and not session.over,
        "yours": seat in mine,
        "talk": None if said is None else {"levels": list(said.levels), "stuck": said.stuck},
        "hand": sorted(game.hands[seat]) if session.over else None,
    }


def _piles(session: Session) -> list[dict[str, Any]]:
    laid = [change.pile for change in session.changes_left if change.kind == "play"]
    return [
        {
            "pile": pile,
            "name": PILES[pile],
            "ascending": pile < 2,
            "top": top,
            "cards": laid.count(pile),
            "last": laid[-1:] == [pile],
        }
        for pile, top in enumerate(session.game.tops)
    ]


def _hand(game: Game, seat: int, acts: bool) -> list[dict[str, Any]]:
    """The cards of a hand; in the own turn each with the piles that it may lie on, and its gap."""
    cards = []
    for card in sorted(game.hands[seat]):
        gaps = {
            PILES[pile]: card - top if pile < 2 else top - card
            for pile, top in enumerate(game.tops)
            if acts and game.is_legal(card, pile)
        }
        cards.append({"card": card, "gaps": gaps})
    return cards


def _told(change: Change, lang: Language) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "seat": change.seat,
        "card": change.card or None,
        "pile": PILES[change.pile] if change.kind != "end" else None,
        "gap": change.gap if change.kind != "end" else None,
        "text": change.text(lang),
    }
