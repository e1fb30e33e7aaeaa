"""`thegame eval`: agents play many deals, and their figures are printed, and kept if asked for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from thegame_app.cli import INTERRUPTED, JsonOption, late_progress, print_json, say

if TYPE_CHECKING:
    from eval.cells import Table
    from eval.summary import Summary
    from eval.work import Order

AGENTS_HELP = (
    "Agents, separated by commas; key=value goes on with the agent before it: "
    "greedy:extra=4,rollout:deals=100,plans=40. Own agents: mypackage.module:Factory, "
    "ppo:PATH (a policy of `thegame train`, .safetensors), or the path of a stable-baselines3 "
    "model (.zip)."
)
RESUME_HELP = "The same command goes on where it was stopped."


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("eval")(evaluate)


def evaluate(
    agents: Annotated[str, typer.Option(help=AGENTS_HELP)],
    players: Annotated[str, typer.Option(help="Numbers of players, as 1-5 or 2,3,5.")] = "1-5",
    rules: Annotated[str, typer.Option(help="Presets, or custom rules, by commas.")] = "official",
    talk: Annotated[str, typer.Option(help="none, avoid, open; several by commas.")] = "none",
    memory: Annotated[str, typer.Option(help="on, off, or on,off.")] = "on",
    starter: Annotated[str, typer.Option(help="seat0, agreed, or seat0,agreed.")] = "seat0",
    games: Annotated[int, typer.Option(min=1, help="Deals; every agent plays the same.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the deals, within their range.")] = 1,
    deals: Annotated[
        str, typer.Option(help="Range of the deals: held-out, or development for tuning.")
    ] = "held-out",
    baseline: Annotated[
        str | None, typer.Option(help="Compare the others with this one; by default the first.")
    ] = None,
    crossplay: Annotated[
        bool, typer.Option("--crossplay", help="Mixed teams too: one seat by A, the others by B.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds a decision may take before its game is ended.")
    ] = 60.0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(help="Play on a Ray cluster: auto, local, or host:port (extra [ray])."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help=f"Keep games and report here: runs/NAME. {RESUME_HELP}")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove an earlier run in --out first.")
    ] = False,
    allow_pickle: Annotated[
        bool,
        typer.Option("--allow-pickle", help="Load .zip models, which run the code they hold."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Let agents play the same deals, and print how they did."""
    from agents.registry import split_agents
    from eval.work import Order

    named = tuple(split_agents(agents))
    order = Order(
        agents=named,
        tables=tuple(_tables(players, rules, talk, memory, starter)),
        games=games,
        seed=seed,
        deals=deals,
        crossplay=crossplay,
        baseline=baseline or (named[0] if len(named) > 1 else None),
        limit=timeout,
        allow_pickle=allow_pickle,
    )
    _warn_of_pickles(order)
    options = {"workers": workers, "ray": ray, "overwrite": overwrite}
    with _directory(out) as run_dir:
        summary = _run(order, run_dir, _command(order, out), kept=out is not None, options=options)
        _show(summary, out, json)


def _run(order: Order, run_dir: Path, command: str, kept: bool, options: dict[str, Any]) -> Summary:
    """Play what is missing, and sum up; an interrupt ends it with a sentence."""
    from eval.columns import load_run
    from eval.report import write_report
    from eval.summary import summarise
    from eval.work import evaluate as play

    try:
        with late_progress() as progress:
            task = progress.add_task("games", total=None)
            play(
                order,
                run_dir,
                command,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
                **options,
            )
        return write_report(run_dir) if kept else summarise(load_run(run_dir))
    except KeyboardInterrupt:
        how = f"go on with: {command}" if kept else "nothing is kept without --out"
        say(f"thegame eval: stopped; {how}")
        raise typer.Exit(INTERRUPTED) from None


def _show(summary: Summary, out: Path | None, json: bool) -> None:
    from thegame_app.summary_text import print_summary, summary_document

    if json:
        print_json(summary_document(summary))
    else:
        print_summary(summary)
    if out is not None:
        say(f"thegame eval: games and report are in {out} (report.html, report.md)")


@contextmanager
def _directory(out: Path | None) -> Iterator[Path]:
    """The directory of the run; one that is removed in the end where none is given."""
    if out is not None:
        yield out
    else:
        with TemporaryDirectory(prefix="thegame-eval-") as folder:
            yield Path(folder)


def _warn_of_pickles(order: Order) -> None:
    from agents.plugins import PICKLE_WARNING, is_archive

    for agent in filter(is_archive, order.agents):
        if order.allow_pickle:
            say(f"thegame eval: warning: loading {agent}: {PICKLE_WARNING}")


# --- what is asked for ---------------------------------------------------------------------------


def numbers_of(text: str) -> list[int]:
    """The numbers of a text such as "1-5" or "2,3,5", ascending; ValueError where it is neither."""
    found: set[int] = set()
    for part in map(str.strip, text.split(",")):
        span = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", part)
        if not span or int(span[2] or span[1]) < int(span[1]):
            raise ValueError(f'players: "{text}" is not of the form 1-5 or 2,3,5')
        found.update(range(int(span[1]), int(span[2] or span[1]) + 1))
    return sorted(found)


def _tables(players: str, rules: str, talk: str, memory: str, starter: str) -> Iterator[Table]:
    """Every combination of the settings; ValueError names what is not one."""
    from eval.cells import Table
    from thegame_env.rules import Rules

    presets = [Rules.parse(name).spec() for name in _names("rules", rules)]
    settings = product(
        presets, _names("talk", talk), _names("memory", memory), _names("starter", starter)
    )
    for preset, said, remembered, first in settings:
        if remembered not in ("on", "off"):
            raise ValueError(f'memory is on or off, not "{remembered}"')
        for count in numbers_of(players):
            yield Table(count, preset, cast(Any, said), remembered == "on", cast(Any, first))


def _names(option: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names or len(set(names)) < len(names):
        raise ValueError(f'{option}: "{text}" lists a name twice or an empty one')
    return names


def _command(order: Order, out: Path | None) -> str:
    """The command line that orders the same, every option that decides the games included."""
    words = ["thegame", "eval", "--agents", ",".join(order.agents)]
    listed: dict[str, list[Any]] = {
        "players": [table.players for table in order.tables],
        "rules": [table.rules for table in order.tables],
        "talk": [table.talk for table in order.tables],
        "memory": ["on" if table.memory else "off" for table in order.tables],
        "starter": [table.starter for table in order.tables],
    }
    for option, values in listed.items():
        words += [f"--{option}", ",".join(map(str, dict.fromkeys(values)))]
    words += ["--games", str(order.games), "--seed", str(order.seed), "--deals", order.deals]
    if order.baseline not in (None, order.agents[0]):
        words += ["--baseline", str(order.baseline)]
    words += ["--crossplay"] * order.crossplay + ["--allow-pickle"] * order.allow_pickle
    if order.limit != 60.0:
        words += ["--timeout", f"{order.limit:g}"]
    words += ["--out", str(out)] if out else []
    return shlex.join(words)
