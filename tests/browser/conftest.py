"""A page that is served for real, and a browser to look at it; skipped where there is none."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
from browser_checks import DESKTOP

sys.path.append(str(Path(__file__).parents[1] / "thegame_app"))

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60_000
"""Milliseconds to wait for the page at most: a first start compiles kernels."""


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium():
    """A running browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("THEGAME_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), "")
    if not path:
        pytest.skip(f"no browser here: none of {', '.join(BROWSERS)} is installed")
    sync_api.expect.set_options(timeout=PATIENCE)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Site:
    """The page, served on a free port from a store of its own."""

    def __init__(self, folder, **options):
        import uvicorn

        from thegame_app.store import Store
        from thegame_app.web.app import create_app

        self.store = Store(folder)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.root = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(create_app(self.store, **options), log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def add(self, session, here=None):
        """Keep a game; returns the address of its first person's page."""
        stored = self.store.add_game(session, here)
        people = session.people
        return f"/play/{stored.id}/{people[0] + 1 if people else 'watch'}"

    def session(self, address):
        return self.store.game(address.split("/play/")[1].split("/")[0]).session

    def close(self):
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self.store.close()


@pytest.fixture
def site(tmp_path, chromium):
    site = Site(tmp_path)
    yield site
    site.close()


@pytest.fixture
def tab(chromium, site):
    """Open a tab of a fresh browser that came in as the owner; complaints on its console fail."""
    contexts, complaints = [], []

    def opened(address="/new", size=DESKTOP, **options):
        options = {"locale": "en", "color_scheme": "light", "reduced_motion": "reduce", **options}
        context = chromium.new_context(viewport=size, base_url=site.root, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"/enter/{site.store.token('owner')}")
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
