"""A faster start and end for a command that runs only the game's own kernels, and once."""

from __future__ import annotations

import atexit
import gc
import importlib
import sys
from typing import Any

LIBRARY, USER = "scipy.linalg", "numba.np.arraymath"


def hurry() -> None:
    """Start and leave fast: for a process that answers once, by the game's own kernels.

    Nothing is garbage collected any more, at the exit neither: that would go through all that the
    imports make, again and again.
    """
    gc.disable()
    atexit.register(gc.freeze)
    without_linear_algebra()


def without_linear_algebra() -> None:
    """Let numba start without scipy's linear algebra, unless one of both is loaded already.

    At its first kernel numba imports it, so as to offer `np.dot` to kernels, which is a fifth of
    the start. None of the game's kernels multiplies matrices; in this process no other kernel can
    from then on. scipy itself can be imported afterwards as ever.
    """
    if LIBRARY in sys.modules or USER in sys.modules:
        return
    modules: dict[str, Any] = sys.modules
    modules[LIBRARY] = None  # what `import` takes for "there is no such module"
    try:
        importlib.import_module(USER)
    finally:
        del modules[LIBRARY]
