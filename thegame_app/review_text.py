"""A review as text for people, at most 80 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from thegame_app.hint_text import TIE, WIDTH
from thegame_app.language import N_, Language
from thegame_app.reasons import reason_for
from thegame_app.review import Review, TurnReview, curve
from thegame_env.rules import Rules

GRADE_NAMES = {
    "best": N_("best"),
    "fine": N_("fine"),
    "inaccurate": N_("inaccurate"),
    "bad": N_("bad"),
}
BARS = "▁▂▃▄▅▆▇█"


def review_text(result: Review, lang: Language) -> str:
    """The turns, the curve, the turns that cost most, and the balance."""
    blocks = [_turns(result, lang), _curve(result, lang)]
    if result.costly:
        blocks.append(_costly(result, lang))
    blocks.append([line for text in balance(result, lang) for line in _wrapped(text, "", "")])
    return "\n\n".join("\n".join(block) for block in blocks)


def actions_text(rules: Rules, actions: Sequence[int], lang: Language) -> str:
    """Actions as words, such as "30 up2, 44 up2, end"; plays hold together by TIE."""
    plays = [rules.decode(action) for action in actions]
    words = [lang("end") if play is None else f"{play[0]}{TIE}{lang.pile(play[1])}"
             for play in plays]  # fmt: skip
    return ", ".join(words) or lang("nothing")


def sparkline(values: Sequence[float]) -> str:
    """A bar a value, from 0 up to the largest one."""
    most = max(values, default=0.0) or 1.0
    return "".join(BARS[min(int(value / most * len(BARS)), len(BARS) - 1)] for value in values)


def _turns(result: Review, lang: Language) -> list[str]:
    """One line a turn, or more where its plays need them."""
    headings = [
        lang("turn"), lang("player"), lang("grade"), lang("cards, win lost"), lang("luck"),
    ]  # fmt: skip
    rows = [headings, *(_cells(turn, lang) for turn in result.turns)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    plays = [actions_text(turn.view.rules, turn.played, lang) for turn in result.turns]
    for cells, last in zip(rows, [lang("played"), *plays], strict=True):
        padded = [
            cell.ljust(width) if column == 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        front = "  ".join(padded) + "  "
        lines += _wrapped(last, front, " " * len(front))
    return lines


def _cells(turn: TurnReview, lang: Language) -> list[str]:
    """Number, seat, grade, what was lost, and luck, as they are printed."""
    return [
        str(turn.number),
        str(turn.seat + 1),
        lang("only plan") if turn.only else lang(GRADE_NAMES[turn.grade]),
        _lost(turn, lang) if turn.lost_cards else "-",
        lang.number(round(turn.luck_cards, 2) + 0.0, "+.2f"),
    ]


def _lost(turn: TurnReview, lang: Language) -> str:
    return f"{lang.number(turn.lost_cards, '.2f')} {100 * turn.lost_win:4.0f} %"


def _curve(result: Review, lang: Language) -> list[str]:
    _, cards, win = curve(result)
    return [
        lang("Cards left to expect, turn by turn (from {first:.1f} to {last:.1f}):",
             first=cards[0], last=cards[-1]),
        *textwrap.wrap(sparkline(cards), WIDTH),
        lang("Chance to win (from {first:.0f} % to {last:.0f} %):",
             first=100 * win[0], last=100 * win[-1]),
        *textwrap.wrap(sparkline(win), WIDTH),
    ]  # fmt: skip


def _costly(result: Review, lang: Language) -> list[str]:
    """The turns that cost most, each with what would have been better and why."""
    lines = [lang("The turns that cost most:")]
    for turn in result.costly:
        rules = turn.view.rules
        plays = tuple(play for play in map(rules.decode, turn.best) if play is not None)
        text = lang(
            "Turn {number}, player {player}: {played} cost {cards:.2f} ± {error:.2f} cards and a "
            "chance to win of {win:.1f} %. Better: {best} ({reason}).",
            number=turn.number, player=turn.seat + 1, cards=turn.lost_cards,
            error=turn.lost_cards_se, win=100 * turn.lost_win,
            played=actions_text(rules, turn.played, lang),
            best=actions_text(rules, turn.best, lang),
            reason=reason_for(turn.view, plays, lang),
        )  # fmt: skip
        lines += _wrapped(text, "- ", "  ")
    return lines


def balance(result: Review, lang: Language) -> list[str]:
    """How the result came about, and what the figures assume, a sentence each."""
    first = result.turns[0].cards_best
    if result.ended == "won":
        end = lang("The game was won.")
    elif result.ended == "stuck":
        end = lang.plural("The game was lost with {n} card left.",
                          "The game was lost with {n} cards left.", result.cards_left)  # fmt: skip
    else:
        end = lang("The game is not finished.")
    balance = lang(
        "Cards left: {first:.2f} to expect at the first turn, {lost:+.2f} by decisions, "
        "{luck:+.2f} by luck.",
        first=first, lost=result.lost_cards, luck=-result.luck_cards,
    )  # fmt: skip
    counts = ", ".join(
        f"{lang(GRADE_NAMES[grade])} {count}" for grade, count in result.counts.items()
    )
    lines = [end, balance, lang("Grades: {counts}.", counts=counts)]
    if result.record.table.players > 1:
        if result.seat is not None:
            lines.append(lang("The turns of the other players count as luck here."))
        lines.append(
            lang("Partners are taken to play casually, the nearest card first.")
            if result.partners == "casual"
            else lang("Partners are taken to plan their turns as well as you do.")
        )
    return lines


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    lines = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest)
    return [line.replace(TIE, " ").rstrip() for line in lines]
