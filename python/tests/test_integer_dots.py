"""Dots of integers against NumPy's own arithmetic, for all pairs of formats, wrapped and clamped."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

WIDTHS = {"s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16}
CODES = {4: np.uint8, 8: np.uint8, 16: np.uint16}


def drawn(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Values, every other one an end of the format, and their codes."""
    width = WIDTHS[name]
    least = -(1 << width - 1) if name[0] == "s" else 0
    greatest = least + (1 << width) - 1
    values = rng.integers(least, greatest, shape, dtype=np.int64, endpoint=True)
    values = np.where(rng.random(shape) < 0.5, rng.choice([least, greatest], shape), values)
    return values, (values & ((1 << width) - 1)).astype(CODES[width])


@pytest.mark.parametrize("a, b", list(itertools.product(WIDTHS, WIDTHS)))
@pytest.mark.parametrize("saturate", [0, 1])
def test_integer_dots_are_those_of_numpy(a: str, b: str, saturate: int) -> None:
    rng = np.random.default_rng(3)
    k = 9
    (x, x_codes), (y, y_codes) = drawn(rng, a, (500, k)), drawn(rng, b, (500, k))
    c = rng.choice(np.array([-(2**31), 2**31 - 1, 0, -1, 77], np.int32), 500)
    exact = (x * y).sum(1) + c
    expected = np.clip(exact, -(2**31), 2**31 - 1) if saturate else (exact + 2**31) % 2**32 - 2**31
    op = f"a={a} b={b} c=s32 d=s32 saturate={saturate}"
    for name in ("integer", "integer:bigint"):
        d = mmafuzz.unit(name).dot(x_codes, y_codes, c, op=op)
        assert np.array_equal(d.astype(np.int64), expected), name


def test_arrays_of_four_bits_are_dots_of_s4() -> None:
    x = np.array([[-8, 7, 1]], ml_dtypes.int4)
    assert mmafuzz.unit("integer").dot(x, x, np.array([5], np.int32)).tolist() == [64 + 49 + 1 + 5]
