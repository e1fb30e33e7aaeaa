"""Several phones at one table: links, stale pages, own hands that stay private, hints."""

import re

import pytest
from table_phones import JSON, begin, check_page, done, error_of, guest, lay, look, phone, send

from thegame_app.store import Store
from thegame_app.web.app import create_app
from thegame_app.web.table_access import scope_of

HTMX = {"hx-request": "true"}


@pytest.fixture
def app(tmp_path):
    store = Store(tmp_path)
    yield create_app(store, lan=True, lang="en")
    store.close()


@pytest.fixture
def owner(app):
    return phone(app)


# --- several phones --------------------------------------------------------------------------


def test_two_stale_phones(app, owner):
    name = begin(owner, "Anna", "Ben")
    other = guest(app, name)
    seen = look(other, name)
    lay(owner, name, "up1", 20)
    answer = send(other, name, "lay", table=seen, pile="down1", number="90")
    assert error_of(answer, 409) == (
        "The table has changed since this page was shown (Anna: 20 on up1): look, and enter it "
        "again."
    )
    page = send(other, name, "lay", table=seen, pile="down1", number="90", headers={})
    assert page.status_code == 409
    assert re.search(r'value="down1" checked', page.text)
    assert re.search(r'name="number"[^>]*value="90"', page.text)
    assert "Enter again" in page.text
    (version,) = set(re.findall(r'name="seen" value="(\d+)"', page.text))
    form = {"seen": version, "seat": 0, "pile": "down1", "number": "90"}
    again = other.post(f"/table/{name}/lay", data=form, headers=JSON)
    assert again.status_code == 200
    assert look(owner, name)["piles"][2]["top"] == 90


@pytest.mark.parametrize("what", ["undo", "end", "stuck", "confirm"])
def test_every_entry_of_a_stale_page_is_refused(app, owner, what):
    name = begin(owner, "Anna", "Ben")
    other = guest(app, name)
    seen = look(other, name)
    before = lay(owner, name, "up1", 20)
    answer = send(other, name, what, table=seen, drawn=1, cards_left=98)
    assert error_of(answer, 409).startswith("The table has changed")
    assert look(owner, name) == before


def test_a_phone_follows_the_table(app, owner):
    name = begin(owner, "Anna", "Ben")
    other = guest(app, name)
    address = f"/table/{name}/board?seen=0&pile=up2&number=4"
    assert other.get(address, headers=HTMX).status_code == 204
    lay(owner, name, "up1", 20)
    board = other.get(address, headers=HTMX)
    assert board.status_code == 200
    assert re.search(r'value="up2" checked', board.text)
    assert re.search(r'name="number"[^>]*value="4"', board.text)
    assert "Anna: 20 on up1" in board.text


def test_strangers_and_guests_of_other_tables_stay_outside(app, owner):
    name, elsewhere = begin(owner, "Anna", "Ben"), begin(owner, "Cleo", "Dan")
    other = guest(app, elsewhere)
    for address in (f"/table/{name}", f"/table/{name}/board", f"/table/{name}/hand", "/table",
                    "/table/history", "/table/history.csv", "/table/history.json",
                    f"/table/{elsewhere}/delete"):  # fmt: skip
        assert other.get(address, headers=JSON).status_code == 403, address
    for what in ("lay", "end", "undo", "stuck", "confirm", "hand", "hand/forget", "hint"):
        form = {"seen": 0, "seat": 0, "pile": "up1", "card": 30, "drawn": 0, "own": 0}
        answer = other.post(f"/table/{name}/{what}", data=form, headers=JSON)
        assert answer.status_code == 403, what
    for address in (f"/table/{elsewhere}/delete", "/table", "/table/players/forget"):
        answer = other.post(address, data={"sure": "yes"}, headers=JSON)
        assert answer.status_code == 403, address
    assert look(owner, name)["version"] == 0
    assert look(other, elsewhere)["version"] == 0


def test_only_the_owner_sees_the_link(app, owner):
    name = begin(owner, "Anna", "Ben")
    link = f"/enter/{app.state.store.token(scope_of(name))}"
    assert link in owner.get(f"/table/{name}").text
    assert link not in guest(app, name).get(f"/table/{name}").text
    answer = phone(app).get(link)
    assert answer.headers["location"] == f"/table/{name}"


def test_a_reload_of_an_answer_leads_back_to_the_table(owner):
    name = begin(owner, "Anna")
    for what in ("lay", "end", "undo", "stuck", "confirm", "hint"):
        assert owner.get(f"/table/{name}/{what}").headers["location"] == f"/table/{name}"
    assert owner.get(f"/table/{name}/nothing").status_code == 404


def test_an_unknown_table_is_told(owner):
    assert error_of(owner.get("/table/nowhere", headers=JSON), 404) == "There is no such game."
    form = {"seen": 0, "seat": 0, "pile": "up1", "card": 30}
    assert owner.post("/table/nowhere/lay", data=form, headers=JSON).status_code == 404


# --- the own hand ----------------------------------------------------------------------------

ANNA, BEN = (12, 13, 30, 54, 44, 88, 90), (14, 15, 31, 55, 45, 87, 91)


def keep(client, name, seat, cards):
    form = {"own": seat, "cards": " ".join(map(str, cards))}
    answer = client.post(f"/table/{name}/hand", data=form, headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json()["hand"]


def test_the_own_hand_is_kept_up_to_date(app, owner):
    name = begin(owner, "Anna", "Ben")
    hand = keep(owner, name, 0, ANNA)
    assert (hand["cards"], hand["missing"], hand["acting"]) == (sorted(ANNA), 0, True)
    lay(guest(app, name), name, "up1", 12, 13)
    assert look(owner, name)["hand"]["cards"] == sorted(ANNA)[2:]
    done(owner, name, "end", drawn=2)
    assert look(owner, name)["hand"]["told"] == "Enter 2 more cards of your hand."
    page = owner.get(f"/table/{name}/hand").text
    check_page(page)
    assert re.search(r'name="c30" checked', page)
    assert re.search(r'name="c12" disabled', page)
    form = {"own": 0, **{f"c{card}": "on" for card in (30, 54, 44, 88, 90, 60, 61)}}
    assert owner.post(f"/table/{name}/hand", data=form).status_code == 303
    assert look(owner, name)["hand"]["missing"] == 0
    done(owner, name, "undo")
    assert look(owner, name)["hand"]["cards"] == sorted(ANNA)[2:]


def test_the_own_hand_can_be_tapped_in_the_own_turn(owner):
    name = begin(owner, "Anna", "Ben")
    keep(owner, name, 0, ANNA)
    page = owner.get(f"/table/{name}").text
    check_page(page)
    assert '<button class="chip" name="card" value="12">12</button>' in page


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"own": 0, "cards": "12 13 14 15 16 17 18 19"},
         "Your hand holds 7 cards; still to be entered: 7."),
        ({"own": 0, "cards": "twelve"}, "Enter cards as numbers, for example 12 34 56."),
        ({"own": 0, "c1": "on"}, "There is no card 1; the cards are 2-99."),
        ({"own": 2, "cards": "12"}, "There is no such player."),
        ({"cards": "12"}, 'The field "own" must be a whole number.'),
    ],
)  # fmt: skip
def test_a_bad_hand_is_refused(owner, form, sentence):
    name = begin(owner, "Anna", "Ben")
    answer = owner.post(f"/table/{name}/hand", data=form, headers=JSON)
    assert error_of(answer, 422) == sentence
    page = owner.post(f"/table/{name}/hand", data=form)
    assert page.status_code == 422
    check_page(page.text)
    assert look(owner, name)["hand"] is None


def test_what_contradicts_the_own_hand_is_refused_on_the_own_phone_only(app, owner):
    name = begin(owner, "Anna", "Ben")
    other = guest(app, name)
    keep(owner, name, 0, ANNA)
    refusal = send(owner, name, "lay", pile="up1", card=14)
    assert "not in the hand that you entered" in error_of(refusal, 422)
    assert lay(other, name, "up1", 14)["version"] == 1
    assert look(owner, name)["hand"]["missing"] == -1


def test_a_forgotten_hand_is_gone(owner):
    name = begin(owner, "Anna", "Ben")
    keep(owner, name, 0, ANNA)
    owner.post(f"/table/{name}/hand/forget", data={})
    assert look(owner, name)["hand"] is None


def everything_seen(client, name, table):
    """All that a phone gets to see of a table, entries that are refused included."""
    pages = [
        client.get(f"/table/{name}{rest}", headers=headers)
        for rest in ("", "/board", "/hand", "/hand?own=0", "?ask=end", "?pile=up1")
        for headers in ({}, HTMX, JSON)
    ]
    entries = [
        send(client, name, what, table=table, headers=headers, **fields)
        for headers in ({}, HTMX, JSON)
        for what, fields in [
            ("lay", {"pile": "up1", "card": 1}),
            ("lay", {"pile": "up1", "unknown": "ask"}),
            ("end", {"drawn": 9}),
            ("hint", {}),
            ("confirm", {"cards_left": 5}),
        ]
    ]
    return [(answer.status_code, answer.text, dict(answer.headers)) for answer in pages + entries]


def test_no_phone_sees_a_trace_of_another_phones_hand(app, owner):
    """Whatever Anna holds, Ben's phone gets the same bytes, and every card lies as it would."""
    name = begin(owner, "Anna", "Ben")
    other = guest(app, name)
    keep(other, name, 1, BEN)
    table = look(other, name)
    before = everything_seen(other, name, table)
    for cards in (ANNA, (60, 61, 62, 63, 64, 65, 66), BEN):
        keep(owner, name, 0, cards)
        assert everything_seen(other, name, table) == before
    keep(owner, name, 0, ANNA)
    owner.get(f"/table/{name}")
    send(owner, name, "hint")
    assert everything_seen(other, name, table) == before


def test_two_phones_of_one_player_do_not_share_a_hand(app, owner):
    name = begin(owner, "Anna", "Ben")
    keep(owner, name, 0, ANNA)
    for client in (guest(app, name), phone(app)):
        assert look(client, name)["hand"] is None
        assert 'class="chip"' not in client.get(f"/table/{name}").text


# --- hints -----------------------------------------------------------------------------------


def test_a_hint_for_the_own_turn(owner):
    name = begin(owner, "Anna", "Ben")
    refusal = send(owner, name, "hint")
    assert error_of(refusal, 422) == "A hint needs your hand: enter the cards that you hold."
    keep(owner, name, 0, ANNA)
    hint = send(owner, name, "hint").json()
    assert hint["partners"] == "casual"
    assert {play["card"] for plan in hint["plans"] for play in plan["plays"]} <= set(ANNA)
    page = send(owner, name, "hint", headers=HTMX).text
    assert f'hx-post="/table/{name}/hint"' in page


def test_a_hint_leaves_a_pile_with_an_unknown_top_alone_and_says_so(app, owner):
    name = begin(owner, "Ben", "Anna")
    keep(owner, name, 1, ANNA)
    other = guest(app, name)
    done(other, name, "lay", pile="up1", unknown="confirmed")
    lay(other, name, "up2", 11)
    done(other, name, "end", drawn=2)
    hint = send(owner, name, "hint").json()
    assert hint["plans"]
    assert all(play["pile"] != "up1" for plan in hint["plans"] for play in plan["plays"])
    assert hint["note"].startswith(
        "These plans lay nothing on a pile whose top is unknown, and the figures take the cards "
        "without a value for 2."
    )


def test_a_hint_says_what_it_takes_a_buried_card_for(app, owner):
    name = begin(owner, "Ben", "Anna")
    keep(owner, name, 1, ANNA)
    other = guest(app, name)
    done(other, name, "lay", pile="up1", unknown="confirmed")
    lay(other, name, "up1", 11)
    done(other, name, "end", drawn=2)
    note = send(owner, name, "hint").json()["note"]
    assert note.startswith("The figures take the cards without a value for 2.")


def test_a_hint_without_memory_says_so(owner):
    name = begin(owner, "Anna", "Ben", memory="no")
    keep(owner, name, 0, ANNA)
    assert "not remembered" in send(owner, name, "hint").json()["note"]


def test_a_hint_for_a_stale_page_or_another_turn_is_refused(owner):
    name = begin(owner, "Anna", "Ben")
    keep(owner, name, 0, ANNA)
    seen = look(owner, name)
    lay(owner, name, "up1", 12, 13)
    assert error_of(send(owner, name, "hint", table=seen), 409).startswith("The table has changed")
    done(owner, name, "end", drawn=2)
    assert "now it is the turn of Ben" in error_of(send(owner, name, "hint"), 422)
    refusal = send(owner, name, "hint", strength="wild")
    assert error_of(refusal, 422) == ("The strength of a hint is one of instant, normal, deep.")


def test_restarting_the_server_keeps_game_turn_counter_and_hand(app, owner, tmp_path):
    name = begin(owner, "Anna", "Ben")
    keep(owner, name, 0, ANNA)
    lay(owner, name, "up1", 12)
    before = look(owner, name)
    again = create_app(Store(tmp_path), lan=True, lang="en")
    late = phone(again)
    late.cookies = owner.cookies
    assert look(late, name) == before
    again.state.store.close()
