#!/usr/bin/env python3
"""Does the coverage of an RTL simulation help the search? Cases until the flaw PLANTED_RARE of examples/verilog/fused_dot.v
is found, with the process telling features (built with --coverage) and without; the same seeds, one thread.

  bench/process_features.py build/release/mmafuzz [--seeds 8] [--most 6400000]

Needs verilator. A number is the first of 200000, 400000, ... cases in which a search of that length finds the flaw."""

import argparse
import pathlib
import statistics
import subprocess
import tempfile

EXAMPLE = pathlib.Path(__file__).resolve().parents[1] / "examples/verilog"
OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"


def built(folder, *more):
    command = ["verilator", "--cc", "--exe", "--build", "-O3", "-CFLAGS", "-O2", "-DPLANTED_RARE", *more, "-Mdir", str(folder),
               "-o", "fused_dot", str(EXAMPLE / "fused_dot.v"), str(EXAMPLE / "process.cc")]  # fmt: skip
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "fused_dot"


def found(mmafuzz, unit, cases, seed):
    """In the unit's folder, where the process leaves its coverage.dat."""
    done = subprocess.run([mmafuzz, "fuzz", "--op", OP, "--units", f"process:{unit},exact", "--cases", str(cases), "--seed",
                           str(seed), "--threads", "1", "--quiet"], cwd=unit.parent, capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.returncode == 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mmafuzz")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--most", type=int, default=6400000)
    arguments = parser.parse_args()
    mmafuzz = pathlib.Path(arguments.mmafuzz).resolve()
    with tempfile.TemporaryDirectory() as folder:
        units = {"without features": built(pathlib.Path(folder, "plain")),
                 "with features": built(pathlib.Path(folder, "told"), "--coverage")}  # fmt: skip
        needed = {name: [] for name in units}
        for seed in range(1, arguments.seeds + 1):
            for name, unit in units.items():
                cases = 200000
                while cases <= arguments.most and not found(mmafuzz, unit, cases, seed):
                    cases *= 2
                needed[name].append(cases if cases <= arguments.most else float("inf"))
                print(f"seed {seed}, {name}: " + (f"{cases:,}" if cases <= arguments.most else f"not in {arguments.most:,}"), flush=True)
        for name, all_cases in needed.items():
            print(f"{name}: median {statistics.median(all_cases):,}, found {sum(c < float('inf') for c in all_cases)} of {len(all_cases)}")


if __name__ == "__main__":
    main()
