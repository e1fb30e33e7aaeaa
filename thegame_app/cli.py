"""The `thegame` command: its subcommands, and the one place where errors become sentences.

A subcommand is a module `thegame_app/<name>_command.py` with `register(app)`. Its heavy imports
stand inside the command's body, so that `thegame --help` starts fast and a library that one
subcommand lacks does not stop the others. What all of them keep:

* `--json` prints exactly one JSON document on stdout (`print_json`), and nothing else there;
* messages and progress go to stderr (`say`, `late_progress`);
* bad input is a ValueError or an OSError, which `run` turns into one sentence on stderr and exit
  code 2. Exit code 1 is for a command that ran and found a fault (`typer.Exit(1)`).
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from rich.progress import Progress

COMMANDS = ("perft", "bench", "train", "eval", "report", "replay", "hint", "review", "play")
"""Names of the subcommands, in the order of the help text."""
PATIENCE = 2.0
"""Seconds after which a running command shows its progress."""
BAD_INPUT, INTERRUPTED = 2, 130
"""Exit codes."""

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")
]


def make_app() -> typer.Typer:
    """The typer app with every subcommand that is installed."""
    app = typer.Typer(
        name="thegame",
        help="The cooperative card game The Game: players, evaluation and hints.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in COMMANDS:
        module = f"thegame_app.{name}_command"
        if find_spec(module):
            importlib.import_module(module).register(app)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"thegame {version('thegame-env')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """The options before the subcommand; `--version` is answered by its callback."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process; the entry point of `thegame`."""
    given = sys.argv[1:] if arguments is None else arguments
    plugged = any(word.startswith("--agent") for word in given)
    if list(given[:1]) == ["hint"] and not plugged:  # people wait, and it loads its own code only
        from thegame_app.quick_start import hurry

        hurry()
    sys.exit(run(given))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: What follows `thegame`; by default those of the process.

    Returns:
        0, or what a command raised as `typer.Exit`; 2 after bad input, which is told in one
        sentence on stderr; 130 after an interrupt.
    """
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = typer.main.get_command(make_app())
    try:
        code = command.main(given, prog_name="thegame", standalone_mode=False)
    except typer.TyperException as error:
        return _refuse(error.format_message())
    except typer.Abort:
        code = INTERRUPTED
    except ModuleNotFoundError as error:
        return _refuse(_missing(error))
    except (ValueError, OSError) as error:
        return _refuse(str(error))
    if code == INTERRUPTED:
        say("thegame: interrupted")
    return code if isinstance(code, int) else 0


def _refuse(text: str) -> int:
    sentence = " ".join(text.split()) or "the input is not understood"
    say(f"thegame: {sentence}")
    return BAD_INPUT


def _missing(error: ModuleNotFoundError) -> str:
    """The sentence for a library that is not installed; an own module missing is a fault."""
    library = (error.name or "").partition(".")[0]
    if library.startswith("thegame") or library in ("agents", "train", "eval", "benchmarks", ""):
        raise error
    return f"this command needs the library {library}, which is not installed here"


# --- what the subcommands share ------------------------------------------------------------------


def print_json(document: Any) -> None:
    """Print the one JSON document of `--json` on stdout, in one line.

    Raises:
        ValueError: It holds a NaN or an infinity, which JSON does not know.
    """
    print(json.dumps(document, ensure_ascii=False, allow_nan=False))


def say(text: str) -> None:
    """Print a message for people on stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def late_progress() -> Iterator[Progress]:
    """A rich progress display on stderr that appears only in a terminal, after `PATIENCE` seconds.

    Use it as any `rich.progress.Progress`: `task = progress.add_task("games", total=1000)`, then
    `progress.advance(task)`.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    timer = threading.Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield progress
    finally:
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()
