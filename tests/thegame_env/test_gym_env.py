"""The single Gymnasium environment."""

import copy
import pickle
import random

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from stable_baselines3.common.env_checker import check_env as sb3_check_env
from strategies import PLAYED, choose

from thegame_env.deal import deal
from thegame_env.gym_env import TheGameEnv
from thegame_env.notation import GameRecord, format_position
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, IllegalAction, Table
from thegame_env.view import View


def play_on(env, rng, steps=10_000, skill=0.8):
    """Act for all seats until the game ends or the steps are taken; the transitions."""
    transitions = []
    while len(transitions) < steps:
        game = env.unwrapped.game
        transitions.append(env.step(choose(rng, game, game.legal_actions(), skill)))
        if transitions[-1][2]:
            break
    return transitions


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True)) and (
        one[4].keys() == other[4].keys()
        and all(np.array_equal(one[4][key], other[4][key]) for key in one[4])
    )


# --- conformance ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "players"), PLAYED)
def test_gymnasium_and_sb3_checkers_find_nothing(rules, players):
    env = gymnasium.make("TheGame-v0", players=players, rules=rules, illegal="lose")
    check_env(env.unwrapped, skip_render_check=True)
    sb3_check_env(env.unwrapped)


@pytest.mark.parametrize("talk", ["avoid", "open"])
@pytest.mark.parametrize("observation", ["table", "relative"])
def test_checkers_find_nothing_with_other_settings(talk, observation, capsys):
    env = gymnasium.make(
        "TheGame-v0",
        players=3,
        rules="profi",
        memory=False,
        talk=talk,
        starter="agreed",
        observation=observation,
        reward="shaped",
        illegal="lose",
    )
    check_env(env.unwrapped)
    sb3_check_env(env.unwrapped)
    assert "The Game" in capsys.readouterr().out


def test_registered_id_takes_all_keywords():
    env = gymnasium.make(
        "TheGame-v0",
        players=3,
        rules="profi",
        memory=True,
        talk="avoid",
        starter="agreed",
        observation="relative",
        reward="score",
    )
    assert env.unwrapped.table == Table(PRESETS["profi"], 3, True, "avoid", "agreed")
    assert env.spec.kwargs["talk"] == "avoid"


def test_wrappers_of_gymnasium_work():
    env = RecordEpisodeStatistics(TimeLimit(gymnasium.make("TheGame-v0", players=2), 1000))
    env.reset(seed=4)
    transitions = play_on(env, random.Random(4))
    info = transitions[-1][4]
    assert info["episode"]["l"] == len(transitions)
    assert info["episode"]["r"] == pytest.approx((98 - info["cards_left"]) / 98)


# --- seeds and reset -----------------------------------------------------------------------------


def test_a_seed_gives_its_deals_in_order():
    env = TheGameEnv(players=2)
    decks = []
    for seed in (17, None, None, 17):
        env.reset(seed=seed)
        assert env.record.deck == deal(env.table.rules, 17, env.record.game)
        decks.append(env.record.deck)
    assert decks[0] == decks[3]
    assert len(set(decks)) == 3


def test_reset_without_a_seed_draws_one_once():
    one, other = TheGameEnv(), TheGameEnv()
    for env in (one, other):
        env.reset()
    assert one.record.seed != other.record.seed
    seed = one.record.seed
    one.reset()
    assert (one.record.seed, one.record.game) == (seed, 1)


@pytest.mark.parametrize("seed", [0, 2**63, 2**64 - 1])
def test_any_seed_of_64_bits(seed):
    env = TheGameEnv()
    env.reset(seed=seed)
    assert env.record.deck == deal(env.table.rules, int(seed))


def test_returned_arrays_are_not_reused():
    env = TheGameEnv(players=3)
    obs, info = env.reset(seed=1)
    before = obs.copy(), info["action_mask"].copy()
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert np.array_equal(obs, before[0])
    assert np.array_equal(info["action_mask"], before[1])


def test_masks_are_what_the_reference_accepts():
    rng = random.Random(2)
    for talk in ("none", "open"):
        env = TheGameEnv(players=4, talk=talk)
        env.reset(seed=rng.randrange(100))
        done = False
        while not done:
            legal = env.game.legal_actions()
            assert np.flatnonzero(env.action_masks()).tolist() == legal
            _, _, done, truncated, info = env.step(choose(rng, env.game, legal, 0.9))
            assert info["seat"] == env.game.seat
            assert info["cards_left"] == env.game.cards_left == env.cards_left
            assert not truncated
        assert info["action_mask"].all()
        assert info["termination"] == env.game.outcome.termination
        assert info["is_success"] is env.game.outcome.won


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize("starter", ["seat0", "agreed"])
def test_a_given_deck_is_dealt_and_its_record_replays(starter):
    env = TheGameEnv(players=4, starter=starter)
    for number in range(5):
        rng = random.Random(number)
        deck = rng.sample(range(2, 100), 98)
        env.reset(seed=1, options={"deck": deck})
        assert env.game == Game.start(env.table, deck)
        play_on(env, rng)
        assert env.record.deck == tuple(deck)
        assert list(GameRecord.parse(str(env.record)).replay())[-1] == env.game


def test_records_of_seeded_games_replay():
    env = TheGameEnv(players=3, rules="small-hands", starter="agreed")
    env.reset(seed=2**63 + 12345)
    play_on(env, random.Random(3))
    record = GameRecord.parse(str(env.record))
    assert record == env.record
    assert list(record.replay())[-1] == env.game


def test_a_position_starts_anywhere():
    text = "up=23,40 down=77,60 hand=12,34,45,67,88,90 deck=40 others=6,6 played=0"
    env = TheGameEnv(players=3, memory=False)
    _, info = env.reset(seed=1, options={"position": text})
    assert env.game.tops == (23, 40, 77, 60)
    assert env.game.hands[0] == {12, 34, 45, 67, 88, 90}
    assert [len(hand) for hand in env.game.hands] == [6, 6, 6]
    assert len(env.game.deck) == 40
    assert info["seat"] == 0
    with pytest.raises(ValueError, match="only a game that was dealt has a record"):
        _ = env.record


def test_positions_of_neighbouring_seeds_are_dealt_differently():
    text = "up=23,40 down=77,60 hand=12,34,45,67,88,90 deck=40 others=6,6"
    games = set()
    for seed in range(4):
        env = TheGameEnv(players=3)
        for given in (seed, None, None):
            env.reset(seed=given, options={"position": text})
            games.add(env.game.hands)
    assert len(games) == 12


@pytest.mark.parametrize("talk", ["none", "avoid", "open"])
def test_a_position_is_seen_as_it_was_written(talk):
    rng = random.Random(8)
    env = TheGameEnv(players=4, talk=talk)
    env.reset(seed=3)
    for _ in range(6):
        play_on(env, rng, steps=4)
        if env.game.outcome is not None:
            break
        view = env.view
        other = TheGameEnv(players=4, talk=talk)
        other.reset(seed=5, options={"position": format_position(view)})
        assert other.view == view


# --- one seat beside partners --------------------------------------------------------------------


class LeastMovement:
    """A partner that asks nothing but the mask, and counts how often it was asked."""

    def __init__(self):
        self.asked = 0

    def act(self, observation, legal_action_mask):
        assert observation.dtype == np.float32
        assert legal_action_mask.dtype == bool
        self.asked += 1
        return int(np.flatnonzero(legal_action_mask)[-1])


@pytest.mark.parametrize("seat", [0, 2])
def test_one_seat_acts_beside_partners(seat):
    partner = LeastMovement()
    env = TheGameEnv(players=3, seat=seat, partners=partner)
    rng = random.Random(1)
    for game in range(20):
        _, info = env.reset(seed=5 if game == 0 else None)
        total, done = 0.0, False
        while not done:
            assert info["seat"] == seat
            action = choose(rng, env.game, env.game.legal_actions(), 0.5)
            obs, reward, done, _, info = env.step(action)
            total += reward
        assert total == pytest.approx((98 - info["cards_left"]) / 98)
        mine = View.of(env.game, env.table, seat)
        assert {i + 2 for i in np.flatnonzero(obs[env.observation_spec["hand"]])} == mine.hand
        assert list(env.record.replay())[-1] == env.game
    assert partner.asked > 100


def test_partners_stand_from_the_next_seat_on():
    order = []

    def named(name):
        def act(observation, legal_action_mask):
            order.append(name)
            return int(np.flatnonzero(legal_action_mask)[-1])

        return act

    env = TheGameEnv(players=3, seat=1, partners=[named("seat 2"), named("seat 0")])
    env.reset(seed=1)
    assert set(order) == {"seat 0"}
    while env.game.seat == 1:
        env.step(int(np.flatnonzero(env.action_masks())[-1]))
    assert "seat 2" in order


def test_partners_that_lose_before_the_first_action_end_the_episode():
    def worst(observation, legal_action_mask):
        rng.shuffle(order := np.flatnonzero(legal_action_mask))
        return int(order[0])

    rng = np.random.default_rng(0)
    env = TheGameEnv(players=5, rules="profi", seat=4, partners=worst)
    lost_early = 0
    for seed in range(60):
        _, info = env.reset(seed=seed)
        if env.game.outcome is None:
            continue
        lost_early += 1
        assert info["action_mask"].all()
        _, reward, done, _, info = env.step(0)
        assert done
        assert reward == pytest.approx((98 - info["cards_left"]) / 98)
        with pytest.raises(ResetNeeded):
            env.step(0)
    assert lost_early > 0


class RowsAgent:
    """An agent in this project's manner: it reads view rows."""

    def act_rows(self, rows, p, streams):
        view = View.from_row(Table(PRESETS["official"], 2), rows[0])
        streams += np.uint64(1)
        if view.may_end_turn:
            return np.array([view.rules.end_turn])
        return np.array([view.rules.action(*view.plays_now[0])])


def test_agents_that_read_view_rows_are_partners():
    env = TheGameEnv(players=2, seat=0, partners=RowsAgent())
    env.reset(seed=3)
    while env.game.seat == 0 and env.game.outcome is None and len(env.record.actions) < 30:
        env.step(env.game.legal_actions()[-1])
    assert {step.seat for step in env.record.replay()} == {0, 1}


def test_a_partner_that_breaks_a_rule_is_named():
    env = TheGameEnv(players=2, seat=1, partners=lambda observation, mask: 10**30, illegal="lose")
    with pytest.raises(IllegalAction, match="the partner on seat 0: action 1000"):
        env.reset(seed=1)


# --- illegal actions, ends -----------------------------------------------------------------------


@pytest.mark.parametrize("action", [392, -1, 393, 10**30])
def test_an_illegal_action_may_lose_the_game(action):
    env = TheGameEnv(players=2, illegal="lose")
    env.reset(seed=1)
    _, reward, done, truncated, info = env.step(action)
    assert (reward, done, truncated) == (0.0, True, False)
    assert info["termination"] == "illegal"
    assert info["is_success"] is False
    assert info["cards_left"] == 98
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    assert env.game.outcome is None


def test_a_step_needs_a_running_game():
    env = TheGameEnv()
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(0)


# --- snapshots -----------------------------------------------------------------------------------


def test_a_restored_game_goes_on_as_before():
    env = TheGameEnv(players=3, talk="open", observation="relative")
    env.reset(seed=9)
    play_on(env, random.Random(1), steps=12)
    state = env.save()
    first = play_on(env, random.Random(2))
    end = env.game
    obs, info = env.restore(state)
    second = play_on(env, random.Random(2))
    assert len(first) == len(second)
    assert all(same(a, b) for a, b in zip(first, second, strict=True))
    assert env.game == end
    assert np.array_equal(obs, env.restore(state)[0])
    assert info["seat"] == env.game.seat


def test_a_snapshot_belongs_to_its_table():
    one, other = TheGameEnv(players=3), TheGameEnv(players=4)
    one.reset(seed=1)
    other.reset(seed=1)
    before = other.game
    with pytest.raises(ValueError, match="another table"):
        other.restore(one.save())
    assert other.game == before


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_are_independent_and_equal(copied):
    env = TheGameEnv(players=2, observation="relative")
    env.reset(seed=6)
    play_on(env, random.Random(1), steps=7)
    twin = copied(env)
    first = play_on(env, random.Random(2))
    second = play_on(twin, random.Random(2))
    assert all(same(a, b) for a, b in zip(first, second, strict=True))
    assert twin.record == env.record


def test_a_copy_of_a_fresh_environment_still_needs_a_reset():
    twin = copy.deepcopy(TheGameEnv())
    with pytest.raises(ResetNeeded):
        twin.step(0)
    twin.reset(seed=1)
    assert twin.game.outcome is None
