"""The review of a finished game: every turn graded, with what would have been better."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from thegame_app.crew import partners_of
from thegame_app.language import Language
from thegame_app.playouts import Partners
from thegame_app.web.access import StoreOf, VisitorOf
from thegame_app.web.pages import language_of, render, wants_json
from thegame_app.web.replay_routes import finished
from thegame_env.notation import GameRecord

if TYPE_CHECKING:
    from thegame_app.review import Review, TurnReview

router = APIRouter()

STRENGTH = "instant"
"""Work a turn, so that a whole game is reviewed while one waits."""
KEPT = 16
"""Reviews kept in memory."""
HEIGHT = 100
"""Of the charts, in units of their own."""


@router.get("/replay/{game}/review")
def look_back(request: Request, game: str, store: StoreOf, visitor: VisitorOf) -> Response:
    """The review as a page; for a program the document of `thegame review --json`."""
    stored = finished(store, game, visitor)
    session = stored.session
    partners = partners_of(session, session.people[0] if session.people else 0)
    result = _reviewed(session.record, partners)
    if wants_json(request):
        return JSONResponse({"game": game, **result.document()})
    facts = review_of(result, language_of(request))
    return render(request, "review.html", r=facts, g=stored, height=HEIGHT)


@functools.lru_cache(maxsize=KEPT)
def _reviewed(record: GameRecord, partners: Partners) -> Review:
    from thegame_app.review import review

    return review(record, STRENGTH, partners)


def review_of(result: Review, lang: Language) -> dict[str, Any]:
    """A review as the page shows it, in a language."""
    from thegame_app.review import curve
    from thegame_app.review_text import balance

    _, cards, win = curve(result)
    steps, taken = {}, 0
    for turn in result.turns:
        steps[turn.number] = taken
        taken += len(turn.played)
    turns = {
        turn.number: {**_turn(turn, lang), "step": steps[turn.number]} for turn in result.turns
    }
    return {
        "balance": balance(result, lang),
        "cards": [(lang.number(left, ".1f"), bar(left, max(cards))) for left in cards],
        "win": [(lang.number(100 * chance, ".0f"), bar(chance, 1.0)) for chance in win],
        "costly": [turns[turn.number] for turn in result.costly],
        "turns": list(turns.values()),
    }


def bar(value: float, most: float) -> int:
    """Height of a value in a chart whose highest one is `most`."""
    return round(HEIGHT * value / most) if most else 0


def _turn(turn: TurnReview, lang: Language) -> dict[str, Any]:
    from thegame_app.hint_text import TIE
    from thegame_app.reasons import reason_for
    from thegame_app.review_text import GRADE_NAMES, actions_text

    rules = turn.view.rules
    plays = tuple(play for play in map(rules.decode, turn.best) if play is not None)
    return {
        "number": turn.number,
        "seat": turn.seat,
        "grade": turn.grade,
        "grade_name": lang("only plan") if turn.only else lang(GRADE_NAMES[turn.grade]),
        "played": actions_text(rules, turn.played, lang).replace(TIE, " "),
        "best": actions_text(rules, turn.best, lang).replace(TIE, " "),
        "reason": reason_for(turn.view, plays, lang),
        "lost_cards": turn.lost_cards,
        "lost_cards_se": turn.lost_cards_se,
        "lost_win": turn.lost_win,
        "luck": turn.luck_cards,
    }
