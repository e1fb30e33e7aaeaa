"""Several tables in a configuration: every combination of the values that a group lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from thegame_env.rules import Rules, Starter, Table, Talk, unknown


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _flags(value: Any) -> Any:
    for flag in _listed(value):
        if not isinstance(flag, bool):
            raise ValueError(f"needs true or false, not {flag!r}")
    return _listed(value)


def _numbers(value: Any) -> Any:
    for number in _listed(value):
        if isinstance(number, bool):
            raise ValueError("needs a number, not true or false")
    return _listed(value)


class TableGroup(BaseModel):
    """Tables: one for each combination of the values, which are single ones or lists.

    Attributes:
        players: Seats.
        rules: Presets, or custom specs.
        memory: Whether seats remember what was played.
        talk: Table talk.
        starter: Who begins.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    players: Annotated[list[int], BeforeValidator(_numbers), Field(min_length=1)]
    rules: Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)] = ["official"]
    memory: Annotated[list[bool], BeforeValidator(_flags), Field(min_length=1)] = [True]
    talk: Annotated[list[Talk], BeforeValidator(_listed), Field(min_length=1)] = ["none"]
    starter: Annotated[list[Starter], BeforeValidator(_listed), Field(min_length=1)] = ["seat0"]

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, values: Any) -> Any:
        """Refuse an unknown key with the nearest known one, and what is no group at all."""
        if not isinstance(values, dict):
            raise ValueError("a group of tables holds keys such as players and rules")
        for key in values:
            if key not in cls.model_fields:
                raise ValueError(unknown("key", str(key), cls.model_fields))
        return values

    @model_validator(mode="after")
    def _is_played(self) -> TableGroup:
        _ = self.tables
        return self

    @property
    def tables(self) -> list[Table]:
        """The tables of the group; a single seat has nobody to talk to or to agree with."""
        return [
            Table(
                Rules.parse(rules),
                players,
                memory,
                talk if players > 1 else "none",
                starter if players > 1 else "seat0",
            )
            for rules, memory, talk, starter, players in product(
                self.rules, self.memory, self.talk, self.starter, self.players
            )
        ]


def one_group(value: Any) -> Any:
    """A single group may be written without the list around it."""
    return [value] if isinstance(value, dict) else value


Groups = Annotated[list[TableGroup], BeforeValidator(one_group), Field(min_length=1)]


def distinct_tables(groups: Iterable[TableGroup]) -> Sequence[Table]:
    """The tables of all groups, each once, in their order."""
    return list(dict.fromkeys(table for group in groups for table in group.tables))
