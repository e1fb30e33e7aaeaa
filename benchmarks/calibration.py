"""How honest the learned value is: `python -m benchmarks.calibration --players 1-5`.

The value plays held-out deals with copies of itself at every seat. For the afterstate of every turn
that it chooses, its chance to win and its expected cards left are set beside how the game ended: of
the positions called 70 %, how many were won? Plans that win or lose at once are left out, as there
the value is not asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, cast

import numpy as np
import numpy.typing as npt
import typer

from agents.afterstate import BATCH, KIND, trained_utility
from agents.afterstate_features import VERSION
from agents.candidates import OPEN, play_plans
from agents.turn_value import LATE, Choice, TurnValue
from agents.value_bins import CENTRES, utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_for, write_atomic
from benchmarks.calibration_plot import reliability_plot
from benchmarks.reliability import Bin, error_of, ratio_interval, reliability
from thegame_env.engine import Engine, parameters
from thegame_env.layout import LEFT, P_TALK, PLAYING, STATUS, TALK_NONE
from thegame_env.ranges import deal_seed
from thegame_env.rules import MAX_CARDS, Rules, Table, Talk

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
CHANCE_EDGES = np.linspace(0.0, 1.0, 11)
"""Bins of predicted chances to win: tenths."""
LEFT_EDGES = np.array([0.0, 0.5, 1, 2, 4, 8, 16, 32, MAX_CARDS])
"""Bins of expected cards left."""


@dataclass(frozen=True, slots=True)
class Positions:
    """The valued afterstates of many games, and how these ended.

    Attributes:
        game: int64[n], the game of each afterstate.
        chance: float64[n], predicted chance to win.
        expected: float64[n], predicted mean of the cards left.
        left: int64[games], cards left of each game.
        decisions: Turns planned, those that end the game included.
    """

    game: Int64
    chance: Floats
    expected: Floats
    left: Int64
    decisions: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the predictions of one table agree with what happened.

    Attributes:
        table: As text.
        weights: Name of the value's weights.
        players: Seats.
        slug: The table in a file's name.
        games: Games played.
        positions: Afterstates valued.
        win_rate: Share of games won.
        chance: Reliability of the chance to win.
        calibration_error: Expected calibration error: mean distance of predicted and actual share
            over the bins, weighted by their positions.
        brier: Mean squared error of the chance to win.
        brier_constant: The same if every position were given the share of positions won.
        bias: Mean predicted chance minus the share won; with its 95 % interval.
        left: Reliability of the expected cards left.
        left_error: Mean distance of predicted and actual cards left, as calibration_error.
        left_bias: Mean predicted minus actual cards left; with its 95 % interval.
    """

    table: str
    weights: str
    players: int
    slug: str
    games: int
    positions: int
    win_rate: float
    chance: list[Bin]
    calibration_error: float
    brier: float
    brier_constant: float
    bias: tuple[float, float, float]
    left: list[Bin]
    left_error: float
    left_bias: tuple[float, float, float]


def value_for(table: Table, weights: str | None) -> tuple[TurnValue, str]:
    """The value that `afterstate` plays by at a table, or of a weights name or path; its name."""
    found = load_for(KIND, VERSION, weights, table)
    worth = utility_of(trained_utility(found.metadata))
    value = TurnValue(parameters(table), ValueModel(found.arrays), worth, late=LATE)
    return value, found.path.stem


def play_positions(value: TurnValue, table: Table, deals: str, games: int) -> Positions:
    """Play games 0..games-1 of a range of deals, all seats by the value.

    Args:
        value: The value, with the planner that enumerates the plans.
        table: What is played.
        deals: "development" or "held-out".
        games: How many.
    """
    blocks = [
        _play_block(value, table, deals, np.arange(at, min(at + BATCH, games)))
        for at in range(0, games, BATCH)
    ]
    return Positions(
        np.concatenate([block.game for block in blocks]),
        np.concatenate([block.chance for block in blocks]),
        np.concatenate([block.expected for block in blocks]),
        np.concatenate([block.left for block in blocks]),
        sum(block.decisions for block in blocks),
    )


def _play_block(value: TurnValue, table: Table, deals: str, numbers: Int64) -> Positions:
    """The positions of the games of these numbers."""
    engine = Engine(table, len(numbers))
    engine.deal(deal_seed(deals, 0), numbers)
    only_first = bool(engine.p[P_TALK] != TALK_NONE)
    game, chance, expected, decisions = [numbers[:0]], [np.zeros(0)], [np.zeros(0)], 0
    while len(running := np.flatnonzero(engine.games[:, STATUS] == PLAYING)):
        choice = value.choose(np.ascontiguousarray(engine.views()[running]))
        at = np.flatnonzero(choice.plans.kinds[choice.best] == OPEN)
        chances = choice.chances[choice.best[at]].astype(np.float64)
        game.append(numbers[running[at]])
        chance.append(chances[:, 0])
        expected.append(chances @ CENTRES)
        decisions += len(running)
        _play_best(engine, running, choice, only_first)
    columns = np.concatenate(game), np.concatenate(chance), np.concatenate(expected)
    return Positions(*columns, engine.games[:, LEFT].copy(), decisions)


def _play_best(engine: Engine, running: Int64, choice: Choice, only_first: bool) -> None:
    picked = np.full(len(engine.games), -1)
    picked[running] = choice.best
    plans = choice.plans
    play_plans(
        engine.games, engine.decks, engine.p, picked, plans.lengths, plans.actions, only_first
    )


def calibration_of(table: Table, weights: str, positions: Positions) -> Calibration:
    """The figures of a table from its positions; ValueError where fewer than two games have any."""
    if len(np.unique(positions.game)) < 2:
        raise ValueError("fewer than two of the games have a turn to judge: play more games")
    game, left = positions.game, positions.left[positions.game].astype(np.float64)
    won = (left == 0).astype(np.float64)
    chance = reliability(positions.chance, won, game, CHANCE_EDGES, shares=True)
    expected = reliability(positions.expected, left, game, LEFT_EDGES, shares=False)
    return Calibration(
        table=table_text(table),
        weights=weights,
        players=table.players,
        slug=slug_of(table),
        games=len(positions.left),
        positions=len(game),
        win_rate=float(np.mean(positions.left == 0)),
        chance=chance,
        calibration_error=error_of(chance),
        brier=float(np.mean((positions.chance - won) ** 2)),
        brier_constant=float(np.var(won)),
        bias=ratio_interval(positions.chance - won, game),
        left=expected,
        left_error=error_of(expected),
        left_bias=ratio_interval(positions.expected - left, game),
    )


def table_text(table: Table) -> str:
    """The table in words."""
    players = f"{table.players} player{'s' if table.players > 1 else ''}"
    memory = "memory on" if table.memory else "memory off"
    return f"`{table.rules.spec()}`, {players}, {memory}, talk {table.talk}"


def slug_of(table: Table) -> str:
    """The table in a file's name: "5p", "3p-profi-memory-off"."""
    parts = [f"{table.players}p"]
    if table.rules.spec() != "official":
        parts.append(re.sub(r"[^a-z0-9]+", "-", table.rules.spec().lower()))
    parts += ["memory-off"] * (not table.memory) + [table.talk] * (table.talk != "none")
    return "-".join(parts)


def markdown(result: Calibration) -> list[str]:
    """The lines of a table's part of the report."""
    bias, left_bias = (
        "{:+.{d}f} ({:+.{d}f} to {:+.{d}f})".format(*(scale * end for end in ends), d=digits)
        for scale, digits, ends in ((100, 1, result.bias), (1, 2, result.left_bias))
    )
    return [
        f"**{result.table}** (`{result.weights}`): {result.games:,} games, "
        f"{result.positions:,} positions, {100 * result.win_rate:.1f} % of the games won",
        "",
        f"Expected calibration error {100 * result.calibration_error:.1f} points, predicted minus "
        f"won {bias} points, Brier score {result.brier:.4f} (a constant: "
        f"{result.brier_constant:.4f}).",
        "",
        "| called, % | positions | mean, % | won, % (95 %) |",
        "|---|---|---|---|",
        *(_row(b, 100, 1) for b in result.chance),
        "",
        f"Cards left: mean error over the bins {result.left_error:.2f}, predicted minus actual "
        f"{left_bias}.",
        "",
        "| expected | positions | mean | left (95 %) |",
        "|---|---|---|---|",
        *(_row(b, 1, 2) for b in result.left),
        "",
    ]


def _row(b: Bin, scale: int, digits: int) -> str:
    predicted, actual = (f"{scale * value:.{digits}f}" for value in (b.predicted, b.actual))
    ends = "unknown"
    if b.actual_low is not None and b.actual_high is not None:
        ends = f"{scale * b.actual_low:.{digits}f}-{scale * b.actual_high:.{digits}f}"
    return f"| {scale * b.low:g}-{scale * b.high:g} | {b.n:,} | {predicted} | {actual} ({ends}) |"


def tables_of(players: str, rules: str, memory: str, talk: str) -> list[Table]:
    """The tables of the command line: numbers such as "1-5" or "2,3,5", the rest one value each.

    Raises:
        ValueError: Something is not a number of players, rules, on or off, or table talk.
    """
    found = re.fullmatch(r"([1-9])-([1-9])", players)
    if found:
        numbers = list(range(int(found[1]), int(found[2]) + 1))
    elif re.fullmatch(r"[1-9](,[1-9])*", players):
        numbers = [int(text) for text in players.split(",")]
    else:
        numbers = []
    if not numbers:
        raise ValueError(f'players: "{players}" is not of the form 1-5 or 2,3,5')
    if memory not in ("on", "off"):
        raise ValueError(f'memory: "{memory}" is neither on nor off')
    played = Rules.parse(rules)
    return [Table(played, n, memory == "on", cast(Talk, talk)) for n in numbers]


def refusing(work: Callable[[], None], name: str) -> None:
    """Do the work of a command; what is wrong with its input is one sentence and exit code 2."""
    try:
        work()
    except ValueError as error:
        typer.echo(f"{name}: {error}", err=True)
        raise typer.Exit(2) from None


def main(
    players: Annotated[str, typer.Option(help="Numbers of players, as 1-5 or 2,3,5.")] = "1-5",
    games: Annotated[int, typer.Option(min=2, help="Held-out deals a table.")] = 1000,
    weights: Annotated[str | None, typer.Option(help="Name or path; else the table's own.")] = None,
    rules: Annotated[str, typer.Option(help="Preset or custom rules.")] = "official",
    memory: Annotated[str, typer.Option(help="Whether seats remember: on, off.")] = "on",
    talk: Annotated[str, typer.Option(help="Table talk: none, avoid, open.")] = "none",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for plots, text and JSON.")] = None,
) -> None:
    """Measure the learned value's calibration in self-play."""

    def work() -> None:
        results = []
        for table in tables_of(players, rules, memory, talk):
            value, name = value_for(table, weights)
            positions = play_positions(value, table, "held-out", games)
            results.append(calibration_of(table, name, positions))
        document = json.dumps([asdict(result) for result in results], indent=1) + "\n"
        text = "\n".join(line for result in results for line in markdown(result))
        if out is not None:
            write_atomic(out / "calibration.json", document.encode())
            write_atomic(out / "calibration.md", text.encode())
            for result in results:
                plot = reliability_plot(result.chance, result.players, result.calibration_error)
                write_atomic(out / f"calibration-{result.slug}.svg", plot.encode())
        typer.echo(document if as_json else text, nl=False)

    refusing(work, "calibration")


if __name__ == "__main__":
    typer.run(main)
