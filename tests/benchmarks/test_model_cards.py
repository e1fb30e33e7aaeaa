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
    assert "| `greedy`" not in text
    assert "Others at this table: `greedy` 2.0 %.\n" in text
    assert "--players 4 --talk none --memory on --games 10000 --deals held-out --seed 1`." in text
    assert "features version 2." in text
    stages = [*metadata["lineage"], metadata]
    assert sum(f"| {stage['games']:,} |" in text for stage in stages) == len(stages)
    assert "4 players, memory on, talk none" in text


def test_a_generalist_shows_what_it_played_and_specialists_do_not() -> None:
    tables = [
        {"rules": rules, "players": players, "memory": True, "talk": "none"}
        for rules in ("official", "small-hands")
        for players in (3, 4)
    ]
    metadata: dict[str, Any] = {
        **shipped("afterstate")["afterstate_4p"],
        "tables": tables,
        "development": {
            "tables": [
                {**table, "starter": "seat0", "games": 50, "win_rate": 0.25, "cards_left_mean": 4.0}
                for table in tables
            ]
        },
    }
    own = {**cell("afterstate", 3, 0.123), "rules": "small-hands"}
    asked = cell("expert:100ms,weights=afterstate_generalist", 4, 0.321)
    cells = [own, asked, cell("afterstate", 4, 0.9), cell("afterstate:other_path", 2, 0.4)]
    text = card("afterstate_generalist", metadata, cells)
    row = "| `small-hands`, memory on, talk none | `afterstate` | 10,000 | - | - | 12.3 (11.3-13.3)"
    assert f"{row}, 1.5 | - | - |" in text
    assert "| `official`, memory on, talk none | `expert:100ms,weights=" in text
    assert "90.0" not in text
    assert "4 tables of `official`, `small-hands`" in text
    assert "| `official`, memory on, talk none | - | - | 25.0, 4.0 | 25.0, 4.0 | - |" in text
    special = card("afterstate_4p", shipped("afterstate")["afterstate_4p"], cells)
    assert "90.0" in special


def test_a_policy_tells_its_imitation_and_its_own_results_only() -> None:
    metadata: dict[str, Any] = {
        "kind": "ppo",
        "table": {"rules": "official", "players": 4, "memory": True, "talk": "none"},
        "clone": {"teachers": {"afterstate_4p": "0" * 16}, "minutes": 12.0, "positions": 3_000_000},
        "seed": 2,
        "version": 2,
        "libraries": {"numpy": "2.4.6"},
        "config": {"minutes": 30},
        "steps": 5_000_000,
        "seconds": 1500,
        "development": {"games": 2000, "win_rate": 0.615, "cards_left_mean": 1.52},
    }
    cells = [cell("ppo", 4, 0.6), cell("afterstate", 4, 0.9), cell("ppo:ppo_5p", 4, 0.4)]
    text = card("ppo_4p", metadata, cells)
    row = (
        "memory on, talk none | `afterstate_4p` | 12.0 | 3,000,000 | 30.0 | 25.0 | 5,000,000 | 2 |"
    )
    assert f"| 1 | `official`, 4 players, {row}" in text
    assert "On 2,000 development deals it won 61.5 %, with 1.52 cards left on average." in text
    assert "observation `relative` version 2. Trained with numpy 2.4.6." in text
    assert "| `ppo` | 10,000 | 60.0 (59.0-61.0) | 1.50 |" in text
    assert "Others at this table: `afterstate` 90.0 %, `ppo:ppo_5p` 40.0 %." in text
    assert "| 40.0" not in text
    agreed = {**cell("ppo", 4, 0.7), "starter": "agreed"}
    others = [{**cell("afterstate", 4, 0.95), "starter": "agreed"}, cell("afterstate", 4, 0.9)]
    text = card("ppo_4p", metadata, [agreed, *others])
    assert "| `ppo`, starter agreed | 10,000 | 70.0 (69.0-71.0) | 1.50 |" in text
    assert "--memory on --starter agreed --games 10000" in text
    assert "Others at this table: `afterstate` 90.0 %.\n" in text
    assert "Not played on held-out deals yet." in card("ppo_4p", metadata, [])
    told = {"rules": "official", "players": 4, "memory": True, "talk": "none"}
    several = {**told, "starter": "seat0", "games": 50, "win_rate": 0.25, "cards_left_mean": 4.0}
    many = {**metadata, "tables": [told], "development": {"games": 50, "win_rate": 0.25,
            "cards_left_mean": 4.0, "tables": [several]}}  # fmt: skip
    assert "| - | - | - | 25.0, 4.0 | - |" in card("ppo_generalist", many, [])
    scratch = {key: value for key, value in metadata.items() if key != "clone"}
    text = card("ppo_4p", {**metadata, "lineage": [scratch]}, cells)
    assert "| 1 | `official`, 4 players, memory on, talk none | - | - | - | 30.0 | 25.0 |" in text
    assert f"| 2 | `official`, 4 players, {row}" in text
