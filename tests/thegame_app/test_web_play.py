"""The page of a game: its routes, what is refused and how, languages, several seats."""

import time
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from session_games import new, played
from web_clients import HTMX, JSON, Page, board, lay, message, session_of

from thegame_app import crew
from thegame_app.crew import ANYWHERE, STRONGEST
from thegame_app.session import PERSON
from thegame_app.web.pages import MOST_BYTES

# --- a game ----------------------------------------------------------------------------------


def test_the_first_page_asks_for_a_game_or_goes_on_with_one(page, owner):
    assert owner.get("/").url.path == "/new"
    stored = page.store.add_game(new(1))
    assert owner.get("/").url.path == f"/play/{stored.id}/1"


def test_a_game_is_dealt_by_the_form(page, owner):
    fields = {"players": "3", "rules": "profi", "seat1": "person", "seat2": "greedy",
              "seat3": "random", "talk": "open", "starter": "agreed", "seed": "12"}  # fmt: skip
    answer = owner.post("/new", data=fields)
    assert answer.status_code == 200
    session = session_of(page, answer.url.path)
    assert session.seats == (PERSON, "greedy", "random")
    assert session.seed == 12
    assert session.table.rules.name == "profi"
    assert (session.table.talk, session.table.starter) == ("open", "agreed")


@pytest.mark.parametrize("address", ["/new", "/table"])
def test_the_forms_say_how_the_rules_differ(owner, address):
    text = owner.get(address).text
    assert "cards in hand with 1-5 players: 8 7 6 6 6;" in text
    assert "cards in hand with 1-5 players: – 6 6 5 5;" in text
    assert text.count("whoever cannot go on passes") == 1
    assert (
        "wer nicht weiterkann, setzt aus"
        in owner.get(address, headers={"accept-language": "de"}).text
    )


@pytest.mark.parametrize(("rules", "agent"), [("official", STRONGEST), ("small-hands", ANYWHERE)])
def test_the_strongest_agent_is_that_of_the_table(page, owner, rules, agent, monkeypatch):
    known = (STRONGEST, "official")
    monkeypatch.setattr(
        crew,
        "shipped_for",
        lambda kind, table: Path() if (kind, table.rules.spec()) == known else None,
    )
    fields = {"players": "2", "rules": rules, "seat1": "person", "seat2": "strongest"}
    answer = owner.post("/new", data=fields)
    assert session_of(page, answer.url.path).seats == (PERSON, agent)
    assert '<option value="strongest" selected' in owner.get("/new").text


def test_times_are_those_of_the_server_with_their_zone(page, owner, monkeypatch):
    stored = page.store.add_game(new(1))
    monkeypatch.setenv("TZ", "XYZ-05:30")
    time.tzset()
    try:
        text = owner.get("/games").text
    finally:
        monkeypatch.undo()
        time.tzset()
    local = datetime.fromisoformat(stored.changed) + timedelta(hours=5, minutes=30)
    assert f'<time datetime="{stored.changed}">{local:%Y-%m-%d %H:%M} XYZ</time>' in text


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "players"),
        ({"players": "0"}, "for 1, 2, 3, 4, 5 players"),
        ({"players": "6"}, "for 1, 2, 3, 4, 5 players"),
        ({"players": "1", "rules": "small-hands"}, "for 2, 3, 4, 5 players"),
        ({"players": "2", "rules": "extreme"}, "no such rules"),
        ({"players": "2", "seat2": "nobody"}, 'no agent "nobody"'),
        ({"players": "2", "seat2": "rollout:deals=1000000"}, "no agent"),
        ({"players": "2", "seat2": "os:system"}, "no agent"),
        ({"players": "2", "seat2": "remote"}, 'no agent "remote"'),
        ({"players": "2", "talk": "loud"}, "Talk is"),
        ({"players": "2", "starter": "me"}, "The starter is"),
        ({"players": "2", "seed": "-4"}, "seed"),
        ({"players": "2", "seed": str(2**63)}, "seed must be"),
        ({"players": "two"}, "whole number"),
        ({"players": "²"}, "whole number"),
    ],
)
def test_a_bad_form_is_shown_again_with_a_sentence(page, owner, fields, sentence):
    answer = owner.post("/new", data=fields)
    assert answer.status_code == 422
    assert sentence in unescape(message(answer.text))
    assert 'id="new-game"' in answer.text
    assert owner.post("/new", data=fields, headers=JSON).json().keys() == {"error"}
    assert page.store.games() == []


def test_laying_undoing_ending(page, owner, game):
    assert lay(owner, game, 5, "up1", 0).status_code == 200
    assert session_of(page, game).game.tops == (5, 1, 100, 100)
    assert owner.post(f"{game}/undo", data={"seen": 1}, headers=HTMX).status_code == 200
    assert session_of(page, game).game.tops == (1, 1, 100, 100)
    lay(owner, game, 5, "up1", 2)
    lay(owner, game, 14, "up1", 3)
    assert board(owner, game)["may_end"]
    answer = owner.post(f"{game}/end", data={"seen": 4}, headers=HTMX)
    assert "Player 2 is thinking" in answer.text
    assert board(owner, game)["turn"]["agent"] == "greedy"


def test_forms_work_without_script(page, owner, game):
    answer = lay(owner, game, 5, "up1", 0, headers={})
    assert answer.status_code == 200
    assert answer.url.path == game
    refused = lay(owner, game, 5, "up1", 0, headers={})
    assert refused.status_code == 409
    assert "<!doctype html>" in refused.text
    assert "laid 5 on up1" in message(refused.text)
    assert owner.get(f"{game}/lay").url.path == game


def test_agents_go_on_one_play_at_a_time_or_all_at_once(page, owner, game):
    lay(owner, game, 5, "up1", 0)
    lay(owner, game, 14, "up1", 1)
    owner.post(f"{game}/end", data={"seen": 2}, headers=HTMX)
    for _ in range(2):  # the second asks for what has been done, and just gets the board
        answer = owner.post(f"{game}/advance", data={"seen": 3}, headers=HTMX)
        assert answer.status_code == 200
        assert session_of(page, game).version == 4
    owner.post(f"{game}/advance", data={"seen": 4, "all": 1}, headers=HTMX)
    session = session_of(page, game)
    assert session.over or session.game.seat == 0


def test_a_board_that_is_up_to_date_is_not_sent_again(owner, game):
    assert owner.get(f"{game}/board?seen=0").status_code == 204
    lay(owner, game, 5, "up1", 0)
    answer = owner.get(f"{game}/board?seen=0", headers=HTMX)
    assert answer.status_code == 200
    assert 'id="board"' in answer.text


def test_a_whole_game_is_played_by_the_board_alone(page, owner):
    stored = page.store.add_game(new(1, seed=8))
    address = f"/play/{stored.id}/1"
    while (state := board(owner, address))["status"] == "playing":
        seen = {"seen": state["version"]}
        if state["may_end"]:
            owner.post(f"{address}/end", data=seen, headers=JSON)
            continue
        best = min((gap, c["card"], p) for c in state["hand"] for p, gap in c["gaps"].items())
        lay(owner, address, best[1], best[2], state["version"], JSON)
    session = session_of(page, address)
    assert session.over
    assert state["cards_left"] == session.game.cards_left
    text = owner.get(address).text
    assert f"/replay/{stored.id}" in text
    assert "Stuck" in text


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "fields", "status", "sentence"),
    [
        ("lay", {"card": 6, "pile": "up1", "seen": 0}, 422, "Card 6 is not in your hand"),
        ("lay", {"card": 100, "pile": "up1", "seen": 0}, 422, "the cards are 2-99"),
        ("lay", {"card": 5, "pile": "up3", "seen": 0}, 422, "There is no such pile"),
        ("lay", {"card": 5, "seen": 0}, 422, "There is no such pile"),
        ("lay", {"pile": "up1", "seen": 0}, 422, "Choose a card first"),
        ("lay", {"card": "five", "pile": "up1", "seen": 0}, 422, "whole number"),
        ("lay", {"card": 5, "pile": "up1"}, 422, "whole number"),
        ("lay", {"card": 5, "pile": "up1", "seen": 3}, 422, "no version 3"),
        ("end", {"seen": 0}, 422, "cards still to be laid: 2"),
        ("undo", {"seen": 0}, 422, "nothing to take back"),
        ("end", {}, 422, "whole number"),
        ("advance", {"seen": "x"}, 422, "whole number"),
        ("hint", {"seen": 0, "strength": "divine"}, 422, "strength"),
        ("hint", {"seen": 9}, 422, "no version 9"),
    ],
)
def test_wrong_input_is_one_sentence_and_changes_nothing(
    page, owner, game, path, fields, status, sentence
):
    before = session_of(page, game)
    for headers in (HTMX, JSON, {}):
        answer = owner.post(f"{game}/{path}", data=fields, headers=headers)
        assert answer.status_code == status
        said = answer.json()["error"] if headers == JSON else unescape(message(answer.text) or "")
        assert sentence in (said or unescape(answer.text))
    assert session_of(page, game) == before


def test_a_stale_tab_is_told_what_has_changed(page, owner, game):
    lay(owner, game, 5, "up1", 0)
    answer = lay(owner, game, 14, "up1", 0)
    assert answer.status_code == 409
    assert "player 1 laid 5 on up1" in message(answer.text)
    assert 'name="seen" value="1"' in answer.text
    assert lay(owner, game, 14, "up1", 1).status_code == 200
    stale = owner.post(f"{game}/hint", data={"seen": 1}, headers=HTMX)
    assert stale.status_code == 409
    assert stale.headers["hx-reswap"] == "none"


@pytest.mark.parametrize(
    "address",
    ["/nowhere", "/play/nowhere", "/play/nowhere/1", "/replay/nowhere", "/play/{id}/3",
     "/play/{id}/0", "/play/{id}/x", "/play/{id}/1/nothing", "/static/none.js"],
)  # fmt: skip
def test_unknown_addresses(page, owner, game, address):
    answer = owner.get(address.format(id=game.split("/")[2]))
    assert answer.status_code in (403, 404)
    assert "Traceback" not in answer.text


def test_wrong_methods(owner, game):
    assert owner.delete(game).status_code == 405
    assert owner.put(f"{game}/lay").status_code == 405
    assert owner.post(game).status_code == 405


def test_a_body_must_be_a_form_of_reasonable_size(owner, game):
    large = owner.post(f"{game}/lay", data={"card": "9" * MOST_BYTES})
    assert large.status_code == 413
    odd = owner.post(f"{game}/lay", content=b"{}", headers={"content-type": "application/json"})
    assert odd.status_code == 415
    many = "&".join(f"a{i}=1" for i in range(100))
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert owner.post(f"{game}/lay", content=many, headers=kind).status_code == 415
    assert owner.post(f"{game}/lay", content=b"card=\xff", headers=kind).status_code == 415
    assert owner.get("/new?" + "x" * 3000).status_code == 414


def test_a_fault_of_the_program_is_a_sentence_too(page, owner, game, monkeypatch, caplog):
    monkeypatch.setattr("thegame_app.web.play_routes.board_of", lambda *_: 1 / 0)
    answer = owner.get(game)
    assert answer.status_code == 500
    assert "Something went wrong" in answer.text
    assert "ZeroDivision" not in answer.text
    assert "ZeroDivisionError" in caplog.text


# --- several people at one device ------------------------------------------------------------


def test_the_device_is_passed_on(page, owner):
    stored = page.store.add_game(new(2, seed=3))
    first, second = (f"/play/{stored.id}/{n}" for n in (1, 2))
    assert board(owner, first)["hand"]
    assert board(owner, second)["hand"] is None
    for seen, card in enumerate((5, 14)):
        lay(owner, first, card, "up1", seen)
    text = owner.post(f"{first}/end", data={"seen": 2}, headers=HTMX).text
    assert f'href="{second}"' in text
    assert 'name="card"' not in text
    assert board(owner, first)["hand"] is None
    assert len(board(owner, second)["hand"]) == 7
    assert owner.get(f"/play/{stored.id}").url.path == second


def test_an_onlooker_sees_no_hand_and_plays_no_card(page, owner):
    stored = page.store.add_game(new(2, seats=["greedy", "random"], seed=3))
    address = f"/play/{stored.id}/watch"
    assert owner.get(f"/play/{stored.id}").url.path == address
    assert board(owner, address)["hand"] is None
    assert lay(owner, address, 5, "up1", 0).status_code == 422
    owner.post(f"{address}/advance", data={"seen": 0, "all": 1})
    assert session_of(page, address).over


# --- advice ----------------------------------------------------------------------------------


def test_a_hint_is_shown_with_figures_and_refined(owner, game):
    first = owner.post(f"{game}/hint", data={"seen": 0}, headers=HTMX).text
    assert "cards left" in first
    assert "to the best +" in first
    assert "Look deeper" in first
    deep = owner.post(f"{game}/hint", data={"seen": 0, "strength": "normal"}, headers=HTMX).text
    assert "Looking deeper" in deep
    fields = {"seen": 0, "strength": "normal", "step": "normal"}
    assert "Looking deeper" not in owner.post(f"{game}/hint", data=fields, headers=HTMX).text
    document = owner.post(f"{game}/hint", data={"seen": 0}, headers=JSON).json()
    assert document["strength"] == "instant"
    page = owner.post(f"{game}/hint", data={"seen": 0})
    assert "Back to the game" in page.text


def test_a_hint_tells_what_an_agent_would_play(owner, game):
    first = owner.post(f"{game}/hint", data={"seen": 0}, headers=HTMX).text
    assert "would play" not in first
    assert "<option>ppo</option>" in first
    assert "<option>expert" not in first
    fields = {"seen": 0, "strength": "normal", "agent": "ppo"}
    told = owner.post(f"{game}/hint", data=fields, headers=HTMX).text
    assert "ppo would play" in told
    assert 'name="agent" value="ppo"' in told  # what refines the answer asks again
    document = owner.post(f"{game}/hint", data={"seen": 0, "agent": "greedy"}, headers=JSON).json()
    assert document["agent"]["agent"] == "greedy"


@pytest.mark.parametrize("agent", ["ppp", "expert:10s", "os:system", "greedy:extra=4"])
def test_only_the_agents_of_the_list_are_asked(owner, game, agent):
    answer = owner.post(f"{game}/hint", data={"seen": 0, "agent": agent}, headers=JSON)
    assert answer.status_code == 422
    assert f'no agent "{agent}" here' in answer.json()["error"]


def test_a_hint_is_for_the_seat_at_turn(page, owner):
    stored = page.store.add_game(new(2, seed=3))
    answer = owner.post(f"/play/{stored.id}/2/hint", data={"seen": 0}, headers=JSON)
    assert answer.status_code == 422
    over = page.store.add_game(played(new(1)))
    seen = {"seen": over.session.version}
    assert owner.post(f"/play/{over.id}/1/hint", data=seen, headers=JSON).status_code == 422


# --- preferences -----------------------------------------------------------------------------


def test_language_by_browser_by_choice_and_by_server(page, owner, tmp_path):
    assert '<html lang="pl"' in owner.get("/new", headers={"accept-language": "pl,en;q=0.5"}).text
    owner.post("/preferences", data={"lang": "de", "theme": "dark", "back": "/new"})
    text = owner.get("/new", headers={"accept-language": "pl"}).text
    assert '<html lang="de" data-theme="dark"' in text
    german = Page(tmp_path, lang="de")
    assert '<html lang="de"' in german.owner().get("/new").text
    german.close()


@pytest.mark.parametrize(
    "fields",
    [
        {"lang": "xx"},
        {"theme": "pink"},
        {"pace": "1"},
        {"keys": "maybe"},
        {"back": "//evil.example"},
        {"back": "https://evil.example"},
        {"back": "/new\r\nX: y"},
    ],
)
def test_bad_preferences(owner, fields):
    answer = owner.post("/preferences", data=fields, follow_redirects=False)
    assert answer.status_code == 422
    assert not answer.headers.get("set-cookie")


def test_the_pace_of_agents(page, owner):
    stored = page.store.add_game(new(2, seats=["greedy", PERSON], seed=3))
    address = f"/play/{stored.id}/2"
    assert "load delay:800ms" in owner.get(address).text
    owner.post("/preferences", data={"pace": "300"})
    assert "load delay:300ms" in owner.get(address).text
    owner.post("/preferences", data={"pace": "0"})
    assert "load delay" not in owner.get(address).text


def test_an_agent_that_fails_is_not_asked_again_by_itself(page, owner, monkeypatch):
    stored = page.store.add_game(new(2, seats=["greedy", PERSON], seed=3))
    address = f"/play/{stored.id}/2"
    monkeypatch.setattr("thegame_app.session.Session.chosen", lambda *_: 1 / 0)
    answer = owner.post(f"{address}/advance", data={"seen": 0}, headers=HTMX)
    assert answer.status_code == 422
    assert "The agent greedy failed" in message(answer.text)
    assert "load delay" not in answer.text
    assert session_of(page, address).version == 0


def test_a_page_that_waits_follows_the_game(page, lan):
    stored = lan.store.add_game(new(3, seats=[PERSON, PERSON, "greedy"], seed=3), here=[0])
    owner, guest = lan.owner(), lan.guest(stored.id, 1)
    assert 'hx-trigger="every' in guest.get(f"/play/{stored.id}/2").text
    assert 'hx-trigger="every' not in owner.get(f"/play/{stored.id}/1").text


def test_shortcuts_can_be_switched_off(owner, game):
    assert "<kbd" in owner.get(game).text
    owner.post("/preferences", data={"keys": "off"})
    assert "<kbd" not in owner.get(game).text
