"""All measurements of `thegame bench` in their order, one at a time, so that progress can be shown.

What cannot be measured here (a library is missing, a quick run) becomes a sentence in
`Figures.skipped`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.comparison import RIVALS, Comparison, Rival, compare, skipped
from benchmarks.engine_speed import engine_speed, reference_speed
from benchmarks.environment_speed import (
    PLAYERS,
    aec_speed,
    gym_env_speed,
    sb3_vecenv_speed,
    vector_env_speed,
)
from benchmarks.machine import describe_machine
from benchmarks.measure import Speed
from benchmarks.start_speed import Start, cold_and_warm_start, import_seconds
from benchmarks.value_speed import self_play_speed, value_speed
from thegame_env.observation import ENCODERS
from thegame_env.rules import MAX_SEATS, Rules, Table, Talk

VALUED = (1, 3, 5)
TALKS: tuple[Talk, ...] = ("none", "open")


@dataclass(slots=True)
class Figures:
    """What has been measured so far; None and empty where it has not been, or cannot be.

    Attributes:
        engine: Plays a second by the number of players.
        reference: Plays a second of the readable game with PLAYERS players.
        vector_env: Steps a second by the kind of observation.
        gym_env: The single Gymnasium environment, `table` observations.
        aec: The PettingZoo environment, `table` observations.
        sb3_vecenv: The SB3 VecEnv, `relative` observations.
        values: Afterstates enumerated and valued by the number of players.
        self_play: Games of the value's self-play with PLAYERS players by the kind of talk.
        import_s: Seconds of `import thegame_env`.
        cold: The first start, which compiles.
        warm: A later start.
        comparisons: Other environments beside ours.
        skipped: A sentence for everything that was left out.
    """

    engine: dict[int, Speed] = field(default_factory=dict)
    reference: Speed | None = None
    vector_env: dict[str, Speed] = field(default_factory=dict)
    gym_env: Speed | None = None
    aec: Speed | None = None
    sb3_vecenv: Speed | None = None
    values: dict[int, Speed] = field(default_factory=dict)
    self_play: dict[str, Speed] = field(default_factory=dict)
    import_s: float | None = None
    cold: Start | None = None
    warm: Start | None = None
    comparisons: list[Comparison] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def speeds(self) -> list[Speed]:
        """All speeds of our own, in the order of the table."""
        single = (self.gym_env, self.aec, self.sb3_vecenv, self.reference)
        found = [*self.engine.values(), *self.vector_env.values()]
        found += [speed for speed in single if speed is not None]
        return [*found, *self.values.values(), *self.self_play.values()]

    @property
    def engine_over_reference(self) -> float | None:
        """How many times as fast as the reference the engine plays the same games."""
        if self.reference is None or PLAYERS not in self.engine:
            return None
        return self.engine[PLAYERS].per_s / self.reference.per_s

    def as_dict(self) -> dict[str, Any]:
        """The JSON document; speeds a second, times in seconds."""
        speeds = self.speeds()
        return {
            "engine_plays_per_s": min((s.per_s for s in self.engine.values()), default=None),
            "engine_plays_per_s_by_players": {n: s.per_s for n, s in self.engine.items()},
            "vector_env_steps_per_s": {kind: s.per_s for kind, s in self.vector_env.items()},
            "gym_env_steps_per_s": _per_s(self.gym_env),
            "aec_steps_per_s": _per_s(self.aec),
            "sb3_vecenv_steps_per_s": _per_s(self.sb3_vecenv),
            "reference_plays_per_s": _per_s(self.reference),
            "afterstates_per_s": {str(n): s.per_s for n, s in self.values.items()},
            "self_play_games_per_s": {talk: s.per_s for talk, s in self.self_play.items()},
            "engine_over_reference": self.engine_over_reference,
            "import_s": self.import_s,
            "compile_cold_s": None if self.cold is None else self.cold.seconds,
            "compile_cold_cpu_s": None if self.cold is None else self.cold.cpu_s,
            "compile_warm_s": None if self.warm is None else self.warm.seconds,
            "compile_warm_cpu_s": None if self.warm is None else self.warm.cpu_s,
            "comparisons": [self._comparison(pair) for pair in self.comparisons],
            "skipped": self.skipped,
            "cpu_share": min((s.cpu_share for s in speeds), default=None),
            "machine": describe_machine(),
        }

    def _comparison(self, pair: Comparison) -> dict[str, Any]:
        vector = self.vector_env["table"]
        return {**asdict(pair), "ratio": pair.ratio, "vector_env_ratio": pair.ratio_to(vector)}


def _per_s(speed: Speed | None) -> float | None:
    return None if speed is None else speed.per_s


Part = tuple[str, Callable[[Figures], None]]


def parts(seconds: float, quick: bool, others: bool) -> Iterator[Part]:
    """The measurements: what each is called, and a function that writes into the figures.

    Args:
        seconds: Wall time for each speed.
        quick: Leave out the first compilation, which takes as long as all the rest.
        others: Compare with other libraries too.
    """
    for players in range(1, MAX_SEATS + 1):
        yield f"engine, players: {players}", _engine(players, seconds)
    yield "reference", _reference(seconds)
    for kind in ENCODERS:
        yield f"vector env, {kind}", _vector(kind, seconds)
    yield "Gymnasium env", _gym(seconds)
    yield "PettingZoo env", _aec(seconds)
    yield "SB3 VecEnv", _sb3(seconds)
    for players in VALUED:
        yield f"value, players: {players}", _value(players, seconds)
    for talk in TALKS:
        yield f"self-play, talk: {talk}", _self_play(talk, seconds)
    yield "import", _import
    yield "first and later start", _skip_start if quick else _start
    for rival in RIVALS if others else ():
        if not rival.missing:
            yield rival.name, _compare(rival, seconds)
    if others:
        yield "what is missing", _tell_missing


def _engine(players: int, seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.engine[players] = engine_speed(Table(Rules(), players), seconds)

    return measure


def _reference(seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.reference = reference_speed(Table(Rules(), PLAYERS), seconds)

    return measure


def _vector(kind: str, seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.vector_env[kind] = vector_env_speed(kind, seconds)

    return measure


def _gym(seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.gym_env = gym_env_speed("table", seconds)

    return measure


def _aec(seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.aec = aec_speed("table", seconds)

    return measure


def _sb3(seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        try:
            figures.sb3_vecenv = sb3_vecenv_speed("relative", seconds)
        except ImportError as error:
            figures.skipped.append(f"The SB3 VecEnv was not measured: {error}.")

    return measure


def _value(players: int, seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.values[players] = value_speed(players, seconds)

    return measure


def _self_play(talk: Talk, seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.self_play[talk] = self_play_speed(PLAYERS, talk, seconds)

    return measure


def _import(figures: Figures) -> None:
    figures.import_s = import_seconds()


def _start(figures: Figures) -> None:
    figures.cold, figures.warm = cold_and_warm_start()


def _skip_start(figures: Figures) -> None:
    figures.skipped.append("The first compilation was not measured (--quick).")


def _compare(rival: Rival, seconds: float) -> Callable[[Figures], None]:
    def measure(figures: Figures) -> None:
        figures.comparisons.append(compare(rival, seconds))

    return measure


def _tell_missing(figures: Figures) -> None:
    sentence = skipped()
    if sentence is not None:
        figures.skipped.append(sentence)
