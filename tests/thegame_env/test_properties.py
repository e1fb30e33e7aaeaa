"""What holds in every position of every table."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import choose, movement, positions, random_deck, seeds, tables

from thegame_env.engine import Engine, mask_into
from thegame_env.notation import GameRecord, format_position, parse_position
from thegame_env.reference import Game
from thegame_env.rules import IllegalAction, Rules, Table
from thegame_env.unseen import complete
from thegame_env.view import View

Situation = tuple[Table, Game]
MANY = settings(max_examples=max(200, settings().max_examples))
"""More examples than by default: they are cheap here."""


def in_engine(table: Table, game: Game) -> Engine:
    engine = Engine(table, 1)
    engine.put(0, game)
    return engine


def mask_of(engine: Engine) -> list[int]:
    mask = np.zeros(engine.table.rules.n_actions, np.int8)
    mask_into(engine.views()[0], engine.p, mask)
    return np.flatnonzero(mask).tolist()


def accepts(game: Game, action: int) -> bool:
    try:
        game.check(action)
    except IllegalAction:
        return False
    return True


# --- conservation --------------------------------------------------------------------------------


@MANY
@given(tables, seeds, st.sampled_from((0.0, 0.5, 0.95)))
def test_cards_are_conserved_and_piles_move_legally(table: Table, seed: int, skill: float) -> None:
    rng = random.Random(seed)
    game = Game.start(table, random_deck(rng, table.rules))
    played: list[int] = []
    while game.outcome is None:
        held = [card for hand in game.hands for card in hand] + list(game.deck)
        assert sorted(held + played) == list(table.rules.deck)
        assert game.cards_left == len(held)
        assert all(len(hand) <= table.hand_size for hand in game.hands)
        assert game.hands[game.seat]
        action = choose(rng, game, game.legal_actions(), skill)
        after = game.step(action)
        moved = [pile for pile in range(4) if after.tops[pile] != game.tops[pile]]
        play = table.rules.decode(action)
        if play is None:
            assert moved == []
        else:
            assert moved == [play[1]]
            assert movement(game, action) > 0 or movement(game, action) == -table.rules.trick
            played.append(play[0])
        game = after
    assert game.outcome.cards_left == table.rules.cards - len(played)
    assert game.outcome.won == (len(played) == table.rules.cards)


@MANY
@given(positions())
def test_a_turn_passes_with_full_hands(situation: Situation) -> None:
    table, game = situation
    assume(game.may_end_turn)
    after = game.step(table.rules.end_turn)
    assert len(after.hands[game.seat]) == table.hand_size or not after.deck
    assert after.plays == 0
    assert after.owed == table.rules.owed(len(after.deck), len(after.hands[after.seat]))


# --- legality ------------------------------------------------------------------------------------


@MANY
@given(positions())
def test_the_mask_is_what_the_reference_accepts(situation: Situation) -> None:
    table, game = situation
    accepted = [action for action in range(table.rules.n_actions) if accepts(game, action)]
    assert game.legal_actions() == accepted
    # A finished game allows every action in the mask (no all-False row), and none in truth.
    mask = accepted if game.outcome is None else list(range(table.rules.n_actions))
    assert mask_of(in_engine(table, game)) == mask


@MANY
@given(positions(), st.integers(-5, 400))
def test_an_illegal_action_changes_nothing(situation: Situation, action: int) -> None:
    table, game = situation
    assume(game.outcome is None and not accepts(game, action))
    engine = in_engine(table, game)
    before, copy = engine.games.copy(), replace(game)
    with pytest.raises(IllegalAction):
        engine.step([action])
    with pytest.raises(IllegalAction):
        game.step(action)
    assert np.array_equal(engine.games, before)
    assert game == copy


@MANY
@given(positions())
def test_a_running_game_has_a_legal_action(situation: Situation) -> None:
    _, game = situation
    assert bool(game.legal_actions()) == (game.outcome is None)


# --- mirror symmetry -----------------------------------------------------------------------------


def mirrored(game: Game) -> Game:
    """Every card c becomes N+3-c, and the ascending piles change places with the others."""
    mirror = game.rules.mirror
    a, b, c, d = (mirror(top) for top in (*game.tops[2:], *game.tops[:2]))
    return replace(
        game,
        tops=(a, b, c, d),
        hands=tuple(frozenset(map(mirror, hand)) for hand in game.hands),
        deck=tuple(map(mirror, game.deck)),
    )


def mirrored_action(rules: Rules, action: int) -> int:
    play = rules.decode(action)
    if play is None:
        return action
    return rules.action(rules.mirror(play[0]), (play[1] + 2) % 4)


@MANY
@given(positions())
def test_the_mirror_image_is_the_same_game(situation: Situation) -> None:
    table, game = situation
    image = mirrored(game)
    assert mirrored(image) == game
    assert image.settled() == image
    actions = {mirrored_action(table.rules, action) for action in game.legal_actions()}
    assert set(image.legal_actions()) == actions
    assert set(mask_of(in_engine(table, image))) >= actions
    for action in game.legal_actions():
        assert mirrored(game.step(action)) == image.step(mirrored_action(table.rules, action))


# --- what is hidden stays hidden -----------------------------------------------------------------


def reshuffled(game: Game, rng: random.Random) -> Game:
    """The unseen cards dealt anew among the other hands and the deck, sizes kept."""
    unseen = sorted(set(game.deck).union(*game.hands) - game.hands[game.seat])
    rng.shuffle(unseen)
    hands = []
    for seat, hand in enumerate(game.hands):
        size = 0 if seat == game.seat else len(hand)
        hands.append(frozenset(unseen[:size]) if size else hand)
        unseen = unseen[size:]
    return replace(game, hands=tuple(hands), deck=tuple(unseen))


@MANY
@given(positions(running=True), seeds)
def test_permuting_unseen_cards_changes_no_view_and_no_mask(
    situation: Situation, seed: int
) -> None:
    table, game = situation
    # What partners say depends on their hands, so a silent table is asked; and with "nobody" the
    # end of the game may too.
    table = replace(table, talk="none")
    other = reshuffled(game, random.Random(seed)).settled()
    assume(game.outcome is None and other.outcome is None)
    assert View.of(other, table) == View.of(game, table)
    assert other.legal_actions() == game.legal_actions()
    ours, theirs = in_engine(table, game), in_engine(table, other)
    assert np.array_equal(ours.views(), theirs.views())
    assert mask_of(ours) == mask_of(theirs)


@MANY
@given(positions(running=True), seeds)
def test_a_completed_view_is_seen_as_that_view(situation: Situation, seed: int) -> None:
    table, game = situation
    table = replace(table, talk="none", starter="seat0")
    view = View.of(game, table)
    dealt = complete(view, seed)
    assume(dealt.outcome is None)
    assert View.of(dealt, table) == view
    assert complete(view, seed) == dealt


# --- text ----------------------------------------------------------------------------------------


@MANY
@given(positions(running=True))
def test_a_position_reads_back(situation: Situation) -> None:
    table, game = situation
    view = View.of(game, table)
    read = parse_position(format_position(view))
    assert replace(read, table=table) == view
    assert read.table == replace(
        table, starter="seat0", talk=read.table.talk, memory=read.table.memory
    )


@MANY
@given(tables, seeds)
def test_a_record_replays(table: Table, seed: int) -> None:
    rng = random.Random(seed)
    deck = random_deck(rng, table.rules)
    game, actions = Game.start(table, deck), []
    while game.outcome is None:
        actions.append(choose(rng, game, game.legal_actions(), 0.5))
        game = game.step(actions[-1])
    record = GameRecord(table, deck, tuple(actions))
    assert GameRecord.parse(str(record)) == record
    assert [*record.replay()][-1] == game
