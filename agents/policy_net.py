"""The trained policies without torch: the networks of `train/policy_network.py` in numpy.

`PolicyModel` scores each legal play by its pile, the whole table and what `play_features` tells of
it. `PlainModel` is the ordinary network that it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from agents.play_features import (
    AROUND,
    CARD,
    FACTS,
    GAP,
    HELD,
    PILE,
    TABLE,
    Plays,
    plays_of,
    sets_of_views,
)
from thegame_env.compiled import inlined, kernel, lowest_bit
from thegame_env.engine import mask_into
from thegame_env.layout import P_CARDS
from thegame_env.observation import ENCODE_RELATIVE, ENCODERS, encode_batch, observation_spec
from thegame_env.rules import N_PILES, Table

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BIASED = ("pile", "context", "deep", "head_pile", "mix", "compare", "play", "end_context", "end")
"""Layers with weight and bias."""
PLAIN = ("head_context", "around", "after", "end_after", "others")
"""Layers with a weight alone."""
OTHERS = 0.1
"""Factor of the sum over the plays of all other cards."""


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
def tell_plays(plays, words, facts, piles, gap, around, after, mix, mix_bias, told):
    """Compute what each play says of itself, the second layer of the action head.

    Args:
        plays: See `play_features.Plays`, as the following two.
        words: See there.
        facts: See there.
        piles: float32[B, K, head], what pile and context add to the first layer.
        gap: float32[N + 1, head], what the gap adds.
        around: float32[2 * AROUND, head], what each own and unseen card around it adds.
        after: float32[FACTS, head], what the facts add.
        mix: float32[head, mix].
        mix_bias: float32[mix].
        told: Out, float32[n, mix].
    """
    near, hidden = np.empty((2, gap.shape[1]), np.float32), np.empty(gap.shape[1], np.float32)
    last = -1
    for i in range(plays.shape[0]):
        table, pile, held = plays[i, TABLE], plays[i, PILE], plays[i, HELD]
        if held != last:
            near[:] = np.float32(0.0)
            for part in range(4):
                _add(words[held, part], around, AROUND * (part & 1), near[part >> 1])
            last = held
        for j in range(hidden.shape[0]):
            hidden[j] = near[pile >> 1, j] + piles[table, pile, j] + gap[plays[i, GAP], j]
        for f in range(facts.shape[1]):
            x = facts[i, f]
            if x != np.float32(0.0):
                for j in range(hidden.shape[0]):
                    hidden[j] += x * after[f, j]
        told[i] = mix_bias
        for j in range(hidden.shape[0]):
            x = hidden[j]
            if x > np.float32(0.0):
                for k in range(told.shape[1]):
                    told[i, k] += x * mix[j, k]
        for k in range(told.shape[1]):
            told[i, k] = max(told[i, k], np.float32(0.0))


@kernel
def score_plays(starts, plays, told, cards, compare, bias, others, play, play_bias, sums, logits):
    """Score the plays by what they and the plays of all other cards say of themselves.

    Args:
        starts: See `play_features.Plays`, as the following one.
        plays: See there.
        told: float32[n, mix], see `tell_plays`.
        cards: N.
        compare: float32[mix, mix].
        bias: float32[mix].
        others: float32[mix, mix].
        play: float32[mix].
        play_bias: float32[1].
        sums: float32[B, mix], zeros; what all plays of a position say, times OTHERS, is added.
        logits: Changed where a play is legal, float32[B, A].
    """
    width = told.shape[1]
    rest, hidden = np.empty(width, np.float32), np.empty(width, np.float32)
    for i in range(logits.shape[0]):
        for at in range(starts[i], starts[i + 1]):
            for k in range(width):
                sums[i, k] += OTHERS * told[at, k]
        begin = starts[i]
        while begin < starts[i + 1]:
            stop = begin
            rest[:] = sums[i]
            while stop < starts[i + 1] and plays[stop, HELD] == plays[begin, HELD]:
                for k in range(width):
                    rest[k] -= OTHERS * told[stop, k]
                stop += 1
            for at in range(begin, stop):
                hidden[:] = bias
                for j in range(width):
                    for k in range(width):
                        hidden[k] += told[at, j] * compare[j, k] + rest[j] * others[j, k]
                total = play_bias[0]
                for k in range(width):
                    total += max(hidden[k], np.float32(0.0)) * play[k]
                logits[i, plays[at, PILE] * cards + plays[at, CARD]] = total
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
    """Logits of the actions of many views, play by play.

    Args:
        table: What is played; the network must have been trained on equally many cards.
        weights: `NAME.weight` float32[out, in] of every layer, and its `NAME.bias` float32[out].

    Raises:
        ValueError: A layer is missing or has the wrong shape.
    """

    def __init__(self, table: Table, weights: Mapping[str, Floats]) -> None:
        spec, cards = observation_spec("relative", table), table.rules.cards
        self._size, self._block = spec.size, spec.pile_size
        self._trick = table.rules.trick
        self._actions = table.rules.n_actions
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
            "after": (FACTS, head),
            "end_after": (FACTS, mix),
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
        out = np.zeros((len(rows), self._actions), np.float32)
        sets, tops = np.empty((len(rows), 4), np.int64), np.empty((len(rows), N_PILES), np.int64)
        sets_of_views(rows, p, sets, tops)
        plays = plays_of(sets, tops, int(p[P_CARDS]), self._trick)
        sums = self._score(plays, piles, int(p[P_CARDS]), out)
        ends += sums @ self._weights["others"] + plays.now @ self._weights["end_after"]
        out[:, -1:] = self._layer("end", _relu(ends))
        mask_scores(rows, p, np.empty(self._actions, np.int8), out)
        return out

    def _score(self, plays: Plays, piles: Floats, cards: int, out: Floats) -> Floats:
        """Write the scores of the legal plays into `out`; what all plays say, float32[B, mix]."""
        weights, biases = self._weights, self._biases
        told = np.empty((len(plays.plays), len(biases["mix"])), np.float32)
        sums = np.zeros((len(out), len(biases["mix"])), np.float32)
        tell_plays(
            plays.plays, plays.words, plays.facts, piles, self._gap, weights["around"],
            weights["after"], weights["mix"], biases["mix"], told,
        )  # fmt: skip
        score_plays(
            plays.starts, plays.plays, told, cards, weights["compare"], biases["compare"],
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
        self._actions = actions
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
        mask_scores(rows, p, np.empty(self._actions, np.int8), x)
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
        raise ValueError(f"the weights lack {name}: they are no policy, or an older network's")
    return weights[name]
