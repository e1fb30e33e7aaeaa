"""What a training run does, as a YAML file: typed, every field explained, unknown keys refused.

PyYAML reads `1e-3` as text, so numbers are converted by the type that a field declares.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from thegame_env.rules import Rules, Starter, Table, Talk, unknown
from train.tables import Groups, distinct_tables


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("needs a number, not true or false")
    return value


def _flag(value: Any) -> Any:
    if not isinstance(value, bool) and value not in ("true", "false"):
        raise ValueError(f"needs true or false, not {value!r}")
    return value


Whole = Annotated[int, BeforeValidator(_number)]
Real = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Flag = Annotated[bool, BeforeValidator(_flag)]


KINDS = {"ppo": "train.config:PPOConfig", "afterstate": "train.afterstate_config:AfterstateConfig"}
"""What can be trained: kind -> "module:configuration"; its module is imported when it is needed."""


class Section(BaseModel):
    """A part of a configuration that refuses unknown keys and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TableSection(Section):
    """The table that is played."""

    rules: str = Field(
        default="official", description="A preset's name, or the text of custom rules."
    )
    players: Whole = Field(default=5, description="Seats.")
    memory: Flag = Field(default=True, description="Whether a seat remembers what has been played.")
    talk: Talk = Field(default="none", description="What the seats tell each other.")
    starter: Starter = Field(default="seat0", description="Who begins.")

    @property
    def table(self) -> Table:
        """The table as a value."""
        return Table(Rules.parse(self.rules), self.players, self.memory, self.talk, self.starter)

    @model_validator(mode="after")
    def _is_played(self) -> TableSection:
        _ = self.table
        return self


class NetworkSection(Section):
    """Kind and widths of the network (see train/policy_network.py)."""

    kind: Literal["piles", "mlp"] = Field(
        default="piles",
        description="piles: encoder and action head shared by the four piles; mlp: a plain one.",
    )
    observation: Literal["relative", "table"] = Field(
        default="relative", description="What it reads; piles needs relative."
    )
    widths: tuple[Whole, ...] = Field(
        default=(256, 256), min_length=1, description="Hidden layers of the kind mlp."
    )
    pile: Whole = Field(
        default=64, ge=1, description="Code of a pile; the encoder is shared by the four."
    )
    context: Whole = Field(default=128, ge=1, description="First code of the whole table.")
    deep: Whole = Field(default=128, ge=1, description="Second code of the whole table.")
    head: Whole = Field(
        default=128, ge=1, description="Hidden layer of the action head that piles share."
    )
    mix: Whole = Field(default=32, ge=1, description="Second hidden layer of the action head.")
    sees: tuple[Literal["around", "facts", "others"], ...] = Field(
        default=("around", "facts", "others"),
        description="What the action head sees of a play beside pile, gap and context: the cards "
        "around the one laid, how all cards fit then, the plays of all other cards.",
    )
    value_pile: Whole = Field(default=32, ge=1, description="The same for the value: a pile.")
    value_context: Whole = Field(
        default=64, ge=1, description="The same for the value: both codes of the whole table."
    )
    value: Whole = Field(default=64, ge=1, description="Last hidden layer of the value.")

    @model_validator(mode="after")
    def _fits(self) -> NetworkSection:
        if self.kind == "piles" and self.observation != "relative":
            raise ValueError("kind piles reads the observation relative, not table")
        if min(self.widths) < 1:
            raise ValueError("widths must be whole numbers from 1 up")
        return self


class CloneSection(Section):
    """Imitation of a teacher before PPO begins (see train/clone.py)."""

    teacher: str = Field(
        default="afterstate",
        description="afterstate: the shipped value for the table; or a weights name or path; or "
        "expert:deals=64: the search over it (see agents/expert.py).",
    )
    minutes: Real = Field(default=12.0, gt=0, description="Minutes of processor time.")
    batch_size: Whole = Field(default=1024, ge=2, description="Positions a gradient step.")
    learning_rate: Real = Field(default=1.5e-3, gt=0, description="Step size of Adam at first.")
    final_learning_rate: Real = Field(
        default=3e-5, ge=0, description="Step size at the end; it falls along a cosine."
    )
    student_share: Real = Field(
        default=0.8,
        ge=0,
        le=1,
        description="Share of the games in which the student plays, from the middle on; it grows "
        "from 0 (DAgger, Ross et al. 2011).",
    )
    temperature: Real = Field(
        default=0.005,
        gt=0,
        description="The teacher's utilities are divided by it to give the student's target.",
    )
    cross_entropy: Real = Field(
        default=0.3,
        ge=0,
        le=1,
        description="Share of the imitation, its beginning, with the cross-entropy; after it the "
        "student makes its own expected loss of utility small, less its entropy (reverse KL).",
    )
    worst: Real = Field(
        default=0.1,
        gt=0,
        description="Loss of utility of an action that no plan begins with, and of any at most.",
    )
    most: Whole = Field(default=24, ge=1, description="Plans that the teacher values a position "
                        "(at least 96 once the deck is empty).")  # fmt: skip
    segment: Whole = Field(
        default=32, ge=1, description="Actions a game between two rounds of gradient steps."
    )
    buffer: Whole = Field(default=200_000, ge=1, description="Positions kept, over all tables.")
    reuse: Real = Field(default=2.0, gt=0, description="Times that a position is drawn, about.")
    value_weight: Real = Field(default=0.5, ge=0, description="Weight of the value's loss.")
    sharpen: Real = Field(
        default=5.0,
        gt=0,
        description="Factor of the logits once PPO begins: its games are played by drawn actions, "
        "which lose by many small mistakes where the imitation is soft.",
    )


class LateStartsSection(Section):
    """A curriculum: some of the games begin late (see train/late_starts.py)."""

    share: Real = Field(default=0.5, gt=0, le=1, description="Share of the games that do.")
    cards_left: Whole = Field(
        default=30, ge=1, description="Most cards left in hands and deck where they begin."
    )
    player: str = Field(default="sequence", description="The agent that plays up to there.")


class EvaluationSection(Section):
    """Games on the development deals while training; the best policy by them is kept."""

    every_minutes: Real = Field(
        default=5.0, gt=0, description="Minutes of training between evaluations."
    )
    games: Whole = Field(default=2000, ge=1, description="Deals played, always the same ones.")
    patience: Whole | None = Field(
        default=None,
        ge=1,
        description="Evaluations of PPO without a new best after which training ends; those in "
        "which only the critic has learnt do not count. None where left out.",
    )


class PPOConfig(Section):
    """A run of MaskablePPO on one table, or on several."""

    kind: Literal["ppo"] = Field(description="What learns: ppo.")
    seed: Whole = Field(
        default=1, ge=0, description="Seed of the weights, the deals and the sampling."
    )
    minutes: Real | None = Field(
        default=None,
        gt=0,
        description="Stop after so many minutes of PPO (resumed ones added up).",
    )
    steps: Whole | None = Field(
        default=None,
        ge=1,
        description="Stop after so many actions; with both, whichever comes first.",
    )
    table: TableSection = Field(default=TableSection(), description="What is played.")
    tables: Groups | None = Field(
        default=None,
        description="What a generalist plays, instead of `table`: groups whose values are single "
        "ones or lists, all their combinations.",
    )
    start: str | None = Field(
        default=None,
        min_length=1,
        description="Policy weights to begin with: a shipped name or a path; those of a similar "
        "table save much of the imitation.",
    )
    clone: CloneSection | None = Field(
        default=None, description="Imitation of a teacher before PPO; none where left out."
    )
    critic_first: Whole = Field(
        default=0, ge=0, description="Updates at the start in which only the critic learns."
    )
    hidden_critic: Flag = Field(
        default=False,
        description="Whether the critic sees the other hands and the deck while it learns.",
    )
    late_starts: LateStartsSection | None = Field(
        default=None, description="Games that begin late; none where left out."
    )
    reward: Literal["score", "win", "shaped"] = Field(
        default="shaped",
        description="What the agent is rewarded for (see thegame_env/stepping.py).",
    )
    network: NetworkSection = Field(default=NetworkSection(), description="Kind and widths.")
    games: Whole = Field(default=512, ge=1, description="Games played side by side.")
    n_steps: Whole = Field(default=64, ge=1, description="Actions a game between two updates.")
    batch_size: Whole = Field(default=4096, ge=2, description="Actions a gradient step.")
    epochs: Whole = Field(
        default=3, ge=1, description="Times that an update goes over its actions."
    )
    learning_rate: Real = Field(default=7e-4, gt=0, description="Step size of Adam at the start.")
    final_learning_rate: Real = Field(
        default=7e-5, ge=0, description="Step size at the end; it falls evenly with what is spent."
    )
    gamma: Real = Field(default=1.0, gt=0, le=1, description="Discount an action.")
    gae_lambda: Real = Field(
        default=0.95,
        ge=0,
        le=1,
        description="Trust in what was played against the value's forecast.",
    )
    clip_range: Real = Field(
        default=0.2, gt=0, description="How far an update may move a probability."
    )
    entropy: Real = Field(default=0.005, ge=0, description="Weight of the entropy bonus.")
    value_weight: Real = Field(default=0.5, ge=0, description="Weight of the value's loss.")
    max_grad_norm: Real = Field(default=0.5, gt=0, description="Longest gradient.")
    evaluation: EvaluationSection = Field(
        default=EvaluationSection(), description="Judging on the way."
    )
    checkpoint_minutes: Real = Field(
        default=5.0,
        gt=0,
        description="Minutes between checkpoints; a killed run loses at most this.",
    )
    threads: Whole = Field(
        default=0, ge=0, description="Threads of torch; 0 measures which is fastest."
    )

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """The tables that are played: `tables`, or the one `table`."""
        return tuple(distinct_tables(self.tables)) if self.tables else (self.table.table,)

    @model_validator(mode="after")
    def _is_bounded(self) -> PPOConfig:
        if self.minutes is None and self.steps is None:
            raise ValueError("needs minutes or steps, or it would never stop")
        if (self.games * self.n_steps) % self.batch_size:
            raise ValueError(
                f"batch_size {self.batch_size} does not divide games * n_steps = "
                f"{self.games * self.n_steps}"
            )
        tables = self.all_tables
        if self.games < len(tables):
            raise ValueError(f"games: {self.games} are too few for {len(tables)} tables")
        if len({(table.rules.cards, table.rules.trick) for table in tables}) > 1:
            raise ValueError("tables must be of equally many cards and the same trick")
        if self.network.observation == "table" and len(tables) > 1:
            raise ValueError("tables need the observation relative, which is alike at all of them")
        return self


def load_config(path: Path, changes: Iterable[str] = (), seed: int | None = None) -> Any:
    """The configuration of a YAML file: a PPOConfig, or that of another of the `KINDS`.

    Args:
        path: The file.
        changes: "key=value" texts that replace values of the file, `network.pile=32` in a section.
        seed: Replaces the seed.

    Raises:
        ValueError: Not YAML, an unknown key, a value of the wrong type: one sentence.
    """
    values = _read_yaml(path)
    for change in changes:
        _apply(values, change)
    if seed is not None:
        values["seed"] = seed
    return parse_config(values, str(path))


def parse_config(values: dict[str, Any], where: str) -> Any:
    """The configuration of plain values; ValueError says what is wrong in one sentence."""
    kind = values.get("kind")
    if kind not in KINDS:
        raise ValueError(f"{where}: {unknown('kind', kind, KINDS)}")
    module, _, name = KINDS[kind].partition(":")
    model: type[BaseModel] = getattr(importlib.import_module(module), name)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ValueError(f"{where}: {_sentence(error, model)}") from None


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"there is no configuration {path}")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold keys and values")
    return values


def _apply(values: dict[str, Any], change: str) -> None:
    key, equals, text = change.partition("=")
    if not equals or not key:
        raise ValueError(f'"{change}" is not of the form key=value')
    *sections, last = key.split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ValueError(f'"{change}": {section} is not a section')
    try:
        values[last] = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ValueError(f'"{change}": the value is not YAML') from None


def _sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """The first of pydantic's findings in one sentence."""
    first = error.errors(include_url=False, include_context=False)[0]
    *sections, last = [str(part) for part in first["loc"]] or [""]
    text = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        for section in sections:
            if not section.isdigit():
                model = _section_of(model.model_fields[section].annotation)
        text, last = unknown("key", last, model.model_fields), ""
    elif first["type"] == "missing":
        text = "is missing"
    elif first["type"] in ("model_type", "dict_type"):
        text = f"needs keys with values, not {first['input']!r}"
    elif first["type"] != "value_error":
        text = f"{text[0].lower()}{text[1:]}, not {first['input']!r}"
    place = ".".join([*sections, *([last] if last else [])])
    return f"{place}: {text}" if place else text


def _section_of(annotation: Any) -> type[BaseModel]:
    """The section that a field holds: itself, one that may be left out, or a list of it."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(_section_of(part) for part in get_args(annotation) if part is not type(None))
