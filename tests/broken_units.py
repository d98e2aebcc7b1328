"""Units that do not answer as a unit should: each ends `identify` clearly (tests/identify_ends_test.py)."""
import os
import time


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
