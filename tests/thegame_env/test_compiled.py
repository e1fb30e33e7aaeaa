"""The intrinsics behind the kernels, the sets written with them, and where kernels are cached."""

import random
import subprocess
import sys

import numpy as np
import pytest
from numba.core.errors import TypingError

from thegame_env.cards import write_bits, write_mask, write_set
from thegame_env.compiled import kernel, row_of, spread_8, spread_32
from thegame_env.engine import card_words

BEFORE = 7
"""Marks entries that must stay untouched."""


@kernel
def spread_at(out, at, word):
    spread_8(out, at, word)
    spread_32(row_of(out, 0), at + 8, word)


@kernel
def add_to_row(rows, index, value):
    row = row_of(rows, index)
    row[1] += value
    return row[0]


@kernel
def write_all(lo, hi, cards, floats, bytes_):
    write_set(lo, hi, cards, floats, 1)
    write_mask(lo, hi, cards, bytes_, 1)


@kernel
def write_word(word, size, out):
    write_bits(word, size, out, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_, np.int64])
def test_spread(dtype):
    word = 0x9F00C3A5 - 2**40
    out = np.zeros(44, dtype)
    spread_at(out, 2, word)
    bits = [(word >> i) & 1 for i in range(32)]
    assert out.astype(int).tolist() == [0, 0, *bits[:8], *bits, 0, 0]


def test_a_row_is_read_and_written_in_place():
    rows = np.arange(12, dtype=np.int64).reshape(4, 3)
    assert add_to_row(rows, 2, 100) == 6
    assert rows.tolist() == [[0, 1, 2], [3, 4, 5], [6, 107, 8], [9, 10, 11]]


def test_arrays_with_gaps_are_refused():
    rows = np.zeros((4, 6), np.int64)
    with pytest.raises(TypingError, match="C-contiguous"):
        add_to_row(rows[:, ::2], 2, 100)
    with pytest.raises(TypingError, match="C-contiguous"):
        spread_at(rows[0, ::2], 0, 1)


@pytest.mark.parametrize("size", range(65))
def test_write_bits_of_every_size(size):
    word = random.Random(size).getrandbits(64) - 2**63
    out = np.full(66, BEFORE, np.float32)
    write_word(word, size, out)
    bits = [(word >> i) & 1 for i in range(size)]
    assert out.tolist() == [BEFORE, *bits] + [BEFORE] * (65 - size)


@pytest.mark.parametrize("cards", range(1, 99))
def test_write_sets_of_every_size(cards):
    draw = random.Random(cards)
    held = {card for card in range(2, cards + 2) if draw.random() < 0.4} | {cards + 1}
    floats, bytes_ = np.full(100, BEFORE, np.float32), np.full(100, BEFORE, np.int8)
    write_all(*card_words(held), cards, floats, bytes_)
    bits = [int(card in held) for card in range(2, cards + 2)]
    for out in (floats, bytes_):
        assert out.tolist() == [BEFORE, *bits] + [BEFORE] * (99 - cards)


def test_the_cache_can_be_put_elsewhere(tmp_path):
    code = "import thegame_env.cards"
    env = {"THEGAME_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", code], check=True, env=env)
    assert [path.name for path in (tmp_path / "thegame_env").iterdir()] == ["kernels"]
