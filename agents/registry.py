"""Agents by name: `make_agent("greedy:extra=4", table)`.

A specification is a name, and behind a colon its parameters: `key=value` pairs, or bare values
such as a budget (`expert:100ms`) or a weights name (`ppo:NAME`), separated by commas.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.base import Agent
from thegame_env.rules import Table, unknown

Factory = Callable[..., Agent]

BUILT_IN: dict[str, str] = {
    "random": "agents.random_agent:make",
    "greedy": "agents.greedy:make",
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
        """Split "name:value,key=value"; ValueError on an empty or doubled part."""
        name, _, rest = text.strip().partition(":")
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


def make_agent(text: str, table: Table) -> Agent:
    """The agent of a specification for this table.

    Raises:
        ValueError: An unknown name (the known ones are listed) or a parameter it does not take.
    """
    spec = AgentSpec.parse(text)
    if spec.name not in BUILT_IN:
        raise ValueError(unknown("agent", spec.name, BUILT_IN))
    module, _, attribute = BUILT_IN[spec.name].partition(":")
    factory: Factory = getattr(importlib.import_module(module), attribute)
    try:
        return factory(table, *spec.values, **spec.parameters)
    except TypeError as error:
        raise ValueError(f'agent "{text}": {error}') from None
