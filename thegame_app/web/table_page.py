"""What a phone at the table shows, as plain values: the page renders it, and JSON is it.

All but the entry `hand` is the same on every phone; `hand` comes from the phone's own notes and
nothing else.
"""

from __future__ import annotations

from typing import Any

from thegame_app.language import Language
from thegame_app.table import TableGame
from thegame_app.table_hand import OwnHand
from thegame_app.table_state import TableState
from thegame_env.rules import N_PILES, PILES

SHOWN = 8
"""Entries listed at most."""
SHOWN_WITHOUT_MEMORY = 3
"""The same where the table forbids to look through the piles."""


def table_of(name: str, game: TableGame, hand: OwnHand | None, lang: Language) -> dict[str, Any]:
    """The game as a phone shows it.

    Args:
        name: The game's identifier.
        game: The game.
        hand: The hand that this phone keeps, if any.
        lang: Language of the texts.
    """
    state, setup = game.state, game.setup
    return {
        "game": name,
        "version": game.version,
        "rules": setup.rules.spec(),
        "names": list(setup.names),
        "memory": setup.memory,
        "status": _status(state),
        "cards_left": state.cards_left,
        "excellent": state.outcome is not None and state.cards_left <= setup.rules.excellent,
        "deck": state.deck,
        "unknown": state.unknown_cards,
        "turn": _turn(state),
        "seats": [
            {"name": player, "cards": cards, "acting": seat == state.seat}
            for seat, (player, cards) in enumerate(zip(setup.names, state.hands, strict=True))
        ],
        "piles": [_pile(game, pile) for pile in range(N_PILES)],
        "grid": _grid(state),
        "undo": {"takes": game.undo_told(lang), "warning": game.undo_warning(lang)},
        "notice": game.notice(lang),
        "last": _last(game, lang),
        "hand": None if hand is None else _hand(game, hand, lang),
    }


def _status(state: TableState) -> str:
    """One of "playing", "reported" (stuck, to be confirmed), "won" and "stuck"."""
    if state.outcome is not None:
        return str(state.outcome.termination)
    return "reported" if state.reported else "playing"


def _turn(state: TableState) -> dict[str, Any]:
    names, going_on = state.setup.names, state.outcome is None and not state.reported
    return {
        "seat": state.seat,
        "name": names[state.seat],
        "plays": state.plays,
        "owed": state.owed,
        "still_owed": state.still_owed,
        "to_draw": state.to_draw,
        "next": names[state.next_seat],
        "must_draw": going_on and not state.hands[state.seat],
        "may_end": going_on and not state.still_owed,
        "may_pass": going_on and state.may_pass,
        "nothing_fits": going_on
        and bool(state.still_owed)
        and not any(state.fitting(pile) for pile in range(N_PILES)),
    }


def _pile(game: TableGame, pile: int) -> dict[str, Any]:
    place, trick = game.state.piles[pile], game.setup.rules.trick
    last = game.steps[-1].entry if game.steps else None
    back = place.known + (-trick if pile < 2 else trick)
    return {
        "pile": pile,
        "name": PILES[pile],
        "ascending": pile < 2,
        "top": place.top,
        "known": place.known,
        "unknown": place.unknown,
        "back": back if game.setup.rules.low < back < game.setup.rules.high else None,
        "last": getattr(last, "pile", None) == pile,
    }


def _grid(state: TableState) -> list[dict[str, Any]]:
    """Every card: whether it is known to be laid, and the piles where it cannot lie.

    Where the table plays without memory, the grid does not tell what has been laid.
    """
    return [
        {
            "card": card,
            "laid": state.setup.memory and card in state.laid,
            "misfits": [pile for pile in range(N_PILES) if not state.fits(card, pile)],
        }
        for card in state.setup.rules.deck
    ]


def _last(game: TableGame, lang: Language) -> list[str]:
    shown = SHOWN if game.setup.memory else SHOWN_WITHOUT_MEMORY
    return game.changes_since(max(game.version - shown, 0), lang)


def _hand(game: TableGame, hand: OwnHand, lang: Language) -> dict[str, Any]:
    return {
        "seat": hand.seat,
        "name": game.setup.names[hand.seat],
        "cards": sorted(hand.cards(game)),
        "size": game.state.hands[hand.seat],
        "missing": hand.missing(game),
        "told": hand.told(game, lang),
        "acting": hand.seat == game.state.seat and game.state.outcome is None,
    }
