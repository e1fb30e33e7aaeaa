"""Plays chunks on a Ray cluster: the games are the same as on this machine, and are stored here.

A task that is lost with its node is done again on another. Every node needs this package, and
what own agents are made of, where its Python finds them.
"""

from __future__ import annotations

import importlib
import logging
import os
import socket
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from eval.crew import Crew
from eval.manifest import RunError
from eval.worker import Result, Task

AT_ONCE = 256
"""Chunks that are handed to the cluster at a time; what they return waits in its memory."""
KNOCK_S = 10.0
"""Seconds after which an address does not answer."""
RETRIES = 20
"""How often a chunk may be lost with its node."""


def perform(tasks: Iterable[Task], address: str) -> Iterator[tuple[Task, Result]]:
    """Yield every task with its result, as they come in.

    Args:
        tasks: What to do.
        address: "auto" for the cluster of this machine, "local" for one that is made and
            removed, else host:port.

    Raises:
        ValueError: Ray is not installed, no cluster answers, or an agent cannot be made.
        RunError: A task was lost more than RETRIES times.
    """
    ray = _connect(address)
    remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_perform_one)
    waiting = iter(tasks)
    try:
        asked = {remote.remote(task): task for task in islice(waiting, AT_ONCE)}
        while asked:
            (ready, *_), _ = ray.wait(list(asked))
            result, task = ray.get(ready), asked.pop(ready)
            if isinstance(result, Exception):
                raise result
            yield task, result
            asked |= {remote.remote(task): task for task in islice(waiting, 1)}
    except ray.exceptions.RayError as error:
        raise RunError(
            f"the Ray cluster lost a chunk for good: {_first_line(error)}; what has been stored "
            "is kept, and the same command goes on with it"
        ) from error
    finally:
        ray.shutdown()


def _connect(address: str) -> Any:
    """The connected ray module; ValueError where that fails."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray = importlib.import_module("ray")
    except ModuleNotFoundError:
        raise ValueError("--ray needs the library ray: pip install 'thegame-env[ray]'") from None
    options = {"include_dashboard": False} if address == "local" else {}
    try:
        _knock(address)
        ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL, **options)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ValueError(f'no Ray cluster answers at "{address}": {_first_line(error)}') from error
    return ray


def _knock(address: str) -> None:
    """Raise OSError at once where nothing listens at host:port: Ray would try for minutes."""
    if address in ("auto", "local"):
        return
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not port.isdigit():
        raise ValueError("an address is auto, local, or host:port")
    socket.create_connection((host, int(port)), KNOCK_S).close()


def _perform_one(task: Task) -> Result | Exception:
    """What a node does: it plays in a process of its own, as a worker of this machine does."""
    try:
        ((_, result),) = _crew().perform([task])
    except (ValueError, RuntimeError) as error:
        return error
    return result


@cache
def _crew() -> Crew:
    return Crew(1)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
