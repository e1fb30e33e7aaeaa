"""What a policy sees of the legal plays, by hand; from views and from observations alike."""

import numpy as np
import pytest

from agents.afterstate_features import FITS
from agents.play_features import (
    AROUND,
    CARD,
    GAP,
    HELD,
    PILE,
    TABLE,
    plays_of,
    sets_of_observations,
    sets_of_views,
    spread_words,
)
from thegame_env.engine import Engine, mask_into, parameters, random_steps
from thegame_env.notation import parse_position
from thegame_env.observation import ENCODERS, encode_batch, observation_spec
from thegame_env.rules import PRESETS, Rules, Table


def seen_of(text: str):
    """The plays of one position; and those as {(card, pile): number}."""
    view = parse_position(text)
    sets, tops = np.empty((1, 4), np.int64), np.empty((1, 4), np.int64)
    sets_of_views(view.row()[None], parameters(view.table), sets, tops)
    plays = plays_of(sets, tops, view.rules.cards, view.rules.trick)
    assert (plays.plays[:, TABLE] == 0).all()
    assert plays.starts.tolist() == [0, len(plays.plays)]
    return plays, {(row[CARD] + 2, row[PILE]): i for i, row in enumerate(plays.plays.tolist())}


def test_the_legal_plays_and_their_gaps():
    plays, number = seen_of("up=51,20 down=49,80 hand=41,52,59,47 others=6,6 deck=20")
    expected = {
        (52, 0): 0, (59, 0): 7, (41, 0): 98, (41, 1): 20, (47, 1): 26, (52, 1): 31, (59, 1): 38,
        (47, 2): 1, (41, 2): 7, (59, 2): 98, (59, 3): 20, (52, 3): 27, (47, 3): 32, (41, 3): 38,
    }  # fmt: skip
    assert {play: plays.plays[i, GAP] for play, i in number.items()} == expected
    held = {card: plays.plays[i, HELD] for (card, _), i in number.items()}
    assert held == {41: 0, 47: 1, 52: 2, 59: 3}


def test_the_cards_around_the_one_that_is_laid():
    """Distances in the pile's direction: the trick's place is 0, the card's own 10."""
    plays, number = seen_of("up=14,1 down=90,100 hand=41,52,59,42 others=6,6 seen=14,79,90 deck=79")
    numbers = np.zeros((4, 2, 2 * AROUND), np.float32)
    spread_words(plays.words, numbers)
    held = plays.plays[number[52, 0], HELD]
    assert np.flatnonzero(numbers[held, 0, :AROUND]).tolist() == [0, 10, 17]
    assert np.flatnonzero(numbers[held, 1, :AROUND]).tolist() == [3, 10, 20, 21]
    played = {41, 42, 52, 59, 14, 79, 90}
    up = [place for place in range(AROUND) if 52 - 10 + place not in played]
    down = [place for place in range(AROUND) if 52 + 10 - place not in played]
    assert np.flatnonzero(numbers[held, 0, AROUND:]).tolist() == up
    assert np.flatnonzero(numbers[held, 1, AROUND:]).tolist() == down


def test_how_the_cards_fit_after_a_play():
    """Stranded cards lie between the higher top that falls and the lower one that rises."""
    unseen, hand = {41, 61, 88, 3}, {50, 58, 65, 30, 95}
    text = "up=60,90 down=40,20 hand=50,58,65,30,95 others=2,2 deck=0 played=0 seen="
    seen = [str(card) for card in range(2, 100) if card not in unseen | hand]
    plays, number = seen_of(text + ",".join(seen))
    # Own and unseen cards that are stranded (50 is a trick's card but after its own play), values
    # between the tops.
    expected = {(65, 0): (1, 2, 26), (30, 2): (1, 1, 31), (95, 1): (1, 1, 21), (50, 0): (0, 1, 11)}
    for play, (own, others, values) in expected.items():
        facts = plays.facts[number[play]]
        assert facts[FITS - 1] == own / 8
        assert facts[2 * FITS - 1] == others / 16
        assert facts[-1] == np.float32(values / 98)
        assert 8 * facts[:FITS].sum() == 4
        assert 16 * facts[FITS : 2 * FITS].sum() == 4
    assert (8 * plays.now[0, FITS - 1], 16 * plays.now[0, 2 * FITS - 1]) == (1, 1)
    assert plays.now[0, -3:] == pytest.approx([38 / 98, 58 / 98, 21 / 98])


@pytest.mark.parametrize(
    "table",
    [
        Table(),
        Table(players=5, memory=False),
        Table(Rules("custom", cards=20, hand_sizes=(4, 3), trick=4), 2),
        Table(Rules("custom", cards=60, hand_sizes=(11,), trick=12), 1),
        Table(PRESETS["profi"], 3, talk="open"),
    ],
    ids=lambda table: f"{table.rules.name}-{table.players}",
)
def test_observations_tell_the_same_as_views(table):
    engine = Engine(table, 200)
    engine.deal(np.arange(200))
    streams = np.arange(1, 201, dtype=np.uint64)
    for b in range(200):
        one = slice(b, b + 1)
        random_steps(engine.games[one], engine.decks[one], engine.p, streams[one], b % 60)
    rows, spec = engine.views(), observation_spec("relative", table)
    obs = np.zeros((200, spec.size), np.float32)
    encode_batch(ENCODERS["relative"], rows, engine.p, obs)
    sets, tops = np.empty((2, 200, 4), np.int64), np.empty((2, 200, 4), np.int64)
    sets_of_views(rows, engine.p, sets[0], tops[0])
    places = spec.pile_size, spec["up1.room"].start, spec["memory_known"].start
    sets_of_observations(obs, table.rules.cards, *places, sets[1], tops[1])
    assert (sets[0] == sets[1]).all()
    assert (tops[0] == tops[1]).all()
    assert (sets[0, :, :2] & sets[0, :, 2:] == 0).all()
    listed = np.zeros((200, table.rules.n_actions), np.int8)
    plays = plays_of(sets[0], tops[0], table.rules.cards, table.rules.trick).plays
    listed[plays[:, TABLE], plays[:, PILE] * table.rules.cards + plays[:, CARD]] = 1
    masks = np.zeros_like(listed)
    for row, mask in zip(rows, masks, strict=True):
        mask_into(row, engine.p, mask)
    assert (listed[:, :-1] == masks[:, :-1]).all()
