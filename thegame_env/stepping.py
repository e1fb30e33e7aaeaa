"""The step that every environment shares: act, reward, view, observation, mask, autoreset.

The adapters (gym_env, vector_env, aec_env, sb3_env) hold no rule; they call these kernels.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from thegame_env.compiled import hold, inlined, kernel, row_of
from thegame_env.layout import (
    ILLEGAL,
    LEFT,
    P_CARDS,
    PLAYING,
    SEAT,
    STATUS,
    TOPS,
    VIEW_ROW,
    WON,
)
from thegame_env.moves import act, deal_next, is_legal
from thegame_env.observation import encode
from thegame_env.sight import mask_into, view_into

RewardKind = Literal["score", "win", "shaped"]
REWARDS: dict[str, int] = {"score": 0, "win": 1, "shaped": 2}
"""Codes of the three rewards.

* `score`: every card laid counts 1/N, so the return (gamma 1) is (N - cards left) / N.
* `win`: 1 when the last card is laid, else 0.
* `shaped`: `score`, plus the change of the room left on the piles (the potential: the card values
  beyond the four tops over 4 N, 1 at the start), plus 1 at a win. The potential's terms telescope
  (Ng, Harada, Russell 1999, with gamma 1), so a game returns (N - cards left) / N + room - 1,
  and a win 1 more: every win returns at least 1, every loss less than 1.
"""

RESET_NEXT_STEP, RESET_SAME_STEP, RESET_DISABLED = 0, 1, 2


@inlined
def room(game, p):
    """Card values beyond the four tops, together."""
    high = p[P_CARDS] + 2
    rising = 2 * (high - 1) - game[TOPS] - game[TOPS + 1]
    return rising + game[TOPS + 2] + game[TOPS + 3] - 4


@kernel
def act_rewarded(game, deck, p, action, kind):
    """Take a legal action and return its reward (a code of REWARDS)."""
    cards, left, space = p[P_CARDS], game[LEFT], room(game, p)
    act(game, deck, p, action)
    won = 1.0 if game[STATUS] == WON else 0.0
    if kind == 1:
        return won
    score = (left - game[LEFT]) / cards
    if kind == 0:
        return score
    return score + (room(game, p) - space) / (4.0 * cards) + won


@kernel
def observe_slot(game, p, kind, row, obs, mask):
    """Write the acting seat's observation and legal actions."""
    view_into(game, p, game[SEAT], row)
    encode(kind, row, p, obs)
    mask_into(row, p, mask)


@kernel
def observe_slots(games, p, kind, obs, masks):
    """Write the acting seats' observations (float32[B, size]) and masks (int8[B, A])."""
    table, row = row_of(p, 0), np.zeros(VIEW_ROW, np.int64)
    for b in range(games.shape[0]):
        game = row_of(games, b)
        observe_slot(game, table, kind, row_of(row, 0), row_of(obs, b), row_of(masks, b))
    hold(row)


@kernel
def observe_seat(games, p, seat, kind, obs):
    """Write what `seat` sees of slot 0 (float32[size])."""
    row = np.zeros(VIEW_ROW, np.int64)
    view_into(row_of(games, 0), row_of(p, 0), seat, row_of(row, 0))
    encode(kind, row_of(row, 0), row_of(p, 0), row_of(obs, 0))
    hold(row)


@kernel
def step_slot(game, deck, p, action, reward_kind):
    """Take an action; an illegal one loses the game on the spot, its cards untouched."""
    if not is_legal(game, p, action):
        game[STATUS] = ILLEGAL
        return 0.0
    return act_rewarded(game, deck, p, action, reward_kind)


@kernel
def step_slots(
    games, decks, p, actions, mode, reward_kind, kind, obs, masks, rewards, ended, final
):
    """One step in every slot.

    Args:
        games: int64[B, GAME_ROW], changed in place; `decks` likewise, int8[B, N].
        decks: See above.
        p: Parameter row.
        actions: int64[B]; ignored where a finished game is dealt anew.
        mode: RESET_NEXT_STEP or RESET_SAME_STEP; any other leaves finished games as they are.
        reward_kind: Code of REWARDS.
        kind: Code of the observation.
        obs: Out, float32[B, size]: what the acting seats see afterwards.
        masks: Out, int8[B, A].
        rewards: Out, float64[B].
        ended: Out, int64[B, 2]: status (0 while the game goes on) and cards left after the action.
        final: Out, float32[B, size]: with RESET_SAME_STEP the last observation of ended games.
    """
    scratch = np.zeros(VIEW_ROW, np.int64)
    table, row = row_of(p, 0), row_of(scratch, 0)
    for b in range(games.shape[0]):
        game, deck = row_of(games, b), row_of(decks, b)
        rewards[b] = 0.0
        fresh = game[STATUS] != PLAYING
        if fresh and mode == RESET_NEXT_STEP:
            deal_next(game, deck, table)
        elif not fresh:
            rewards[b] = step_slot(game, deck, table, actions[b], reward_kind)
        ended[b, 0], ended[b, 1] = game[STATUS], game[LEFT]
        if game[STATUS] != PLAYING and mode == RESET_SAME_STEP:
            view_into(game, table, game[SEAT], row)
            encode(kind, row, table, row_of(final, b))
            deal_next(game, deck, table)
        observe_slot(game, table, kind, row, row_of(obs, b), row_of(masks, b))
    hold(scratch)


@kernel
def step_single(games, decks, p, action, reward_kind, kind, obs, mask, out):
    """One step of slot 0 for the single environment.

    `out` (float64[4]) receives reward, status, cards left, acting seat; out[1] is -1, and nothing
    has changed, when the action was illegal.
    """
    game, table = row_of(games, 0), row_of(p, 0)
    if not is_legal(game, table, action):
        out[1] = -1.0
        return
    out[0] = act_rewarded(game, row_of(decks, 0), table, action, reward_kind)
    out[1], out[2], out[3] = game[STATUS], game[LEFT], game[SEAT]
    row = np.zeros(VIEW_ROW, np.int64)
    observe_slot(game, table, kind, row_of(row, 0), row_of(obs, 0), row_of(mask, 0))
    hold(row)
