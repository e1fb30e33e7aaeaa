"""Speed of the learned value: afterstates enumerated and valued, and games of self-play.

Both on one core with the shipped weights, hundreds of games side by side as in training: a decision
enumerates the plans of every acting seat and values what they leave behind in one batch.
"""

from __future__ import annotations

from agents.afterstate import KIND
from agents.afterstate_features import VERSION
from agents.value_bins import utility_of
from agents.value_model import ValueModel
from agents.weight_files import load_for
from benchmarks.measure import Speed, best_speed
from thegame_env.rules import Rules, Table, Talk
from train.self_play import SelfPlay

GAMES = 256


def value_speed(players: int, seconds: float) -> Speed:
    """Afterstates that are enumerated and valued a second, at decisions of whole games."""
    play = _play(players, "none")

    def work() -> int:
        valued = len(play.value.choose(play.engine.views()).utility)
        play.step(0.0)
        return 2 * valued  # the step values them once more

    return best_speed(f"value, players: {players}", "afterstates", work, seconds, True)


def self_play_speed(players: int, talk: Talk, seconds: float) -> Speed:
    """Games of self-play a second, choosing and remembering, without the learning from them."""
    play = _play(players, talk)
    while len(play.finished) < GAMES:  # until the games are at all stages, as later on
        play.step(0.0)

    def work() -> int:
        before = len(play.finished)
        while len(play.finished) < before + GAMES // 4:
            play.step(0.0)
        return len(play.finished) - before

    return best_speed(f"self-play, players: {players}, talk: {talk}", "games", work, seconds, True)


def _play(players: int, talk: Talk) -> SelfPlay:
    table = Table(Rules(), players, talk=talk)
    model = ValueModel(load_for(KIND, VERSION, None, table).arrays)
    return SelfPlay(table, model, utility_of("blend"), GAMES, seed=1)
