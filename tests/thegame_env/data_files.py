"""Makes the files of tests/data: `python tests/thegame_env/data_files.py [perft] ...`.

Without arguments all of them are made anew, which takes some minutes. The tests compare with what
is stored, so look at the difference before you keep it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from playthroughs import GAMES, playthrough
from scaled_down import TABLES, count_reference

from thegame_env.deal import deal
from thegame_env.engine import Engine
from thegame_env.perft import perft_fast, perft_reference
from thegame_env.reference import Game
from thegame_env.rules import PRESETS, Rules, Table

DATA = Path(__file__).parent.parent / "data"
BY_REFERENCE = 300_000
"""The reference counts a depth beyond 4 only where the one before has at most so many sequences."""
DEEPEST = 6

_TENS = sorted(PRESETS["official"].deck, key=lambda card: (card % 10, card))
_PAIRS = [card for pair in zip(range(2, 51), range(99, 50, -1), strict=True) for card in pair]
DEALS: dict[str, tuple[str, int, int | list[int]]] = {
    "official, 1": ("official", 1, 1),
    "official, 2": ("official", 2, 2),
    "official, 3": ("official", 3, 3),
    "official, 4": ("official", 4, 4),
    "official, 5": ("official", 5, 5),
    "profi, 2": ("profi", 2, 6),
    "profi-short, 5": ("profi-short", 5, 7),
    "small-hands, 2": ("small-hands", 2, 8),
    "small-hands, 4": ("small-hands", 4, 9),
    "two-to-the-end, 3": ("two-to-the-end", 3, 10),
    "official, 2, ascending": ("official", 2, list(PRESETS["official"].deck)),
    "official, 3, from the ends": ("official", 3, _PAIRS),
    "profi, 1, by last digit: tricks everywhere": ("profi", 1, _TENS),
    "six cards: games end": ("custom/cards:6/hand_sizes:2-2/trick:2", 2, 11),
    "seven cards: seats pass": (
        "custom/cards:7/hand_sizes:3-2-2/stuck:nobody/trick:3/minimum_empty:2",
        3,
        12,
    ),
    "nine cards, one in hand": ("custom/cards:9/hand_sizes:1-1-1-1/minimum:1/trick:1", 4, 13),
}
"""Name: rules, players, and the seed of the deal or the deck itself."""


def perft_file() -> list[dict[str, Any]]:
    """Counts by depth, and which of the two engines made which depths."""
    return [perft_entry(name, *what) for name, what in DEALS.items()]


def perft_entry(name: str, rules: str, players: int, deal_of: int | list[int]) -> dict[str, Any]:
    table = Table(Rules.parse(rules), players)
    deck = tuple(deal_of) if isinstance(deal_of, list) else deal(table.rules, deal_of)
    game, engine = Game.start(table, deck), Engine(table, 1)
    engine.deal_deck(0, deck)
    counts: list[int] = []
    made_by: dict[str, list[int]] = {"reference": [], "fast": []}
    for depth in range(1, DEEPEST + 1):
        plain = depth <= 4 or counts[-1] <= BY_REFERENCE
        counts.append(perft_reference(game, depth) if plain else perft_fast(engine, depth))
        made_by["reference" if plain else "fast"].append(depth)
    return {
        "name": name,
        "rules": rules,
        "players": players,
        "deck": list(deck),
        "counts": {str(depth): count for depth, count in enumerate(counts, start=1)},
        "made_by": made_by,
    }


def scaled_down_file() -> list[dict[str, Any]]:
    """The tallies of the tiny tables, by the reference."""
    return [
        {"name": name, "rules": table.rules.spec(), "players": table.players}
        | count_reference(table).as_dict()
        for name, table in TABLES.items()
    ]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".new")
    draft.write_text(text)
    draft.replace(path)
    print(path)


def write_json(name: str, entries: list[dict[str, Any]]) -> None:
    lines = ",\n".join(" " + json.dumps(entry) for entry in entries)
    write(DATA / f"{name}.json", f"[\n{lines}\n]\n")


def main(wanted: list[str]) -> None:
    names = ("perft", "scaled_down", "playthroughs")
    for name in set(wanted) - set(names):
        sys.exit(f'unknown file "{name}"; known: {", ".join(names)}')
    if not wanted or "perft" in wanted:
        write_json("perft", perft_file())
    if not wanted or "scaled_down" in wanted:
        write_json("scaled_down", scaled_down_file())
    if not wanted or "playthroughs" in wanted:
        for name, (table, seed) in GAMES.items():
            write(DATA / "playthroughs" / f"{name}.txt", playthrough(table, seed))


if __name__ == "__main__":
    main(sys.argv[1:])
