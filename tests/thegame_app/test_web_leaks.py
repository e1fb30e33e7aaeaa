"""Nobody's page tells where the unseen cards are: permuting them leaves every answer the same."""

import itertools
import re

import pytest
from session_games import new, played, reshuffled
from web_clients import HTMX, JSON, Page, come_in

from thegame_app import store
from thegame_app.session import PERSON
from thegame_app.web.access import seat_scope

SEATS = {
    "alone": [PERSON],
    "two": [PERSON, "greedy"],
    "many": [PERSON, "random", PERSON, "greedy", PERSON],
}


@pytest.fixture(autouse=True)
def plain_names(monkeypatch):
    """Names of games and tokens are counted instead of drawn, and the clock stands still."""
    monkeypatch.setattr(store, "now", lambda: "2026-01-01T00:00:00+00:00")
    names = Names()
    monkeypatch.setattr(store.secrets, "token_urlsafe", names.draw)
    return names


class Names:
    """What stands for `secrets.token_urlsafe`: the same names again after `restart`."""

    def __init__(self):
        self.restart(0)

    def restart(self, series):
        self._series, self._count = series, itertools.count()

    def draw(self, size):
        return f"{self._series}-{next(self._count)}".ljust(32 if size == 24 else 12, "x")


def answers(page, client, session, seat, hints=True):
    """Everything that the player of a seat can be told of a game."""
    stored = page.store.add_game(session, here=[])
    come_in(client, page.store.token(seat_scope(stored.id, seat)))
    address, seen = f"/play/{stored.id}/{seat + 1}", session.version
    told = [
        client.get(path, headers=headers)
        for path in (address, f"{address}/board", f"{address[:-1]}watch", f"/replay/{stored.id}")
        for headers in ({}, HTMX, JSON)
    ]
    for headers in (HTMX, JSON):
        if hints:
            told.append(client.post(f"{address}/hint", data={"seen": seen}, headers=headers))
        for command in ("end", "undo", "lay"):
            fields = {"seen": seen + 1, "card": 2, "pile": "up1"}
            told.append(client.post(f"{address}/{command}", data=fields, headers=headers))
    return [(answer.status_code, dict(answer.headers), answer.content) for answer in told]


@pytest.mark.parametrize("seats", SEATS)
@pytest.mark.parametrize("steps", [0, 7, 31])
def test_unseen_cards_change_no_answer(tmp_path, plain_names, seats, steps):
    session = played(new(len(SEATS[seats]), seats=SEATS[seats], seed=5), steps, careful=True)
    while session.game.seat != 0:
        session = played(session, 1, careful=True)
    assert not session.over
    told = []
    for seed in range(3):
        other = reshuffled(session, 0, seed)
        assert other.game.deck != session.game.deck
        plain_names.restart(0)
        page = Page(tmp_path / str(seed), lan=True)
        told.append(answers(page, page.client(), other, 0))
        page.close()
    assert told[0] == told[1] == told[2]


@pytest.mark.long
def test_a_thousand_positions(tmp_path, plain_names):
    """Two pages that have come by the same names show the same of 1,000 pairs of games."""
    pages = [Page(tmp_path / str(number), lan=True) for number in range(2)]
    clients = [page.client() for page in pages]
    positions = itertools.islice(_positions(), 1000)
    for number, session in enumerate(positions):
        told = []
        for seed, (page, client) in enumerate(zip(pages, clients, strict=True)):
            other = reshuffled(session, session.game.seat, seed)
            plain_names.restart(number)
            told.append(answers(page, client, other, session.game.seat, hints=False))
        assert told[0] == told[1], str(session.record)
    for page in pages:
        page.close()


def _positions():
    """Positions of random games at all tables, every fourth of a game."""
    for number in itertools.count():
        session = new(1 + number % 5, seed=number)
        while not session.over:
            session = played(session, 1, number)
            if not session.over and len(session.actions) % 4 == 0:
                yield session


def test_a_live_page_holds_the_own_cards_and_no_others(tmp_path):
    """The cards to choose from are the own hand, and nothing says how it was dealt."""
    page = Page(tmp_path, lan=True)
    session = new(3, seed=5)
    stored = page.store.add_game(session, here=[])
    text = page.guest(stored.id, 0).get(f"/play/{stored.id}/1").text
    shown = {int(card) for card in re.findall(r'value="(\d+)" data-gaps', text)}
    assert shown == session.game.hands[0]
    assert "seed" not in text
    page.close()
