"""Who may see what: secret links, a cookie, and what it opens.

A link `/enter/TOKEN` opens a scope, "owner" or "game:NAME:SEAT" (other parts of the app have their
own). The browser that follows it gets a secret cookie, and the store keeps which scopes that cookie
may enter; so a browser stays in when the server is started again. The owner plays every seat that
is played here; the seats of others open to their own links only.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import RedirectResponse, Response

from thegame_app.language import N_, Refusal
from thegame_app.store import Store, Stored

COOKIE = "thegame"
COOKIE_DAYS = 90
OWNER = "owner"
"""The scope of whoever started the server."""


class Denied(Refusal):
    """The browser has not come through a link that opens this."""


def seat_scope(game: str, seat: int) -> str:
    """The scope of one seat of a game."""
    return f"game:{game}:{seat}"


@dataclass(frozen=True, slots=True)
class Visitor:
    """A browser, as far as its cookie tells.

    Attributes:
        scopes: What it may enter.
    """

    scopes: frozenset[str]

    @property
    def owner(self) -> bool:
        """Whether it belongs to whoever started the server."""
        return OWNER in self.scopes

    def seats(self, stored: Stored) -> tuple[int, ...]:
        """The people's seats of a game that it plays."""
        here = stored.here if self.owner else ()
        return tuple(
            seat
            for seat in stored.session.people
            if seat in here or seat_scope(stored.id, seat) in self.scopes
        )

    def need_owner(self) -> None:
        """Denied for anybody but the owner."""
        if not self.owner:
            raise Denied("This page is for whoever started the game: use the link shown there.")

    def need_game(self, stored: Stored) -> None:
        """Denied for anybody who neither owns the server nor has a seat in the game."""
        if not self.owner and not self.seats(stored):
            raise Denied("You have no seat in this game: use the link that was given to you.")

    def need_seat(self, stored: Stored, seat: int) -> None:
        """Denied for anybody but the player of this seat."""
        if seat not in self.seats(stored):
            raise Denied("This is not your seat: use the link that was given to you.")


def store_of(request: Request) -> Store:
    """The store of the app."""
    store: Store = request.app.state.store
    return store


def visitor_of(request: Request) -> Visitor:
    """Who makes a request."""
    browser = _browser(request)
    return Visitor(store_of(request).grants(browser) if browser else frozenset())


def enter(request: Request, token: str, landing: str) -> Response:
    """Let a browser in through a link, and send it on to `landing`.

    Raises:
        Denied: The link opens nothing.
    """
    store = store_of(request)
    scope = store.scope_of(token)
    if scope is None:
        raise Denied(N_("This link opens nothing: it is old, or not complete."))
    browser = _browser(request) or secrets.token_urlsafe(24)
    store.grant(browser, scope)
    response = RedirectResponse(landing, status_code=303)
    response.set_cookie(
        COOKIE, browser, max_age=COOKIE_DAYS * 86400, httponly=True, samesite="lax", path="/"
    )
    return response


def _browser(request: Request) -> str | None:
    """The secret word of the cookie, if it has the form of one."""
    value = request.cookies.get(COOKIE, "")
    return value if re.fullmatch(r"[\w-]{32}", value, re.ASCII) else None


StoreOf = Annotated[Store, Depends(store_of)]
VisitorOf = Annotated[Visitor, Depends(visitor_of)]
