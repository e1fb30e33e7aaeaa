"""Dealing what a seat cannot see: one of the games that agree with a view.

The promise: `complete` reads the view only, so it cannot leak the true hands or the deck; it
respects hand sizes and what the seat remembers. Which cards have been played, where that is not
known, is drawn too (the visible tops are among them).
"""

from __future__ import annotations

import numpy as np

from thegame_env.deal import as_seed
from thegame_env.reference import Game
from thegame_env.view import View


def complete(view: View, seed: int) -> Game:
    """A game in which `view` is what the acting seat 0 sees; uniform over the unseen cards.

    Raises:
        ValueError: The view is not of the acting seat.
    """
    if not view.acting:
        raise ValueError("only the view of the acting seat can be completed to a game")
    rng = np.random.Generator(np.random.Philox(int(as_seed(seed))))
    cards = [int(card) for card in rng.permutation(sorted(view.unseen))]
    hands = [view.hand]
    for size in view.others:
        hands.append(frozenset(cards[:size]))
        cards = cards[size:]
    owed = view.rules.owed(view.deck, len(view.hand) + view.plays)
    deck = tuple(cards[: view.deck])
    return Game(view.rules, view.tops, tuple(hands), deck, 0, view.plays, owed).settled()
