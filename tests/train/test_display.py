"""Progress: the time left in words, on the bar and in lines where there is no bar."""

import pytest

from train.display import Display, time_left


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (-1, "0 s left"),
        (12.4, "12 s left"),
        (59.4, "59 s left"),
        (300, "5 min left"),
        (3600, "1 h 0 min left"),
        (5000, "1 h 23 min left"),
    ],
)
def test_the_time_left_in_words(seconds, words):
    assert time_left(seconds) == words


def test_lines_tell_the_time_left_where_there_is_no_bar(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("train.display.time.monotonic", lambda: clock[0])
    lines = []
    with Display(lines.append, bar=False, every=60.0) as display:
        display.move(0.0, "begun", 600.0)
        clock[0] = 159.0
        display.move(0.1, "too early", 540.0)
        clock[0] = 160.0
        display.move(0.1, "10 steps", 540.0)
        clock[0] = 200.0
        display.move(0.3, "too early", 400.0)
    assert lines == ["10 steps; 10 % done, 9 min left"]


def test_the_time_left_is_estimated_from_the_shares(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("train.display.time.monotonic", lambda: clock[0])
    lines = []
    with Display(lines.append, bar=False, every=60.0) as display:
        display.move(0.2, "begun")
        clock[0] = 60.0
        display.move(0.4, "on")
    assert lines == ["on; 40 % done, 3 min left"]


def test_there_are_no_lines_of_progress_unless_wanted(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("train.display.time.monotonic", lambda: clock[0])
    lines = []
    with Display(lines.append, bar=False) as display:
        display.move(0.0, "begun", 10.0)
        clock[0] = 1000.0
        display.move(0.5, "on", 10.0)
    assert lines == []
