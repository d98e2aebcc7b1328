"""Units that do not answer as a unit should: each ends `identify` clearly (tests/identify_ends_test.py)."""
import os
import struct
import time

times = {}  # how often a case was asked


def _unit(function):
    function.per_case = True
    return function


@_unit
def hangs(op, a, b, c):
    time.sleep(1000)


@_unit
def crashes(op, a, b, c):
    os._exit(3)


@_unit
def slow(op, a, b, c):
    time.sleep(1)
    return 0


@_unit
def forgets(op, a, b, c):
    """Never the same answer twice."""
    return int.from_bytes(os.urandom(4), "big")


@_unit
def too_wide(op, a, b, c):
    return 1 << 40


@_unit
def no_number(op, a, b, c):
    return "three"


@_unit
def alternates(op, a, b, c):
    """A sum in fp32 in index order; every second time that a case is asked, its last bit is wrong."""
    total = struct.unpack("<f", struct.pack("<I", c))[0]
    for x, y in zip(a, b):
        x, y = struct.unpack("<2e", struct.pack("<2H", x, y))
        total = struct.unpack("<f", struct.pack("<f", total + x * y))[0]
    case = (*a, *b, c)
    times[case] = times.get(case, 0) + 1
    return struct.unpack("<I", struct.pack("<f", total))[0] ^ (times[case] % 2 == 0)
