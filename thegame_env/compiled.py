"""How kernels are compiled: two decorators, disk caches that are never stale, a word of warning.

numba notices a change in the file of a cached kernel, but not in the files of the kernels that it
inlined. So the cache of a package lies in a folder that is named after the contents of all kernel
files that its kernels can reach: other sources, other folder. The environment variable
THEGAME_CACHE_DIR puts these folders elsewhere than beside the sources.
"""

from __future__ import annotations

import contextlib
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
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.types.misc import CPointer
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype

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

    An array argument is passed as seven words and counted as a reference, so that a call costs more
    than most of these do. Loops over a batch pass `row_of` instead.
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
    parent = _cache_root(package) / "kernels"
    folder = parent / digest.hexdigest()
    if not folder.is_dir():
        global _COLD
        _COLD = True
        _remove_old(parent)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _cache_root(package: Path) -> Path:
    """Where the package's caches lie: beside its sources, else (a system install) in ~/.cache."""
    if os.environ.get("THEGAME_CACHE_DIR"):
        return Path(os.environ["THEGAME_CACHE_DIR"]) / package.name
    folder = package / "__pycache__"
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "thegame" / package.name


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


@intrinsic
def row_of(typingctx: Any, rows: Any, index: Any) -> Any:
    """A pointer to row `index` of a C-contiguous array: read and written like the row itself.

    It has no length and keeps nothing alive, so it must stay within the kernel that holds the
    array; in return, passing it on costs one word and no reference count, which makes small kernels
    several times as fast. Of a vector it points to element `index`. An array that the kernel makes
    itself dies behind its last use, and another thread may then get its memory: `hold` it where its
    rows are done with.
    """
    if rows.layout != "C":
        raise TypingError("row_of needs a C-contiguous array")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        if signature.args[0].ndim == 1:
            return builder.gep(array.data, [args[1]])
        columns = cgutils.unpack_tuple(builder, array.shape)[1]
        return builder.gep(array.data, [builder.mul(args[1], columns)])

    return CPointer(rows.dtype)(rows, types.int64), codegen


@intrinsic
def hold(typingctx: Any, array: Any) -> Any:
    """Keep an array alive up to here: a last use that does nothing."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_dummy_value()

    return types.void(array), codegen


def _spreader(lanes: int) -> Any:
    @intrinsic
    def spread(typingctx: Any, out: Any, at: Any, word: Any) -> Any:
        dtype = out.dtype
        if isinstance(out, types.Array) and out.layout != "C":
            raise TypingError("bits are spread into C-contiguous arrays only")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            start = args[0]
            if isinstance(signature.args[0], types.Array):
                start = context.make_array(signature.args[0])(context, builder, start).data
            start = builder.gep(start, [args[1]])
            bits = builder.trunc(args[2], ir.IntType(lanes))
            bits = builder.bitcast(bits, ir.VectorType(ir.IntType(1), lanes))
            vector = ir.VectorType(context.get_data_type(dtype), lanes)
            widen = builder.uitofp if isinstance(dtype, types.Float) else builder.zext
            place = builder.bitcast(start, vector.as_pointer())
            builder.store(widen(bits, vector), place, align=as_dtype(dtype).itemsize)
            return context.get_dummy_value()

        return types.void(out, types.int64, types.int64), codegen

    return spread


spread_8, spread_32 = _spreader(8), _spreader(32)
"""`spread_n(out, at, word)`: write the lowest n bits of `word` as 0 and 1 to out[at : at + n].

One vector instruction or few, where a loop over the bits takes a dozen times as long. `out` is a
C-contiguous vector or a pointer; its bounds are not checked.
"""
