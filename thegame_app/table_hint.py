"""Advice at a physical table, for the phone that keeps its owner's hand."""

from __future__ import annotations

import dataclasses

from thegame_app.hints import Hint, hint
from thegame_app.language import Language
from thegame_app.playouts import Partners
from thegame_app.table import TableGame
from thegame_app.table_hand import Assumed, OwnHand, hint_view

SHOWN = 5
"""Plans shown at most."""
ALL = 20
"""Plans kept where some may not be shown."""


def advise(
    game: TableGame,
    hand: OwnHand,
    strength: str,
    lang: Language,
    partners: Partners = "casual",
) -> Hint:
    """Ranked plans for the owner of `hand`.

    A pile whose top is unknown is left alone where it can be; the note says what the figures reckon
    with in place of cards without a value.

    Raises:
        Refusal: There is no hint now (see `hint_view`).
    """
    assumed = hint_view(game, hand)
    answer = hint(
        assumed.view,
        strength,
        ALL if assumed.open_piles else SHOWN,
        partners=partners,
        lang=lang,
        unknown_tops=assumed.open_piles,
    )
    if not assumed.cards:
        return answer
    sure = tuple(
        plan
        for plan in answer.plans
        if assumed.open_piles.isdisjoint(pile for _, pile in plan.plays)
    )
    note = f"{_condition(assumed, bool(sure), lang)} {answer.note}"
    return dataclasses.replace(answer, plans=(sure or answer.plans)[:SHOWN], note=note)


def _condition(assumed: Assumed, sure: bool, lang: Language) -> str:
    """What the plans and their figures depend on, in one sentence."""
    cards = ", ".join(map(str, assumed.cards))
    if not assumed.open_piles:
        return lang("The figures take the cards without a value for {cards}.", cards=cards)
    if sure:
        return lang(
            "These plans lay nothing on a pile whose top is unknown, and the figures take the "
            "cards without a value for {cards}.",
            cards=cards,
        )
    return lang(
        "Every plan needs a pile whose top is unknown, so look whether the card fits; the figures "
        "take the cards without a value for {cards}.",
        cards=cards,
    )
