"""Which unit gives a result that someone has."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._findings import UnitLike, units_in
from ._formats import as_array, codes_of, format_of
from ._unit import Operands, Unit, all_units, op_line, op_words, words_of


@dataclass(frozen=True)
class Match:
    """How often one unit gives the result."""

    unit: str
    op: str  #: of one element; float32 operands are read as fp32 and as tf32 where `op` does not say
    compared: int
    mismatches: int
    where: np.ndarray  #: indices of mismatches into the result, (n, d.ndim), the first `where=` of them
    ulps: dict[str, int]  #: how many mismatches are how far off, in units in the last place of d's format: '1', '2',
    #: '3-4', '5-16', '17-4096', '>4096'; 'zero_sign': +0 and -0; 'special': an infinity or NaN, the other not;
    #: 'nan_bits': NaNs of other bits

    @property
    def reproduces(self) -> bool:
        """Whether every element is the same, bit for bit."""
        return self.mismatches == 0

    def __str__(self) -> str:
        if self.reproduces:
            return f"{self.unit}: all {self.compared}"
        ulps = ", ".join(
            f"{count} by {name}" + (" ulp" if name[-1].isdigit() else "") for name, count in self.ulps.items()
        )
        first = ", ".join(str(tuple(int(i) for i in index)) for index in self.where[:5])
        more = ", ..." if self.mismatches > 5 else ""
        return f"{self.unit}: {self.compared - self.mismatches} of {self.compared}; differs at {first}{more}; {ulps}"


class Comparison(Sequence[Match]):
    """How often each unit gives a result, the best first."""

    def __init__(self, matches: list[Match]):
        self._matches = sorted(matches, key=lambda m: m.mismatches)

    @property
    def reproducing(self) -> list[str]:
        """The units that give every element. Rows that compute the same arithmetic appear together."""
        return [m.unit for m in self if m.reproduces]

    def __len__(self) -> int:
        return len(self._matches)

    def __getitem__(self, index: Any) -> Any:
        """By place, or by a unit's name. IndexError, KeyError."""
        if not isinstance(index, str):
            return self._matches[index]
        for match in self._matches:
            if match.unit == index:
                return match
        raise KeyError(index)

    def __str__(self) -> str:
        head = "reproduced by " + ", ".join(self.reproducing) if self.reproducing else "reproduced by none"
        return "\n".join([head, *(f"  {m}" for m in self)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(m.unit)}</td><td>{m.compared - m.mismatches} of {m.compared}</td>"
            f"<td>{html.escape(', '.join(f'{name}: {count}' for name, count in m.ulps.items()))}</td></tr>"
            for m in self
        )
        return f"<table><tr><th>unit</th><th>same</th><th>ulps of the others</th></tr>{rows}</table>"


def compare(
    d: Any,
    a: Any,
    b: Any,
    c: Any = None,
    *,
    units: UnitLike | Sequence[UnitLike] = (),
    scale_a: Any = None,
    scale_b: Any = None,
    op: str = "",
    k: int | None = None,
    dots: bool | None = None,
    nan: str = "exact",
    where: int = 1000,
    threads: int | None = None,
) -> Comparison:
    """Says which units give the result `d` on these operands, how often, and where not.

    d, a, b, c, scale_a, scale_b, op, k:  as `Unit.matmul` or `Unit.dot` take and return them.
    units:   names, patterns ('model:hopper/*') and GPUs' names; default: every unit of this machine that takes the op.
    dots:    whether d is of rows' dots (True) or of a matrix product (False); default: what the shapes say, a product
             where both fit.
    nan:     'exact': NaNs are compared by their bits; 'any': every NaN equals every other.
    where:   how many mismatches to name.

    TypeError, ValueError: as `matmul`; no unit takes the op; d is empty, or has another shape or format than
    the result."""
    a, b, d = as_array(a, "a"), as_array(b, "b"), as_array(d, "d")
    c = None if c is None else as_array(c, "c")
    if nan not in ("exact", "any"):
        raise ValueError(f"nan is {nan!r}: pass 'exact' or 'any'")
    if d.size == 0:
        raise ValueError(f"d has shape {d.shape}: there is nothing to compare")
    if dots is None:
        dots = _product_shape(a.shape, b.shape) != d.shape
    if "d" not in words_of(op):
        op = f"{op} d={format_of(d, 'd')}".strip()
    wanted = units_in(units)
    if any(not isinstance(one, (str, Unit)) for one in wanted):
        raise TypeError("compare takes units by name: evaluate a callable yourself, or use fuzz")
    rows = next((one._row for one in wanted if isinstance(one, Unit)), {})
    patterns: list[str] = [one.name if isinstance(one, Unit) else str(one) for one in wanted]
    scales = [None if x is None else as_array(x, name) for x, name in ((scale_a, "scale_a"), (scale_b, "scale_b"))]
    ops = [op]
    if a.dtype == np.float32 and b.dtype == np.float32 and not {"a", "b"} & {*rows, *words_of(op)}:
        ops.append(f"a=tf32 b=tf32 {op}")  # float32 holds both
    matches = []
    declined: ValueError | None = None
    for one_op in ops:
        words = op_words(rows, one_op, Operands(a, b, c, *scales))
        words.pop("k", None)
        parsed = _core.Op(op_line("dot", words, a.shape[-1]))
        for name in all_units.names_for(parsed, patterns):
            one = Unit(name)
            try:
                result = (one.dot if dots else one.matmul)(
                    a, b, c, scale_a=scales[0], scale_b=scales[1], op=one_op, k=k, threads=threads
                )
            except ValueError as e:  # a GPU without an instruction in fp32 may have one in tf32
                declined = e
                if len(ops) == 1:
                    raise
                continue
            matches.append(_match(name, parsed, d, np.asarray(result), nan == "any", where))
    if not matches:
        raise declined or ValueError(f"no unit takes '{parsed.text}'")
    return Comparison(matches)


def _product_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of a matrix product, or None."""
    rows, columns = a[-2:-1], b[-1:] if len(b) > 1 else ()
    inner = b[-2] if len(b) > 1 else b[0] if b else None
    if not a or a[-1] != inner:
        return None
    try:
        return np.broadcast_shapes(a[:-2], b[:-2]) + rows + columns
    except ValueError:
        return None


def _match(name: str, op: _core.Op, d: np.ndarray, result: np.ndarray, any_nan: bool, where: int) -> Match:
    format = op.result[1]
    if d.shape != result.shape:
        raise ValueError(f"d has shape {d.shape}, but the result of these operands has {result.shape}")
    given, computed = codes_of(d, format, "d"), codes_of(result, format, "the result")
    different = given != computed
    x, y = np.ascontiguousarray(given[different]), np.ascontiguousarray(computed[different])
    classes = np.frombuffer(_core.ulp_classes(format, x, y), np.uint8)
    both_nan = classes == 255
    places = np.argwhere(different)
    if any_nan:
        places, classes = places[~both_nan], classes[~both_nan]
    names = [*_core.ulp_class_names, "nan_bits"]
    classes = np.where(classes == 255, len(names) - 1, classes)
    counts = np.bincount(classes, minlength=len(names)) if len(classes) else np.zeros(len(names), int)
    return Match(name, op.text, d.size, len(places), places[:where], {n: int(k) for n, k in zip(names, counts) if k})
