"""cuBLAS's emulation of FP64 on an H200, bit for bit: the unit ozaki:dgemm.cublas, and a second text over rational numbers.

corpus/recorded/h200.cublas.npz is what bench/cublas_products.py wrote there: of each product the rows of a, the columns of b
and the elements that it holds; m and n are those of the whole, the rest of which is zeros."""

import collections
import functools
import json
import math
import os
import pathlib
from fractions import Fraction

import numpy as np
import pytest

import mmafuzz

FILE = np.load(pathlib.Path(__file__).parents[2] / "corpus/recorded/h200.cublas.npz")
ABOUT = json.loads(str(FILE["about"]))
VALUES = FILE["values"].view(np.float64)


def recorded():
    """(case, a, b, c, d) of each product."""
    at = 0

    def take(*shape):
        nonlocal at
        count = math.prod(shape)
        at += count
        return VALUES[at - count : at].reshape(shape)

    for case in ABOUT["cases"]:
        m, n, k = case["rows"], case["columns"], case["k"]
        yield case, take(m, k), take(k, n), take(m, n), take(m, n)
    assert at == len(VALUES)


CASES = list(recorded())


def unit_of(case):
    bits = case["bits"] or f"auto,offset={case['offset']}"
    return mmafuzz.unit(f"ozaki:dgemm.cublas?bits={bits}")


def op_of(case):
    code = {name: f"{np.float64(case[name]).view(np.uint64):016x}" for name in ("alpha", "beta")}
    shape = " ".join(f"{x}={case[x]}" for x in "mnk")
    return f"gemm a=fp64 b=fp64 c=fp64 d=fp64 {shape} alpha={code['alpha']} beta={code['beta']}"


def padded(x, rows, columns):
    return np.pad(x, ((0, rows - x.shape[0]), (0, columns - x.shape[1])))[None]


def same(x, y):
    return (np.ascontiguousarray(x).view(np.uint64) == np.ascontiguousarray(y).view(np.uint64)).all()


def is_native(case):
    """Whether cuBLAS left the product to native arithmetic."""
    return case["retained"] < 0 or case["bits"] == 0 and case["retained"] > 79


MOST_ELEMENTS, MOST_PRODUCTS = 262144, 65536  # of a matrix of a case, and along k; the second text has no such limit
FIT = [i for i, (case, *_) in enumerate(CASES)
       if case["k"] * max(case["m"], case["n"]) <= MOST_ELEMENTS and case["k"] <= MOST_PRODUCTS]


@pytest.mark.parametrize("index", FIT)
def test_the_unit_gives_what_cublas_gave(index):
    case, a, b, c, d = CASES[index]
    m, n, k = case["m"], case["n"], case["k"]
    operands = padded(a, m, k), padded(b, k, n), padded(c, m, n)
    if is_native(case):
        with pytest.raises(ValueError, match="has no answer"):
            unit_of(case).evaluate(op_of(case), *operands)
        return
    got = unit_of(case).evaluate(op_of(case), *operands)[0][: d.shape[0], : d.shape[1]]
    assert same(got, d), (case, got, d)


# A second text, after NVIDIA's example and the paper, over rational numbers; docs/ozaki.md, "What cuBLAS computes".


def scale(line):
    greatest = max(abs(float(x)) for x in line)
    if greatest == 0:
        return 0
    fraction, exponent = math.frexp(greatest)
    behind_leading = 2 * fraction - 1
    if greatest < 2.0**-1022:
        exponent, behind_leading = -1022, float(Fraction(greatest) * 2**1022)
    return exponent + (64 * behind_leading >= 63)


@functools.lru_cache(1 << 15)
def digits(x, e, slices):
    whole = int(Fraction(float(x)) * Fraction(2) ** (8 * slices - 1 - e))  # towards zero
    found = []
    for _ in range(slices - 1):
        low = (whole + 128) % 256 - 128
        found.append(low)
        whole = (whole - low) // 256
    return [whole, *reversed(found)]


def part_of_element(row, column, slices):
    e, f = scale(row), scale(column)
    x, y = (np.array([digits(float(v), s, slices) for v in line], dtype=object).T for line, s in ((row, e), (column, f)))
    pairs = 32768 // len(row)
    total = 0.0
    for diagonal in range(slices):
        order = [i if diagonal % 2 else diagonal - i for i in range(diagonal + 1)]
        for first in range(0, diagonal + 1, pairs):
            whole = sum(int(x[i] @ y[diagonal - i]) for i in order[first : first + pairs])
            total += math.ldexp(whole, -8 * diagonal)
    return float(np.ldexp(np.float64(total), e + f - 14))


def parts(m, n, k):
    if k < 1024:
        return [(0, k)]
    along = math.ceil(k / 128)
    count = max(min(along, math.ceil(32 / (math.ceil(m / 128) * math.ceil(n / 128)))), along // 64)
    tiles = [along // count + (part >= count - along % count) for part in range(count)]
    ends = [128 * x for x in np.cumsum(tiles)]
    return [(max(0, end - 128 * tile), min(k, end)) for end, tile in zip(ends, tiles, strict=True)]


def fused(x, y, z):
    return mmafuzz.unit("exact").evaluate("scalar fma format=fp64", *(np.array([v]) for v in (x, y, z)))[0]


def test_the_second_text_gives_what_cublas_gave():
    seen = collections.Counter()
    for case, a, b, c, d in CASES[:: 1 if "MMAFUZZ_NIGHTLY" in os.environ else 3]:
        if is_native(case) or case["alpha"] == 0 or not np.isfinite([case["alpha"], case["beta"]]).all():
            continue
        slices = math.ceil((case["retained"] + 1) / 8)
        for i, j in np.ndindex(*d.shape):
            if not np.isfinite(c[i, j]):
                continue
            with np.errstate(over="ignore"):
                element = case["beta"] * c[i, j] if case["beta"] else 0.0
            for first, last in parts(case["m"], case["n"], case["k"]):
                element = fused(case["alpha"], part_of_element(a[i, first:last], b[first:last, j], slices), element)
            if not np.isnan(d[i, j]):
                assert same(np.float64(element), d[i, j]), (case, i, j, element, d[i, j])
                seen[slices] += 1
    assert len(seen) > 10 and seen.total() > 1000


def test_bits_that_cublas_chooses():
    """54 and the exponent span capacity in blocks of 64."""
    checked = 0
    for case, a, b, _, _ in CASES:
        if case["bits"] or case["retained"] < 0 or not (np.abs(a).max(1).all() and np.abs(b).max(0).all()):
            continue

        def exponents(line):
            return np.where(line == 0, -(10**6), np.frexp(line)[1])

        span = 0
        for row in a:
            for column in b.T:
                x, y = exponents(row), exponents(column)
                blocks = [slice(at, at + 64) for at in range(0, case["k"], 64)]
                product = max(max(x[s].max() + y[s].min(), x[s].min() + y[s].max()) for s in blocks)
                span = max(span, x.max() + y.max() - product)
        if span < 10**5:
            assert case["retained"] == 54 + span + case["offset"], case
            checked += 1
        else:
            assert is_native(case)
    assert checked > 80
