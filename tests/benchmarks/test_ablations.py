"""Ablations: the list's runs are trained once, played on the same deals, and told in a table."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from benchmarks.ablations import COLUMNS, ROWS, load_groups, main
from train.config import PPOConfig, load_config

ROOT = Path(__file__).parents[2]
SMALL = """
kind: ppo
steps: 64
table: {players: 2}
games: 4
n_steps: 8
batch_size: 16
network: {pile: 4, context: 4, deep: 4, head: 4, mix: 4}
evaluation: {every_minutes: 10, games: 4}
threads: 1
"""


def app() -> typer.Typer:
    made = typer.Typer()
    made.command()(main)
    return made


def groups_file(folder: Path) -> Path:
    config, rows = folder / "small.yaml", folder / "rows.yaml"
    config.write_text(SMALL)
    rows.write_text(
        "- title: Two seeds\n"
        "  rows:\n"
        f"    - {{name: one, config: {config}, text: the first}}\n"
        f"    - {{name: two, config: {config}, seed: 2, text: the second}}\n"
    )
    return rows


def test_the_shipped_list_names_valid_runs_once() -> None:
    rows = [row for group in load_groups(ROOT / ROWS) for row in group.rows]
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert isinstance(load_config(ROOT / row.config), PPOConfig)
    configs = {row.config.name for row in rows}
    assert {path.name for path in (ROOT / "configs/ablations").glob("*.yaml")} <= configs


def test_rows_are_trained_once_and_paired(tmp_path: Path) -> None:
    rows, out = groups_file(tmp_path), tmp_path / "out"
    arguments = ["--rows", str(rows), "--runs", str(tmp_path / "runs"), "--out", str(out)]
    only = CliRunner().invoke(app(), [*arguments, "--only", "one"])
    assert only.exit_code == 0, only.output
    assert not out.exists()
    policy = tmp_path / "runs/one/policy.safetensors"
    trained = policy.stat().st_mtime_ns
    done = CliRunner().invoke(app(), [*arguments, "--games", "6"])
    assert done.exit_code == 0, done.output
    assert policy.stat().st_mtime_ns == trained
    text = (out / "ablations.md").read_text()
    assert text == done.stdout
    first, second = (line for line in text.splitlines() if line.startswith("| the "))
    assert first.count("|") == second.count("|") == len(COLUMNS) + 1
    assert first.split(" | ")[6] == "-"
    assert f"`thegame train {tmp_path / 'small.yaml'} --seed 2`" in second
    assert " | 64 | " in first
    assert "Over the 2 seeds" in text
    assert (out / "ablations-one.svg").read_text().count("two") == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--only", "three"], "ablations: only: {rows} has no row three; one, two\n"),
        (["--rows", "{rows}.not"], "ablations: {rows}.not is not a list of groups of rows: "),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, change: list[str], said: str) -> None:
    rows = str(groups_file(tmp_path))
    done = CliRunner().invoke(app(), ["--rows", rows, *(c.format(rows=rows) for c in change)])
    assert done.exit_code == 2
    assert done.stderr.startswith(said.format(rows=rows))
    assert done.stderr.count("\n") == 1
