"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = (
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "stable_baselines3",
    "rlcard",
    "open_spiel",
)


def describe_machine() -> dict[str, object]:
    """Processor, cores, load, and the versions of Python and of the libraries measured."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: found for name in LIBRARIES if (found := _version(name))},
    }


def cpu_model() -> str:
    """The processor's name, as far as the system tells."""
    try:
        with open("/proc/cpuinfo") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
