"""The learned afterstate value without torch: the network of `train/value_net.py` in numpy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import CARDS, PILE, SHARED
from agents.first_layer import Sums, first_layer
from agents.value_bins import BINS
from thegame_env.rules import N_PILES

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
LAYERS = ("pile", "cards", "body", "deep", "head")


class ValueModel:
    """Distribution of the cards that a game will leave, from the features of an afterstate.

    Args:
        weights: `NAME.weight` float32[out, in] and `NAME.bias` float32[out] for every layer.

    Raises:
        ValueError: A layer is missing or has the wrong shape.
    """

    def __init__(self, weights: Mapping[str, Floats]) -> None:
        for name in LAYERS:
            for part in (f"{name}.weight", f"{name}.bias"):
                if part not in weights:
                    raise ValueError(f"the weights lack {part}: this is not an afterstate value")
        self._layers = {
            name: (
                np.ascontiguousarray(weights[f"{name}.weight"].T, np.float32),
                np.asarray(weights[f"{name}.bias"], np.float32),
            )
            for name in LAYERS
        }
        self._check()
        self._sums = Sums(len(self._layers["pile"][1]), len(self._layers["cards"][1]))
        self._encoded: Floats = np.zeros((0, 0), np.float32)

    def _check(self) -> None:
        widths = {name: weight.shape for name, (weight, _) in self._layers.items()}
        body = N_PILES * widths["pile"][1] + widths["cards"][1] + SHARED
        expected = {
            "pile": PILE,
            "cards": CARDS,
            "body": body,
            "deep": widths["body"][1],
            "head": widths["deep"][1],
        }
        for name, inputs in expected.items():
            if widths[name][0] != inputs:
                raise ValueError(f"layer {name} has {widths[name][0]} inputs, not {inputs}")
        if widths["head"][1] != BINS:
            raise ValueError(f"the head has {widths['head'][1]} bins, not {BINS}")

    def _layer(self, name: str, x: Floats) -> Floats:
        weight, bias = self._layers[name]
        y: Floats = x @ weight
        y += bias
        return y

    def predict(self, features: Floats) -> Floats:
        """Probabilities of the bins of cards left: float32[n, SIZE] -> float32[n, BINS]."""
        n = len(features)
        piles = np.ascontiguousarray(features[:, : N_PILES * PILE]).reshape(n * N_PILES, PILE)
        cards = features[:, N_PILES * PILE : N_PILES * PILE + CARDS]
        encoded = np.maximum(self._layer("pile", piles), 0.0).reshape(n, -1)
        seen = np.maximum(self._layer("cards", cards), 0.0)
        shared = features[:, N_PILES * PILE + CARDS :]
        return self._body(np.concatenate([encoded, seen, shared], axis=1))

    def predict_plans(self, rows: Int64, starts: Int64, states: Int64, p: Int64) -> Floats:
        """The same for the plans of n turns, without their feature vectors (see `first_layer`).

        Args:
            rows: int64[n, VIEW_ROW], views of the acting seats.
            starts: int64[n + 1]; the plans of turn i are starts[i]..starts[i + 1].
            states: int64[total, STATE], their afterstates.
            p: Parameter row of the table.
        """
        if len(states) > len(self._encoded):
            width = self._layers["body"][0].shape[0]
            self._encoded = np.zeros((len(states), width), np.float32)
        encoded = self._encoded[: len(states)]
        first_layer(
            rows, starts, states, p, *self._layers["pile"], *self._layers["cards"],
            *self._sums.arrays, encoded,
        )  # fmt: skip
        return self._body(encoded)

    def _body(self, encoded: Floats) -> Floats:
        hidden = self._layer("body", encoded)
        np.maximum(hidden, 0.0, out=hidden)
        deep = self._layer("deep", hidden)
        logits = self._layer("head", np.maximum(deep, 0.0, out=deep))
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits, out=logits)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances
