"""The fast engine against the reference, step by step over random games.

State, legal actions and outcome are compared at every step of every game; what every seat sees at
a share of them. A failure prints the game as a record line:
`GameRecord.parse(line).replay()` leads to the position.
"""

import random

import numpy as np
import pytest
from strategies import PRESET_TABLES, choose, movement, random_deck, random_table, record

from thegame_env.engine import Engine, mask_into, view_into
from thegame_env.layout import STEPS, TRICKS, V_STATUS, VIEW_ROW
from thegame_env.notation import GameRecord
from thegame_env.perft import legal_fast
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Table
from thegame_env.view import View

CHUNK = 500
VIEWS = 1 / 16
"""Share of the steps after which all views are compared, beside the first and the last."""


def check_state(engine: Engine, game: Game) -> list[int]:
    """State, outcome and legal actions; returns these."""
    legal = game.legal_actions()
    assert engine.game(0) == game
    assert legal_fast(engine) == legal
    return legal


def check_views(engine: Engine, game: Game) -> None:
    """Every seat's view, its row, and the mask of the acting seat."""
    row = np.zeros(VIEW_ROW, np.int64)
    for seat in range(engine.table.players):
        view_into(engine.games[0], engine.p, seat, row)
        view = View.of(game, engine.table, seat)
        assert View.from_row(engine.table, row) == view
        if game.outcome is None:
            assert np.array_equal(view.row(), row)
    mask = np.zeros(engine.table.rules.n_actions, np.int8)
    view_into(engine.games[0], engine.p, game.seat, row)
    mask_into(row, engine.p, mask)
    legal = game.legal_actions() if game.outcome is None else range(len(mask))
    assert np.flatnonzero(mask).tolist() == list(legal)
    assert bool(row[V_STATUS]) == (game.outcome is not None)


def play_both(table: Table, rng: random.Random, skill: float) -> None:
    """One random game in both engines."""
    deck = random_deck(rng, table.rules)
    engine = Engine(table, 1)
    actions: list[int] = []
    try:
        engine.deal_deck(0, deck)
        game, tricks = Game.start(table, deck), 0
        check_views(engine, game)
        while game.outcome is None:
            action = choose(rng, game, check_state(engine, game), skill)
            actions.append(action)
            tricks += movement(game, action) == -table.rules.trick
            game = game.step(action)
            engine.step(action)
            if rng.random() < VIEWS or game.outcome is not None:
                check_views(engine, game)
        check_state(engine, game)
        assert engine.games[0, [STEPS, TRICKS]].tolist() == [len(actions), tricks]
    except (AssertionError, ValueError, StopIteration) as error:
        pytest.fail(f"{error!r}\n{record(table, deck, actions)}")


def play_chunk(chunk: int) -> None:
    """CHUNK games, two thirds of them going round all preset tables, the others at random ones."""
    for index in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        rng = random.Random(index)
        preset = PRESET_TABLES[index % len(PRESET_TABLES)]
        table = random_table(rng) if rng.random() < 1 / 3 else preset
        play_both(table, rng, skill=rng.choice((0.0, 0.5, 0.95)))


@pytest.mark.parametrize("chunk", range(4))
def test_reference_equals_engine(chunk: int) -> None:
    play_chunk(chunk)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(200))
def test_reference_equals_engine_in_100_000_games(chunk: int) -> None:
    play_chunk(chunk)


def test_a_difference_is_told_with_a_record_that_replays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The reference forgets the trick, the engine does not.
    monkeypatch.setattr(Game, "is_legal", _beyond)
    table = Table(PRESETS["official"], 2)
    with pytest.raises(pytest.fail.Exception) as failure:
        play_both(table, random.Random(0), skill=0.95)
    line = str(failure.value).splitlines()[-1]
    monkeypatch.undo()
    last = [*GameRecord.parse(line).replay()][-1]
    engine = Engine(table, 1)
    engine.put(0, last)
    assert any(movement(last, action) == -10 for action in legal_fast(engine))


def _beyond(game: Game, card: int, pile: int) -> bool:
    return card > game.tops[pile] if pile < 2 else card < game.tops[pile]
