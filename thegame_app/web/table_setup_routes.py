"""Routes where a game at the table begins: who plays, what, who starts."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from thegame_app.language import Refusal
from thegame_app.table_entries import Setup
from thegame_app.table_store import TableStore
from thegame_app.web.access import VisitorOf
from thegame_app.web.pages import Form, is_htmx, language_of, number_of, render, wants_json
from thegame_app.web.play_routes import go
from thegame_app.web.table_access import TablesOf
from thegame_env.rules import MAX_SEATS, PRESETS

router = APIRouter()

ROWS = range(1, MAX_SEATS + 1)
"""Numbers of the players in the form."""


@router.get("/table")
def home(request: Request, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Games that go on, and the form of a new one, filled in as the game `again` was."""
    visitor.need_owner()
    again = request.query_params.get("again")
    return _home(request, tables, _fields_of(tables.game(again).setup) if again else {})


def _fields_of(setup: Setup) -> dict[str, str]:
    names = {f"name{number}": name for number, name in enumerate(setup.names, start=1)}
    return {**names, "rules": setup.rules.name, "memory": "yes" if setup.memory else "no"}


def _home(
    request: Request, tables: TableStore, fields: dict[str, str], message: str = ""
) -> Response:
    return render(
        request,
        "table_home.html",
        422 if message else 200,
        running=tables.running(),
        saved=tables.players(),
        presets=list(PRESETS.values()),
        rows=ROWS,
        fields=fields,
        message=message,
    )


@router.post("/table")
def begin(request: Request, form: Form, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Begin the game that the form describes."""
    visitor.need_owner()
    try:
        setup = _setup(form)
    except Refusal as refusal:
        if wants_json(request) or is_htmx(request):
            raise
        return _home(request, tables, form, refusal.text(language_of(request)))
    return go(request, f"/table/{tables.add_game(setup)}")


def _setup(form: dict[str, str]) -> Setup:
    rules = PRESETS.get(form.get("rules", "official"))
    if rules is None:
        raise Refusal("There are no such rules; there are {names}.", names=", ".join(PRESETS))
    rows = {number: form.get(f"name{number}", "").strip() for number in ROWS}
    seated = [number for number, name in rows.items() if name]
    starter = number_of(form, "starter") if form.get("starter") else min(seated, default=0)
    if seated and starter not in seated:
        raise Refusal("The starter is none of the players.")
    return Setup(
        tuple(rows[number] for number in seated),
        rules,
        seated.index(starter) if seated else 0,
        memory=form.get("memory", "yes") == "yes",
    )


@router.post("/table/players/forget")
def forget_player(request: Request, form: Form, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Remove a saved player from the list of names."""
    visitor.need_owner()
    tables.forget_player(form.get("player", ""))
    return go(request, "/table")
