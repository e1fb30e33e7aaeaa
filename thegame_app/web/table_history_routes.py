"""Routes of past games at the table: figures, export, deletion."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from thegame_app.language import Refusal
from thegame_app.table_history import Summary, summaries, to_csv, to_json
from thegame_app.web.access import VisitorOf
from thegame_app.web.pages import Form, render
from thegame_app.web.play_routes import go
from thegame_app.web.table_access import TablesOf

router = APIRouter()

BARS = 30
"""Games that a chart shows at most, the latest ones."""
CHART_HEIGHT = 60
BAR = 10
"""Width of a bar and its gap."""


@router.get("/table/history")
def history(request: Request, tables: TablesOf, visitor: VisitorOf) -> Response:
    """Past games and their figures."""
    visitor.need_owner()
    games = tables.past()
    groups = [(summary, bars_of(summary)) for summary in summaries(games)]
    return render(
        request,
        "table_history.html",
        games=games,
        groups=groups,
        height=CHART_HEIGHT,
        bar=BAR,
    )


def bars_of(summary: Summary) -> list[tuple[int, int]]:
    """Cards left and height of every bar of a chart; a won game has none, but is marked."""
    shown = summary.left[-BARS:]
    most = max(max(shown), 10)
    return [(left, round(left / most * CHART_HEIGHT)) for left in shown]


@router.get("/table/history.csv")
def export_csv(tables: TablesOf, visitor: VisitorOf) -> Response:
    """Past games as CSV."""
    visitor.need_owner()
    return _file(to_csv(tables.past()), "text/csv; charset=utf-8", "csv")


@router.get("/table/history.json")
def export_json(tables: TablesOf, visitor: VisitorOf) -> Response:
    """Past games as JSON."""
    visitor.need_owner()
    return _file(to_json(tables.past()), "application/json", "json")


def _file(text: str, kind: str, ending: str) -> Response:
    name = f'attachment; filename="thegame-table.{ending}"'
    return Response(text, media_type=kind, headers={"Content-Disposition": name})


@router.get("/table/{name}/delete")
def ask_delete(request: Request, name: str, tables: TablesOf, visitor: VisitorOf) -> Response:
    """The question whether a game shall be deleted."""
    visitor.need_owner()
    return render(request, "table_delete.html", game=tables.game(name), base=f"/table/{name}")


@router.post("/table/{name}/delete")
def delete(
    request: Request, name: str, form: Form, tables: TablesOf, visitor: VisitorOf
) -> Response:
    """Delete a game once that is confirmed."""
    visitor.need_owner()
    if form.get("sure") != "yes":
        raise Refusal("Confirm that the game shall be deleted.")
    tables.delete(name)
    return go(request, "/table/history")
