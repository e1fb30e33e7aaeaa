"""The app factory of the page: `create_app(store)`."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from thegame_app.crew import Crew
from thegame_app.language import N_, Refusal
from thegame_app.store import Store
from thegame_app.web import (
    hint_routes,
    play_routes,
    preference_routes,
    replay_routes,
    review_routes,
    table_routes,
)
from thegame_app.web.pages import HERE, language_of, refuse, say_error
from thegame_app.web.security import HEADERS, fault_of

PARTS = (play_routes, hint_routes, replay_routes, review_routes, preference_routes, table_routes)
"""Modules with a `router`."""

SENTENCES = {
    404: N_("There is no such page."),
    405: N_("This cannot be done here."),
    422: N_("The request was not understood."),
    500: N_("Something went wrong here; the game is as it was."),
}


def create_app(store: Store, *, lan: bool = False, lang: str | None = None) -> FastAPI:
    """The page as an ASGI app.

    Args:
        store: Where games are kept.
        lan: Whether other machines of the network may come, each through its own link.
        lang: Language for readers who have chosen none; by default their browsers'.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.state.store, app.state.lan, app.state.lang = store, lan, lang
    app.state.crew = Crew()
    app.mount("/static", StaticFiles(directory=HERE / "static"), "static")
    for part in PARTS:
        app.include_router(part.router)
    app.middleware("http")(guard)
    app.exception_handler(Refusal)(on_refusal)
    app.exception_handler(HTTPException)(on_http_error)
    app.exception_handler(RequestValidationError)(on_invalid)
    app.exception_handler(Exception)(on_fault)
    return app


async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Turn away what must not come in, and put the safety headers on every answer."""
    fault = fault_of(request, request.app.state.lan)
    if fault is None:
        response = await call_next(request)
    else:
        response = say_error(request, fault[0], language_of(request)(fault[1]))
    for name, value in HEADERS.items():
        response.headers[name] = value
    if request.url.path.startswith("/static/"):
        response.headers["Cache-Control"] = "no-cache"
    else:
        response.headers["Cache-Control"] = "no-store"
    return response


def on_refusal(request: Request, error: Exception) -> Response:
    """A refusal as an answer."""
    assert isinstance(error, Refusal)
    return refuse(request, error)


def on_http_error(request: Request, error: Exception) -> Response:
    """An unknown address, a wrong method and the like."""
    assert isinstance(error, HTTPException)
    return _say(request, error.status_code)


def on_invalid(request: Request, error: Exception) -> Response:
    """Parameters of a request that are not of their types."""
    return _say(request, 422)


def on_fault(request: Request, error: Exception) -> Response:
    """A fault of the program: told in one sentence, its details are for the log."""
    logging.getLogger("thegame").error("fault at %s", request.url.path, exc_info=error)
    return _say(request, 500)


def _say(request: Request, status: int) -> Response:
    message = SENTENCES.get(status, SENTENCES[422])
    return say_error(request, status, language_of(request)(message))
