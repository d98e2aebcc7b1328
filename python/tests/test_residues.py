"""Units `ozaki2:`: the papers' text again in Python's integers and fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

import mmafuzz

S8 = [256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181, 179, 173]
FP8 = [1089, 1024, 961, 841, 625, 529, 511, 509, 503, 499, 491, 487, 481, 479, 467, 463, 461, 457, 449, 443]


def exponent_within(limit, number, power):
    """The greatest e with 2^(power e) * number <= limit."""
    e = 0
    while Fraction(2) ** (power * e) * number > limit:
        e -= 1
    while Fraction(2) ** (power * (e + 1)) * number <= limit:
        e += 1
    return e


def ilogb(x):
    return math.frexp(x)[1] - 1


def fast_scales(lines, product):
    return [exponent_within(Fraction(product - 1, 2), sum(Fraction(float(x)) ** 2 for x in line), 2) for line in lines]


def accurate_scales(a, b, product):
    """Of rows of a and columns of b: the leading six bits of magnitudes, rounded up, are multiplied."""

    def leading(lines):
        tops = [ilogb(np.abs(line).max()) for line in lines]
        ups = [[math.ceil(Fraction(float(abs(x))) * Fraction(2) ** (5 - top)) for x in line] for line, top in zip(lines, tops)]
        return tops, np.array(ups, dtype=object)

    (tops_a, up_a), (tops_b, up_b) = leading(a), leading(b)
    bound = up_a @ up_b.T
    half = Fraction(product - 1, 2)
    of_a = [5 - top + exponent_within(half, int(row.max()), 2) for top, row in zip(tops_a, bound)]
    of_b = [5 - top + exponent_within(half, int(column.max()), 2) for top, column in zip(tops_b, bound.T)]
    return of_a, of_b


def integers(lines, scales):
    return np.array([[math.trunc(Fraction(float(x)) * Fraction(2) ** s) for x in line] for line, s in zip(lines, scales)], dtype=object)


def reconstructed(product, moduli, exponent, single):
    """GEMMul8's sum of weighted residues in pairs of fp64 numbers; a fused multiply-add rounds once. A residue of half of
    1,024 is positive; 1/P is the nearest number."""

    def centred(p):
        residue = product % p
        return residue - (p if 2 * residue > p or 2 * residue == p == 256 else 0)

    total = math.prod(moduli)
    weights = [total // p * pow(total // p, -1, p) for p in moduli]
    bits = 53 - (sum(p // 2 for p in moduli) - 1).bit_length()
    unit = max(max(weights).bit_length() - bits, 0)
    if single:  # as for SGEMM: one fp64 number for each weight and for the product
        total_sum = 0.0
        for p, weight in zip(moduli, weights):
            total_sum = float(Fraction(float(weight)) * centred(p) + Fraction(total_sum))
        multiple = -round(total_sum * float(Fraction(1, total)))
        return math.ldexp(float(Fraction(multiple) * Fraction(float(total)) + Fraction(total_sum)), exponent)
    high_sum = low_sum = 0.0
    for p, weight in zip(moduli, weights):
        residue = centred(p)
        high = weight >> unit << unit
        high_sum = float(Fraction(high) * residue + Fraction(high_sum))
        low_sum = float(Fraction(float(weight - high)) * residue + Fraction(low_sum))
    total_high = float(total)
    total_low = float(total - int(total_high))
    multiple = -round(high_sum * float(Fraction(1, total)))
    rest = float(Fraction(multiple) * Fraction(total_high) + Fraction(high_sum)) + low_sum
    return math.ldexp(float(Fraction(multiple) * Fraction(total_low) + Fraction(rest)), exponent)


def expected(a, b, moduli, accurate, exact, dtype):
    total = math.prod(moduli)
    if accurate:
        of_a, of_b = accurate_scales(a, b.T, total)
    else:
        of_a, of_b = fast_scales(a, total), fast_scales(b.T, total)
    product = integers(a, of_a) @ integers(b.T, of_b).T
    d = np.zeros(product.shape, dtype)
    for i, j in np.ndindex(*product.shape):
        x = int(product[i, j])
        assert 2 * abs(x) < total
        if exact:
            d[i, j] = float(Fraction(x) / Fraction(2) ** (of_a[i] + of_b[j])) if dtype == np.float64 else np.nan
        else:
            d[i, j] = reconstructed(x, moduli, -(of_a[i] + of_b[j]), single=dtype == np.float32 or len(moduli) <= (6 if 255 in moduli else 5))
    return d


def matrices(seed, m, k, n, dtype=np.float64):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    a *= np.exp2(rng.integers(-8, 9, (m, k)))
    return a.astype(dtype), b.astype(dtype)


@pytest.mark.parametrize("accurate", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("narrow,count", [("s8", 2), ("s8", 7), ("s8", 15), ("s8", 20), ("e4m3", 5), ("e4m3", 12), ("e4m3", 20)])
def test_dgemm(narrow, count, exact, accurate):
    a, b = matrices(count, 4, 37, 3)
    unit = f"ozaki2:dgemm.{narrow}?moduli={count},sum={'exact' if exact else 'fp64'},scaling={'accurate' if accurate else 'fast'}"
    moduli = (S8 if narrow == "s8" else FP8)[:count]
    assert (mmafuzz.unit(unit).matmul(a, b) == expected(a, b, moduli, accurate, exact, np.float64)).all()


@pytest.mark.parametrize("narrow", ["s8", "e4m3"])
def test_sgemm(narrow):
    a, b = matrices(3, 4, 40, 5, np.float32)
    moduli = (S8[:8]) if narrow == "s8" else FP8[:6]
    assert (mmafuzz.unit(f"ozaki2:sgemm.{narrow}").matmul(a, b) == expected(a, b, moduli, False, False, np.float32)).all()


@pytest.mark.parametrize("moduli", [S8, FP8])
def test_moduli_are_pairwise_coprime(moduli):
    assert all(math.gcd(p, q) == 1 for i, p in enumerate(moduli) for q in moduli[:i])


def test_integers_within_range_are_exact():
    rng = np.random.default_rng(5)
    a, b = rng.integers(-(2**20), 2**20, (5, 64)).astype(float), rng.integers(-(2**20), 2**20, (64, 5)).astype(float)
    assert (mmafuzz.unit("ozaki2:dgemm.s8").matmul(a, b) == a @ b).all()
    assert (mmafuzz.unit("ozaki2:dgemm.e4m3").matmul(a, b) == a @ b).all()


def test_the_fast_modes_of_releases_are_not_invariant():
    """arXiv 2606.29129: what scaling keeps depends on the size of the numbers."""
    a, b = matrices(9, 8, 64, 8)
    for scaling, same in (("fast", True), ("accurate", True), ("fast2025", False), ("fast2026", False)):
        unit = mmafuzz.unit(f"ozaki2:dgemm.s8?scaling={scaling}")
        scaled = unit.matmul(a * 2.0**80, b) * 2.0**-80
        assert (scaled == unit.matmul(a, b)).all() == same, scaling


@pytest.mark.parametrize(
    "unit,reason",
    [("dgemm.s8?moduli=1", "2 to 20"), ("dgemm.s8?moduli=21", "2 to 20"), ("dgemm.s8?scaling=slow", "fast, accurate, fast2025 or fast2026"),
     ("dgemm.fp16", "unknown"), ("dgemm.e4m3?unit_k=128,on=model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32", "sums 64 products"),
     ("sgemm.s8", "takes 'op gemm a=fp32")],
)
def test_declined(unit, reason):
    a, b = matrices(1, 2, 8, 2)
    with pytest.raises(ValueError, match=reason):
        mmafuzz.unit(f"ozaki2:{unit}").matmul(a, b)
