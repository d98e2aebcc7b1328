#!/usr/bin/env python3
"""Each planted quantizer is found within a stated number of blocks, and what is said of it names its flaw; nothing is found
on the right one. Usage: planted_quantizers_test.py MMAFUZZ [EVERY], which takes one planted quantizer of so many."""
import json
import pathlib
import subprocess
import sys
import time

UNITS = pathlib.Path(__file__).with_name("planted_quantizers.py")
FLOOR = "quantize from=fp32 to=e2m1 block=8 scale=e8m0 rule=floor special=nan_scale"
RCEIL = FLOOR.replace("floor", "rceil")
NVFP4 = "quantize from=fp32 to=e2m1 block=8 scale=e4m3 tensor=fp32 special=nan_scale"
#: Of the right ones: the rule that identify must name.
RIGHT = {"right": "floor", "right_rceil": "rceil", "right_nvfp4": "nearest"}
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
    "zeros_take_the_least": "zero_block",
    "rceil_by_a_logarithm": "no_saturation",
    "nvfp4_scales_up": "rule=rceil",
    "nvfp4_scales_unsaturated": "the scale of blocks at the greatest scales",
    "nvfp4_tensor_forgotten": "tensor_shift",
}
#: The causes of what the minimal witnesses show; others have several.
CAUSES = {
    "through_bf16": {"scale_through_bf16"},
    "nearest_for_even": {"scale_as_nearest"},
    "up_for_floor": {"scale_as_rceil"},
    "ties_away": {"elements_round_nearest_away"},
    "nvfp4_scales_up": {"scale_as_rceil"},
}


def op_of(name):
    return NVFP4 if "nvfp4" in name else RCEIL if "rceil" in name else FLOOR


def said_of(mmafuzz, name):
    """The properties that it breaks, the causes of what `why` finds, and the words of identify."""
    op, unit = op_of(name), f"python:{UNITS}:{name}"

    def output(*arguments):
        return subprocess.run([mmafuzz, *arguments], capture_output=True, text=True, check=False).stdout

    found = json.loads(output("fuzz", "--op", op, "--units", f"exact,{unit}", "--cases", "3000", "--seed", "1", "--json"))
    facts = json.loads(output("why", "exact", unit, "--op", op, "--cases", "1024", "--json"))[0]["facts"]
    kinds = [entry["property"] for entry in found["buckets"]]
    return kinds, {fact["name"].split("=")[0] for fact in facts}, output("identify", "--unit", unit, "--op", op, "--verify", "512")


def main():
    mmafuzz, failures = sys.argv[1], 0
    for name, rule in RIGHT.items():
        kinds, causes, said = said_of(mmafuzz, name)
        if kinds or causes or f"identified: scale rule={rule}, codes round=nearest_even" not in said:
            failures += 1
            print(f"{name}: {kinds}, {causes}\n{said}")
    for name, expected in list(EXPECTED.items())[:: int(sys.argv[2]) if sys.argv[2:] else 1]:
        start = time.monotonic()
        kinds, causes, said = said_of(mmafuzz, name)
        seconds = time.monotonic() - start
        named = [line for line in said.splitlines() if line.startswith(("scale: ", "codes: ", "except "))]
        is_found = expected in kinds or expected in causes or any(expected in words for words in named)
        if not kinds or not is_found or causes != CAUSES.get(name, causes):
            failures += 1
            print(f"{name}: not found as {expected} in {seconds:.1f} s: {kinds}, {causes}\n{said}")
        else:
            print(f"{name}: {expected}, {seconds:.1f} s")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
