from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import odd_agents
import pytest

from agents.base import Actions, Agent, Rows, Streams
from agents.registry import make_agent
from eval import asking
from eval.asking import Asker, Fault, NoClock, Questions
from eval.cells import Cell, Chunk
from eval.crossplay import cells_of, seating, team
from eval.match import Care, Mark, play_chunk, table_of
from eval.records import GameRow
from eval.stats import wilson
from thegame_env.deal import deal
from thegame_env.engine import parameters
from thegame_env.layout import VIEW_ROW
from thegame_env.notation import GameRecord
from thegame_env.ranges import RANGES, deal_seed, range_of, training_seed
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table, Termination
from thegame_env.view import View

SEED = deal_seed("development", 3)


def cell_of(agent: str, players: int = 3, rules: str = "official", talk: str = "none") -> Cell:
    return Cell(agent, players, rules, talk, True, "seat0")  # type: ignore[arg-type]


def play(
    agent: str | type[odd_agents.Odd],
    games: int = 40,
    players: int = 3,
    size: int | None = None,
    care: Care | None = None,
    rules: str = "official",
) -> list[GameRow]:
    """Games 0.. of a cell, in chunks of `size`."""
    cell = cell_of(agent if isinstance(agent, str) else "odd", players, rules)
    rows: list[GameRow] = []
    for first in range(0, games, size or games):
        chunk = Chunk(cell, first, min(size or games, games - first))
        rows += play_chunk(chunk, SEED, agents_for(cell, agent), care)[0]
    return rows


def agents_for(cell: Cell, agent: str | type[odd_agents.Odd]) -> list[Agent]:
    table = table_of(cell)
    return [make_agent(n, table) for n in team(cell)] if isinstance(agent, str) else [agent(table)]


# --- games ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["random", "random|greedy", "greedy|random"])
def test_rows_do_not_depend_on_how_games_are_batched(agent: str) -> None:
    whole = play(agent)
    assert play(agent, size=7) == whole
    assert play(agent, size=1) == whole
    assert play(agent, care=Care(singly=True)) == whole
    assert len({tuple(row.actions) for row in whole}) == len(whole)


@pytest.mark.parametrize("rules", ["official", "profi-short", "small-hands", "two-to-the-end"])
@pytest.mark.parametrize("players", [2, 5])
def test_rows_replay_in_the_reference(rules: str, players: int) -> None:
    for agent in ("random", "greedy:extra=4", "greedy|random"):
        for row in play(agent, games=12, players=players, rules=rules):
            table = Table(Rules.parse(rules), players)
            record = GameRecord(table, deal(table.rules, row.seed, row.game), tuple(row.actions))
            positions = list(record.replay())
            last = positions[-1]
            assert last.outcome is not None
            assert last.outcome.won == row.won == (last.outcome.termination is Termination.WON)
            assert last.cards_left == row.cards_left
            assert [sorted(hand) for hand in last.hands] == row.hands
            assert list(last.deck) == row.deck
            assert row.plays == sum(action != table.rules.end_turn for action in row.actions)
            pairs = zip(positions, row.actions, strict=False)
            assert row.tricks == sum(is_trick(game, action) for game, action in pairs)
            assert row.turns == 1 + sum(
                game.plays == 0 and before.cards_left >= game.cards_left
                for before, game in pairwise(positions)
            )


def is_trick(game: Game, action: int) -> bool:
    decoded = game.rules.decode(action)
    if decoded is None:
        return False
    card, pile = decoded
    return (card < game.tops[pile]) == (pile < 2)


def test_in_cross_play_the_seat_of_the_first_goes_round() -> None:
    cell = cell_of("a|b", 3)
    assert team(cell) == ("a", "b")
    assert seating(cell, np.arange(4)).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]]
    assert seating(cell_of("a", 2), np.arange(2)).tolist() == [[0, 0], [0, 0]]


def test_in_cross_play_each_agent_acts_in_its_seat() -> None:
    cell = cell_of("random|greedy", 2)
    greedy, table = make_agent("greedy", table_of(cell)), table_of(cell)
    for row in play("random|greedy", games=6, players=2):
        assert row.seats[row.game % 2] == "random"
        record = GameRecord(table, deal(table.rules, row.seed, row.game), tuple(row.actions))
        ours = []
        for game, action in zip(record.replay(), row.actions, strict=False):
            same = greedy.act(View.of(game, table)) == action
            if row.seats[game.seat] == "greedy":
                assert same
            else:
                ours.append(same)
        assert not all(ours)


def test_cells_of_cross_play() -> None:
    tables = [cell_of("", players).table for players in (1, 2)]
    cells = cells_of(["a", "b"], tables, crossplay=True)
    assert [(c.players, c.agent) for c in cells] == [
        (1, "a"),
        (1, "b"),
        (2, "a"),
        (2, "b"),
        (2, "a|b"),
        (2, "b|a"),
    ]
    with pytest.raises(ValueError, match="two agents"):
        cells_of(["a"], tables, crossplay=True)
    with pytest.raises(ValueError, match="two players"):
        cells_of(["a", "b"], tables[:1], crossplay=True)


def test_every_action_is_timed_once() -> None:
    cell = cell_of("greedy", 4)
    rows, timing = play_chunk(Chunk(cell, 0, 50), SEED, agents_for(cell, "greedy"))
    assert timing.games == 50
    assert timing.decisions == sum(len(row.actions) for row in rows)
    assert timing.decisions == sum(timing.histogram.values())
    assert timing.seconds > 0


# --- deals ---------------------------------------------------------------------------------------


def test_ranges_of_deals_share_no_seed() -> None:
    spans = sorted((seeds.start, seeds.stop) for seeds in RANGES.values())
    assert spans[0][0] == 0
    assert all(stop == start for (_, stop), (start, _) in pairwise(spans))
    assert spans[-1][1] == 2**63
    for name, seeds in RANGES.items():
        size = seeds.stop - seeds.start
        for number in (0, 1, size - 1):
            assert range_of(deal_seed(name, number)) == name
        with pytest.raises(ValueError, match=f"ends at seed {size - 1}, there is no seed"):
            deal_seed(name, size)


def test_training_never_meets_what_agents_are_judged_on() -> None:
    assert {range_of(training_seed(number)) for number in (0, 7, 2**62 - 1)} == {"training"}
    with pytest.raises(ValueError, match="ends at seed"):
        training_seed(2**62)
    with pytest.raises(ValueError, match='unknown range of deals "heldout", did you mean'):
        deal_seed("heldout", 1)


# --- faults --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "ended", "reason"),
    [
        (odd_agents.Crashes, "crash", "odd: KeyError: 'no idea'"),
        (odd_agents.LeavesThePython, "crash", "odd: SystemExit: 3"),
        (odd_agents.IsCancelled, "crash", "odd: CancelledError: no answer from the server"),
        (odd_agents.EndsItsTurn, "illegal", "odd: END_TURN: 0 of 2 owed cards are played"),
        (odd_agents.NamesNoAction, "illegal", "odd: action 100000 does not exist"),
    ],
)
def test_only_games_at_fault_are_ended(
    agent: type[odd_agents.Odd], ended: str, reason: str
) -> None:
    good, odd = play("greedy"), play(agent)
    faulty = [row for row in odd if row.ended == ended]
    assert 5 < len(faulty) < 35
    assert all(row.reason.startswith(reason) and not row.won for row in faulty)
    for ours, theirs in zip(odd, good, strict=True):
        if ours.ended == ended:
            assert ours.actions == theirs.actions[: len(ours.actions)]
            assert ours.cards_left == 98 - ours.plays == len(ours.deck) + sum(map(len, ours.hands))
        else:
            assert ours == replace(theirs, agent="odd", seats=["odd"] * 3)
    assert play(agent, size=1) == odd


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (odd_agents.AnswersTooMuch, r"an answer of shape \(2,\) where \(1,\)"),
        (odd_agents.AnswersFractions, "an answer of type float64 where whole numbers"),
    ],
)
def test_answers_of_another_form_are_illegal(agent: type[odd_agents.Odd], reason: str) -> None:
    rows = play(agent, games=3)
    assert [row.ended for row in rows] == ["illegal"] * 3
    assert all(row.cards_left == 98 and row.actions == [] for row in rows)
    assert all(re.search(reason, row.reason) for row in rows)


def test_a_failed_call_leaves_the_random_streams_as_they_were() -> None:
    alone = play(odd_agents.CrashesInCompany, games=20)  # type: ignore[arg-type]
    for ours, theirs in zip(alone, play("random", games=20), strict=True):
        assert ours == replace(theirs, agent="odd", seats=["odd"] * 3)


def test_an_agent_that_crashes_all_the_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "GIVE_UP", 3)
    monkeypatch.setattr(odd_agents, "is_odd", lambda row: True)
    cell = cell_of("odd")
    agent = odd_agents.Crashes(table_of(cell))
    rows, _ = play_chunk(Chunk(cell, 0, 40), SEED, [agent])
    assert {row.ended for row in rows} == {"crash"}
    reasons = [row.reason for row in rows]
    assert reasons[:3] == ["odd: KeyError: 'no idea'"] * 3
    assert set(reasons[3:]) == {"odd: not asked any more after 3 crashes in this chunk"}
    assert sum(agent.asked) < 40


def test_in_cross_play_the_agent_at_fault_is_named() -> None:
    cell = cell_of("greedy|odd")
    table = table_of(cell)
    agents = [make_agent("greedy", table), odd_agents.Crashes(table)]
    rows, _ = play_chunk(Chunk(cell, 0, 40), SEED, agents)
    faulty = [row for row in rows if row.ended == "crash"]
    assert faulty
    assert {row.reason for row in faulty} == {"odd: KeyError: 'no idea'"}


def test_marked_games_end_where_their_mark_is() -> None:
    fault = Fault("timeout", "odd: no answer")
    good = play("greedy", games=5)
    rows = play("greedy", games=5, care=Care(marks=(Mark(1, 0, fault), Mark(3, 10, fault))))
    assert [row.ended for row in (rows[1], rows[3])] == ["timeout", "timeout"]
    assert (rows[1].actions, rows[3].actions) == ([], good[3].actions[:10])
    assert [rows[k] for k in (0, 2, 4)] == [good[k] for k in (0, 2, 4)]


# --- calls ---------------------------------------------------------------------------------------


class Waits(Agent):
    name = "waits"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.asked: list[int] = []

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        self.asked.append(len(rows))
        time.sleep(self.seconds * len(rows))
        return rows[:, 0].copy()


def questions(count: int) -> Questions:
    rows = np.zeros((count, VIEW_ROW), np.int64)
    rows[:, 0] = np.arange(count)
    return Questions(rows, np.zeros(count, np.uint64), np.arange(count), np.zeros(count, np.int64))


def asked(agent: Waits, count: int, limit: float) -> Sequence[int]:
    asker = Asker(agent, "waits", 0, parameters(Table()), NoClock(), limit)
    answers = asker.answer(questions(count))
    assert answers.actions.tolist() == list(range(count))
    assert not answers.faults
    assert sum(asker.counts) == count
    return agent.asked


def test_calls_grow_while_they_are_quick() -> None:
    assert asked(Waits(0.0), 1008, limit=60) == [16, 32, 64, 128, 256, 512]


def test_calls_of_a_slow_agent_stay_well_below_the_limit() -> None:
    calls = asked(Waits(0.002), 100, limit=0.1)
    assert calls[0] == 16
    assert max(calls[1:]) <= 16
    assert min(calls[:-1]) < 16


# --- statistics ----------------------------------------------------------------------------------

SCALED_DOWN = json.loads((Path(__file__).parents[1] / "data" / "scaled_down.json").read_text())
EXACT = {
    (entry["rules"], entry["players"]): Fraction(entry["win_rate"])
    for entry in SCALED_DOWN
    if Fraction(entry["win_rate"]) not in (0, 1)
}
"""The exact win probability of uniform play over all deals, at tables where it can be counted."""


@pytest.mark.parametrize(("rules", "players"), EXACT)
def test_uniform_play_wins_as_often_as_it_must(rules: str, players: int) -> None:
    rows = play("random", games=20_000, players=players, size=4000, rules=rules)
    low, high = wilson(sum(row.won for row in rows), len(rows))
    assert high - low < 0.01
    assert low <= EXACT[rules, players] <= high
