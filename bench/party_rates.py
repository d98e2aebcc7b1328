#!/usr/bin/env python3
"""Rates of the parties that every search has, `exact` and `ieee`, on ops of all formats and of scales, lengths, roundings and switches, the
slowest first, in millions of cases a second on one thread. Dots have three orders of IEEE operations; the slowest counts. With several
builds their columns stand side by side, in the order in which they are named, and the last one's order of rows.

Usage: bench/party_rates.py [--seconds 0.1] [MMAFUZZ ..., default build/release/mmafuzz]"""

import argparse
import re
import subprocess

MORE = [
    "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
    "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
    "dot a=fp16 b=fp16 c=fp16 d=fp16 k=16",
    "dot a=e4m3 b=e4m3 c=fp16 d=fp16 k=32",
    "dot a=fp16 b=fp16 c=fp32 d=fp16 k=16",
    "dot a=bf16 b=bf16 c=bf16 d=bf16 k=16",
    "dot a=fp32 b=fp32 c=fp64 d=fp64 k=4",
    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=128",
    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16 round=up",
    "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16 ftz=1",
    "convert from=fp32 to=e4m3 saturate=1",
    "convert from=fp32 to=cfloat8_1_4_3:7",
    "convert from=bf16 to=cfloat8_1_5_2:15 round=stochastic seed=1",
    "convert from=fp64 to=fp16",
    "scalar fma format=fp32",
    "scalar fma format=fp64 round=toward_zero",
    "scalar mul format=fp32 round=down",
    "scalar add format=fp64 round=up",
    "scalar rem format=fp64",
]


def said(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def dots(program):
    """A dot of each format with itself, of the length that units have."""
    for line in said(program, "list", "formats").splitlines():
        name = line.split()[0]
        sum_in, k = {"fp64": ("fp64", 4), "fp32": ("fp32", 4)}.get(name, ("fp32", 16))
        yield f"dot a={name} b={name} c={sum_in} d={sum_in} k={k}"


def rates(program, op, seconds):
    units = "exact,ieee:serial,ieee:fma,ieee:pairwise" if op.startswith("dot") else "exact,ieee"
    table = said(program, "bench", "rate", "--op", f"op {op}", "--units", units, "--seconds", seconds)
    exact, *ieee = (float(rate) for rate in re.findall(r"([\d.]+) million", table))
    return exact, min(ieee)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=["build/release/mmafuzz"], metavar="MMAFUZZ")
    parser.add_argument("--seconds", default="0.1", help="for each unit and op")
    arguments = parser.parse_args()
    rows = []
    for op in [*dots(arguments.programs[-1]), *MORE]:
        measured = [rates(program, op, arguments.seconds) for program in arguments.programs]
        rows.append((min(measured[-1]), op, [f"{rate:.1f}" for pair in zip(*measured) for rate in pair]))
    columns = [party for party in ("exact", "ieee") for _ in arguments.programs]
    print(f"| op | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for _, op, figures in sorted(rows):
        print(f"| `{op}` | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
