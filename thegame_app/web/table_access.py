"""Who may see a table, and which phone asks: shared by all routes of the table assistant."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from thegame_app.language import N_
from thegame_app.table_store import TableStore
from thegame_app.web.access import COOKIE, Denied, Visitor


def tables_of(request: Request) -> TableStore:
    """The games at the table, in the data file of the app."""
    state = request.app.state
    if not hasattr(state, "tables"):
        state.tables = TableStore(state.store)
    tables: TableStore = state.tables
    return tables


def scope_of(name: str) -> str:
    """The scope of a table: its link lets a phone follow it and enter what happens."""
    return f"table:{name}"


def come_in(visitor: Visitor, name: str) -> None:
    """Denied for a phone that neither is the owner's nor came through the table's link."""
    if not visitor.owner and scope_of(name) not in visitor.scopes:
        raise Denied(N_("You do not sit at this table: use the link shown on its first phone."))


def phone_of(request: Request) -> str:
    """The secret word of a phone that has come in; the hand that it keeps is filed under it."""
    return request.cookies[COOKIE]


TablesOf = Annotated[TableStore, Depends(tables_of)]
