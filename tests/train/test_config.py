"""Configurations of training runs: conversion by type, one sentence for what is wrong."""

import re
from pathlib import Path
from typing import get_args

import pytest

from train.config import PPOConfig, Section, load_config, parse_config

CONFIGS = Path(__file__).parents[2] / "configs"


def write(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(text)
    return path


PPO = [
    path
    for path in [*CONFIGS.glob("*.yaml"), *CONFIGS.glob("ablations/*.yaml")]
    if path.read_text().count("kind: ppo")
]


@pytest.mark.parametrize("path", PPO, ids=lambda path: path.stem)
def test_the_shipped_configurations_are_valid(path):
    assert isinstance(load_config(path), PPOConfig)


def test_every_ppo_configuration_was_found():
    assert {"demo", "smoke", "ppo_5p"} <= {path.stem for path in PPO}


def test_every_field_is_explained():
    sections = [PPOConfig]
    for section in sections:
        for name, field in section.model_fields.items():
            assert field.description, name
            for part in (field.annotation, *get_args(field.annotation)):
                if isinstance(part, type) and issubclass(part, Section) and part not in sections:
                    sections.append(part)
    assert len(sections) == 6


def test_numbers_are_converted_by_declared_type(tmp_path):
    path = write(tmp_path, "kind: ppo\nsteps: 10\nlearning_rate: 1e-3\ntable: {players: '3'}\n")
    config = load_config(path)
    assert config.learning_rate == 0.001
    assert config.table.players == 3


def test_changes_and_seed_replace_values(tmp_path):
    path = write(tmp_path, "kind: ppo\nminutes: 5\nnetwork: {pile: 8}\n")
    config = load_config(path, ["network.head=12", "minutes=null", "steps=64"], seed=9)
    assert (config.network.pile, config.network.head) == (8, 12)
    assert (config.minutes, config.steps, config.seed) == (None, 64, 9)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kind: pppo\nsteps: 1", 'unknown kind "pppo", did you mean "ppo"'),
        ("steps: 1", 'unknown kind "None"'),
        ("kind: ppo", "needs minutes or steps"),
        ("kind: ppo\nsteps: 1\nlerning_rate: 1", 'did you mean "learning_rate"'),
        ("kind: ppo\nsteps: 1\nnetwork: {pille: 1}", 'network: unknown key "pille"'),
        ("kind: ppo\nsteps: many", "steps: "),
        ("kind: ppo\nsteps: true", "steps: needs a number"),
        ("kind: ppo\nsteps: 1\nlearning_rate: .nan", "learning_rate: "),
        ("kind: ppo\nsteps: 1\ntable: {memory: 1}", "table.memory: needs true or false"),
        ("kind: ppo\nsteps: 1\ntable: {players: 9}", 'table: "official" is played by 1-5'),
        ("kind: ppo\nsteps: 1\ntable: 5", "table: needs keys with values, not 5"),
        ("kind: ppo\nsteps: 1\nclone: yes", "clone: needs keys with values, not True"),
        ("kind: ppo\nsteps: 1\nevaluation: {patience: 0}", "evaluation.patience: input should be"),
        ("kind: ppo\nsteps: 1\nbatch_size: 1000", "batch_size 1000 does not divide"),
        ("kind: ppo\nsteps: 1\nclone: {teachr: x}", 'clone: unknown key "teachr", did you mean'),
        ("kind: ppo\nsteps: 1\ntables: [{playrs: 1}]", 'unknown key "playrs", did you mean'),
        ("kind: ppo\nsteps: 1\nlate_starts: {share: 2}", "late_starts.share: "),
        ("kind: ppo\nsteps: 1\nnetwork: {observation: table}", "kind piles reads"),
        ("kind: ppo\nsteps: 1\nnetwork: {widths: [0]}", "widths must be whole numbers"),
        (
            "kind: ppo\nsteps: 1\n"
            "tables: {players: 1, rules: ['custom/cards:20/hand_sizes:3', official]}",
            "equally many cards",
        ),
        (
            "kind: ppo\nsteps: 1\ngames: 1\nn_steps: 64\nbatch_size: 64\n"
            "tables: [{players: 1}, {players: 2}]",
            "too few for 2 tables",
        ),
        (
            "kind: ppo\nsteps: 1\nnetwork: {kind: mlp, observation: table}\n"
            "tables: [{players: 1}, {players: 2}]",
            "need the observation relative",
        ),
        ("- 1", "must hold keys and values"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_bad_configuration_is_refused_in_a_sentence(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        load_config(write(tmp_path, text))
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("change", ["seed", "=1", "kind.x=1", "seed=[1"])
def test_a_bad_change_is_refused(tmp_path, change):
    with pytest.raises(ValueError, match=r"form key=value|not a section|not YAML"):
        load_config(write(tmp_path, "kind: ppo\nsteps: 1\n"), [change])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no configuration"):
        load_config(tmp_path / "nothing.yaml")


def test_the_configuration_survives_its_own_dump():
    config = load_config(CONFIGS / "demo.yaml")
    assert parse_config(config.model_dump(), "dump") == config
