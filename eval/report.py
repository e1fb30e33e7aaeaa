"""The report of a run: summary, plots, and the same pages as Markdown and as HTML.

Everything is recomputed from the rows of the run. No game is played here, and the HTML page
needs no other file and no network.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from eval.cells import Setting, Table
from eval.columns import Run, load_run
from eval.manifest import RunError
from eval.plots import INK, PAPER, duration, players_text, plot_run
from eval.records import write_atomic
from eval.summary import (
    CellSummary,
    CrossSummary,
    PairedSummary,
    Summary,
    summarise,
    summary_csv,
    summary_json,
    table_of,
)

_NAMESPACE = re.compile(r'\s+xmlns(:\w+)?="[^"]*"')
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_ID = re.compile(r'(\bid="|url\(#|href="#)')

MEMORY_TEXT = {
    True: "on: a seat knows every card that has been played",
    False: "off: a seat sees the tops of the piles, not the cards below",
}
TALK_TEXT = {
    "none": "none: the seats are silent",
    "avoid": "avoid: a seat may ask the others to spare a pile",
    "open": "open: per pile a seat tells whether it has a small step or a trick, and overall "
    "whether it can meet its minimum",
}
STARTER_TEXT = {
    "seat0": "seat0: the first seat starts",
    "agreed": "agreed: the seat that announces the best opening starts",
}


@dataclass(frozen=True, slots=True)
class TablePart:
    """What the report shows about one table; the plots are file names, "" where there is none."""

    table: Table
    heading: str
    cells: list[CellSummary]
    crossplay: list[CrossSummary]
    share_plot: str
    time_plot: str
    crossplay_plot: str


@dataclass(frozen=True, slots=True)
class SettingPart:
    """What the report shows about one setting.

    Attributes:
        setting: rules and what players may know.
        heading: the same in a line.
        players: the numbers of players, ascending.
        overview: for each agent, its figures by number of players.
        paired: comparisons with the baseline, by number of players.
        paired_plot: file name, "" where there is none.
        tables: one part a number of players.
    """

    setting: Setting
    heading: str
    players: list[int]
    overview: dict[str, dict[int, CellSummary]]
    paired: list[PairedSummary]
    paired_plot: str
    tables: list[TablePart]


def write_report(run_dir: Path) -> Summary:
    """Write summary.json, summary.csv, plots/*.svg, report.md and report.html of a run.

    A run that is not complete is reported as far as it goes, and the report says so. Plots of
    an earlier report that are no longer made are removed.

    Args:
        run_dir: the directory of the run.

    Returns:
        The figures that the report shows.

    Raises:
        RunError: there is no run, no game of it can be read, or it cannot be written.
    """
    run = load_run(run_dir)
    if not run.games:
        raise RunError(f"{run_dir} has no games to report yet")
    summary = summarise(run)
    plots = plot_run(run, summary)
    try:
        _write_pages(run_dir, run, summary, plots)
    except OSError as error:
        raise RunError(
            f"the report of {run_dir} cannot be written: {error.strerror or error}; its games are "
            f"kept, and `thegame report {run_dir}` writes it later"
        ) from error
    return summary


def _write_pages(run_dir: Path, run: Run, summary: Summary, plots: dict[str, str]) -> None:
    parts = setting_parts(summary, plots)
    write_atomic(run_dir / "summary.json", summary_json(summary).encode())
    write_atomic(run_dir / "summary.csv", summary_csv(summary).encode())
    _write_plots(run_dir / "plots", plots)
    for name in ("report.md", "report.html"):
        page = _render(f"{name}.j2", run, run_dir, parts, plots)
        write_atomic(run_dir / name, page.encode())


def setting_parts(summary: Summary, plots: dict[str, str]) -> list[SettingPart]:
    """Sort the figures of a run by setting and table, in the order they were asked for."""
    settings = dict.fromkeys(table_of(cell).setting for cell in summary.cells)
    return [_setting_part(setting, summary, plots) for setting in settings]


def inline_svg(svg: str, prefix: str, label: str) -> Markup:
    """Return SVG text to be put into an HTML page.

    Its ink and paper become those of the page, its ids get a prefix so that several plots fit
    into one page, and what only a file of its own needs is left out.

    Args:
        svg: a plot as `eval.plots` makes it.
        prefix: unique within the page.
        label: a sentence for readers who do not see the plot.
    """
    body = _METADATA.sub("", svg[svg.index("<svg") :])
    body = _NAMESPACE.sub("", body).replace("xlink:href", "href")
    body = _ID.sub(rf"\g<1>{prefix}-", body)
    body = body.replace(INK, "currentColor").replace(PAPER, "none")
    label = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return Markup(body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1))


def _setting_part(setting: Setting, summary: Summary, plots: dict[str, str]) -> SettingPart:
    cells = [cell for cell in summary.cells if table_of(cell).setting == setting]
    alone = [cell for cell in cells if "|" not in cell.agent]
    overview: dict[str, dict[int, CellSummary]] = {}
    for cell in alone:
        overview.setdefault(cell.agent, {})[cell.players] = cell
    paired = [p for p in summary.paired if table_of(p).setting == setting]
    tables = sorted(dict.fromkeys(table_of(cell) for cell in cells))
    return SettingPart(
        setting=setting,
        heading=setting_text(setting),
        players=sorted({cell.players for cell in alone}),
        overview=overview,
        paired=sorted(paired, key=lambda p: p.players),
        paired_plot=_present(f"paired-{setting.slug}.svg", plots),
        tables=[_table_part(table, summary, plots) for table in tables],
    )


def _table_part(table: Table, summary: Summary, plots: dict[str, str]) -> TablePart:
    return TablePart(
        table=table,
        heading=f"{players_text(table.players)}, {table.rules}",
        cells=[c for c in summary.cells if table_of(c) == table and "|" not in c.agent],
        crossplay=[c for c in summary.crossplay if table_of(c) == table],
        share_plot=_present(f"share-{table.slug}.svg", plots),
        time_plot=_present(f"time-{table.slug}.svg", plots),
        crossplay_plot=_present(f"crossplay-{table.slug}.svg", plots),
    )


def setting_text(setting: Setting) -> str:
    """Return a setting in a line."""
    memory = "memory on" if setting.memory else "memory off"
    return f"{setting.rules}, {memory}, talk {setting.talk}, starter {setting.starter}"


def _present(name: str, plots: dict[str, str]) -> str:
    return name if name in plots else ""


def _write_plots(plots_dir: Path, plots: dict[str, str]) -> None:
    for name, svg in plots.items():
        write_atomic(plots_dir / name, svg.encode())
    for path in plots_dir.glob("*.svg"):
        if path.name not in plots:
            path.unlink()


def _render(
    template: str, run: Run, run_dir: Path, parts: list[SettingPart], plots: dict[str, str]
) -> str:
    """Fill in a page; only the HTML page escapes what is special in HTML."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=template.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= _FILTERS
    place = run_dir.as_posix() if run_dir.parent.name != "runs" else f"runs/{run_dir.name}"
    return environment.get_template(template).render(
        name=run_dir.resolve().name,
        manifest=run.manifest,
        parts=parts,
        games=sum(games.won.size for games in run.games.values()),
        planned=len(run.manifest.cells) * run.manifest.games,
        unfinished=_unfinished(run),
        damaged=run.damaged,
        replay=f"thegame replay {shlex.quote(place)}",
        plot=lambda name, label: inline_svg(plots[name], name.split(".svg")[0], label),
        MEMORY=MEMORY_TEXT,
        TALK=TALK_TEXT,
        STARTER=STARTER_TEXT,
    )


def _unfinished(run: Run) -> list[str]:
    """Return a line for every cell that lacks games."""
    lines = []
    for cell in run.manifest.cells:
        played = run.games[cell].won.size if cell in run.games else 0
        if played < run.manifest.games:
            at = f"{players_text(cell.players)}, {setting_text(cell.table.setting)}"
            lines.append(f"{cell.agent}, {at}: {played:,} of {run.manifest.games:,} games")
    return lines


def percent(share: float, digits: int = 1) -> str:
    """Return a share as a number of per cent, without the sign."""
    return f"{100 * share:.{digits}f}"


def interval(pair: tuple[float, float], digits: int = 1, scale: float = 1) -> str:
    """Return "low to high", each value multiplied by `scale`."""
    low, high = (_minus(f"{scale * value:.{digits}f}") for value in pair)
    return f"{low} to {high}"


def signed(value: float, digits: int = 2, scale: float = 1) -> str:
    """Return a difference with its sign."""
    return _minus(f"{scale * value:+.{digits}f}")


def mean_interval(cell: CellSummary | CrossSummary) -> str:
    """Return the 95 % interval of a cell's mean cards left; a dash for a single game."""
    if cell.cards_left_se is None:
        return "–"
    half = 1.96 * cell.cards_left_se
    return interval((cell.cards_left_mean - half, cell.cards_left_mean + half), digits=2)


def p_value(p: float) -> str:
    """Return a p value with four decimals."""
    return "<\N{NO-BREAK SPACE}0.0001" if p < 0.0001 else f"{p:.4f}"


def rate(value: float | None) -> str:
    """Return games a second as a whole number, or with a digit more below ten."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _breakable(agent: str) -> Markup:
    """Return an agent's name that may be broken after its punctuation, as HTML."""
    return Markup(re.sub(r"([:,.|])(?!$)", r"\1<wbr>", str(escape(agent))))


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _duration(ms: float | None) -> str:
    return "–" if ms is None else duration(ms)


def _markdown(text: str) -> str:
    """Return text that Markdown shows as it is, also in a table."""
    return re.sub(r"([\\|<*_`\[])", r"\\\1", text)


_FILTERS: dict[str, Callable[..., str]] = {
    "percent": percent,
    "interval": interval,
    "signed": signed,
    "mean_interval": mean_interval,
    "p_value": p_value,
    "rate": rate,
    "duration": _duration,
    "breakable": _breakable,
    "markdown": _markdown,
    "players": players_text,
}
