import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from invented_runs import make_cell, make_manifest, make_row, write_run

from eval.cells import Cell, Chunk
from eval.columns import load_run
from eval.records import Ended, open_run, write_chunk
from eval.stats import bootstrap_mean_difference, wilson
from eval.summary import Summary, summarise, summary_csv, summary_json

GREEDY, SEQUENCE = make_cell("greedy"), make_cell("sequence")
KEYS = (
    "agent players rules talk memory starter games win_rate win_low win_high cards_left_mean "
    "cards_left_se under_ten ms_per_decision_p50 ms_per_decision_p95 games_per_s faults"
)


def summary_of(run_dir: Path) -> Summary:
    return summarise(load_run(run_dir))


def test_the_figures_of_a_cell_by_hand(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, {SEQUENCE: [9, 2, 4], GREEDY: [0, 10, 20]})
    cell = summary_of(run_dir).cells[1]
    assert (cell.agent, cell.games, cell.games_planned, cell.wins) == ("greedy", 3, 3, 1)
    assert (cell.win_rate, cell.win_low, cell.win_high) == (1 / 3, *wilson(1, 3))
    assert cell.cards_left_mean == 10
    assert cell.cards_left_se == pytest.approx(10 / 3**0.5)
    assert (cell.cards_left_q1, cell.cards_left_median, cell.cards_left_q3) == (5, 10, 15)
    assert (cell.cards_left_min, cell.cards_left_max) == (0, 20)
    assert (cell.under_ten, cell.under_ten_low) == (1 / 3, wilson(1, 3)[0])
    assert (cell.turns_mean, cell.tricks_mean) == (40, pytest.approx(10 / 3))
    assert (cell.best_game, cell.median_game, cell.worst_game) == (3, 4, 5)
    assert (cell.faults, cell.fault_reasons) == (0, {})


def test_times_of_a_cell(tmp_path: Path) -> None:
    # every game of two players took 2 ms for 10 decisions
    cell = summary_of(write_run(tmp_path, {GREEDY: [1, 2, 3]}, chunk_games=2)).cells[0]
    assert cell.decisions == 30
    assert cell.games_per_s == pytest.approx(500)
    assert cell.ms_per_decision_p50 == pytest.approx(0.2, rel=0.05)
    assert cell.ms_per_decision_p95 == pytest.approx(0.2, rel=0.05)


def test_chunks_do_not_matter(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    left = {cell: rng.integers(0, 30, 60).tolist() for cell in (GREEDY, SEQUENCE)}
    whole = summary_json(summary_of(write_run(tmp_path / "whole", left, 1000)))
    for chunk_games in (1, 7, 30):
        parts = summary_of(write_run(tmp_path / f"by{chunk_games}", left, chunk_games))
        close = replace(parts, cells=[replace(c, games_per_s=None) for c in parts.cells])
        expected = json.loads(whole)
        for cell in expected["cells"]:
            cell["games_per_s"] = None
        assert json.loads(summary_json(close)) == expected


def test_paired_by_hand(tmp_path: Path) -> None:
    left = {GREEDY: [4, 0, 8, 6, 0], SEQUENCE: [0, 0, 5, 0, 3]}
    summary = summary_of(write_run(tmp_path, left))
    (paired,) = summary.paired
    assert (paired.agent, paired.baseline, paired.games) == ("sequence", "greedy", 5)
    assert paired.cards_left_diff == pytest.approx((-4 + 0 - 3 - 6 + 3) / 5)
    expected = bootstrap_mean_difference(left[SEQUENCE], left[GREEDY])
    assert (paired.cards_left_low, paired.cards_left_high) == expected[1:]
    assert (paired.only_agent_won, paired.only_baseline_won) == (2, 1)
    assert paired.win_diff == pytest.approx(1 / 5)
    assert paired.win_diff_low <= 1 / 5 <= paired.win_diff_high
    assert paired.mcnemar_p == paired.mcnemar_p_holm == 1.0


def test_holm_spans_all_tables(tmp_path: Path) -> None:
    three = [make_cell("greedy", 3), make_cell("sequence", 3)]
    left = {
        GREEDY: [1] * 8,
        SEQUENCE: [0] * 8,
        three[0]: [1] * 6 + [0, 0],
        three[1]: [0] * 6 + [0, 0],
    }
    first, second = summary_of(write_run(tmp_path, left)).paired
    assert (first.mcnemar_p, second.mcnemar_p) == (2 / 2**8, 2 / 2**6)
    assert (first.mcnemar_p_holm, second.mcnemar_p_holm) == (4 / 2**8, 2 / 2**6)


def test_only_deals_that_both_played_are_paired(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, {GREEDY: [4, 5, 6, 7], SEQUENCE: [1, 2, 3, 0]}, chunk_games=1)
    Chunk(GREEDY, 1, 1).rows_path(run_dir).unlink()
    Chunk(SEQUENCE, 3, 1).rows_path(run_dir).unlink()
    summary = summary_of(run_dir)
    assert [cell.games for cell in summary.cells] == [3, 3]
    assert (summary.paired[0].games, summary.paired[0].cards_left_diff) == (2, -3)


def test_a_table_without_the_baseline_is_not_compared(tmp_path: Path) -> None:
    elsewhere = make_cell("sequence", 3)
    summary = summary_of(write_run(tmp_path, {GREEDY: [1, 2], elsewhere: [1, 2]}))
    assert summary.paired == []


def write_with_faults(run_dir: Path, endings: list[tuple[int, Ended | None, str]]) -> None:
    (chunk,) = open_run(run_dir, make_manifest([GREEDY], len(endings)))
    rows = [
        make_row(GREEDY, game, left, ended, reason)
        for game, (left, ended, reason) in enumerate(endings)
    ]
    write_chunk(run_dir, chunk, rows)


def test_faults_are_counted_named_and_kept(tmp_path: Path) -> None:
    write_with_faults(
        tmp_path,
        [
            (0, None, ""),
            (40, "crash", "KeyError: 3\n"),
            (50, "illegal", "99 is lower than the top"),
            (60, "timeout", "no answer in 1 s"),
            (70, "crash", "KeyError: 3"),
            (5, None, ""),
        ],
    )
    cell = summary_of(tmp_path).cells[0]
    assert (cell.crash, cell.illegal, cell.timeout, cell.faults) == (2, 1, 1, 4)
    assert (cell.games, cell.wins, cell.cards_left_mean) == (6, 1, 225 / 6)
    assert list(cell.fault_reasons.items()) == [
        ("crash: KeyError: 3", 2),
        ("illegal: 99 is lower than the top", 1),
        ("timeout: no answer in 1 s", 1),
    ]
    assert (cell.ms_per_decision_p50, cell.games_per_s) == (None, None)


def test_crossplay_holds_the_pairs_and_their_self_play(tmp_path: Path) -> None:
    left = {
        GREEDY: [9, 9],
        SEQUENCE: [3, 3],
        make_cell("random"): [50, 50],
        make_cell("greedy|sequence"): [6, 0],
        make_cell("sequence|greedy"): [7, 7],
    }
    summary = summary_of(write_run(tmp_path, left))
    lines = [(c.one, c.others, c.cards_left_mean, c.win_rate) for c in summary.crossplay]
    assert lines == [
        ("greedy", "greedy", 9, 0),
        ("greedy", "sequence", 3, 0.5),
        ("sequence", "greedy", 7, 0),
        ("sequence", "sequence", 3, 0),
    ]
    assert [p.agent for p in summary.paired] == ["sequence", "random"]


def test_json_and_csv_have_the_agreed_names(tmp_path: Path) -> None:
    summary = summary_of(write_run(tmp_path, {GREEDY: [1, 0], SEQUENCE: [2, 3]}))
    content = json.loads(summary_json(summary))
    assert set(content) == {"cells", "paired"}
    assert set(KEYS.split()) <= set(content["cells"][0])
    lines = list(csv.DictReader(io.StringIO(summary_csv(summary))))
    assert [line["agent"] for line in lines] == ["greedy", "sequence"]
    assert float(lines[1]["cards_left_mean"]) == content["cells"][1]["cards_left_mean"] == 2.5


def test_one_game_has_no_error_and_no_nan(tmp_path: Path) -> None:
    content = json.loads(summary_json(summary_of(write_run(tmp_path, {GREEDY: [7]}))))
    assert content["cells"][0]["cards_left_se"] is None


def test_damaged_chunks_are_left_out_and_named(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, {GREEDY: [1, 2, 3, 4]}, chunk_games=1)
    Chunk(GREEDY, 0, 1).rows_path(run_dir).unlink()
    path = Chunk(GREEDY, 3, 1).rows_path(run_dir)
    path.write_bytes(b"no gzip")
    run = load_run(run_dir)
    assert [chunk.first for chunk in run.missing] == [0]
    assert len(run.damaged) == 1
    assert run.damaged[0].startswith(f"rows/{path.name} is damaged")
    assert run.games[GREEDY].cards_left.tolist() == [2, 3]


def test_the_cells_keep_the_order_of_the_manifest(tmp_path: Path) -> None:
    cells = [Cell(a, p, "official", "none", True, "seat0") for p in (3, 1) for a in ("z", "a")]
    summary = summary_of(write_run(tmp_path, {cell: [1, 2] for cell in cells}))
    assert [(c.agent, c.players) for c in summary.cells] == [("z", 3), ("a", 3), ("z", 1), ("a", 1)]
