#!/usr/bin/env python3
"""Rates of the parties that every search has: `exact` and `ieee`, on ops of many formats, scales, lengths, roundings and switches, the
slowest first, in millions of cases a second on one thread. Dots have three orders of IEEE operations; the slowest counts.

Usage: bench/party_rates.py [MMAFUZZ, default build/release/mmafuzz] [SECONDS for each, default 0.1]"""

import re
import subprocess
import sys

FORMATS = ("fp64", "fp32", "tf32", "fp16", "bf16", "e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "ue4m3", "e4m3fnuz", "e5m2fnuz", "s8", "u8",
           "cfloat8_1_4_3:7", "cfloat8_1_5_2:15", "shp:15", "uhp")  # fmt: skip
DOTS = [
    f"dot a={f} b={f} c={c} d={c} k={k}"
    for f in FORMATS
    for c, k in [("fp64", 4) if f == "fp64" else ("fp32", 4 if f == "fp32" else 16)]
] + [
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
]
OTHERS = [
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


def rates(program, op, units, seconds):
    said = subprocess.run([program, "bench", "rate", "--op", f"op {op}", "--units", ",".join(units), "--seconds", seconds],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if said.returncode:
        sys.exit(said.stderr)
    return [float(rate) for rate in re.findall(r"([\d.]+) million", said.stdout)]


def main():
    program, seconds = [*sys.argv[1:], *("build/release/mmafuzz", "0.1")[len(sys.argv) - 1 :]]
    rows = []
    for op in DOTS + OTHERS:
        exact, *ieee = rates(
            program,
            op,
            ["exact", *(("ieee:serial", "ieee:fma", "ieee:pairwise") if op in DOTS else ("ieee",))],
            seconds,
        )
        rows.append((min(exact, *ieee), f"| `{op}` | {exact:.1f} | {min(ieee):.1f} |"))
    print("| op | exact | ieee |\n|---|---|---|")
    print("\n".join(line for _, line in sorted(rows)))


if __name__ == "__main__":
    main()
