"""Looking ahead and the expert: the same positions as real play, exact endgames, budgets."""

from __future__ import annotations

import time

import numpy as np
import pytest

from agents.afterstate_features import VERSION
from agents.base import Agent
from agents.endgame import LOST, WON_BY_LINE, Endgame, is_known
from agents.expert import SECOND_BLOCK, Budget, ExpertAgent, Int64, Searcher
from agents.look_ahead import CARDS_LEFT, UTILITY, WINS, LookAhead, leave
from agents.play_out import play_games
from agents.registry import make_agent
from agents.turn_value import TurnValue
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import SHIPPED, load_weights
from thegame_env.engine import Engine, parameters, view_into
from thegame_env.layout import PLAYING, SEAT, STATUS, VIEW_ROW
from thegame_env.notation import parse_position
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table
from thegame_env.view import View

SMALL = Rules.parse("custom/cards:16/hand_sizes:5-4-3-3-3/trick:3")


def shipped_value(table: Table, most: int = 12) -> TurnValue:
    weights, _ = load_weights(SHIPPED / f"afterstate_{table.players}p", "afterstate", VERSION)
    return TurnValue(parameters(table), ValueModel(weights), utility_of("blend"), most)


@pytest.mark.parametrize("players", [1, 5])
def test_leaving_into_an_afterstate_is_playing_its_plan(players: int) -> None:
    table, rng = Table(players=players), np.random.default_rng(players)
    value, engine = shipped_value(table), Engine(table, 1)
    engine.deal(3)
    for _ in range(25):
        if engine.games[0, STATUS] != PLAYING:
            break
        plans = value.choose(engine.views()).plans
        plan = int(rng.integers(plans.starts[1]))
        if plans.kinds[plan] != 0:
            break
        game, deck = engine.games[0].copy(), engine.decks[0].copy()
        leave(game, deck, engine.p, plans.states[plan])
        for action in plans.actions[plan, : plans.lengths[plan]].tolist():
            engine.step([action])
        seen = np.zeros(VIEW_ROW, np.int64)
        view_into(game, engine.p, game[SEAT], seen)
        np.testing.assert_array_equal(seen, engine.views()[0])


def test_the_value_of_a_plan_is_about_the_mean_of_what_follows() -> None:
    table = Table(players=1)
    value, engine = shipped_value(table), Engine(table, 40)
    engine.deal(np.arange(40))
    ahead, state, gaps = LookAhead(shipped_value(table), 0), np.uint64(5), []
    for row in engine.views():
        choice = value.choose(row[None])
        worth = float(choice.utility[choice.best[0]])
        states = choice.plans.states[choice.best]
        outcomes, state = ahead.judge(row, states.copy(), 64, state)
        assert outcomes.shape == (1, 64, 3)
        assert (outcomes[..., WINS] <= outcomes[..., UTILITY]).all()
        assert (outcomes[..., CARDS_LEFT] >= 0).all()
        gaps.append(float(outcomes[..., UTILITY].mean()) - worth)
    assert abs(np.mean(gaps)) < 0.02


def winnable(game: Game) -> bool:
    """By the readable game: whether some line lays every card."""
    if game.outcome is not None:
        return game.cards_left == 0
    return any(winnable(game.step(action)) for action in game.legal_actions())


@pytest.mark.parametrize("players", [1, 2])
def test_endgames_are_solved_exactly(players: int) -> None:
    table, solver, rng = Table(SMALL, players), Endgame(), np.random.default_rng(8)
    engine, found = Engine(table, 1), {WON_BY_LINE: 0, LOST: 0}
    for seed in range(150):
        engine.deal(seed)
        game = engine.game(0)
        while game.outcome is None and game.deck:
            game = game.step(int(rng.choice(game.legal_actions())))
        if game.outcome is not None:
            continue
        engine.put(0, game)
        verdict, line = solver.solve(engine.games[0], engine.decks[0], engine.p)
        assert verdict == (WON_BY_LINE if winnable(game) else LOST)
        found[verdict] += 1
        for action in line:
            game = game.step(action)
        assert not line or game.cards_left == 0
    assert min(found.values()) >= 3


LAST = "up=90,95 down=10,5 hand=96,86"
SEEN = "seen=" + ",".join(str(card) for card in range(2, 100) if card not in (96, 86, 98, 99))


@pytest.mark.parametrize(
    ("position", "known"),
    [
        (f"{LAST} deck=0", True),
        (f"{LAST} others=2 deck=0 {SEEN}", True),
        (f"{LAST} others=2 deck=0", False),
        (f"{LAST} others=1,1 deck=0 {SEEN}", False),
        (f"{LAST} others=1 deck=1 {SEEN}", False),
    ],
)
def test_what_is_known(position: str, known: bool) -> None:
    view = parse_position(position)
    assert is_known(view.row(), parameters(view.table)) == known


def test_the_winning_line_is_played() -> None:
    """Only 96 then 86 by the trick wins (the small case of the rules)."""
    view = parse_position(f"{LAST} deck=0 {SEEN},98,99")
    agent = make_agent("expert:deals=8", view.table)
    plays = [view.rules.decode(action) for action in agent.plan(view)]
    assert plays in ([(96, 0), (86, 0)], [(96, 1), (86, 1)])


@pytest.mark.parametrize("players", [1, 5])
def test_the_same_seed_plays_the_same_game_and_whole_games_end(players: int) -> None:
    table = Table(players=players)

    def play(agent: Agent) -> list[int]:
        return play_games(agent, table, 4, np.arange(2)).tolist()

    first = play(make_agent("expert:deals=8,plans=3", table))
    assert first == play(make_agent("expert:deals=8,plans=3", table))
    assert all(0 <= left < 98 for left in first)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("expert", "or deals=N, one of both"),
        ("expert:100ms,deals=8", "or deals=N, one of both"),
        ("expert:fast", "100ms or 1s"),
        ("expert:0ms", "100ms or 1s"),
        ("expert:deals=2", "from 4 to 10000"),
        ("expert:100ms,plans=1", "plans must be a whole number from 2 to 40"),
        ("expert:deals=100000000000", "from 4 to 10000"),
        ("expert:100ms,plans=41", "plans must be a whole number from 2 to 40"),
        ("expert:100ms,looks=3", "looks must be a whole number from 1 to 2"),
        ("expert:100ms,looks=2,turns=1", "looks=2 goes with turns=0, not with turns=1"),
        ("expert:100ms,turns=99", "turns must be a whole number from 0 to 98"),
        ("expert:100ms,weights=nowhere", "nowhere"),
    ],
)
def test_bad_parameters_get_a_sentence(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, Table(players=1))


def test_budgets() -> None:
    assert Budget.of("100ms", None) == Budget(0.1, None)
    assert Budget.of("1.5s", None) == Budget(1.5, None)
    assert Budget.of(None, 64) == Budget(None, 64)


def test_a_winning_line_ends_with_the_own_turn() -> None:
    """The last card of the hand ends the turn; what the partner lays then is not part of it."""
    seen = ",".join(str(card) for card in range(2, 100) if card not in (96, 98, 99))
    view = parse_position(f"up=90,95 down=10,5 hand=96 others=2 deck=0 seen={seen}")
    searcher = Searcher(view.table, shipped_value(view.table).model, "blend", 10, 0, 6)
    judged, _ = searcher.search(view.row(), Budget(None, 8), np.uint64(1))
    assert len(judged.actions) == len(judged.actions[0]) == 1
    assert view.rules.decode(judged.actions[0][0])[0] == 96


def test_a_clear_choice_ends_before_its_budget() -> None:
    """Two tricks at hand, the rest at the far ends: no second is needed to tell."""
    seen = [*range(20, 31), *range(41, 50), *range(51, 76)]
    position = f"up=60,75 down=30,20 hand=2,3,4,40,50,95,96,97 deck={90 - len(seen)} seen="
    view = parse_position(position + ",".join(map(str, seen)))
    agent, began = make_agent("expert:10s", view.table), time.process_time()
    assert view.rules.decode(agent.act(view)) == (40, 2)
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize(
    ("players", "spec", "looks"),
    [
        (1, "expert:100ms", 2),
        (3, "expert:100ms", 1),
        (1, "expert:deals=8", 1),
        (1, "expert:100ms,turns=1", 1),
        (1, "expert:100ms,looks=1", 1),
        (3, "expert:deals=8,looks=2", 2),
    ],
)
def test_who_looks_twice(players: int, spec: str, looks: int) -> None:
    agent = make_agent(spec, Table(players=players))
    assert isinstance(agent, ExpertAgent)
    assert agent.name == spec
    assert agent.searcher.looks == looks


@pytest.mark.parametrize(
    ("budget", "first"), [(0.01, 0.01), (0.03, 0.03), (0.04, 0.03), (0.1, 0.03), (1.0, 0.25)]
)
def test_seconds_of_the_first_look(budget: float, first: float) -> None:
    assert Budget(budget, None).first_seconds == first


@pytest.mark.parametrize("players", [1, 3])
def test_a_second_look_plays_the_same_game_for_a_seed(players: int) -> None:
    table = Table(players=players)

    def play(spec: str) -> list[int]:
        return play_games(make_agent(spec, table), table, 4, np.arange(2)).tolist()

    assert play("expert:deals=16,looks=2") == play("expert:deals=16,looks=2")


def tie() -> View:
    """Several ways to use two tricks, nearly equal: a search takes all that it gets."""
    seen = [card for card in range(38, 64) if card not in (49, 50)]
    position = f"up=60,61 down=40,39 hand=3,9,15,49,50,88,92,95 deck={90 - len(seen)} seen="
    return parse_position(position + ",".join(map(str, seen)))


@pytest.mark.parametrize("deals", [4, 16, 203])
def test_a_second_look_gets_a_quarter_of_the_dealings(
    deals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks that fit into memory, whatever the budget."""
    view = parse_position(
        "up=20,14 down=77,90 hand=12,19,30,52,67,78,80,88 deck=86 seen=14,20,77,90"
    )
    agent, asked = make_agent(f"expert:deals={deals},looks=2", view.table), []
    assert isinstance(agent, ExpertAgent)
    judge = agent.searcher.second.judge

    def judged(row: Int64, states: Int64, deals: int, state: np.uint64) -> tuple[Int64, np.uint64]:
        asked.append(deals)
        assert len(states) * deals <= SECOND_BLOCK
        return judge(row, states, deals, state)

    monkeypatch.setattr(agent.searcher.second, "judge", judged)
    monkeypatch.setattr(Budget, "negligible", 0.0)
    agent.act(view)
    assert sum(asked) == deals // 4


def test_a_second_look_keeps_to_its_time() -> None:
    view = tie()
    agent = make_agent("expert:300ms", view.table)
    agent.act(view)  # loads compiled code
    began = time.process_time()
    agent.act(view, seed=1)
    assert time.process_time() - began < 0.6
