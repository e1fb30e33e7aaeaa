"""The vector environment: B single environments, only faster."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics, RescaleObservation
from strategies import PLAYED

from thegame_env.deal import deal
from thegame_env.gym_env import TheGameEnv
from thegame_env.notation import format_position
from thegame_env.reference import Game
from thegame_env.rules import IllegalAction
from thegame_env.vector_env import TheGameVectorEnv

MODES = list(AutoresetMode)


def random_actions(rng, masks):
    """A random legal action a slot; END_TURN, the last one, only where nothing else is legal."""
    keys = rng.random(masks.shape) * masks
    keys[:, -1] *= 1e-9
    return keys.argmax(axis=1)


def equal(one, other):
    """Whether two infos say the same (the whole dicts, their masks included)."""
    assert one.keys() == other.keys()
    return all(
        equal(one[key], other[key])
        if isinstance(one[key], dict)
        else len(one[key]) == len(other[key])
        and all(np.array_equal(a, b) for a, b in zip(one[key], other[key], strict=True))
        for key in one
    )


def make_pair(mode, num_envs=6, **kwargs):
    """Ours, and Gymnasium's own vector environment over single ones."""
    ours = gymnasium.make_vec("TheGame-v0", num_envs=num_envs, autoreset_mode=mode, **kwargs)
    theirs = gymnasium.make_vec(
        "TheGame-v0",
        num_envs=num_envs,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        **kwargs,
    )
    return ours, theirs


def final_part(infos):
    """Sync's infos without what ours leaves out: mask and seat of the ended games."""
    if "final_info" not in infos:
        return infos
    left_out = ("action_mask", "_action_mask", "seat", "_seat")
    final = {k: v for k, v in infos["final_info"].items() if k not in left_out}
    return {**infos, "final_info": final}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "kwargs",
    [
        {"players": 1},
        {"players": 3, "rules": "profi", "talk": "open", "observation": "relative"},
        {"players": 4, "rules": "small-hands", "starter": "agreed", "reward": "shaped"},
        {"players": 2, "rules": "two-to-the-end", "memory": False, "talk": "avoid"},
    ],
)
def test_equals_gymnasiums_vector_of_single_environments(mode, kwargs):
    ours, theirs = make_pair(mode, **kwargs)
    rng = np.random.default_rng(0)
    one, other = ours.reset(seed=11), theirs.reset(seed=11)
    assert np.array_equal(one[0], other[0])
    assert equal(one[1], other[1])
    ended = 0
    for _ in range(120):
        actions = random_actions(rng, one[-1]["action_mask"])
        one, other = ours.step(actions), theirs.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True))
        assert all(a.dtype == b.dtype for a, b in zip(one[:4], other[:4], strict=True))
        assert equal(one[4], final_part(other[4]))
        over = one[2]
        ended += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            one = ours.reset(options={"reset_mask": over})
            other = theirs.reset(options={"reset_mask": over.copy()})
            assert np.array_equal(one[0], other[0])
    assert ended >= 12  # several episodes a slot
    ours.close()
    theirs.close()


@pytest.mark.parametrize(("rules", "players"), PLAYED)
def test_every_table_keeps_its_spaces(rules, players):
    env = gymnasium.make_vec("TheGame-v0", num_envs=3, players=players, rules=rules, talk="open")
    rng = np.random.default_rng(1)
    obs, infos = env.reset(seed=2)
    for _ in range(40):
        assert env.observation_space.contains(obs)
        actions = random_actions(rng, infos["action_mask"])
        assert env.action_space.contains(actions)
        obs, _, _, _, infos = env.step(actions)
    assert infos["action_mask"].dtype == np.int8


@pytest.mark.parametrize("mode", MODES)
def test_slot_i_plays_the_games_of_seed_plus_i(mode):
    env = TheGameVectorEnv(5, players=2, autoreset_mode=mode)
    env.reset(seed=2**64 - 3)
    seeds = [2**64 - 3, 2**64 - 2, 2**64 - 1, 0, 1]
    for slot, seed in enumerate(seeds):
        assert env.engine.game(slot) == Game.start(env.table, deal(env.table.rules, seed))
    env.reset()
    for slot, seed in enumerate(seeds):
        assert env.engine.game(slot) == Game.start(env.table, deal(env.table.rules, seed, 1))


def test_a_list_of_seeds_leaves_none_alone():
    env = TheGameVectorEnv(3)
    env.reset(seed=[5, 6, 7])
    env.reset(seed=[None, 9, None])
    wanted = [deal(env.table.rules, 5, 1), deal(env.table.rules, 9, 0), deal(env.table.rules, 7, 1)]
    assert [env.engine.game(i) for i in range(3)] == [Game.start(env.table, d) for d in wanted]


def test_unseeded_environments_differ():
    decks = set()
    for _ in range(3):
        env = TheGameVectorEnv(2)
        env.reset()
        decks |= {env.engine.game(0).deck, env.engine.game(1).deck}
    assert len(decks) == 6


def test_reset_mask_deals_only_the_chosen_slots():
    env = TheGameVectorEnv(4, players=2, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=1)
    env.step(random_actions(np.random.default_rng(0), infos["action_mask"]))
    before = [env.engine.game(slot) for slot in range(4)]
    options = {"reset_mask": np.array([False, True, False, False])}
    env.reset(seed=50, options=options)
    after = [env.engine.game(slot) for slot in range(4)]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, True, True]
    assert after[1] == Game.start(env.table, deal(env.table.rules, 51))
    assert set(options) == {"reset_mask"}


def test_options_deck_and_position():
    deck = np.random.default_rng(3).permutation(np.arange(2, 100))
    env = TheGameVectorEnv(3, players=2)
    env.reset(seed=1, options={"deck": deck})
    assert all(env.engine.game(i) == Game.start(env.table, deck) for i in range(3))
    single = TheGameEnv(players=2)
    single.reset(seed=2)
    text = format_position(single.view)
    env.reset(seed=1, options={"position": text})
    games = [env.engine.game(slot) for slot in range(3)]
    assert {game.hands[0] for game in games} == {single.game.hands[0]}
    assert len({game.hands[1] for game in games}) == 3
    single.reset(seed=2, options={"position": text})
    assert games[1] == single.game


@pytest.mark.parametrize("mode", MODES)
def test_episode_statistics(mode):
    env = RecordEpisodeStatistics(TheGameVectorEnv(8, players=2, autoreset_mode=mode))
    rng = np.random.default_rng(2)
    _, infos = env.reset(seed=3)
    seen = 0
    for _ in range(150):
        _, _, over, _, infos = env.step(random_actions(rng, infos["action_mask"]))
        if over.any():
            final = infos.get("final_info", infos)
            score = (98 - final["cards_left"][over]) / 98
            assert infos["episode"]["r"][over] == pytest.approx(score)
            seen += over.sum()
            if mode is AutoresetMode.DISABLED:
                _, infos = env.reset(options={"reset_mask": over})
    assert seen >= 16


def test_infos_as_lists():
    inner = TheGameVectorEnv(2, autoreset_mode=AutoresetMode.SAME_STEP)
    env = DictInfoToList(inner)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    finals = []
    for _ in range(60):
        _, _, _, _, infos = env.step(random_actions(rng, inner.action_masks()))
        finals += [info["final_info"] for info in infos if "final_info" in info]
    assert finals
    assert set(finals[0]) == {"cards_left", "is_success", "termination"}


def test_observation_wrappers():
    env = RescaleObservation(TheGameVectorEnv(2), np.float32(-1.0), np.float32(1.0))
    _, infos = env.reset(seed=0)
    obs = env.step(random_actions(np.random.default_rng(0), infos["action_mask"]))[0]
    assert (obs.min(), obs.max()) == (-1.0, 1.0)


def test_an_illegal_action_changes_no_slot():
    env = TheGameVectorEnv(3, players=2)
    _, infos = env.reset(seed=1)
    actions = random_actions(np.random.default_rng(0), infos["action_mask"])
    actions[2] = env.table.rules.end_turn
    before = env.save()
    with pytest.raises(IllegalAction, match="slot 2: END_TURN: 0 of 2 owed"):
        env.step(actions)
    after = env.save()
    assert np.array_equal(before["games"], after["games"])


def test_an_illegal_action_may_lose_its_game():
    env = TheGameVectorEnv(2, players=2, illegal="lose", autoreset_mode="SameStep")
    env.reset(seed=1)
    _, rewards, over, _, infos = env.step([-5, 10**6])
    assert rewards.tolist() == [0.0, 0.0]
    assert over.all()
    assert infos["final_info"]["termination"].tolist() == ["illegal", "illegal"]
    assert infos["final_info"]["cards_left"].tolist() == [98, 98]


def test_a_finished_slot_needs_a_reset_when_autoreset_is_off():
    env = TheGameVectorEnv(2, illegal="lose", autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=1)
    actions = random_actions(np.random.default_rng(0), infos["action_mask"])
    actions[1] = -1
    env.step(actions)
    with pytest.raises(ResetNeeded, match="slot 1 is over"):
        env.step(actions)


@pytest.mark.parametrize("fresh", [True, False])
def test_arrays_are_reused_only_on_request(fresh):
    env = TheGameVectorEnv(2, copy=fresh)
    first, infos = env.reset(seed=1)
    second = env.step(random_actions(np.random.default_rng(0), infos["action_mask"]))[0]
    assert np.shares_memory(first, second) is not fresh


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_and_snapshots_go_on_alike(copied):
    env = TheGameVectorEnv(4, players=3, observation="relative")
    rng = np.random.default_rng(1)
    _, infos = env.reset(seed=1)
    for _ in range(30):
        _, _, _, _, infos = env.step(random_actions(rng, infos["action_mask"]))
    twin, state = copied(env), env.save()

    def run(env, masks):
        rng, told = np.random.default_rng(2), []
        for _ in range(40):
            told.append(env.step(random_actions(rng, masks)))
            masks = told[-1][4]["action_mask"]
        return told

    first = run(env, env.action_masks())
    second = run(twin, twin.action_masks())
    env.restore(state)
    third = run(env, env.action_masks())
    for a, b, c in zip(first, second, third, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a[:4], b[:4], strict=True))
        assert all(np.array_equal(x, y) for x, y in zip(a[:4], c[:4], strict=True))
    with pytest.raises(ValueError, match="another table"):
        TheGameVectorEnv(4, players=2).restore(state)


def test_renders_one_frame_a_slot():
    env = gymnasium.make_vec("TheGame-v0", num_envs=2, players=2, render_mode="ansi")
    with pytest.raises(ResetNeeded):
        env.render()
    _, infos = env.reset(seed=1)
    assert "last" not in env.render()[0]
    env.step(random_actions(np.random.default_rng(0), infos["action_mask"]))
    frames = env.render()
    assert len(frames) == 2
    assert all("last: " in frame for frame in frames)
