"""Which requests are let through, and the headers of every answer.

The page is served on this machine, so a site elsewhere must be able neither to read it through a
name that it points at this machine (DNS rebinding: the Host is checked) nor to send forms to it
(cross-site requests: Origin and Sec-Fetch-Site are checked, and cookies are SameSite).
"""

from __future__ import annotations

import ipaddress
import socket

from fastapi import Request

from thegame_app.language import N_

LOCAL = ("127.0.0.1", "localhost", "::1")
MOST_ADDRESS = 2000
"""Characters of an address at most."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def fault_of(request: Request, lan: bool) -> tuple[int, str] | None:
    """Status and sentence for a request that is not let through, else None.

    Args:
        request: What came.
        lan: Whether other machines of the network may come.
    """
    host = request.headers.get("host", "")
    if not _known_host(_name(host), lan):
        return 421, N_("This server does not go by that name.")
    if len(str(request.url)) > MOST_ADDRESS:
        return 414, N_("The address is too long.")
    if request.method not in ("GET", "HEAD") and not _from_here(request, host):
        return 403, N_("This came from another site, so it was not done.")
    return None


def _name(host: str) -> str:
    """The name or number in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if ":" in host else host


def _known_host(name: str, lan: bool) -> bool:
    name = name.lower().rstrip(".")
    if name in LOCAL:
        return True
    if not lan:
        return False
    own = socket.gethostname().lower()
    if name in (own, own.partition(".")[0] + ".local"):
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True  # a number cannot be pointed elsewhere, so nobody else's page bears it


def _from_here(request: Request, host: str) -> bool:
    """Whether a form was sent by a page of this server, or by no page at all."""
    origin = request.headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2].lower() == host.lower()
    return request.headers.get("sec-fetch-site", "none") in ("same-origin", "none")
