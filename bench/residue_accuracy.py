#!/usr/bin/env python3
"""The Ozaki scheme II against what its authors measured on a GH200, on the same matrices: bench/gemmul8_gh200.csv.

Their matrices are (uniform - 0.5) * exp(phi * normal), drawn by cuRAND's XORWOW with one sequence an element; both have
the same seed. Prints the greatest relative error of each element, published and here, and how many bits of the unit's
results differ from this program's on a corner of the product (whole rows and columns cannot be given to it in time).
Usage: PYTHONPATH=build/release/python bench/residue_accuracy.py [phi ...]"""

import csv
import pathlib
import sys

import numpy as np

import mmafuzz

SIZE, SEED = 1024, 123456
MODULI = [256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199, 197, 193, 191, 181, 179, 173]


def xorwow(seed, count, draws):
    """The first draws of sequences 0 to count - 1, each 2^67 steps from the one before."""
    mask = 0xFFFFFFFF
    t0 = 1099087573 * ((seed & mask) ^ 0xAAD26B49) & mask
    t1 = 2591861531 * ((seed >> 32) ^ 0xF7DCEFDD) & mask
    state = [(123456789 + t0) & mask, 362436069 ^ t0, (521288629 + t1) & mask, 88675123 ^ t1, (5783321 + t0) & mask]
    counter = (6615241 + t1 + t0) & mask

    def step(v):
        t = v[0] ^ (v[0] >> np.uint32(2))
        last = (v[4] ^ (v[4] << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
        return [v[1], v[2], v[3], v[4], last]

    def bits_of(v):
        return np.concatenate([(x[None, :] >> np.arange(32, dtype=np.uint32)[:, None]) & 1 for x in v]).astype(np.uint8)

    def words_of(bits):
        weights = (1 << np.arange(32, dtype=np.uint64))[:, None]
        return [(bits[32 * i : 32 * i + 32] * weights).sum(0).astype(np.uint32) for i in range(5)]

    def times(x, y):
        return (x.astype(np.float32) @ y.astype(np.float32) % 2).astype(np.uint8)

    basis = np.eye(160, dtype=np.uint8)
    jump = bits_of(step(words_of(basis)))
    for _ in range(67):
        jump = times(jump, jump)
    states = bits_of([np.array([x], np.uint32) for x in state])
    while states.shape[1] < count:
        states = np.concatenate([states, times(jump, states)], 1)
        jump = times(jump, jump)
    v = words_of(states[:, :count])
    drawn = []
    for n in range(draws):
        v = step(v)
        drawn.append(v[4] + np.uint32((counter + 362437 * (n + 1)) & mask))
    return drawn


def drawn_matrix(phi):
    x0, x1, *y = (x.astype(np.uint64) for x in xorwow(SEED, SIZE * SIZE, 6))
    unit = 2.0**-53
    rand = (x0 ^ (x1 << np.uint64(21))) * unit + unit / 2
    u = (y[0] ^ (y[1] << np.uint64(21))) * unit + unit / 2
    v = (y[2] ^ (y[3] << np.uint64(21))) * (2 * unit) + unit
    randn = np.sin(np.pi * v) * np.sqrt(-2 * np.log(u))
    return ((rand - 0.5) * np.exp(randn * phi)).reshape(SIZE, SIZE).T.copy()  # column by column


def greatest_scales(limit, lines):
    """Of each line the greatest e with 4^e * (sum of squares) <= limit."""
    sums = (lines.astype(np.longdouble) ** 2).sum(1)
    return np.floor((np.log2(np.longdouble(limit)) - np.log2(sums)) / 2).astype(int)


def scales(scaling, a, b, product):
    top_a, top_b = (np.frexp(np.abs(x).max(1))[1] - 1 for x in (a, b))
    if scaling == "accurate":
        up_a, up_b = (np.ceil(np.ldexp(np.abs(x), (5 - top)[:, None])) for x, top in ((a, top_a), (b, top_b)))
        bound = up_a @ up_b.T
        half = np.log2(np.longdouble((product - 1) // 2))
        return tuple(5 - top + np.floor((half - np.log2(bound.max(axis))) / 2).astype(int)
                     for top, axis in ((top_a, 1), (top_b, 0)))
    if scaling == "fast":
        return greatest_scales((product - 1) // 2, a), greatest_scales((product - 1) // 2, b)
    half = float(np.log2(np.longdouble(product - 1))) / 2 - 1.5
    norms = [np.log2((x.astype(np.longdouble) ** 2).sum(1)).astype(float) / 2 for x in (a, b)]
    return tuple((np.minimum(np.floor(half - 1), np.floor(half - n)) - top).astype(int) for n, top in zip(norms, (top_a, top_b)))


def residues(lines, by, p):
    mantissa, exponent = np.frexp(lines)
    whole, shift = np.ldexp(mantissa, 53).astype(np.int64), exponent - 53 + by[:, None]
    kept = np.sign(whole) * (np.abs(whole) >> np.clip(-shift, 0, 63))
    powers = np.array([pow(2, int(e), p) for e in range(max(int(shift.max()), 0) + 1)])
    r = kept % p * powers[np.clip(shift, 0, None)] % p
    return np.where(2 * r >= p, r - p, r).astype(float)


def product_of(scaling, a, b, count):
    """d of rows a and columns b, as GEMMul8 reconstructs it in pairs of fp64 numbers."""
    moduli = MODULI[:count]
    total = int(np.prod([int(p) for p in moduli], dtype=object))
    of_a, of_b = scales(scaling, a, b, total)
    weights = [total // p * pow(total // p, -1, p) for p in moduli]
    bits = 53 - (sum(p // 2 for p in moduli) - 1).bit_length()
    unit = max(max(weights).bit_length() - bits, 0)
    high = low = 0.0
    for p, weight in zip(moduli, weights):
        c = residues(a, of_a, p) @ residues(b, of_b, p).T % p  # exact: sums below 2^24
        c = np.where(2 * c >= p, c - p, c)
        top = weight >> unit << unit
        high = high + float(top) * c
        low = low + float(weight - top) * c
    total_high = float(total)
    multiple = -np.rint(high * (1 / total_high)).astype(np.longdouble)
    rest = (multiple * np.longdouble(total_high) + high).astype(float) + low
    rest = (multiple * np.longdouble(total - int(total_high)) + rest).astype(float)
    return np.ldexp(rest, -(of_a[:, None] + of_b[None, :]))


def main():
    path = pathlib.Path(__file__).with_name("gemmul8_gh200.csv")
    rows = list(csv.reader(line for line in path.open() if not line.startswith("#")))
    counts = [int(n) for n in rows[0][2:]]
    wanted = [float(x) for x in sys.argv[1:]]
    print("| phi | scaling | moduli | published | here | ratio | bits that differ of the unit's corner |\n|---|---|---|---|---|---|---|")
    matrices = {}
    for phi, scaling, *published in rows[1:]:
        phi = float(phi)
        if wanted and phi not in wanted:
            continue
        if phi not in matrices:
            a = drawn_matrix(phi)
            matrices = {phi: (a, mmafuzz.unit("exact").matmul(a, a))}
        a, exact = matrices[phi]
        for count, expected in zip(counts, published):
            d = product_of(scaling, a, a.T.copy(), count)
            error = np.abs((d - exact) / exact)
            differ = "-"
            if scaling != "accurate":  # whose scales depend on the whole matrices
                i, j = np.unravel_index(error.argmax(), error.shape)
                lines, columns = np.unique([i, *range(15)]), np.unique([j, *range(15)])
                unit = mmafuzz.unit(f"ozaki2:dgemm.s8?moduli={count},scaling={scaling}")
                corner = unit.matmul(a[lines].copy(), a[:, columns].copy())
                differ = int((corner.view(np.int64) ^ d[np.ix_(lines, columns)].copy().view(np.int64) != 0).sum())
            print(f"| {phi} | {scaling} | {count} | {float(expected):.3g} | {error.max():.3g} | {error.max() / float(expected):.3f} | {differ} |", flush=True)


if __name__ == "__main__":
    main()
