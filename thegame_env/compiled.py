"""How kernels are compiled: two decorators, disk caches that are never stale, a word of warning.

numba notices a change in the file of a cached kernel, but not in the files of the kernels that it
inlined. So the cache of a package lies in a folder that is named after the contents of all kernel
files that its kernels can reach: other sources, other folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

HERE = Path(__file__).parent
CONSTANTS = ("layout.py", "rules.py", "compiled.py")
"""Files without kernels whose values kernels freeze."""
KEPT = 4
"""Cache folders kept a package: those of the newest sources."""


def kernel(function: F) -> F:
    """Compile `function` with numba on its first call: cached on disk, released from the GIL."""
    return _compiled(function)


def inlined(function: F) -> F:
    """A `kernel` that is always inlined into its callers: for the small ones on the hot path.

    An array argument is passed as seven words, so that a call costs more than most of these do.
    """
    return _compiled(function, forceinline=True)


def _compiled(function: F, **options: Any) -> F:
    folder = _cache_folder(Path(function.__code__.co_filename).parent)
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        compiled: F = numba.njit(
            cache=True, nogil=True, boundscheck=False, error_model="numpy", **options
        )(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled


@functools.cache
def _cache_folder(package: Path) -> Path:
    """The cache folder of a package's kernels as its sources are now; older ones are removed."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for folder in dict.fromkeys((HERE, package)):
        for source in sorted(folder.glob("*.py")):
            text = source.read_bytes()
            if source.name in CONSTANTS or b"\n@kernel" in text or b"\n@inlined" in text:
                digest.update(source.name.encode() + text)
    parent = _writable(package / "__pycache__", package.name) / "kernels"
    folder = parent / digest.hexdigest()
    if not folder.is_dir():
        global _COLD
        _COLD = True
        _remove_old(parent)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _writable(folder: Path, name: str) -> Path:
    """The folder, or one in the user's cache where it cannot be written (a system install)."""
    try:
        folder.mkdir(exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "thegame" / name


def _remove_old(parent: Path) -> None:
    if parent.is_dir():
        folders = sorted(parent.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for folder in folders[: max(len(folders) - KEPT + 1, 0)]:
            shutil.rmtree(folder, ignore_errors=True)


_COLD = False


def warn_if_cold() -> None:
    """Say once, on stderr, that the kernels are about to be compiled (only on a first start)."""
    global _COLD
    if _COLD:
        _COLD = False
        print("thegame: compiling the game's kernels, once (up to a minute) ...", file=sys.stderr)


@intrinsic
def popcount(typingctx: Any, word: Any) -> Any:
    """Number of set bits of an int64 word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def lowest_bit(typingctx: Any, word: Any) -> Any:
    """Index of the lowest set bit of an int64 word; 64 if none is set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), codegen


@intrinsic
def highest_bit(typingctx: Any, word: Any) -> Any:
    """Index of the highest set bit of an int64 word; -1 if none is set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.int64), codegen


@intrinsic
def reverse_bits(typingctx: Any, word: Any) -> Any:
    """The int64 word with its 64 bits in reverse order."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitreverse(args[0])

    return types.int64(types.int64), codegen
