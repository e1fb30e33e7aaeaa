"""What a run of afterstate self-play does: the keys of `configs/afterstate_*.yaml`, explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator

from thegame_env.rules import Rules, Starter, Table, Talk
from train.config import Flag, Real, Section, Whole
from train.development import table_name
from train.tables import Groups, distinct_tables

ONE_TABLE = ("players", "rules", "memory", "talk", "starter")
"""Keys that tell a single table, in place of `tables`."""
WITH_CRITIC = ("critic_first", "temperature", "compared", "taught", "forecast")
"""Keys that mean something only with a critic."""
FIXED = (
    *ONE_TABLE, "tables", "utility", "start", "critic", "search_deals", "search_plans",
    "pile_width", "card_width", "width", "depth_width", "seed",
)  # fmt: skip
"""Keys that a resumed run cannot change; all others it can, `minutes` for one."""


class AfterstateConfig(Section):
    """One self-play run of the afterstate value; unknown keys are refused."""

    kind: Literal["afterstate"] = Field(
        default="afterstate", description="What learns: afterstate."
    )
    players: Whole = Field(default=1, ge=1, le=5, description="Seats.")
    rules: str = Field(default="official", description="Preset, or a custom spec.")
    memory: Flag = Field(default=True, description="Whether seats remember what was played.")
    talk: Talk = Field(default="none", description="Table talk.")
    starter: Starter = Field(default="seat0", description="Who begins.")
    tables: Groups | None = Field(
        default=None,
        description="Several tables in place of one: a list of groups of players, rules, memory, "
        "talk and starter, each a value or a list of values to combine.",
    )
    utility: Literal["win", "score", "blend"] = Field(
        default="blend", description="What play maximises."
    )
    start: str | None = Field(
        default=None,
        min_length=1,
        description="Weights to begin with: a shipped name or a path; of another table or talk "
        "they save much of the time.",
    )
    critic: str | None = Field(
        default=None,
        min_length=1,
        description="For seats that do not remember: weights that a second value begins with, "
        "which sees what was played and teaches the first which plans are worth more (see "
        "train/actor_critic.py), such as those of the same table with memory.",
    )
    critic_first: Real = Field(
        default=0.1,
        ge=0,
        lt=1,
        description="With a critic: share of the run in which it learns alone (again where a run "
        "is resumed with so many more minutes that this share is not over).",
    )
    temperature: Real = Field(
        default=0.003,
        ge=1e-6,
        le=1,
        description="With a critic: plans are drawn from softmax(utility / temperature).",
    )
    compared: Whole = Field(
        default=6,
        ge=2,
        le=32,
        description="With a critic: plans of a decision that it compares. A fifth as many "
        "decisions as samples are kept, at 8 KB a plan: 1 GB by default.",
    )
    taught: Whole = Field(
        default=256,
        ge=1,
        le=1_000_000,
        description="With a critic: decisions that it teaches in a gradient step.",
    )
    forecast: Real = Field(
        default=0.3,
        ge=0,
        description="With a critic: weight of the forecast's own loss beside that of the choice.",
    )
    minutes: Real = Field(
        default=15.0,
        gt=0,
        description="Length of the run, in minutes of processor time spent on playing and "
        "learning; resumed ones are added up. A run that is resumed with more minutes learns "
        "again by larger steps.",
    )
    games: Whole = Field(
        default=256, ge=1, le=100_000, description="Games played side by side, at each table."
    )
    most: Whole = Field(
        default=24,
        ge=1,
        le=10_000,
        description="Plans valued a turn (at least 96 once the deck is empty).",
    )
    decay: Real = Field(default=0.8, ge=0, le=1, description="Lambda of the returns.")
    explore: Real = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Share of random plans, in every other stretch of play; without a critic.",
    )
    search_deals: Whole = Field(
        default=0,
        ge=0,
        le=10_000,
        description="Dealings that every decision is searched on, the search teaching the value "
        "(expert iteration); 0: no search.",
    )
    search_plans: Whole = Field(
        default=6, ge=2, le=10_000, description="Plans that a search judges."
    )
    learning_rate: Real = Field(
        default=1e-3,
        gt=0,
        description="Adam's step at the start; it falls along a cosine to 3 % of that.",
    )
    batch_size: Whole = Field(
        default=1024, ge=1, le=1_000_000, description="Samples a gradient step."
    )
    reuse: Real = Field(default=2.0, gt=0, description="Times that a sample is drawn, on average.")
    average: Real = Field(
        default=0.998,
        ge=0,
        lt=1,
        description="Decay of the running mean of the weights, a gradient step; the mean plays and "
        "is exported. 0: the weights as they are.",
    )
    buffer: Whole = Field(default=100_000, ge=1, le=10_000_000, description="Samples kept.")
    pile_width: Whole = Field(default=64, ge=1, le=4096, description="Outputs of the pile encoder.")
    card_width: Whole = Field(default=64, ge=1, le=4096, description="Outputs of the card encoder.")
    width: Whole = Field(default=128, ge=1, le=4096, description="Units of the body.")
    depth_width: Whole = Field(default=64, ge=1, le=4096, description="Units behind it.")
    seed: Whole = Field(
        default=0, ge=0, le=2**40, description="Seed of deals, exploration and weights."
    )
    threads: Whole = Field(default=1, ge=1, le=1024, description="torch threads.")
    checkpoint_minutes: Real = Field(
        default=2.0,
        gt=0,
        description="Minutes between checkpoints; a killed run loses at most this.",
    )
    evaluation_minutes: Real = Field(
        default=5.0,
        gt=0,
        description="Minutes of learning between evaluations on development deals; the best "
        "value by them is kept.",
    )
    evaluation_games: Whole = Field(
        default=1000,
        ge=1,
        le=10_000_000,
        description="Development deals a table in an evaluation, always the same ones.",
    )

    @model_validator(mode="after")
    def _is_played(self) -> AfterstateConfig:
        both = [key for key in ONE_TABLE if key in self.model_fields_set]
        if self.tables is not None and both:
            raise ValueError(f"give tables or {', '.join(both)}, not both")
        self._check_critic()
        return self

    def _check_critic(self) -> None:
        fields, given = type(self).model_fields, self.critic is not None
        for key in ("explore",) if given else WITH_CRITIC:
            if getattr(self, key) != fields[key].default:
                raise ValueError(f"{key} is of no use {'with a' if given else 'without a'} critic")
        remembering = [table_name(table) for table in self.played if table.memory]
        if given and remembering:
            raise ValueError(
                f"critic is for seats without memory (memory: false), not for {remembering[0]}"
            )
        if given and self.search_deals:
            raise ValueError("critic is for play without a search (search_deals: 0)")

    @property
    def played(self) -> Sequence[Table]:
        """The tables."""
        if self.tables is not None:
            return distinct_tables(self.tables)
        rules = Rules.parse(self.rules)
        return [Table(rules, self.players, self.memory, self.talk, self.starter)]

    @property
    def table(self) -> Table:
        """The table, or the first of several."""
        return self.played[0]
