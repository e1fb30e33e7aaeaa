"""The encoders, slice by slice, against a plain computation from the view."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from strategies import PRESET_TABLES, positions, seeds
from test_unseen import permuted

from thegame_env.engine import Engine, mask_into
from thegame_env.observation import (
    ENCODERS,
    WINDOW,
    encode_batch,
    observation_spec,
    observe,
)
from thegame_env.rules import PILES, PRESETS, Rules, Table
from thegame_env.view import View

KINDS = list(ENCODERS)


def bits(rules, cards):
    return [float(card in cards) for card in rules.deck]


def padded(values, size, default=0.0):
    return [*values, *[default] * (size - len(values))]


def naive_table(view):
    """The `table` observation by its documented meaning: slice name -> values."""
    rules, full, players = view.rules, view.table.hand_size, view.table.players
    said = view.talk
    most = {"none": 1, "avoid": 1, "open": 2}[view.table.talk]
    values = {
        "hand": bits(rules, view.hand),
        "tops": [top / rules.high for top in view.tops],
        "deck": [view.deck / rules.cards],
        "sizes": [size / full for size in (len(view.hand), *view.others)],
        "plays": [view.plays / full],
        "owed": [view.owed / full],
        "players": [players / 5],
    }
    if view.table.memory:
        values["unseen"] = bits(rules, view.unseen)
    if view.table.talk != "none" and players > 1:
        values["talk"] = [level / most for seat in said for level in seat.levels]
    if view.table.talk == "open" and players > 1:
        values["talk_stuck"] = [float(seat.stuck) for seat in said]
    return values


def passes(view, card):
    """How many piles can take the card no more, but for a trick."""
    up1, up2, down1, down2 = view.tops
    return (card <= up1) + (card <= up2) + (card >= down1) + (card >= down2)


def gap(view, card, pile):
    """The gap at which the pile takes the card, the trick's below 0; endless where it cannot."""
    ahead = (card - view.tops[pile]) * (1 if pile < 2 else -1)
    return ahead if ahead > 0 or ahead == -view.rules.trick else float("inf")


def naive_pile(view, pile):
    """One pile's block of the `relative` observation: slice name -> values."""
    rules, sign, top = view.rules, 1 if pile < 2 else -1, view.tops[pile]
    unseen = view.unseen if view.table.memory else frozenset()
    ahead = [top + sign * gap for gap in range(1, WINDOW + 1)]
    behind = [top - sign * gap for gap in range(1, rules.trick)]
    trick = top - sign * rules.trick
    beyond = [card for card in rules.deck if (card - top) * sign > 0]
    levels = [said.levels[pile] for said in view.talk]
    known = view.hand | unseen
    return {
        "hand": [float(card in view.hand) for card in ahead],
        "unseen": [float(card in unseen) for card in ahead],
        "fresh": [float(card in rules.deck and passes(view, card) <= 1) for card in ahead],
        "nearest": [
            float(card in view.hand and all(gap(view, card, k) >= i + 1 for k in range(4)))
            for i, card in enumerate(ahead)
        ],
        "pairs": [float({card, card - sign * rules.trick} <= view.hand) for card in ahead],
        "live_pairs": [float({card, card - sign * rules.trick} <= known) for card in ahead],
        "hand_behind": [float(card in view.hand) for card in behind],
        "unseen_behind": [float(card in unseen) for card in behind],
        "trick_hand": [float(trick in view.hand)],
        "trick_unseen": [float(trick in unseen)],
        "room": [len(beyond) / rules.cards],
        "hand_beyond": [len(view.hand.intersection(beyond)) / view.table.hand_size],
        "unseen_beyond": [len(unseen.intersection(beyond)) / rules.cards],
        "talk_step": padded([float(level > 0) for level in levels], 4),
        "talk_trick": padded([float(level > 1) for level in levels], 4),
    }


def naive_relative(view):
    """The `relative` observation by its documented meaning: slice name -> values."""
    rules, table = view.rules, view.table
    values = {
        f"{PILES[pile]}.{name}": numbers
        for pile in range(4)
        for name, numbers in naive_pile(view, pile).items()
    }
    values |= {
        "hand": bits(rules, view.hand),
        "unseen": bits(rules, view.unseen if table.memory else ()),
        "deck": [view.deck / rules.cards],
        "left": [view.cards_left / rules.cards],
        "sizes": padded([min(size / 8, 1.0) for size in (len(view.hand), *view.others)], 5),
        "plays": [min(view.plays / 8, 1.0)],
        "owed": [min(view.owed / 3, 1.0)],
        "players": [float(table.players == n) for n in range(1, 6)],
        "full_hand": [min(table.hand_size / 8, 1.0)],
        "minimum": [min(rules.minimum / 3, 1.0)],
        "minimum_empty": [min(rules.minimum_empty / 3, 1.0)],
        "passes": [float(rules.stuck == "nobody")],
        "memory_known": [float(table.memory)],
        "talk_setting": [float(table.talk == name) for name in ("none", "avoid", "open")],
        "talk_stuck": padded([float(said.stuck) for said in view.talk], 4),
    }
    return values


NAIVE = {"table": naive_table, "relative": naive_relative}


@pytest.mark.parametrize("kind", KINDS)
@given(position=positions())
def test_every_slice_holds_what_its_meaning_says(kind, position):
    table, game = position
    spec = observation_spec(kind, table)
    for seat in range(table.players):
        view = View.of(game, table, seat)
        wanted, got = NAIVE[kind](view), observe(view, kind)
        assert list(wanted) == [part.name for part in spec.slices]
        for name, values in wanted.items():
            assert got[spec[name]] == pytest.approx(values, abs=1e-6), name
        assert got.dtype == np.float32
        assert got.min() >= 0.0
        assert got.max() <= 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("table", [*PRESET_TABLES[::11], Table(Rules("custom", 7, (2,), 1))])
def test_slices_cover_the_vector_without_gaps(kind, table):
    spec = observation_spec(kind, table)
    at = 0
    for part in spec.slices:
        assert part.offset == at
        assert part.size > 0
        assert part.meaning
        assert spec[part.name] == slice(at, at + part.size)
        at += part.size
    assert at == spec.size
    assert len({part.name for part in spec.slices}) == len(spec.slices)
    assert len(spec.describe().splitlines()) == len(spec.slices)
    if kind == "relative":
        assert [spec[f"{pile}.hand"].start for pile in PILES] == [
            k * spec.pile_size for k in range(4)
        ]


def test_relative_has_one_layout_for_all_tables_of_98_cards():
    layouts = {observation_spec("relative", table).slices for table in PRESET_TABLES}
    assert len(layouts) == 1


@given(positions())
def test_the_mirrored_position_swaps_the_blocks(position):
    """Card c <-> N+3-c turns ascending piles into descending ones and back."""
    table, game = position
    view = View.of(game, table)
    mirror = view.rules.mirror
    a, b, c, d = map(mirror, view.tops)
    mirrored = replace(
        view,
        tops=(c, d, a, b),
        hand=frozenset(map(mirror, view.hand)),
        seen=None if view.seen is None else frozenset(map(mirror, view.seen)),
        talk=tuple(
            replace(said, levels=(*said.levels[2:], *said.levels[:2])) for said in view.talk
        ),
    )
    spec = observation_spec("relative", table)
    one, other = observe(view, "relative"), observe(mirrored, "relative")
    half, end = 2 * spec.pile_size, 4 * spec.pile_size
    assert np.array_equal(one[:half], other[half:end])
    assert np.array_equal(one[half:end], other[:half])
    for name in ("hand", "unseen"):
        assert np.array_equal(one[spec[name]], other[spec[name]][::-1])
    rest = spec["deck"].start
    assert np.array_equal(one[rest:], other[rest:])


@pytest.mark.parametrize("kind", KINDS)
@given(position=positions(), seed=seeds)
def test_hidden_cards_change_no_observation_and_no_mask(kind, position, seed):
    table, game = position
    table = replace(table, talk="none")
    seen = []
    for each in (game, permuted(game, random.Random(seed))):
        engine = Engine(table, 1)
        engine.put(0, each)
        rows = engine.views()
        obs = np.zeros((1, observation_spec(kind, table).size), np.float32)
        encode_batch(ENCODERS[kind], rows, engine.p, obs)
        mask = np.zeros(table.rules.n_actions, np.int8)
        mask_into(rows[0], engine.p, mask)
        seen.append((obs, mask))
    assert np.array_equal(seen[0][0], seen[1][0])
    assert np.array_equal(seen[0][1], seen[1][1])


def test_a_forgetful_seat_sees_unknown_marked_as_such():
    table = Table(PRESETS["official"], 2, memory=False)
    view = View(table, (50, 1, 70, 60), frozenset({51, 61, 40}), 80, (7,))
    spec = observation_spec("relative", table)
    got = observe(view, "relative")
    assert not got[spec["unseen"]].any()
    assert not got[spec["up1.unseen"]].any()
    assert got[spec["memory_known"]] == 0.0
    assert got[spec["up1.hand"]][0] == got[spec["up1.trick_hand"]] == 1.0
    for name in ("up1.pairs", "up1.live_pairs"):
        assert np.flatnonzero(got[spec[name]]).tolist() == [61 - 51]
    assert got[spec["up1.fresh"]].tolist() == [1.0] * (70 - 51) + [0.0] * 21
    assert "unseen" not in [part.name for part in observation_spec("table", table).slices]


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match='unknown observation "relativ", did you mean "relative"'):
        observation_spec("relativ", Table())
    with pytest.raises(KeyError, match="unknown slice"):
        _ = observation_spec("table", Table())["hands"]
