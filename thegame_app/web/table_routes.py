"""Routes of the table assistant: a physical game followed by one or several phones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from thegame_app.language import Refusal
from thegame_app.store import UnknownGame
from thegame_app.table import Stale
from thegame_app.table_entries import ConfirmResult, EndTurn, Entry, Lay, ReportStuck, Undo
from thegame_app.table_store import TableStore
from thegame_app.web.access import Visitor, VisitorOf
from thegame_app.web.network import own_address
from thegame_app.web.pages import (
    Form,
    is_htmx,
    language_of,
    number_of,
    render,
    status_of,
    wants_json,
)
from thegame_app.web.security import LOCAL
from thegame_app.web.table_access import TablesOf, come_in, phone_of, scope_of
from thegame_app.web.table_hand_routes import router as hand_router
from thegame_app.web.table_history_routes import router as history_router
from thegame_app.web.table_page import table_of
from thegame_app.web.table_setup_routes import router as setup_router
from thegame_env.rules import PILES

router = APIRouter()
router.include_router(setup_router)
router.include_router(history_router)

ASKS = ("end", "unknown")
"""Questions that a page may put before something is entered."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a page still holds of an entry that is not made yet.

    Attributes:
        pile: Name of the chosen pile, or "".
        number: The card as typed, or "".
        ask: The question put, one of ASKS, or "".
        again: Whether the entry was refused because the page was stale.
        focus: Whether the button that was pressed is gone, so that the focus goes to the piles.
    """

    pile: str = ""
    number: str = ""
    ask: str = ""
    again: bool = False
    focus: bool = False

    @staticmethod
    def of(fields: dict[str, str], again: bool = False) -> Kept:
        """What the fields of a form or an address hold; what is no entry is dropped."""
        pile, number = fields.get("pile", ""), fields.get("card") or fields.get("number", "")
        ask = fields.get("ask", "")
        return Kept(
            pile if pile in PILES else "",
            number if number.isascii() and number.isdigit() and len(number) <= 3 else "",
            ask if ask in ASKS else "",
            again,
        )


NOTHING_KEPT = Kept()


# --- the page ------------------------------------------------------------------------------------


@router.get("/table/{name}")
def show(request: Request, name: str, tables: TablesOf, visitor: VisitorOf) -> Response:
    """The page of a table."""
    come_in(visitor, name)
    return answer(request, name, tables, visitor, Kept.of(dict(request.query_params)))


@router.get("/table/{name}/board")
def refresh(request: Request, name: str, tables: TablesOf, visitor: VisitorOf) -> Response:
    """The table, unless the page already shows this version (204)."""
    come_in(visitor, name)
    query = dict(request.query_params)
    if query.get("seen") == str(tables.game(name).version) and "ask" not in query:
        return Response(status_code=204)
    return answer(request, name, tables, visitor, Kept.of(query))


def answer(
    request: Request,
    name: str,
    tables: TableStore,
    visitor: Visitor,
    kept: Kept = NOTHING_KEPT,
    message: str = "",
    status: int = 200,
) -> Response:
    """The table for this phone: JSON for a program, the board for a page, else the page."""
    table = table_of(
        name, tables.game(name), tables.hand(name, phone_of(request)), language_of(request)
    )
    if wants_json(request):
        return JSONResponse({"error": message, **table} if message else table, status)
    return render(
        request,
        "table_fragment.html" if is_htmx(request) else "table.html",
        status,
        t=table,
        base=f"/table/{name}",
        here=f"/table/{name}",
        kept=kept,
        message=message,
        link=_link(request, name, visitor),
    )


def _link(request: Request, name: str, visitor: Visitor) -> str:
    """For the owner: the address through which other phones come to this table."""
    if not (visitor.owner and request.app.state.lan):
        return ""
    url = request.url
    host = own_address() if url.hostname in LOCAL else url.hostname
    token = request.app.state.store.token(scope_of(name))
    return f"http://{host}:{url.port or 80}/enter/{token}"


# --- entries -------------------------------------------------------------------------------------


def enter(
    request: Request,
    name: str,
    form: dict[str, str],
    tables: TableStore,
    visitor: Visitor,
    make: Callable[[dict[str, str]], Entry],
) -> Response:
    """Enter what a form says; where it is refused, say why beside the table as it is now."""
    come_in(visitor, name)
    try:
        entry = make(form)
        hand = tables.hand(name, phone_of(request))
        check = None if hand is None else lambda game: hand.check(game, entry)
        tables.enter(name, entry, number_of(form, "seen"), check)
    except UnknownGame:
        raise
    except Refusal as refusal:
        kept = Kept.of(form, again=isinstance(refusal, Stale))
        sentence = refusal.text(language_of(request))
        return answer(request, name, tables, visitor, kept, sentence, status_of(refusal))
    if is_htmx(request) or wants_json(request):
        kept = Kept(focus="card" in form or "unknown" in form)
        return answer(request, name, tables, visitor, kept)
    return RedirectResponse(f"/table/{name}", 303)


@router.post("/table/{name}/lay")
def lay(request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Lay a card; `unknown=ask` puts the question first whether it is legal."""
    if form.get("unknown") == "ask" and form.get("pile") in PILES:
        come_in(visitor, name)
        kept = Kept.of({"pile": form["pile"], "ask": "unknown"})
        return answer(request, name, tables, visitor, kept)
    return enter(request, name, form, tables, visitor, _lay)


def _lay(form: dict[str, str]) -> Entry:
    if not form.get("pile"):
        raise Refusal("Choose a pile first, then the card.")
    if form["pile"] not in PILES:
        raise Refusal("There is no such pile; the piles are {piles}.", piles=", ".join(PILES))
    seat, pile = number_of(form, "seat"), PILES.index(form["pile"])
    if form.get("unknown"):
        if form["unknown"] != "confirmed":
            raise Refusal("Confirm that the card may lie there.")
        return Lay(seat, pile, None)
    if form.get("card"):
        return Lay(seat, pile, number_of(form, "card"))
    if not form.get("number"):
        raise Refusal("Enter the number of the card, or tap it.")
    return Lay(seat, pile, number_of(form, "number"))


@router.post("/table/{name}/end")
def end(request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf) -> Response:
    """End the turn, its refill confirmed."""
    return enter(
        request, name, {**form, "ask": "end"}, tables, visitor,
        lambda form: EndTurn(
            number_of(form, "seat"), number_of(form, "drawn"), form.get("passes") == "yes"
        ),
    )  # fmt: skip


@router.post("/table/{name}/undo")
def undo(request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Take the last action back."""
    return enter(request, name, form, tables, visitor, lambda form: Undo())


@router.post("/table/{name}/stuck")
def report_stuck(
    request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf
) -> Response:
    """Report that the player at turn is stuck."""
    return enter(
        request, name, form, tables, visitor, lambda form: ReportStuck(number_of(form, "seat"))
    )


@router.post("/table/{name}/confirm")
def confirm(
    request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf
) -> Response:
    """Confirm the result of a game that is stuck."""
    return enter(
        request, name, form, tables, visitor,
        lambda form: ConfirmResult(number_of(form, "cards_left")),
    )  # fmt: skip


router.include_router(hand_router)


@router.get("/table/{name}/{command}")
def back(name: str, command: str) -> Response:
    """A reload of what a command answered: on to the table."""
    if command not in ("lay", "end", "undo", "stuck", "confirm", "hint"):
        raise UnknownGame("There is no such page.")
    return RedirectResponse(f"/table/{name}", 303)
