import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from invented_runs import make_cell, make_manifest, make_row, write_run

from eval.cells import Cell, Chunk
from eval.columns import load_run
from eval.manifest import RunError
from eval.plots import duration, looks_of
from eval.records import find_game, open_run, write_chunk
from eval.report import inline_svg, write_report
from eval.summary import summarise

SVG = "{http://www.w3.org/2000/svg}"
AGENTS = ("greedy", "sequence", "odd<name>&co:deals=100,plans=40")


def write_example(run_dir: Path) -> Path:
    rng = np.random.default_rng(1)
    cells = [make_cell(agent, players) for players in (1, 3) for agent in AGENTS]
    cells += [make_cell("greedy|sequence", 3), make_cell("sequence|greedy", 3)]
    left = {cell: rng.integers(0, 20 - 2 * cell.players, 40).tolist() for cell in cells}
    return write_run(run_dir, left, chunk_games=20)


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its report; tests read it and do not change it."""
    example = write_example(tmp_path_factory.mktemp("all") / "runs" / "example")
    write_report(example)
    return example


def text_of(html: str) -> str:
    """Return what a reader sees: no style, no tags."""
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    body = re.sub(r"</?(?:wbr|span|small)[^>]*>", "", body)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_the_report_shows_the_figures_of_the_summary(run_dir: Path) -> None:
    summary = summarise(load_run(run_dir))
    html, markdown = (run_dir / "report.html").read_text(), (run_dir / "report.md").read_text()
    stored = json.loads((run_dir / "summary.json").read_text())
    lines = list(csv.DictReader((run_dir / "summary.csv").read_text().splitlines()))
    assert len(stored["cells"]) == len(lines) == len(summary.cells) == 8
    assert len(stored["crossplay"]) == 4
    for cell in stored["cells"]:
        rate = f"{100 * cell['win_rate']:.2f}"
        interval = f"{100 * cell['win_low']:.2f} to {100 * cell['win_high']:.2f}"
        assert f"{rate}{interval}" in text_of(html)
        assert f"| {rate} ({interval}) |" in markdown
        mean, half = cell["cards_left_mean"], 1.96 * cell["cards_left_se"]
        for page in (html, markdown):
            assert f"{mean:.2f}" in page
            assert f"{mean - half:.2f} to {mean + half:.2f}" in page
    for paired in stored["paired"]:
        difference = f"{paired['cards_left_diff']:+.2f}".replace("-", "−")
        assert difference in html
        assert difference in markdown


def test_the_report_says_what_the_players_may_know_and_how_it_was_made(run_dir: Path) -> None:
    for name in ("report.html", "report.md"):
        page = (run_dir / name).read_text()
        assert "official, memory on, talk none, starter seat0" in page
        assert "a seat knows every card that has been played" in page
        assert "thegame eval --agents greedy,sequence --seed 7" in page
        assert "seed 7 (development), deals 0 to 39" in page
        assert "not complete" not in page


def test_the_page_is_one_file_without_addresses(run_dir: Path) -> None:
    html = (run_dir / "report.html").read_text()
    assert "//" not in html
    assert not re.search(r"<(?:link|script|img|iframe)\b|@import|\bsrc=", html)
    assert html.count("<svg") == 2 + 2 + 1 + 1
    ids = re.findall(r'\bid="([^"]+)"', html)
    used = re.findall(r'(?:url\(#|href="#)([^")]+)', html)
    assert set(used) <= set(ids)
    assert len(set(ids)) == len(ids)


def test_names_are_escaped(run_dir: Path) -> None:
    html = (run_dir / "report.html").read_text()
    assert "odd<name>" not in html
    assert "odd&lt;name&gt;&amp;co" in html


def test_the_linked_games_are_the_best_the_median_and_the_worst(run_dir: Path) -> None:
    summary = summarise(load_run(run_dir))
    games = load_run(run_dir).games
    html = text_of((run_dir / "report.html").read_text())
    for cell in summary.cells:
        key = Cell(cell.agent, cell.players, "official", "none", True, "seat0")
        left = np.sort(games[key].cards_left)
        numbers = (cell.best_game, cell.median_game, cell.worst_game)
        rows = [find_game(run_dir, number) for number in numbers]
        assert {row.cell for row in rows} == {key}
        assert [row.cards_left for row in rows] == [left[0], left[19], left[-1]]
        if not key.pair:
            for number in numbers:
                assert f"thegame replay runs/example --game {number}" in html


def test_a_partial_run_says_so(tmp_path: Path) -> None:
    run_dir = write_example(tmp_path)
    Chunk(make_cell("sequence", 1), 0, 20).rows_path(run_dir).unlink()
    damaged = Chunk(make_cell("greedy", 3), 20, 20).rows_path(run_dir)
    damaged.write_bytes(damaged.read_bytes()[:50])
    write_report(run_dir)
    for name in ("report.html", "report.md"):
        page = (run_dir / name).read_text()
        assert "This run is not complete: 280 of 320 games." in page
        assert "sequence, 1 player, official, memory on, talk none, starter seat0: 20 of 40" in page
        assert "is damaged and must be played again" in page
    assert damaged.name in (run_dir / "report.html").read_text()


def test_faults_are_named_in_the_report(tmp_path: Path) -> None:
    cell = make_cell()
    (chunk,) = open_run(tmp_path, make_manifest([cell], 3))
    rows = [make_row(cell, game, 30, "crash", "KeyError: <3>") for game in range(3)]
    write_chunk(tmp_path, chunk, rows)
    write_report(tmp_path)
    html, markdown = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert "ended 3 of 3 games by a fault" in text_of(html)
    assert "3 × crash: KeyError: &lt;3&gt;" in html
    assert "3 (crash 3, illegal 0, timeout 0)" in markdown
    assert r"3 × crash: KeyError: \<3>" in markdown


def test_a_run_without_games_has_no_report(tmp_path: Path) -> None:
    open_run(tmp_path, make_manifest([make_cell()], 3))
    with pytest.raises(RunError, match="no games to report yet"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_a_report_that_cannot_be_written_says_that_the_games_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    run_dir = write_example(tmp_path)
    monkeypatch.setattr("eval.report.write_atomic", full)
    with pytest.raises(RunError, match="No space left on device; its games are kept, and `thegame"):
        write_report(run_dir)


def test_writing_again_changes_nothing_and_removes_old_plots(tmp_path: Path) -> None:
    run_dir = write_example(tmp_path)
    write_report(run_dir)
    names = ["report.html", "report.md", "summary.json", "summary.csv"]
    files = [run_dir / name for name in names] + sorted((run_dir / "plots").iterdir())
    before = {path: path.read_bytes() for path in files}
    (run_dir / "plots" / "share-of-yesterday.svg").write_text("<svg/>")
    settings = dict(mpl.rcParams)
    write_report(run_dir)
    assert {path: path.read_bytes() for path in files} == before
    assert sorted((run_dir / "plots").iterdir()) == files[4:]
    assert dict(mpl.rcParams) == settings


def test_markdown_links_to_every_plot_and_keeps_its_tables(run_dir: Path) -> None:
    markdown = (run_dir / "report.md").read_text()
    linked = re.findall(r"\]\(plots/([^)]+)\)", markdown)
    assert sorted(linked) == sorted(path.name for path in (run_dir / "plots").iterdir())
    tables = re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE)
    assert len(tables) == 1 + 1 + 2 * 2 + 1
    for table in tables:
        fields = [len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()]
        assert len(set(fields)) == 1


def test_plots_are_svg_without_a_date_and_with_readable_text(run_dir: Path) -> None:
    plots = {path.name: path.read_text() for path in (run_dir / "plots").iterdir()}
    assert sorted({name.split("-")[0] for name in plots}) == [
        "crossplay",
        "paired",
        "share",
        "time",
    ]
    for svg in plots.values():
        root = ElementTree.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert "date" not in svg.lower()
        sizes = [float(size) for size in re.findall(r"<text style=\"[^\"]*?([\d.]+)px", svg)]
        assert sizes
        assert min(sizes) >= 10
    words = [
        node.text for node in ElementTree.fromstring(plots[crossplay(plots)]).iter(f"{SVG}text")
    ]
    for pair in summarise(load_run(run_dir)).crossplay:
        assert f"{100 * pair.win_rate:.1f}" in words
        assert f"({pair.cards_left_mean:.1f})" in words


def crossplay(plots: dict[str, str]) -> str:
    (name,) = (name for name in plots if name.startswith("crossplay-"))
    return name


def test_looks_differ_without_colour_and_names_stay_apart() -> None:
    agents = [f"rollout:plans={plans},deals=100" for plans in range(20, 45)]
    looks = looks_of(agents)
    assert len({(look.line, look.marker) for look in looks.values()}) == 25
    assert len({look.label for look in looks.values()}) == 25
    assert looks_of(["greedy"])["greedy"].label == "greedy"


@pytest.mark.parametrize(
    ("ms", "text"),
    [(2.5e-5, "25 ns"), (0.0712, "71.2 µs"), (1, "1 ms"), (999.7, "1 s"), (12_340, "12.3 s")],
)
def test_durations_are_readable(ms: float, text: str) -> None:
    assert duration(ms) == text


def test_inline_svg_takes_the_colours_of_the_page() -> None:
    svg = (
        '<?xml version="1.0"?>\n<svg xmlns="http://a.b" xmlns:x="http://c.d" width="3pt">'
        '<metadata>made by\nhttp://e.f</metadata><path id="p1" style="fill: #1a1b1c"/>'
        '<rect style="fill: #fefefd"/><use xlink:href="#p1" clip-path="url(#p1)"/></svg>'
    )
    assert inline_svg(svg, "k", 'a "b" <c>') == (
        '<svg role="img" aria-label="a &quot;b&quot; &lt;c>" width="3pt">'
        '<path id="k-p1" style="fill: currentColor"/>'
        '<rect style="fill: none"/><use href="#k-p1" clip-path="url(#k-p1)"/></svg>'
    )
