"""Agents by name: `make_agent("greedy:extra=4", table)`.

A specification is a name, and behind a colon its parameters: `key=value` pairs, or bare values
such as a budget (`expert:100ms`) or a weights name (`ppo:NAME`), separated by commas. Agents from
elsewhere have two more forms, `mypackage.module:Factory` and `path/to/model.zip` (plugins.py).
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.base import Agent
from agents.plugins import is_archive, load_archive, load_factory
from thegame_env.rules import Table, unknown

Factory = Callable[..., Agent]

BUILT_IN: dict[str, str] = {
    "random": "agents.random_agent:make",
    "greedy": "agents.greedy:make",
    "sequence": "agents.sequence:make",
    "signals": "agents.sequence:make_signals",
    "rollout": "agents.rollout:make",
    "afterstate": "agents.afterstate:make",
    "expert": "agents.expert:make",
    "ppo": "agents.ppo:make",
}
"""Name -> "module:factory"; a factory is called as `factory(table, **parameters)`."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """A parsed specification: the name, its bare values, its key=value pairs."""

    name: str
    values: tuple[str, ...]
    parameters: dict[str, Any]

    @staticmethod
    def parse(text: str) -> AgentSpec:
        """Split "name:value,key=value", or "name:value:key=value".

        Raises:
            ValueError: A part is empty, or a key is given twice.
        """
        name, _, rest = text.strip().partition(":")
        rest = re.sub(r"^([^:=,]+):(?=[^:=,]+=)", r"\1,", rest)
        values: list[str] = []
        parameters: dict[str, Any] = {}
        for part in rest.split(",") if rest else []:
            key, equals, value = part.partition("=")
            if not part or (equals and not value):
                raise ValueError(f'agent "{text}": an empty parameter')
            if not equals:
                values.append(part)
            elif key in parameters:
                raise ValueError(f'agent "{text}": {key} is given twice')
            else:
                parameters[key] = _number(value)
        return AgentSpec(name, tuple(values), parameters)


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def split_agents(text: str) -> list[str]:
    """The specifications of a comma-separated list.

    Parameters stand between commas too: a part of the form `key=value`, without a colon before
    the equals sign, goes on with the agent before it. So "greedy:extra=4,rollout:deals=9,plans=3"
    is `greedy:extra=4` and `rollout:deals=9,plans=3`.

    Raises:
        ValueError: An empty part, a parameter before any agent, or an agent listed twice.
    """
    agents: list[str] = []
    for part in map(str.strip, text.split(",")):
        if not part:
            raise ValueError(f'agents "{text}": there is an empty name')
        if not re.fullmatch(r"[^:=/]+=.*", part):
            agents.append(part)
        elif not agents:
            raise ValueError(f'agents "{text}": the parameter {part} follows no agent')
        else:
            agents[-1] += ("," if ":" in agents[-1] else ":") + part
    for agent in agents:
        if agents.count(agent) > 1:
            raise ValueError(f'agents "{text}": {agent} is listed twice')
        if "|" in agent:
            raise ValueError(f'agent "{agent}": a name cannot hold "|"')
    return agents


def is_built_in(text: str) -> bool:
    """Whether a specification names an agent of this package, and not somebody else's code."""
    return not is_archive(text) and AgentSpec.parse(text).name in BUILT_IN


def make_agent(text: str, table: Table, allow_pickle: bool = False) -> Agent:
    """The agent of a specification for this table.

    Args:
        text: A specification.
        table: Where it is to play.
        allow_pickle: Whether an archive that holds a pickle may be loaded, which runs its code.

    Raises:
        ValueError: An unknown name (the known ones are listed) or a parameter it does not take.
    """
    if is_archive(text):
        return load_archive(text, table, allow_pickle)
    spec = AgentSpec.parse(text)
    factory, values = _factory(text, spec)
    try:
        return factory(table, *values, **spec.parameters)
    except TypeError as error:
        why = _refused(spec, factory, table) if spec.name in BUILT_IN else ""
        raise ValueError(f'agent "{text}": {why or error}') from None


def _refused(spec: AgentSpec, factory: Factory, table: Table) -> str:
    """What a factory takes, if the parameters of the specification do not fit it; else ""."""
    signature = inspect.signature(factory)
    try:
        signature.bind(table, *spec.values, **spec.parameters)
    except TypeError:
        return f"{spec.name} takes {', '.join([*signature.parameters][1:]) or 'no parameters'}"
    return ""


def describe_agent(text: str) -> str:
    """The first sentence of what the module of a built-in agent says about it; else ""."""
    if not is_built_in(text):
        return ""
    module = BUILT_IN[AgentSpec.parse(text).name].partition(":")[0]
    first = (importlib.import_module(module).__doc__ or "").partition("\n\n")[0]
    return " ".join(first.replace("`", "").split()).partition(": ")[2]


def _factory(text: str, spec: AgentSpec) -> tuple[Factory, tuple[str, ...]]:
    """The factory of a specification, and the bare values that it is called with."""
    if spec.name in BUILT_IN:
        module, _, attribute = BUILT_IN[spec.name].partition(":")
        return getattr(importlib.import_module(module), attribute), spec.values
    if spec.name.endswith(".safetensors"):
        raise ValueError(f'agent "{text}": a policy in a file is given as ppo:{text}')
    try:
        factory = load_factory(spec.name, spec.values[0] if spec.values else "")
    except ModuleNotFoundError as error:
        raise ValueError(f"{unknown('agent', spec.name, BUILT_IN)}; {error}") from None
    return factory, spec.values[1:]
