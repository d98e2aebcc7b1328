"""Case text: reading and writing files of cases as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._formats import as_array, codes_dtype, codes_of, numbers_of
from ._unit import case_shapes_of, fields_of, joined_result, parsed_op, result_shape

_CASES_AT_ONCE = 1 << 16


class OperandFields:
    """Names for the first fields of what has `fields`."""

    fields: tuple[np.ndarray, ...]

    @property
    def a(self) -> np.ndarray:
        """The first field."""
        return self.fields[0]

    @property
    def b(self) -> np.ndarray:
        return self.fields[1]

    @property
    def c(self) -> np.ndarray:
        return self.fields[2]


@dataclass(frozen=True)
class Cases(OperandFields):
    """Cases of one op, of one unit."""

    op: str  #: the op line
    fields: tuple[np.ndarray, ...]  #: as `Unit.evaluate` takes them, with one leading axis
    result: Any = None  #: one for each case, as `Unit.evaluate` gives it, or None; of quantize also codes (cases, 1 + block)
    flags: np.ndarray | None = None  #: status flags, uint8, or None
    unit: str = ""  #: who gave the results: a unit, or a recording's provenance
    statement: str = ""  #: of a witness: what it shows, "NAME UNIT [UNIT]"
    lines: np.ndarray | None = None  #: of the file, from 1

    def __len__(self) -> int:
        return len(self.fields[0])

    @property
    def model(self) -> str:
        """The model that claims to describe `unit`: itself, or of a recording ('nvidia.h100/wmma.fp32.fp16') the row of
        that GPU. ValueError: there is none."""
        return _core.model_of_provenance(self.unit) if "/" in self.unit and ":" not in self.unit else self.unit


def arrays_of(op: _core.Op, fields: Sequence[bytes | bytearray]) -> tuple[np.ndarray, ...]:
    """The fields of cases from the bytes of their columns."""
    shapes = case_shapes_of(op)
    arrays = []
    for data, shape, (_, format, _) in zip(fields, shapes, op.fields):
        codes = np.frombuffer(data, codes_dtype(format))
        arrays.append(numbers_of(codes.reshape((-1, *shape) if shape else (-1,)), format))
    if op.kind in ("scalar", "convert"):  # operands apart
        return tuple(np.ascontiguousarray(arrays[0][:, i]) for i in range(arrays[0].shape[1]))
    return tuple(arrays)


def results_of(op: _core.Op, data: bytes) -> np.ndarray:
    """Results from the bytes of their column; of quantize codes, the scale's and then the elements'."""
    _, format, _ = op.result
    if op.kind == "quantize":
        return np.frombuffer(data, codes_dtype(format)).reshape(-1, *result_shape(op))
    return numbers_of(np.frombuffer(data, codes_dtype(format)).reshape(-1, *result_shape(op)), format)


def _columns_of(op: _core.Op, fields: tuple[Any, ...]) -> tuple[list[bytes], tuple[int, ...]]:
    """The bytes of the columns of fields with or without leading axes, and these axes. TypeError, ValueError."""
    codes, shapes = fields_of(op, fields)
    try:
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(s)] for x, s in zip(codes, shapes)))
    except ValueError:
        raise ValueError(
            "the leading axes of the fields do not fit: " + ", ".join(str(x.shape) for x in codes)
        ) from None
    return [np.broadcast_to(x, batch + s).tobytes() for x, s in zip(codes, shapes)], batch


def bytes_of(op: _core.Op, fields: tuple[Any, ...]) -> list[bytes]:
    """The other way, for fields with or without leading axes. TypeError, ValueError."""
    return _columns_of(op, fields)[0]


def read_cases(path: str | os.PathLike[str]) -> Iterator[Cases]:
    """Reads a file of cases (docs/case-text.md), plain or gzip, block by block: consecutive cases of one unit and op
    (at most 65,536), all with a result or all without.

    ValueError: the file cannot be read or a line is malformed; the message names file, line and column. What stands
    before a malformed line is delivered first."""
    reader = _core.CaseReader(os.fspath(path))
    read_block: Any = reader.next
    while (block := read_block(_CASES_AT_ONCE)) is not None:
        text, unit, prop, fields, results, has_result, flags, has_flags, lines = block
        op = _core.Op(text)
        arrays = arrays_of(op, fields)
        there, flagged = np.frombuffer(has_result, np.bool_), np.frombuffer(has_flags, np.bool_)
        numbers = results_of(op, results)
        borders = np.flatnonzero((there[1:] != there[:-1]) | (flagged[1:] != flagged[:-1])) + 1
        for first, last in zip((0, *borders), (*borders, len(there))):
            part = slice(first, last)
            yield Cases(
                op.text,
                tuple(x[part] for x in arrays),
                numbers[part] if there[first] else None,
                np.frombuffer(flags, np.uint8)[part] if flagged[first] else None,
                unit,
                prop,
                np.frombuffer(lines, np.uint64)[part],
            )


def write_cases(path: str | os.PathLike[str], cases: Cases | Iterable[Cases]) -> None:
    """Writes cases as case text; a name that ends in .gz compresses. The file appears when all is written.

    TypeError, ValueError: fields or results that do not fit the op. RuntimeError: the file cannot be written."""
    blocks = [cases] if isinstance(cases, Cases) else list(cases)
    before: tuple[str, str] = ("", "")
    for one in blocks:
        if not isinstance(one, Cases):
            raise TypeError(f"write_cases takes Cases, not {type(one).__name__}")
        if len((one.unit + "." + one.statement).splitlines()) > 1:
            raise ValueError(f"unit {one.unit!r} and statement {one.statement!r} must be one line each")
        for last, own in zip(before, (one.unit, one.statement)):
            if last and not own:
                raise ValueError(f"cases without a unit or statement stand after those of '{last}': write them first")
        before = one.unit, one.statement
    writer = _core.CaseWriter(os.fspath(path))
    for one in blocks:
        op = parsed_op(one.op)
        _, format, _ = op.result
        columns, batch = _columns_of(op, one.fields)
        results = flags = None
        if one.result is not None:
            pair = op.kind == "quantize" and isinstance(one.result, tuple)
            result = joined_result(op, one.result) if pair else as_array(one.result, "result")
            if result.shape != batch + result_shape(op):
                raise ValueError(f"results have shape {result.shape}, but these cases have {batch + result_shape(op)}")
            results = codes_of(result, format, "result").tobytes()
        if one.flags is not None:
            given = np.asarray(one.flags)
            if results is None or given.shape != batch or np.any((codes := given.astype(np.uint8)) != given):
                raise ValueError(f"flags are numbers of 8 bits, {batch}, one for each result, not {given.dtype} {given.shape}")
            flags = codes.tobytes()
        writer.write(one.unit, one.statement, op, columns, results, flags)
    writer.finish()
