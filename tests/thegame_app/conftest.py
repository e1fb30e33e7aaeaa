"""The page over a store of its own, as most tests of it need it."""

import pytest
from session_games import new
from web_clients import Page

from thegame_app.session import PERSON


@pytest.fixture
def page(tmp_path):
    page = Page(tmp_path)
    yield page
    page.close()


@pytest.fixture
def owner(page):
    return page.owner()


@pytest.fixture
def game(page):
    """Address of a game of a person and greedy, player 1 holding 5 14 30 77 79 86 91."""
    return f"/play/{page.store.add_game(new(2, seats=[PERSON, 'greedy'], seed=3)).id}/1"


@pytest.fixture
def lan(tmp_path):
    page = Page(tmp_path, lan=True)
    yield page
    page.close()
