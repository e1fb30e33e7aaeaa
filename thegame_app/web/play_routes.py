"""Routes of a game: dealing one, its page, and the commands of its players."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from agents.registry import BUILT_IN
from thegame_app.crew import Crew, strongest
from thegame_app.language import Refusal
from thegame_app.session import PERSON, Session
from thegame_app.session_changes import Stale
from thegame_app.session_record import change_and_keep
from thegame_app.store import Store, Stored, UnknownGame
from thegame_app.table_store import TableStore
from thegame_app.web.access import OWNER, StoreOf, Visitor, VisitorOf, enter, seat_scope
from thegame_app.web.board import board_of
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
from thegame_app.web.table_access import scope_of, tables_of
from thegame_env.rules import PILES, PRESETS, Rules, Table

router = APIRouter()

WATCH = "watch"
"""Stands for the seat in the address of an onlooker's page."""
REMOTE = "remote"
"""In the form of a new game: a person who comes through a link."""
BEST = "strongest"
"""There, too: the agent that plays best at the table."""
MOST_AT_ONCE = 200
"""Plays of agents that one "skip" takes; no series of agents' turns is longer than a game."""


def crew_of(request: Request) -> Crew:
    """The agents of the app."""
    crew: Crew = request.app.state.crew
    return crew


# --- where one comes in --------------------------------------------------------------------------


@router.get("/")
def home(request: Request, store: StoreOf, visitor: VisitorOf) -> Response:
    """On to the game last played, else to the form of a new one; guests to where they may be."""
    place = _game_of(store, visitor, finished=False)
    if place is None and not visitor.owner:
        place = _table_of(tables_of(request), visitor) or _game_of(store, visitor, finished=True)
    if place is None:
        visitor.need_owner()
    return RedirectResponse(place or "/new", 303)


def _game_of(store: Store, visitor: Visitor, finished: bool) -> str | None:
    """The address of the game last played in which the visitor has a seat."""
    games = store.games(200, finished=finished)
    return next((f"/play/{stored.id}" for stored in games if visitor.seats(stored)), None)


def _table_of(tables: TableStore, visitor: Visitor) -> str | None:
    """The address of the table that the visitor followed last, running ones first."""
    names = [table.id for table in tables.running()] + [table.id for table in tables.past()]
    return next((f"/table/{name}" for name in names if scope_of(name) in visitor.scopes), None)


@router.get("/enter/{token}")
def come_in(request: Request, token: str, store: StoreOf) -> Response:
    """Through a secret link to what it opens."""
    kind, _, rest = (store.scope_of(token) or "").partition(":")
    game, _, seat = rest.partition(":")
    places = {OWNER: "/", "game": f"/play/{game}/{int(seat or 0) + 1}" if kind == "game" else "/"}
    return enter(request, token, places.get(kind, f"/{kind}/{rest}"))


@router.get("/games")
def list_games(request: Request, store: StoreOf, visitor: VisitorOf) -> Response:
    """The games last played."""
    visitor.need_owner()
    return render(request, "games.html", games=store.games())


# --- a new game ----------------------------------------------------------------------------------


@router.get("/new")
def ask_new(request: Request, visitor: VisitorOf) -> Response:
    """The form of a new game."""
    visitor.need_owner()
    return _new_form(request, {})


def _new_form(request: Request, fields: dict[str, str], message: str = "") -> Response:
    names = crew_of(request).names(Table(Rules(), 2))
    return render(
        request,
        "new.html",
        422 if message else 200,
        presets=list(PRESETS.values()),
        agents=names,
        fields=fields,
        message=message,
    )


@router.post("/new")
def deal_new(request: Request, form: Form, store: StoreOf, visitor: VisitorOf) -> Response:
    """Deal the game that the form asks for."""
    visitor.need_owner()
    try:
        session, here = _dealt(request, form)
    except Refusal as refusal:
        if wants_json(request) or is_htmx(request):
            raise
        return _new_form(request, form, refusal.text(language_of(request)))
    stored = store.add_game(session, here)
    return go(request, f"/play/{stored.id}")


def _dealt(request: Request, form: dict[str, str]) -> tuple[Session, tuple[int, ...]]:
    """The session that a form describes, and the seats that are played on this browser."""
    players = number_of(form, "players")
    kinds = [form.get(f"seat{number}", PERSON) for number in range(1, min(players, 5) + 1)]
    remote = {i for i, kind in enumerate(kinds) if kind == REMOTE and request.app.state.lan}
    table = _table(form, players)
    kinds = [strongest(table) if kind == BEST else kind for kind in kinds]
    seats = tuple(PERSON if i in remote else kind for i, kind in enumerate(kinds))
    for name in seats:
        if name not in (PERSON, *BUILT_IN):
            raise Refusal('There is no agent "{agent}" here.', agent=name[:40])
    crew_of(request).check(seats, table)
    seed = number_of(form, "seed") if form.get("seed") else None
    session = Session.new(table, seats, seed)
    return session, tuple(seat for seat in session.people if seat not in remote)


def _table(form: dict[str, str], players: int) -> Table:
    rules = PRESETS.get(form.get("rules", "official"))
    if rules is None:
        raise Refusal("There are no such rules; there are {names}.", names=", ".join(PRESETS))
    if not 1 <= players <= 5 or not rules.hand_sizes[players - 1]:
        counts = [str(n) for n, size in enumerate(rules.hand_sizes, 1) if size]
        raise Refusal(
            'The rules "{rules}" are for {counts} players.',
            rules=rules.name,
            counts=", ".join(counts),
        )
    talk, starter = form.get("talk", "none"), form.get("starter", "seat0")
    if talk not in ("none", "avoid", "open"):
        raise Refusal("Talk is none, avoid or open.")
    if starter not in ("seat0", "agreed"):
        raise Refusal("The starter is seat0 or agreed.")
    return Table(rules, players, True, talk, starter)  # type: ignore[arg-type]


def go(request: Request, address: str) -> Response:
    """On to another page; a program is told its address."""
    if wants_json(request):
        return JSONResponse({"page": address})
    if is_htmx(request):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


# --- the page of a game --------------------------------------------------------------------------


def seat_of(stored: Stored, text: str, visitor: Visitor) -> int | None:
    """The seat that an address names (from 1 on; None for an onlooker).

    Raises:
        Refusal: There is no such seat, or it is not the visitor's.
    """
    if text == WATCH:
        visitor.need_game(stored)
        return None
    if not (text.isascii() and text.isdigit() and len(text) == 1):
        raise UnknownGame("There is no such seat.")
    seat = int(text) - 1
    visitor.need_seat(stored, seat)
    return seat


@router.get("/play/{game}")
def find_seat(game: str, store: StoreOf, visitor: VisitorOf) -> Response:
    """On to the visitor's seat: the one at turn, else the first."""
    stored = store.game(game)
    visitor.need_game(stored)
    mine = visitor.seats(stored)
    acting = stored.session.game.seat
    seat = acting if acting in mine else mine[0] if mine else None
    return RedirectResponse(f"/play/{game}/{WATCH if seat is None else seat + 1}", 303)


@router.get("/play/{game}/{place}")
def show(request: Request, game: str, place: str, store: StoreOf, visitor: VisitorOf) -> Response:
    """The page of a seat."""
    stored = store.game(game)
    return _answer(request, stored, seat_of(stored, place, visitor), visitor)


@router.get("/play/{game}/{place}/board")
def refresh(
    request: Request, game: str, place: str, store: StoreOf, visitor: VisitorOf
) -> Response:
    """The board, unless the page already shows this version (204)."""
    stored = store.game(game)
    seat = seat_of(stored, place, visitor)
    if request.query_params.get("seen") == str(stored.session.version):
        return Response(status_code=204)
    return _answer(request, stored, seat, visitor)


def _answer(
    request: Request, stored: Stored, seat: int | None, visitor: Visitor, message: str = "",
    status: int = 200,
) -> Response:  # fmt: skip
    """The game for this visitor: JSON for a program, the board for the page, else the page."""
    lang = language_of(request)
    board = board_of(stored, seat, visitor.seats(stored), lang)
    if wants_json(request):
        body = {"error": message, **board} if message else board
        return JSONResponse(body, status)
    place = WATCH if seat is None else str(seat + 1)
    links = _links(request, stored, visitor)
    template = "play_fragment.html" if is_htmx(request) else "play.html"
    return render(
        request,
        template,
        status,
        b=board,
        base=f"/play/{stored.id}/{place}",
        message=message,
        links=links,
        here=f"/play/{stored.id}/{place}",
        **({"pace": 0} if message else {}),  # an agent that failed is not asked again by itself
    )


def _links(request: Request, stored: Stored, visitor: Visitor) -> list[tuple[int, str]]:
    """For the owner: the links of the seats that are played elsewhere."""
    if not (visitor.owner and request.app.state.lan):
        return []
    store, url = request.app.state.store, request.url
    host = own_address() if url.hostname in LOCAL else url.hostname
    root = f"http://{host}:{url.port or 80}/"
    away = [seat for seat in stored.session.people if seat not in stored.here]
    return [(seat, f"{root}enter/{store.token(seat_scope(stored.id, seat))}") for seat in away]


@router.get("/play/{game}/{place}/{command}")
def back(game: str, place: str, command: str) -> Response:
    """A reload of what a command answered: on to the page of the seat."""
    if command not in ("lay", "end", "undo", "advance", "hint"):
        raise UnknownGame("There is no such page.")
    return RedirectResponse(f"/play/{game}/{place}", 303)


# --- commands ------------------------------------------------------------------------------------

Command = Callable[[Session, int], Session]


def _do(request: Request, game: str, place: str, visitor: Visitor, command: Command) -> Response:
    """Apply a player's command; where it is refused, say why beside the game as it is now."""
    store: Store = request.app.state.store
    stored = store.game(game)
    seat = seat_of(stored, place, visitor)
    try:
        if seat is None:
            raise Refusal("An onlooker cannot play.")
        player = seat
        stored = change_and_keep(store, game, lambda session: command(session, player))
    except Refusal as refusal:
        sentence = refusal.text(language_of(request))
        return _answer(request, store.game(game), seat, visitor, sentence, status_of(refusal))
    return _done(request, stored, seat, visitor)


def _done(request: Request, stored: Stored, seat: int | None, visitor: Visitor) -> Response:
    if is_htmx(request) or wants_json(request):
        return _answer(request, stored, seat, visitor)
    return RedirectResponse(f"/play/{stored.id}/{WATCH if seat is None else seat + 1}", 303)


@router.post("/play/{game}/{place}/lay")
def lay(request: Request, game: str, place: str, form: Form, visitor: VisitorOf) -> Response:
    """Lay a card on a pile."""

    def command(session: Session, seat: int) -> Session:
        if not form.get("card"):
            raise Refusal("Choose a card first, then a pile.")
        if form.get("pile") not in PILES:
            raise Refusal("There is no such pile; the piles are {piles}.", piles=", ".join(PILES))
        pile = PILES.index(form["pile"])
        return session.play(seat, number_of(form, "card"), pile, number_of(form, "seen"))

    return _do(request, game, place, visitor, command)


@router.post("/play/{game}/{place}/end")
def end(request: Request, game: str, place: str, form: Form, visitor: VisitorOf) -> Response:
    """End the turn."""
    return _do(
        request, game, place, visitor, lambda s, seat: s.end_turn(seat, number_of(form, "seen"))
    )


@router.post("/play/{game}/{place}/undo")
def undo(request: Request, game: str, place: str, form: Form, visitor: VisitorOf) -> Response:
    """Take the last card of the turn back."""
    return _do(request, game, place, visitor, lambda s, seat: s.undo(seat, number_of(form, "seen")))


@router.post("/play/{game}/{place}/advance")
def advance(
    request: Request, game: str, place: str, form: Form, store: StoreOf, visitor: VisitorOf
) -> Response:
    """Let the agent at turn take one action, or (`all`) agents act until a person is at turn.

    Several pages may ask for the same action; it is taken once, and all get the board.
    """
    stored = store.game(game)
    seat = seat_of(stored, place, visitor)
    seen = number_of(form, "seen")
    try:
        for _ in range(MOST_AT_ONCE if form.get("all") else 1):
            if stored.session.agent is None or (seen != stored.session.version):
                break
            stored = _one_action(request, stored)
            seen = stored.session.version
    except Stale:
        stored = store.game(game)
    except Refusal as refusal:
        sentence = refusal.text(language_of(request))
        return _answer(request, store.game(game), seat, visitor, sentence, status_of(refusal))
    return _done(request, stored, seat, visitor)


def _one_action(request: Request, stored: Stored) -> Stored:
    action = crew_of(request).choose(stored.session)
    seen = stored.session.version
    store: Store = request.app.state.store
    return change_and_keep(store, stored.id, lambda session: session.advance(action, seen))
