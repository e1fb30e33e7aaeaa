"""The trained policies without torch: the networks of `train/policy_network.py` in numpy.

`PolicyModel` scores *gaps*: for each pile, how good a card would be that lies 1, 2, ... N beyond
its top, or at the trick. `gap_table` says at which gap each card lies, and so turns those scores
into the scores of plays. `PlainModel` is the ordinary network that it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from thegame_env.compiled import kernel
from thegame_env.engine import mask_into
from thegame_env.layout import P_CARDS, V_TOPS
from thegame_env.observation import ENCODE_RELATIVE, ENCODERS, encode_batch, observation_spec
from thegame_env.rules import N_PILES, Table

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]

BIASED = ("pile", "context", "deep", "head_pile", "gaps", "end")
"""Layers with weight and bias."""
PLAIN = ("head_context",)
"""Layers with a weight alone."""


def gap_table(cards: int, trick: int) -> Int64:
    """At which gap each card lies, by direction and room: int64[2, N + 1, N].

    Entry [d, r, i] speaks of card i + 2 and a pile that ascends (d = 0) or descends (d = 1) with r
    card values beyond its top: gap - 1 for a card beyond the top, N for the trick's card. Cards
    that cannot be laid stand at N too; they are masked out.
    """
    room, index = np.arange(cards + 1)[:, None], np.arange(cards)
    ascending = index + 1 - cards + room
    descending = room - index
    gaps = np.stack([ascending, descending])
    return np.where(gaps >= 1, gaps - 1, cards)


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
def spread_scores(rows, p, table, gaps, ends, masks, logits):
    """Turn scores of gaps into logits of actions.

    Args:
        rows: int64[n, VIEW_ROW].
        p: Parameter row.
        table: `gap_table`.
        gaps: float32[n, K, N + 1].
        ends: float32[n], END_TURN.
        masks: Work space, int8[A].
        logits: Out, float32[n, A]; minus infinity where an action is illegal.
    """
    cards = p[P_CARDS]
    for i in range(rows.shape[0]):
        row = rows[i]
        mask_into(row, p, masks)
        for pile in range(N_PILES):
            top = row[V_TOPS + pile]
            room = cards + 1 - top if pile < 2 else top - 2
            at = table[pile >> 1, room]
            for card in range(cards):
                action = pile * cards + card
                logits[i, action] = gaps[i, pile, at[card]] if masks[action] else -np.inf
        logits[i, N_PILES * cards] = ends[i] if masks[N_PILES * cards] else -np.inf


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
        self._check(cards)

    def _check(self, cards: int) -> None:
        shape = {name: weight.shape for name, weight in self._weights.items()}
        pile, context, deep = shape["pile"][1], shape["context"][1], shape["deep"][1]
        head = shape["head_pile"][1]
        expected = {
            "pile": (self._block, pile),
            "context": (N_PILES * pile + self._size - N_PILES * self._block, context),
            "deep": (context, deep),
            "head_pile": (pile, head),
            "head_context": (deep, head),
            "gaps": (head, cards + 1),
            "end": (deep, 1),
        }
        for name, wanted in expected.items():
            if shape[name] != wanted or (name in BIASED and self._biases[name].shape != wanted[1:]):
                raise ValueError(f"layer {name} has shape {shape[name]}, this table needs {wanted}")

    def scores(self, observations: Floats) -> tuple[Floats, Floats]:
        """float32[n, size] -> scores of gaps float32[n, K, N + 1] and of END_TURN float32[n]."""
        n, split = len(observations), N_PILES * self._block
        blocks = observations[:, :split].reshape(n * N_PILES, self._block)
        codes = _relu(self._layer("pile", blocks))
        joined = np.concatenate([codes.reshape(n, -1), observations[:, split:]], axis=1)
        context = _relu(self._layer("deep", _relu(self._layer("context", joined))))
        hidden = self._layer("head_pile", codes).reshape(n, N_PILES, -1)
        hidden += (context @ self._weights["head_context"])[:, None]
        gaps = self._layer("gaps", _relu(hidden).reshape(n * N_PILES, -1))
        return gaps.reshape(n, N_PILES, -1), self._layer("end", context)[:, 0]

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
        gaps, ends = self.scores(observations)
        out = np.empty((len(rows), len(self._mask)), np.float32)
        spread_scores(rows, p, self._gap_table, gaps, ends, self._mask, out)
        return out


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
