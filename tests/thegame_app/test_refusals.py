"""Sentences of the packages below in the reader's language: each is really said there."""

import json
from typing import get_args

import numpy as np
import pytest

from agents import afterstate, afterstate_features, ppo
from agents.registry import make_agent, split_agents
from agents.weight_files import save_weights, table_metadata
from eval.records import find_game
from thegame_app.cli import run
from thegame_app.language import LANGUAGES, Refusal, language
from thegame_app.refusals import AS_IT_IS, PLAYER, SENTENCES, as_refusal, spoken, unknown_name
from thegame_env.deal import deal
from thegame_env.errors import BadInput
from thegame_env.notation import GameRecord
from thegame_env.reference import Game
from thegame_env.rules import Rules, Table, Talk

TABLE = Table(players=2)
DECK = ",".join(map(str, deal(TABLE.rules, 1)))
ONE_GAME = ("--agents", "greedy", "--players", "2", "--games", "1", "--workers", "1")
LAST = "rules=custom/cards:1/hand_sizes:1/minimum:1 deck=2"


def agent(text, **settings):
    return lambda: make_agent(text, Table(**{"players": 2, **settings}))


def rules(text):
    return lambda: Rules.parse(f"custom/{text}")


def record(text):
    return lambda: list(GameRecord.parse(text).replay())


def actions(text):
    return record(f"players=2 deck={DECK} actions={text}")


def manifest(change):
    """Asks for a game of a run of one game, after a change of its files."""

    def ask(folder):
        assert run(["eval", *ONE_GAME, "--out", str(folder)]) == 0
        change(folder)
        find_game(folder, 7 if change is nothing else 0)

    return ask


def nothing(folder):
    pass


def damage(folder):
    document = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**document, "games": 0}))


def lose_rows(folder):
    for path in (folder / "rows").iterdir():
        path.unlink()


def damage_rows(folder):
    for path in (folder / "rows").iterdir():
        path.write_bytes(b"?")


def weights(text, kind, version, arrays=True, table=TABLE):
    """Asks for an agent by a weights file made for another table, or one that lacks its arrays."""

    def ask(folder):
        path = folder / "net.safetensors"
        metadata = {"kind": kind, "version": version, "table": table_metadata(Table(players=5))}
        save_weights(path, {"x": np.zeros(1)}, metadata)
        if not arrays:
            path.unlink()
        make_agent(f"{text}:{path}", table)

    return ask


def installed(case):
    """The case where there are no configurations to train by, as in an install."""

    def ask(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("agents.weight_files.CONFIGS", folder)
            case(folder) if case.__code__.co_argcount else case()

    return ask


ODD = Rules.parse("custom/trick:7")
HAND = sorted(Game.start(TABLE, deal(TABLE.rules, 1)).hands[0])
MISSING = next(card for card in range(2, 100) if card not in HAND)
CASES = [
    lambda: Rules.parse("offical"),
    lambda: Rules.parse("zzz"),
    lambda: Table(talk="loud"),
    lambda: Table(starter="me"),
    lambda: Table(Rules.parse("small-hands"), 1),
    rules("trick:1/trick:2"),
    rules("hand_sizes:x"),
    rules("trick:x"),
    rules("cards:99"),
    rules("minimum:0"),
    rules("trick:99"),
    rules("stuck:never"),
    rules("hand_sizes:0"),
    rules("hand_sizes:99"),
    actions("200:up1"),
    record("deck=1,2"),
    record("deck=2,2"),
    record("deck=2,3"),
    record(f"{LAST} actions=2:up1,end"),
    actions("end"),
    actions(f"{HAND[-1]}:up1,{HAND[0]}:up1"),
    actions(f"{MISSING}:up1"),
    agent("greedy:extra=4,,"),
    lambda: split_agents("greedy,,"),
    lambda: split_agents("greedy,greedy"),
    lambda: split_agents("extra=4"),
    lambda: split_agents("greedy|random"),
    agent("random:7"),
    agent("greedy:much=1"),
    agent("greedy:extra=x"),
    agent("sequence:margin=x"),
    agent("rollout:deals=0"),
    agent("net.safetensors"),
    agent("gredy"),
    agent("nowhere.module:Agent"),
    agent("expert"),
    agent("expert:soon"),
    agent("expert:10ms,looks=2,turns=1"),
    agent("afterstate:utility=joy"),
    agent("afterstate", rules=ODD),
    installed(agent("afterstate", rules=ODD)),
    agent("afterstate:nowhere.safetensors"),
    agent("nowhere:Agent"),
    weights("ppo", ppo.KIND, ppo.VERSION),
    weights("ppo", ppo.KIND, ppo.VERSION, table=Table(ODD)),
    installed(weights("ppo", ppo.KIND, ppo.VERSION, table=Table(ODD))),
    weights("afterstate", afterstate.KIND, afterstate_features.VERSION, arrays=False),
    lambda folder: find_game(folder, 0),
    manifest(nothing),
    manifest(damage),
    manifest(lose_rows),
    manifest(damage_rows),
]


def said(case, folder):
    """What a case is refused with."""
    try:
        case(folder) if case.__code__.co_argcount else case()
    except (ValueError, ModuleNotFoundError) as error:
        return error
    raise AssertionError("nothing was refused")


def templates(refusal):
    """The messages of a refusal and of those inside it."""
    yield refusal.message
    for value in refusal.values.values():
        if isinstance(value, Refusal):
            yield from templates(value)


@pytest.mark.parametrize("case", CASES)
def test_what_is_refused_below_is_known_here(case, tmp_path, capsys):
    error = said(case, tmp_path / "run")
    refusal = as_refusal(error)
    assert refusal.message != AS_IT_IS
    if PLAYER not in templates(refusal):
        assert str(refusal) == str(error)
    assert len({refusal.text(language(code)) for code in LANGUAGES}) == 3


def test_no_sentence_is_kept_that_nobody_says(tmp_path, capsys):
    found = set()
    for number, case in enumerate(CASES):
        found |= set(templates(as_refusal(said(case, tmp_path / str(number)))))
    assert set(SENTENCES) - found == set()


def test_people_count_players_from_one():
    error = said(actions(f"{MISSING}:up1"), None)
    assert "seat 0" in str(error)
    assert str(as_refusal(error)).endswith(f"card {MISSING} is not in the hand of player 1")


def test_what_is_not_known_stays_as_it_is():
    error = ValueError("odd {words} of a plug-in")
    assert as_refusal(error).text(language("de")) == str(error)
    bad = BadInput("card {card} lies on two piles", card=7)
    assert as_refusal(bad).text(language("pl")) == language("pl")(bad.message, card=7)
    kept = Refusal("There is no such pile.")
    assert as_refusal(kept) is kept


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_is_refused_inside_is_said_in_the_language(code):
    with pytest.raises(ValueError, match="loud") as told, spoken(language(code)):
        Table(talk="loud")
    assert str(told.value) == unknown_name("talk", "loud", get_args(Talk)).text(language(code))


@pytest.mark.parametrize("code", ["de", "pl"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["hint", "hand=12,34", "--partners", "rude"],
        ["hint", "hand=12,34 rules=offical"],
        ["hint", "hand=12,34", "--strength", "brilliant"],
        ["hint", "hand=12,34", "--staged", "--json"],
        ["play", "--rules", "offical"],
        ["play", "--talk", "loud"],
        ["play", "--starter", "me"],
        ["play", "--plain"],
        ["play", "--terminal", "--lan"],
        ["play", "--players", "2", "--agents", "gredy"],
        ["play", "--players", "3", "--agents", "greedy,random,greedy:extra=4"],
        ["review", "nowhere"],
        ["review", "deck=2,3", "--out", "curve.gif"],
    ],
)
def test_commands_refuse_in_the_language(arguments, code, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("THEGAME_DATA", str(tmp_path))
    sentences = set()
    for lang in ("en", code):
        assert run([*arguments, "--lang", lang]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert len(err.splitlines()) == 1
        sentences.add(err)
    assert len(sentences) == 2


def test_an_unknown_language_is_refused_in_that_of_the_system(capsys, monkeypatch):
    monkeypatch.setenv("LANGUAGE", "de")
    assert run(["hint", "hand=12,34", "--lang", "xx"]) == 2
    assert "unbekannt" in capsys.readouterr().err
