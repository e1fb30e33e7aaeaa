"""Judging plans by two looks ahead: behind every dealing the next turn is searched in its turn.

One look takes the reply that the value likes best, and what the value says of it. Here the best
replies of every dealing are judged over dealings of their own, of what the seat to play then cannot
see, and the one that proves best counts. So the value is asked a turn later, and of many more
positions; its errors count for less.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.candidates import OPEN
from agents.look_ahead import deal_games, leave, leave_each, view_running
from agents.turn_value import Choice, TurnValue
from agents.unseen_deals import deal_unseen, new_pool, unseen_into
from agents.value_bins import BIN_OF
from thegame_env.compiled import kernel
from thegame_env.deal import stream
from thegame_env.layout import GAME_ROW, LEFT, P_CARDS, VIEW_ROW

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]

SHALLOW, DEEP = 0, 1
"""Columns of an outcome: the utility by one look and by two."""


@kernel
def best_replies(starts, utility, kinds, most, picked, counts):
    """The `most` open plans of highest utility of every turn, best first.

    A turn whose best plan ends the game keeps none: there is nothing to look ahead to.

    Args:
        starts: int64[n + 1]; the plans of turn i are starts[i]..starts[i + 1].
        utility: float32[total].
        kinds: int8[total], see Candidates.
        most: Replies kept.
        picked: Out, int64[n, most], indices of plans.
        counts: Out, int64[n], how many.
    """
    for i in range(counts.shape[0]):
        counts[i] = 0
        best = starts[i]
        for plan in range(starts[i], starts[i + 1]):
            if utility[plan] > utility[best]:
                best = plan
        if kinds[best] != OPEN:
            continue
        for plan in range(starts[i], starts[i + 1]):
            if kinds[plan] != OPEN:
                continue
            at = counts[i]
            if at == most:
                at -= 1
                if utility[plan] <= utility[picked[i, at]]:
                    continue
            else:
                counts[i] += 1
            while at > 0 and utility[plan] > utility[picked[i, at - 1]]:
                picked[i, at] = picked[i, at - 1]
                at -= 1
            picked[i, at] = plan


@kernel
def reply_games(
    rows, streams, p, pool, state, deals, picked, counts, states, dealt, dealt_decks, games, decks
):
    """Every turn's replies over dealings of what its seat cannot see, the same for all of them.

    Reply k of turn i over dealing d follows those of the replies before it, in this order.

    Args:
        rows: int64[n, VIEW_ROW], views of the seats to reply.
        streams: int64[n], turns of the same number draw the same random numbers.
        p: Parameter row.
        pool: Workspace of the dealings.
        state: Seed of the streams.
        deals: Dealings a turn.
        picked: int64[n, most], the replies.
        counts: int64[n], how many.
        states: int64[total, STATE], their afterstates.
        dealt: Workspace, int64[1, GAME_ROW].
        dealt_decks: Workspace, int8[1, N].
        games: Out, int64[counts.sum() * deals, GAME_ROW].
        decks: Out, int8[counts.sum() * deals, N].
    """
    at = 0
    for i in range(counts.shape[0]):
        if counts[i] == 0:
            continue
        hidden, own = unseen_into(rows[i], pool), stream(state, streams[i])
        for d in range(deals):
            own = deal_unseen(rows[i], p, pool, hidden, own, dealt[0], dealt_decks[0])
            for k in range(counts[i]):
                to = at + k * deals + d
                games[to] = dealt[0]
                decks[to] = dealt_decks[0]
                leave(games[to], decks[to], p, states[picked[i, k]])
        at += counts[i] * deals


@kernel
def best_reply(outcomes, values, picked, counts, prior, worth):
    """The mean outcome of every turn's best reply, into worth[i]; as it is where there is none.

    Args:
        outcomes: float64[counts.sum(), deals], of the replies.
        values: float32[total], what the value says of every plan.
        picked: int64[n, most], the replies.
        counts: int64[n], how many.
        prior: Dealings that the own value counts for.
        worth: Out, float64[n].
    """
    at, deals = 0, outcomes.shape[1]
    for i in range(counts.shape[0]):
        for k in range(counts[i]):
            mean = (outcomes[at + k].sum() + prior * values[picked[i, k]]) / (deals + prior)
            if k == 0 or mean > worth[i]:
                worth[i] = mean
        at += counts[i]


class SecondLook:
    """Judges the plans of one seat's turn by two looks.

    Args:
        value: The learned value, with which all seats choose.
        replies: Replies judged behind every dealing.
        deals: Dealings that each is judged on.
        prior: Dealings that the value of a reply counts for beside them.
    """

    def __init__(self, value: TurnValue, replies: int, deals: int, prior: float) -> None:
        self.value, self.p = value, value.planner.p
        self.replies, self.deals, self.prior = replies, deals, prior
        self._worth = value.utility.astype(np.float64)
        self._ended = self._worth[BIN_OF]
        self._pool = new_pool()
        self._spare = self._space(1)

    def judge(
        self, row: Int64, states: Int64, deals: int, state: np.uint64
    ) -> tuple[Floats, np.uint64]:
        """Outcomes of every afterstate over every dealing, and the next stream state.

        Args:
            row: View row of the acting seat.
            states: int64[M, STATE], afterstates of complete plans.
            deals: Dealings D, the same for all plans.
            state: Random stream.

        Returns:
            float64[M, D, 2] (SHALLOW, DEEP), uint64.
        """
        dealt, dealt_decks = self._space(deals)
        state = np.uint64(deal_games(row, self.p, self._pool, state, dealt, dealt_decks))
        games, decks = self._space(len(states) * deals)
        leave_each(dealt, dealt_decks, self.p, states, games, decks)
        outcomes = np.repeat(self._ended[games[:, LEFT]][:, None], 2, axis=1)
        rows, running = self._views(games)
        if len(running):
            choice = self.value.choose(rows)
            outcomes[running] = choice.utility[choice.best][:, None]
            outcomes[running, DEEP] = self._reply(rows, running % deals, choice, state)
        return outcomes.reshape(len(states), deals, 2), np.uint64(stream(state, np.uint64(deals)))

    def _reply(self, rows: Int64, streams: Int64, choice: Choice, state: np.uint64) -> Floats:
        """What the best reply is worth in every view by a look of its own: float64[n].

        Views of the same stream number, which follow different plans over the same dealing, get
        dealings that are as much alike as their unseen cards are.
        """
        plans, utility = choice.plans, choice.utility
        worth = utility[choice.best].astype(np.float64)
        picked = np.zeros((len(rows), self.replies), np.int64)
        counts = np.zeros(len(rows), np.int64)
        best_replies(plans.starts, utility, plans.kinds, self.replies, picked, counts)
        games, decks = self._space(int(counts.sum()) * self.deals)
        reply_games(
            rows, streams, self.p, self._pool, state, self.deals, picked, counts, plans.states,
            *self._spare, games, decks,
        )  # fmt: skip
        outcomes = self._ended[games[:, LEFT]]
        views, running = self._views(games)
        if len(running):
            last = self.value.choose(views)  # takes the arrays of `plans`, `utility` stays
            outcomes[running] = last.utility[last.best]
        judged = outcomes.reshape(-1, self.deals)
        best_reply(judged, utility, picked, counts, self.prior, worth)
        return worth

    def _views(self, games: Int64) -> tuple[Int64, Int64]:
        """Views of the games that still run, and their indices."""
        rows, running = np.zeros((len(games), VIEW_ROW), np.int64), np.zeros(len(games), np.int64)
        n = view_running(games, self.p, rows, running)
        return rows[:n], running[:n]

    def _space(self, count: int) -> tuple[Int64, Int8]:
        """Room for games and their decks."""
        cards = int(self.p[P_CARDS])
        return np.zeros((count, GAME_ROW), np.int64), np.zeros((count, cards), np.int8)
