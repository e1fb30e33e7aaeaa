"""How the fast engine lays games and views out in int64 rows.

A set of cards is two words of 49 bits: card c is bit (c - 2) of the first word, or bit (c - 51) of
the second. Three kinds of rows exist, and every index into them has a name here:

* a *game* row: the whole state of one game, hands included (the deck order lies beside it);
* a *parameter* row: the table (rules and settings) that a batch plays;
* a *view* row: what one seat may see, and nothing else. Observations and agents read only these.
"""

from __future__ import annotations

from thegame_env.rules import MAX_SEATS

WORD = 49
"""Bits a word."""
FULL = (1 << WORD) - 1

# --- game rows -----------------------------------------------------------------------------------
TOPS = 0
"""Four tops: up1, up2, down1, down2."""
HANDS = 4
"""Two words a seat: seat s at HANDS + 2 s."""
PLAYED = HANDS + 2 * MAX_SEATS
"""Two words: the cards on the piles."""
DECK_AT = PLAYED + 2
"""Index of the next card to be drawn; the deck row's cards from here to its end are the deck."""
SEAT = DECK_AT + 1
PLAYS = SEAT + 1
"""Cards laid this turn."""
OWED = PLAYS + 1
"""Plays owed this turn, fixed when the turn began."""
LEFT = OWED + 1
"""Cards in all hands and the deck."""
STATUS = LEFT + 1
STARTER = STATUS + 1
TURNS = STARTER + 1
"""Turns begun, the running one included."""
TRICKS = TURNS + 1
"""Backwards tricks played in this game."""
STEPS = TRICKS + 1
"""Actions taken in this game."""
SEED = STEPS + 1
"""Seed of the slot's deals (the bits of a uint64)."""
GAME = SEED + 1
"""Index of this game under the seed."""
GAME_ROW = 32

PLAYING, WON, STUCK, ILLEGAL = 0, 1, 2, 3
"""Values of STATUS."""

# --- parameter rows ------------------------------------------------------------------------------
P_CARDS, P_PLAYERS, P_HAND, P_MINIMUM, P_EMPTY, P_NOBODY, P_TRICK = 0, 1, 2, 3, 4, 5, 6
P_MEMORY, P_TALK, P_AGREED = 7, 8, 9
P_LEGAL = 16
"""From here on, two words for every (direction, top): the cards that may lie on such a pile."""
P_TOPS = 102
"""Entries a direction, one for every possible top 0..101."""
PARAMETER_ROW = P_LEGAL + 4 * P_TOPS

# --- view rows -----------------------------------------------------------------------------------
V_HAND = 0
"""Two words: the own hand."""
V_UNSEEN = 2
"""Two words: the cards that may lie in the deck or in other hands."""
V_TOPS = 4
V_DECK = 8
"""Cards in the deck."""
V_SIZES = 9
"""Hand sizes by offset, the own hand first; MAX_SEATS of them."""
V_PLAYS = V_SIZES + MAX_SEATS
V_OWED = V_PLAYS + 1
"""Plays still owed this turn (0 for a seat that is not acting)."""
V_LEFT = V_OWED + 1
"""Cards in all hands and the deck."""
V_TALK = V_LEFT + 1
"""A talk word for offsets 1..4: two bits a pile (its level), bit 8 "cannot reach my minimum"."""
V_PARAMETERS = V_TALK + MAX_SEATS - 1
"""The ten parameters of the table, in their order."""
V_MAY_END = V_PARAMETERS + 10
"""1 where END_TURN is legal."""
V_STATUS = V_MAY_END + 1
V_ACTING = V_STATUS + 1
"""1 where it is this seat's turn."""
VIEW_ROW = 40

TALK_NONE, TALK_AVOID, TALK_OPEN = 0, 1, 2
TALK_CODES = {"none": TALK_NONE, "avoid": TALK_AVOID, "open": TALK_OPEN}
TALK_STEP = 4
"""A gap up to this makes a pile worth asking for."""
TALK_STUCK = 1 << 8
