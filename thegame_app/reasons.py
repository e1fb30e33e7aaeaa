"""Why a plan may be good: short facts of the position, no figures of the search."""

from __future__ import annotations

from thegame_app.sentences import sentence
from thegame_env.rules import PILES, Rules
from thegame_env.view import View

Plays = tuple[tuple[int, int], ...]

SMALL = 4
"""A gap up to this is a small step."""


def reason_for(view: View, plays: Plays) -> str:
    """One short reason for a plan: at most two facts, the strongest first."""
    gaps = gaps_of(view, plays)
    facts = _tricks(view, plays, gaps) + _lengths(view, plays, gaps) + _pairs(view, plays)
    return "; ".join(facts[:2])


def gaps_of(view: View, plays: Plays) -> list[int]:
    """How far each play moves its pile; the trick counts as minus its distance."""
    tops, gaps = list(view.tops), []
    for card, pile in plays:
        gaps.append(card - tops[pile] if pile < 2 else tops[pile] - card)
        tops[pile] = card
    return gaps


def _tricks(view: View, plays: Plays, gaps: list[int]) -> list[str]:
    tricks = [play for play, gap in zip(plays, gaps, strict=True) if gap == -view.rules.trick]
    return [sentence("trick", card=card, pile=PILES[pile]) for card, pile in tricks[:1]]


def _lengths(view: View, plays: Plays, gaps: list[int]) -> list[str]:
    """What the number and the size of the steps say."""
    if len(plays) == view.cards_left:
        return [sentence("wins")]
    if not plays:
        return [sentence("nothing")]
    steps = [gap for gap in gaps if gap > 0]
    if steps and max(steps) <= SMALL:
        return [sentence("small" if len(steps) > 1 else "step")]
    if len(plays) > view.owed and steps:
        return [sentence("extra") if steps[-1] <= SMALL else sentence("moves", gap=sum(gaps))]
    if len(plays) == view.owed:
        return [sentence("minimum", owed=view.owed + view.plays), sentence("moves", gap=sum(gaps))]
    return []


def _pairs(view: View, plays: Plays) -> list[str]:
    """The pairs a trick apart that stay in the hand while they can still be laid."""
    kept = view.hand - {card for card, _ in plays}
    tops = list(view.tops)
    for card, pile in plays:
        tops[pile] = card
    for low in sorted(kept):
        high = low + view.rules.trick
        if high in kept and _usable(view.rules, tops, low, high):
            return [sentence("pair", high=high, low=low)]
    return []


def _usable(rules: Rules, tops: list[int], low: int, high: int) -> bool:
    """Whether the pair can be laid on some pile, the second card by the trick."""
    rising = any(rules.low <= top < high and top != low for top in tops[:2])
    falling = any(low < top <= rules.high and top != high for top in tops[2:])
    return rising or falling
