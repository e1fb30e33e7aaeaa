"""`expert`: searches its turn; the plans of highest learned value are judged by looking ahead.

The best plans by value are judged over many dealings of what the seat cannot see, the same for all
of them; after each round the worse half is dropped (sequential halving, Karnin, Koren and Somekh
2013) until two are left, or one is so clearly best that nothing is to be gained any more. With a
time, solo, what is left of it goes into a second look at the plans that may still be best, a turn
further. Where every card is known it searches exactly. The budget is processor time a decision
(`expert:100ms`) or a number of dealings (`expert:deals=200`); with dealings the same seed plays the
same game anywhere. It knows its own hand, the tops, the sizes, what it remembers and what the table
says.

At a silent table one search decides the whole turn; where the table talks, every card is a new one.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.afterstate import KIND, check_whole, trained_utility
from agents.afterstate_features import VERSION
from agents.base import Actions, Agent, Rows, Streams
from agents.candidates import OPEN
from agents.endgame import WON_BY_LINE, Endgame, is_known
from agents.look_ahead import LookAhead, deal_games
from agents.race import Judged, Race
from agents.rollout import place
from agents.second_look import DEEP, SHALLOW, SecondLook
from agents.turn_value import TurnValue
from agents.unseen_deals import new_pool
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_for
from thegame_env.engine import parameters
from thegame_env.layout import GAME_ROW, P_CARDS, P_TALK, TALK_NONE, V_HAND
from thegame_env.rules import MAX_CARDS, N_PILES, Table

PLANS, ROOT_PLANS = 10, 40
"""Plans judged at most, unless it is told; and plans of a turn that they are chosen from."""
MOST_DEALS = 10_000
"""Dealings of a decision at most: those of a round lie in memory at once, for all its plans."""
AHEAD, AHEAD_BRANCH, AHEAD_REACH = 6, 4, 10
"""Plans valued a turn while looking ahead, plays tried at each afterstate and the largest gap
beyond the minimum. Against 8, 6 and 15 a dealing takes half the time, and what is lost against a
reference of 1,500 dealings is the same (0.0005 of utility a decision, solo, 64 dealings; the value
alone loses 0.0055)."""
TURNS = 0
SOLO_PRIOR, TEAM_PRIOR = 0.0, 64.0
"""Dealings that a plan's own value counts for beside the ones looked at. With partners, whose hands
are dealt uniformly though what they did not play tells of them, a short look misleads without it:
three players lost 0.8 % of their games a decision with 24 dealings and no prior, on development
deals, and nothing that could be measured with it."""
LEAST, BLOCK, SECOND_BLOCK = 4, 1024, 128
"""Dealings judged at once at least; dealings times plans at most, by one look and by two."""
NEGLIGIBLE = 1e-5
"""A search ends before its budget once it can gain less utility than NEGLIGIBLE over its seconds
(1e-4 for 0.1 s), or than 0.0064 over its dealings; asked after race.FIRST_LOOK dealings. For 0.1 s
solo, that halves the mean time of a decision, and what is lost against the reference stays the
same."""
SECOND_FROM, SECOND_SHARE = 0.03, 0.75
"""Seconds that one look may use alone, and share of more than these that the second look may."""
SECOND_PLANS, SECOND_OF = 4, 4
"""Plans that two looks judge at most; dealings of a budget in dealings to one that they get."""
REPLIES, REPLY_DEALS, REPLY_PRIOR = 3, 8, 4.0
"""Replies that the second look judges behind every dealing, dealings for each of them, and how many
more of these the value of a reply counts for."""
Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Budget:
    """What a decision may cost: seconds of processor time, or dealings for the last plans."""

    seconds: float | None
    deals: int | None

    @staticmethod
    def of(time_text: str | None, deals: int | None) -> Budget:
        """From "100ms" or "1s", or a number of dealings; ValueError on anything else."""
        if (time_text is None) == (deals is None):
            raise ValueError(
                "expert takes a time (expert:100ms, expert:1s) or deals=N, one of both"
            )
        if deals is not None:
            check_whole("expert", "deals", deals, 4, MOST_DEALS)
            return Budget(None, deals)
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(ms|s)", str(time_text))
        if match is None or float(match[1]) == 0:
            raise ValueError(f'expert: a time is given as 100ms or 1s, not "{time_text}"')
        return Budget(float(match[1]) * (0.001 if match[2] == "ms" else 1.0), None)

    @property
    def negligible(self) -> float:
        """Utility that is not worth searching for."""
        return NEGLIGIBLE / self.seconds if self.seconds else 0.0064 / (self.deals or 1)

    @property
    def first_seconds(self) -> float:
        """Seconds for the first look where a second one may follow."""
        seconds = self.seconds or 0.0
        return min(seconds, max(SECOND_FROM, (1.0 - SECOND_SHARE) * seconds))


def own_part(line: list[int], end: int, held: int) -> list[int]:
    """The acting seat's part of a line of play: up to END_TURN or the last of its `held` cards."""
    return line[: line.index(end) + 1] if end in line[:held] else line[:held]


class Pace:
    """How many dealings fit into a time, from what the last ones took.

    Args:
        rate: Seconds that a dealing takes for one plan, as long as nothing is known.
        positions: Dealings times plans in a block at most.
    """

    def __init__(self, rate: float, positions: int) -> None:
        self._rate, self._positions = rate, positions

    def affordable(self, until: float, plans: int) -> int:
        """Dealings for so many plans that end before the processor time is `until`."""
        left = until - time.process_time()
        return min(int(left / (self._rate * plans)), max(self._positions // plans, LEAST))

    def took(self, seconds: float, positions: int) -> None:
        """So long took so many dealings times plans."""
        self._rate += 0.2 * (seconds / positions - self._rate)


class Searcher:
    """Searches turns of one table.

    Args:
        table: What is played.
        model: The learned value.
        utility: "win", "score" or "blend".
        plans: Plans judged at most.
        turns: Turns looked ahead; see LookAhead.
        ahead: Plans valued a turn while looking ahead.
        looks: 2 for a second look at the best plans where the budget allows one.
    """

    def __init__(
        self,
        table: Table,
        model: ValueModel,
        utility: str,
        plans: int,
        turns: int,
        ahead: int,
        looks: int = 1,
    ) -> None:
        self.p, worth = parameters(table), utility_of(utility)
        self.plans, self.looks = plans, looks
        self.prior = SOLO_PRIOR if table.players == 1 else TEAM_PRIOR
        self.root = TurnValue(self.p, model, worth, ROOT_PLANS)
        reply = TurnValue(self.p, model, worth, ahead, AHEAD_BRANCH, AHEAD_REACH)
        self.ahead = LookAhead(reply, turns)
        self.second = SecondLook(reply, REPLIES, REPLY_DEALS, REPLY_PRIOR)
        self._endgame, self._pool = Endgame(), new_pool()
        self._pace, self._second_pace = Pace(1e-4, BLOCK), Pace(1e-3, SECOND_BLOCK)

    def search(self, row: Int64, budget: Budget, state: np.uint64) -> tuple[Judged, np.uint64]:
        """The plans of a turn, judged; and the next stream state."""
        known = self._line(row) if is_known(row, self.p) else None
        if known is not None:
            return Judged([known], [np.zeros((0, 3))], [1.0]), state
        choice = self.root.choose(row[None])
        plans, order = choice.plans, np.argsort(-choice.utility, kind="stable")[: self.plans]
        actions = [plans.actions[i, : plans.lengths[i]].tolist() for i in order]
        if len(order) == 1 or plans.kinds[order[0]] != OPEN:
            best = float(choice.utility[order[0]])
            return Judged(actions[:1], [np.zeros((0, 3))], [best]), state
        order = order[plans.kinds[order] == OPEN]
        states, values = plans.states[order].copy(), choice.utility[order].astype(np.float64)
        race = Race(values, self.prior, SECOND_PLANS if self.looks == 2 else 2)
        began = time.process_time()
        state = self._look(row, states, race, budget, began, state)
        if self.looks == 2:
            state = self._look_again(row, states, race, budget, began, state)
        return race.judged(actions), state

    def _line(self, row: Int64) -> list[int] | None:
        """The seat's actions that win the game for certain, if there are such; else None."""
        game = np.zeros((1, GAME_ROW), np.int64)
        deck = np.zeros((1, int(self.p[P_CARDS])), np.int8)
        deal_games(row, self.p, self._pool, np.uint64(1), game, deck)
        verdict, line = self._endgame.solve(game[0], deck[0], self.p)
        if verdict != WON_BY_LINE:
            return None
        held = sum(int(word).bit_count() for word in row[V_HAND : V_HAND + 2])
        return own_part(line, int(N_PILES * self.p[P_CARDS]), held)

    def _look(
        self,
        row: Int64,
        states: Int64,
        race: Race,
        budget: Budget,
        began: float,
        state: np.uint64,
    ) -> np.uint64:
        """One look: sequential halving over the plans, which come in the order of their value."""
        rounds = max(int(np.ceil(np.log2(len(states)))), 1)
        seconds = (budget.first_seconds if self.looks == 2 else budget.seconds) or 0.0
        for round_ in range(rounds):
            if round_ > 0:
                race.halve()
            until = began + seconds * (round_ + 1) / rounds
            deals = self._pace.affordable(until, len(race.left))
            if budget.deals is not None:
                share = [budget.deals * r // rounds for r in (round_, round_ + 1)]
                deals = share[1] - share[0]
            deals = max(deals, LEAST)
            while deals >= LEAST:
                state = self._judge_once(row, states, race, deals, state)
                if race.regret() < budget.negligible:
                    return state
                timed = budget.deals is None
                deals = self._pace.affordable(until, len(race.left)) if timed else 0
        return state

    def _look_again(
        self,
        row: Int64,
        states: Int64,
        race: Race,
        budget: Budget,
        began: float,
        state: np.uint64,
    ) -> np.uint64:
        """A second look at the plans that may still be best, in the rest of the budget.

        While most of what is at stake is due to the error of the first look, that goes on.
        """
        race.drop(budget.negligible, SECOND_PLANS)
        until, plans = began + (budget.seconds or 0.0), len(race.left)
        if budget.deals is not None and plans > 1:
            total, block = budget.deals // SECOND_OF, SECOND_BLOCK // plans
            for start in range(0, total, block):
                deals = min(block, total - start)
                state = self._judge_twice(row, states, race, deals, state)
        if budget.deals is not None:
            return state
        while (regret := race.regret(corrected=True)) >= budget.negligible:
            once = race.regret() > regret / 2
            deals = (self._pace if once else self._second_pace).affordable(until, plans)
            if deals < LEAST:
                break
            judge = self._judge_once if once else self._judge_twice
            state = judge(row, states, race, deals, state)
        return state

    def _judge_once(
        self, row: Int64, states: Int64, race: Race, deals: int, state: np.uint64
    ) -> np.uint64:
        """So many dealings of the plans that are left, by one look."""
        began = time.process_time()
        outcomes, state = self.ahead.judge(row, states[race.left], deals, state)
        self._pace.took(time.process_time() - began, deals * len(race.left))
        race.add(outcomes)
        return state

    def _judge_twice(
        self, row: Int64, states: Int64, race: Race, deals: int, state: np.uint64
    ) -> np.uint64:
        """The same by two."""
        began = time.process_time()
        outcomes, state = self.second.judge(row, states[race.left], deals, state)
        self._second_pace.took(time.process_time() - began, deals * len(race.left))
        race.correct(outcomes[..., DEEP] - outcomes[..., SHALLOW])
        return state


class ExpertAgent(Agent):
    """See the module; keeps the plan of a turn under way, by the game's stream and position.

    Args:
        name: Its specification.
        searcher: What judges its turns.
        budget: What a decision may cost.
        weights_hash: Of the file that the value was read from.
    """

    def __init__(
        self, name: str, searcher: Searcher, budget: Budget, weights_hash: str = ""
    ) -> None:
        self.name, self.searcher, self.budget = name, searcher, budget
        self.weights_hash = weights_hash
        self._planned: dict[bytes, list[int]] = {}

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows."""
        actions = np.empty(len(rows), np.int64)
        for i, row in enumerate(rows):
            rest = self._planned.pop(place(row, streams[i]), None)
            if rest is None:
                judged, streams[i] = self.searcher.search(row, self.budget, streams[i])
                rest = judged.actions[0]
            actions[i] = rest[0]
            if len(rest) > 1 and p[P_TALK] == TALK_NONE:
                self._planned[place(row, streams[i], rest[0], int(p[P_CARDS]))] = rest[1:]
        return actions


def make(
    table: Table,
    budget: str | None = None,
    *,
    deals: int | None = None,
    weights: str | None = None,
    utility: str | None = None,
    plans: int = PLANS,
    turns: int | None = None,
    looks: int | None = None,
) -> Agent:
    """The agent `expert:TIME` or `expert:deals=N`.

    Args:
        table: What is played; without `weights` it chooses among the shipped ones.
        budget: Processor time a decision, such as "100ms" or "1s".
        deals: Dealings that the plans which last are judged on, in place of a time.
        weights: Name of shipped weights of the kind "afterstate", or the path of a weights file.
        utility: "win", "score" or "blend" (see value_bins.utility_of); None: as they were trained.
        plans: Plans judged at most.
        turns: Turns looked ahead; TURNS unless it is told.
        looks: 2 for a second look at the plans that may still be best; 2 with a time solo, else 1,
            unless it is told.

    Raises:
        ValueError: There are no such weights, they are damaged, or of another table; or a parameter
            is out of its range.
    """
    spent = Budget.of(budget, deals)
    ahead = TURNS if turns is None else turns
    check_whole("expert", "plans", plans, 2, ROOT_PLANS)
    check_whole("expert", "turns", ahead, 0, MAX_CARDS)
    own_looks = 2 if table.players == 1 and spent.seconds and ahead == 0 else 1
    check_whole("expert", "looks", own_looks if looks is None else looks, 1, 2)
    if looks == 2 and ahead > 0:
        raise ValueError(f"expert: looks=2 goes with turns=0, not with turns={ahead}")
    found = load_for(KIND, VERSION, weights, table)
    own = trained_utility(found.metadata)
    aim = own if utility is None else utility
    searcher = Searcher(
        table, ValueModel(found.arrays), aim, plans, ahead, AHEAD, looks or own_looks
    )
    given = [budget] if budget else [f"deals={deals}"]
    given += [f"weights={weights}"] * (weights is not None)
    given += [f"utility={aim}"] * (aim != own) + [f"plans={plans}"] * (plans != PLANS)
    given += [f"turns={turns}"] * (turns is not None)
    given += [f"looks={looks}"] * (looks is not None)
    return ExpertAgent("expert:" + ",".join(given), searcher, spent, found.hash)
