"""One case on one or two units, step by step."""

from __future__ import annotations

import html
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._cases import bytes_of
from ._findings import Finding, Parties, UnitLike, units_in
from ._formats import as_array, codes_dtype
from ._unit import Operands, Unit, parsed_op


class Explanation:
    """What each unit did with a case: print it, or let a notebook draw it."""

    text: str
    svg: str  #: the drawing, an <svg> element
    verdict: str  #: of two units, whether and why they differ

    def __init__(self, text: str, svg: str, verdict: str):
        self.text, self.svg, self.verdict = text, svg, verdict

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg}</div><p>{html.escape(self.verdict)}</p>'


def explain(
    units: UnitLike | Sequence[UnitLike] | Finding,
    *fields: Any,
    op: str | None = None,
    colour: bool | None = None,
    width: int | None = None,
) -> Explanation:
    """Shows one case on one or two units: each addend, what alignment drops, the sum, the rounding.

    units:   a unit, or two to compare ('model:...', 'exact'); or a Finding, which brings everything else.
    fields:  one case: for a dot a (k,), b (k,), c (); without c the sum starts from +0.
    op:      the op line. Without it a dot of the arrays' formats, of the first unit's row where that has one.
    colour, width:  of the text; default: those of the terminal.

    TypeError, ValueError: fields that do not fit the op, more than one case, a unit that declines it."""
    if isinstance(units, Finding):
        op, fields = units.op, units.fields
        units = [units.callables.get(name, name) for name in units.units]
    many = units_in(units)
    if not many:
        raise ValueError("explain needs a unit")
    if op is None:
        op, fields = _dot_of(many[0], fields)
    parsed = parsed_op(op)
    parties = Parties(parsed, many)
    terminal = sys.stdout.isatty()
    text, svg, verdict = _core.explain(
        parties.registry,
        parsed,
        parties.names,
        bytes_of(parsed, fields),
        terminal if colour is None else colour,
        width or (shutil.get_terminal_size().columns if terminal else 80),
    )
    return Explanation(text, svg, verdict)


def _dot_of(first: UnitLike, fields: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The op of a dot's arrays, and its fields with c."""
    if len(fields) not in (2, 3):
        raise ValueError("explain takes a, b and perhaps c; other ops need op=")
    a, b = as_array(fields[0], "a"), as_array(fields[1], "b")
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"explain takes one case: a and b of one dimension, not {a.ndim} and {b.ndim}")
    unit = first if isinstance(first, Unit) else Unit(first) if isinstance(first, str) else Unit("exact")
    c = as_array(fields[2], "c") if len(fields) == 3 else None
    if b.shape != a.shape:
        raise ValueError(f"a has {a.shape[-1]} products and b has {b.shape[-1]}")
    plan = unit._plan_for(Operands(a, b, c), "", a.shape[-1])
    if c is None:
        c = np.zeros((), codes_dtype(plan.formats[2]))
    return plan.chain[0][0].op.text, (a, b, c)
