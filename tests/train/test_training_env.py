"""The games of a run: several tables, late starts, and what only the critic sees."""

import numpy as np
import pytest

from thegame_env.engine import Engine
from thegame_env.layout import LEFT, PLAYING, STATUS, STEPS
from thegame_env.rules import PRESETS, Rules, Table
from thegame_env.sb3_env import TheGameVecEnv
from train.late_starts import LateStarts, play_until
from train.training_env import TrainingEnv

FIVE, TWO = Table(players=5), Table(PRESETS["profi"], 2, memory=False, talk="open")


def first_legal(env):
    return env.action_masks().argmax(axis=1)


def make(tables=(FIVE, TWO), games=8, **options):
    env = TrainingEnv(tables, games, "relative", "score", **options)
    env.start(3)
    return env


def test_one_table_is_played_as_by_the_environment_itself():
    ours, plain = make((FIVE,)), TheGameVecEnv(8, 5, observation="relative")
    plain.seed(3)
    assert np.array_equal(ours.reset(), plain.reset())
    for _ in range(60):
        actions = first_legal(ours)
        one, other = ours.step(actions), plain.step(actions)
        for a, b in zip(one[:3], other[:3], strict=True):
            assert np.array_equal(a, b)
        assert [info["cards_left"] for info in one[3]] == [info["cards_left"] for info in other[3]]


def test_tables_share_the_slots_and_keep_to_their_own_rules():
    env = make(games=7)
    obs = env.reset()
    assert obs.shape == (7, env.seen)
    assert [part.num_envs for part in env.parts] == [4, 3]
    assert env.action_masks().shape == (7, 393)
    spec = env.parts[0].observation_spec
    assert (obs[:4, spec["memory_known"]] == 1).all()
    assert (obs[4:, spec["memory_known"]] == 0).all()
    obs, rewards, dones, infos = env.step(first_legal(env))
    assert (len(obs), len(rewards), len(dones), len(infos)) == (7, 7, 7, 7)
    assert rewards == pytest.approx([1 / 98] * 7)


def test_a_snapshot_brings_all_tables_back():
    env = make(hidden=True)
    env.reset()
    for _ in range(5):
        before = env.step(first_legal(env))[0]
    state, actions = env.save(), first_legal(env)
    after = env.step(actions)[0]
    assert np.array_equal(env.restore(state), before)
    assert np.array_equal(env.step(actions)[0], after)


def test_the_hidden_part_tells_hands_and_deck():
    env = make((FIVE,), hidden=True)
    obs = env.reset()
    hidden = obs[:, env.seen :].reshape(8, 5, 98)
    for slot in range(8):
        game = env.parts[0].vector.engine.game(slot)
        for offset in range(1, 5):
            held = {i + 2 for i in np.flatnonzero(hidden[slot, offset - 1])}
            assert held == game.hands[(game.seat + offset) % 5]
        order = np.argsort(-hidden[slot, 4], kind="stable")[: len(game.deck)] + 2
        assert tuple(order) == game.deck


def test_games_are_observed_as_when_they_were_played():
    env = make(hidden=True)
    obs = env.reset()
    for i, part in enumerate(env.parts):
        engine = part.vector.engine
        seen, masks = env.observe(i, engine.games, engine.decks)
        assert np.array_equal(seen, obs[env.slots[i]])
        assert np.array_equal(masks, part.action_masks())


def test_tables_of_other_sizes_and_too_few_games_are_refused():
    with pytest.raises(ValueError, match="too few for 2 tables"):
        make(games=1)
    small = Table(Rules("custom", cards=20, hand_sizes=(4,)), 1)
    with pytest.raises(ValueError, match="observations differ"):
        make((FIVE, small))


# --- late starts ---------------------------------------------------------------------------------


def test_play_until_stops_at_the_wanted_number():
    engine = Engine(Table(players=3), 50)
    engine.deal(np.arange(50))
    wanted = np.arange(50) + 20
    play_until(engine, "greedy", wanted)
    games = engine.games
    going = games[:, STATUS] == PLAYING
    assert going.any()
    assert (games[going, LEFT] == wanted[going]).all()


def test_late_starts_replace_their_share_of_the_deals():
    table = Table(players=3)
    late = LateStarts(table, 0.5, 30, "sequence", 1)
    env = make((table,), games=400, late=[late])
    obs = env.reset()
    games = env.parts[0].vector.engine.games
    begun_late = games[:, LEFT] <= 30
    assert 0.4 < begun_late.mean() < 0.6
    assert (games[~begun_late, LEFT] == 98).all()
    assert (games[:, STEPS] == 0).all()
    spec = env.parts[0].observation_spec
    assert obs[:, spec["left"]][:, 0] == pytest.approx(games[:, LEFT] / 98)
    for _ in range(150):
        env.step(first_legal(env))


def test_a_player_that_gets_nowhere_is_refused():
    with pytest.raises(ValueError, match="random never gets down to 1 cards"):
        LateStarts(Table(players=3), 0.5, 1, "random", 1)
