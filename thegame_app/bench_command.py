"""`thegame bench`: how fast the game is on this machine, and beside what else one could use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from thegame_app.cli import JsonOption, late_progress, print_json, say

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from benchmarks.comparison import Comparison
    from benchmarks.measure import Speed
    from benchmarks.suite import Figures

SECONDS, QUICK_SECONDS = 2.0, 0.2
TRAIN_SECONDS, QUICK_TRAIN_SECONDS = 30.0, 3.0
BUSY = 0.8
"""CPU share below which the machine is called busy."""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("bench")(bench)


def bench(
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A tenth of the time, and no first compilation: rough."),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Measure other libraries too (the extra `bench`)."),
    ] = False,
    train: Annotated[
        bool,
        typer.Option("--train", help="Measure PPO's training instead (the extra `train`)."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Measure the speed of the engine, the environments and the start, on one core.

    Speeds are the best of five rounds (games and environments at random legal play, the learned
    value in self-play), a second of CPU time; times are wall time in fresh interpreters. With
    --train: steps a second of wall time on all cores, rollouts and updates together, beside the
    same PPO over stable-baselines3's DummyVecEnv.
    """
    if train:
        if compare:
            raise ValueError("either --train or --compare, not both")
        _bench_training(QUICK_TRAIN_SECONDS if quick else TRAIN_SECONDS, json)
        return
    figures = _measure(QUICK_SECONDS if quick else SECONDS, quick, compare)
    if json:
        print_json(figures.as_dict())
    else:
        _print_figures(figures)


def _measure(seconds: float, quick: bool, compare: bool) -> Figures:
    from benchmarks.suite import Figures, parts

    figures, todo = Figures(), list(parts(seconds, quick, compare))
    with late_progress() as progress:
        task = progress.add_task("bench", total=len(todo))
        for name, measure in todo:
            progress.update(task, description=f"bench: {name}")
            measure(figures)
            progress.advance(task)
    return figures


def _bench_training(seconds: float, json: bool) -> None:
    """Measure training, and print it."""
    from dataclasses import asdict

    from benchmarks.machine import describe_machine
    from benchmarks.train_speed import train_speed

    with late_progress() as progress:
        progress.add_task("bench: training", total=None)
        pair = train_speed(seconds)
    machine = describe_machine()
    if json:
        print_json({"training": {**asdict(pair), "ratio": pair.ratio}, "machine": machine})
        return
    print(
        f"{pair.ours.name}: {pair.ours.per_s:,.0f} steps a second\n"
        f"{pair.other.name}: {pair.other.per_s:,.0f} steps a second\n"
        f"Ratio: {pair.ratio:.1f}\n{_machine_line(machine)}"
    )
    _say_busy(min(pair.ours.cpu_share, pair.other.cpu_share), "training")


def _say_busy(share: float, what: str) -> None:
    if share < BUSY:
        say(
            f"thegame bench: the machine is busy (down to {share:.0%} of a core was left), so the "
            f"{what} took longer than it would alone"
        )


def _print_figures(figures: Figures) -> None:
    from rich.console import Console

    from benchmarks.machine import describe_machine

    console = Console()
    console.print(_speed_table(figures.speeds()))
    if figures.engine_over_reference is not None:
        console.print(
            f"The engine plays the same games {figures.engine_over_reference:,.0f} times as fast "
            "as the reference."
        )
    console.print(_start_table(figures))
    if figures.comparisons:
        console.print(_comparison_table(figures.comparisons, figures.vector_env["table"]))
    for sentence in (*figures.skipped, _machine_line(describe_machine())):
        console.print(sentence, markup=False, highlight=False)
    _say_busy(min((speed.cpu_share for speed in figures.speeds()), default=1.0), "start")


def _table(title: str, *columns: str) -> RichTable:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(columns[0])
    for column in columns[1:]:
        table.add_column(column, justify="right")
    return table


def _speed_table(speeds: Sequence[Speed]) -> RichTable:
    table = _table("Speed, one core", "what", "a second", "unit")
    for speed in speeds:
        table.add_row(speed.name, f"{speed.per_s:,.0f}", speed.unit)
    return table


def _start_table(figures: Figures) -> RichTable:
    table = _table("Start, a fresh interpreter", "what", "seconds", "CPU seconds")
    if figures.import_s is not None:
        table.add_row("import thegame_env", f"{figures.import_s:.2f}", "")
    if figures.cold is not None and figures.warm is not None:
        for name, start in (
            ("first start, all kernels compiled", figures.cold),
            ("later start, all kernels used", figures.warm),
        ):
            table.add_row(name, f"{start.seconds:.2f}", f"{start.cpu_s:.2f}")
    return table


def _comparison_table(comparisons: Sequence[Comparison], vector: Speed) -> RichTable:
    title = "Beside others: steps a second through Python, one core, random legal play"
    table = _table(
        title, "other", "a second", "ours of its kind", "a second", "ratio", "vector env's ratio"
    )
    for pair in comparisons:
        table.add_row(
            pair.other.name,
            f"{pair.other.per_s:,.0f}",
            pair.ours.name,
            f"{pair.ours.per_s:,.0f}",
            f"{pair.ratio:.1f}",
            f"{pair.ratio_to(vector):.0f}",
        )
    return table


def _machine_line(machine: dict[str, object]) -> str:
    versions = machine["versions"]
    found = versions.items() if isinstance(versions, dict) else ()
    libraries = ", ".join(f"{name} {version}" for name, version in found)
    return (
        f"Machine: {machine['cpu']}, {machine['cores']} cores, load {machine['load_1min']}, "
        f"{machine['system']}, Python {machine['python']}, {libraries}"
    )
