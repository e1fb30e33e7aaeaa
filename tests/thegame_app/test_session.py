"""The session: commands, refusals, undo, versions, agents, what if, and what a log restores."""

import json

import pytest
from session_games import CREW, act, new, played, reshuffled, step

from agents.base import Agent
from thegame_app.language import LANGUAGES, Refusal, language
from thegame_app.session import MOST_UNDONE, PERSON, Session
from thegame_app.session_changes import Stale
from thegame_env.engine import Engine
from thegame_env.rules import PRESETS, Rules, Table
from thegame_env.view import View

HAND = (5, 14, 30, 77, 79, 86, 91)
"""Hand of player 1 of two under seed 3."""


@pytest.fixture
def session():
    return new(2, seed=3)


# --- commands --------------------------------------------------------------------------------


def test_a_deal_is_that_of_its_seed(session):
    assert tuple(sorted(session.game.hands[0])) == HAND
    assert session.version == 0
    assert session.seed == 3


def test_play_end_turn_and_refill_by_hand(session):
    session = session.play(0, 5, 0, 0).play(0, 14, 1, 1)
    assert session.game.tops == (5, 14, 100, 100)
    assert session.game.plays == 2
    session = session.end_turn(0, 2)
    assert session.version == 3
    assert (session.game.seat, session.game.plays) == (1, 0)
    assert len(session.game.hands[0]) == 7
    assert len(session.game.deck) == 82


def test_undo_takes_the_counter_back_too(session):
    once = session.play(0, 5, 0, 0)
    back = once.play(0, 14, 1, 1).undo(0, 2)
    assert back.game == once.game
    assert back.game.plays == 1
    assert back.version == 3
    again = back.undo(0, 3)
    assert again.game == session.game
    assert not again.may_undo(0)


def test_undo_stops_at_the_refill(session):
    session = session.play(0, 5, 0, 0).play(0, 14, 1, 1).end_turn(0, 2)
    with pytest.raises(Refusal, match="nothing to take back"):
        session.undo(1, 3)
    with pytest.raises(Refusal, match="turn of player 2"):
        session.undo(0, 3)


def test_undo_is_limited(session):
    for _ in range(MOST_UNDONE):
        session = session.play(0, 5, 0, session.version).undo(0, session.version + 1)
    session = session.play(0, 5, 0, session.version)
    with pytest.raises(Refusal, match="no more plays"):
        session.undo(0, session.version)


def test_changes_tell_what_everybody_saw(session):
    session = session.play(0, 5, 0, 0).play(0, 14, 0, 1).undo(0, 2)
    texts = [change.text(language("en")) for change in session.changes]
    assert texts == [
        "player 1 laid 5 on up1",
        "player 1 laid 14 on up1",
        "player 1 took 14 back from up1",
    ]


def test_the_trick_is_told_with_its_distance():
    session = Session.new(Table(Rules(), 1), [PERSON], deck=[15, 5, *range(20, 26), *_rest()])
    session = session.play(0, 15, 0, 0).play(0, 5, 0, 1)
    assert session.changes[-1].gap == -10
    assert "10 back" in session.changes[-1].text(language("en"))


def _rest():
    return [card for card in range(2, 100) if card not in {15, 5, *range(20, 26)}]


# --- refusals --------------------------------------------------------------------------------


def refuse(session, command, match, kind=Refusal):
    before = session.document()
    with pytest.raises(kind, match=match) as caught:
        command(session)
    assert session.document() == before
    return caught.value


@pytest.mark.parametrize(
    ("command", "match"),
    [
        (lambda s: s.play(0, 6, 0, 0), "Card 6 is not in your hand"),
        (lambda s: s.play(0, 1, 0, 0), "There is no card 1; the cards are 2-99"),
        (lambda s: s.play(0, 100, 2, 0), "There is no card 100"),
        (lambda s: s.play(0, 5, 4, 0), "There is no such pile"),
        (lambda s: s.play(0, 5, -1, 0), "There is no such pile"),
        (lambda s: s.play(1, 5, 0, 0), "It is the turn of player 1"),
        (lambda s: s.play(2, 5, 0, 0), "no person at this seat"),
        (lambda s: s.play(-1, 5, 0, 0), "no person at this seat"),
        (lambda s: s.play(0, 5, 0, 1), "no version 1"),
        (lambda s: s.play(0, 5, 0, -1), "no version -1"),
        (lambda s: s.end_turn(0, 0), "cards still to be laid: 2"),
        (lambda s: s.undo(0, 0), "nothing to take back"),
        (lambda s: s.advance(0, 0), "not the turn of an agent"),
        (lambda s: s.what_if(0), "still going on"),
    ],
)
def test_refusals_change_nothing(session, command, match):
    refuse(session, command, match)


def test_a_card_that_was_laid_is_refused_as_such(session):
    session = session.play(0, 5, 0, 0)
    refuse(session, lambda s: s.play(0, 5, 1, 1), "Card 5 has been laid already")


def test_cards_of_others_and_of_the_deck_are_refused_alike(session):
    partner, deck = min(session.game.hands[1]), session.game.deck[0]
    texts = [
        str(refuse(session, lambda s, c=card: s.play(0, c, 0, 0), "not in your hand"))
        for card in (partner, deck)
    ]
    assert texts[0].replace(str(partner), "X") == texts[1].replace(str(deck), "X")


@pytest.mark.parametrize(
    ("first", "second", "pile", "match"),
    [
        (14, 5, 0, "5 cannot lie on up1: higher than 14, or exactly 10 lower"),
        (79, 86, 2, "86 cannot lie on down1: lower than 79, or exactly 10 higher"),
    ],
)
def test_the_rule_that_a_play_breaks_is_named(session, first, second, pile, match):
    session = session.play(0, first, pile, 0)
    refuse(session, lambda s: s.play(0, second, pile, 1), match)


def test_a_stale_command_is_told_what_has_changed(session):
    after = session.play(0, 5, 0, 0)
    stale = refuse(after, lambda s: s.play(0, 5, 0, 0), "player 1 laid 5 on up1", Stale)
    assert stale.changes == after.changes
    refuse(after.undo(0, 1), lambda s: s.play(0, 5, 0, 1), "took 5 back", Stale)


def test_a_finished_game_refuses_everything():
    session = played(new(2, seed=3))
    assert session.over
    seen = session.version
    for command in (
        lambda s: s.play(0, 5, 0, seen),
        lambda s: s.end_turn(0, seen),
        lambda s: s.undo(0, seen),
        lambda s: s.advance(0, seen),
        lambda s: s.play(0, 5, 0, 0),
    ):
        refuse(session, command, "The game is over")


def test_a_person_cannot_play_for_an_agent():
    session = new(2, seats=["greedy", PERSON], seed=3)
    card = min(session.game.hands[0])
    refuse(session, lambda s: s.play(0, card, 0, 0), "no person at this seat")
    refuse(session, lambda s: s.play(1, card, 0, 0), "turn of player 1")


def test_refusals_speak_every_language(session):
    for code in LANGUAGES:
        stale = Stale(session.play(0, 5, 0, 0).changes)
        assert "5" in stale.text(language(code))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"seed": -1}, "seed must be"),
        ({"seed": 2**63}, "seed must be"),
        ({"seats": [PERSON]}, "1 seats do not fit"),
        ({"deck": [2, 2]}, "twice"),
    ],
)
def test_bad_deals_are_refused(options, match):
    arguments = {"seats": [PERSON] * 2, **options}
    with pytest.raises(ValueError, match=match):
        Session.new(Table(Rules(), 2), **arguments)


# --- agents ----------------------------------------------------------------------------------


def test_an_agent_advances_one_play_at_a_time():
    session = new(2, seats=["greedy", PERSON], seed=3)
    one = step(session)
    assert one.version == 1
    assert one.game.plays == 1
    assert one.agent == "greedy"


def test_an_illegal_action_of_an_agent_is_refused():
    session = new(1, seats=["greedy"], seed=3)
    refuse(session, lambda s: s.advance(s.table.rules.end_turn, 0), "not legal")


class Spy(Agent):
    """Keeps the rows that it was asked about."""

    name = "spy"

    def __init__(self):
        self.rows = []

    def act_rows(self, rows, p, streams):
        self.rows += [row.copy() for row in rows]
        return rows[:, 0]


def test_an_agent_is_shown_the_view_of_its_seat_and_nothing_else():
    session = played(new(3, seed=5, talk="open"), 4)
    spy = Spy()
    session.chosen(spy)
    engine = Engine(session.table, 1)
    engine.put(0, session.game)
    assert (spy.rows[0] == engine.views()[0]).all()


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("talk", ["none", "open"])
def test_every_preset_is_played_to_its_end_from_a_log(rules, talk):
    session = new(2, rules, [PERSON, "random"], 11, talk=talk, starter="agreed")
    middle = played(session, 9)
    copy = Session.restore(json.loads(json.dumps(middle.document())))
    assert copy == middle
    assert played(copy).document() == played(middle).document()
    assert played(copy).over


def test_undone_plays_leave_the_agents_course_as_it_was():
    straight = new(2, seats=[PERSON, "random"], seed=3).play(0, 5, 0, 0)
    detour = new(2, seats=[PERSON, "random"], seed=3).play(0, 91, 2, 0).undo(0, 1)
    detour = detour.play(0, 5, 0, 2)
    assert played(straight).actions == played(detour).actions


def test_random_streams_differ_by_seed_and_step():
    courses = {played(new(1, seats=["random"], seed=seed)).actions for seed in range(5)}
    assert len(courses) == 5


def test_a_failing_agent_is_a_refusal(monkeypatch):
    session = new(1, seats=["greedy"], seed=3)
    CREW.choose(session)
    monkeypatch.setattr(Session, "chosen", lambda *_: 1 / 0)
    with pytest.raises(Refusal, match="The agent greedy failed: division by zero"):
        CREW.choose(session)


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("nobody", 'no agent "nobody"'),
        ("agents.greedy:make", "no agent"),
        ("model.zip", "no agent"),
        ("greedy:colour=red", "cannot play"),
        ("greedy:extra=", "no agent"),
    ],
)
def test_seats_are_checked(name, match):
    with pytest.raises(Refusal, match=match):
        CREW.check((PERSON, name), Table(Rules(), 2))


# --- what if ---------------------------------------------------------------------------------


def test_what_if_goes_on_from_a_step():
    finished = played(new(2, seats=[PERSON, "greedy"], seed=3))
    for at in (0, 3, len(finished.actions) - 1):
        session = finished.what_if(at)
        assert session.game == finished.positions[at]
        assert session.version == at
        assert not session.over
        assert act(session, finished.actions[at]).game == finished.positions[at + 1]


@pytest.mark.parametrize("at", [-1, 10_000])
def test_what_if_needs_a_step(at):
    refuse(played(new(1)), lambda s: s.what_if(at), "no step")


def test_what_if_forgets_undone_plays():
    session = new(1, seed=3)
    card = min(session.game.hands[0])
    finished = played(session.play(0, card, 0, 0).undo(0, 1))
    assert finished.what_if(2).log == finished.actions[:2]


# --- what is stored --------------------------------------------------------------------------


def test_a_damaged_document_is_a_sentence(session):
    document = session.document()
    for wrong in ({**document, "log": [0, "x"]}, {"rules": "official"}, {**document, "log": [-1]}):
        with pytest.raises(Refusal, match="stored game is damaged"):
            Session.restore(wrong)


def test_the_record_replays_the_game():
    session = played(new(3, seats=[PERSON, "greedy", "random"]))
    positions = list(session.record.replay())
    assert tuple(positions) == session.positions


# --- leaks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_a_view_does_not_tell_where_unseen_cards_are(seat):
    session = played(new(3, seed=9), 12)
    for seed in range(20):
        other = reshuffled(session, seat, seed)
        assert other.game.deck != session.game.deck
        assert other.view(seat) == session.view(seat) == View.of(session.game, session.table, seat)
        assert other.changes == session.changes
