"""Browsers without a browser: clients of the page for tests."""

from __future__ import annotations

import contextlib
import re

from fastapi.testclient import TestClient

from thegame_app.store import Store
from thegame_app.web.access import OWNER, seat_scope
from thegame_app.web.app import create_app

ROOT = "http://127.0.0.1:8000"
HTMX = {"hx-request": "true"}
JSON = {"accept": "application/json"}


class Page:
    """An app over a store, and clients that come through its links."""

    def __init__(self, folder, **options):
        self.store = Store(folder)
        self.app = create_app(self.store, **options)
        self._open = contextlib.ExitStack()

    def close(self):
        self._open.close()
        self.store.close()

    def client(self, token=None, root=ROOT, **headers):
        """A fresh browser; with a token, one that came through its link."""
        client = self._open.enter_context(
            TestClient(self.app, base_url=root, raise_server_exceptions=False)
        )
        client.headers.update(headers)
        if token:
            come_in(client, token)
        return client

    def owner(self, **options):
        return self.client(self.store.token(OWNER), **options)

    def guest(self, game, seat, **options):
        """The player of a seat that has its own link."""
        return self.client(self.store.token(seat_scope(game, seat)), **options)


def come_in(client, token):
    """Follow a secret link with a browser that knows nothing yet."""
    client.cookies.clear()
    assert client.get(f"/enter/{token}", follow_redirects=False).status_code == 303


def board(client, address):
    """What JSON tells of a page."""
    answer = client.get(address, headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json()


def message(text):
    """The message line of a page or a part of one."""
    found = re.search(r'<p id="message"[^>]*>(.*?)</p>', text, re.DOTALL)
    return found[1].strip() if found else None


def lay(client, game, card, pile, seen, headers=HTMX):
    """Lay a card on the page at the address `game`."""
    fields = {"card": card, "pile": pile, "seen": seen}
    return client.post(f"{game}/lay", data=fields, headers=headers)


def session_of(page, address):
    """The session behind an address such as /play/NAME/1."""
    return page.store.game(address.split("/")[2]).session
