"""Advice on request, for the seat at turn and nobody else: from its view, at once, then refined."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from thegame_app.crew import partners_of
from thegame_app.hint_agent import Player, player_for
from thegame_app.language import Refusal
from thegame_app.session import Session
from thegame_app.web.access import StoreOf, VisitorOf
from thegame_app.web.pages import Form, is_htmx, language_of, number_of, render, wants_json
from thegame_app.web.play_routes import crew_of, seat_of
from thegame_env.rules import Table

router = APIRouter()

STRENGTHS = ("instant", "normal", "deep")
"""A hint that is asked for at one of these is shown at those before it first."""


@router.post("/play/{game}/{place}/hint")
def advise(
    request: Request, game: str, place: str, form: Form, store: StoreOf, visitor: VisitorOf
) -> Response:
    """Ranked plans for the visitor's seat.

    The form's `strength` is what is wanted in the end; `step`, which the page sends along as it
    refines an answer, what is worked out now. A program gets the wanted one at once. With `agent`
    the answer tells, too, what that agent would play.
    """
    stored = store.game(game)
    seat = seat_of(stored, place, visitor)
    session = stored.session
    if seat is None:
        raise Refusal("An onlooker cannot play.")
    session.check_turn(seat, number_of(form, "seen"))
    wanted = _strength(form, "strength", STRENGTHS[0])
    step = wanted if wants_json(request) else _strength(form, "step", STRENGTHS[0])
    step = min(step, wanted, key=STRENGTHS.index)
    return _hint(request, session, seat, step, wanted, form.get("agent", ""))


def _strength(form: dict[str, str], name: str, default: str) -> str:
    strength = form.get(name, default)
    if strength not in STRENGTHS:
        raise Refusal("The strength of a hint is one of {names}.", names=", ".join(STRENGTHS))
    return strength


def _player(agent: str, known: list[str], table: Table) -> Player | None:
    """The agent that is asked for its plan, one of the known ones; None where nobody is."""
    if not agent:
        return None
    if agent not in known:
        raise Refusal('There is no agent "{agent}" here.', agent=agent)
    return player_for(agent, table)


def _hint(
    request: Request, session: Session, seat: int, step: str, wanted: str, agent: str
) -> Response:
    from thegame_app.hint_text import agent_text, figures_of
    from thegame_app.hints import hint

    partners, lang = partners_of(session, seat), language_of(request)
    agents = crew_of(request).names(session.table)
    player = _player(agent, agents, session.table)
    answer = hint(session.view(seat), step, partners=partners, lang=lang, player=player)
    if wants_json(request):
        return JSONResponse(answer.document())
    following = STRENGTHS[STRENGTHS.index(step) + 1 :]
    return render(
        request,
        "play_hint.html" if is_htmx(request) else "hint_page.html",
        base=request.url.path.removesuffix("/hint"),
        answer=answer,
        figures_of=figures_of,
        agent_text=agent_text,
        agent=agent,
        agents=agents,
        version=session.version,
        wanted=wanted,
        refining=following[0] if step != wanted else None,
        deeper=following[0] if following and step == wanted else None,
    )
