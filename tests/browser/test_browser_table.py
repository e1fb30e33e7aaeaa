"""The table assistant in a browser: a phone at the table, undo, unknown values, two phones."""

import re

import pytest
from browser_checks import DESKTOP, PHONE, check_accessible, check_width

from thegame_app.table_entries import ConfirmResult, EndTurn, Lay, ReportStuck, Setup
from thegame_app.table_store import TableStore
from thegame_env.rules import PRESETS

UP1, UP2, DOWN1, DOWN2 = range(4)
PAIR = Setup(("Anna", "Ben"))


class Tables:
    """Tables of a site, set up beside its pages."""

    def __init__(self, site):
        self.store = TableStore(site.store)

    def begin(self, *entries, setup=PAIR):
        """A table where this has been entered; its address."""
        name = self.store.add_game(setup)
        for version, entry in enumerate(entries):
            self.store.enter(name, entry, version)
        return f"/table/{name}"

    def state(self, page):
        return self.store.game(page.url.split("/table/")[1].partition("?")[0]).state


@pytest.fixture
def tables(site):
    return Tables(site)


def version_of(page):
    return page.locator("#entry input[name=seen]").get_attribute("value")


def settled(page, seen):
    """Wait until the page shows another version than `seen`."""
    page.wait_for_selector(f"#entry input[name=seen]:not([value='{seen}'])", state="attached")


def tap(page, pile, card):
    """Choose a pile, tap a card, and wait for what follows."""
    seen = version_of(page)
    page.locator(f"label[for=pile-{pile}]").click()
    page.locator(f".grid .cell[value='{card}']").click()
    settled(page, seen)


def press(page, selector):
    """Press a button that enters something, and wait for what follows."""
    seen = version_of(page)
    page.locator(selector).click()
    settled(page, seen)


def test_a_game_at_the_table_with_undo_across_a_refill_and_an_unknown_value(tab, tables):
    page = tab("/table", PHONE)
    for number, name in enumerate(("Anna", "Ben", "Cleo"), start=1):
        page.fill(f"#name{number}", name)
    page.locator("#starter2").check()
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("#table")
    assert "Ben is at turn." in page.inner_text("#owed")
    tap(page, "up1", 20)
    assert page.inner_text("label[for=pile-up1] .value") == "20"
    assert page.locator(".grid .cell[value='20']").is_disabled()

    page.locator("label[for=pile-up1]").click()
    page.locator("#unknown").click()
    page.wait_for_selector("#fits")
    assert "higher than 20, or exactly 10" in page.inner_text("#entry .question")
    check_width(page)
    press(page, "#fits")
    assert "1 unknown on 20" in page.inner_text("label[for=pile-up1]")
    assert "Minimum met" in page.inner_text("#owed")

    page.locator("#end").click()
    assert "Now draw 2 cards" in page.inner_text(".foot .question")
    press(page, "#drawn")
    assert page.inner_text("#deck") == "78"
    assert "Cleo is at turn." in page.inner_text("#owed")
    assert "2 cards go back on the deck" in page.inner_text("#undo-note")
    press(page, "#undo")
    assert "put 2 cards back on the deck" in page.inner_text(".putback")
    assert page.inner_text("#deck") == "80"
    press(page, "#undo")
    assert page.inner_text("label[for=pile-up1] .value") == "20"
    assert page.locator(".putback").count() == 0

    tap(page, "down2", 90)
    page.reload()
    state = tables.state(page)
    assert (state.seat, state.plays, state.laid) == (1, 2, {20, 90})
    assert page.inner_text("label[for=pile-down2] .value") == "90"
    check_width(page)


def test_a_card_by_keyboard_alone(tab, tables):
    page = tab(tables.begin(Lay(0, UP1, 20)), PHONE)
    page.locator("#pile-up1").focus()
    page.keyboard.press("Space")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    assert page.locator("#pile-down1").is_checked()
    page.keyboard.press("Tab")
    assert page.locator("#number").evaluate("element => element === document.activeElement")
    seen = version_of(page)
    page.keyboard.type("90")
    page.keyboard.press("Enter")
    settled(page, seen)
    assert tables.state(page).laid == {20, 90}
    assert page.locator("#number").evaluate("element => element === document.activeElement")


def test_the_focus_goes_back_to_the_piles_with_a_card_of_the_grid(tab, tables):
    page = tab(tables.begin())
    page.locator("#pile-down1").focus()
    page.keyboard.press("Space")
    seen = version_of(page)
    page.locator(".grid .cell[value='90']").focus()
    page.keyboard.press("Enter")
    settled(page, seen)
    assert page.locator("#pile-up1").evaluate("element => element === document.activeElement")


def test_a_refused_card_stays_in_the_form(tab, tables):
    page = tab(tables.begin(Lay(0, UP1, 20)), PHONE)
    page.locator("label[for=pile-up1]").click()
    page.fill("#number", "12")
    page.keyboard.press("Enter")
    page.wait_for_selector("#message:not(:empty)")
    assert "Card 12 does not fit on up1" in page.inner_text("#message")
    assert page.locator("#number").input_value() == "12"
    assert page.locator("#pile-up1").is_checked()
    page.fill("#number", "21")
    press(page, "#enter")
    assert page.inner_text("#message") == ""


def test_a_stale_phone_is_told_what_changed_and_may_enter_it_again(tab, tables):
    address = tables.begin(Lay(0, UP1, 20))
    first, second = tab(address, PHONE), tab(address, PHONE)
    second.route("**/board*", lambda route: route.abort())
    tap(first, "down1", 90)
    second.locator("label[for=pile-down2]").click()
    second.locator(".grid .cell[value='80']").click()
    second.wait_for_selector("#message:not(:empty)")
    assert "Anna: 90 on down1" in second.inner_text("#message")
    assert second.locator("#number").input_value() == "80"
    assert tables.state(second).plays == 2
    assert second.inner_text("#enter") == "Enter again"
    press(second, "#enter")
    assert tables.state(second).laid == {20, 80, 90}


def test_phones_follow_the_table_and_keep_what_is_half_entered(tab, tables):
    address = tables.begin(Lay(0, UP1, 20))
    first, second = tab(address, PHONE), tab(address, PHONE)
    seen = version_of(second)
    second.locator("label[for=pile-up2]").click()
    second.fill("#number", "4")
    tap(first, "down1", 90)
    settled(second, seen)
    assert second.inner_text("label[for=pile-down1] .value") == "90"
    assert second.locator("#pile-up2").is_checked()
    assert second.locator("#number").input_value() == "4"
    assert "Anna: 90 on down1" in second.locator("#announce").inner_text()


def test_the_own_hand_gives_hints_and_stays_on_its_phone(tab, tables):
    address = tables.begin()
    mine, other = tab(address, PHONE), tab(address, PHONE)
    mine.get_by_role("link", name="I am Anna").click()
    mine.fill("#cards", "12 13 30 54 44")
    for card in (88, 90):
        mine.locator(f"label[for=c{card}]").click()
    check_width(mine)
    mine.locator("#save").click()
    mine.wait_for_selector(".chip")
    assert mine.locator(".chip").all_inner_texts() == ["12", "13", "30", "44", "54", "88", "90"]
    mine.locator("#ask").click()
    mine.wait_for_selector(".plan.best")
    seen = version_of(mine)
    mine.locator("label[for=pile-up1]").click()
    mine.locator(".chip[value='12']").click()
    settled(mine, seen)
    assert mine.locator(".chip").count() == 6
    other.wait_for_selector("label[for=pile-up1].last")
    assert other.locator(".chip, #ask").count() == 0
    assert "54" not in other.inner_text(".own")


def test_stuck_is_confirmed_and_counted(tab, tables):
    page = tab(tables.begin(Lay(0, UP1, 20)), PHONE)
    press(page, "#stuck")
    assert "97 cards left" in page.inner_text(".foot .question")
    check_width(page)
    press(page, "#confirm")
    assert "Cards left: 97." in page.inner_text(".result.lost")
    page.get_by_role("link", name="Past games").click()
    assert page.inner_text("dl.figures dd >> nth=0") == "1"
    page.get_by_role("link", name="Delete …").click()
    page.locator("#delete").click()
    page.wait_for_url(re.compile("/table/history"))
    assert "No game has been played to its end yet." in page.inner_text("main")


def test_without_script(tab, tables):
    page = tab(tables.begin(), PHONE, java_script_enabled=False)
    page.locator("label[for=pile-up1]").click()
    page.locator(".grid .cell[value='20']").click()
    page.locator("label[for=pile-down1]").click()
    page.locator("#unknown").click()
    page.locator("#fits").click()
    page.locator("#end").click()
    page.locator("#drawn").click()
    page.locator("#undo").click()
    assert "put 2 cards back on the deck" in page.inner_text(".putback")
    state = tables.state(page)
    assert (state.seat, state.plays, state.piles[DOWN1].top) == (0, 2, None)


@pytest.fixture
def addresses(tables):
    """Addresses of every kind of page, names and counts as long as they get."""
    names = ("Maximiliane-Alexandrinaa", "Bartholomäus", "C", "Dorothea", "Ewa")
    five = Setup(names, PRESETS["profi-short"], starter=1)
    running = tables.begin(Lay(1, UP1, 45), Lay(1, DOWN2, None), setup=five)
    ending = tables.begin(Lay(0, UP1, 20), Lay(0, UP1, 21), EndTurn(0, 2))
    stuck = tables.begin(Lay(0, UP1, 20), ReportStuck(0))
    over = tables.begin(ReportStuck(0), ConfirmResult(98))
    passing = tables.begin(setup=Setup(("Anna", "Ben"), PRESETS["small-hands"]))
    return ["/table", "/table/history", running, f"{running}/hand", ending, stuck, over,
            f"{over}/delete", f"{passing}?ask=end"]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_serious_stands_in_the_way(tab, addresses, size, scheme):
    page = tab("/table", size, color_scheme=scheme)
    for address in addresses:
        page.goto(address)
        check_accessible(page)
        check_width(page)
    page.goto(addresses[2])
    page.locator("label[for=pile-up1]").click()
    check_accessible(page)
    page.locator("#unknown").click()
    page.wait_for_selector("#fits")
    check_accessible(page)


@pytest.mark.parametrize("code", ["en", "de", "pl"])
def test_three_languages_on_a_phone(tab, addresses, code):
    page = tab("/table", PHONE, locale=code)
    for address in addresses:
        page.goto(address)
        assert page.locator("html").get_attribute("lang") == code
        check_width(page)


def test_a_phone_has_room_for_thumbs(tab, addresses):
    page = tab(addresses[2], PHONE)
    for target in page.locator(".tops .pile, #enter, .foot .button").all():
        box = target.bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
    for cell in page.locator(".grid .cell").all():
        box = cell.bounding_box()
        assert box["height"] >= 32
        assert box["width"] >= 30
