"""Every sentence that a hint says, in one place, so that other languages can be put beside it."""

from __future__ import annotations

from typing import Any

ENGLISH = {
    # Notes: what there is to know about the position or the figures.
    "won": "The game is won: no card is left.",
    "stuck": "Stuck: no card of your hand can be laid, and {owed} more must be. The game is lost.",
    "dead": "The minimum cannot be met ({owed} more): the game is lost. This lays the most cards.",
    "end": "Minimum met: end your turn. No card of your hand can be laid.",
    "pass": "No card of your hand can be laid: you pass.",
    "only": "This is the only legal plan.",
    "unknown_played": "The position has no seen=, so played cards are treated as unknown.",
    "talk_unused": "What the others say is not used.",
    "figures": "Figures: {deals} dealings of the unseen cards, {player} plays on at every seat.",
    # Reasons: why a plan may be good.
    "trick": "uses the trick ({card} on {pile})",
    "pair": "keeps the pair {high}/{low} together",
    "small": "small steps",
    "step": "a small step",
    "minimum": "must play: minimum of {owed}",
    "extra": "goes on while gaps are small",
    "stops": "stops at the minimum",
    "nothing": "keeps the hand",
    "wins": "lays the last cards",
    "moves": "moves the piles by {gap}",
    # The table of plans.
    "plan": "plan",
    "cards_left": "cards left",
    "win": "win %",
    "why": "why",
    "close": "~ too close to the best plan to call.",
    "end_turn": "end",
}


def sentence(key: str, **values: Any) -> str:
    """The sentence `key` with its values filled in."""
    return ENGLISH[key].format(**values)
