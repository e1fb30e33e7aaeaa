"""Every bad input: one sentence, the right class, the state unchanged."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from thegame_env import aec_env
from thegame_env.gym_env import TheGameEnv
from thegame_env.rules import IllegalAction, Rules
from thegame_env.sb3_env import TheGameVecEnv
from thegame_env.vector_env import TheGameVectorEnv

DECK = list(range(2, 100))
MAKERS = [TheGameEnv, TheGameVectorEnv, aec_env.env, aec_env.raw_env, TheGameVecEnv]


def assert_one_sentence(error):
    text = str(error)
    assert text
    assert "\n" not in text
    assert "Traceback" not in text


BAD_ARGUMENTS = [
    ({"rules": "offical"}, 'unknown rules "offical", did you mean "official"'),
    ({"rules": 5}, "rules must be a preset name or a Rules value, not 5"),
    ({"rules": "small-hands", "players": 1}, "is played by 2-5 players, not by 1"),
    ({"players": 0}, "is played by 1-5 players, not by 0"),
    ({"players": 6}, "is played by 1-5 players, not by 6"),
    ({"players": 2.0}, "players must be a whole number, not 2.0"),
    ({"players": "2"}, "players must be a whole number, not '2'"),
    ({"players": True}, "players must be a whole number, not True"),
    ({"memory": 1}, "memory must be True or False, not 1"),
    ({"talk": "aviod"}, 'unknown talk "aviod", did you mean "avoid"'),
    ({"talk": None}, 'unknown talk "None"'),
    ({"starter": "seat1"}, 'unknown starter "seat1"'),
    ({"observation": "tabel"}, 'unknown observation "tabel", did you mean "table"'),
    ({"observation": ["table"]}, "unknown observation"),
    ({"reward": "scores"}, 'unknown reward "scores", did you mean "score"'),
    ({"reward": ["score"]}, "unknown reward"),
    ({"illegal": "ignore"}, 'unknown illegal "ignore"'),
    ({"render_mode": "png"}, 'unknown render_mode "png"'),
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("arguments", "sentence"), BAD_ARGUMENTS)
def test_arguments(make, arguments, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the sentence is compared below)
        make(**arguments)
    assert sentence in str(caught.value)
    assert_one_sentence(caught.value)


@pytest.mark.parametrize("make", [gymnasium.make, gymnasium.make_vec])
def test_arguments_through_the_registry(make):
    with pytest.raises(ValueError, match='unknown rules "offical"'):
        make("TheGame-v0", rules="offical")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"seat": 3, "partners": max}, "seat must be 0-2 with 3 players, not 3"),
        ({"seat": "0", "partners": max}, "seat must be 0-2 with 3 players, not '0'"),
        ({"seat": 0}, "seat= needs partners="),
        ({"partners": max}, "partners= needs seat="),
        ({"seat": 0, "partners": [max]}, "1 partners for 2 other seats"),
        ({"seat": 0, "partners": "greedy"}, "a partner needs act.*, got 'greedy'"),
        ({"seat": 0, "partners": 5}, r"a partner needs act\(observation, legal_action_mask\), got"),
    ],
)
def test_seat_and_partners(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        TheGameEnv(players=3, **arguments)


@pytest.mark.parametrize("make", [TheGameVectorEnv, TheGameVecEnv])
@pytest.mark.parametrize("num_envs", [0, -1, 2.0, "2", True])
def test_number_of_games(make, num_envs):
    with pytest.raises(ValueError, match="num_envs must be a whole number from 1 up"):
        make(num_envs)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"cards": 0}, "cards must be between 1 and 98, not 0"),
        ({"hand_sizes": (50, 50)}, "hands of 50 for 2 players do not fit into 98 cards"),
        ({"minimum": 0}, "minimum and minimum_empty must lie between 1 and the cards"),
        ({"stuck": "never"}, 'stuck must be "acting" or "nobody"'),
    ],
)
def test_rules(rules, sentence):
    with pytest.raises(ValueError, match=sentence):
        Rules("custom", **rules)


BAD_OPTIONS = [
    (5, "reset options must be a dict, not 5"),
    ({"decks": DECK}, 'unknown reset option "decks", did you mean "deck"'),
    ({"deck": DECK, "position": "hand=5"}, 'give either "deck" or "position"'),
    ({"deck": DECK[1:]}, "the deck lacks card 2"),
    ({"deck": [*DECK[:-1], 5]}, "the deck holds card 5 twice"),
    ({"deck": [*DECK, 100]}, "the deck holds 100, cards are 2-99"),
    ({"deck": 7}, "a deck must be a sequence of whole numbers"),
    ({"deck": [str(card) for card in DECK]}, "a deck must be a sequence of whole numbers"),
    ({"position": 7}, "a position must be text, not int"),
    ({"position": "hand=5,5 others=1"}, "hand: card 5 stands there twice"),
    ({"position": "hand=5"}, "the position is for 1 players of official"),
    ({"position": "hand=5 others=1 rules=profi"}, "the position is for 2 players of profi"),
    (
        {"position": "up=98,99 down=3,2 hand=50 others=1 deck=0"},
        r"the position is over \(stuck\)",
    ),
]


@pytest.mark.parametrize("make", [TheGameEnv, TheGameVectorEnv, aec_env.env])
@pytest.mark.parametrize(("options", "sentence"), BAD_OPTIONS)
def test_reset_options(make, options, sentence):
    env = make(players=2)
    env.reset(seed=3)
    before = state(env)
    with pytest.raises(ValueError, match=sentence) as caught:
        env.reset(seed=4, options=options)
    assert_one_sentence(caught.value)
    assert state(env) == before


def state(env):
    """The whole position, hands open, of slot 0, and the deals that come next."""
    inner = env.unwrapped
    engine = inner.engine if hasattr(inner, "engine") else inner._one.engine
    return engine.game(0), engine.games.tolist()


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_seeds(seed):
    for make in (TheGameEnv, TheGameVectorEnv, aec_env.env):
        env = make(players=2)
        env.reset(seed=3)
        before = state(env)
        with pytest.raises((ValueError, TypeError, gymnasium.error.Error)) as caught:
            env.reset(seed=seed)
        assert_one_sentence(caught.value)
        assert state(env) == before


@pytest.mark.parametrize(
    ("mask", "sentence"),
    [
        ([True], r"reset_mask must be bool\[2\] with at least one True"),
        ([0, 1], r"reset_mask must be bool\[2\]"),
        ([False, False], r"reset_mask must be bool\[2\]"),
    ],
)
def test_reset_masks(mask, sentence):
    env = TheGameVectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=sentence):
        env.reset(options={"reset_mask": np.array(mask)})


def test_the_first_reset_deals_all():
    with pytest.raises(ValueError, match="the first reset"):
        TheGameVectorEnv(2).reset(options={"reset_mask": np.array([True, False])})


def test_seed_lists_have_one_for_each():
    with pytest.raises(ValueError, match="3 seeds for 2 environments"):
        TheGameVectorEnv(2).reset(seed=[1, 2, 3])


BAD_ACTIONS = [
    (392, "END_TURN: 0 of 2 owed cards are played"),
    (393, "action 393 does not exist, actions are 0-392"),
    (-1, "action -1 does not exist"),
    (10**30, "does not exist, actions are 0-392"),
    (97, "card 99 is not in the hand of seat 0"),
    ("5", "an action is a whole number, not '5'"),
    (3.0, r"an action is a whole number, not 3\.0"),
    (None, "an action is a whole number, not None"),
    (np.array([3, 4]), "an action is a whole number"),
]


@pytest.mark.parametrize("make", [TheGameEnv, aec_env.env])
@pytest.mark.parametrize(("action", "sentence"), BAD_ACTIONS)
def test_actions(make, action, sentence):
    env = make(players=2)
    env.reset(seed=3, options={"deck": DECK})
    before = state(env)
    with pytest.raises(IllegalAction, match=sentence) as caught:
        env.step(action)
    assert_one_sentence(caught.value)
    assert state(env) == before


@pytest.mark.parametrize("make", [TheGameEnv, TheGameVectorEnv, TheGameVecEnv])
def test_states_to_restore(make):
    env = make(players=2)
    fresh = env.save()
    env.reset()
    whole, before = env.save(), env.save()
    cases = [(state, "what save() of such an environment returned") for state in (None, 5, {})]
    cases += [
        ({key: whole[key] for key in whole if key != name}, "what save() of such an environment")
        for name in whole
    ]
    cases.append((fresh, "the saved state was taken before the first game"))
    for state, sentence in cases:
        with pytest.raises(ValueError, match=re.escape(sentence)):
            env.restore(state)
    after = env.save()
    assert all(np.array_equal(before[key], after[key]) for key in before)


@pytest.mark.parametrize("make", MAKERS)
def test_numpy_integers_are_whole_numbers(make):
    assert make(players=np.int64(2)).unwrapped.table == make(players=2).unwrapped.table
    assert TheGameEnv(2, seat=np.int64(1), partners=max).seat == 1
    assert TheGameVectorEnv(np.int32(3)).num_envs == 3


def test_a_card_that_does_not_fit_names_the_pile():
    env = TheGameEnv(players=1)
    position = "up=50,1 down=100,100 hand=41,30,60 deck=0"
    env.reset(seed=1, options={"position": position})
    sentence = r"card 41 cannot lie on up1 \(top 50\): it must be higher, or the trick 50 - 10"
    with pytest.raises(IllegalAction, match=sentence):
        env.step(env.table.rules.action(41, 0))


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ([0, 392], "slot 1: END_TURN: 0 of 2 owed cards are played"),
        ([0, 97], "slot 1: card 99 is not in the hand of seat 0"),
        ([0, 400], "slot 1: action 400 does not exist"),
        ([0], r"actions must have shape \(2,\), not \(1,\)"),
        ([0.0, 1.0], "actions must be whole numbers, not float64"),
        (["0", "1"], "actions must be whole numbers"),
    ],
)
def test_actions_of_a_batch(actions, sentence):
    env = TheGameVectorEnv(2, players=2)
    env.reset(options={"deck": DECK})
    before = state(env)
    with pytest.raises(IllegalAction, match=sentence) as caught:
        env.step(actions)
    assert_one_sentence(caught.value)
    assert state(env) == before


def test_a_finished_game_is_left_as_it_is():
    env = TheGameEnv(players=1)
    seen = ",".join(map(str, range(2, 99)))
    env.reset(options={"position": f"hand=99 up=98,1 seen={seen}"})
    _, reward, done, _, info = env.step(env.table.rules.action(99, 0))
    assert (reward, done, info["is_success"]) == (1 / 98, True, True)
    before = state(env)
    with pytest.raises(ResetNeeded, match="the game is over or not dealt yet: call reset"):
        env.step(0)
    assert state(env) == before


@pytest.mark.parametrize("make", [TheGameEnv, TheGameVectorEnv, aec_env.raw_env])
def test_a_game_must_be_dealt_first(make):
    env = make(players=2, render_mode="ansi")
    with pytest.raises(ResetNeeded):
        env.step([0] if make is TheGameVectorEnv else 0)
    with pytest.raises(ResetNeeded):
        env.render()


@pytest.mark.parametrize("make", [TheGameEnv, TheGameVectorEnv, aec_env.env])
def test_render_without_a_mode_warns(make):
    env = make(players=2)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert env.render() is None
