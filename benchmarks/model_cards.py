"""Model cards of the shipped weights, written from their metadata and the runs of `make results`.

A card says what the network is for, what it may know, how it was trained (its whole lineage), what
it reached on held-out deals, and what is known to be weak. Nothing in it is typed in by hand but
the sentences that every card of a kind shares.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agents.weight_files import SHIPPED, shipped, write_atomic

HARDWARE = "one core of a two-core Intel Xeon server, no GPU"
KINDS = {
    "afterstate": (
        "Values the position that a turn leaves behind (the afterstate): a distribution of the "
        "cards that the game will leave. The agents `afterstate` and `expert` play by it, and "
        "hints are judged by it where partners plan as well.",
        "It was trained with copies of itself at every seat. With partners who play otherwise its "
        "figures are too hopeful; hints then play the game on instead. It does not use who played "
        "which card, only what is known of hands, piles and deck.",
    )
}
"""Kind -> what it is for, what is known to be weak."""


def card(name: str, metadata: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]) -> str:
    """The Markdown text of one card.

    Args:
        name: Of the weights.
        metadata: Their JSON.
        cells: Cells of evaluations, of which those of its table and kind are shown.
    """
    purpose, weak = KINDS[metadata["kind"]]
    table = metadata["table"]
    stages = [*metadata.get("lineage", []), metadata]
    lines = [f"# {name}", "", purpose, "", "## Table", "", f"- {_table(table)}"]
    memory = "what is unseen" if table["memory"] else "nothing of what was played"
    lines += [f"- It knows its own hand, the tops, the sizes of hands and deck, and {memory}.", ""]
    lines += ["## Training", "", f"Self-play on {HARDWARE}; every stage begins with the weights of "
              "the one before.", "", "| stage | table | games | minutes | step | seed |",
              "|---|---|---|---|---|---|"]  # fmt: skip
    for number, stage in enumerate(stages, start=1):
        config = stage["config"]
        lines.append(
            f"| {number} | {_table(stage['table'])} | {stage['games']:,} | "
            f"{stage['seconds'] / 60:.0f} | {config['learning_rate']:g} | {config['seed']} |"
        )
    lines += ["", f"The last stage: `thegame train configs/{name}.yaml`.", ""]
    lines += ["## Results on held-out deals", "", "| agent | games | win % (95 %) | cards left |",
              "|---|---|---|---|"]  # fmt: skip
    for cell in cells:
        if _plays(cell, table):
            low, high = 100 * cell["win_low"], 100 * cell["win_high"]
            lines.append(
                f"| `{cell['agent']}` | {cell['games']:,} | {100 * cell['win_rate']:.1f} "
                f"({low:.1f}-{high:.1f}) | {cell['cards_left_mean']:.2f} |"
            )
    return "\n".join([*lines, "", "## Known weaknesses", "", weak, ""])


def _table(table: Mapping[str, Any]) -> str:
    memory = "memory on" if table["memory"] else "memory off"
    seats = "1 player" if table["players"] == 1 else f"{table['players']} players"
    return f"`{table['rules']}`, {seats}, {memory}, talk {table['talk']}"


def _plays(cell: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    same = all(cell[key] == table[key] for key in ("players", "rules", "talk", "memory"))
    return same and cell["agent"].partition(":")[0] in ("afterstate", "expert")


def write_cards(cells: Iterable[Mapping[str, Any]]) -> None:
    """Write the card of every shipped network of a kind that has cards, beside its weights."""
    cells = list(cells)
    for kind in KINDS:
        for name, metadata in shipped(kind).items():
            write_atomic(SHIPPED / f"{name}.md", card(name, metadata, cells).encode())
