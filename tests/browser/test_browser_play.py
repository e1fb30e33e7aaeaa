"""The page in a browser: whole games, reload, keyboard, phone, languages, screen readers."""

import re

import pytest
from browser_checks import DESKTOP, PHONE, check_accessible, check_width
from session_games import new, played

from thegame_app.session import PERSON

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect


def lay(page, card, pile):
    """Choose a card and a pile, and wait for the board that follows."""
    seen = page.locator("#lay input[name=seen]").input_value()
    page.locator(f"label[for=card-{card}]").click()
    page.locator(f"#pile-{pile}").click()
    expect_change(page, seen)


def expect_change(page, seen):
    """Wait until the page shows another version of the game."""
    expect(page.locator("#lay input[name=seen]")).not_to_have_value(seen)


def best_play(page):
    """The card and pile of the smallest gap, as the page marks them."""
    gaps = page.eval_on_selector_all(
        "#lay input[name=card]", "cards => cards.map(c => [c.value, c.dataset.gaps])"
    )
    plays = [
        (int(gap), card, pile)
        for card, text in gaps
        for pile, gap in (part.split(":") for part in text.split())
    ]
    return min(plays)[1:]


def lay_by_keys(page, card, pile):
    """`lay` with two keys."""
    seen = page.locator("#lay input[name=seen]").input_value()
    cards = page.eval_on_selector_all("#lay input[name=card]", "cards => cards.map(c => c.value)")
    page.keyboard.press(str(cards.index(card) + 1))
    page.keyboard.press("qwer"[("up1", "up2", "down1", "down2").index(pile)])
    expect_change(page, seen)


def play_turn(page, lay=lay):
    """Lay cards until the turn may be ended, and end it; stops where the game is over."""
    while page.locator("#end").count():
        if page.locator("#end").is_enabled():
            seen = page.locator("#lay input[name=seen]").input_value()
            page.locator("#end").click()
            expect_change(page, seen)
            return
        lay(page, *best_play(page))


def test_what_is_chosen_before_the_scripts_have_come_counts(site, tab):
    page = tab("/new")
    page.select_option("#players", "1")
    page.get_by_role("button", name="Deal").click()
    page.wait_for_selector("#board")
    play_turn(page)
    address, held = page.url, []
    page.route("**/static/*.js", lambda route: held.append(route))

    def released():
        while held:
            held.pop(0).continue_()

    page.goto(address, wait_until="commit")
    page.locator("#lay label.card").first.click()
    released()
    page.wait_for_selector("#lay button.target")
    finished = site.add(played(new(2, seats=["greedy", "greedy"], seed=5)))
    page.goto("/replay/" + finished.split("/play/")[1].split("/")[0], wait_until="commit")
    page.locator("#step").fill("3")
    released()
    expect(page.locator("output")).to_have_text(re.compile("^3 "))


def test_a_whole_solo_game(site, tab):
    page = tab("/new")
    page.select_option("#players", "1")
    page.fill("[name=seed]", "55")  # a short one
    page.get_by_role("button", name="Deal").click()
    page.wait_for_selector("#board")
    play_turn(page)
    while page.locator("#end").count():
        play_turn(page, lay_by_keys)
    session = site.session(page.url)
    assert session.over
    assert f"cards left: {session.game.cards_left}" in page.inner_text(".result")
    page.get_by_role("link", name="Replay").click()
    assert page.locator("#step").input_value() == str(len(session.actions))
    page.locator("#step").fill("3")
    expect(page.locator("output")).to_have_text(re.compile("^3 "))
    page.get_by_role("button", name="What if?").click()
    page.wait_for_url(re.compile("/play/"))
    assert site.session(page.url).game == session.positions[3]


def test_a_game_with_agents(site, tab):
    address = site.add(new(3, seats=[PERSON, "greedy", "random"], seed=5, talk="open"))
    page = tab(address)
    play_turn(page)
    assert "Player 2 is thinking" in page.inner_text(".result")
    page.wait_for_selector(".newest >> text=player 2 laid")
    page.locator("#skip").click()
    expect(page.locator("#skip")).to_have_count(0)
    while page.locator("#end").count() or page.locator("#skip").count():
        if page.locator("#skip").count():
            page.locator("#skip").click()
            expect(page.locator("#skip")).to_have_count(0)
        else:
            play_turn(page)
    assert site.session(address).over


def test_agents_step_by_step(site, tab):
    address = site.add(new(2, seats=["greedy", PERSON], seed=5))
    page = tab(address)
    page.locator(".settings summary").click()
    page.select_option("[name=pace]", "0")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_selector("#step")
    page.wait_for_load_state()  # the keys work once the scripts have run
    assert site.session(address).version == 0
    page.keyboard.press("n")
    page.wait_for_selector(".newest")
    assert site.session(address).version == 1


def test_reload_in_mid_turn(site, tab):
    page = tab(site.add(new(2, seed=3)))
    lay(page, 5, "up1")
    before = page.inner_text("#board")
    page.reload()
    assert page.inner_text("#board") == before
    assert "Lay 1 more card." in before
    page.locator("#undo").click()
    page.wait_for_selector("label[for=card-5]")
    assert "Lay 2 more cards." in page.inner_text(".result")


def test_pile_first_then_card_and_marks(site, tab):
    page = tab(site.add(new(2, seed=3)))
    lay(page, 30, "up1")
    page.locator("#pile-up1").click()
    assert page.locator("#pile-up1").get_attribute("aria-pressed") == "true"
    marked = page.locator("label.card.target")
    assert [label.split()[0] for label in marked.all_inner_texts()] == ["77", "79", "86", "91"]
    page.locator("label[for=card-77]").click()
    page.wait_for_selector("#pile-up1.last >> text=77")
    page.locator("label[for=card-5]").click()
    assert "✕" in page.inner_text("#pile-up1 .gap")
    assert "✓ +95" in page.inner_text("#pile-down1 .gap")


def test_the_trick_is_marked_in_words(site, tab):
    session = new(1, seed=3)
    deck = [30, 20, *sorted(set(session.deck) - {20, 30})]
    session = type(session).new(session.table, session.seats, deck=deck)
    page = tab(site.add(session))
    lay(page, 30, "up1")
    assert "trick!" in page.inner_text("label[for=card-20]")
    page.locator("label[for=card-20]").click()
    assert "↩ −10" in page.inner_text("#pile-up1 .gap")


def test_by_keyboard_alone(site, tab):
    address = site.add(new(2, seed=3))
    page = tab(address)
    for key in "1q":
        page.keyboard.press(key)
    page.wait_for_selector("#pile-up1.last")
    for key in "w1":  # pile first
        page.keyboard.press(key)
    page.wait_for_selector("#pile-up2.last")
    assert site.session(address).game.tops == (5, 14, 100, 100)
    page.keyboard.press("u")
    page.wait_for_selector("label[for=card-14]")
    page.keyboard.press("h")
    page.wait_for_selector(".plan.best")
    page.locator("#card-14").focus()
    page.keyboard.press("Space")
    page.locator("#pile-up1").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#pile-up1.last >> text=14")
    page.keyboard.press("t")
    page.wait_for_selector(".pass")
    expect(page.locator("#end:focus, #main:focus")).to_have_count(1)
    page.get_by_role("link", name="I am player 2").click()
    page.wait_for_selector("#card-2, .hand")
    assert "Your turn" in page.inner_text(".result")


def test_two_tabs(site, tab):
    address = site.add(new(2, seed=3))
    first, second = tab(address), tab(address)
    lay(first, 5, "up1")
    second.locator("label[for=card-14]").click()
    second.locator("#pile-up1").click()
    second.wait_for_selector("#message:not(:empty)")
    assert "player 1 laid 5 on up1" in second.inner_text("#message")
    lay(second, 14, "up1")
    assert second.inner_text("#message") == ""


def test_another_players_page_follows(site, tab):
    address = site.add(new(2, seats=[PERSON, PERSON], seed=3))
    watching = tab(address.replace("/1", "/watch"))
    lay(tab(address), 5, "up1")
    watching.wait_for_selector("#pile-up1.last")
    assert "laid 5 on up1" in watching.inner_text("#announce")


def test_a_hint_is_refined_while_one_waits(site, tab):
    page = tab(site.add(new(1, seed=3)))
    page.locator("#ask").click()
    page.wait_for_selector(".plan.best")
    first = page.inner_text(".plans .note")
    page.get_by_role("button", name="Look deeper").click()
    expect(page.locator(".plans .note")).not_to_contain_text(first)


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_an_agent_is_asked_what_it_would_play(site, tab, size):
    page = tab(site.add(new(1, seed=3)), size)
    page.locator("#ask").click()
    page.get_by_label("And what would this agent play?").select_option("random")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator(".asked")).to_contain_text("random would play")
    check_width(page)
    check_accessible(page)


def test_without_script(site, tab):
    address = site.add(new(2, seed=3))
    page = tab(address, java_script_enabled=False)
    page.locator("label[for=card-5]").click()
    page.locator("#pile-up1").click()
    assert site.session(address).game.tops == (5, 1, 100, 100)
    page.locator("#undo").click()
    assert site.session(address).game.tops == (1, 1, 100, 100)


@pytest.fixture
def pages(site):
    """Addresses of every kind of page."""
    running = site.add(new(5, seats=[PERSON] + ["greedy"] * 4, seed=5, talk="open"))
    finished = played(new(3, seats=[PERSON, "greedy", "random"], seed=5))
    over = site.add(finished)
    name = over.split("/")[2]
    passing = site.add(new(2, seed=3)).replace("/1", "/2")
    back = [f"/replay/{name}?step=4", f"/replay/{name}/review"]
    return ["/new", running, passing, over, *back, "/games", "/nowhere"]


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")], ids=["phone-light", "desktop-dark"]
)
def test_nothing_serious_stands_in_the_way(tab, pages, size, scheme):
    page = tab("/new", size, color_scheme=scheme)
    for address in pages:
        page.goto(address)
        check_accessible(page)
        check_width(page)
    page.goto(pages[1])
    page.locator("label.card").first.click()
    page.locator("#ask").click()
    page.wait_for_selector(".plan.best")
    check_accessible(page)
    check_width(page)
    page.locator(".settings summary").click()
    check_accessible(page)
    check_width(page)


@pytest.mark.parametrize(("code", "title"), [("en", "New game"), ("de", "Neu"), ("pl", "Nowa")])
def test_three_languages_on_a_phone(site, tab, pages, code, title):
    page = tab("/new", PHONE, locale=code)
    assert page.locator("html").get_attribute("lang") == code
    assert page.inner_text("h1").startswith(title)
    for address in pages:
        page.goto(address)
        check_width(page)
    page.goto("/new")
    page.locator(".settings summary").click()
    page.select_option("[name=lang]", "de")
    page.locator(".settings button").click()
    page.wait_for_selector("html[lang=de]")


def test_a_phone_has_room_for_thumbs(tab, pages):
    page = tab(pages[1], PHONE)
    for target in page.locator("#lay button, #lay label.card, .actions button").all():
        box = target.bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44


def test_light_and_dark_by_choice(tab):
    page = tab("/new")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.locator(".settings summary").click()
    page.select_option("[name=theme]", "dark")
    page.get_by_role("button", name="Apply").click()
    page.wait_for_selector("html[data-theme=dark]")
    assert page.evaluate(colour) != light
