"""Running the page: a port, links, the browser, and an end that waits for nobody."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator

import uvicorn

from thegame_app.language import N_, Language, Refusal, language
from thegame_app.store import Store, Stored
from thegame_app.web.access import OWNER, seat_scope
from thegame_app.web.app import create_app
from thegame_app.web.network import own_address

PORT = "port"
"""Setting with the port last used: taken again where it is free, so that an open tab goes on."""


def serve(
    store: Store,
    stored: Stored,
    *,
    lan: bool,
    lang: str | None,
    port: int,
    browser: bool,
    tell: Callable[[str], None],
) -> None:
    """Serve the page until interrupted.

    Args:
        store: Where games are kept.
        stored: The game that the links are for.
        lan: Whether to listen to the network.
        lang: Language for readers who have chosen none.
        port: 0 for the last one used, or any free one.
        browser: Whether to open the page.
        tell: Is called with every line for the user.

    Raises:
        Refusal: The port is taken.
    """
    words = language(lang)
    listener = bound("0.0.0.0" if lan else "127.0.0.1", port, store)
    number = listener.getsockname()[1]
    store.keep_setting(PORT, str(number))
    link = f"http://127.0.0.1:{number}/enter/{store.token(OWNER)}"
    tell(f"thegame play: {link}")
    if lan:
        for line in seat_links(store, stored, number, words):
            tell(line)
    tell(words(N_("Stop it with Ctrl-C; the game is saved after every play.")))
    with listener, contextlib.suppress(KeyboardInterrupt):
        if browser:
            threading.Timer(0.5, webbrowser.open, [link]).start()
        config = uvicorn.Config(
            create_app(store, lan=lan, lang=lang),
            log_level="error",
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listener])


def bound(host: str, port: int, store: Store) -> socket.socket:
    """A listening socket: at the port as given, else the one last used, else a free one."""
    last = store.setting(PORT) or "0"
    wanted = [port] if port else [int(last) if last.isdigit() else 0, 0]
    for number in wanted:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen()
        except OSError:
            listener.close()
            continue
        return listener
    raise Refusal("port {port} is not free", port=port)


def seat_links(store: Store, stored: Stored, port: int, lang: Language) -> Iterator[str]:
    """A line for every seat that is played elsewhere."""
    address = own_address()
    for seat in stored.session.people:
        if seat not in stored.here:
            token = store.token(seat_scope(stored.id, seat))
            who = lang("Player {number}", number=seat + 1)
            yield f"{who}: http://{address}:{port}/enter/{token}"
