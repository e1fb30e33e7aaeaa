"""Agents from elsewhere: a factory in somebody's module, or an archive of stable-baselines3.

* `mypackage.module:Factory` is called with the table (and its parameters, if the specification has
  any). It returns an `agents.base.Agent`, or any object with `act(observation, legal_action_mask)`
  and an attribute `observation`, "table" or "relative": it is given float32[size] and bool[A] for
  one position at a time, and answers with an action.
* `path/to/model.zip` is a model of stable-baselines3 or sb3-contrib, trained on one of the
  environments, with any policy class that can be imported. The archive holds a pickle, and loading
  a pickle runs whatever code is in it.

Both are other people's code: the harness runs them in processes of their own.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import json
import os
import pickle
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, Rows, Streams
from thegame_env.observation import ENCODERS, ObservationKind, encode_batch, observation_spec
from thegame_env.rules import IllegalAction, Table
from thegame_env.sight import mask_into

LIBRARIES = ("torch", "stable_baselines3", "sb3_contrib", "cloudpickle")
"""What the extra `train` installs for models of stable-baselines3."""
PICKLE_WARNING = "it holds a pickle, and loading a pickle runs whatever code is in it"


class ObservingAgent(Agent):
    """Shows each position to a function as the environments do: an observation and a mask.

    Attributes:
        weights_hash: Of the learnt weights behind the function, "" where there are none.

    Args:
        name: The specification that makes it again.
        table: Where it plays.
        kind: Of the observation.
        choose: Called with float32[n, size] and bool[n, A]; returns n actions.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        kind: str,
        choose: Callable[[npt.NDArray[np.float32], npt.NDArray[np.bool_]], Any],
    ) -> None:
        self.name, self.weights_hash, self._choose = name, "", choose
        self._size, self._kind = observation_spec(kind, table).size, ENCODERS[kind]
        self._n_actions = table.rules.n_actions

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows; IllegalAction where an answer is not a whole number."""
        observations = np.zeros((len(rows), self._size), np.float32)
        masks = np.zeros((len(rows), self._n_actions), np.int8)
        encode_batch(self._kind, rows, p, observations)
        for row, mask in zip(rows, masks, strict=True):
            mask_into(row, p, mask)
        return whole_numbers(self._choose(observations, masks.astype(bool)), len(rows))


def whole_numbers(answer: Any, count: int) -> Actions:
    """An agent's answer as int64[count].

    Raises:
        IllegalAction: It has another shape, or holds something that is not a whole number.
    """
    actions = np.asarray(answer)
    if actions.shape != (count,):
        raise IllegalAction(f"an answer of shape {actions.shape} where ({count},) was asked for")
    if not np.issubdtype(actions.dtype, np.integer):
        raise IllegalAction(f"an answer of type {actions.dtype} where whole numbers were asked for")
    return actions.astype(np.int64)


# --- factories -----------------------------------------------------------------------------------


def load_factory(module: str, attribute: str) -> Callable[..., Agent]:
    """The factory `attribute` of `module`, made to return an Agent.

    The current directory is searched too, as a module is by `python -m`.

    Raises:
        ModuleNotFoundError: There is no such module; the message is a part of a sentence.
        ValueError: There is, but it cannot be imported, or has no such factory.
    """
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", module) or not attribute.isidentifier():
        raise ModuleNotFoundError("own agents are given as package.module:Factory")
    _search_here()
    name = f"{module}:{attribute}"
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise ModuleNotFoundError(f'nor can a module "{module}" be imported')
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise ValueError(f'agent "{name}": {_text(error)}') from error
    return lambda table, *values, **parameters: _called(name, factory, table, values, parameters)


def _search_here() -> None:
    """Let modules of the current directory be imported, too."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())


def _called(
    name: str, factory: Any, table: Table, values: tuple[str, ...], parameters: dict[str, Any]
) -> Agent:
    """Call a factory and make an Agent of what it returns."""
    try:
        made = factory(table, *values, **parameters)
    except Exception as error:
        raise ValueError(f'agent "{name}": {_text(error)}') from error
    if isinstance(made, Agent):
        return made
    kind = str(getattr(made, "observation", None))
    if not callable(getattr(made, "act", None)) or kind not in get_args(ObservationKind):
        raise ValueError(
            f'agent "{name}": the factory must return an agents.base.Agent, or an object with '
            'act(observation, legal_action_mask) and an attribute observation, "table" or '
            f'"relative", not {made!r}'
        )
    return ObservingAgent(name, table, kind, lambda seen, masks: list(map(made.act, seen, masks)))


# --- archives of stable-baselines3 ---------------------------------------------------------------


def is_archive(text: str) -> bool:
    """Whether a specification is a file with a model of stable-baselines3."""
    return text.strip().lower().endswith(".zip")


def load_archive(path: str, table: Table, allow_pickle: bool = False) -> Agent:
    """The agent that plays by the most likely action of a stable-baselines3 model.

    Which observation it was trained on shows in its size; masks are given to models that take
    them, and the others may choose illegal actions.

    Raises:
        ValueError: Pickles are not allowed, a library is missing, there is no such file, or the
            model was not trained on an environment with this table's actions and observations.
    """
    if not allow_pickle:
        raise ValueError(
            f"{path} is an archive of stable-baselines3: {PICKLE_WARNING}; "
            "--allow-pickle loads it if you trust where it comes from"
        )
    _search_here()
    stored = _stored(path)
    try:
        library, algorithm = _algorithm(stored)
        model = getattr(importlib.import_module(library), algorithm).load(path, device="cpu")
    except ModuleNotFoundError as error:
        raise ValueError(f"{path} needs {_remedy(error.name or '')}") from error
    except Exception as error:
        raise ValueError(f"{path} cannot be loaded: {_text(error)}") from error
    kind = _kind_for(path, model, table)
    masked = algorithm.startswith("Maskable")

    def choose(seen: npt.NDArray[np.float32], masks: npt.NDArray[np.bool_]) -> Any:
        options = {"action_masks": masks} if masked else {}
        return model.predict(seen, deterministic=True, **options)[0]

    agent = ObservingAgent(path, table, kind, choose)
    agent.weights_hash = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
    return agent


def _stored(path: str) -> dict[str, Any]:
    """What an archive tells of its model as JSON, read without loading its pickles."""
    try:
        with zipfile.ZipFile(path) as archive:
            stored = json.loads(archive.read("data"))
        _ = stored["policy_class"]["__module__"]
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not an archive of stable-baselines3: {error}") from None
    checked: dict[str, Any] = stored
    return checked


def _algorithm(stored: dict[str, Any]) -> tuple[str, str]:
    """(library, class) of a stored model: by its policy's class, and by settings only one has."""
    if _is_maskable(stored["policy_class"]):
        return "sb3_contrib", "MaskablePPO"
    if "target_update_interval" in stored:
        return "stable_baselines3", "DQN"
    return "stable_baselines3", "PPO" if "clip_range" in stored else "A2C"


def _is_maskable(policy: dict[str, Any]) -> bool:
    """Whether the class of a stored policy, which may be anybody's, is one that takes masks.

    It is loaded from its pickle, which imports the module that it stands in.
    """
    if policy["__module__"].startswith("sb3_contrib.common.maskable"):
        return True
    if importlib.util.find_spec("sb3_contrib") is None or ":serialized:" not in policy:
        return False
    base = importlib.import_module("sb3_contrib.common.maskable.policies")
    found = pickle.loads(base64.b64decode(policy[":serialized:"]))
    return isinstance(found, type) and issubclass(found, base.MaskableActorCriticPolicy)


def _remedy(module: str) -> str:
    """How to come by a module that a model needs."""
    if module.partition(".")[0] in LIBRARIES:
        return f"the library {module}: pip install 'thegame-env[train]'"
    return f"the module {module} that it was trained with, where it can be imported from"


def _kind_for(path: str, model: Any, table: Table) -> str:
    """The kind of observation that a model takes at this table."""
    if getattr(model.action_space, "n", None) != table.rules.n_actions:
        raise ValueError(
            f"{path} was trained on {model.action_space}, and a table of {table.rules.spec()} "
            f"has {table.rules.n_actions} actions"
        )
    sizes = {kind: observation_spec(kind, table).size for kind in ENCODERS}
    for kind, size in sizes.items():
        if model.observation_space.shape == (size,):
            return kind
    known = " or ".join(f"({size},), {kind}" for kind, size in sizes.items())
    raise ValueError(
        f"{path} takes observations of shape {model.observation_space.shape}, and those of "
        f"{table.players} players of {table.rules.spec()} are {known}"
    )


def _text(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
