"""A hint as text for people: the table of plans, and the stages in which it can be revealed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from thegame_app.hints import Hint, Plan
from thegame_app.language import Language

WIDTH = 80
"""Columns."""
INDENT = 6
"""Columns that a reason is indented by."""
TIE = "\N{NO-BREAK SPACE}"
"""Between words that stay on one line, until the text is wrapped."""


def hint_text(answer: Hint, lang: Language) -> str:
    """The table of plans and the note, at most 80 columns wide."""
    lines = _table(answer, lang) if answer.plans else []
    if any(plan.close for plan in answer.plans):
        lines += _wrapped(lang("~ too close to the best plan to call."))
    lines += _wrapped(agent_text(answer, lang))
    return "\n".join([*lines, *_wrapped(answer.note)])


def steps_text(plan: Plan, lang: Language) -> str:
    """The plays of a plan in order, such as "30 up2, 44 up2, end"."""
    return _steps(plan, lang).replace(TIE, " ")


def figures_of(plan: Plan, best: bool, lang: Language) -> list[str]:
    """The figures of a plan in words; for all but the best one also how far behind it they are."""
    left, left_se = lang.number(plan.cards_left, ".2f"), lang.number(plan.cards_left_se, ".2f")
    win, win_se = lang.number(100 * plan.win, ".1f"), lang.number(100 * plan.win_se, ".1f")
    cards, se = lang.number(plan.difference, ".2f"), lang.number(plan.difference_se, ".2f")
    words = [
        lang("cards left {left} ± {se}", left=left, se=left_se),
        lang("wins {win} % ± {se}", win=win, se=win_se),
    ]
    if not best:
        words.append(lang("to the best +{cards} ± {se}", cards=cards, se=se))
    if plan.close and not best:
        words.append(lang("too close to call"))
    return words


def agent_text(answer: Hint, lang: Language) -> str:
    """What the agent that was asked would play, and where that stands; "" where nobody was."""
    if answer.agent is None:
        return ""
    plan, rank = answer.agent.plan, answer.agent.rank
    told = {
        "agent": answer.agent.agent,
        "plays": _steps(plan, lang),
        "rank": rank,
        "cards": lang.number(plan.difference, ".2f"),
        "se": lang.number(plan.difference_se, ".2f"),
    }
    if rank == 1:
        return lang("{agent} would play {plays}: the best plan.", **told)
    if rank is None and plan.close:
        return lang("{agent} would play {plays}: below the ranked plans, too close to the best to "
                    "call ({cards} ± {se} cards worse).", **told)  # fmt: skip
    if rank is None:
        return lang("{agent} would play {plays}: below the ranked plans, {cards} ± {se} cards "
                    "worse than the best.", **told)  # fmt: skip
    if plan.close:
        return lang("{agent} would play {plays}: plan {rank}, too close to the best to call "
                    "({cards} ± {se} cards worse).", **told)  # fmt: skip
    return lang("{agent} would play {plays}: plan {rank}, {cards} ± {se} cards worse than the "
                "best.", **told)  # fmt: skip


def stages(answer: Hint, lang: Language) -> list[tuple[str, str]]:
    """Heading and text of each stage: the pile of the best plan's first play, its card, all.

    Where nothing is to be laid there is one stage.
    """
    everything = (lang("All of it"), hint_text(answer, lang))
    if not answer.plans or not answer.plans[0].plays:
        return [everything]
    card, pile = answer.plans[0].plays[0]
    return [
        (lang("The pile"), lang("Look at {pile} first.", pile=pile)),
        (lang("The card"), lang("Lay {card} on {pile} first.", card=card, pile=pile)),
        everything,
    ]


def _steps(plan: Plan, lang: Language) -> str:
    steps = [f"{card}{TIE}{lang.pile(pile)}" for card, pile in plan.plays]
    return ", ".join(steps + [lang("end")] * plan.ends_turn)


def _table(answer: Hint, lang: Language) -> list[str]:
    """Lines: figures and plays of each plan, its reason below."""
    rows = [["", lang("cards left"), lang("to best"), lang("win %")]]
    below = answer.agent is not None and answer.agent.rank is None
    last = len(answer.plans) if below else None
    for number, plan in enumerate(answer.plans, start=1):
        rows.append(_figures(plan, None if number == last else number, lang))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = _row(rows[0], widths, lang("plan"))
    for plan, cells in zip(answer.plans, rows[1:], strict=True):
        lines += _row(cells, widths, _steps(plan, lang))
        lines += _wrapped(plan.reason, " " * INDENT)
    return lines


def _figures(plan: Plan, rank: int | None, lang: Language) -> list[str]:
    """Rank ("-" below the ranked), cards left, difference to the best and win chance as printed."""

    def with_error(value: float, error: float, spec: str) -> str:
        return f"{lang.number(value, spec)} ± {lang.number(error, spec)}"

    return [
        "~" * plan.close + str(rank or "-"),
        with_error(plan.cards_left, plan.cards_left_se, ".2f"),
        "" if rank == 1 else "+" + with_error(plan.difference, plan.difference_se, ".2f"),
        with_error(100 * plan.win, 100 * plan.win_se, ".1f"),
    ]


def _row(cells: Sequence[str], widths: Sequence[int], last: str) -> list[str]:
    """Cells right-aligned, and behind them a text that may need several lines."""
    front = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)) + "  "
    return _wrapped(last, front, " " * len(front))


def _wrapped(text: str, first: str = "", rest: str | None = None) -> list[str]:
    """Lines of a text, each line behind what indents it."""
    lines = textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        drop_whitespace=True,
    )
    return [line.replace(TIE, " ").rstrip() for line in lines]
