"""The `thegame` command in a process of its own, for programs that train or play by it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import typer

STDERR = 2
"""Where progress goes."""


def thegame(arguments: Sequence[str], stdout: int = subprocess.PIPE) -> str:
    """Run it; what it printed, or "" where its stdout goes elsewhere.

    Its progress and its refusals go to stderr as they are.

    Args:
        arguments: Those of `thegame`.
        stdout: As `subprocess.run` takes it.

    Raises:
        typer.Exit: It was refused or stopped; with its exit code.
    """
    command = [sys.executable, "-m", "thegame_app", *arguments]
    done = subprocess.run(command, stdout=stdout, check=False, text=True)
    if done.returncode:
        raise typer.Exit(done.returncode)
    return done.stdout or ""
