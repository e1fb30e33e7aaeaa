"""What a decision costs at each budget: `python -m benchmarks.budget_regret --players 1,3`.

Whole games tell budgets apart slowly: hundreds of them leave some points of doubt. So single
decisions are compared instead: in positions of games that the value player plays, in all phases,
the plan that `expert` takes with each budget stands against the best one by a long reference, two
looks ahead over many dealings that no budget has seen. What it is worth less is its regret, in the
utility that play maximises (a win is worth 1, a loss up to a half by the cards laid). The reference
knows no more than the same value does, asked two turns ahead; what that misjudges, it does too.

Every position is kept as a line of JSON when it is done, so that a run can be stopped and goes on.
"""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from agents.candidates import OPEN
from agents.endgame import is_known
from agents.expert import PLANS, Budget, ExpertAgent, Searcher
from agents.look_ahead import UTILITY
from agents.registry import make_agent
from agents.second_look import DEEP, SHALLOW
from agents.turn_value import afterstate_of
from agents.weight_files import write_atomic
from benchmarks.calibration import refusing, tables_of
from benchmarks.hint_regret import PHASES, error_of, go_on, position
from benchmarks.strength_curve import times_of
from benchmarks.strength_plot import regret_plot
from eval.plots import duration, players_text
from thegame_env.deal import stream
from thegame_env.rules import MAX_SEATS, Table
from thegame_env.view import View

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
BASE = "afterstate"
BLOCK = 64
"""Dealings that the reference looks at side by side."""
KEPT = 4
"""Plans, the best by one look, that the reference looks at again besides those that were taken."""
INTRODUCTION = (
    "What the plan of a decision is worth less than the best one, by a reference that looks two "
    "turns ahead over many dealings: thousandths of the utility that play maximises (a win is "
    "worth 1, a loss up to a half by the cards laid), with 95 % intervals. The positions are of "
    "games of development deals that `afterstate` plays, in all phases; the same ones for every "
    "budget. A solo game has some 35 turns. The reference looks again at the plans that were taken "
    "and at two to four that are best by one look; where a better one is missed, every budget "
    "loses as much more."
)
WARM = Budget(0.05, None)
"""Of a search that is not measured: the first one of a process loads compiled code."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the figures of every position.

    Attributes:
        players: Seats.
        times: Budgets, ascending, as they are given to `expert`.
        seed: Of the deals and of all dealings.
        looks: Dealings of the reference by one look.
        again: Dealings of it by two.
    """

    players: int
    times: list[str]
    seed: int
    looks: int
    again: int


@functools.cache
def expert_of(table: Table, time_text: str) -> ExpertAgent:
    """`expert` with a budget, warm."""
    agent = make_agent(f"expert:{time_text}", table)
    assert isinstance(agent, ExpertAgent)
    agent.searcher.search(position(table.players - 1, 0).row(), WARM, np.uint64(0))
    return agent


# --- one position --------------------------------------------------------------------------------


def position_of(number: int, settings: Settings) -> View:
    """Position `number`: something is hidden and no plan wins at once; all but the last phase."""
    phase = number % (PHASES - 1)
    for attempt in itertools.count():
        first = (1000 * number + PHASES * attempt + phase) * MAX_SEATS
        view = position(first + settings.players - 1, settings.seed)
        row, searcher = view.row(), expert_of(view.table, settings.times[0]).searcher
        choice = searcher.root.choose(row[None])
        if choice.plans.kinds[choice.best[0]] == OPEN and not is_known(row, searcher.p):
            return view
    raise AssertionError("there is always another deal")


def measure(number: int, settings: Settings) -> dict[str, Any]:
    """The row of one position: the regret and the time of the value's plan and of every budget's.

    The value's own time is not measured; it stands as 0.
    """
    view = position_of(number, settings)
    row, random = view.row(), np.uint64(stream(np.uint64(settings.seed), np.uint64(number)))
    taken, seconds = [], [0.0]
    for budget in settings.times:
        agent, began = expert_of(view.table, budget), time.process_time()
        judged, random = agent.searcher.search(row, agent.budget, random)
        seconds.append(time.process_time() - began)
        taken.append(afterstate_of(view, judged.actions[0]))
    searcher = expert_of(view.table, settings.times[-1]).searcher
    choice = searcher.root.choose(row[None])
    order = np.argsort(-choice.utility, kind="stable")[:PLANS]
    order = order[choice.plans.kinds[order] == OPEN]
    first = choice.plans.states[choice.best[0]].copy()
    states = np.unique(np.concatenate([choice.plans.states[order], taken]), axis=0)
    places = [int(np.flatnonzero((states == state).all(axis=1))[0]) for state in (first, *taken)]
    worth = reference(searcher, row, states, places, settings, random)
    return {
        "number": number,
        "settings": asdict(settings),
        "cards_left": view.cards_left,
        "regret": [float(worth.max() - worth[place]) for place in places],
        "seconds": seconds,
    }


def reference(
    searcher: Searcher,
    row: Int64,
    states: Int64,
    taken: Sequence[int],
    settings: Settings,
    random: np.uint64,
) -> Floats:
    """What the plans are worth by two looks, float64[M]; -inf where they are not looked at again.

    Args:
        searcher: Of the table.
        row: View row of the acting seat.
        states: int64[M, STATE], afterstates.
        taken: Those that are looked at again in any case.
        settings: How many dealings.
        random: Their stream.
    """
    parts = []
    for _ in range(0, settings.looks, BLOCK):
        outcomes, random = searcher.ahead.judge(row, states, BLOCK, random)
        parts.append(outcomes[..., UTILITY])
    once = np.concatenate(parts, axis=1).mean(axis=1)
    again = np.array(sorted({*taken, *np.argsort(-once)[:KEPT].tolist()}))
    corrections = []
    for _ in range(0, settings.again, BLOCK):
        outcomes, random = searcher.second.judge(row, states[again], BLOCK, random)
        corrections.append(outcomes[..., DEEP] - outcomes[..., SHALLOW])
    worth = np.full(len(states), -np.inf)
    worth[again] = once[again] + np.concatenate(corrections, axis=1).mean(axis=1)
    return worth


# --- a run ---------------------------------------------------------------------------------------


def markdown(settings: Settings, rows: Sequence[dict[str, Any]], plot: str) -> list[str]:
    """The lines of a table's part of the report; `plot` is the file name of its plot."""
    regrets = 1000 * np.array([row["regret"] for row in rows])
    seconds = np.array([row["seconds"] for row in rows])
    lines = [
        f"**`official`, {players_text(settings.players)}, memory on, talk none**: "
        f"{len(rows):,} positions",
        "",
        f"![Utility lost a decision against the budget, {players_text(settings.players)}]({plot})",
        "",
        "| agent | time a decision | thousandths of utility lost | minus the row above | "
        "not the reference's plan |",
        "|---|---|---|---|---|",
    ]
    for i, name in enumerate([BASE, *(f"expert:{time_text}" for time_text in settings.times)]):
        took = duration(1000 * float(seconds[:, i].mean())) if i else "-"
        less = interval(regrets[:, i] - regrets[:, i - 1], "+") if i else "-"
        other = 100 * float(np.mean(regrets[:, i] > 0))
        lines.append(f"| `{name}` | {took} | {interval(regrets[:, i])} | {less} | {other:.0f} % |")
    return [*lines, ""]


def interval(values: Floats, sign: str = "") -> str:
    """Mean and 95 % interval, such as "0.21 (0.10 to 0.32)"."""
    mean, error = float(values.mean()), 1.96 * error_of(values)
    return f"{mean:{sign}.2f} ({mean - error:{sign}.2f} to {mean + error:{sign}.2f})"


def main(
    players: Annotated[str, typer.Option(help="Numbers of players, as 1-5 or 2,3,5.")] = "1,3",
    positions: Annotated[int, typer.Option(min=2, help="Positions a table.")] = 500,
    times: Annotated[
        str, typer.Option(help="Processor time a turn, several by commas.")
    ] = "10ms,30ms,100ms,300ms,1s",
    looks: Annotated[int, typer.Option(min=BLOCK, help="Dealings of the reference.")] = 1024,
    again: Annotated[int, typer.Option(min=BLOCK, help="Of its second look.")] = 256,
    seed: Annotated[int, typer.Option(min=0, help="Of the deals and dealings.")] = 0,
    runs: Annotated[Path, typer.Option(help="Folder of the rows.")] = Path("runs/budget_regret"),
    out: Annotated[Path, typer.Option(help="Folder for plots and text.")] = Path("docs/strength"),
) -> None:
    """Measure what decisions with more and more time still lose; goes on where it was stopped."""

    def work() -> None:
        budgets = times_of(times)
        numbers = {table.players: table for table in tables_of(players, "official", "on", "none")}
        if out.exists() and not out.is_dir():
            raise ValueError(f"{out} is a file, and plots and text need a folder")
        lines = [INTRODUCTION, ""]
        for count in sorted(numbers):
            settings = Settings(count, list(budgets), seed, looks, again)
            runs.mkdir(parents=True, exist_ok=True)
            rows = go_on(
                runs / f"{count}p.jsonl",
                asdict(settings),
                range(positions),
                math.inf,
                functools.partial(measure, settings=settings),
            )
            plot = f"regret-{count}p.svg"
            regrets = 1000 * np.array([row["regret"] for row in rows])
            drawn = regret_plot(count, list(budgets.values()), regrets)
            write_atomic(out / plot, drawn.encode())
            lines += markdown(settings, rows, plot)
        text = "\n".join(lines)
        write_atomic(out / "regret.md", text.encode())
        typer.echo(text, nl=False)

    refusing(work, "budget_regret")


if __name__ == "__main__":
    typer.run(main)
