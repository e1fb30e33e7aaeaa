"""Arrays that a kernel makes live as long as the rows it takes of them, in many threads at once."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from agents.sequence import sequence_games, weights_for
from thegame_env.engine import parameters
from thegame_env.rules import Table

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for part in ("thegame_env", "agents", "eval", "train")
    for path in ROOT.glob(f"{part}/*.py")
)
MADE_BY = ("zeros", "empty", "ones", "full", "copy")


def called(node: ast.AST) -> str:
    """The name of the function that a call calls, else ""."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def made(function: ast.FunctionDef) -> set[str]:
    """Names that the function binds to arrays of its own."""
    names = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
            names |= {
                to.id for to, of in pairs if isinstance(to, ast.Name) and called(of) in MADE_BY
            }
    return names


def unheld(source: str) -> list[str]:
    """Functions, with the arrays of their own that they take rows of and do not hold afterwards."""
    found = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            taken, held = (
                {
                    name.id
                    for call in calls
                    if called(call) == kind
                    for name in ast.walk(call.args[0])
                    if isinstance(name, ast.Name)
                }
                for kind in ("row_of", "hold")
            )
            found += [f"{function.name}: {name}" for name in sorted(taken & made(function) - held)]
    return found


def test_the_check_sees_what_it_should() -> None:
    bad = "def f(p):\n    a, b = np.zeros(3), np.zeros(3)\n    g(row_of(a, 0), row_of(b, 0))\n"
    assert unheld(bad) == ["f: a", "f: b"]
    assert unheld(f"{bad}    hold((a, b))\n") == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_array_outlives_its_rows(path: Path) -> None:
    assert unheld(path.read_text(encoding="utf-8")) == []


def test_games_in_many_threads_are_those_of_one() -> None:
    table = Table(players=3)
    p, weights, seeds = parameters(table), weights_for(table), np.arange(60, dtype=np.uint64)

    def play(_: int) -> list[int]:
        left = np.zeros(len(seeds), np.int64)
        sequence_games(p, seeds, np.zeros(len(seeds), np.int64), left, weights, 4.0)
        return left.tolist()

    alone = play(0)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(play, range(12))) == [alone] * 12
