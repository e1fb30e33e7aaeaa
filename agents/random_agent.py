"""`random`: uniform over the legal actions. It knows nothing beyond what is legal."""

from __future__ import annotations

from agents.base import Agent, KernelAgent
from thegame_env.cards import count, legal_set, nth
from thegame_env.compiled import kernel
from thegame_env.deal import bounded
from thegame_env.layout import P_CARDS, V_HAND, V_MAY_END, V_TOPS
from thegame_env.rules import N_PILES, Table


@kernel
def random_legal(row, p, state):
    """A uniformly random legal action of a view row, and the stream's next state."""
    cards, total = p[P_CARDS], 0
    for pile in range(N_PILES):
        lo, hi = legal_set(row[V_HAND], row[V_HAND + 1], pile, row[V_TOPS + pile], p)
        total += count(lo, hi)
    draw, state = bounded(state, total + row[V_MAY_END])
    for pile in range(N_PILES):
        lo, hi = legal_set(row[V_HAND], row[V_HAND + 1], pile, row[V_TOPS + pile], p)
        here = count(lo, hi)
        if draw < here:
            return pile * cards + nth(lo, hi, draw), state
        draw -= here
    return N_PILES * cards, state


@kernel
def act_random(rows, p, streams, actions):
    """Fill `actions` (int64[n]) for the view rows `rows` (int64[n, VIEW_ROW])."""
    for i in range(rows.shape[0]):
        actions[i], streams[i] = random_legal(rows[i], p, streams[i])


def make(table: Table) -> Agent:
    """The agent `random`."""
    return KernelAgent("random", act_random)
