"""What a run shows on stderr: a bar with the time left, and a line at every evaluation."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


class Display:
    """A bar where stderr is a terminal, lines everywhere.

    Args:
        report: Called with each line.
        bar: Whether to draw the bar; by default, where stderr is a terminal.
    """

    def __init__(self, report: Callable[[str], None], bar: bool | None = None) -> None:
        console = Console(stderr=True)
        self._report = report
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not (console.is_terminal if bar is None else bar),
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=1.0)

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

    def move(self, spent: float, text: str) -> None:
        """Set the bar to the share `spent`, with `text` before it."""
        self._bar.update(self._task, completed=spent, description=text)

    def line(self, text: str) -> None:
        """Report a line."""
        self._report(text)
