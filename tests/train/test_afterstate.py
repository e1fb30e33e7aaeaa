"""The learned afterstate value: symmetries, returns by hand, numpy = torch, a run that resumes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.afterstate_features import MOVED, PILE, SIZE, features_of
from agents.candidates import Candidates, Planner, play_plans
from agents.play_out import play_games
from agents.registry import make_agent
from agents.value_bins import BIN_OF, BINS, LOWEST, utility_of
from agents.value_model import ValueModel
from thegame_env.deal import deal
from thegame_env.engine import Engine, parameters
from thegame_env.layout import STARTER
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table, Talk
from thegame_env.view import View
from train.afterstate import AfterstateConfig, Learner
from train.self_play import Trace
from train.value_net import ValueNet

CONFIGS = Path(__file__).parents[2] / "configs"


def all_features(view: View) -> np.ndarray:
    """The features of all plans of a view, each row once (like piles make like rows)."""
    p, rows = parameters(view.table), view.row()[None]
    plans = Planner(p, most=400, branch=16, reach=98).candidates(rows)
    return np.unique(vectors(rows, plans, p).round(5), axis=0)


def vectors(rows: np.ndarray, plans: Candidates, p: np.ndarray) -> np.ndarray:
    """The feature vectors of all plans."""
    turns = np.repeat(np.arange(len(rows)), np.diff(plans.starts))
    out = np.empty((len(turns), SIZE), np.float32)
    features_of(rows, turns, plans.states, p, out)
    return out


def middle_of(players: int, seed: int) -> View:
    table = Table(players=players)
    game = Game.start(table, deal(table.rules, seed))
    rng = np.random.default_rng(seed)
    for _ in range(9):
        if game.outcome is None:
            game = game.step(int(rng.choice(game.legal_actions())))
    return View.of(game, table)


@pytest.mark.parametrize("seed", range(4))
def test_mirror_and_swapped_piles_are_one_input(seed: int) -> None:
    view = middle_of(3, seed)
    mirror = view.rules.mirror
    a, b, c, d = view.tops
    swapped = replace(view, tops=(b, a, d, c))
    mirrored = replace(
        view,
        tops=(mirror(c), mirror(d), mirror(a), mirror(b)),
        hand=frozenset(map(mirror, view.hand)),
        seen=frozenset(map(mirror, view.seen or ())),
    )
    for other in (swapped, mirrored):
        np.testing.assert_array_equal(all_features(view), all_features(other))


def test_lambda_returns_by_hand() -> None:
    def at(left: int) -> np.ndarray:
        return np.eye(BINS, dtype=np.float32)[BIN_OF[left]]

    trace = Trace()
    for chosen, best, explored in ((9, 9, False), (4, 4, False), (7, 2, True), (1, 1, False)):
        trace.features.append(np.zeros(SIZE, np.float16))
        trace.chosen.append(at(chosen))
        trace.best.append(at(best))
        trace.explored.append(explored)
    _, targets = trace.samples(0, 0.75)
    np.testing.assert_allclose(targets[3], at(0))
    np.testing.assert_allclose(targets[2], 0.25 * at(1) + 0.75 * at(0))
    np.testing.assert_allclose(targets[1], at(2))
    np.testing.assert_allclose(targets[0], 0.25 * at(4) + 0.75 * at(2))


def test_bins_cover_every_score_and_utilities_prefer_fewer_cards() -> None:
    assert BIN_OF[0] == 0
    assert (LOWEST[BIN_OF] <= np.arange(99)).all()
    for name in ("win", "score", "blend"):
        worth = utility_of(name)
        assert (np.diff(worth) <= 0).all()
        assert worth[0] == 1
    with pytest.raises(ValueError, match="unknown utility"):
        utility_of("fun")


def test_numpy_equals_torch() -> None:
    torch.manual_seed(1)
    net = ValueNet()
    model = ValueModel({name: value.numpy() for name, value in net.state_dict().items()})
    features = np.random.default_rng(1).random((10_000, SIZE), np.float32)
    with torch.inference_mode():
        wanted = torch.softmax(net(torch.from_numpy(features)), 1).numpy()
    np.testing.assert_allclose(model.predict(features), wanted, atol=1e-5)


@pytest.mark.parametrize(("memory", "talk"), [(True, "none"), (True, "open"), (False, "none")])
def test_seats_that_hear_or_forget_see_how_far_each_pile_has_moved(
    memory: bool, talk: Talk
) -> None:
    table = Table(players=2, memory=memory, talk=talk)
    engine = Engine(table, 1)
    engine.deal(np.zeros(1, np.uint64))
    rows = engine.views()
    plans = Planner(engine.p).candidates(rows)
    blocks = vectors(rows, plans, engine.p)[:, : 4 * PILE].reshape(-1, 4, PILE)
    moved = sorted(map(tuple, np.round(10 * blocks[:, :, MOVED + 1]).astype(int).tolist()))
    tops = plans.states[:, :4]
    steps = np.where(np.arange(4) < 2, tops - 1, 100 - tops)
    wanted = np.sort(steps, axis=1)
    if memory and talk == "none":
        assert not np.any(moved)
    else:
        assert sorted(map(sorted, moved)) == sorted(wanted.tolist())
        assert np.array_equal(blocks[:, :, MOVED] == 1, blocks[:, :, MOVED + 1] != 0)


@pytest.mark.parametrize(
    "table",
    [
        Table(),
        Table(players=4, memory=False),
        Table(Rules.parse("profi"), 5, memory=False, talk="avoid"),
        Table(Rules.parse("small-hands"), 2, talk="open"),
        Table(Rules.parse("custom/cards:40/hand_sizes:4-4-4-4-4/trick:5"), 3, talk="open"),
    ],
    ids=str,
)
def test_sums_of_weight_rows_equal_the_feature_vectors(table: Table) -> None:
    torch.manual_seed(2)
    model = ValueModel({name: value.numpy() for name, value in ValueNet().state_dict().items()})
    engine, rng = Engine(table, 12), np.random.default_rng(2)
    engine.deal(np.arange(12))
    planner = Planner(engine.p)
    for _ in range(40):
        rows = engine.views()
        plans = planner.candidates(rows)
        wanted = model.predict(vectors(rows, plans, engine.p))
        got = model.predict_plans(rows, plans.starts, plans.states, engine.p)
        np.testing.assert_allclose(got, wanted, atol=1e-6)
        picked = rng.integers(plans.starts[:-1], plans.starts[1:])
        play_plans(engine.games, engine.decks, engine.p, picked, plans.lengths, plans.actions, True)


def test_every_table_of_a_run_is_played_and_learned_from() -> None:
    config = AfterstateConfig(tables={"players": [1, 5], "talk": "open"}, games=8, most=4)
    learner = Learner(config)
    for _ in range(250):
        learner.collect()
    assert all(play.finished for play in learner.plays)
    before = learner.plays[0].value.model
    learner.fresh = 2 * config.batch_size
    learner.learn()
    assert learner.plays[0].value.model is learner.plays[1].value.model is not before


def test_an_agreed_starter_is_trained_and_served(tmp_path: Path) -> None:
    config = AfterstateConfig(players=5, starter="agreed", games=8, most=4)
    learner = Learner(config)
    assert len(set(learner.plays[0].engine.games[:, STARTER])) > 1
    for agent in ("afterstate", "expert:deals=4"):
        left = play_games(make_agent(agent, config.table), config.table, 1, np.arange(1))
        assert left.min() >= 0


def test_a_table_without_weights_says_which_there_are() -> None:
    table = Table(Rules.parse("custom/cards:60"), 4)
    with pytest.raises(ValueError, match=r"no afterstate weights for custom.*afterstate_4p \("):
        make_agent("afterstate", table)
