"""What each part of the recipe is worth: `python -m benchmarks.ablations`.

Trains the runs of configs/ablations.yaml (those that are there already are kept, stopped ones go
on), plays the policies of a group on the same held-out deals, and writes docs/ablations. Every
figure comes out of `thegame train` and `thegame eval`.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.weight_files import write_atomic
from benchmarks.calibration import refusing
from benchmarks.command import STDERR, thegame
from eval.plots import looks_of, paired_plot
from eval.records import read_manifest
from eval.summary import CellSummary, PairedSummary
from train.config import PPOConfig, load_config
from train.snapshot import read_checkpoint
from train.watch import CHECKPOINT, POLICY

ROWS = Path("configs/ablations.yaml")
COLUMNS = (
    "what", "run", "imitation, min", "PPO, min", "actions", "win % (95 %)",
    "minus first", "cards left", "minus first",
)  # fmt: skip
INTRODUCTION = (
    "What each part of the recipe is worth. Every row is a run of `thegame train` on one core, "
    "told by its configuration; the policies of a table then play the same held-out deals, "
    "greedily and without search. Differences are to the table's first row, paired, with 95 % "
    "intervals. Minutes and actions are those up to the policy that did best on the development "
    "deals, which is kept, and contain the evaluations on the way: 0 of PPO where the imitation "
    "alone did best. Each row is one seed, so small differences may be that seed's; the table of "
    "three seeds shows how much that is. `python -m benchmarks.ablations` trains, plays and "
    "writes this anew."
)


class Row(BaseModel):
    """One run: its name, its configuration and seed, and what is particular about it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    config: Path
    text: str
    seed: int = 1

    @property
    def command(self) -> str:
        """How anyone trains it."""
        seed = f" --seed {self.seed}" if self.seed != 1 else ""
        threads = "" if load_config(self.config).threads == 1 else " --set threads=1"
        return f"thegame train {self.config}{seed}{threads}"


class Group(BaseModel):
    """Runs that are compared; the first is what the others are compared with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class Played:
    """What came out of a group.

    Attributes:
        group: Its rows.
        facts: What each policy's file tells of its training, in their order.
        cells: Their figures, in their order.
        paired: The comparisons of all but the first with the first.
        cpu: The processor.
    """

    group: Group
    facts: list[dict[str, Any]]
    cells: list[CellSummary]
    paired: list[PairedSummary]
    cpu: str


def load_groups(path: Path) -> list[Group]:
    """The groups of a YAML list.

    Raises:
        ValueError: The file is not one.
    """
    try:
        return [Group(**values) for values in yaml.safe_load(path.read_text())]
    except (OSError, TypeError, yaml.YAMLError, ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} is not a list of groups of rows: {reason}") from None


def train(row: Row, runs: Path) -> None:
    """Train a row, or go on with it where it was stopped; nothing where it is finished.

    Raises:
        typer.Exit: It was refused or stopped; with its exit code.
    """
    out, config = runs / row.name, load_config(row.config, seed=row.seed)
    assert isinstance(config, PPOConfig)
    resume = (out / CHECKPOINT).is_file()
    if resume and is_finished(out, config):
        return
    command = ["train", str(row.config), "--seed", str(row.seed), "--set", "threads=1"]
    thegame([*command, "--out", str(out), "--resume" if resume else "--overwrite"], STDERR)


def is_finished(out: Path, config: PPOConfig) -> bool:
    """Whether a run's checkpoint has spent what its configuration grants."""
    arrays, facts = read_checkpoint(out / CHECKPOINT)
    cloned = config.clone is None or bool(facts["clone"].get("over"))
    if config.steps is not None:
        return cloned and int(arrays["steps"][0]) >= config.steps
    return cloned and facts["seconds"] >= 60 * (config.minutes or 0)


def play(group: Group, runs: Path, games: int, workers: int) -> Played:
    """Play the policies of a group on the same held-out deals, or go on with it."""
    policies = [runs / row.name / POLICY for row in group.rows]
    agents = [f"ppo:{policy.with_suffix('')}" for policy in policies]
    table = load_config(group.rows[0].config).all_tables[0]
    out = runs / "played" / group.rows[0].name
    text = thegame(
        ["eval", "--agents", ",".join(agents), "--baseline", agents[0],
         "--players", str(table.players), "--rules", table.rules.spec(), "--talk", table.talk,
         "--memory", "on" if table.memory else "off", "--games", str(games), "--seed", "1",
         "--deals", "held-out", "--workers", str(workers), "--out", str(out), "--json"]
    )  # fmt: skip
    document = json.loads(text)
    return Played(
        group,
        [json.loads(policy.with_suffix(".json").read_text()) for policy in policies],
        [CellSummary(**cell) for cell in document["cells"]],
        [PairedSummary(**pair) for pair in document["paired"]],
        read_manifest(out).hardware.cpu,
    )


def markdown(played: Played, plot: str | None) -> list[str]:
    """The lines of a group's part of the report; `plot` is the file name of its plot."""
    first = played.cells[0]
    lines = [f"## {played.group.title}", "", f"{first.games:,} held-out deals; {played.cpu}.", ""]
    if plot:
        lines += [f"![Cards left, minus the first row]({plot})", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    pairs = [None, *played.paired]
    rows = zip(played.group.rows, played.facts, played.cells, pairs, strict=True)
    lines += [_row(*row) for row in rows]
    return [*lines, "", *_spread(played)]


def _row(row: Row, facts: dict[str, Any], cell: CellSummary, pair: PairedSummary | None) -> str:
    win = left = "-"
    if pair:
        ends = (pair.win_diff, pair.win_diff_low, pair.win_diff_high)
        win = "{:+.1f} ({:+.1f} to {:+.1f})".format(*(100 * end for end in ends))
        ends = (pair.cards_left_diff, pair.cards_left_low, pair.cards_left_high)
        left = "{:+.2f} ({:+.2f} to {:+.2f})".format(*ends)
    clone = facts.get("clone")
    rate, low, high = (100 * share for share in (cell.win_rate, cell.win_low, cell.win_high))
    texts = (
        row.text, f"`{row.command}`", f"{clone['minutes']:.1f}" if clone else "-",
        f"{facts['seconds'] / 60:.1f}", f"{facts['steps']:,}", f"{rate:.1f} ({low:.1f}-{high:.1f})",
        win, f"{cell.cards_left_mean:.2f}", left,
    )  # fmt: skip
    return "| " + " | ".join(texts) + " |"


def _spread(played: Played) -> list[str]:
    """A sentence on the spread of a group whose rows differ by nothing but the seed."""
    rows = played.group.rows
    if len(rows) < 2 or len({row.config for row in rows}) > 1:
        return []
    rates = [100 * cell.win_rate for cell in played.cells]
    left = [cell.cards_left_mean for cell in played.cells]
    return [
        f"Over the {len(rows)} seeds {statistics.mean(rates):.1f} % (standard deviation "
        f"{statistics.stdev(rates):.1f}) are won and {statistics.mean(left):.2f} "
        f"({statistics.stdev(left):.2f}) cards left.",
        "",
    ]


def plot_of(played: Played) -> str:
    """The differences in cards left of a group, as SVG text, named as in its table."""
    names = dict(
        zip((cell.agent for cell in played.cells), (row.name for row in played.group.rows),
            strict=True)
    )  # fmt: skip
    base = played.group.rows[0].name
    paired = [replace(p, agent=names[p.agent], baseline=base) for p in played.paired]
    return paired_plot(paired, looks_of([row.name for row in played.group.rows]))


def write(out: Path, found: Sequence[Played]) -> str:
    """Write plots and text to a folder, and return the text."""
    lines = ["# Ablations", "", INTRODUCTION, ""]
    for played in found:
        plot = None
        if played.paired:
            plot = f"ablations-{played.group.rows[0].name}.svg"
            write_atomic(out / plot, plot_of(played).encode())
        lines += markdown(played, plot)
    text = "\n".join(lines)
    write_atomic(out / "ablations.md", text.encode())
    return text


def main(
    only: Annotated[str, typer.Option(help="Names of rows to train, by commas; else all.")] = "",
    games: Annotated[int, typer.Option(min=2, help="Held-out deals a row.")] = 10_000,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play.")] = 1,
    rows: Annotated[Path, typer.Option(help="The list of groups.")] = ROWS,
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs/ablations"),
    out: Annotated[Path, typer.Option(help="Folder for text and plots.")] = Path("docs/ablations"),
) -> None:
    """Train the runs of the list, play them, write the tables; with --only, train some of them."""

    def work() -> None:
        groups = load_groups(rows)
        known = {row.name: row for group in groups for row in group.rows}
        names = [name.strip() for name in only.split(",")] if only else list(known)
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"only: {rows} has no row {', '.join(unknown)}; {', '.join(known)}")
        for name in names:
            train(known[name], runs)
        if not only:
            found = [play(group, runs, games, workers) for group in groups]
            typer.echo(write(out, found), nl=False)

    refusing(work, "ablations")


if __name__ == "__main__":
    typer.run(main)
