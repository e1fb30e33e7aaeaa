"""Why a plan may be good: short facts of the position, no figures of the search."""

from __future__ import annotations

from thegame_app.language import Language
from thegame_env.rules import N_PILES, Rules
from thegame_env.view import View

Plays = tuple[tuple[int, int], ...]

SMALL = 4
"""A gap up to this is a small step."""
FACTS = 2
"""Facts that a reason names at most."""


def reason_for(view: View, plays: Plays, lang: Language) -> str:
    """One short reason for a plan: a few facts, the strongest first."""
    if len(plays) == view.cards_left:
        return lang("lays the last cards")
    gaps = gaps_of(view, plays)
    facts = [
        *_tricks(view, plays, gaps, lang),
        *_closed(view, plays, gaps, lang),
        *_spared(view, plays, lang),
        *_lengths(view, plays, gaps, lang),
        *_pairs(view, plays, lang),
        *_movement(view, plays, gaps, lang),
    ]
    return "; ".join(facts[:FACTS])


def gaps_of(view: View, plays: Plays) -> list[int]:
    """How far each play moves its pile; the trick counts as minus its distance."""
    tops, gaps = list(view.tops), []
    for card, pile in plays:
        gaps.append(card - tops[pile] if pile < 2 else tops[pile] - card)
        tops[pile] = card
    return gaps


def _tricks(view: View, plays: Plays, gaps: list[int], lang: Language) -> list[str]:
    tricks = [play for play, gap in zip(plays, gaps, strict=True) if gap == -view.rules.trick]
    return [lang("uses the trick ({card} on {pile})", card=c, pile=pile) for c, pile in tricks[:1]]


def _asked(view: View) -> list[int]:
    """The piles that some partner asked to be spared, those with a trick at stake first."""
    most = [max((said.levels[pile] for said in view.talk), default=0) for pile in range(N_PILES)]
    return sorted((pile for pile in range(N_PILES) if most[pile]), key=lambda pile: -most[pile])


def _closed(view: View, plays: Plays, gaps: list[int], lang: Language) -> list[str]:
    """A pile that a partner asked for and that the plan moves on."""
    moved = [0] * N_PILES
    for (_, pile), gap in zip(plays, gaps, strict=True):
        moved[pile] += gap
    return [
        lang("closes the gap on {pile} although a partner asked for it", pile=pile)
        for pile in _asked(view)
        if moved[pile] > 0
    ][:1]


def _spared(view: View, plays: Plays, lang: Language) -> list[str]:
    """A pile that a partner asked for and that the plan leaves alone."""
    touched = {pile for _, pile in plays}
    return [
        lang("spares {pile}, a partner asked for it", pile=pile)
        for pile in _asked(view)
        if pile not in touched
    ][:1]


def _lengths(view: View, plays: Plays, gaps: list[int], lang: Language) -> list[str]:
    """What the number and the size of the steps say."""
    if not plays:
        return [lang("keeps the hand")]
    steps = [gap for gap in gaps if gap > 0]
    if steps and max(steps) <= SMALL:
        return [lang("small steps") if len(steps) > 1 else lang("a small step")]
    beyond = gaps[view.owed :]
    if 0 < max(beyond, default=0) <= SMALL:
        return [lang("goes on while gaps are small")]
    if len(plays) == view.owed and max(steps, default=0) > SMALL:
        return [lang("must play: minimum of {owed}", owed=view.owed + view.plays)]
    return []


def _movement(view: View, plays: Plays, gaps: list[int], lang: Language) -> list[str]:
    return [lang("moves the piles by {gap}", gap=sum(gaps))] if sum(gaps) > 0 and plays else []


def _pairs(view: View, plays: Plays, lang: Language) -> list[str]:
    """A pair a trick apart that stays in the hand while it can still be laid."""
    kept = view.hand - {card for card, _ in plays}
    tops = list(view.tops)
    for card, pile in plays:
        tops[pile] = card
    for low in sorted(kept):
        high = low + view.rules.trick
        if high in kept and _usable(view.rules, tops, low, high):
            return [lang("keeps the pair {high}/{low} together", high=high, low=low)]
    return []


def _usable(rules: Rules, tops: list[int], low: int, high: int) -> bool:
    """Whether the pair can be laid on some pile, the second card by the trick."""
    rising = any(rules.low <= top < high and top != low for top in tops[:2])
    falling = any(low < top <= rules.high and top != high for top in tops[2:])
    return rising or falling
