#!/usr/bin/env python3
"""Each planted quantizer is found within a stated number of blocks, and what is said of it names its flaw; nothing is found
on the right one. Usage: planted_quantizers_test.py MMAFUZZ"""
import json
import pathlib
import subprocess
import sys
import time

UNITS = pathlib.Path(__file__).with_name("planted_quantizers.py")
OP = "quantize from=fp32 to=e2m1 block=8 scale=e8m0 rule=floor special=nan_scale"
#: By planted quantizer: what the facts, causes or exceptions must say of it.
EXPECTED = {
    "through_bf16": "scale_through_bf16",
    "nearest_for_even": "rule=nearest",
    "up_for_floor": "rule=rceil",
    "ties_away": "elements_round_nearest_away",
    "threshold_for_floor": "rule=even",
    "wrapped_exponent": "the scale of blocks at the least scales",
    "unsaturated": "monotone_codes",
    "least_scale_off_by_one": "the codes of blocks at the least scales",
    "last_lane_unseen": "permuted_codes",
    "signed_amax": "scale_of_rule",
    "positive_zero_negative": "the signs of zero codes",
    "zero_block_scale_one": "the scale of blocks of zeros",
    "upper_half_truncated": "permuted_codes",
    "small_codes_flushed": "half_step",
    "ties_down": "round=nearest_toward_zero",
}


def said_of(mmafuzz, name):
    unit = f"python:{UNITS}:{name}"
    fuzz = [mmafuzz, "fuzz", "--op", OP, "--units", f"exact,{unit}", "--cases", "3000", "--seed", "1", "--json"]
    found = json.loads(subprocess.run(fuzz, capture_output=True, text=True, check=False).stdout)
    kinds = [entry["property"] for entry in found["buckets"]]
    said = " ".join(kinds)
    for command in (["why", "exact", unit, "--op", OP, "--cases", "1024"],
                    ["identify", "--unit", unit, "--op", OP, "--verify", "512"]):
        said += subprocess.run([mmafuzz, *command], capture_output=True, text=True, check=False).stdout
    return kinds, said


def main():
    mmafuzz, failures = sys.argv[1], 0
    kinds, said = said_of(mmafuzz, "right")
    if kinds or not said.split("They agree")[-1].count("identified: scale rule=floor, codes round=nearest_even"):
        failures += 1
        print(f"right: {kinds}\n{said}")
    for name, expected in EXPECTED.items():
        start = time.monotonic()
        kinds, said = said_of(mmafuzz, name)
        seconds = time.monotonic() - start
        plain = " ".join(said.split())
        named = [line for line in said.splitlines() if line.startswith(("scale: ", "codes: ", "except "))]
        if not kinds or expected not in plain or (expected.startswith(("rule=", "round=", "the ")) and not any(expected in n for n in named)):
            failures += 1
            print(f"{name}: not found as {expected} in {seconds:.1f} s: {kinds}\n{said}")
        else:
            print(f"{name}: {expected}, {seconds:.1f} s")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
