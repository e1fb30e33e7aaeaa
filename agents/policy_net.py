"""The trained policies without torch: the networks of `train/policy_network.py` in numpy.

`PolicyModel` scores each legal play by its pile, its gap, the whole table and the cards around the
one that is laid. `PlainModel` is the ordinary network that it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from thegame_env.cards import beyond, bit_hi, bit_lo, count, first, mirrored, shifted
from thegame_env.compiled import inlined, kernel, lowest_bit
from thegame_env.engine import mask_into
from thegame_env.layout import P_CARDS, P_HAND, P_MEMORY, V_HAND, V_TOPS, V_UNSEEN
from thegame_env.observation import ENCODE_RELATIVE, ENCODERS, encode_batch, observation_spec
from thegame_env.rules import N_PILES, Table

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BIASED = ("pile", "context", "deep", "head_pile", "mix", "compare", "play", "end_context", "end")
"""Layers with weight and bias."""
PLAIN = ("head_context", "around", "after", "end_after", "others")
"""Layers with a weight alone."""
BEHIND, AROUND = 10, 49
"""Cards around the one that is laid, in the pile's direction: from the trick's on, and how many."""
OTHERS = 0.1
"""Factor of the sum over the plays of all other cards."""
AFTER = 5
"""Numbers that `stranded` tells."""
SHARE = 0.125
"""Factor of cards counted."""
_STRETCH = (1 << AROUND) - 1


def gap_table(cards: int, trick: int) -> Int64:
    """At which gap each card lies, by direction and room: int64[2, N + 1, N].

    Entry [d, r, i] speaks of card i + 2 and a pile that ascends (d = 0) or descends (d = 1) with r
    card values beyond its top: gap - 1 for a card beyond the top, N for the trick's card, N + 1 for
    a card that cannot be laid.
    """
    room, index = np.arange(cards + 1)[:, None], np.arange(cards)
    gaps = np.stack([index + 1 - cards + room, room - index])
    return np.where(gaps >= 1, gaps - 1, np.where(gaps == -trick, cards, cards + 1))


@kernel
def mask_scores(rows, p, masks, logits):
    """Set the scores of illegal actions to minus infinity.

    Args:
        rows: int64[n, VIEW_ROW].
        p: Parameter row.
        masks: Work space, int8[A].
        logits: Changed in place, float32[n, A].
    """
    for i in range(rows.shape[0]):
        mask_into(rows[i], p, masks)
        for action in range(logits.shape[1]):
            if not masks[action]:
                logits[i, action] = -np.inf


@kernel
def stranded(up, down, lo, hi, unseen_lo, unseen_hi, cards, out):
    """Tell of the cards that no pile takes but by the trick: from `down` to `up`, if it is less.

    Writes float32[AFTER]: own and unseen ones, both times SHARE; the indices of `down` and `up` and
    the number of values between them, over N.

    Args:
        up: The lower top of the ascending piles.
        down: The higher top of the descending ones.
        lo: The hand, as `hi`.
        hi: See there.
        unseen_lo: Unseen cards, as `unseen_hi`.
        unseen_hi: See there.
        cards: N.
        out: Where it is written.
    """
    out[:] = np.float32(0.0)
    out[2], out[3] = (
        np.float32(down - 2) / np.float32(cards),
        np.float32(up - 2) / np.float32(cards),
    )
    if down <= up:
        above_lo, above_hi = beyond(0, down - 1, cards)
        below_lo, below_hi = beyond(2, up + 1, cards)
        between_lo, between_hi = above_lo & below_lo, above_hi & below_hi
        out[0] = SHARE * np.float32(count(lo & between_lo, hi & between_hi))
        out[1] = SHARE * np.float32(count(unseen_lo & between_lo, unseen_hi & between_hi))
        out[4] = np.float32(up + 1 - down) / np.float32(cards)


@kernel
def stranded_now(rows, p, out):
    """`stranded` of each view row, float32[n, AFTER]."""
    for i in range(rows.shape[0]):
        row = rows[i]
        up = min(row[V_TOPS], row[V_TOPS + 1])
        down = max(row[V_TOPS + 2], row[V_TOPS + 3])
        unseen_lo = row[V_UNSEEN] if p[P_MEMORY] else 0
        unseen_hi = row[V_UNSEEN + 1] if p[P_MEMORY] else 0
        stranded(up, down, row[V_HAND], row[V_HAND + 1], unseen_lo, unseen_hi, p[P_CARDS], out[i])


@kernel
def tell_plays(
    rows, p, gap_of, piles, gap, around, after, mix, mix_bias, found, told, starts
):  # fmt: skip
    """List the legal plays of all rows, and what each says of itself (the second layer).

    Args:
        rows: int64[n, VIEW_ROW].
        p: Parameter row.
        gap_of: `gap_table`.
        piles: float32[n, K, head], what pile and context add to the first layer.
        gap: float32[N + 1, head], what the gap adds.
        around: float32[2 * AROUND, head], what each own and unseen card around it adds.
        after: float32[AFTER, head], what the stranded cards add.
        mix: float32[head, mix].
        mix_bias: float32[mix].
        found: Out, int64[n * K * hand], the plays, those of a card side by side.
        told: Out, float32[n * K * hand, mix].
        starts: Out, int64[n + 1]; the plays of row i are starts[i]..starts[i + 1].
    """
    cards, total = p[P_CARDS], 0
    near, hidden = np.empty((2, gap.shape[1]), np.float32), np.empty(mix.shape[1], np.float32)
    facts = np.empty(AFTER, np.float32)
    for i in range(rows.shape[0]):
        row = rows[i]
        starts[i] = total
        lo, hi = row[V_HAND], row[V_HAND + 1]
        unseen_lo = row[V_UNSEEN] if p[P_MEMORY] else 0
        unseen_hi = row[V_UNSEEN + 1] if p[P_MEMORY] else 0
        m_lo, m_hi = mirrored(lo, hi, cards)
        m_unseen_lo, m_unseen_hi = mirrored(unseen_lo, unseen_hi, cards)
        left_lo, left_hi = lo, hi
        while left_lo | left_hi:
            at = first(left_lo, left_hi)
            left_lo &= ~bit_lo(at)
            left_hi &= ~bit_hi(at)
            near[:] = np.float32(0.0)
            start = at - BEHIND
            _add(shifted(lo, hi, start) & _STRETCH, around, 0, near[0])
            _add(shifted(unseen_lo, unseen_hi, start) & _STRETCH, around, AROUND, near[0])
            start = cards - 1 - at - BEHIND
            _add(shifted(m_lo, m_hi, start) & _STRETCH, around, 0, near[1])
            _add(shifted(m_unseen_lo, m_unseen_hi, start) & _STRETCH, around, AROUND, near[1])
            for pile in range(N_PILES):
                top = row[V_TOPS + pile]
                there = gap_of[pile >> 1, top - 2 if pile >= 2 else cards + 1 - top, at]
                if there > cards:
                    continue
                beside = row[V_TOPS + (pile ^ 1)]
                up = min(at + 2, beside) if pile < 2 else min(row[V_TOPS], row[V_TOPS + 1])
                down = max(at + 2, beside) if pile >= 2 else max(row[V_TOPS + 2], row[V_TOPS + 3])
                stranded(
                    up, down, lo & ~bit_lo(at), hi & ~bit_hi(at), unseen_lo, unseen_hi, cards, facts
                )
                hidden[:] = mix_bias
                for j in range(gap.shape[1]):
                    x = near[pile >> 1, j] + piles[i, pile, j] + gap[there, j]
                    for f in range(AFTER):
                        x += facts[f] * after[f, j]
                    if x > np.float32(0.0):
                        for k in range(hidden.shape[0]):
                            hidden[k] += x * mix[j, k]
                for k in range(hidden.shape[0]):
                    told[total, k] = max(hidden[k], np.float32(0.0))
                found[total] = pile * cards + at
                total += 1
    starts[rows.shape[0]] = total
    return total


@kernel
def score_plays(starts, found, told, cards, compare, bias, others, play, play_bias, sums, logits):
    """Score the plays by what they and the plays of all other cards say of themselves.

    Args:
        starts: See `tell_plays`, as the following two.
        found: See there.
        told: See there.
        cards: N.
        compare: float32[mix, mix].
        bias: float32[mix].
        others: float32[mix, mix].
        play: float32[mix].
        play_bias: float32[1].
        sums: float32[n, mix], zeros; what all plays of a row say, times OTHERS, is added.
        logits: Changed where a play is legal, float32[n, A].
    """
    width = told.shape[1]
    rest = np.empty(width, np.float32)
    for i in range(logits.shape[0]):
        for at in range(starts[i], starts[i + 1]):
            for k in range(width):
                sums[i, k] += OTHERS * told[at, k]
        begin = starts[i]
        while begin < starts[i + 1]:
            stop = begin
            rest[:] = sums[i]
            while stop < starts[i + 1] and found[stop] % cards == found[begin] % cards:
                for k in range(width):
                    rest[k] -= OTHERS * told[stop, k]
                stop += 1
            for at in range(begin, stop):
                hidden = bias.copy()
                for j in range(width):
                    for k in range(width):
                        hidden[k] += told[at, j] * compare[j, k] + rest[j] * others[j, k]
                total = play_bias[0]
                for k in range(width):
                    total += max(hidden[k], np.float32(0.0)) * play[k]
                logits[i, found[at]] = total
            begin = stop


@inlined
def _add(word, weights, at, out):
    """Add the rows `at + i` of every bit i of the word."""
    while word:
        row = weights[at + lowest_bit(word)]
        word &= word - 1
        for j in range(out.shape[0]):
            out[j] += row[j]


class PolicyModel:
    """Logits of the actions of many views, by gaps.

    Args:
        table: What is played; the network must have been trained on equally many cards.
        weights: `NAME.weight` float32[out, in] of every layer, and its `NAME.bias` float32[out].

    Raises:
        ValueError: A layer is missing or has the wrong shape.
    """

    def __init__(self, table: Table, weights: Mapping[str, Floats]) -> None:
        spec, cards = observation_spec("relative", table), table.rules.cards
        self._size, self._block = spec.size, spec.pile_size
        self._gap_table = gap_table(cards, table.rules.trick)
        self._mask = np.empty(table.rules.n_actions, np.int8)
        self._weights = {
            name: np.ascontiguousarray(_part(weights, f"{name}.weight").T, np.float32)
            for name in BIASED + PLAIN
        }
        self._biases = {
            name: np.asarray(_part(weights, f"{name}.bias"), np.float32) for name in BIASED
        }
        self._play = self._weights["play"][:, 0].copy()
        self._gap = np.ascontiguousarray(_part(weights, "gap.weight"), np.float32)
        self._check(cards)

    def _check(self, cards: int) -> None:
        shape = {name: weight.shape for name, weight in self._weights.items()}
        pile, context, deep = shape["pile"][1], shape["context"][1], shape["deep"][1]
        head, mix = shape["head_pile"][1], shape["mix"][1]
        shape["gap"] = self._gap.shape
        expected = {
            "pile": (self._block, pile),
            "context": (N_PILES * pile + self._size - N_PILES * self._block, context),
            "deep": (context, deep),
            "head_pile": (pile, head),
            "head_context": (deep, head),
            "gap": (cards + 1, head),
            "around": (2 * AROUND, head),
            "after": (AFTER, head),
            "end_after": (AFTER, mix),
            "mix": (head, mix),
            "compare": (mix, mix),
            "others": (mix, mix),
            "play": (mix, 1),
            "end_context": (deep, mix),
            "end": (mix, 1),
        }
        for name, wanted in expected.items():
            if shape[name] != wanted or (name in BIASED and self._biases[name].shape != wanted[1:]):
                raise ValueError(f"layer {name} has shape {shape[name]}, this table needs {wanted}")

    def _heads(self, observations: Floats) -> tuple[Floats, Floats]:
        """What observations float32[n, size] add to the scores.

        Returns:
            float32[n, K, head], to the head's first layer; float32[n, mix], to END_TURN's.
        """
        n, split = len(observations), N_PILES * self._block
        blocks = observations[:, :split].reshape(n * N_PILES, self._block)
        codes = _relu(self._layer("pile", blocks))
        joined = np.concatenate([codes.reshape(n, -1), observations[:, split:]], axis=1)
        context = _relu(self._layer("deep", _relu(self._layer("context", joined))))
        hidden = self._layer("head_pile", codes).reshape(n, N_PILES, -1)
        hidden += (context @ self._weights["head_context"])[:, None]
        return hidden, self._layer("end_context", context)

    def _layer(self, name: str, x: Floats) -> Floats:
        y: Floats = x @ self._weights[name]
        y += self._biases[name]
        return y

    def logits(self, rows: Int64, p: Int64) -> Floats:
        """Logits of all actions, float32[n, A]; minus infinity where an action is illegal.

        Args:
            rows: int64[n, VIEW_ROW].
            p: The table's parameter row.
        """
        observations = np.empty((len(rows), self._size), np.float32)
        encode_batch(ENCODE_RELATIVE, rows, p, observations)
        piles, ends = self._heads(observations)
        out = np.zeros((len(rows), len(self._mask)), np.float32)
        plays = self._score(rows, p, piles, out)
        now = np.empty((len(rows), AFTER), np.float32)
        stranded_now(rows, p, now)
        ends += plays @ self._weights["others"] + now @ self._weights["end_after"]
        out[:, -1:] = self._layer("end", _relu(ends))
        mask_scores(rows, p, self._mask, out)
        return out

    def _score(self, rows: Int64, p: Int64, piles: Floats, out: Floats) -> Floats:
        """Write the scores of the legal plays into `out`; what all plays say, float32[n, mix]."""
        weights, biases = self._weights, self._biases
        room = len(rows) * N_PILES * int(p[P_HAND])
        found, starts = np.empty(room, np.int64), np.empty(len(rows) + 1, np.int64)
        told = np.empty((room, len(biases["mix"])), np.float32)
        sums = np.zeros((len(rows), len(biases["mix"])), np.float32)
        tell_plays(
            rows, p, self._gap_table, piles, self._gap, weights["around"], weights["after"],
            weights["mix"], biases["mix"], found, told, starts,
        )  # fmt: skip
        score_plays(
            starts, found, told, p[P_CARDS], weights["compare"], biases["compare"],
            weights["others"], self._play, biases["play"], sums, out,
        )  # fmt: skip
        return sums


class PlainModel:
    """Logits of the actions of many views, by a plain network on an observation.

    Args:
        table: What is played.
        weights: `layer0.weight` float32[out, in] and `layer0.bias` float32[out] and so on, the
            last one with an output for every action.
        observation: Kind of the observation that it reads.

    Raises:
        ValueError: A layer is missing or has the wrong shape.
    """

    def __init__(self, table: Table, weights: Mapping[str, Floats], observation: str) -> None:
        size, actions = observation_spec(observation, table).size, table.rules.n_actions
        self._code, self._size = ENCODERS[observation], size
        self._mask = np.empty(actions, np.int8)
        self._layers: list[tuple[Floats, Floats]] = []
        for i in range(len(weights) // 2):
            weight = np.asarray(_part(weights, f"layer{i}.weight"), np.float32)
            bias = np.asarray(_part(weights, f"layer{i}.bias"), np.float32)
            last = i == len(weights) // 2 - 1
            wanted = (actions if last else len(bias), size)
            if weight.shape != wanted or len(bias) != len(weight):
                raise ValueError(f"layer{i} has shape {weight.shape}, this table needs {wanted}")
            self._layers.append((np.ascontiguousarray(weight.T), bias))
            size = len(bias)

    def logits(self, rows: Int64, p: Int64) -> Floats:
        """See `PolicyModel.logits`."""
        x: Floats = np.empty((len(rows), self._size), np.float32)
        encode_batch(self._code, rows, p, x)
        for i, (weight, bias) in enumerate(self._layers):
            x = x @ weight + bias if i == 0 else _relu(x) @ weight + bias
        mask_scores(rows, p, self._mask, x)
        return x


def model_of(
    table: Table, weights: Mapping[str, Floats], observation: str = "relative"
) -> PolicyModel | PlainModel:
    """The network that the weights are of; ValueError where they fit no table like this."""
    if "layer0.weight" in weights:
        return PlainModel(table, weights, observation)
    return PolicyModel(table, weights)


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0.0, out=x)


def _part(weights: Mapping[str, Floats], name: str) -> Floats:
    if name not in weights:
        raise ValueError(f"the weights lack {name}: this is not a policy")
    return weights[name]
