#!/usr/bin/env python3
"""Berkeley SoftFloat against `ieee` and `exact`, through TestFloat's own lines: every function of TestFloat that exists in
formats of at most 64 bits, every rounding mode, both kinds of tininess, with and without the inexact flag of integers.

  tests/softfloat_test.py build/release/mmafuzz [--cases N]

SoftFloat comes from PyPI (softfloatpy). Exit status 77 where it is not installed."""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import softfloatpy as sf
except ImportError:
    print("skipped: the Python package softfloatpy is not installed")
    sys.exit(77)

FLOATS = {"f16": (16, 5, sf.Float16), "f32": (32, 8, sf.Float32), "f64": (64, 11, sf.Float64)}
INTEGERS = {"i32": (32, sf.Int32), "ui32": (32, sf.UInt32), "i64": (64, sf.Int64), "ui64": (64, sf.UInt64)}
OPERANDS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "rem": 2, "sqrt": 1, "mulAdd": 3, "roundToInt": 1,
            "eq": 2, "lt": 2, "le": 2, "eq_signaling": 2, "lt_quiet": 2, "le_quiet": 2}  # fmt: skip
OF_SOFTFLOAT = {"mulAdd": "mul_add", "roundToInt": "round_to_int"}
MODES = {"near_even": (sf.RoundingMode.NEAR_EVEN, "nearest_even"), "minMag": (sf.RoundingMode.MIN_MAG, "toward_zero"),
         "min": (sf.RoundingMode.MIN, "down"), "max": (sf.RoundingMode.MAX, "up"),
         "near_maxMag": (sf.RoundingMode.NEAR_MAX_MAG, "nearest_away")}  # fmt: skip


def functions():
    """(name, formats of the operands): what TestFloat's documentation lists, less extF80 and f128."""
    for f in FLOATS:
        yield from ((f"{f}_{operation}", [f] * count) for operation, count in OPERANDS.items())
        yield from ((f"{f}_to_{to}", [f]) for to in [*FLOATS, *INTEGERS] if to != f)
        yield from ((f"{i}_to_{f}", [i]) for i in INTEGERS)


def number(name, rng):
    """An encoding: anything, special, near an integer, or with a patterned fraction."""
    if name in INTEGERS:
        bits = INTEGERS[name][0]
        length = rng.randint(0, bits)
        value = rng.getrandbits(length) if length else 0
        if length > 8 and rng.random() < 0.5:  # zeros or ones below the leading bits
            tail = (1 << rng.randint(1, length - 1)) - 1
            value = value | tail if rng.random() < 0.5 else value & ~tail | (tail + 1) >> 1
        return (value if rng.random() < 0.5 else -value) & ((1 << bits) - 1)
    bits, exponent_bits, _ = FLOATS[name]
    fraction_bits = bits - 1 - exponent_bits
    sign = rng.getrandbits(1) << (bits - 1)
    ones = (1 << fraction_bits) - 1
    kind = rng.random()
    if kind < 0.1:
        return rng.getrandbits(bits)
    if kind < 0.2:
        top = ((1 << exponent_bits) - 1) << fraction_bits
        return sign | rng.choice([0, 1, ones, ones + 1, top, top | 1, top | (ones + 1) >> 1, top - 1, rng.getrandbits(9)])
    bias = (1 << (exponent_bits - 1)) - 1
    near = bias + rng.randint(-3, min(66, bias)) if rng.random() < 0.6 else rng.randint(0, 2 * bias)
    tail = (1 << rng.randint(0, fraction_bits)) - 1
    fraction = rng.choice([0, ones, rng.getrandbits(fraction_bits), rng.getrandbits(fraction_bits) & ~tail,
                           rng.getrandbits(fraction_bits) | tail])  # fmt: skip
    return sign | near << fraction_bits | fraction


def operands(formats, rng):
    drawn = [number(name, rng) for name in formats]
    if len(drawn) == 2 and rng.random() < 0.25:  # equal or neighbours
        drawn[1] = (drawn[0] + rng.randint(-1, 1)) & ((1 << FLOATS[formats[0]][0]) - 1)
    return drawn


def value_of(name, encoding):
    bits, kind = FLOATS[name][::2] if name in FLOATS else INTEGERS[name]
    return kind.from_bytes(encoding.to_bytes(bits // 8, "big"))


def line_of(name, formats, codes, mode, exact):
    """A line as testfloat_gen prints it."""
    operation = name.split("_", 1)[1]
    call = getattr(sf, f"{name.split('_', 1)[0]}_{OF_SOFTFLOAT.get(operation, operation)}")
    arguments = [value_of(f, code) for f, code in zip(formats, codes)]
    sf.set_exception_flags(0)
    to_integer = operation == "roundToInt" or operation.removeprefix("to_") in INTEGERS
    result = call(*arguments, mode, exact) if to_integer else call(*arguments)
    flags = int(sf.get_exception_flags())
    text = str(int(result)) if isinstance(result, bool) else result.to_bytes().hex().upper()
    digits = [(FLOATS[f][0] if f in FLOATS else INTEGERS[f][0]) // 4 for f in formats]
    return " ".join([*(f"{code:0{n}X}" for code, n in zip(codes, digits)), text, f"{flags:02X}"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mmafuzz")
    parser.add_argument("--cases", type=int, default=60, help="per function, mode, tininess and exactness")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    compared, bad = 0, []
    with tempfile.TemporaryDirectory() as folder:
        lines, cases = pathlib.Path(folder, "lines.txt"), pathlib.Path(folder, "x.cases")
        files = []
        for name, formats in functions():
            to_integer = name.endswith("roundToInt") or name.split("_to_")[-1] in INTEGERS
            compares = name.split("_", 1)[1] in ("eq", "lt", "le", "eq_signaling", "lt_quiet", "le_quiet")
            for short, (mode, word) in MODES.items():
                for tiny in ("after", "before") if not to_integer and not compares else ("after",):
                    for exact in (False, True) if to_integer else (False,):
                        sf.set_rounding_mode(mode)
                        sf.set_tininess_mode(
                            sf.TininessMode.BEFORE_ROUNDING if tiny == "before" else sf.TininessMode.AFTER_ROUNDING
                        )
                        drawn = [operands(formats, rng) for _ in range(arguments.cases)]
                        lines.write_text("\n".join(line_of(name, formats, x, mode, exact) for x in drawn) + "\n")
                        # The name says it all in one half of the roundings to integers, --words in the other.
                        named = to_integer and not (name.endswith("roundToInt") and exact) and short != "max"
                        function = name + (("_rx_" if exact else "_r_") + short if named else "")
                        words = "" if named else f"round={word} tiny={tiny}" + (" inexact=1" if exact else "")
                        target = cases.with_name(f"{len(files)}.cases")
                        subprocess.run(
                            [arguments.mmafuzz, "convert", "--from", "testfloat", "--function", function, "--words", words,
                             str(lines), "-o", str(target)], check=True, stdout=subprocess.DEVNULL)  # fmt: skip
                        files.append(str(target))
        for unit in ("ieee", "exact:mpfr"):
            done = subprocess.run([arguments.mmafuzz, "check", "--unit", unit, *files], capture_output=True, text=True)
            last = done.stdout.strip().splitlines()[-1:] or [done.stderr.strip()]
            print(f"{unit}: {len(files)} functions and modes, {last[0]}")
            if done.returncode != 0:
                bad.append(unit)
                print("\n".join(done.stdout.splitlines()[:20]), done.stderr)
            compared += len(files)
        text = pathlib.Path(files[0]).read_text()
        flags = text.rstrip()[-2:]
        pathlib.Path(files[0]).write_text(text.rstrip()[:-2] + f"{int(flags, 16) ^ 1:02x}\n")  # a flag that is wrong
        if subprocess.run([arguments.mmafuzz, "check", files[0]], stdout=subprocess.DEVNULL).returncode != 1:
            bad.append("a wrong flag passes")
            print(bad[-1])
    return 1 if bad or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
