"""What a run shows on stderr: a bar and lines, with the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn


class Display:
    """A bar where stderr is a terminal, lines everywhere.

    Args:
        report: Called with each line.
        bar: Whether to draw the bar; by default, where stderr is a terminal.
        every: Seconds between lines of progress where no bar is drawn; None for no such lines.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        bar: bool | None = None,
        every: float | None = None,
    ) -> None:
        console = Console(stderr=True)
        drawn = console.is_terminal if bar is None else bar
        self._report, self._every = report, None if drawn else every
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not drawn,
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=1.0, left="")
        self._begun: tuple[float, float] | None = None
        self._told = time.monotonic()

    def __enter__(self) -> Display:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def move(self, spent: float, text: str, left: float | None = None) -> None:
        """Show how far the run is.

        Args:
            spent: Share of the run that is over, 0..1.
            text: What is told beside it.
            left: Seconds to go; by default estimated from the shares since the first call.
        """
        now = time.monotonic()
        self._begun = self._begun or (now, spent)
        told = time_left(self._estimate(now, spent) if left is None else left)
        self._bar.update(self._task, completed=spent, description=text, left=told)
        if self._every is not None and now - self._told >= self._every:
            self._told = now
            self.line(f"{text}; {100 * spent:.0f} % done" + (f", {told}" if told else ""))

    def _estimate(self, now: float, spent: float) -> float | None:
        began, before = self._begun or (now, spent)
        return (now - began) * (1.0 - spent) / (spent - before) if spent > before else None

    def line(self, text: str) -> None:
        """Report a line."""
        self._report(text)


def time_left(seconds: float | None) -> str:
    """Seconds to go, in words such as "1 h 20 min left"; "" where they are not known."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{max(seconds, 0.0):.0f} s left"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min left" if hours else f"{minutes} min left"
