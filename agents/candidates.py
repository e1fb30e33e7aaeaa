"""The plans of many turns at once, with their afterstates, for one batched value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.plans import (
    N_DEPTH,
    STATE,
    Workspace,
    first_action,
    longest_plan,
    plan_actions,
    search_plans,
    select_plans,
)
from thegame_env.compiled import kernel
from thegame_env.engine import act
from thegame_env.layout import P_CARDS, V_DECK, V_LEFT

OPEN, WINS, DEAD = 0, 1, 2
"""Kinds of plans: the game goes on, it is won at once, it cannot meet the minimum."""


@kernel
def fill_candidates(
    rows, p, most, branch, reach, late_most, late_reach, nodes, slots, stamp, kept, keys,
    starts, kinds, left, lengths, actions, states,
):  # fmt: skip
    """Enumerate and describe the plans of every view; see `Candidates` for the outputs."""
    total = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        starts[i] = total
        late = row[V_DECK] == 0
        n = search_plans(row, p, branch, late_reach if late else reach, nodes, slots, stamp)
        plans, complete = select_plans(row, p, n, late_most if late else most, nodes, kept, keys)
        for k in range(plans):
            node = nodes[kept[k]]
            left[total] = row[V_LEFT] - node[N_DEPTH]
            kinds[total] = (WINS if left[total] == 0 else OPEN) if complete else DEAD
            lengths[total] = plan_actions(p, nodes, kept[k], actions[total])
            if not complete:
                lengths[total] = max(node[N_DEPTH], 1)
                actions[total, 0] = first_action(p, nodes, kept[k])
            for column in range(STATE):
                states[total, column] = node[column]
            total += 1
    starts[rows.shape[0]] = total
    return total


@kernel
def best_of_each(utility, starts, best):
    """Index of the first plan of highest utility of every turn, into `best` (int64[n])."""
    for i in range(best.shape[0]):
        best[i] = starts[i]
        for j in range(starts[i] + 1, starts[i + 1]):
            if utility[j] > utility[best[i]]:
                best[i] = j


@kernel
def play_plans(games, decks, p, picked, lengths, actions, only_first):
    """Play the picked plan (none where it is negative), only its first action if `only_first`."""
    for b in range(games.shape[0]):
        plan = picked[b]
        if plan < 0:
            continue
        for i in range(1 if only_first else lengths[plan]):
            act(games[b], decks[b], p, actions[plan, i])


@dataclass(slots=True)
class Candidates:
    """The plans of n turns; plan j of turn i stands at `starts[i] + j`.

    Attributes:
        starts: int64[n + 1].
        kinds: int8[total]: OPEN, WINS or DEAD.
        left: int64[total], cards left after the plan.
        lengths: int64[total], actions of the plan.
        actions: int64[total, hand + 1], the actions, END_TURN last where it is needed.
        states: int64[total, STATE], the afterstates (see `agents.plans`).
    """

    starts: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int8]
    left: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    actions: npt.NDArray[np.int64]
    states: npt.NDArray[np.int64]


class Planner:
    """Enumerates the plans of batches of views, reusing its arrays.

    Args:
        p: Parameter row of the table.
        most: Plans kept a turn.
        branch: Plays tried at each afterstate.
        reach: Largest gap laid beyond the minimum.
        late: Plans kept a turn once the deck is empty; then any gap is laid. None: as before.
    """

    def __init__(
        self,
        p: npt.NDArray[np.int64],
        most: int = 40,
        branch: int = 6,
        reach: int = 15,
        late: int | None = None,
    ) -> None:
        self.p, self.most, self.branch, self.reach = p, most, branch, reach
        self._late = (most, reach) if late is None else (late, int(p[P_CARDS]))
        self._work = Workspace()
        self._grow(0)

    def _grow(self, n: int) -> None:
        room = n * max(self.most, self._late[0])
        self._starts = np.zeros(n + 1, np.int64)
        self._kinds = np.zeros(room, np.int8)
        self._left = np.zeros(room, np.int64)
        self._lengths = np.zeros(room, np.int64)
        self._actions = np.zeros((room, longest_plan(self.p)), np.int64)
        self._states = np.zeros((room, STATE), np.int64)

    def candidates(self, rows: npt.NDArray[np.int64]) -> Candidates:
        """The plans of every view row (int64[n, VIEW_ROW]); valid until the next call."""
        if len(rows) >= len(self._starts):
            self._grow(len(rows))
        total = fill_candidates(
            rows, self.p, self.most, self.branch, self.reach, *self._late, *self._work.arrays,
            self._starts, self._kinds, self._left, self._lengths, self._actions, self._states,
        )  # fmt: skip
        return Candidates(
            self._starts[: len(rows) + 1],
            self._kinds[:total],
            self._left[:total],
            self._lengths[:total],
            self._actions[:total],
            self._states[:total],
        )
