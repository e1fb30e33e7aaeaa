"""The replay of a finished game, everything open, and games that go on from a step of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from thegame_app.language import Language, Refusal
from thegame_app.session import PERSON, Session
from thegame_app.session_record import run_folder
from thegame_app.store import Store, Stored
from thegame_app.web.access import StoreOf, Visitor, VisitorOf
from thegame_app.web.pages import Form, is_htmx, language_of, number_of, render, wants_json
from thegame_app.web.play_routes import go
from thegame_env.rules import PILES

router = APIRouter()


def finished(store: Store, game: str, visitor: Visitor) -> Stored:
    """A finished game that the visitor may see.

    Raises:
        Refusal: It is still going on, there is none of this name, or it is not the visitor's.
    """
    stored = store.game(game)
    visitor.need_game(stored)
    if not stored.session.over:
        raise Refusal("The game is still going on: it can be replayed when it is over.")
    return stored


@router.get("/replay/{game}")
def replay(request: Request, game: str, store: StoreOf, visitor: VisitorOf) -> Response:
    """A step of a game, by default the last one."""
    stored = finished(store, game, visitor)
    last = len(stored.session.actions)
    step = number_of(dict(request.query_params), "step") if "step" in request.query_params else last
    if step > last:
        raise Refusal("There is no step {step} in this game.", step=step)
    facts = step_of(stored.session, step, language_of(request))
    if wants_json(request):
        return JSONResponse({"game": game, **facts})
    template = "replay_step.html" if is_htmx(request) else "replay.html"
    run = run_folder(store, game) if visitor.owner and stored.session.seed is not None else None
    return render(request, template, r=facts, g=stored, person=PERSON, run=run)


def step_of(session: Session, step: int, lang: Language) -> dict[str, Any]:
    """A position of a finished game, with what is done next."""
    game = session.positions[step]
    changes = session.changes_left
    following = changes[step] if step < len(changes) else None
    return {
        "step": step,
        "steps": len(session.actions),
        "seat": game.seat,
        "plays": game.plays,
        "owed": game.owed,
        "tops": dict(zip(PILES, game.tops, strict=True)),
        "hands": [sorted(hand) for hand in game.hands],
        "deck": list(game.deck),
        "cards_left": game.cards_left,
        "status": "playing" if game.outcome is None else str(game.outcome.termination),
        "done": changes[step - 1].text(lang) if step else None,
        "next": following.text(lang) if following else None,
        "next_card": following.card if following and following.kind == "play" else None,
    }


@router.post("/replay/{game}/what-if")
def what_if(
    request: Request, game: str, form: Form, store: StoreOf, visitor: VisitorOf
) -> Response:
    """A new game that goes on from a step of this one, at the same seats."""
    visitor.need_owner()
    stored = finished(store, game, visitor)
    session = stored.session.what_if(number_of(form, "step"))
    return go(request, f"/play/{store.add_game(session, stored.here).id}")


@router.get("/replay/{game}/record")
def record(game: str, store: StoreOf, visitor: VisitorOf) -> Response:
    """The game as one line of text that `thegame review` reads."""
    stored = finished(store, game, visitor)
    return PlainTextResponse(
        f"{stored.session.record}\n",
        headers={"Content-Disposition": f'attachment; filename="thegame-{stored.id}.txt"'},
    )
