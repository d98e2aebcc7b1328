"""Draws cases of matrix products: shapes around those where kernels switch, and numbers that no order of sums can round."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from ._product_case import Layout, Numbers, ProductCase, Special

#: Sizes of register tiles and cache blocks in kernels for CPUs, and thresholds of small-matrix paths.
_BLOCKS = (4, 6, 8, 12, 14, 16, 24, 32, 48, 64, 96, 128, 192, 240, 256, 320, 384, 512, 768, 1024)
#: Products of a case: most stay on one thread of a library, the largest do not.
_WORK = ((1 << 12, 0.6), (1 << 16, 0.25), (1 << 19, 0.11), (1 << 22, 0.04))
_MOST_WORK_OF_REALS = 1 << 14


@functools.cache
def _sizes() -> tuple[np.ndarray, ...]:
    """Small sizes; blocks and small multiples of them, one less, one more; primes."""
    near = {b * times + off for b in _BLOCKS for times in (1, 2, 3) for off in (-1, 0, 1)}
    primes = [p for p in range(2, 1500) if all(p % d for d in range(2, int(p**0.5) + 1))]
    return np.arange(1, 21), np.array(sorted(near)), np.array(primes)


def _size(rng: np.random.Generator, most: int) -> int:
    if rng.random() < 0.12:
        return 1
    sizes = _sizes()[rng.choice(3, p=(0.4, 0.45, 0.15))]
    fitting = sizes[sizes <= most]
    return int(rng.choice(fitting)) if len(fitting) else 1


def _shape(rng: np.random.Generator) -> tuple[int, int, int]:
    works, chances = zip(*_WORK)
    work = int(rng.choice(works, p=chances))
    left, sizes = work, []
    for _ in range(3):
        sizes.append(_size(rng, min(left, 3100)))
        left //= sizes[-1]
    m, n, k = (sizes[i] for i in rng.permutation(3))
    if rng.random() < 0.2:  # square operands: where rows are taken for columns, the shapes still fit
        square = int(rng.integers(3))
        if square != 0:
            n = k = min(n, k)
        if square != 1:
            m = k = min(m, k)
            n = k if square == 2 else n
    return m, n, k


def _few_terms(rng: np.random.Generator, a: np.ndarray, terms: int) -> None:
    """Leaves `terms` numbers of each row of a, at random places; the rest becomes zero."""
    order = np.argsort(rng.random(a.shape), axis=1)
    np.put_along_axis(a, order[:, terms:], 0, axis=1)


def _integers(rng: np.random.Generator, shape: tuple[int, int, int], numbers: Numbers, alpha: int) -> tuple[np.ndarray, np.ndarray]:
    """a and b. Half of the format's room is theirs, the other half is for beta * c."""
    m, n, k = shape
    room = max(1, numbers.greatest("c") // 2 // max(1, abs(alpha)))
    kind = rng.choice(["ones", "units", "one-hot a", "one-hot b", "powers", "integers"])
    most = [numbers.greatest("a") // max(1, abs(alpha)), numbers.greatest("b")]
    bits = [1, 1]  # magnitudes of a and b
    if kind == "one-hot a":
        bits[1] = min(most[1], room)
    elif kind == "one-hot b":
        bits[0] = min(most[0], room)
    elif kind in ("powers", "integers"):
        first = int(rng.integers(0, room.bit_length()))
        bits = [max(1, min(1 << first, most[0])), 1]
        bits[1] = max(1, min(most[1], room // bits[0] // int(rng.integers(1, k + 2))))
    drawn = []
    for name, size, magnitude in (("a", (m, k), bits[0]), ("b", (k, n), bits[1])):
        if kind == "ones":
            x = np.ones(size, np.int64)
        elif kind == "powers":
            x = 1 << rng.integers(0, magnitude.bit_length(), size)
        else:
            x = rng.integers(1, magnitude, size, endpoint=True) if kind != "integers" else rng.integers(0, magnitude, size, endpoint=True)
        if kind != "ones" and numbers.is_signed(name) and numbers.is_signed("c"):
            x = x * rng.choice((-1, 1), size)
        drawn.append(x)
    a, b = drawn
    terms = 1 if kind == "one-hot a" else max(1, room // (bits[0] * bits[1]))
    if kind == "one-hot b":
        turned = b.T.copy()
        _few_terms(rng, turned, 1)
        b = np.ascontiguousarray(turned.T)
    elif terms < k:
        _few_terms(rng, a, terms)
    return a, b


def _layout(rng: np.random.Generator, strides: str) -> Layout:
    if strides == "none":
        return Layout()
    step = 1
    if strides == "any" and rng.random() < 0.2:
        step = int(rng.choice((-1, 2, -2)))
    return Layout(
        by_columns=bool(rng.random() < 0.5),
        padding=int(rng.choice((0, 0, 0, 1, 2, 3, 5, 8, 16))),
        offset=int(rng.choice((0, 0, 0, 1, 2, 3, 5, 7))),
        step=step,
    )


def _special(rng: np.random.Generator, shape: tuple[int, int, int], updates: bool, numbers: Numbers) -> Special | None:
    """One that the matrix and the result have; NaN in place of an infinity that they have not."""
    m, n, k = shape
    matrix = str(rng.choice(["a", "b", "c"] if updates else ["a", "b"]))
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[matrix]
    value = float(rng.choice((np.nan, np.inf, -np.inf)))
    last = rng.random() < 0.5  # edges are where kernels differ
    row = rows - 1 if last else int(rng.integers(rows))
    column = columns - 1 if last else int(rng.integers(columns))
    for one in (value, np.nan):
        if numbers.holds(matrix, one) and numbers.holds("c", one):
            return Special(matrix, row, column, one)
    return None


def draw(rng: np.random.Generator, numbers: Numbers, form: str, strides: str, many_threads: bool) -> ProductCase:
    """A case for a product of that form. strides: 'any', 'blas' (rows or columns are contiguous) or 'none'."""
    updates = form == "update"
    shape = m, n, k = _shape(rng)
    if updates and rng.random() < 0.02:
        shape = m, n, k = m, n, 0
    signed = all(numbers.is_signed(x) for x in "abc")
    alpha = beta = 1
    if not updates:
        beta = 0
    else:
        if rng.random() < 0.4:
            alpha = int(rng.choice((-1, 2, -2, 0, 3) if signed else (2, 0, 3)))
        beta = int(rng.choice((0, 0, 0, 1, 1, -1 if numbers.is_signed("c") else 1, 2, 3)))
    is_real = numbers.is_float and k > 0 and m * n * k <= _MOST_WORK_OF_REALS and rng.random() < 0.15
    is_real = is_real and numbers.has_fractions(k + 4)
    if is_real:
        alpha, beta = 1, min(1, abs(beta))
        fraction = numbers.steps("a")  # of p bits: all of them, in [1/2, 1), so that nothing underflows
        a = rng.integers(fraction // 2, fraction, (m, k)) * rng.choice((-1.0, 1.0), (m, k)) / fraction
        fraction = numbers.steps("b")
        b = rng.integers(fraction // 2, fraction, (k, n)) * rng.choice((-1.0, 1.0), (k, n)) / fraction
        c: np.ndarray = rng.integers(1, 5, (m, n)).astype(np.float64)
    else:
        a, b = _integers(rng, shape, numbers, alpha)
        most = numbers.greatest("c") // 2 // max(1, abs(beta))
        c = rng.integers(-most if numbers.is_signed("c") else 0, most, (m, n), endpoint=True)
    layouts = (_layout(rng, strides), _layout(rng, strides), _layout(rng, strides))
    special = None
    if numbers.is_float and not is_real and k and rng.random() < 0.15:
        special = _special(rng, shape, updates, numbers)
        if special is not None and rng.random() < 0.5:  # infinity or NaN times zero
            if special.matrix == "a":
                b[special.column, int(rng.integers(n))] = 0
            elif special.matrix == "b":
                a[int(rng.integers(m)), special.row] = 0
    unset_c = numbers.is_float and beta == 0 and form != "product" and special is None and bool(rng.random() < 0.5)
    threads = int(rng.choice((1, 1, 2, 3, 4))) if many_threads else 1
    case = ProductCase(numbers, a, b, c, alpha, beta, layouts, special, unset_c, threads, is_real)
    # Half of the room of a format as narrow as e2m1 is too little for alpha.
    return case if is_real or case.is_exact() else replace(case, c=np.zeros_like(c))
