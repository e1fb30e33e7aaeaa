"""Checkpoints of a run: what a later start needs to go on; of PPO, as if nothing had been.

One safetensors file holds the weights, the optimiser, the games, the random states and, as JSON in
its header, the counters; it is renamed into place when it is whole. Never a pickle. Both kinds of
run write and read theirs here; what an afterstate run takes is told in `train.afterstate_learner`.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from agents.afterstate_features import VERSION as FEATURES_VERSION
from agents.weight_files import write_atomic
from thegame_env.observation import VERSION as OBSERVATION_VERSION

FORMATS = {"ppo": 3, "afterstate": 2}
"""Kind of run -> a number that is raised whenever the names in its file change."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Errors that room on the disk is the remedy of."""

Arrays = dict[str, Any]


def take_play(model: Any) -> Arrays:
    """The state that playing on changes: games, random states, steps counted."""
    _, keys, at, has_gauss, gauss = np.random.get_state()  # noqa: NPY002 (SB3 draws from it)
    games = model.env.save()
    return {
        **{f"games.{name}": value for name, value in games.items()},
        "random.torch": torch.get_rng_state().numpy(),
        "random.keys": np.asarray(keys),
        "random.rest": np.array([at, has_gauss, gauss], np.float64),
        "steps": np.array([model.num_timesteps]),
    }


def put_play(model: Any, arrays: Arrays) -> None:
    """Restore what `take_play` took."""
    model._last_obs = model.env.restore(_part(arrays, "games."))
    model._last_episode_starts = model.env.episode_starts
    model.num_timesteps = int(arrays["steps"][0])
    torch.set_rng_state(torch.from_numpy(arrays["random.torch"]))
    at, has_gauss, gauss = arrays["random.rest"]
    state = ("MT19937", arrays["random.keys"], int(at), int(has_gauss), float(gauss))
    np.random.set_state(state)  # noqa: NPY002 (SB3 draws from it)


def _part(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose name begins with `prefix`, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }


def take_learning(model: Any) -> Arrays:
    """The state that an update changes: weights, optimiser, updates counted."""
    arrays = {f"policy.{name}": value.numpy() for name, value in model.policy.state_dict().items()}
    moments = model.policy.optimizer.state_dict()["state"]
    for index, entries in moments.items():
        for name, value in entries.items():
            arrays[f"optimizer.{index}.{name}"] = np.atleast_1d(value.numpy())
    arrays["updates"] = np.array([model._n_updates])
    return arrays


def put_learning(model: Any, arrays: Arrays) -> None:
    """Restore what `take_learning` took; ValueError if it was another network."""
    weights = {k: torch.from_numpy(v) for k, v in _part(arrays, "policy.").items()}
    try:
        model.policy.load_state_dict(weights)
    except RuntimeError:
        raise ValueError("the checkpoint is of another network") from None
    optimizer = model.policy.optimizer
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in _part(arrays, "optimizer.").items():
        index, _, name = key.partition(".")
        tensor = torch.from_numpy(value)
        state.setdefault(int(index), {})[name] = tensor[0] if name == "step" else tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    model._n_updates = int(arrays["updates"][0])


def write_checkpoint(path: Path, arrays: Arrays, facts: dict[str, Any], kind: str = "ppo") -> None:
    """Write a checkpoint, whole or not at all.

    Args:
        path: The file.
        arrays: What `take_play` and `take_learning` took, or `Learner.take` of an afterstate run.
        facts: JSON values: the configuration, the seconds spent, the best evaluation.
        kind: Of the run.

    Raises:
        OSError: It cannot be written; what stood there before still does.
    """
    told = {**facts, "kind": kind, "format": FORMATS[kind], "observation": _input_version(kind)}
    plain = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
    with writing(path):
        write_atomic(path, save(plain, metadata={"facts": json.dumps(told)}))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """While entered, an OSError of what is written becomes one sentence with the remedy."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:  # It is such a sentence already.
            raise
        remedy = "make room" if error.errno in FULL else "put that right"
        raise OSError(
            f"cannot write {path}: {error.strerror}; {remedy} and go on with --resume "
            "(what was saved before is intact)"
        ) from error


def read_checkpoint(path: Path, kind: str = "ppo") -> tuple[Arrays, dict[str, Any]]:
    """The arrays and facts of a checkpoint.

    Raises:
        ValueError: There is none, it is damaged, of another kind of run, or of another version.
    """
    if not path.is_file():
        raise ValueError(f"nothing to resume: there is no {path}")
    try:
        with safe_open(path, framework="np") as file:
            facts = json.loads((file.metadata() or {})["facts"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if not isinstance(facts, dict):
            raise ValueError("facts must be an object")
    except (SafetensorError, KeyError, ValueError):
        raise ValueError(f"{path} is damaged: start the run anew, without --resume") from None
    of = facts.get("kind", "ppo")  # Those of PPO once did not say so.
    if of != kind:
        raise ValueError(
            f"{path} belongs to a run of {of}, not {kind}: resume that run, or start this one in "
            "another folder"
        )
    if facts.get("format") != FORMATS[kind] or facts.get("observation") != _input_version(kind):
        raise ValueError(
            f"{path} was written by another version of this program (observation "
            f"{facts.get('observation')}, here {_input_version(kind)}): start the run anew"
        )
    return arrays, facts


def _input_version(kind: str) -> int:
    """Version of what the network of such a run reads."""
    return FEATURES_VERSION if kind == "afterstate" else OBSERVATION_VERSION


def check_same(
    path: Path, now: Mapping[str, Any], before: Mapping[str, Any], fixed: Sequence[str]
) -> None:
    """Refuse to resume a run whose configuration differs in a key that matters.

    Args:
        path: Its checkpoint.
        now: The configuration in JSON values.
        before: That of the checkpoint.
        fixed: The keys that a resumed run cannot change.

    Raises:
        ValueError: One of them has changed.
    """
    for key in fixed:
        for name, ours, theirs in _differences(key, now[key], before.get(key)):
            raise ValueError(
                f"{path} belongs to a run with {name} {theirs}, not {ours}: "
                "resume that run, or start this one in another folder"
            )


def _differences(key: str, now: Any, before: Any) -> Iterator[tuple[str, Any, Any]]:
    """Where two values of a configuration differ: the key, within sections too, and both values."""
    if isinstance(now, dict) and isinstance(before, dict):
        for name in {**before, **now}:
            yield from _differences(f"{key}.{name}", now.get(name), before.get(name))
    elif now != before:
        yield key, now, before
