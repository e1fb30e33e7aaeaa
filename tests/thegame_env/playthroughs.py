"""Playthroughs: whole games written out, each position with legal actions and the one taken.

A change of the rules, of the deals or of the notation shows as a difference in these files.
"""

from collections.abc import Callable, Iterator

from strategies import movement

from thegame_env.deal import deal
from thegame_env.notation import GameRecord, format_action, format_position
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table
from thegame_env.view import View

GAMES: dict[str, tuple[Table, int]] = {
    "official-1": (Table(PRESETS["official"], 1), 1),
    "official-2-no-memory": (Table(PRESETS["official"], 2, memory=False), 7),
    "official-5-open-agreed": (Table(PRESETS["official"], 5, False, "open", "agreed"), 2),
    "profi-3-avoid": (Table(PRESETS["profi"], 3, False, "avoid"), 3),
    "profi-short-4-agreed": (Table(PRESETS["profi-short"], 4, False, "none", "agreed"), 4),
    "small-hands-2": (Table(PRESETS["small-hands"], 2, False), 5),
    "two-to-the-end-2": (Table(PRESETS["two-to-the-end"], 2, False), 6),
    "twenty-cards-3": (Table(Rules.parse("custom/cards:20/hand_sizes:5-4-3/trick:4"), 3), 1),
}
"""Name of the file: what is played, and the seed of the deal."""

Describe = Callable[[Game], str]


def careful(game: Game) -> int:
    """The play of least movement; END_TURN where it may be and the best play moves more than 2."""
    return min(game.legal_actions(), key=lambda action: movement(game, action))


def playthrough(table: Table, seed: int) -> str:
    """The text of a game of `careful` seats."""
    game = Game.start(table, deal(table.rules, seed))
    actions = []
    while game.outcome is None:
        actions.append(careful(game))
        game = game.step(actions[-1])
    return written(GameRecord(table, deal(table.rules, seed), tuple(actions), seed))


def written(record: GameRecord) -> str:
    """The text of a recorded game."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: GameRecord) -> Iterator[str]:
    table, rules = record.table, record.table.rules
    yield str(record)
    for step, game in enumerate(record.replay()):
        yield ""
        yield f"step {step}, seat {game.seat}"
        yield f"position: {format_position(View.of(game, table))}"
        for seat, hand in enumerate(game.hands):
            yield f"hand of seat {seat}: {' '.join(map(str, sorted(hand)))}"
        yield f"next from the deck: {' '.join(map(str, game.deck[:8]))}"
        if game.outcome is not None:
            yield f"outcome: {game.outcome.termination}, {game.outcome.cards_left} cards left"
            return
        yield f"legal: {' '.join(format_action(rules, action) for action in game.legal_actions())}"
        yield f"action: {format_action(rules, record.actions[step])}"
