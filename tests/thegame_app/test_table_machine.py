"""The table assistant against the reference game, over random games with undo and lost values."""

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from thegame_app.language import Refusal
from thegame_app.table import TableGame
from thegame_app.table_entries import (
    ConfirmResult,
    EndTurn,
    Lay,
    ReportStuck,
    Setup,
    Undo,
    from_document,
    to_document,
)
from thegame_app.table_hand import OwnHand, hint_view
from thegame_env.deal import deal
from thegame_env.notation import format_position, parse_position
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table, Termination

SCALED = Rules("scaled", cards=20, hand_sizes=(4, 3, 3), trick=3)
NAMES = ("Anna", "Ben", "Cleo", "Dan", "Eve")
TABLES = st.one_of(
    st.tuples(st.sampled_from([*PRESETS.values()]), st.integers(2, 5)),
    st.tuples(st.just(SCALED), st.integers(1, 3)),
)


class Physical(RuleBasedStateMachine):
    """A reference game is the truth on the table; what happens there is entered."""

    @initialize(table=TABLES, seed=st.integers(0, 2**32), memory=st.booleans())
    def sit_down(self, table, seed, memory):
        rules, players = table
        self.truth = Game.start(Table(rules, players), deal(rules, seed))
        self.game = TableGame.start(Setup(NAMES[:players], rules, memory=memory))
        self.past = []
        self.hand = OwnHand(0).with_cards(self.game, self.truth.hands[0])
        self.refill = False

    def enter(self, entry):
        self.game = self.game.enter(from_document(to_document(entry)), self.game.version)

    @property
    def going_on(self):
        return self.truth.outcome is None and not self.refill

    @precondition(lambda self: self.going_on and self.truth.plays_of(self.truth.seat))
    @rule(pick=st.integers(0, 10**6), named=st.integers(0, 5))
    def lay(self, pick, named):
        plays = self.truth.plays_of(self.truth.seat)
        card, pile = plays[pick % len(plays)]
        before, seat = self.truth, self.truth.seat
        self.truth = before.step(before.rules.action(card, pile))
        self.past.append((before, self.hand))
        self.enter(Lay(seat, pile, card if named else None))
        if seat == 0 and not named:
            self.hand = self.hand.without(self.game, card)
        emptied = len(before.hands[seat]) == 1
        self.refill = emptied and bool(before.deck)
        if self.refill:
            self.confirm_refill()

    @rule()
    @precondition(lambda self: self.going_on and self.truth.may_end_turn)
    def end_turn(self):
        before = self.truth
        self.past.append((before, self.hand))
        passes = before.plays < before.owed
        self.truth = before.step(before.rules.end_turn)
        self.draw(before, passes)

    def confirm_refill(self):
        """The card that emptied the hand closed the turn in the reference; here two steps do."""
        before = self.past[-1][0]
        self.past.append((None, self.hand))
        self.draw(before, passes=False)
        self.refill = False

    def draw(self, before, passes):
        seat = before.seat
        drawn = len(before.deck) - len(self.truth.deck)
        self.enter(EndTurn(seat, drawn, passes))
        if seat == 0:
            self.hand = self.hand.with_cards(self.game, self.truth.hands[0])

    @precondition(lambda self: self.past and self.game.state.outcome is None)
    @rule()
    def undo(self):
        reported = self.game.state.reported
        self.enter(Undo())
        if reported:
            return
        truth, self.hand = self.past.pop()
        if truth is None:
            self.enter(Undo())
            truth, self.hand = self.past.pop()
        self.truth = truth

    @precondition(lambda self: self.stuck)
    @rule(sure=st.booleans())
    def give_up(self, sure):
        if not self.game.state.reported:
            self.enter(ReportStuck(self.truth.seat))
        if sure:
            self.enter(ConfirmResult(self.truth.cards_left))

    @rule(seat=st.integers(-1, 5), pile=st.integers(-1, 4), card=st.integers(0, 101))
    def enter_nonsense(self, seat, pile, card):
        """Whatever the truth forbids is refused, and changes nothing."""
        state = self.game.state
        unknown = 0 <= pile < 4 and state.piles[pile].top is None
        fits = unknown or (0 <= pile < 4 and self.truth.is_legal(card, pile))
        if state.outcome is None and not state.reported and seat == state.seat and fits:
            return
        with pytest.raises(Refusal):
            self.game.enter(Lay(seat, pile, card), self.game.version)
        assert self.game.state == state

    @property
    def stuck(self):
        outcome = self.truth.outcome
        return (
            outcome is not None
            and outcome.termination is Termination.STUCK
            and self.game.state.outcome is None
        )

    @invariant()
    def the_table_agrees_with_the_truth(self):
        state, truth = self.game.state, self.truth
        assert state.hands == tuple(map(len, truth.hands))
        assert (state.deck, state.seat, state.plays, state.owed) == (
            len(truth.deck), truth.seat, truth.plays, truth.owed)  # fmt: skip
        assert state.cards_left == truth.cards_left
        if not self.stuck:
            assert state.outcome == truth.outcome
        for pile, top in zip(state.piles, truth.tops, strict=True):
            assert top in pile.possible
            assert pile.top in (None, top)

    @invariant()
    def what_the_rules_allow_is_never_refused(self):
        for card, pile in self.truth.plays_of(self.truth.seat):
            assert self.game.state.fits(card, pile)

    @invariant()
    def known_piles_are_checked_fully(self):
        for number, pile in enumerate(self.game.state.piles):
            if pile.top is not None:
                for card in self.game.setup.rules.deck:
                    assert self.game.state.fits(card, number) == self.truth.is_legal(card, number)

    @invariant()
    def the_own_hand_is_kept_up_to_date(self):
        assert self.hand.cards(self.game) == self.truth.hands[0]
        assert self.hand.missing(self.game) == 0

    @invariant()
    def the_log_gives_the_game_back(self):
        if self.game.version % 7 == 0:
            assert TableGame.replay(self.game.setup, self.game.log) == self.game

    @invariant()
    def a_hint_sees_a_position_that_adds_up(self):
        state = self.game.state
        if state.outcome or state.reported or state.seat or not state.hands[0]:
            return
        assumed = hint_view(self.game, self.hand)
        text = format_position(assumed.view)
        if not assumed.cards:
            assert format_position(parse_position(text)) == text
        assert len(assumed.cards) == state.unknown_cards
        assert {k for k, pile in enumerate(state.piles) if pile.top is None} == assumed.open_piles
        assert assumed.view.hand.isdisjoint(assumed.cards)
        assert state.laid.isdisjoint(assumed.cards)


TestPhysical = Physical.TestCase
TestPhysical.settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
