"""`make results`: the shipped list is valid, and a small one writes the README's part anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.results import BEGIN, END, load_runs, main, splice
from thegame_env.rules import Rules

ROOT = Path(__file__).parents[2]
RUNS = """
- name: silent
  title: "**silent**"
  agents: random,greedy
  rules: official
  games: 4
  players: 2-3
- name: agreed
  title: "**agreed**"
  agents: greedy
  rules: official
  games: 4
  players: "2"
  starter: agreed
"""


def test_the_shipped_list_names_every_run_once() -> None:
    runs = load_runs(ROOT / "configs/results.yaml")
    assert len({run.name for run in runs}) == len(runs)
    for run in runs:
        Rules.parse(run.rules)
        command = run.command(1)
        assert command[command.index("--deals") + 1] == "held-out"
        assert run.talk == "none" or not run.players.startswith("1")


def test_the_readme_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cards: list[str] = []
    monkeypatch.setattr(
        results, "write_cards", lambda cells: cards.extend(cell["agent"] for cell in cells)
    )
    Path("configs").mkdir()
    Path("configs/results.yaml").write_text(RUNS)
    Path("README.md").write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    main(Path(), workers=1)
    text = Path("README.md").read_text()
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    silent, agreed = text.index("silent"), text.index("agreed")
    assert silent < text.index("| `random` | 4 | - | **0.0** (0.0-") < agreed
    assert text[agreed:].count("`greedy`") == 1
    assert sorted(cards) == ["greedy"] * 3 + ["random"] * 2


def test_a_readme_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"README\.md lacks the markers"):
        splice("nothing here", [])
