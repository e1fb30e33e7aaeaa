"""A network and the running mean of its weights.

The mean plays and is exported: a single gradient step makes the values of plans that differ by
little change places, which the mean over some hundred steps does not (Polyak averaging, Polyak and
Juditsky 1992).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch.optim.swa_utils import AveragedModel

from agents.value_model import ValueModel
from train.value_net import ValueNet

Arrays = dict[str, npt.NDArray[np.generic]]


class Averaged:
    """A network that learns, and the mean that follows it.

    Args:
        net: The network, with the weights that it begins with.
        decay: Of the mean, a gradient step; with 0 it is the network itself. After n steps it is
            (1 + n) / (10 + n) at most, so that the mean soon forgets what the run began with.

    Attributes:
        mean: float32[n, SIZE] -> float32[n, BINS], as the network; not to be trained.
    """

    def __init__(self, net: ValueNet, decay: float) -> None:
        self.net = net

        def moved(mean: torch.Tensor, new: torch.Tensor, steps: torch.Tensor | int) -> torch.Tensor:
            n = int(steps)
            return torch.lerp(new, mean, min(decay, (1.0 + n) / (10.0 + n)))

        self.mean = AveragedModel(net, avg_fn=moved)

    def follow(self) -> None:
        """Take the network's weights into the mean; after every gradient step."""
        self.mean.update_parameters(self.net)

    def model(self) -> ValueModel:
        """The mean as it is now, for play."""
        return ValueModel({name: value.copy() for name, value in self.weights().items()})

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """The mean's layers by name; the arrays are its own and change with it."""
        return {name: value.numpy() for name, value in self.mean.module.state_dict().items()}

    def take(self, name: str) -> Arrays:
        """What a later start goes on from: `NAME.net.LAYER`, `NAME.mean.LAYER` and `NAME.steps`."""
        arrays: Arrays = {f"{name}.mean.{key}": value for key, value in self.weights().items()}
        arrays[f"{name}.steps"] = np.array([int(self.mean.n_averaged)])
        for key, value in self.net.state_dict().items():
            arrays[f"{name}.net.{key}"] = value.numpy()
        return arrays

    def put(self, arrays: Mapping[str, npt.NDArray[np.generic]], name: str) -> None:
        """Restore what `take` took.

        Raises:
            ValueError: It is of another network.
        """
        for part, net in ("net", self.net), ("mean", self.mean.module):
            start = f"{name}.{part}."
            layers = {
                key.removeprefix(start): torch.from_numpy(value)
                for key, value in arrays.items()
                if key.startswith(start)
            }
            try:
                net.load_state_dict(layers)
            except RuntimeError:
                raise ValueError("the checkpoint is of another network") from None
        self.mean.n_averaged.fill_(int(arrays[f"{name}.steps"][0]))
