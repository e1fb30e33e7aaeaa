"""The three rewards, by hand and over whole games."""

import random

import numpy as np
import pytest
from strategies import PLAYED, choose

from thegame_env.gym_env import TheGameEnv
from thegame_env.rules import Rules
from thegame_env.stepping import REWARDS

SMALL = Rules("custom", cards=20, hand_sizes=(4, 3), minimum=2, trick=3)


def play(env, rng, skill, **reset):
    """Rewards of one game, and its final info."""
    env.reset(**reset)
    rewards, done, info = [], False, {}
    while not done:
        action = choose(rng, env.game, env.game.legal_actions(), skill)
        _, reward, done, _, info = env.step(action)
        rewards.append(reward)
    return rewards, info


@pytest.mark.parametrize(("rules", "players"), PLAYED)
def test_the_score_return_is_the_official_score(rules, players):
    env = TheGameEnv(players=players, rules=rules)
    rng = random.Random(0)
    for seed in range(3):
        rewards, info = play(env, rng, 0.9, seed=seed)
        assert sum(rewards) * 98 == pytest.approx(98 - info["cards_left"])
        assert all(reward in (0.0, 1 / 98) for reward in rewards)


@pytest.mark.parametrize("reward", list(REWARDS))
def test_every_won_game_is_worth_more_than_any_lost_one(reward):
    env = TheGameEnv(players=2, rules=SMALL, reward=reward)
    rng, won, lost = random.Random(1), [], []
    for seed in range(300):
        rewards, info = play(env, rng, 0.8, seed=seed)
        (won if info["is_success"] else lost).append(sum(rewards))
        assert info["is_success"] == (info["cards_left"] == 0)
    assert min(won) >= 1.0 - 1e-9 > max(lost) + 1e-9
    assert len(won) > 20
    assert len(lost) > 20
    if reward == "win":
        assert set(won) == {1.0}
        assert set(lost) == {0.0}


@pytest.mark.parametrize("reward", ["score", "shaped"])
def test_shaped_and_score_rank_losses_by_cards_left_and_room(reward):
    """The shaped return is the score, plus the room left on the piles minus 1, plus 1 at a win."""
    env = TheGameEnv(players=2, rules=SMALL, reward=reward)
    rng = random.Random(2)
    for seed in range(50):
        rewards, info = play(env, rng, 0.7, seed=seed)
        a, b, c, d = env.game.tops
        room = ((21 - a) + (21 - b) + (c - 2) + (d - 2)) / 80
        score = (20 - info["cards_left"]) / 20
        wanted = score if reward == "score" else score + room - 1 + info["is_success"]
        assert sum(rewards) == pytest.approx(wanted)


def steps(reward, *actions):
    """Rewards of these plays `(card, pile)` from a position with known room."""
    env = TheGameEnv(players=1, reward=reward, illegal="lose")
    seen = ",".join(str(card) for card in range(2, 100) if card not in (43, 51, 55))
    position = f"up=50,53 down=54,100 hand=43,51,55 deck=0 seen={seen}"
    env.reset(seed=1, options={"position": position})
    return [env.step(env.table.rules.action(*action))[1] for action in actions]


@pytest.mark.parametrize(
    ("reward", "wanted"),
    [
        ("score", [1 / 98, 1 / 98, 1 / 98]),
        ("win", [0.0, 0.0, 1.0]),
        # up1 50 -> 51 loses 1 of 4 * 98 places, the trick 53 -> 43 gains 10, 43 -> 55 loses 12.
        ("shaped", [1 / 98 - 1 / 392, 1 / 98 + 10 / 392, 1 / 98 - 12 / 392 + 1]),
    ],
)
def test_a_won_ending_by_hand(reward, wanted):
    assert steps(reward, (51, 0), (43, 1), (55, 1)) == pytest.approx(wanted)


@pytest.mark.parametrize("reward", list(REWARDS))
def test_an_illegal_action_earns_nothing(reward):
    assert steps(reward, (43, 0)) == [0.0]


def test_rewards_are_plain_floats():
    env = TheGameEnv()
    _, info = env.reset(seed=1)
    reward = env.step(int(np.flatnonzero(info["action_mask"])[0]))[1]
    assert type(reward) is float
