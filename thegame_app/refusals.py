"""What the packages below refuse, as sentences that can be said in every language.

The game, the agents and the harness speak English only. Their sentences are known here by their
form; one that is not (the words of somebody's plug-in, say) stays as it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from thegame_app.language import N_, Language, Refusal, language
from thegame_env.errors import BadInput
from thegame_env.rules import unknown

AS_IT_IS = "{sentence}"
"""Message of a sentence that is not known here."""

SENTENCES = (
    # agents, around the sentence that follows
    N_('{why}; nor can a module "{module}" be imported'),
    N_("{why}; own agents are given as package.module:Factory"),
    # thegame_env
    N_('unknown {what} "{got}", did you mean "{near}"? known: {known}'),
    N_('unknown {what} "{got}"; known: {known}'),
    N_('"{rules}" is played by {counts} players, not by {players}'),
    N_("custom rules: {key} is given twice"),
    N_('custom rules: {key} needs sizes such as 8-7-6, not "{got}"'),
    N_('custom rules: {key} needs one whole number, not "{got}"'),
    N_("cards must be between 1 and {most}, not {got}"),
    N_("minimum and minimum_empty must lie between 1 and the cards"),
    N_("trick must be between 1 and {most}, not {got}"),
    N_('stuck must be "acting" or "nobody", not {got}'),
    N_("hand_sizes needs one to {most} sizes, at least one not 0"),
    N_("hands of {size} for {players} players do not fit into {cards} cards"),
    N_("card {card} does not exist, cards are {low}-{high}"),
    N_("the deck holds {card}, cards are {low}-{high}"),
    N_("the deck holds card {card} twice"),
    N_("the deck lacks card {card} ({count} missing in all)"),
    N_("action {number} of the record: {why}"),
    N_("the game is over ({outcome}), no action is legal"),
    N_("END_TURN: {plays} of {owed} owed cards are played"),
    N_("card {card} cannot lie on {pile} (top {top}): it must be {way}, or the trick {trick}"),
    # agents
    N_('agent "{agent}": {why}'),
    N_('agents "{agent}": {why}'),
    N_("an empty parameter"),
    N_("there is an empty name"),
    N_("{agent} is listed twice"),
    N_("the parameter {part} follows no agent"),
    N_('a name cannot hold "|"'),
    N_("a policy in a file is given as {spec}"),
    N_("{name}: {key} must be a whole number from {least} up, not {got}"),
    N_("{name}: extra must be a whole number, not {got}"),
    N_("{name}: margin must be a number from 0 up, not {got}"),
    N_("expert takes a time (expert:100ms, expert:1s) or deals=N, one of both"),
    N_("{name} takes no parameters"),
    N_("{name} takes {parameters}"),
    N_('expert: a time is given as 100ms or 1s, not "{got}"'),
    N_("expert: looks=2 goes with turns=0, not with turns={got}"),
    N_('no {kind} weights for {table}; there are: {known}; "{command}" trains some'),
    N_("no {kind} weights for {table}; there are: {known}"),
    N_("no weights at {path}: {file} is missing"),
    N_("no weights file {path}"),
    N_("{path} was trained for {trained}, not for {wanted}; {weights} would serve"),
    N_('{path} was trained for {trained}, not for {wanted}; "{command}" trains some'),
    N_("{path} was trained for {trained}, not for {wanted}"),
    # eval
    N_("{path} is not a run: it has no manifest.json"),
    N_("{path} is not a manifest: {why}"),
    N_("{path} has not been played yet"),
    N_("{path} is damaged and must be played again: {why}"),
    N_("no game {number}: this run numbers its games 0..{last}"),
)
"""Sentences of the packages below; what stands for `{why}` may be one of them again. The first that
fits is taken."""
SEAT = "card {card} is not in the hand of seat {seat}"
PLAYER = N_("card {card} is not in the hand of player {player}")
"""The one sentence that counts seats from 0, and how people read it, who count from 1."""
WORDS = (
    N_("rules"), N_("talk"), N_("starter"), N_("partners"), N_("language"), N_("strength"),
    N_("pile"), N_("agent"), N_("utility"), N_("field of custom rules"), N_("higher"), N_("lower"),
)  # fmt: skip
"""Words that stand for `{what}` or `{way}`."""
INNER = ("why", "what", "way")
"""Names of the values that are said in the language, too."""


def as_refusal(error: Exception) -> Refusal:
    """What an error says, as a refusal that can be said in every language."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, BadInput):
        return Refusal(error.message, **error.values)
    return _refusal_of(str(error))


def unknown_name(what: str, got: object, known: Iterable[str]) -> Refusal:
    """The refusal of a name that is not among the known ones.

    Args:
        what: What is named so, one of WORDS.
        got: The name.
        known: Those that there are.
    """
    return _refusal_of(unknown(what, got, known))


@contextmanager
def spoken(lang: Language) -> Iterator[None]:
    """Say what is refused inside in a language: as a ValueError with that text."""
    try:
        yield
    except ValueError as error:
        raise ValueError(as_refusal(error).text(lang)) from None


def language_asked_for(code: str | None) -> Language:
    """`language`, which refuses an unknown code in the language of the system."""
    with spoken(language()):
        return language(code)


def _refusal_of(text: str) -> Refusal:
    for pattern, message in _patterns():
        found = pattern.fullmatch(text)
        if found:
            values = {name: _said(name, value) for name, value in found.groupdict().items()}
            return Refusal(message, **values)
    return Refusal(AS_IT_IS, sentence=text)


def _said(name: str, value: str) -> Any:
    """A value of a sentence; one that is a sentence or a word itself as its refusal."""
    if name == "player":
        return int(value) + 1
    if name not in INNER:
        return value
    return Refusal(value) if value in WORDS else _refusal_of(value)


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    seat = _pattern(SEAT.replace("{seat}", "{player}")), PLAYER
    return [seat, *((_pattern(message), message) for message in SENTENCES)]


def _pattern(message: str) -> re.Pattern[str]:
    """What a sentence looks like, each `{name}` being a group."""
    parts = re.split(r"\{(\w+)\}", message)
    texts = [f"(?P<{part}>.+?)" if odd % 2 else re.escape(part) for odd, part in enumerate(parts)]
    return re.compile("".join(texts), re.DOTALL)
