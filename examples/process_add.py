#!/usr/bin/env python3
"""A unit as a process of its own, in lines of text (docs/processes.md): an addition of fp32 numbers whose sum passes
through double, which is wide enough that rounding twice does no harm; every NaN is 7fc00000. A function of your own needs none of this:
python:FILE.py:FUNCTION.

    mmafuzz fuzz --op 'scalar add format=fp32' --units 'process:python3 examples/process_add.py,exact'"""
import math
import struct
import sys


def add(x, y):
    total = struct.unpack(">f", bytes.fromhex(x))[0] + struct.unpack(">f", bytes.fromhex(y))[0]
    if math.isnan(total):
        return "7fc00000"
    try:
        return struct.pack(">f", total).hex()
    except OverflowError:  # what rounds beyond the greatest number
        return struct.pack(">f", math.copysign(math.inf, total)).hex()


def main():
    for line in sys.stdin:
        words = line.split()
        if words[0] == "mmafuzz-process":
            print("mmafuzz-process 1 text example.process_add", flush=True)
        elif words[0] == "op":  # the whole line: a word that is not known must not be ignored
            known = words == ["op", "scalar", "add", "format=fp32", "round=nearest_even"]
            print("yes" if known else "no it takes scalar add format=fp32", flush=True)
        elif words[0] == "batch":
            count = int(words[1])
            cases = [sys.stdin.readline().split() for _ in range(count)]
            print(f"results {count}")
            for x, y in cases:
                print(add(x, y))
            print("end", flush=True)


main()
