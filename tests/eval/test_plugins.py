from __future__ import annotations

import importlib
import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from agents.base import Agent
from agents.plugins import ObservingAgent, load_archive, whole_numbers
from agents.registry import describe_agent, is_built_in, make_agent, split_agents
from eval.cells import Cell, Chunk
from eval.match import play_chunk
from thegame_env.engine import Engine
from thegame_env.observation import observation_spec, observe
from thegame_env.rules import IllegalAction, Rules, Table
from thegame_env.view import View

TABLE = Table(players=3)
SMALL = Rules.parse("custom/cards:20/hand_sizes:0-4")


def positions(table: Table, count: int = 5) -> Engine:
    engine = Engine(table, count)
    engine.deal(1, np.arange(count))
    return engine


# --- specifications ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("greedy", ["greedy"]),
        ("greedy:extra=4,sequence", ["greedy:extra=4", "sequence"]),
        ("rollout:deals=100,plans=40,greedy", ["rollout:deals=100,plans=40", "greedy"]),
        ("greedy , random", ["greedy", "random"]),
        ("expert:100ms,plans=3,a.b:C,k=v", ["expert:100ms,plans=3", "a.b:C,k=v"]),
        ("a.b:C:k=v,m=2,greedy", ["a.b:C:k=v,m=2", "greedy"]),
        ("greedy,extra=4", ["greedy:extra=4"]),
        ("runs/a=b/model.zip,greedy", ["runs/a=b/model.zip", "greedy"]),
    ],
)
def test_parameters_go_with_the_agent_before_them(text: str, agents: list[str]) -> None:
    assert split_agents(text) == agents


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is an empty name"),
        ("greedy,,random", "there is an empty name"),
        ("extra=4,greedy", "the parameter extra=4 follows no agent"),
        ("greedy,random,greedy", "greedy is listed twice"),
        ("greedy|random", 'cannot hold "|"'),
    ],
)
def test_lists_of_agents_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        split_agents(text)


def test_built_in_agents_describe_themselves() -> None:
    assert is_built_in("greedy:extra=4")
    assert not any(map(is_built_in, ("odd_agents:Odd", "model.zip")))
    assert describe_agent("greedy:extra=4").startswith("the trick first, else the smallest gap")
    assert describe_agent("odd_agents:Odd") == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gredy:extra=4", 'unknown agent "gredy", did you mean "greedy"? known: random, greedy'),
        ("no.such.module:Agent", 'nor can a module "no.such.module" be imported'),
        ("nobody", "own agents are given as package.module:Factory"),
        ("odd_agents:Nobody", "has no attribute 'Nobody'"),
        ("odd_agents:no_agent", "must return an agents.base.Agent, or an object with act"),
        ("odd_agents:broken_factory", "RuntimeError: the factory has burnt down"),
        ("odd_agents:Observes,kind=blurred", 'observation, "table" or "relative"'),
        ("greedy:extr=4", 'agent "greedy:extr=4": greedy takes extra'),
        ("rollout:100", "rollout takes deals, plans"),
        ("random:extra=4", "random takes no parameters"),
        ("runs/a.safetensors", "a policy in a file is given as ppo:runs/a.safetensors"),
        ("odd_agents:Observes:kind=blurred", 'observation, "table" or "relative"'),
        ("greedy:extra=lots", "extra must be a whole number"),
        ("greedy:extra=4,extra=5", "extra is given twice"),
    ],
)
def test_agents_that_cannot_be_made_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make_agent(text, TABLE)


def test_modules_of_the_current_directory_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_agent.py").write_text(
        "from agents.registry import make_agent\n"
        "def careful(table): return make_agent('greedy', table)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert make_agent("my_own_agent:careful", TABLE).name == "greedy"


# --- objects that observe ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["table", "relative"])
def test_an_object_is_shown_what_the_environments_show(kind: str) -> None:
    engine = positions(TABLE)
    seen: list[tuple[Any, Any]] = []

    def choose(observations: Any, masks: Any) -> Any:
        seen.extend(zip(observations, masks, strict=True))
        return masks.argmax(axis=1)

    agent = ObservingAgent("mine", TABLE, kind, choose)
    actions = agent.act_rows(engine.views(), engine.p, np.zeros(5, np.uint64))
    for slot, (observation, mask) in enumerate(seen):
        game = engine.game(slot)
        assert np.array_equal(observation, observe(View.of(game, TABLE), kind))
        assert np.flatnonzero(mask).tolist() == game.legal_actions()
        assert actions[slot] == game.legal_actions()[0]


def test_an_object_plays_games() -> None:
    agent = make_agent("odd_agents:Observes,kind=table", TABLE)
    assert isinstance(agent, ObservingAgent)
    cell = Cell("odd_agents:Observes,kind=table", 3, "official", "none", True, "seat0")
    rows, _ = play_chunk(Chunk(cell, 0, 5), 1, [agent])
    assert {row.ended for row in rows} <= {"stuck", "won"}


def test_an_object_that_answers_with_text_plays_illegally() -> None:
    cell = Cell("text", 3, "official", "none", True, "seat0")
    agents: list[Agent] = [make_agent("odd_agents:AnswersWithText", TABLE)]
    rows, _ = play_chunk(Chunk(cell, 0, 2), 1, agents)
    assert [row.ended for row in rows] == ["illegal", "illegal"]
    assert "where whole numbers were asked for" in rows[0].reason


@pytest.mark.parametrize("answer", [[1.0], [True], ["1"], [None], [[1]], 1, [1, 2], [2**70]])
def test_only_whole_numbers_of_the_right_count_are_answers(answer: Any) -> None:
    with pytest.raises(IllegalAction):
        whole_numbers(answer, 1)
    assert whole_numbers([np.int8(3)], 1).tolist() == [3]


# --- models of stable-baselines3 -----------------------------------------------------------------


def saved_model(path: Path, observation: str = "relative", policy: Any = "MlpPolicy") -> Path:
    sb3 = pytest.importorskip("sb3_contrib")
    from thegame_env.sb3_env import TheGameVecEnv

    env = TheGameVecEnv(2, players=2, rules=SMALL, observation=observation)
    model = sb3.MaskablePPO(policy, env, policy_kwargs={"net_arch": [8]}, seed=1, device="cpu")
    model.save(path)
    return path


@pytest.mark.parametrize("observation", ["table", "relative"])
def test_a_model_plays_its_most_likely_legal_action(tmp_path: Path, observation: str) -> None:
    path = saved_model(tmp_path / "model.zip", observation)
    table = Table(SMALL, 2)
    agent = make_agent(str(path), table, allow_pickle=True)
    engine = positions(table)
    actions = agent.act_rows(engine.views(), engine.p, np.zeros(5, np.uint64))
    model = pytest.importorskip("sb3_contrib").MaskablePPO.load(path, device="cpu")
    for slot, action in enumerate(actions):
        game = engine.game(slot)
        mask = np.isin(np.arange(SMALL.n_actions), game.legal_actions())
        observed = observe(View.of(game, table), observation)
        assert observed.shape == (observation_spec(observation, table).size,)
        assert action == model.predict(observed, action_masks=mask, deterministic=True)[0]
    cell = Cell("model", 2, SMALL.spec(), "none", True, "seat0")
    rows, _ = play_chunk(Chunk(cell, 0, 4), 1, [agent])
    assert {row.ended for row in rows} <= {"stuck", "won"}
    assert len(str(getattr(agent, "weights_hash", ""))) == 16


OWN_POLICY = """
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

class OwnPolicy(MaskableActorCriticPolicy):
    pass
"""


@pytest.fixture
def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model whose policy stands in a module of the current directory, not imported yet."""
    pytest.importorskip("sb3_contrib")
    (tmp_path / "own_policies.py").write_text(OWN_POLICY)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    policy = importlib.import_module("own_policies").OwnPolicy
    path = saved_model(tmp_path / "model.zip", policy=policy)
    sys.path.remove(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_policies")
    return path


def test_a_policy_of_ones_own_gets_its_masks(
    own_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_model.parent)
    agent = make_agent(str(own_model), Table(SMALL, 2), allow_pickle=True)
    cell = Cell("model", 2, SMALL.spec(), "none", True, "seat0")
    rows, _ = play_chunk(Chunk(cell, 0, 4), 1, [agent])
    assert {row.ended for row in rows} <= {"stuck", "won"}


def test_a_policy_whose_module_is_not_found_is_named(own_model: Path) -> None:
    with pytest.raises(ValueError, match="needs the module own_policies that it was trained with"):
        load_archive(str(own_model), Table(SMALL, 2), allow_pickle=True)


@pytest.mark.parametrize("name", ["PPO", "A2C", "DQN"])
def test_models_without_masks_are_told_apart(tmp_path: Path, name: str) -> None:
    algorithm = getattr(pytest.importorskip("stable_baselines3"), name)
    env = gymnasium.make("TheGame-v0", players=2, rules=SMALL, illegal="lose")
    sizes = {"policy_kwargs": {"net_arch": [8]}, "device": "cpu"}
    buffer = {"buffer_size": 10} if name == "DQN" else {}
    algorithm("MlpPolicy", env, **sizes, **buffer).save(tmp_path / "model.zip")
    assert make_agent(str(tmp_path / "model.zip"), Table(SMALL, 2), allow_pickle=True)


def test_a_model_of_another_table_is_refused(tmp_path: Path) -> None:
    path = saved_model(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="was trained on Discrete"):
        load_archive(str(path), TABLE, allow_pickle=True)


def test_no_pickle_is_loaded_unless_it_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"pickle runs whatever code.*--allow-pickle"):
        make_agent(str(tmp_path / "model.zip"), TABLE)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    with pytest.raises(ValueError, match="there is no file"):
        load_archive(str(path), TABLE, allow_pickle=True)
    path.write_bytes(b"PK")
    with pytest.raises(ValueError, match="is not an archive of stable-baselines3"):
        load_archive(str(path), TABLE, allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", "{}")
    with pytest.raises(ValueError, match="is not an archive of stable-baselines3"):
        load_archive(str(path), TABLE, allow_pickle=True)


def test_without_the_library_a_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.zip"
    stored = {"policy_class": {"__module__": "sb3_contrib.common.maskable.policies"}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(stored))
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(ValueError, match=r"pip install 'thegame-env\[train\]'"):
        load_archive(str(path), TABLE, allow_pickle=True)
