import gzip
import json
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from invented_runs import make_cell, make_manifest, make_row, write_run

from eval.cells import Cell, Chunk
from eval.manifest import Hardware, RunError
from eval.records import (
    find_game,
    missing_chunks,
    open_run,
    pack_rows,
    read_chunk,
    read_manifest,
    read_timing,
    write_chunk,
    write_manifest,
)
from eval.timing import Timing

GREEDY, SEQUENCE = make_cell("greedy"), make_cell("sequence")
LEFT = {GREEDY: [5, 0, 12, 3, 9], SEQUENCE: [1, 0, 2, 30, 0]}


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, LEFT, chunk_games=2)
    chunk = Chunk(SEQUENCE, 2, 2)
    assert read_chunk(run_dir, chunk) == [make_row(SEQUENCE, 2, 2), make_row(SEQUENCE, 3, 30)]


def test_rows_are_read_without_their_actions(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, LEFT)
    chunk = Chunk(GREEDY, 0, 5)
    whole = read_chunk(run_dir, chunk)
    assert all(row.actions for row in whole)
    bare = [replace(row, actions=[]) for row in whole]
    assert read_chunk(run_dir, chunk, actions=False) == bare


def test_rows_are_lines_of_json_with_the_names_of_the_fields(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, LEFT)
    data = gzip.decompress(Chunk(GREEDY, 0, 5).rows_path(run_dir).read_bytes())
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[2] == asdict(make_row(GREEDY, 2, 12))


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    rows = [make_row(GREEDY, game, game) for game in range(50)]
    assert pack_rows(rows) == pack_rows(list(rows))
    one, two = write_run(tmp_path / "one", LEFT, 2), write_run(tmp_path / "two", LEFT, 2)
    for path in (one / "rows").iterdir():
        assert path.read_bytes() == (two / "rows" / path.name).read_bytes()


def test_slugs_are_safe_and_unique() -> None:
    names = ["greedy:extra=4", "greedy:extra_4", "GREEDY:extra=4", "a/../b|c", "x" * 300]
    cells = [make_cell(name, players) for name in names for players in (1, 2)]
    slugs = [cell.slug for cell in cells]
    assert len({slug.lower() for slug in slugs}) == len(slugs)
    assert all(set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-") for slug in slugs)
    assert max(map(len, slugs)) < 150
    assert replace(GREEDY, memory=False).slug != GREEDY.slug


def test_a_cell_knows_its_table_and_its_pair() -> None:
    assert make_cell("a:x=1|b").pair == ("a:x=1", "b")
    assert GREEDY.pair is None
    assert GREEDY.table == SEQUENCE.table != make_cell(players=3).table
    assert GREEDY.table.setting == make_cell(players=3).table.setting


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cards_left": 4}, "cards_left is not what"),
        ({"won": True}, "contradict"),
        ({"ended": "won"}, "contradict"),
        ({"hands": [[2, 3, 4]]}, "must number 2"),
        ({"deck": [], "hands": [[], []], "cards_left": 0}, "contradict"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(change: dict[str, object], message: str) -> None:
    fields = asdict(make_row(GREEDY, 0, 3)) | change
    with pytest.raises(ValueError, match=message):
        type(make_row(GREEDY, 0, 3))(**fields)


def test_a_chunk_takes_its_own_games_only(tmp_path: Path) -> None:
    chunk = Chunk(GREEDY, 2, 2)
    good = [make_row(GREEDY, 2, 1), make_row(GREEDY, 3, 1)]
    for rows in (good[:1], good[::-1], [good[0], make_row(SEQUENCE, 3, 1)]):
        with pytest.raises(RunError, match=r"instead of 2|in place of"):
            write_chunk(tmp_path, chunk, rows)
    assert not list(tmp_path.rglob("*.gz"))


def test_a_run_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    manifest = make_manifest([GREEDY, SEQUENCE], games=5, chunk_games=2)
    chunks = open_run(tmp_path, manifest)
    assert [(c.cell.agent, c.first, c.count) for c in chunks] == [
        (agent, first, count)
        for agent in ("greedy", "sequence")
        for first, count in ((0, 2), (2, 2), (4, 1))
    ]
    write_chunk(tmp_path, chunks[1], [make_row(GREEDY, 2, 1), make_row(GREEDY, 3, 1)])
    later = manifest.model_copy(update={"started": "2025-02-02T00:00:00Z"})
    assert open_run(tmp_path, later) == [chunks[0], *chunks[2:]] == missing_chunks(tmp_path)
    assert read_manifest(tmp_path).started == manifest.started


def test_another_run_is_not_overwritten(tmp_path: Path) -> None:
    manifest = make_manifest([GREEDY], games=5)
    open_run(tmp_path, manifest)
    with pytest.raises(RunError, match=r"it differs in seed, games; .* thegame eval"):
        open_run(tmp_path, manifest.model_copy(update={"seed": 8, "games": 6}))
    assert read_manifest(tmp_path) == manifest


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


def one_row_less(data: bytes) -> bytes:
    return gzip.compress(b"".join(gzip.decompress(data).splitlines(keepends=True)[:-1]))


def other_fields(data: bytes) -> bytes:
    return gzip.compress(gzip.decompress(data).replace(b'"turns"', b'"turned"'))


def not_json(data: bytes) -> bytes:
    return gzip.compress(gzip.decompress(data).replace(b"{", b"("))


def emptied(data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize(
    "harm", [truncated, flipped, one_row_less, other_fields, not_json, emptied]
)
def test_a_damaged_chunk_is_named_and_played_again(
    tmp_path: Path, harm: Callable[[bytes], bytes]
) -> None:
    run_dir = write_run(tmp_path, LEFT, chunk_games=2)
    chunk = Chunk(GREEDY, 2, 2)
    path = chunk.rows_path(run_dir)
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(RunError, match=rf"{path.name} is damaged and must be played again"):
        read_chunk(run_dir, chunk)
    assert missing_chunks(run_dir) == [chunk]


def test_a_write_that_fails_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_dir = write_run(tmp_path, LEFT)
    chunk = Chunk(GREEDY, 0, 5)
    before = {path: path.read_bytes() for path in run_dir.rglob("*") if path.is_file()}

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_chunk(run_dir, chunk, [make_row(GREEDY, game, 1) for game in range(5)])
    with pytest.raises(OSError, match="No space left"):
        write_manifest(run_dir, make_manifest([GREEDY], 5))
    after = {path: path.read_bytes() for path in run_dir.rglob("*") if path.is_file()}
    assert after == before


def test_a_chunk_that_could_not_be_written_is_still_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (chunk,) = open_run(tmp_path, make_manifest([GREEDY], 1))
    rows = [make_row(GREEDY, 0, 1)]
    timing = Timing.from_batches(1, 1.0, [1.0], [1])

    def no_rename(source: Path, target: Path) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", no_rename)
        with pytest.raises(OSError, match="Input/output"):
            write_chunk(tmp_path, chunk, rows, timing)
    assert missing_chunks(tmp_path) == [chunk]
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["manifest.json"]
    write_chunk(tmp_path, chunk, rows, timing)
    assert missing_chunks(tmp_path) == []
    assert read_timing(tmp_path, chunk) == timing


def test_games_are_numbered_by_cell_and_deal(tmp_path: Path) -> None:
    for chunk_games in (1, 2, 5, 1000):
        run_dir = write_run(tmp_path / f"by{chunk_games}", LEFT, chunk_games)
        assert find_game(run_dir, 3) == make_row(GREEDY, 3, 3)
        assert find_game(run_dir, 8) == make_row(SEQUENCE, 3, 30)
        manifest = read_manifest(run_dir)
        assert [manifest.game_number(SEQUENCE, game) for game in range(5)] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("number", [-1, 10])
def test_a_game_that_is_not_in_the_run(tmp_path: Path, number: int) -> None:
    with pytest.raises(RunError, match=rf"no game {number}: .* 0\.\.9"):
        find_game(write_run(tmp_path, LEFT), number)


def test_numbers_of_games_do_not_depend_on_what_is_missing(tmp_path: Path) -> None:
    run_dir = write_run(tmp_path, LEFT, chunk_games=2)
    Chunk(GREEDY, 0, 2).rows_path(run_dir).unlink()
    assert find_game(run_dir, 8).agent == "sequence"
    with pytest.raises(RunError, match="has not been played yet"):
        find_game(run_dir, 1)


def test_a_directory_without_a_manifest_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is not a run: it has no manifest"):
        missing_chunks(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"games": 0}, "games: "),
        ({"extra": 1}, "extra: "),
        ({"baseline": "nobody"}, "'nobody' is not among"),
        ({"cells": [asdict(GREEDY), asdict(GREEDY)]}, "listed once"),
        ({"cells": [asdict(GREEDY) | {"talk": "loud"}]}, "talk"),
    ],
)
def test_a_wrong_manifest_names_what_is_wrong(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    content = make_manifest([GREEDY], 5).model_dump(mode="json") | change
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(RunError, match=message):
        read_manifest(tmp_path)


def test_the_machine_describes_itself() -> None:
    here = Hardware.here()
    assert here.cpu
    assert here.cores >= 1
    assert here.numpy == np.__version__


def test_times_of_batches_are_shared_by_their_decisions() -> None:
    # 90 decisions of 1 ms in one batch and 10 of 100 ms one by one
    timing = Timing.from_batches(4, 2.0, [0.09, *[0.1] * 10, 5.0], [90, *[1] * 10, 0])
    assert (timing.games, timing.decisions, timing.games_per_second()) == (4, 100, 2.0)
    assert timing.quantile(0.5) == pytest.approx(1.0, rel=0.05)
    assert timing.quantile(0.95) == pytest.approx(100.0, rel=0.05)


def test_quantiles_of_times_are_right_to_within_a_bin() -> None:
    seconds = np.random.default_rng(0).lognormal(-7, 1.5, 20_000)
    parts = [Timing.from_batches(1, 1.0, part, np.ones(2000)) for part in np.split(seconds, 10)]
    total = Timing.total(parts)
    for q in (0.05, 0.5, 0.95):
        assert total.quantile(q) == pytest.approx(1000 * np.quantile(seconds, q), rel=0.05)
    assert total.games == 10


def test_nothing_measured_is_not_zero(tmp_path: Path) -> None:
    nothing = Timing.total([])
    assert (nothing.quantile(0.5), nothing.games_per_second()) == (None, None)
    run_dir = write_run(tmp_path, LEFT)
    chunk = Chunk(GREEDY, 0, 5)
    chunk.timing_path(run_dir).write_text("{}")
    assert read_timing(run_dir, chunk) is None


def test_cells_sort_and_hash() -> None:
    cells = [Cell("b", 1, "r", "none", True, "seat0"), Cell("a", 2, "r", "none", True, "seat0")]
    assert sorted(set(cells))[0].agent == "a"
