"""Looking back at a finished game on the page: replay, what if, record, list, review."""

import re

import pytest
from session_games import new, played
from web_clients import HTMX, JSON, session_of

from thegame_app.session import PERSON


@pytest.fixture
def finished(page):
    return page.store.add_game(played(new(2, seats=[PERSON, "greedy"], seed=3)))


def test_a_replay_steps_through_the_game(owner, finished):
    whole = finished.session
    for step in (0, 1, len(whole.actions)):
        facts = owner.get(f"/replay/{finished.id}?step={step}", headers=JSON).json()
        assert tuple(facts["tops"].values()) == whole.positions[step].tops
        assert facts["hands"][1] == sorted(whole.positions[step].hands[1])
    assert 'type="range"' in owner.get(f"/replay/{finished.id}").text
    assert "<!doctype" not in owner.get(f"/replay/{finished.id}?step=1", headers=HTMX).text


@pytest.mark.parametrize("step", ["-1", "9999", "x", ""])
def test_a_step_must_be_there(owner, finished, step):
    assert owner.get(f"/replay/{finished.id}?step={step}").status_code == 422
    answer = owner.post(f"/replay/{finished.id}/what-if", data={"step": step})
    assert answer.status_code == 422


def test_a_running_game_has_no_replay(page, owner, game):
    name = game.split("/")[2]
    for address in (f"/replay/{name}", f"/replay/{name}?step=0", f"/replay/{name}/record"):
        answer = owner.get(address)
        assert answer.status_code == 422
        assert "still going on" in answer.text
    assert owner.post(f"/replay/{name}/what-if", data={"step": 0}).status_code == 422


def test_what_if_plays_on_from_a_step(page, owner, finished):
    answer = owner.post(f"/replay/{finished.id}/what-if", data={"step": 1})
    session = session_of(page, answer.url.path)
    assert session.game == finished.session.positions[1]


def test_the_record_of_a_game(owner, finished):
    text = owner.get(f"/replay/{finished.id}/record").text
    assert text.strip() == str(finished.session.record)


def test_the_list_of_games(owner, finished, game):
    text = owner.get("/games").text
    assert f'href="/replay/{finished.id}"' in text
    assert f'href="{game[:-2]}"' in text


# --- review ----------------------------------------------------------------------------------


def test_a_review_grades_every_turn_and_leads_into_the_replay(page, owner, finished):
    result = owner.get(f"/replay/{finished.id}/review", headers=JSON).json()
    text = owner.get(f"/replay/{finished.id}/review").text
    assert result["record"] == str(finished.session.record)
    assert text.count('<li class="turn ') == len(result["turns"]) + len(result["costly"])
    steps = [int(step) for step in re.findall(r"\?step=(\d+)", text)]
    for step in steps:
        assert finished.session.positions[step].plays == 0
    assert f'href="/replay/{finished.id}/review"' in owner.get(f"/replay/{finished.id}").text
    assert f'href="/replay/{finished.id}/review"' in owner.get(f"/play/{finished.id}/1").text


def test_a_review_is_for_those_who_played_and_for_finished_games(page, owner, game, finished):
    assert page.client().get(f"/replay/{finished.id}/review").status_code == 403
    assert owner.get(f"/replay/{game.split('/')[2]}/review").status_code == 422
    assert owner.get("/replay/nowhere/review").status_code == 404


def test_a_review_speaks_the_reader_s_language(owner, finished):
    headings = set()
    for code in ("en", "de", "pl"):
        text = owner.get(f"/replay/{finished.id}/review", headers={"accept-language": code}).text
        headings.add(re.search("<h1>(.*?)</h1>", text)[1])
    assert len(headings) == 3


def test_a_finished_game_says_what_is_left_and_no_longer_what_seats_wish(page, owner):
    stored = page.store.add_game(played(new(2, seats=[PERSON, "greedy"], seed=3, talk="open")))
    text = owner.get(f"/play/{stored.id}/1").text
    assert "<q>" not in text
    assert "left in hand:" in text
