#!/usr/bin/env python3
"""Rates of DGEMM by residues in s8 on this CPU, `ozaki2:dgemm.s8`, beside NumPy's matmul, which is OpenBLAS: the same matrices in
one run, on one thread, the best of several turns.

Needs the Python package. Prints rows of a table: GFLOP a second (2 m n k).
Usage: PYTHONPATH=build/release/python OPENBLAS_NUM_THREADS=1 bench/residue_rate.py [turns, default 3]"""
import os
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402  (after the number of threads)

import mmafuzz  # noqa: E402

SIZES = (64, 128, 256, 512)  # an op has at most 2^18 elements a matrix
MODULI = (12, 15)


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(f"| n = m = k | OpenBLAS | {' | '.join(f'{count} moduli' for count in MODULI)} |\n|---|---|{'---|' * len(MODULI)}")
    for n in SIZES:
        rng = np.random.default_rng(n)
        a, b, c = rng.standard_normal((n, n)), rng.standard_normal((n, n)), np.zeros((n, n))
        calls = [lambda: a @ b]
        for count in MODULI:
            unit = mmafuzz.unit(f"ozaki2:dgemm.s8?moduli={count}")
            calls.append(lambda unit=unit: unit.evaluate(f"gemm a=fp64 b=fp64 c=fp64 d=fp64 m={n} n={n} k={n}", a[None], b[None], c[None], threads=1))
        best = [1e9] * len(calls)
        for _ in range(turns):
            for i, call in enumerate(calls):
                start = time.perf_counter()
                call()
                best[i] = min(best[i], time.perf_counter() - start)
        print(f"| {n} | " + " | ".join(f"{2 * n**3 / seconds / 1e9:.1f}" for seconds in best) + " |", flush=True)


if __name__ == "__main__":
    main()
