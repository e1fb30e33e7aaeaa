"""Statistics of past games, by hand, and their export."""

import csv
import io
import json

from thegame_app.table_history import PastGame, summaries, to_csv, to_json


def past(number, left, rules="official", names=("Anna", "Ben")):
    day = f"2026-01-{number:02}T20:00:00+00:00"
    return PastGame(f"g{number}", day, day, rules, names, "stuck" if left else "won", left, 40)


GAMES = [past(5, 0), past(4, 0), past(3, 12), past(2, 0), past(1, 8), past(6, 3, rules="profi")]


def test_figures_of_each_preset_and_player_count():
    official, profi = summaries(GAMES)
    assert (official.rules, official.players, official.left) == ("official", 2, (8, 0, 12, 0, 0))
    assert (official.games, official.wins, official.mean, official.best) == (5, 3, 4.0, 0)
    assert (official.streak, official.longest) == (2, 2)
    assert (profi.games, profi.wins, profi.best, profi.streak, profi.longest) == (1, 0, 3, 0, 0)


def test_player_counts_are_kept_apart():
    both = summaries([past(1, 4), past(2, 6, names=("Anna",))])
    assert [(summary.players, summary.left) for summary in both] == [(2, (4,)), (1, (6,))]


def test_a_streak_may_span_every_game():
    (all_won,) = summaries([past(1, 0), past(2, 0)])
    assert (all_won.streak, all_won.longest) == (2, 2)


def test_no_games_no_figures():
    assert summaries([]) == []


def test_csv_gives_the_games_back():
    rows = list(csv.DictReader(io.StringIO(to_csv(GAMES))))
    assert [row["cards_left"] for row in rows] == ["0", "0", "12", "0", "8", "3"]
    assert rows[0]["names"] == "Anna; Ben"
    assert rows[0]["players"] == "2"


def test_csv_holds_no_formula():
    text = to_csv([past(1, 0, names=("=1+1", "Ben"))])
    assert "'=1+1; Ben" in text


def test_json_gives_the_games_back():
    games = json.loads(to_json(GAMES))
    assert games[2] == {
        "id": "g3",
        "begun": "2026-01-03T20:00:00+00:00",
        "ended": "2026-01-03T20:00:00+00:00",
        "rules": "official",
        "players": 2,
        "names": ["Anna", "Ben"],
        "result": "stuck",
        "cards_left": 12,
        "turns": 40,
    }
