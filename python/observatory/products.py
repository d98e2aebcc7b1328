"""The table of matrix products: what a library calls them, how to call them on NumPy arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mmafuzz import ProductFinding

Call = Callable[..., Any]


class Prepared(NamedTuple):
    """A product that can be called, and what sets its library's threads."""

    call: Call
    set_threads: Callable[[int], Any] | None = None


class Product(NamedTuple):
    """One row. `prepare` raises `Declined` where the library is absent or lacks the operation."""

    library: str
    operation: str  #: as the library spells it, with its type
    operands: str | tuple[str, str]  #: formats of mmafuzz
    result: str
    form: str  #: as `mmafuzz.fuzz_product` takes it
    strides: str
    prepare: Callable[[], Prepared]
    snippet: Callable[[ProductFinding], str]  #: a program that shows a finding
    version: Callable[[], str]


def table() -> list[Product]:
    """Every row."""
    from . import products_in_c, products_in_python

    return products_in_python.rows() + products_in_c.rows()


# --- Arrays of a finding, as a program's text ---

_MOST_NUMBERS = 64


def _number(x: float, nan: str, inf: str) -> str:
    if np.isnan(x):
        return nan
    if np.isinf(x):
        return ("-" if x < 0 else "") + inf
    return repr(int(x)) if x == int(x) else repr(float(x))


def _python_values(x: np.ndarray, dtype: str) -> str:
    """An expression; behind '; ' an assignment for each of a few elements that differ from all others."""
    wide = x.astype(np.float64)
    said = functools.partial(_number, nan="np.nan", inf="np.inf")
    if not x.size:
        return f"np.zeros({x.shape}, {dtype})"
    values, counts = np.unique(wide, return_counts=True)
    most = values[np.argmax(counts)]
    other = np.argwhere(~((wide == most) | (np.isnan(wide) & np.isnan(most))))
    if len(other) <= 4 and x.size > 4 or len(other) == 0:
        changes = [f"{{name}}[{i}, {j}] = {said(wide[i, j])}" for i, j in other]
        return "; ".join([f"np.full({x.shape}, {said(most)}, {dtype})", *changes])
    rows = ["[" + ", ".join(said(v) for v in row) + "]" for row in wide]
    return f"np.array([{', '.join(rows)}], {dtype})"


def python_matrix(finding: ProductFinding, name: str) -> str:
    """Lines that make a, b or c as a NumPy array, in memory as the finding has it."""
    x, layout = getattr(finding, name), finding.case.layouts["abc".index(name)]
    dtype = f"np.{x.dtype}" if x.dtype.kind in "iuf" else f"ml_dtypes.{x.dtype}"
    values = _python_values(x, dtype)
    if not layout.words(name) or x.size == 0:
        first, _, then = values.partition("; ")
        return f"{name} = {first}" + (f"\n{then.format(name=name)}" if then else "")
    outer, inner = x.shape[::-1] if layout.by_columns else x.shape
    gap = abs(layout.step)
    lead = inner * gap + layout.padding
    poison = "np.nan" if x.dtype.kind not in "iu" else str(np.iinfo(x.dtype).max)
    view = f"[{layout.offset}:{layout.offset + outer * lead}].reshape({outer}, {lead})[:, :{inner * gap}:{gap}]"
    view += "[::-1, ::-1]" if layout.step < 0 else ""
    view += ".T" if layout.by_columns else ""
    first, _, then = values.partition("; ")
    lines = [f"{name} = np.full({layout.offset + outer * lead + layout.padding + 1}, {poison}, {dtype}){view}",
             f"{name}[...] = {first}"]  # fmt: skip
    return "\n".join(lines + ([then.format(name=name)] if then else []))


def c_matrix(finding: ProductFinding, name: str, type: str) -> tuple[str, str]:
    """The declaration of a, b or c in C, with what lies around its elements, and an expression of its first element."""
    x, layout = getattr(finding, name), finding.case.layouts["abc".index(name)]
    poison = np.nan if x.dtype.kind not in "iu" else np.iinfo(x.dtype).max
    _, memory = layout.place(x, poison)
    wide = memory.astype(np.float64)
    if type == "unsigned short":  # encodings
        memory = memory.view(np.uint16)
        wide = memory.astype(np.float64)
    start = name if layout.offset == 0 else f"{name} + {layout.offset}"
    if x.size > _MOST_NUMBERS and np.all(x == x.flat[0]) and type != "unsigned short":
        inner = x.shape[0] if layout.by_columns else x.shape[1]
        value = _number(float(x.flat[0]), "NAN", "INFINITY")
        lead = inner + layout.padding
        fill = value if not layout.padding else f"i % {lead} < {inner} ? {value} : NAN"
        return f"static {type} {name}[{memory.size}]; for (int i = 0; i < {memory.size}; ++i) {name}[i] = {fill};", start
    numbers = ", ".join(_number(v, "NAN", "INFINITY") for v in wide)
    return f"{type} {name}[] = {{{numbers}}};", start
