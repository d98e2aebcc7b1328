#!/usr/bin/env python3
"""The Ozaki scheme II against what its authors measured on GPUs, on the same matrices: bench/gemmul8.csv.

Their matrices are drawn by cuRAND's XORWOW with one sequence an element. Prints the greatest
relative error of an element, published and of the units `ozaki2:` here. An ulp of a GPU's exp or sin moves it where few bits
are left.
Usage: PYTHONPATH=build/release/python bench/residue_accuracy.py [product or GPU ...], as in dgemm.e4m3"""

import csv
import pathlib
import sys

import numpy as np

import mmafuzz


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


def drawn_matrix(seed, rows, columns, phi, dtype):
    """Column by column: (uniform - 0.5) * exp(phi * normal), of float rounded at each step."""
    x0, x1, *y = (x.astype(np.uint64) for x in xorwow(seed, rows * columns, 6))
    unit = 2.0**-53
    rand = (x0 ^ (x1 << np.uint64(21))) * unit + unit / 2
    u = (y[0] ^ (y[1] << np.uint64(21))) * unit + unit / 2
    v = (y[2] ^ (y[3] << np.uint64(21))) * (2 * unit) + unit
    randn = (np.sin(np.pi * v) * np.sqrt(-2 * np.log(u))).astype(dtype)
    drawn = (rand.astype(dtype) - dtype(0.5)) * np.exp(randn * dtype(phi))
    return drawn.reshape(columns, rows).T.copy()


def main():
    path = pathlib.Path(__file__).with_name("gemmul8.csv")
    rows = list(csv.reader(line for line in path.open() if not line.startswith("#")))
    wanted = sys.argv[1:]
    print("| GPU | product | phi | scaling | moduli | published | here | ratio |\n|---|---|---|---|---|---|---|---|")
    ratios = []
    for gpu, product, size, seed_a, seed_b, phi, scaling, first, *published in rows[1:]:
        if wanted and product not in wanted and gpu not in wanted:
            continue
        size = int(size)
        dtype = np.float64 if product.startswith("dgemm") else np.float32
        a = drawn_matrix(int(seed_a), size, 1024, float(phi), dtype)
        b = drawn_matrix(int(seed_b), 1024, size, float(phi), dtype)
        exact = mmafuzz.unit("exact").matmul(a.astype(float), b.astype(float))
        for count, expected in enumerate(published, int(first)):
            unit = mmafuzz.unit(f"ozaki2:{product}?moduli={count},scaling={scaling}")
            # By tiles: a scale of fast modes depends on its own row or column alone. accurate has one tile.
            tiles = [[unit.matmul(a[i : i + 128], b[:, j : j + 128].copy()) for j in range(0, size, 128)] for i in range(0, size, 128)]
            error = np.abs((np.block(tiles) - exact) / exact).max()
            ratios.append(error / float(expected))
            print(f"| {gpu} | {product} | {phi} | {scaling} | {count} | {float(expected):.3g} | {error:.3g} | {ratios[-1]:.3f} |", flush=True)
    within = [sum(1 / f <= r <= f for r in ratios) for f in (1.005, 2)]
    print(f"\n{len(ratios)} figures: {within[0]} agree within 0.5 %, {within[1]} within a factor of two")


if __name__ == "__main__":
    main()
