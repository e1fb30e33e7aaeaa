"""Model cards tell the whole lineage and the figures of their own table only."""

from __future__ import annotations

from typing import Any

from agents.weight_files import shipped
from benchmarks.model_cards import card


def cell(agent: str, players: int, rate: float) -> dict[str, Any]:
    return {
        "agent": agent,
        "players": players,
        "rules": "official",
        "talk": "none",
        "memory": True,
        "games": 10_000,
        "win_rate": rate,
        "win_low": rate - 0.01,
        "win_high": rate + 0.01,
        "cards_left_mean": 1.5,
    }


def test_a_card_shows_its_table_its_stages_and_its_results() -> None:
    metadata = shipped("afterstate")["afterstate_4p"]
    cells = [cell("afterstate", 4, 0.9), cell("afterstate", 3, 0.7), cell("greedy", 4, 0.02)]
    text = card("afterstate_4p", metadata, cells)
    assert text.startswith("# afterstate_4p\n")
    assert "| `afterstate` | 10,000 | 90.0 (89.0-91.0) | 1.50 |" in text
    assert "70.0" not in text
    assert "greedy" not in text
    stages = [*metadata["lineage"], metadata]
    assert sum(f"| {stage['games']:,} |" in text for stage in stages) == len(stages)
    assert "4 players, memory on, talk none" in text
