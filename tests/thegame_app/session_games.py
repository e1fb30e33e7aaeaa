"""Games for the tests of session and page: played on, and dealt again with unseen cards moved."""

from __future__ import annotations

import functools

import numpy as np

from agents.registry import make_agent
from thegame_app.crew import Crew
from thegame_app.session import PERSON, Session
from thegame_env.rules import Rules, Table

CREW = Crew()


def new(players=1, rules="official", seats=None, seed=7, **table):
    """A session; by default everybody is a person."""
    whole = Table(Rules.parse(rules), players, **table)
    return Session.new(whole, seats or [PERSON] * players, seed)


def act(session, action):
    """What a person does, or an agent, as an action of the codec."""
    if session.agent is not None:
        return session.advance(action, session.version)
    seat, play = session.game.seat, session.table.rules.decode(action)
    if play is None:
        return session.end_turn(seat, session.version)
    return session.play(seat, *play, session.version)


def step(session, seed=0, careful=False):
    """One action: the agent's, or for a person a legal one drawn by the seed, or a careful one."""
    if session.agent is not None:
        return act(session, CREW.choose(session))
    if careful:
        return act(session, greedy_at(session.table).act(session.view(session.game.seat)))
    legal = session.game.legal_actions()
    key = [seed, len(session.actions)]
    return act(session, legal[int(np.random.default_rng(key).integers(len(legal)))])


@functools.cache
def greedy_at(table):
    return make_agent("greedy", table)


def played(session, steps=1000, seed=0, careful=False):
    """The session some steps on, or at its end."""
    for _ in range(steps):
        if session.over:
            break
        session = step(session, seed, careful)
    return session


def reshuffled(session, seat, seed):
    """The same game with the cards that `seat` has not seen permuted; the past stays as it was."""
    game = session.game
    hidden = set(game.deck).union(*(h for s, h in enumerate(game.hands) if s != seat))
    cards = [card for card in session.deck if card in hidden]
    mixed = iter(np.random.default_rng(seed).permutation(cards).tolist())
    deck = [next(mixed) if card in hidden else card for card in session.deck]
    other = Session.new(session.table, session.seats, deck=deck)
    for entry in session.log:
        other = other._do(entry)
    return other
