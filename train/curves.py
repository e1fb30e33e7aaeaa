"""Curves for TensorBoard, written at once: what does not fit on the disk is told, in a sentence."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.logger import KVWriter, Logger
from tensorboard.compat.proto.event_pb2 import Event, SessionLog  # type: ignore[import-untyped]
from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]

from train.snapshot import writing

FILE_VERSION = "brain.Event:2"
"""What a file of events begins with, as TensorBoard wants it."""


class Curves(KVWriter):  # type: ignore[misc]
    """One file of events in a folder; every dump is on the disk when it returns.

    TensorBoard's own writers write from a thread, where a full disk is a traceback and nobody's
    error.

    Args:
        folder: Where the file is made.
        after: The step that a resumed run goes on from; what the folder holds beyond it was never
            saved and is void.

    Raises:
        OSError: It cannot be written.
    """

    def __init__(self, folder: Path, after: int | None = None) -> None:
        name = f"events.out.tfevents.{time.time():017.6f}.{os.getpid()}"
        self.path = folder / name
        with writing(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab", buffering=0)
        self._add(Event(file_version=FILE_VERSION))
        if after is not None:
            start = SessionLog(status=SessionLog.START)
            self._add(Event(step=after + 1, session_log=start))

    def write(
        self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0
    ) -> None:
        """Add a point to each curve; OSError where it does not fit, then nothing is added."""
        values = [
            Summary.Value(tag=key, simple_value=float(value))
            for key, value in key_values.items()
            if "tensorboard" not in key_excluded[key] and isinstance(value, int | float | np.number)
        ]
        if values:
            self._add(Event(step=step, summary=Summary(value=values)))

    def _add(self, event: Event) -> None:
        event.wall_time = time.time()
        record = io.BytesIO()
        RecordWriter(record).write(event.SerializeToString())
        left, whole = memoryview(record.getvalue()), self._file.tell()
        with writing(self.path):
            try:
                while left:
                    left = left[self._file.write(left) :]
            except OSError:
                with suppress(OSError):
                    self._file.truncate(whole)
                raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@contextmanager
def logging_to(model: Any, folder: Path, after: int | None = None) -> Iterator[None]:
    """While entered, the model's logs become curves in a folder; see `Curves`."""
    model.set_logger(Logger(str(folder), [Curves(folder, after)]))
    try:
        yield
    finally:
        model.logger.close()
