"""Routes of the hand that one phone keeps, and of the hints that come with it."""

from __future__ import annotations

import re
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from thegame_app.language import Refusal
from thegame_app.store import UnknownGame
from thegame_app.table import Stale, TableGame
from thegame_app.table_hand import OwnHand, read_cards
from thegame_app.table_store import TableStore, seat_of
from thegame_app.web.access import VisitorOf
from thegame_app.web.pages import (
    Form,
    is_htmx,
    language_of,
    number_of,
    render,
    status_of,
    wants_json,
)
from thegame_app.web.table_access import TablesOf, come_in, phone_of
from thegame_app.web.table_page import table_of

router = APIRouter()

STRENGTHS = ("instant", "normal", "deep")


@router.get("/table/{name}/hand")
def edit(request: Request, name: str, tables: TablesOf, visitor: VisitorOf) -> Response:
    """The page on which the owner of the phone enters the own cards."""
    come_in(visitor, name)
    return _edit(request, name, tables, request.query_params.get("own", ""))


def _edit(
    request: Request,
    name: str,
    tables: TableStore,
    own: str,
    ticked: frozenset[int] | None = None,
    message: str = "",
    status: int = 200,
) -> Response:
    game, hand = tables.game(name), tables.hand(name, phone_of(request))
    if own:
        seat = seat_of(game, number_of({"own": own}, "own"))
    elif hand is not None:
        seat = hand.seat
    else:
        seat = game.state.seat
    if ticked is None:
        ticked = hand.cards(game) if hand is not None and hand.seat == seat else frozenset()
    return render(
        request,
        "table_hand.html",
        status,
        t=table_of(name, game, hand, language_of(request)),
        base=f"/table/{name}",
        seat=seat,
        ticked=ticked,
        message=message,
    )


@router.post("/table/{name}/hand")
def keep(request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Keep the cards that are ticked (`c12=on`) or typed (`cards=12 34`) as the own hand."""
    come_in(visitor, name)
    ticked = _ticked(form)

    def command(game: TableGame, hand: OwnHand | None) -> OwnHand:
        seat = seat_of(game, number_of(form, "own"))
        old = hand if hand is not None and hand.seat == seat else OwnHand(seat)
        return old.exactly(game, ticked | frozenset(read_cards(form.get("cards", ""))))

    try:
        tables.change_hand(name, phone_of(request), command)
    except UnknownGame:
        raise
    except Refusal as refusal:
        if wants_json(request):
            raise
        sentence = refusal.text(language_of(request))
        own = form.get("own", "") if form.get("own", "") in tuple("01234") else ""
        return _edit(request, name, tables, own, ticked, sentence, status_of(refusal))
    return _back(request, name, tables)


def _ticked(form: dict[str, str]) -> frozenset[int]:
    return frozenset(int(key[1:]) for key in form if re.fullmatch(r"c[0-9]{1,3}", key, re.ASCII))


@router.post("/table/{name}/hand/forget")
def forget(
    request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf
) -> Response:
    """Forget the own hand."""
    come_in(visitor, name)
    tables.game(name)
    tables.forget_hand(name, phone_of(request))
    return _back(request, name, tables)


def _back(request: Request, name: str, tables: TableStore) -> Response:
    if wants_json(request):
        hand = tables.hand(name, phone_of(request))
        return JSONResponse(table_of(name, tables.game(name), hand, language_of(request)))
    return RedirectResponse(f"/table/{name}", 303)


@router.post("/table/{name}/hint")
def advise_phone(
    request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf
) -> Response:
    """Ranked plans from the hand that this phone keeps; at once, then refined."""
    from thegame_app.hint_text import figures_of
    from thegame_app.table_hint import advise

    come_in(visitor, name)
    game, hand = tables.game(name), tables.hand(name, phone_of(request))
    if hand is None:
        raise Refusal("A hint needs your hand: enter the cards that you hold.")
    if number_of(form, "seen") != game.version:
        raise Stale(game, min(number_of(form, "seen"), game.version))
    wanted = form.get("strength", STRENGTHS[0])
    step = wanted if wants_json(request) else form.get("step", STRENGTHS[0])
    partners: Literal["expert", "casual"] = (
        "expert" if form.get("partners") == "expert" else "casual"
    )
    if wanted not in STRENGTHS or step not in STRENGTHS:
        raise Refusal("The strength of a hint is one of {names}.", names=", ".join(STRENGTHS))
    step = min(step, wanted, key=STRENGTHS.index)
    answer = advise(game, hand, step, language_of(request), partners)
    if wants_json(request):
        return JSONResponse(answer.document())
    following = STRENGTHS[STRENGTHS.index(step) + 1 :]
    return render(
        request,
        "play_hint.html" if is_htmx(request) else "hint_page.html",
        base=f"/table/{name}",
        answer=answer,
        figures_of=figures_of,
        version=game.version,
        wanted=wanted,
        refining=following[0] if step != wanted else None,
        deeper=following[0] if following and step == wanted else None,
    )
