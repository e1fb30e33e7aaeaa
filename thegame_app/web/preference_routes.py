"""What a reader chooses for the own browser: language, light or dark, pace, shortcuts."""

from __future__ import annotations

import re

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from thegame_app.language import Refusal
from thegame_app.web.pages import PREFERENCES, Form, is_htmx

router = APIRouter()

YEAR = 365 * 86400


@router.post("/preferences")
def choose(request: Request, form: Form) -> Response:
    """Keep the choices in cookies, and go back to where they were made."""
    back = form.get("back", "/")
    if not re.fullmatch(r"/[\w/-]*(\?[\w=&-]*)?", back, re.ASCII) or back.startswith("//"):
        raise Refusal("There is no such page.")
    if is_htmx(request):
        response = Response(status_code=204, headers={"HX-Refresh": "true"})
    else:
        response = RedirectResponse(back, 303)
    for name, known in PREFERENCES.items():
        value = form.get(name)
        if value is None:
            continue
        if value not in known:
            raise Refusal("{name} is one of {known}.", name=name, known=", ".join(known))
        response.set_cookie(name, value, max_age=YEAR, samesite="lax", path="/")
    return response
