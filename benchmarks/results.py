"""`make results`: play the runs of configs/results.yaml, write the README's table and model cards.

Nothing is typed in by hand: every figure comes out of `thegame eval` on held-out deals, and the
runs are kept under runs/results, so that a stopped `make results` goes on where it was.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from agents.weight_files import write_atomic
from benchmarks.model_cards import write_cards

BEGIN, END = "<!-- results: begin (made by `make results`) -->", "<!-- results: end -->"
PLAYERS = (1, 2, 3, 4, 5)


class ResultRun(BaseModel):
    """One run of `thegame eval`; one that is not shown stands on the weights' cards only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    agents: str
    rules: str
    games: int
    players: str = "1-5"
    talk: str = "none"
    memory: str = "on"
    starter: str = "seat0"
    shown: bool = True

    def command(self, workers: int) -> list[str]:
        """The arguments of `thegame` that play this run."""
        return [
            "eval",
            *("--agents", self.agents, "--rules", self.rules, "--games", str(self.games)),
            *("--players", self.players, "--talk", self.talk, "--memory", self.memory),
            *(
                "--starter",
                self.starter,
                "--seed",
                "1",
                "--deals",
                "held-out",
                "--workers",
                str(workers),
            ),
            *("--out", f"runs/results/{self.name}", "--json"),
        ]


def load_runs(path: Path) -> list[ResultRun]:
    """The runs of a YAML list; pydantic's error names what does not fit."""
    return [ResultRun(**values) for values in yaml.safe_load(path.read_text())]


def play(run: ResultRun, workers: int) -> list[dict[str, Any]]:
    """Play a run (or go on with it) and return its cells."""
    command = [sys.executable, "-m", "thegame_app", *run.command(workers)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    cells: list[dict[str, Any]] = json.loads(done.stdout)["cells"]
    return cells


def table(title: str, cells: Iterable[dict[str, Any]]) -> list[str]:
    """Markdown lines: an agent a row, a number of players a column."""
    lines = [
        f"**{title}**: win % (95 % interval), mean cards left",
        "",
        "| agent | games | " + " | ".join(f"{n} p" for n in PLAYERS) + " |",
        "|---|---|" + "---|" * len(PLAYERS),
    ]
    rows: dict[tuple[str, int], dict[int, str]] = {}
    for cell in cells:
        rows.setdefault((cell["agent"], cell["games"]), {})[cell["players"]] = _text(cell)
    for (agent, games), columns in rows.items():
        texts = " | ".join(columns.get(n, "-") for n in PLAYERS)
        lines.append(f"| `{agent}` | {games:,} | {texts} |")
    return [*lines, ""]


def _text(cell: dict[str, Any]) -> str:
    low, high = 100 * cell["win_low"], 100 * cell["win_high"]
    rate, left = 100 * cell["win_rate"], cell["cards_left_mean"]
    return f"**{rate:.1f}** ({low:.1f}-{high:.1f}), {left:.2f}"


def splice(readme: str, lines: Iterable[str]) -> str:
    """The README with the lines between the two markers; ValueError where they are missing."""
    if BEGIN not in readme or END not in readme:
        raise ValueError(f"README.md lacks the markers {BEGIN} and {END}")
    head, _, rest = readme.partition(BEGIN)
    tail = rest.partition(END)[2]
    return head + "\n".join([BEGIN, "", *lines, END]) + tail


def main(root: Path = Path(), workers: int = 2) -> None:
    """Play all runs, then write the table and the model cards."""
    by_title: dict[str, list[dict[str, Any]]] = {}
    others: list[dict[str, Any]] = []
    for run in load_runs(root / "configs/results.yaml"):
        kept = by_title.setdefault(run.title, []) if run.shown else others
        kept.extend(play(run, workers))
    lines = [line for title, cells in by_title.items() for line in table(title, cells)]
    readme = root / "README.md"
    write_atomic(readme, splice(readme.read_text(), lines).encode())
    write_cards(cell for cells in (*by_title.values(), others) for cell in cells)


if __name__ == "__main__":
    main()
