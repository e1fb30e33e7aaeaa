"""What an agent is: it reads view rows (what a seat may see) and answers with actions.

The harness plays many games side by side, so `act_rows` takes a batch. Randomness comes from one
stream a game, owned by the caller: a game's result does not depend on what else is in the batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from thegame_env.deal import as_seed, stream
from thegame_env.engine import parameters
from thegame_env.reference import Game
from thegame_env.unseen import complete
from thegame_env.view import View

Rows = npt.NDArray[np.int64]
Streams = npt.NDArray[np.uint64]
Actions = npt.NDArray[np.int64]


class Agent(ABC):
    """Anything that acts.

    Attributes:
        name: The specification that makes it again, such as "greedy:extra=4".
    """

    name: str

    @abstractmethod
    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """Choose an action for every view.

        Args:
            rows: int64[n, VIEW_ROW], views of seats that are to act in running games.
            p: The table's parameter row, int64[PARAMETER_ROW].
            streams: uint64[n], the random state of each game, advanced in place where used.

        Returns:
            int64[n], a legal action each.
        """

    def act(self, view: View, seed: int = 0) -> int:
        """The action that it chooses for one view."""
        streams = np.array([stream(as_seed(seed), np.uint64(0))], np.uint64)
        return int(self.act_rows(view.row()[None], parameters(view.table), streams)[0])

    def plan(self, view: View, seed: int = 0) -> list[int]:
        """The actions of its whole turn, END_TURN included where the turn does not end by itself.

        The unseen cards that the walk needs to stand somewhere never influence it.
        """
        game = complete(view, seed)
        actions: list[int] = []
        while game.outcome is None and _same_turn(game, view, len(actions)):
            action = self.act(View.of(game, view.table), seed)
            game = game.step(action)
            actions.append(action)
            if action == view.rules.end_turn:
                break
        return actions


def _same_turn(game: Game, view: View, taken: int) -> bool:
    return game.seat == 0 and game.plays == view.plays + taken


Kernel = Callable[..., None]


class KernelAgent(Agent):
    """An agent whose choice is one numba kernel over the batch.

    The kernel is called as `kernel(rows, p, streams, actions, *arguments)` and fills `actions`.

    Attributes:
        arguments: See above.
        games: A kernel that plays whole games, where there is one: it is called as
            `games(p, seeds, indices, left, *arguments)` and fills `left` with the cards left.
    """

    def __init__(
        self, name: str, kernel: Kernel, *arguments: Any, games: Kernel | None = None
    ) -> None:
        self.name, self._kernel, self.arguments, self.games = name, kernel, arguments, games

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows."""
        actions = np.empty(len(rows), np.int64)
        self._kernel(rows, p, streams, actions, *self.arguments)
        return actions
