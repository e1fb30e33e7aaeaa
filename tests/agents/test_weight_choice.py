"""Which weights an agent plays by: sound ones of its table, by the utility of their training."""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import weight_files
from agents.afterstate_features import VERSION
from agents.registry import make_agent
from agents.value_bins import utility_of
from agents.weight_files import (
    SHIPPED,
    load_weights,
    read_metadata,
    save_weights,
    serving,
    shipped,
    table_metadata,
    tables_of,
)
from thegame_env.rules import PRESETS, Rules, Table
from train.config import load_config

SOLO, FIVE = Table(), Table(players=5)
PROFI = Rules.parse("profi")
ROOT = Path(__file__).parents[2]
BY_VALUE = ("afterstate:{}", "expert:deals=4,weights={}")


@pytest.fixture
def solo(tmp_path: Path) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """A place for weights, and the arrays and metadata of the solo value."""
    arrays, metadata = load_weights(SHIPPED / "afterstate_1p", "afterstate", VERSION)
    return tmp_path / "value", {name: array.copy() for name, array in arrays.items()}, metadata


def utility_at(agent: Any) -> list[float]:
    value = agent.searcher.root if agent.name.startswith("expert") else agent.value
    return [float(worth) for worth in value.utility]


@pytest.mark.parametrize("form", [*BY_VALUE, "ppo:{}"])
def test_shipped_weights_of_another_table_are_refused(form: str) -> None:
    kind = "ppo" if form.startswith("ppo") else "afterstate"
    sentence = (
        rf"{kind}_5p\.safetensors was trained for official, 5 players.*, not for official, 1 "
    )
    with pytest.raises(ValueError, match=rf"{sentence}player, .*; {kind}_1p would serve$"):
        make_agent(form.format(f"{kind}_5p"), SOLO)


def test_talk_and_rules_make_another_table() -> None:
    with pytest.raises(
        ValueError, match=r"talk open, not for profi, 2 players.*afterstate_2p_profi"
    ):
        make_agent("expert:100ms,weights=afterstate_5p_open", Table(PROFI, 2))


@pytest.mark.parametrize("form", BY_VALUE)
def test_weights_of_any_other_file_are_refused_too(form: str, solo: Any) -> None:
    path, arrays, metadata = solo
    save_weights(path, arrays, metadata)
    assert make_agent(form.format(path), SOLO)
    with pytest.raises(
        ValueError, match=r"value\.safetensors was trained.*afterstate_5p would serve"
    ):
        make_agent(form.format(path), FIVE)


NEAREST = [
    (Table(players=2, talk="avoid"), "1p"),
    (Table(PROFI, 5, talk="avoid"), "3p_profi"),
    (Table(Rules.parse("profi-short"), 3, memory=False), "3p_profi"),
    (Table(Rules.parse("custom/cards:60"), 5), "5p"),
    (Table(PROFI, 1, memory=False), "3p_profi"),
]


@pytest.mark.parametrize(("table", "nearest"), NEAREST, ids=str)
@pytest.mark.parametrize("kind", ["afterstate", "ppo"])
def test_who_lacks_weights_is_told_the_nearest_and_how_to_train(
    kind: str, table: Table, nearest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {f"{kind}_1p": SOLO, f"{kind}_3p_profi": Table(PROFI, 3), f"{kind}_5p": FIVE}
    told = {name: {"table": table_metadata(one)} for name, one in known.items()}
    monkeypatch.setattr(weight_files, "shipped", lambda _: told)
    with pytest.raises(ValueError, match=f"no {kind} weights for") as refused:
        make_agent(kind, table)
    words = re.search(
        r'; there are: (\S+) \(.*\) and 2 for other tables; "thegame train (.*)" trains some$',
        str(refused.value),
    )
    assert words is not None
    assert words[1] == f"{kind}_{nearest}"
    path, *options = shlex.split(words[2])
    assert set(options[::2]) <= {"--set"}
    config = load_config(ROOT / path, options[1::2])
    assert (config.table if kind == "afterstate" else config.table.table) == table


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("afterstat_1p", 'weights "afterstat_1p", did you mean "afterstate_1p"'),
        ("zzz", 'weights "zzz"; known: afterstate_1p, '),
        ("7", 'weights "7"; known'),
        (".", 'weights "."; known'),
        ("/", 'weights "/"; known'),
        ("nowhere/zzz", "no weights at nowhere/zzz.safetensors: zzz.json is missing"),
        (f"{__file__}/zzz", f"no weights at {__file__}/zzz.safetensors: zzz.json is missing"),
        ("zzz.safetensors", "no weights at zzz.safetensors: zzz.json is missing"),
    ],
)
@pytest.mark.parametrize("form", BY_VALUE)
def test_a_name_that_there_is_not(form: str, name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        make_agent(form.format(name), SOLO)


def test_a_file_beside_is_found_without_its_ending(solo: Any, monkeypatch: Any) -> None:
    path, arrays, metadata = solo
    save_weights(path, arrays, metadata)
    monkeypatch.chdir(path.parent)
    assert make_agent("afterstate:value", SOLO).name == "afterstate:value"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_damaged(bad: float, solo: Any) -> None:
    path, arrays, metadata = solo
    arrays["deep.bias"][3] = bad
    save_weights(path, arrays, metadata)
    with pytest.raises(ValueError, match=r"value\.safetensors is damaged: deep\.bias holds what"):
        make_agent(f"afterstate:{path}", SOLO)


@pytest.mark.parametrize("form", BY_VALUE)
def test_the_utility_is_that_of_the_training_unless_it_is_told(form: str, solo: Any) -> None:
    path, arrays, metadata = solo
    save_weights(path, arrays, {**metadata, "config": {**metadata["config"], "utility": "win"}})
    agent = make_agent(form.format(path), SOLO)
    assert utility_at(agent) == utility_of("win").tolist()
    assert agent.name == form.format(path)
    told = make_agent(f"{agent.name},utility=blend", SOLO)
    assert utility_at(told) == utility_of("blend").tolist()
    assert told.name == f"{agent.name},utility=blend"
    assert make_agent(f"{agent.name},utility=win", SOLO).name == agent.name
    del metadata["config"]
    save_weights(path, arrays, metadata)
    assert utility_at(make_agent(agent.name, SOLO)) == utility_of("blend").tolist()


@pytest.mark.parametrize("spec", ["afterstate", "expert:deals=4", "ppo"])
def test_an_agent_tells_the_hash_of_its_weights(spec: str) -> None:
    kind = "ppo" if spec == "ppo" else "afterstate"
    data = (SHIPPED / f"{kind}_5p.safetensors").read_bytes()
    hashes = [make_agent(spec, table).weights_hash for table in (FIVE, SOLO)]  # type: ignore[attr-defined]
    assert hashes[0] == hashlib.sha256(data).hexdigest()[:16]
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize("most", ["0", "401", "100000000", "2.5", "x"])
def test_plans_valued_have_bounds(most: str) -> None:
    with pytest.raises(ValueError, match="afterstate: most must be a whole number from 1 to 400"):
        make_agent(f"afterstate:most={most}", SOLO)


def test_a_value_serves_every_table_of_the_presets() -> None:
    tables = tables_of(read_metadata(SHIPPED / "afterstate_generalist"))
    assert len(tables) == 128
    assert {table["rules"] for table in tables} == set(PRESETS)
    assert {table["memory"] for table in tables} == {True, False}
    assert {table["talk"] for table in tables} == {"none", "avoid", "open"}
    assert all(serving(shipped("afterstate"), table) is not None for table in tables)
