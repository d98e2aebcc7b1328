"""References in rational arithmetic, written from docs/semantics.md and IEEE 754, not from the C++ code."""

import math
from fractions import Fraction

import numpy as np


def to_fp32(x: Fraction, toward_zero: bool) -> np.float32:
    """x rounded once to fp32, to nearest even or toward zero; finite results only."""
    if x == 0:
        return np.float32(0)
    magnitude = abs(x)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    quantum = Fraction(2) ** (max(exponent, -126) - 23)
    steps, rest = divmod(magnitude, quantum)
    if not toward_zero and (rest > quantum / 2 or (rest == quantum / 2 and steps % 2)):
        steps += 1
    return np.float32(math.copysign(float(steps * quantum), -1 if x < 0 else 1))


def exact_dot(a, b, c) -> np.float32:
    """The sum without any rounding, rounded once."""
    return to_fp32(sum((Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b)), Fraction(float(c))), False)


def _exponent(x: float, least: int) -> int:
    return max(math.frexp(x)[1] - 1, least)


def truncated_dot(a, b, c, block: int, bits: int, least: int = -14) -> np.float32:
    """fp16 products (least: the exponent of subnormals) and an fp32 c, block by block: addends are shifted to the
    greatest exponent, of products the sum of their factors' exponents, cut `bits` bits below it, summed, and the sum is
    cut to fp32."""
    total = np.float32(c)
    for first in range(0, len(a), block):
        addends = [(Fraction(float(total)), _exponent(float(total), -126))] if total else []
        for x, y in zip(a[first : first + block], b[first : first + block]):
            if x and y:
                addends.append(
                    (Fraction(float(x)) * Fraction(float(y)), _exponent(float(x), least) + _exponent(float(y), least))
                )
        if not addends:
            total = np.float32(0)
            continue
        quantum = Fraction(2) ** (max(e for _, e in addends) - bits)
        kept = sum(int(abs(v) / quantum) * (1 if v > 0 else -1) for v, _ in addends)
        total = to_fp32(kept * quantum, True)
    return total


def wide_fp16(rng, shape):
    """Numbers whose exponents spread over the whole range, some zero."""
    numbers = rng.choice([-1.0, 1.0], shape) * rng.uniform(1, 2, shape) * 2.0 ** rng.integers(-12, 12, shape)
    return np.where(rng.random(shape) < 0.1, 0, numbers).astype(np.float16)
