"""The search for the best turn: which cards to lay, in which order, and when to stop.

Depth-first over plays. Piles do not influence each other within a turn, so a plan lays its plays
pile by pile; every afterstate is then met in few orders. On each pile the search tries the trick,
the two nearest cards, and the nearest card that opens a trick (53 on 50, then 43). Once the minimum
is met, plays must be within reach, and plans that lag far behind the best one are not continued.

When nobody else holds a card and the deck is empty, all cards to come are known: then it searches
for the order that lays the most, exhaustively up to LIMIT plays.
"""

from __future__ import annotations

from agents.greedy import NO_GAP, best_play
from agents.turn_score import (
    DOWN_FACT,
    DOWN_TRICK,
    INTS,
    PAIR_BASES,
    PAIR_TOPS,
    SLOTS,
    UP_FACT,
    UP_TRICK,
    W_CARD,
    WEIGHTS,
    before,
    card_of,
    describe,
    score,
    stranded,
)
from thegame_env.cards import count
from thegame_env.compiled import highest_bit, inlined, kernel, lowest_bit, popcount
from thegame_env.layout import P_CARDS, P_TRICK, V_DECK, V_HAND, V_LEFT, V_OWED, V_TOPS
from thegame_env.rules import N_PILES

REACH, REACH_EMPTY = 8, 12
"""Largest gap tried beyond the minimum, while the deck lasts and after (less the trick distance for
a card that opens a trick): whether such a play is worth it, the score decides."""
MARGIN = 80.0
"""Default margin: plans this much below the best are not continued beyond the minimum."""
LIMIT = 4_000
"""Plays tried at most in a turn."""
ANY_GAP = 1_000
NO_SCORE = -1e18

HAND, TOPS, PILE, END, NEXT, PLAYS = 0, 1, 2, 3, 4, 5
"""Columns of a frame: slots held, marks on the piles (8 bits each), first pile to play on, end of
the plays to try, the next one; then the plays, pile * 32 + slot."""
EACH = 8
"""Nearest cards tried on a pile in the exhaustive search."""
FRAME = PLAYS + N_PILES * (EACH + 2)
STACK = (SLOTS + 2) * FRAME
PLAN = SLOTS + 1
"""A plan: how many plays, then their actions."""
WORK = INTS + STACK + PLAN
"""Length of the integer workspace: tables, stack, plan."""


@kernel
def search_turn(row, p, asked, margin, ints, floats):
    """Search the best turn from here; returns how many plays it lays (0: end the turn).

    Args:
        row: View row of the acting seat.
        p: Parameter row.
        asked: float64[piles], see `describe`.
        margin: Plans this much below the best are not continued beyond the minimum.
        ints: Workspace int64[WORK]; from PLAN_AT on receives the plays as actions.
        floats: Workspace float64[FLOATS] with this turn's weights in place.
    """
    size = count(row[V_HAND], row[V_HAND + 1])
    if size > SLOTS:
        return _nearest_play(row, p, ints)
    describe(row, p, asked, ints, floats)
    owed, deck = row[V_OWED], row[V_DECK]
    last = row[V_LEFT] == size
    reach = ANY_GAP if last else (REACH if deck else REACH_EMPTY)
    best, length, deepest, tried, depth = NO_SCORE, 0, 0, 0, 0
    stack = INTS
    ints[stack + HAND] = (1 << size) - 1
    ints[stack + TOPS] = SLOTS | (SLOTS + 1) << 8 | (SLOTS + 2) << 16 | (SLOTS + 3) << 24
    ints[stack + PILE] = 0
    if owed <= 0:
        best = 0.0 if last else _score_of(ints[stack + HAND], ints[stack + TOPS], ints, floats)
    _list_plays(stack, ANY_GAP if owed > 0 else reach, last, p, ints)
    while depth >= 0:
        at = stack + depth * FRAME
        move = ints[at + NEXT]
        if move == ints[at + END]:
            depth -= 1
            continue
        ints[at + NEXT] = move + 1
        play = ints[move]
        pile, slot = play >> 5, play & 31
        hand = ints[at + HAND] & ~(1 << slot)
        shift = 8 * pile
        tops = (ints[at + TOPS] & ~(255 << shift)) | slot << shift
        tried += 1
        laid = depth + 1
        value = 1.0 * laid
        if not last and laid >= owed:
            value = _score_of(hand, tops, ints, floats) + floats[WEIGHTS + W_CARD] * laid
        if (laid >= owed and value > best) or (best == NO_SCORE and laid > deepest):
            best = value if laid >= owed else best
            deepest = length = laid
            _write_plan(laid, p, ints)
        promising = laid < owed or value > best - margin
        if last:
            promising = laid + _at_most(hand, tops, ints) > best
        if hand and promising and tried < LIMIT:
            below = at + FRAME
            ints[below + HAND], ints[below + TOPS], ints[below + PILE] = hand, tops, pile
            _list_plays(below, ANY_GAP if laid < owed else reach, last, p, ints)
            depth = laid
    return length


PLAN_AT = INTS + STACK
"""Where the plan's actions stand in the integer workspace."""


@kernel
def _nearest_play(row, p, ints):
    """The greedy play, for hands larger than the search takes (and nothing beyond the minimum)."""
    gap, index, pile = best_play(
        row[V_HAND],
        row[V_HAND + 1],
        row[V_TOPS],
        row[V_TOPS + 1],
        row[V_TOPS + 2],
        row[V_TOPS + 3],
        p[P_TRICK],
    )
    ints[PLAN_AT] = pile * p[P_CARDS] + index
    return 1 if gap < NO_GAP and (row[V_OWED] > 0 or gap < 0) else 0


@inlined
def _score_of(hand, tops, ints, floats):
    return score(hand, tops & 255, (tops >> 8) & 255, (tops >> 16) & 255, tops >> 24, ints, floats)


@inlined
def _write_plan(laid, p, ints):
    """Write the plays that lead to the last one tried as actions."""
    for depth in range(laid):
        play = ints[ints[INTS + depth * FRAME + NEXT] - 1]
        card = card_of(ints[UP_FACT + (play & 31)])
        ints[PLAN_AT + depth] = (play >> 5) * p[P_CARDS] + card - 2


@inlined
def _at_most(hand, tops, ints):
    """An upper bound of the cards that can still be laid: all but those that nothing can free."""
    up1, up2 = ints[UP_FACT + (tops & 255)], ints[UP_FACT + ((tops >> 8) & 255)]
    down1, down2 = ints[DOWN_FACT + ((tops >> 16) & 255)], ints[DOWN_FACT + (tops >> 24)]
    free = ints[UP_TRICK + (tops & 255)] | ints[UP_TRICK + ((tops >> 8) & 255)]
    free |= ints[DOWN_TRICK + ((tops >> 16) & 255)] | ints[DOWN_TRICK + (tops >> 24)]
    free |= ints[PAIR_TOPS] | ints[PAIR_BASES]
    if hand & free:
        return popcount(hand)
    return popcount(hand & ~stranded(min(up1, up2), max(down1, down2)))


@inlined
def _list_plays(at, reach, wide, p, ints):
    """List the plays to try in the frame at `at`: by pile, the most promising first."""
    hand, tops, trick = ints[at + HAND], ints[at + TOPS], p[P_TRICK]
    end, last_fact = at + PLAYS, -1
    for pile in range(ints[at + PILE], N_PILES):
        mark = (tops >> (8 * pile)) & 255
        fact = ints[(UP_FACT if pile < 2 else DOWN_FACT) + mark]
        twin = fact == last_fact
        last_fact = fact
        if twin:
            continue
        if wide:
            end = _all_plays(end, pile, hand, mark, ints)
        elif pile < 2:
            end = _up_plays(end, pile << 5, hand, mark, reach, trick, ints)
        else:
            end = _down_plays(end, pile << 5, hand, mark, reach, trick, ints)
    ints[at + NEXT], ints[at + END] = at + PLAYS, end


@inlined
def _up_plays(end, code, hand, mark, reach, trick, ints):
    """List the plays on an ascending pile; returns the new end.

    Every candidate is written, and the end moves past it only if it is one: nothing to mispredict.
    """
    fact = ints[UP_FACT + mark]
    top = card_of(fact)
    tricks = hand & ints[UP_TRICK + mark]
    ints[end] = code | (lowest_bit(tricks) & 31)
    end += tricks != 0
    ahead = hand & (-1 << before(fact))
    nearest = lowest_bit(ahead) & 31
    ints[end] = code | nearest
    end += (ahead != 0) & (card_of(ints[UP_FACT + nearest]) - top <= reach)
    rest = ahead & (ahead - 1)
    second = lowest_bit(rest) & 31
    ints[end] = code | second
    end += (rest != 0) & (card_of(ints[UP_FACT + second]) - top <= reach)
    openers = ahead & ints[PAIR_TOPS]
    while openers:
        slot = lowest_bit(openers)
        openers &= openers - 1
        if hand & ints[UP_TRICK + slot]:
            gap = card_of(ints[UP_FACT + slot]) - top
            listed = ((slot == nearest) | (slot == second)) & (gap <= reach)
            ints[end] = code | slot
            end += (gap - trick <= reach) & (not listed)
            break
    return end


@inlined
def _down_plays(end, code, hand, mark, reach, trick, ints):
    """List the plays on a descending pile, as `_up_plays`."""
    fact = ints[DOWN_FACT + mark]
    top = card_of(fact)
    tricks = hand & ints[DOWN_TRICK + mark]
    ints[end] = code | (lowest_bit(tricks) & 31)
    end += tricks != 0
    ahead = hand & ((1 << before(fact)) - 1)
    nearest = highest_bit(ahead | 1)
    ints[end] = code | nearest
    end += (ahead != 0) & (top - card_of(ints[DOWN_FACT + nearest]) <= reach)
    rest = ahead & ~(1 << nearest)
    second = highest_bit(rest | 1)
    ints[end] = code | second
    end += (rest != 0) & (top - card_of(ints[DOWN_FACT + second]) <= reach)
    openers = ahead & ints[PAIR_BASES]
    while openers:
        slot = highest_bit(openers)
        openers &= ~(1 << slot)
        if hand & ints[DOWN_TRICK + slot]:
            gap = top - card_of(ints[DOWN_FACT + slot])
            listed = ((slot == nearest) | (slot == second)) & (gap <= reach)
            ints[end] = code | slot
            end += (gap - trick <= reach) & (not listed)
            break
    return end


@kernel
def _all_plays(end, pile, hand, mark, ints):
    """List the trick and the EACH nearest cards of a pile; returns the new end."""
    up = pile < 2
    fact = ints[(UP_FACT if up else DOWN_FACT) + mark]
    tricks = hand & ints[(UP_TRICK if up else DOWN_TRICK) + mark]
    ahead = hand & ((-1 << before(fact)) if up else (1 << before(fact)) - 1)
    if tricks:
        ints[end] = pile << 5 | lowest_bit(tricks)
        end += 1
    for _ in range(EACH):
        if ahead == 0:
            break
        slot = lowest_bit(ahead) if up else highest_bit(ahead)
        ahead &= ~(1 << slot)
        ints[end] = pile << 5 | slot
        end += 1
    return end
