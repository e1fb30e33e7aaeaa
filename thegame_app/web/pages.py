"""What every page shares: templates, the reader's language, forms, and refusals as answers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

import jinja2
from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from thegame_app.language import LANGUAGES, NAMES, Language, Refusal, language, negotiate
from thegame_app.session_changes import Stale
from thegame_app.store import UnknownGame
from thegame_app.web.access import Denied, visitor_of

HERE = Path(__file__).parent
MOST_BYTES = 16_384
"""Length of a request's body at most; larger ones are refused."""
MOST_FIELDS = 40
THEMES = ("auto", "light", "dark")
PACES = (0, 300, 800, 1500, 3000)
"""Milliseconds between two plays of agents; 0 stands for "step by step"."""
PACE = 800
PREFERENCES = {
    "lang": LANGUAGES,
    "theme": THEMES,
    "pace": tuple(map(str, PACES)),
    "keys": ("on", "off"),
}
"""Cookies that a reader sets for the own browser, and what they may hold."""

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def clock(moment: str) -> str:
    """A stored moment (ISO 8601) as people read it: the server's time, with its zone."""
    return f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M %Z}".rstrip()


TEMPLATES.filters["clock"] = clock


class TooLarge(Refusal):
    """A request with more in it than any page sends."""


class NotAForm(Refusal):
    """A request whose body is no form."""


STATUS: tuple[tuple[type[Refusal], int], ...] = (
    (Denied, 403),
    (UnknownGame, 404),
    (Stale, 409),
    (TooLarge, 413),
    (NotAForm, 415),
)
"""Status codes of refusals; that of all others is 422."""


def status_of(refusal: Refusal) -> int:
    """The HTTP status code of a refusal: what its `status` says, else by its class, else 422."""
    for kind, status in STATUS:
        if isinstance(refusal, kind):
            return status
    return int(getattr(refusal, "status", 422))


def preference(request: Request, name: str, default: str) -> str:
    """What the reader's browser has kept under a name of PREFERENCES."""
    value = request.cookies.get(name, default)
    return value if value in PREFERENCES[name] else default


def language_of(request: Request) -> Language:
    """The reader's language: as chosen on the page, else the server's, else the browser's."""
    code = preference(request, "lang", request.app.state.lang or "")
    return language(code or negotiate(request.headers.get("accept-language", "")))


def is_htmx(request: Request) -> bool:
    """Whether a page in the browser asks for a part of itself."""
    return request.headers.get("hx-request") == "true"


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    return "application/json" in request.headers.get("accept", "")


def render(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """A page, or a part of one, in the reader's language.

    Templates find `_` and `ngettext` (messages), `lang`, `language_names`, `theme`, `pace`, `keys`,
    `owner` and `here` (the address to come back to) beside the `context`.
    """
    lang = language_of(request)
    text = TEMPLATES.get_template(template).render(
        {
            "_": lang,
            "ngettext": lang.plural,
            "lang": lang,
            "language_names": NAMES,
            "theme": preference(request, "theme", THEMES[0]),
            "pace": int(preference(request, "pace", str(PACE))),
            "paces": PACES,
            "keys": preference(request, "keys", "on") == "on",
            "owner": visitor_of(request).owner,
            "here": request.url.path,
            "lan": request.app.state.lan,
            **context,
        }
    )
    return HTMLResponse(text, status)


def refuse(request: Request, refusal: Refusal) -> Response:
    """A refusal as JSON, as the message line of a page that is shown already, or as a page."""
    status, sentence = status_of(refusal), refusal.text(language_of(request))
    return say_error(request, status, sentence)


def say_error(request: Request, status: int, sentence: str) -> Response:
    """An error with its one sentence; see `refuse`."""
    if wants_json(request):
        return JSONResponse({"error": sentence}, status)
    if is_htmx(request):
        response = render(request, "message.html", status, message=sentence)
        response.headers["HX-Reswap"] = "none"
        return response
    here = request.url.path if request.method == "GET" else "/"
    return render(request, "error.html", status, message=sentence, here=here)


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a posted form; of a field that stands there twice, the last.

    Raises:
        TooLarge: The body is longer than MOST_BYTES.
        NotAForm: It is not a form in UTF-8.
    """
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded")
    if kind.partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise NotAForm("A form was expected, as the pages send it.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise TooLarge("The request is too large.")
    try:
        fields = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError:
        raise NotAForm("A form was expected, as the pages send it.") from None
    return dict(fields)


Form = Annotated[dict[str, str], Depends(form_of)]


def number_of(fields: dict[str, str], name: str) -> int:
    """The whole number of a field; Refusal where it is absent or none."""
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 19):
        raise Refusal('The field "{name}" must be a whole number.', name=name)
    return int(text)
