"""The pages and commands of the table assistant, through the app."""

import csv
import io
import re

import pytest
from table_phones import JSON, begin, check_page, done, error_of, lay, look, phone, send

from thegame_app.store import Store
from thegame_app.web.app import create_app

HTMX = {"hx-request": "true"}


@pytest.fixture
def app(tmp_path):
    store = Store(tmp_path)
    yield create_app(store, lan=True, lang="en")
    store.close()


@pytest.fixture
def owner(app):
    return phone(app)


# --- setting up ------------------------------------------------------------------------------


def test_a_game_is_set_up_with_players_preset_and_starter(owner):
    name = begin(owner, "Anna", "Ben", "Cleo", rules="profi", starter="2", memory="no")
    table = look(owner, name)
    assert (table["names"], table["rules"]) == (["Anna", "Ben", "Cleo"], "profi")
    assert (table["turn"]["name"], table["turn"]["owed"], table["deck"]) == ("Ben", 3, 80)
    assert table["memory"] is False
    page = owner.get("/table").text
    check_page(page)
    assert f'href="/table/{name}"' in page
    for player in ("Anna", "Ben", "Cleo"):
        assert f'<option value="{player}">' in page


def test_empty_rows_between_players_are_left_out(owner):
    form = {"name1": "Anna", "name2": "", "name3": "Ben", "starter": "3"}
    answer = owner.post("/table", data=form, headers=JSON)
    table = look(owner, answer.json()["page"].removeprefix("/table/"))
    assert (table["names"], table["turn"]["name"]) == (["Anna", "Ben"], "Ben")


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "A game has 1 to 5 players."),
        ({"name1": "Anna", "name2": "ANNA"}, "Two players bear the same name."),
        ({"name1": "Anna", "starter": "2"}, "The starter is none of the players."),
        ({"name1": "Anna", "starter": "x"}, 'The field "starter" must be a whole number.'),
        (
            {"name1": "Anna", "rules": "small-hands"},
            "small-hands cannot be played with this number of players: 1.",
        ),
    ],
)
def test_a_bad_setup_is_refused_and_the_form_kept(owner, form, sentence):
    assert error_of(owner.post("/table", data=form, headers=JSON), 422) == sentence
    page = owner.post("/table", data=form)
    assert page.status_code == 422
    check_page(page.text)
    assert 'role="alert"' in page.text
    if form:
        assert 'value="Anna"' in page.text


def test_play_again_fills_the_form_in(owner):
    name = begin(owner, "Dan", "Eve", rules="profi-short")
    page = owner.get(f"/table?again={name}").text
    assert re.search(r'name="name2"[^>]*value="Eve"', page)
    assert re.search(r'value="profi-short" selected', page)


def test_a_saved_player_can_be_forgotten(owner):
    begin(owner, "Anna", "Ben")
    owner.post("/table/players/forget", data={"player": "Anna"})
    page = owner.get("/table").text
    assert '<option value="Ben">' in page
    assert '<option value="Anna">' not in page


# --- playing ---------------------------------------------------------------------------------


def test_a_turn_with_its_refill(owner):
    name = begin(owner, "Anna", "Ben")
    lay(owner, name, "up1", 20, 21)
    question = owner.get(f"/table/{name}?ask=end").text
    assert "Now draw 2 cards from the deck." in question
    assert "2 cards drawn → Ben" in question
    table = done(owner, name, "end", drawn=2)
    assert (table["turn"]["name"], table["deck"], table["piles"][0]["top"]) == ("Ben", 82, 21)
    assert table["last"][-1] == "Anna: turn over, 2 cards drawn"


def test_the_page_shows_what_counts(owner):
    name = begin(owner, "Anna", "Ben")
    lay(owner, name, "up1", 20)
    page = owner.get(f"/table/{name}").text
    check_page(page)
    for text in ("Anna is at turn.", "At least 1 more card.", ">84</b> in the deck", "6 cards"):
        assert text in page
    assert re.search(r'value="20" class="cell[^"]*" disabled', page)
    assert re.search(r'value="19" class="cell n0">', page)
    assert re.search(r'value="10" class="cell">', page)


def test_a_card_without_its_value_is_confirmed_by_hand(owner):
    name = begin(owner, "Anna", "Ben")
    lay(owner, name, "up1", 51)
    question = send(owner, name, "lay", pile="up1", unknown="ask", headers={})
    assert question.status_code == 200
    assert "Is the card higher than 51, or exactly 41?" in question.text
    check_page(question.text)
    assert look(owner, name)["version"] == 1
    refusal = send(owner, name, "lay", pile="up1", unknown="maybe")
    assert error_of(refusal, 422) == "Confirm that the card may lie there."
    table = done(owner, name, "lay", pile="up1", unknown="confirmed")
    assert (table["piles"][0]["top"], table["piles"][0]["known"]) == (None, 51)
    page = owner.get(f"/table/{name}").text
    assert "1 unknown on 51" in page
    table = lay(owner, name, "up1", 60)
    assert table["piles"][0]["top"] == 60


def test_undo_across_a_refill_says_what_goes_back_on_the_deck(owner):
    name = begin(owner, "Anna", "Ben")
    lay(owner, name, "up1", 20, 21)
    done(owner, name, "end", drawn=2)
    page = owner.get(f"/table/{name}").text
    assert "Opens the turn of Anna again: 2 cards go back on the deck." in page
    table = done(owner, name, "undo")
    assert table["notice"] == (
        "The turn of Anna is open again: put 2 cards back on the deck, those drawn last."
    )
    assert (table["turn"]["name"], table["turn"]["plays"], table["deck"]) == ("Anna", 2, 84)
    assert table["notice"] in owner.get(f"/table/{name}").text


def test_stuck_is_reported_and_confirmed_and_the_result_recorded_once(owner):
    name = begin(owner, "Anna", "Ben")
    assert done(owner, name, "stuck")["status"] == "reported"
    page = owner.get(f"/table/{name}").text
    check_page(page)
    assert "The game ends with 98 cards left. Is that right?" in page
    table = look(owner, name)
    assert done(owner, name, "confirm", cards_left=98)["status"] == "stuck"
    over = "The game is over: its result is recorded, and nothing more can be entered."
    for what in ("undo", "stuck", "confirm", "end"):
        assert error_of(send(owner, name, what, drawn=0, cards_left=98), 422) == over
    assert send(owner, name, "confirm", table=table, cards_left=98).status_code == 409
    page = owner.get(f"/table/{name}").text
    check_page(page)
    assert 'id="undo"' not in page
    assert len(owner.get("/table/history.json").json()) == 1


def test_the_last_card_of_all_wins_at_once(owner):
    name = begin(owner, "Anna", rules="two-to-the-end")
    for first in range(2, 100, 2):
        table = lay(owner, name, "up1", first, first + 1)
        if table["status"] == "playing":
            table = done(owner, name, "end", drawn=table["turn"]["to_draw"])
    assert (table["status"], table["cards_left"], table["excellent"]) == ("won", 0, True)
    page = owner.get(f"/table/{name}").text
    check_page(page)
    assert "All cards are on the piles." in page
    assert error_of(send(owner, name, "undo"), 422).startswith("The game is over")
    (game,) = owner.get("/table/history.json").json()
    assert (game["result"], game["cards_left"], game["turns"]) == ("won", 0, 49)


def test_a_seat_passes_by_small_hands(owner):
    name = begin(owner, "Anna", "Ben", rules="small-hands")
    question = owner.get(f"/table/{name}?ask=end").text
    assert "Does Anna pass?" in question
    refusal = send(owner, name, "end", drawn=0)
    assert error_of(refusal, 422) == "Anna has laid 0 of at least 2 cards."
    assert done(owner, name, "end", drawn=0, passes="yes")["turn"]["name"] == "Ben"


def test_an_empty_hand_asks_for_the_refill_at_once(owner):
    name = begin(owner, "Anna", "Ben")
    lay(owner, name, "up1", 2, 3, 4, 5, 6, 7, 8)
    page = owner.get(f"/table/{name}").text
    assert "Now draw 7 cards from the deck." in page
    assert 'id="enter"' not in page


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"card": 30}, "Choose a pile first, then the card."),
        (
            {"pile": "up3", "card": 30},
            "There is no such pile; the piles are up1, up2, down1, down2.",
        ),
        ({"pile": "up1"}, "Enter the number of the card, or tap it."),
        ({"pile": "up1", "card": 20}, "Card 20 has been laid already."),
        ({"pile": "up1", "card": 1}, "There is no card 1; the cards are 2-99."),
        ({"pile": "up1", "card": 100}, "There is no card 100; the cards are 2-99."),
        ({"pile": "up1", "number": "x"}, 'The field "number" must be a whole number.'),
        (
            {"pile": "up1", "card": 12},
            "Card 12 does not fit on up1, which shows 20: it must be higher, or exactly 10.",
        ),
        ({"pile": "up1", "card": 30, "seat": 1}, "It is the turn of Anna, not of Ben."),
        ({"pile": "up1", "card": 30, "seat": 9}, "There is no such player."),
        (
            {"pile": "up1", "card": 30, "seen": 77},
            "The page does not belong to this game: load it again.",
        ),
        ({"pile": "up1", "card": 30, "seen": ""}, 'The field "seen" must be a whole number.'),
    ],
)  # fmt: skip
def test_a_bad_entry_is_refused_with_a_sentence_and_changes_nothing(owner, fields, sentence):
    name = begin(owner, "Anna", "Ben")
    before = lay(owner, name, "up1", 20)
    assert error_of(send(owner, name, "lay", **fields), 422) == sentence
    assert look(owner, name) == before


def test_a_refused_entry_is_kept_in_the_form(owner):
    name = begin(owner, "Anna", "Ben")
    lay(owner, name, "up1", 20)
    answer = send(owner, name, "lay", pile="up1", number="12", headers=HTMX)
    assert answer.status_code == 422
    assert re.search(r'value="up1" checked', answer.text)
    assert re.search(r'name="number"[^>]*value="12"', answer.text)
    assert 'id="message" hx-swap-oob="innerHTML">Card 12 does not fit' in answer.text


def test_languages(app):
    owner = phone(app)
    name = begin(owner, "Anna", "Ben")
    for code in ("de", "pl"):
        owner.cookies.set("lang", code)
        page = owner.get(f"/table/{name}")
        assert f'<html lang="{code}"' in page.text
        check_page(page.text)


# --- past games ------------------------------------------------------------------------------


def lose(client, name):
    done(client, name, "stuck")
    return done(client, name, "confirm", cards_left=look(client, name)["cards_left"])


def test_past_games_have_figures_and_can_be_exported(owner):
    for number in range(3):
        name = begin(owner, "Anna", "Ben")
        if number:
            lay(owner, name, "up1", 2)
        lose(owner, name)
    page = owner.get("/table/history").text
    check_page(page)
    assert "97.3" in page
    assert 'aria-label="Cards left, the oldest game first: 98, 97, 97"' in page
    rows = list(csv.DictReader(io.StringIO(owner.get("/table/history.csv").text)))
    assert sorted(row["cards_left"] for row in rows) == ["97", "97", "98"]
    games = owner.get("/table/history.json")
    assert "attachment" in games.headers["content-disposition"]
    assert [game["cards_left"] for game in games.json()] == [97, 97, 98]


def test_the_history_of_nothing(owner):
    page = owner.get("/table/history").text
    check_page(page)
    assert "No game has been played to its end yet." in page


def test_a_game_is_deleted_only_when_that_is_confirmed(owner):
    name = begin(owner, "Anna", "Ben")
    lose(owner, name)
    page = owner.get(f"/table/{name}/delete").text
    check_page(page)
    assert "Delete this game?" in page
    refusal = owner.post(f"/table/{name}/delete", data={}, headers=JSON)
    assert error_of(refusal, 422) == "Confirm that the game shall be deleted."
    assert look(owner, name)["status"] == "stuck"
    answer = owner.post(f"/table/{name}/delete", data={"sure": "yes"})
    assert answer.headers["location"] == "/table/history"
    assert owner.get(f"/table/{name}", headers=JSON).status_code == 404
    assert owner.get("/table/history.json").json() == []
