"""When a run ends: its time or steps are spent, or somebody asks it to stop."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Budget:
    """What a run may spend and has spent, resumed runs added up; time counts from `begin` on.

    Args:
        minutes: Wall-clock minutes of training, or None.
        steps: Actions, or None.
        seconds: Spent before this start.
    """

    def __init__(self, minutes: float | None, steps: int | None, seconds: float = 0.0) -> None:
        self.minutes, self.steps = minutes, steps
        self._before = seconds
        self._began: float | None = None

    def begin(self) -> None:
        """Count from now on."""
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds spent so far."""
        return self._before + (time.monotonic() - self._began if self._began is not None else 0.0)

    def spent(self, steps: int) -> float:
        """Share of the budget that is spent after `steps` actions, 0..1."""
        shares = [0.0]
        if self.minutes is not None:
            shares.append(self.seconds / (60.0 * self.minutes))
        if self.steps is not None:
            shares.append(steps / self.steps)
        return min(max(shares), 1.0)

    def time_is_up(self) -> bool:
        """Whether the minutes are spent."""
        return self.minutes is not None and self.seconds >= 60.0 * self.minutes


class StopRequest:
    """While entered, the first SIGINT or SIGTERM sets `requested`; a second one interrupts at once.

    Signals reach the main thread only; elsewhere nothing is changed.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            self._before = {one: signal.signal(one, self._ask) for one in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)  # type: ignore[arg-type]

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
