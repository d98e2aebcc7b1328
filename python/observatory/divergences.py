"""Kinds of wrong conversions, each with its simplest input."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import mmafuzz
from mmafuzz._formats import codes_dtype

from .inputs import IEEE, converted, integers_of, is_integer, operands_of, width

_EXACT = mmafuzz.unit("exact")
_BULK = mmafuzz.unit("bulk")
#: In this order: an input counts for the first kind that it fits.
KINDS = {
    "NaN bits": "a NaN with another sign or payload",
    "operand flushed": "a subnormal operand counts as zero",
    "NaN lost": "a NaN becomes a number or an infinity",
    "no NaN": "a NaN meets a format without NaN",
    "no sign": "a negative number or zero meets a format without sign and zero",
    "special made": "a number becomes a NaN, or an infinity or NaN becomes another special or a number",
    "zero sign": "a zero of the other sign",
    "saturated": "an overflow gives the greatest number, not infinity or NaN",
    "not saturated": "an overflow gives infinity or NaN, not the greatest number",
    "flushed": "a subnormal result becomes zero",
    "rounded twice": "a result of rounding to a narrower format first",
    "tie": "halfway between two numbers, and the other one is taken",
    "rounded wrong low": "the neighbour on the wrong side, where one of the two is the least number",
    "rounded wrong": "the neighbour on the wrong side",
    "value": "another number",
}


@dataclass
class Divergence:
    """One kind of difference of one conversion, with its simplest input; all are encodings."""

    kind: str
    count: int
    input: int
    expected: int
    actual: int
    detail: str = ""


def numbers(codes: np.ndarray, format: str) -> np.ndarray:
    """Encodings as float64, which holds every number of every format here."""
    return converted(codes, format, "fp64").view(np.float64)


def kinds_of(row: Any, inputs: np.ndarray, expected: np.ndarray, actual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kind of each difference, and a detail of it: the format in between where a result was rounded twice."""
    kind, detail = _plain_kinds(row, inputs, expected, actual), np.full(len(inputs), "", object)
    left = np.flatnonzero(kind == "")
    if len(left):
        kind[left], detail[left] = _kinds_by_neighbours(row, inputs[left], expected[left], actual[left])
    return kind, detail


def _plain_kinds(row: Any, inputs: np.ndarray, expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """The kinds that an input shows by itself, "" for the others: half of all inputs may be so, and must not cost much.
    Where an operand is subnormal, other inputs decide whether it was flushed."""
    kind = np.full(len(inputs), "", object)
    if width(row.target) > 16:
        return kind
    wanted, got = (_nans(row.target)[codes] for codes in (expected, actual))
    x = row.in_format(inputs, "fp64").view(np.float64)
    alone = ~_subnormal_operands(row, inputs)
    if row.target == "e8m0":
        kind[alone & np.signbit(x)] = "no sign"
    kind[alone & np.isnan(x)] = "no NaN"
    kind[alone & np.isnan(x) & wanted] = "NaN lost"
    kind[wanted & got] = "NaN bits"
    return kind


@functools.cache
def _nans(format: str) -> np.ndarray:
    """Of each encoding of a format of up to 16 bits, whether it is a NaN."""
    dtype = codes_dtype(format)
    return np.isnan(numbers(np.arange(1 << width(format), dtype=np.uint32).astype(dtype), format))


def _kinds_by_neighbours(row: Any, inputs: np.ndarray, expected: np.ndarray, actual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kinds and details that show by where a result lies among the target's numbers, and by the other results of a block."""
    target = row.target
    x, wanted, got = row.in_format(inputs, "fp64").view(np.float64), numbers(expected, target), numbers(actual, target)
    every = converted(np.arange(1 << min(width(target), 16), dtype=expected.dtype), target, "fp64").view(np.float64)
    finite = np.unique(every[np.isfinite(every)])
    greatest = np.inf if width(target) > 16 else finite[-1]
    special, got_special = ~np.isfinite(wanted), ~np.isfinite(got)
    detours = {one: converted(row.in_format(inputs, one), one, target, attributes=row.attributes) == actual for one in row.detours}
    exact = row.in_format(inputs, "fp64")
    below, above = (numbers(converted(exact, "fp64", target, attributes=f"round={way}"), target) for way in ("down", "up"))
    a_rounding = (got == below) | (got == above)
    with np.errstate(invalid="ignore", over="ignore"):
        place, got_place = np.searchsorted(finite, wanted), np.searchsorted(finite, got)
        neighbours = (np.abs(place - got_place) == 1) & ~special & ~got_special
        tie = neighbours & (np.abs(x - wanted) == np.abs(x - got))
        # Overflow begins half a unit beyond the greatest number: what lies beyond that is a neighbour, too.
        across = (np.abs(wanted) == greatest) & got_special | special & np.isfinite(x) & (np.abs(got) == greatest)
        # One input may look so by chance: a detour is believed if it explains every wrong neighbour of the block.
        telling = neighbours if np.any(neighbours) else across
        detour = next((format for format, fits in detours.items() if np.any(telling) and np.all(fits[telling])), "")
        tiny = np.abs(x) < _least_normal(target)
        other = (wanted != got) & (np.isnan(x) == np.isnan(wanted)) & ~(np.isnan(wanted) & np.isnan(got))
        as_flushed, has_subnormal = _flushing_operands(row, inputs, got)
        operand_flushed = _believed(as_flushed, has_subnormal & other, a_rounding | tiny & (got == 0))
        through = detours[detour] & ~np.isnan(x) if detour else np.zeros(len(x), bool)
        tests = {
            "NaN bits": np.isnan(wanted) & np.isnan(got),
            "operand flushed": operand_flushed,
            "NaN lost": np.isnan(x) & np.isnan(wanted),
            "no NaN": np.isnan(x),
            "no sign": (target == "e8m0") & (np.signbit(x) | (x == 0)),
            "rounded twice": through,
            "special made": np.isinf(x) | (got_special & (np.abs(x) < greatest)),
            "zero sign": (wanted == 0) & (got == 0),
            "saturated": special & (np.abs(got) == greatest),
            "not saturated": got_special & ~special,
            "flushed": _believed(got == 0, tiny & other & ~operand_flushed, a_rounding),
            "tie": tie,
            "rounded wrong low": neighbours & (finite[0] > 0) & ((place == 0) | (got_place == 0)),
            "rounded wrong": neighbours,
        }
    kind = np.select(list(tests.values()), list(tests), "value").astype(object)
    return kind, np.where(kind == "rounded twice", detour, "")


def _believed(fits: np.ndarray, among: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """The wrong results `among` which a habit of the library concerns, if it explains all of them and one at least that has
    no other explanation: truncation gives zeros, too."""
    concerned = np.flatnonzero(among)
    believed = np.all(fits[concerned]) and np.any(~otherwise[concerned])
    return among if believed else np.zeros(len(among), bool)


def _least_normal(format: str) -> float:
    fraction = mmafuzz._core.format_fields(format)["fraction_bits"]
    return float(numbers(np.array([1 << fraction], codes_dtype(format)), format)[0])


def _subnormal_operands(row: Any, inputs: np.ndarray) -> np.ndarray:
    found = np.zeros(len(inputs), bool)
    for format, codes in zip(row.operands, operands_of(inputs, row.operands)):
        found |= _is_subnormal(format, codes)
    return found


def _is_subnormal(format: str, codes: np.ndarray) -> np.ndarray:
    if is_integer(format):
        return np.zeros(len(codes), bool)
    magnitude = codes & codes.dtype.type((1 << (width(format) - 1)) - 1)
    return (magnitude > 0) & (magnitude < 1 << mmafuzz._core.format_fields(format)["fraction_bits"])


def _flushing_operands(row: Any, inputs: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the results are those of zeros in the place of subnormal operands, and which inputs have such operands."""
    flushed, shift = inputs.copy(), 0
    for format, codes in zip(reversed(row.operands), reversed(operands_of(inputs, row.operands))):
        subnormal = _is_subnormal(format, codes)
        if np.any(subnormal):
            sign = codes.dtype.type(1 << (width(format) - 1))
            has_negative_zero = numbers(np.array([sign]), format)[0] == 0
            cleared = codes & (sign - codes.dtype.type(1)) if has_negative_zero else codes
            flushed[subnormal] ^= cleared[subnormal].astype(inputs.dtype) << inputs.dtype.type(shift)
        shift += width(format)
    results = numbers(row.expected(flushed, IEEE), row.target)
    return (results == got) | np.isnan(results) & np.isnan(got), flushed != inputs


def _simplicity(row: Any, codes: np.ndarray) -> np.ndarray:
    """Less is simpler: few bits set, no sign."""
    bits = codes.astype(np.uint64)
    ones = np.array([bin(int(x)).count("1") for x in bits], np.int64)
    return ones * 4 + (bits >> np.uint64(row.width - 1)).astype(np.int64) * 2


def compare(
    row: Any,
    call: Callable[[np.ndarray], np.ndarray],
    blocks: Iterable[np.ndarray],
    found: dict[str, Divergence],
    checked: bool = False,
    quickly: bool = False,
    keep_going: Callable[[], bool] = lambda: True,
) -> int:
    """Compares `call` with the right results of a row on blocks of inputs; adds to `found` by kind; returns how many inputs.

    checked: evaluate also by the unit `exact`, on big integers. quickly: by the unit `bulk` where it takes the op, and what
    differs by `ieee`. RuntimeError if two of our own units differ."""
    count = 0
    unit = _BULK if quickly and is_quick(row) else IEEE
    for inputs in blocks:
        expected = row.expected(inputs, unit)
        if checked and np.any(row.expected(inputs, _EXACT) != expected):
            raise RuntimeError(f"exact and ieee differ on {row.operation}: a bug of mmafuzz")
        actual = np.asarray(call(inputs))
        if actual.shape != inputs.shape or actual.dtype != expected.dtype:
            raise RuntimeError(f"the library answers {actual.dtype}{actual.shape} to {inputs.shape} inputs")
        count += len(inputs)
        wrong = np.flatnonzero(actual != expected)
        if len(wrong):
            if unit is not IEEE and np.any(row.expected(inputs[wrong], IEEE) != expected[wrong]):
                raise RuntimeError(f"bulk and ieee differ on {row.operation}: a bug of mmafuzz")
            _collect(row, inputs[wrong], expected[wrong], actual[wrong], found)
        if not keep_going():
            break
    return count


def is_quick(row: Any) -> bool:
    """Whether `bulk` has the right results of a row: some ten times as fast as `ieee`."""
    try:
        row.expected(np.zeros(1, integers_of(row.width)), _BULK)
    except ValueError:
        return False
    return True


def _collect(row: Any, inputs: np.ndarray, expected: np.ndarray, actual: np.ndarray, found: dict[str, Divergence]) -> None:
    all_kinds, details = kinds_of(row, inputs, expected, actual)
    for kind in sorted(set(all_kinds)):
        here = np.flatnonzero(all_kinds == kind)
        looked = here[:4096]
        best = looked[np.argmin(_simplicity(row, inputs[looked]))]
        new = Divergence(kind, len(here), int(inputs[best]), int(expected[best]), int(actual[best]), details[best])
        old = found.get(kind)
        if old is None:
            found[kind] = new
            continue
        order = _simplicity(row, np.array([old.input, new.input], np.uint64))
        simpler = new if order[1] < order[0] else old
        simpler.count = old.count + len(here)
        found[kind] = simpler


def decimal(code: int, format: str) -> str:
    """An encoding as a decimal."""
    as_number: Any = numbers(np.array([code], codes_dtype(format)), format)[0]
    return f"{as_number:.17g}"
