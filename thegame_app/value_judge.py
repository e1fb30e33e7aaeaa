"""Judging plans by the learned value: look ahead to the next seat's best reply, then ask it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agents.afterstate import KIND, trained_utility
from agents.afterstate_features import VERSION
from agents.look_ahead import CARDS_LEFT, WINS, LookAhead
from agents.plans import N_DEPTH
from agents.turn_value import TurnValue, afterstate_of
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import Arrays, load_weights
from thegame_app.playouts import Actions, Floats, Playouts
from thegame_env.engine import parameters
from thegame_env.view import View

REPLIES = 12
"""Plans of the next seat that the learned value is asked about."""


class ValueJudge:
    """The judge that looks ahead to the next seat's best reply and asks the learned value.

    Args:
        view: The acting seat's view; nothing else is known of the game.
        weights: The value's file.
        playouts: Where the dealings come from.
    """

    def __init__(self, view: View, weights: Path, playouts: Playouts) -> None:
        self.own = self.partners = KIND
        self.learned = True
        self._view, self._dealings = view, playouts
        arrays, metadata = _loaded(weights)
        worth = utility_of(trained_utility(metadata))
        value = TurnValue(parameters(view.table), ValueModel(arrays), worth, REPLIES)
        self._ahead = LookAhead(value, 0)

    def judge(self, plans: Sequence[Actions], start: int, stop: int) -> tuple[Floats, Floats]:
        """See Judge."""
        games, decks = self._dealings.dealings(stop)
        states = np.array([afterstate_of(self._view, plan) for plan in plans])
        outcomes = self._ahead.outcomes(games[start:stop], decks[start:stop], states)
        left, win = outcomes[..., CARDS_LEFT], outcomes[..., WINS]
        for m, plan in enumerate(plans):
            if _is_dead(self._view, plan):
                left[m], win[m] = self._view.cards_left - states[m, N_DEPTH], 0.0
        return left, win


@functools.lru_cache
def _loaded(weights: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays of a weights file and what is told of them.

    The model made of the arrays works in buffers that no two share.
    """
    return load_weights(weights, KIND, VERSION)


def _is_dead(view: View, plan: Actions) -> bool:
    """Whether the plan cannot meet the minimum: it ends neither its turn nor its hand."""
    plays = [play for play in map(view.rules.decode, plan) if play is not None]
    return len(plays) == len(plan) < len(view.hand)
