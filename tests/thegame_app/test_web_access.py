"""Who comes in through which link, where that leads, and which requests are turned away."""

import re

import pytest
from session_games import new, played
from web_clients import HTMX, Page, board, lay, session_of

from thegame_app.table_entries import Setup
from thegame_app.table_store import TableStore
from thegame_app.web.table_access import scope_of


def test_nobody_comes_in_without_a_link(page, game):
    stranger = page.client()
    addresses = ["/", "/new", "/games", game, game[:-2], f"{game[:-2]}/watch", f"{game}/board"]
    for address in addresses:
        assert stranger.get(address).status_code == 403
    assert stranger.post("/new", data={"players": 1}).status_code == 403
    assert lay(stranger, game, 5, "up1", 0).status_code == 403
    assert stranger.get("/enter/wrong").status_code == 403
    stranger.cookies.set("thegame", "x" * 32)
    assert stranger.get(game).status_code == 403


def test_a_link_opens_its_seat_only(lan):
    stored = lan.store.add_game(new(3, seed=3), here=[0])
    guest = lan.guest(stored.id, 1)
    assert guest.get("/").url.path == f"/play/{stored.id}/2"
    assert guest.get(f"/play/{stored.id}/2").status_code == 200
    for address in ("/new", "/games", f"/play/{stored.id}/1", f"/play/{stored.id}/3"):
        assert guest.get(address).status_code == 403
    owner = lan.owner()
    assert owner.get(f"/play/{stored.id}/1").status_code == 200
    assert owner.get(f"/play/{stored.id}/2").status_code == 403
    other = lan.store.add_game(new(2))
    assert guest.get(f"/play/{other.id}/2").status_code == 403
    assert guest.get(f"/play/{other.id}/watch").status_code == 403


def test_the_owner_is_shown_the_links_of_the_others(lan):
    owner = lan.owner()
    fields = {"players": "3", "seat1": "person", "seat2": "remote", "seat3": "greedy"}
    text = owner.post("/new", data=fields).text
    (token,) = re.findall(r"/enter/([\w-]+)\"", text)
    guest = lan.client(token)
    assert guest.get("/").url.path.endswith("/2")
    assert token not in guest.get("/").text


def test_a_new_start_knows_its_visitors(page, owner, game, tmp_path):
    lay(owner, game, 5, "up1", 0)
    again = Page(tmp_path)
    client = again.client()
    client.cookies = owner.cookies
    assert board(client, game)["version"] == 1
    again.close()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.7", "[::2]", ""]
)
def test_foreign_names_are_turned_away(page, owner, game, host):
    assert owner.get(game, headers={"host": host}).status_code == 421


def test_numbers_are_let_in_on_a_network(lan):
    owner = lan.owner()
    assert owner.get("/new", headers={"host": "10.0.0.7:8000"}).status_code == 200
    assert owner.get("/new", headers={"host": "evil.example"}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_of_other_sites_are_not_done(page, owner, game, headers):
    answer = lay(owner, game, 5, "up1", 0, headers)
    assert answer.status_code == 403
    assert session_of(page, game).version == 0


def test_own_forms_are_done(owner, game):
    headers = {**HTMX, "origin": "http://127.0.0.1:8000", "sec-fetch-site": "same-origin"}
    assert lay(owner, game, 5, "up1", 0, headers).status_code == 200


def test_every_answer_has_the_safety_headers(owner, game):
    for address in ("/new", game, "/nowhere", "/static/style.css", "/static/htmx.min.js"):
        headers = owner.get(address).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert ("no-store" in headers["cache-control"]) == (not address.startswith("/static"))


def test_pages_need_no_network(owner, game):
    for address in ("/new", game):
        assert not re.findall(r'(?:src|href)="(?:https?:)?//', owner.get(address).text)


# --- where the first page leads ----------------------------------------------------------------


def test_a_guest_comes_back_to_the_game_when_it_is_over(lan):
    stored = lan.store.add_game(played(new(2, seed=3)), here=[0])
    guest = lan.guest(stored.id, 1)
    assert guest.get("/").url.path == f"/play/{stored.id}/2"


def test_a_guest_comes_back_to_the_table_and_to_no_other(lan):
    tables = TableStore(lan.store)
    name, other = (tables.add_game(Setup((who, "Bo"))) for who in ("Al", "Cy"))
    guest = lan.client(lan.store.token(scope_of(name)))
    answer = guest.get("/")
    assert answer.status_code == 200
    assert answer.url.path == f"/table/{name}"
    assert guest.get(f"/table/{other}").status_code == 403
    tables.delete(name)
    assert guest.get("/").status_code == 403


def test_what_is_refused_is_said_in_the_reader_s_language(lan):
    """English stays nowhere: neither for a stranger nor for a guest at somebody else's page."""
    stored = lan.store.add_game(new(3, seed=3), here=[0])
    guest, stranger = lan.guest(stored.id, 1), lan.client()
    for client, address in (
        (stranger, "/"),
        (stranger, f"/play/{stored.id}/watch"),
        (guest, "/games"),
        (guest, f"/play/{stored.id}/1"),
        (guest, f"/play/{stored.id}/9"),
        (guest, f"/play/{stored.id}/0"),
        (guest, "/play/nowhere/1"),
        (guest, "/enter/nowhere"),
    ):
        said = set()
        for code in ("en", "de", "pl"):
            text = client.get(address, headers={"accept-language": code}).text
            said.add(re.search(r'<p class="lead">(.*?)</p>', text)[1])
        assert len(said) == 3, (address, said)
