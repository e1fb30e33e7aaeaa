"""Who is imitated: the learned value of a table, or the search over it, asked for first actions.

A position's plans become its first actions, each worth what the best plan that begins with it is
worth. The order of plays on different piles makes no difference, so a plan may begin with its first
play on any of its piles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.afterstate import KIND, trained_utility
from agents.afterstate_features import VERSION
from agents.expert import ExpertAgent
from agents.registry import make_agent
from agents.turn_value import LATE, TurnValue
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_for
from thegame_env.compiled import kernel
from thegame_env.engine import parameters
from thegame_env.layout import P_CARDS
from thegame_env.rules import N_PILES, Table

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

ACTIONS = 16
"""First actions kept of a position's plans."""
NEVER = np.float32(-1e9)
"""Worth of a place without an action."""


@kernel
def first_actions(starts: Any, plans: Any, lengths: Any, utility: Any, cards: int, actions: Any,
                  worth: Any) -> None:  # fmt: skip
    """The actions that the plans of every turn can begin with, and the highest utility behind each.

    A plan can begin with its first play on any pile; with END_TURN if it lays nothing.

    Args:
        starts: int64[n + 1]; the plans of turn i are starts[i]..starts[i + 1].
        plans: int64[total, hand + 1], their actions.
        lengths: int64[total], how many they are.
        utility: float32[total].
        cards: N.
        actions: Out, int64[n, ACTIONS]; 0 where there are fewer.
        worth: Out, float32[n, ACTIONS]; NEVER where there are fewer.
    """
    for i in range(actions.shape[0]):
        found = 0
        actions[i], worth[i] = 0, NEVER
        for plan in range(starts[i], starts[i + 1]):
            begun = 0
            for step in range(lengths[plan]):
                action = plans[plan, step]
                pile = 1 << (action // cards)
                if begun & pile or (step > 0 and action == N_PILES * cards):
                    continue
                begun |= pile
                at = 0
                while at < found and actions[i, at] != action:
                    at += 1
                if at == found:
                    if found == ACTIONS:
                        at = int(np.argmin(worth[i]))
                        if worth[i, at] >= utility[plan]:
                            continue
                        worth[i, at] = NEVER
                    else:
                        found += 1
                    actions[i, at] = action
                worth[i, at] = max(worth[i, at], utility[plan])


class Teacher:
    """The learned value of a table, asked for its first actions by the utility it was trained for.

    Args:
        table: What is played.
        weights: "afterstate" for the shipped weights of the table, or a name or path of weights.
        most: Plans valued a position.

    Raises:
        ValueError: There are no such weights, or they are of another table.
    """

    def __init__(self, table: Table, weights: str, most: int) -> None:
        try:
            found = load_for(KIND, VERSION, None if weights == KIND else weights, table)
            model, worth = ValueModel(found.arrays), utility_of(trained_utility(found.metadata))
        except ValueError as error:
            own = "; name those by clone.teacher=PATH" if weights == KIND else ""
            raise ValueError(f"clone.teacher: {error}{own}") from None
        self.name, self.weights_hash = found.path.stem, found.hash
        self._value = TurnValue(parameters(table), model, worth, most, late=max(most, LATE))

    def label(self, rows: Int64) -> tuple[Int64, Floats]:
        """First actions int64[n, ACTIONS] of view rows, and what they are worth, float32."""
        choice = self._value.choose(rows)
        plans = choice.plans
        return self._first(plans.starts, plans.actions, plans.lengths, choice.utility)

    def _first(
        self, starts: Int64, plans: Int64, lengths: Int64, utility: Floats
    ) -> tuple[Int64, Floats]:
        """The same from the plans of all rows (see `first_actions`)."""
        actions = np.empty((len(starts) - 1, ACTIONS), np.int64)
        worth: Floats = np.empty(actions.shape, np.float32)
        cards = int(self._value.planner.p[P_CARDS])
        first_actions(starts, plans, lengths, utility, cards, actions, worth)
        return actions, worth


class SearchTeacher(Teacher):
    """The search over a learned value, asked for its first actions (expert iteration).

    A position costs some milliseconds, a hundred times as much as with the value alone. Plans that
    the search dropped early keep what it then thought of them.

    Args:
        table: What is played.
        search: "expert:deals=N", with `weights`, `plans` and `turns` as the agent takes them.

    Raises:
        ValueError: There are no weights for it, or a time is given in place of dealings, with
            which no run could be repeated.
    """

    def __init__(self, table: Table, search: str) -> None:
        try:
            agent = make_agent(search, table)
        except ValueError as error:
            raise ValueError(f"clone.teacher: {error}") from None
        assert isinstance(agent, ExpertAgent)
        if agent.budget.deals is None:
            raise ValueError(
                f'clone.teacher: "{search}" has no number of dealings, such as expert:deals=64'
            )
        self.name, self.weights_hash = search, agent.weights_hash
        self._searcher, self._budget = agent.searcher, agent.budget
        self._value = agent.searcher.root
        self._state = np.uint64(1)

    def label(self, rows: Int64) -> tuple[Int64, Floats]:
        """See Teacher.label."""
        starts, plans, utility = [0], [], []
        for row in rows:
            judged, self._state = self._searcher.search(row, self._budget, self._state)
            plans += judged.actions
            utility += judged.utility
            starts.append(len(plans))
        lengths = np.array([len(plan) for plan in plans], np.int64)
        actions = np.zeros((len(plans), int(lengths.max(initial=1))), np.int64)
        for i, plan in enumerate(plans):
            actions[i, : len(plan)] = plan
        worth = np.array(utility, np.float32)
        return self._first(np.array(starts, np.int64), actions, lengths, worth)


def teacher_for(table: Table, teacher: str, most: int) -> Teacher:
    """The teacher that a configuration names; see CloneSection.teacher."""
    if teacher.partition(":")[0] == "expert":
        return SearchTeacher(table, teacher)
    return Teacher(table, teacher, most)
