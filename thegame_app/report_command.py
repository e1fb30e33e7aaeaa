"""`thegame report`: a run's figures and pages, recomputed from its games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thegame_app.cli import JsonOption, print_json, say


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    app.command("report")(report)


def report(
    run: Annotated[Path, typer.Argument(help="The directory of a run, as runs/NAME.")],
    json: JsonOption = False,
) -> None:
    """Write summary, plots and report of a run anew, and print its figures."""
    from eval.records import missing_chunks
    from eval.report import write_report
    from thegame_app.summary_text import print_summary, summary_document

    summary = write_report(run)
    if json:
        print_json(summary_document(summary))
    else:
        print_summary(summary)
    missing = sum(chunk.count for chunk in missing_chunks(run))
    if missing:
        say(f"thegame report: the run is partial, {missing:,} games are still to be played")
    say(f"thegame report: written to {run} (report.html, report.md, summary.json, plots/)")
