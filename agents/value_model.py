"""The learned afterstate value without torch: the network of `train/value_net.py` in numpy."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import CARDS, PILE, SHARED
from agents.value_bins import BINS
from thegame_env.rules import N_PILES

Floats = npt.NDArray[np.float32]
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
        joined = np.concatenate([encoded, seen, features[:, N_PILES * PILE + CARDS :]], axis=1)
        hidden = np.maximum(self._layer("body", joined), 0.0)
        logits = self._layer("head", np.maximum(self._layer("deep", hidden), 0.0))
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances
