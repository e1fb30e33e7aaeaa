"""Dealing what a seat cannot see: one of the games that agree with a view.

The promise: `complete` reads the view only, so it cannot leak the true hands or the deck; it
respects hand sizes, what the seat remembers and what the others say. Which cards have been played,
where that is not known, is drawn too (the visible tops are among them).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from thegame_env.deal import as_seed
from thegame_env.errors import BadInput
from thegame_env.layout import TALK_STEP
from thegame_env.reference import Game
from thegame_env.rules import N_PILES, PILES
from thegame_env.view import SeatTalk, View, speak

TRIES = 200
"""Deals tried for one that agrees with what the seats say."""


def complete(view: View, seed: int) -> Game:
    """A game in which `view` is what the acting seat 0 sees.

    At a silent table it is uniform over the unseen cards. Where seats talk, it agrees with what
    they say of the piles (not exactly uniformly: a card that somebody must hold is placed first),
    and with "I cannot reach my minimum" where one of TRIES deals does.

    Raises:
        ValueError: The view is not of the acting seat, or what the others say is impossible.
    """
    if not view.acting:
        raise ValueError("only the view of the acting seat can be completed to a game")
    rng = np.random.Generator(np.random.Philox(int(as_seed(seed))))
    unseen = sorted(view.unseen)
    if not view.talk:
        cards = [int(card) for card in rng.permutation(unseen)]
        return _game(view, *_cut(view.others, cards))
    claims = [_claim(view, said) for said in view.talk]
    _check_claims(view, claims)
    best = None
    for _ in range(TRIES):
        dealt = _deal_claims(view.others, claims, [int(card) for card in rng.permutation(unseen)])
        if dealt is None:
            continue
        best = _game(view, *dealt)
        if all(speak(best, i, view.table.talk) == said for i, said in enumerate(view.talk, 1)):
            return best
    if best is None:
        raise ValueError("no deal of the unseen cards agrees with what the seats say")
    return best


def _game(view: View, hands: list[list[int]], rest: list[int]) -> Game:
    owed = view.rules.owed(view.deck, len(view.hand) + view.plays)
    all_hands = (view.hand, *map(frozenset, hands))
    deck = tuple(rest[: view.deck])
    return Game(view.rules, view.tops, all_hands, deck, 0, view.plays, owed).settled()


def _cut(sizes: Iterable[int], cards: list[int]) -> tuple[list[list[int]], list[int]]:
    """Hands of these sizes from the front of the cards, and the rest."""
    hands, at = [], 0
    for size in sizes:
        hands.append(cards[at : at + size])
        at += size
    return hands, cards[at:]


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a seat's talk says of its hand: held cards, cards it lacks, one of each group held."""

    holds: frozenset[int]
    lacks: frozenset[int]
    one_of: tuple[frozenset[int], ...]


def _claim(view: View, said: SeatTalk) -> _Claim:
    holds: set[int] = set()
    lacks: set[int] = set()
    one_of = []
    for pile in range(N_PILES):
        sign = 1 if pile < 2 else -1
        top, level = view.tops[pile], said.levels[pile]
        trick = {top - sign * view.rules.trick}
        steps = {top + sign * gap for gap in range(1, TALK_STEP + 1)}
        if level == 0:
            lacks |= trick | steps
        elif view.table.talk == "avoid":
            one_of.append(frozenset(trick | steps))
        elif level == 1:
            lacks |= trick
            one_of.append(frozenset(steps))
        else:
            holds |= trick
    return _Claim(frozenset(holds), frozenset(lacks), tuple(one_of))


def check_talk(view: View) -> None:
    """ValueError where what the others say cannot be true, whatever they hold."""
    _check_claims(view, [_claim(view, said) for said in view.talk])


def _check_claims(view: View, claims: list[_Claim]) -> None:
    """ValueError where a seat claims a trick that it cannot hold."""
    for pile in range(N_PILES):
        sign = 1 if pile < 2 else -1
        trick = view.tops[pile] - sign * view.rules.trick
        offsets = [i for i, claim in enumerate(claims, start=1) if trick in claim.holds]
        if offsets and trick not in view.unseen:
            raise BadInput("talk: nobody else can hold the trick on {pile}", pile=PILES[pile])
        if len(offsets) > 1:
            raise BadInput("talk: two seats cannot both hold the trick on {pile}", pile=PILES[pile])


def _deal_claims(
    sizes: tuple[int, ...], claims: list[_Claim], cards: list[int]
) -> tuple[list[list[int]], list[int]] | None:
    """Hands that keep the claims, and the rest; None where this order of the cards gives none."""
    claimed = frozenset[int]().union(*(claim.holds for claim in claims))
    pool = [card for card in cards if card not in claimed]
    hands = [sorted(claim.holds) for claim in claims]

    def take(hand: list[int], wanted: frozenset[int] | None, lacks: frozenset[int]) -> bool:
        for card in pool:
            if card not in lacks and (wanted is None or card in wanted):
                hand.append(card)
                pool.remove(card)
                return True
        return False

    for hand, claim in zip(hands, claims, strict=True):
        for group in claim.one_of:
            if group.isdisjoint(hand) and not take(hand, group, claim.lacks):
                return None
    for hand, claim, size in zip(hands, claims, sizes, strict=True):
        if len(hand) > size:
            return None
        while len(hand) < size:
            if not take(hand, None, claim.lacks):
                return None
    return hands, pool
