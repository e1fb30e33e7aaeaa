"""From the rows of a run to its figures: one summary a cell, and paired comparisons.

Every figure is recomputed from the rows, whoever wrote them. A game that ended by a fault of
an agent counts as lost, with the cards that were left then.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from eval.cells import Cell, Starter, Table, Talk
from eval.columns import Games, Run, common_deals
from eval.records import FAULTS
from eval.stats import (
    bootstrap_mean_difference,
    discordant,
    holm,
    mcnemar_exact,
    mean_se,
    quartiles,
    wilson,
)


@dataclass(frozen=True, slots=True)
class CellSummary:
    """The figures of one cell.

    Shares (`win_*`, `under_ten*`) lie in 0..1 with Wilson 95 % intervals; a value that cannot
    be computed is None: a standard error of one game, times that were not measured.
    `games_per_s` is that of one worker. `best_game`, `median_game` and `worst_game` are
    numbers of games of the run, by cards left. `faults` adds up crash, illegal and timeout.
    """

    agent: str
    players: int
    rules: str
    talk: Talk
    memory: bool
    starter: Starter
    games: int
    games_planned: int
    wins: int
    win_rate: float
    win_low: float
    win_high: float
    cards_left_mean: float
    cards_left_se: float | None
    cards_left_q1: float
    cards_left_median: float
    cards_left_q3: float
    cards_left_min: int
    cards_left_max: int
    under_ten: float
    under_ten_low: float
    under_ten_high: float
    turns_mean: float
    tricks_mean: float
    decisions: int
    ms_per_decision_p50: float | None
    ms_per_decision_p95: float | None
    games_per_s: float | None
    crash: int
    illegal: int
    timeout: int
    faults: int
    fault_reasons: dict[str, int]
    best_game: int
    median_game: int
    worst_game: int


@dataclass(frozen=True, slots=True)
class PairedSummary:
    """An agent against the baseline at the same table on the deals that both played.

    Differences are agent minus baseline: fewer cards left and more wins are better. The
    intervals are bootstrap 95 %; `mcnemar_p_holm` is corrected for all comparisons of the run.
    """

    agent: str
    baseline: str
    players: int
    rules: str
    talk: Talk
    memory: bool
    starter: Starter
    games: int
    cards_left_diff: float
    cards_left_low: float
    cards_left_high: float
    win_diff: float
    win_diff_low: float
    win_diff_high: float
    only_agent_won: int
    only_baseline_won: int
    mcnemar_p: float
    mcnemar_p_holm: float


@dataclass(frozen=True, slots=True)
class CrossSummary:
    """One agent in one seat and another in all others; `one` equals `others` in self-play."""

    one: str
    others: str
    players: int
    rules: str
    talk: Talk
    memory: bool
    starter: Starter
    games: int
    win_rate: float
    win_low: float
    win_high: float
    cards_left_mean: float
    cards_left_se: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run; the cells are in the manifest's order."""

    cells: list[CellSummary]
    paired: list[PairedSummary]
    crossplay: list[CrossSummary]


def summarise(run: Run) -> Summary:
    """Compute every figure of a run; cells without games are left out."""
    cells = [summarise_cell(run, cell) for cell in run.games]
    return Summary(cells, compare_with_baseline(run), _crossplay(run, cells))


def summarise_cell(run: Run, cell: Cell) -> CellSummary:
    """Compute the figures of one cell that has games."""
    games, timing = run.games[cell], run.timings[cell]
    n, wins = games.won.size, int(games.won.sum())
    win_low, win_high = wilson(wins, n)
    mean, se = mean_se(games.cards_left)
    q1, median, q3 = quartiles(games.cards_left)
    under_ten = int(np.count_nonzero(games.cards_left < 10))
    under_low, under_high = wilson(under_ten, n)
    best, middle, worst = (run.manifest.game_number(cell, k) for k in _telling_games(games))
    return CellSummary(
        **asdict(cell),
        games=n,
        games_planned=run.manifest.games,
        wins=wins,
        win_rate=wins / n,
        win_low=win_low,
        win_high=win_high,
        cards_left_mean=mean,
        cards_left_se=_known(se),
        cards_left_q1=q1,
        cards_left_median=median,
        cards_left_q3=q3,
        cards_left_min=int(games.cards_left.min()),
        cards_left_max=int(games.cards_left.max()),
        under_ten=under_ten / n,
        under_ten_low=under_low,
        under_ten_high=under_high,
        turns_mean=float(games.turns.mean()),
        tricks_mean=float(games.tricks.mean()),
        decisions=timing.decisions,
        ms_per_decision_p50=timing.quantile(0.5),
        ms_per_decision_p95=timing.quantile(0.95),
        games_per_s=timing.games_per_second(),
        crash=games.ended["crash"],
        illegal=games.ended["illegal"],
        timeout=games.ended["timeout"],
        faults=sum(games.ended[fault] for fault in FAULTS),
        fault_reasons=dict(sorted(games.reasons.items(), key=lambda item: (-item[1], item[0]))),
        best_game=best,
        median_game=middle,
        worst_game=worst,
    )


def compare_with_baseline(run: Run) -> list[PairedSummary]:
    """Compare every agent with the baseline of its table; Holm's correction spans them all.

    Cross-play is not compared, nor is a table that the baseline did not play.
    """
    pairs = list(_baseline_pairs(run))
    tests = [mcnemar_exact(ours.won, theirs.won) for _, ours, theirs in pairs]
    adjusted = holm(tests)
    baseline = run.manifest.baseline or ""
    return [
        _compare(cell, baseline, ours, theirs, p, p_holm)
        for (cell, ours, theirs), p, p_holm in zip(pairs, tests, adjusted, strict=True)
    ]


def table_of(line: CellSummary | PairedSummary | CrossSummary) -> Table:
    """Return the table that a line of a summary belongs to."""
    return Table(line.players, line.rules, line.talk, line.memory, line.starter)


def summary_json(summary: Summary) -> str:
    """Return {"cells": [...], "paired": [...]}, and "crossplay" if there was any, as text."""
    content = asdict(summary)
    if not summary.crossplay:
        del content["crossplay"]
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def summary_csv(summary: Summary) -> str:
    """Return one line a cell, with the names of the figures in the first line."""
    out = io.StringIO()
    names = [field.name for field in fields(CellSummary) if field.name != "fault_reasons"]
    writer = csv.DictWriter(out, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(cell) for cell in summary.cells)
    return out.getvalue()


def _baseline_pairs(run: Run) -> Iterator[tuple[Cell, Games, Games]]:
    """Yield (cell, its games, the baseline's games), both cut down to the deals in common."""
    base = {c.table: games for c, games in run.games.items() if c.agent == run.manifest.baseline}
    for cell, games in run.games.items():
        if cell.agent == run.manifest.baseline or cell.pair or cell.table not in base:
            continue
        ours, theirs = common_deals(games, base[cell.table])
        if ours.won.size:
            yield cell, ours, theirs


def _compare(
    cell: Cell, baseline: str, ours: Games, theirs: Games, p: float, p_holm: float
) -> PairedSummary:
    left, left_low, left_high = bootstrap_mean_difference(ours.cards_left, theirs.cards_left)
    win, win_low, win_high = bootstrap_mean_difference(ours.won, theirs.won)
    only_agent, only_baseline = discordant(ours.won, theirs.won)
    return PairedSummary(
        **asdict(cell),
        baseline=baseline,
        games=ours.won.size,
        cards_left_diff=left,
        cards_left_low=left_low,
        cards_left_high=left_high,
        win_diff=win,
        win_diff_low=win_low,
        win_diff_high=win_high,
        only_agent_won=only_agent,
        only_baseline_won=only_baseline,
        mcnemar_p=p,
        mcnemar_p_holm=p_holm,
    )


def _crossplay(run: Run, cells: Sequence[CellSummary]) -> list[CrossSummary]:
    """Return the cross-play pairs, and self-play of the agents that take part at that table."""
    keyed = dict(zip(run.games, cells, strict=True))
    tables: dict[Table, set[str]] = {}
    for cell in keyed:
        if cell.pair:
            tables.setdefault(cell.table, set()).update(cell.pair)
    lines = [
        CrossSummary(
            one=one,
            others=others,
            **asdict(cell.table),
            games=figures.games,
            win_rate=figures.win_rate,
            win_low=figures.win_low,
            win_high=figures.win_high,
            cards_left_mean=figures.cards_left_mean,
            cards_left_se=figures.cards_left_se,
        )
        for cell, figures in keyed.items()
        for one, others in [cell.pair or (cell.agent, cell.agent)]
        if one in tables.get(cell.table, ())
    ]
    place = list(dict.fromkeys(name for cell in keyed for name in cell.pair or (cell.agent,)))
    return sorted(lines, key=lambda c: (table_of(c), place.index(c.one), place.index(c.others)))


def _telling_games(games: Games) -> tuple[int, int, int]:
    """Return the deals of a game with the fewest, the median and the most cards left."""
    order = np.argsort(games.cards_left, kind="stable")
    worst = int(np.argmax(games.cards_left))
    places = (int(order[0]), int(order[(order.size - 1) // 2]), worst)
    best, median, last = (int(games.key[place, 1]) for place in places)
    return best, median, last


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
