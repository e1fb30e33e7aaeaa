"""How many cards a hint costs against a long search: `python -m benchmarks.hint_regret`.

Fixed positions of games that the value player plays, at one to five seats and in all phases. In
each, the plan that `thegame hint` puts first stands against the one that the reference search
(`--reference expert:10s`) likes best. Both are played on to the end over the same dealings of the
unseen cards, which neither has seen before, every seat taking the plan of highest learned value:
the regret is the paired difference in cards left. Besides, the reference's look-ahead judges all
plans that the hint lists, to see whether one below the first is better after all.

Every position is kept as a line of JSON when it is done, so that a run can be stopped and goes on.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from rich.console import Console
from rich.progress import Progress

from agents.candidates import OPEN
from agents.expert import ExpertAgent
from agents.look_ahead import CARDS_LEFT, LookAhead
from agents.registry import make_agent
from agents.turn_value import afterstate_of
from agents.weight_files import write_atomic
from thegame_env.deal import deal, stream
from thegame_env.notation import format_action, format_position, parse_action, parse_position
from thegame_env.ranges import deal_seed
from thegame_env.reference import Game
from thegame_env.rules import MAX_SEATS, Table
from thegame_env.view import View

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Plan = tuple[int, ...]
Hinter = Callable[[str, str, int], list[Plan]]

PLAYER = "afterstate"
"""Who plays the games that the positions are from."""
PHASES = 10
"""Equal parts of a game, by cards laid, that positions are taken from in turn."""
TO_THE_END = 10_000
"""Turns played on: more than any game has."""
SURE = 3.0
"""Standard errors from which one plan counts as better than another."""
BLOCK = 64
"""Dealings played on side by side."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the figures of every position.

    Attributes:
        reference: Specification of the agent that searches.
        strength: Of the hint.
        seed: Of the deals and of all dealings.
        deals: Dealings that the first plan and the reference's are played on to the end over.
        looks: Dealings of the look-ahead over all listed plans.
    """

    reference: str
    strength: str
    seed: int
    deals: int
    looks: int


# --- positions -----------------------------------------------------------------------------------


def position(number: int, seed: int) -> View:
    """Position `number`: five in a row have one to five players, and the next five a later phase.

    It is the beginning of a turn with more than one plan that lets the game go on.
    """
    table, phase = Table(players=number % MAX_SEATS + 1), number // MAX_SEATS % PHASES
    most = table.rules.cards * (1 - (phase + 0.5) / PHASES)
    for attempt in itertools.count():
        deck = deal(table.rules, deal_seed("development", seed), number * 1000 + attempt)
        for view in turns_of(table, deck):
            if view.cards_left <= most and has_choice(view):
                return view
    raise AssertionError("there is always another deal")


def turns_of(table: Table, deck: Sequence[int]) -> Iterator[View]:
    """What the acting seat sees at the beginning of every turn of a game of PLAYER."""
    game, agent = Game.start(table, deck), make_cached(PLAYER, table)
    while game.outcome is None:
        view = View.of(game, table)
        if game.plays == 0:
            yield view
        game = game.step(agent.act(view))


def has_choice(view: View) -> bool:
    """Whether more than one plan of the turn lets the game go on."""
    kinds = searcher_of("expert:deals=4", view.table).searcher.root.choose(view.row()[None])
    return int((kinds.plans.kinds == OPEN).sum()) > 1


@functools.cache
def make_cached(spec: str, table: Table) -> Any:
    """The agent of a specification, made once a table."""
    return make_agent(spec, table)


def searcher_of(spec: str, table: Table) -> ExpertAgent:
    """The reference at a table; ValueError where the specification is not one of `expert`."""
    agent = make_cached(spec, table)
    if not isinstance(agent, ExpertAgent):
        raise ValueError(f'the reference is an expert, such as expert:10s, not "{spec}"')
    return agent


# --- plans ---------------------------------------------------------------------------------------


def hinted(text: str, strength: str, seed: int) -> list[Plan]:
    """The plans that `thegame hint` lists for a position beside partners who plan, best first.

    Raises:
        ValueError: The plans do not stand in the order of their own figures.
    """
    command = [sys.executable, "-m", "thegame_app", "hint", text, "--partners", "expert"]
    command += ["--strength", strength, "--seed", str(seed), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    plans = json.loads(done.stdout)["plans"]
    figures = [plan["cards_left"] for plan in plans]
    if figures != sorted(figures):
        raise ValueError(f"{text}: the plans are listed with {figures} cards left, not in order")
    rules = parse_position(text).rules
    return [
        tuple(
            parse_action(rules, text)
            for text in [f"{play['card']}:{play['pile']}" for play in plan["plays"]]
            + ["end"] * plan["ends_turn"]
        )
        for plan in plans
    ]


# --- one position --------------------------------------------------------------------------------


def measure(number: int, settings: Settings, hint: Hinter = hinted) -> dict[str, Any]:
    """The row of one position; see `Report` for what is made of it."""
    view = position(number, settings.seed)
    reference, random = searcher_of(settings.reference, view.table), stream_of(number, settings)
    plans = hint(format_position(view), settings.strength, number)
    judged, random = reference.searcher.search(view.row(), reference.budget, random)
    best = tuple(judged.actions[0])
    states = np.array([afterstate_of(view, plan) for plan in (*plans, best)])
    same = bool((states[0] == states[-1]).all())
    looked, random = reference.searcher.ahead.judge(view.row(), states, settings.looks, random)
    regret = np.zeros(settings.deals)
    if not same:
        left = played_on(view, reference, states[[0, -1]], settings.deals, random)
        regret = left[0] - left[1]
    return {
        "number": number,
        "settings": asdict(settings),
        "players": view.table.players,
        "cards_left": view.cards_left,
        "position": format_position(view),
        "first": texts(view, plans[0]),
        "best": texts(view, best),
        "same": same,
        "regret": float(regret.mean()),
        "regret_se": error_of(regret),
        "better_below": better_below(looked[:-1, :, CARDS_LEFT]),
        "below": len(plans) - 1,
    }


def stream_of(number: int, settings: Settings) -> np.uint64:
    """The random stream of a position, which is not that of its hint."""
    return np.uint64(stream(np.uint64(settings.seed), np.uint64(number)))


def texts(view: View, plan: Plan) -> str:
    """The actions of a plan, such as "54:up1 end"."""
    return " ".join(format_action(view.rules, action) for action in plan)


def played_on(
    view: View, reference: ExpertAgent, states: Int64, deals: int, random: np.uint64
) -> Floats:
    """Cards left of afterstates when the value player goes on at every seat: float64[M, deals]."""
    ahead, row, parts = LookAhead(reference.searcher.root, TO_THE_END), view.row(), []
    for start in range(0, deals, BLOCK):
        outcomes, random = ahead.judge(row, states, min(BLOCK, deals - start), random)
        parts.append(outcomes[..., CARDS_LEFT])
    return np.concatenate(parts, axis=1)


def better_below(left: Floats) -> list[dict[str, float]]:
    """The listed plans that are better than the first: rank, cards saved, standard error.

    Args:
        left: Cards left of the listed plans over common dealings, float64[M, D].
    """
    gains = [(rank, left[0] - left[rank - 1]) for rank in range(2, len(left) + 1)]
    return [
        {"rank": rank, "gain": float(gain.mean()), "se": error_of(gain)}
        for rank, gain in gains
        if gain.mean() > SURE * error_of(gain)
    ]


def error_of(values: Floats) -> float:
    """Standard error of the mean."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0


# --- a run ---------------------------------------------------------------------------------------


def read_rows(path: Path, settings: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The rows of a file by the number of their position, without a last line that is cut short.

    Raises:
        ValueError: They were measured with other settings.
    """
    rows = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if row["settings"] != settings:
            raise ValueError(f"{path} holds another measurement: choose another --out")
        rows[row["number"]] = row
    return rows


def go_on(
    path: Path,
    settings: dict[str, Any],
    numbers: range,
    minutes: float,
    measured: Callable[[int], dict[str, Any]],
) -> list[dict[str, Any]]:
    """Measure the positions that the file lacks, until the time is over; all rows of `numbers`.

    Args:
        path: JSON lines, a position each, with its `number` and its `settings`.
        settings: What decides the figures; a file measured with others is refused.
        numbers: The positions.
        minutes: No new position is begun after these.
        measured: Measures one.

    Raises:
        ValueError: The file was measured with other settings.
    """
    rows, until = read_rows(path, settings), time.monotonic() + 60 * minutes
    write_atomic(path, "".join(f"{json.dumps(row)}\n" for row in rows.values()).encode())
    console = Console(stderr=True)
    with (
        path.open("a", encoding="utf-8") as file,
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
    ):
        for number in progress.track(numbers, description="positions"):
            if number not in rows and time.monotonic() < until:
                rows[number] = measured(number)
                file.write(f"{json.dumps(rows[number])}\n")
                file.flush()
    return [rows[number] for number in numbers if number in rows]


def summary(rows: Sequence[dict[str, Any]], wanted: int) -> dict[str, Any]:
    """The figures of a run for JSON.

    `regret` is in cards left, with the standard error of the mean over positions; `below` counts
    the plans listed below the first, `better_below` those that the reference finds better.
    """
    regrets = np.array([row["regret"] for row in rows])
    return {
        "positions": len(rows),
        "wanted": wanted,
        "regret": float(regrets.mean()),
        "regret_se": error_of(regrets),
        "same_plan": float(np.mean([row["same"] for row in rows])),
        "below": sum(row["below"] for row in rows),
        "better_below": sum(len(row["better_below"]) for row in rows),
        "by_players": {
            str(players): {"positions": len(part), "regret": float(part.mean()),
                           "regret_se": error_of(part)}
            for players in range(1, MAX_SEATS + 1)
            if len(part := np.array([r["regret"] for r in rows if r["players"] == players]))
        },
        "worst": sorted(rows, key=lambda row: -row["regret"])[:5],
    }  # fmt: skip


def report(document: dict[str, Any], settings: Settings) -> list[str]:
    """The figures as lines of text."""
    lines = [
        f"{document['positions']} of {document['wanted']} positions, {settings.strength} hint "
        f"against {settings.reference}, {settings.deals} dealings to the end",
        f"regret {document['regret']:.3f} ± {document['regret_se']:.3f} cards left; the same plan "
        f"in {100 * document['same_plan']:.0f} %",
        f"plans listed below the first: {document['below']}, of which the reference finds "
        f"{document['better_below']} better by {SURE:g} standard errors",
    ]
    for players, part in document["by_players"].items():
        regret = f"{part['regret']:.3f} ± {part['regret_se']:.3f}"
        lines.append(f"  {players} players: {regret} ({part['positions']} positions)")
    for row in document["worst"]:
        if row["regret"] > 0:
            lines.append(f"  {row['regret']:.2f} ± {row['regret_se']:.2f}: {row['position']}")
            lines.append(f"    hint {row['first']}; reference {row['best']}")
    return lines


def numbers_of(text: str) -> range:
    """The positions of "500" (the first 500) or "100-199"; ValueError for anything else."""
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() if dash else True)):
        raise ValueError(f'positions are given as 500 or 100-199, not "{text}"')
    numbers = range(int(first), int(last) + 1) if dash else range(int(first))
    if not numbers:
        raise ValueError(f'there are no positions in "{text}"')
    return numbers


def main(
    positions: Annotated[str, typer.Option(help="How many, or which: 500, 100-199.")] = "500",
    reference: Annotated[str, typer.Option(help="An expert: its time or dealings.")] = "expert:10s",
    strength: Annotated[str, typer.Option(help="Of the hint.")] = "instant",
    seed: Annotated[int, typer.Option(min=0, help="Of the deals and dealings.")] = 0,
    deals: Annotated[int, typer.Option(min=2, help="Dealings played to the end.")] = 256,
    looks: Annotated[int, typer.Option(min=2, help="Dealings of the look-ahead.")] = 512,
    minutes: Annotated[float, typer.Option(min=0, help="No new position after these.")] = 1e6,
    out: Annotated[Path, typer.Option(help="Where rows are kept.")] = Path(
        "runs/hint_regret.jsonl"
    ),
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Measure what a hint costs against a long search; goes on where it was stopped."""
    settings = Settings(reference, strength, seed, deals, looks)
    try:
        numbers = numbers_of(positions)
        searcher_of(reference, Table())
        rows = go_on(
            out, asdict(settings), numbers, minutes, lambda number: measure(number, settings)
        )
        if not rows:
            raise ValueError("no position was measured: give it more --minutes")
    except (ValueError, OSError) as error:
        typer.echo(f"hint_regret: {error}", err=True)
        raise typer.Exit(2) from None
    document = summary(rows, len(numbers))
    print(json.dumps(document) if json_ else "\n".join(report(document, settings)))


if __name__ == "__main__":
    typer.run(main)
