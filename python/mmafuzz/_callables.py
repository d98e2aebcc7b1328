"""A Python callable as a unit: what stands between the search and the user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._cases import arrays_of
from ._formats import as_array, codes_dtype, codes_of, number_dtype
from ._unit import joined_result, result_shape


class CallableError(RuntimeError):
    """A callable raised, or returned what is no result of the op; the message says which.

    `__cause__` is what it raised."""


def name_of(function: Callable[..., Any]) -> str:
    """The callable's name among units, without a prefix."""
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(ch if ch.isalnum() or ch == "_" else "_" for ch in name)


def _joined(op: _core.Op, returned: Any, cases: int, name: str) -> bytes:
    try:
        scales, codes = returned
        result = joined_result(op, (scales, codes))
    except (TypeError, ValueError) as e:
        raise CallableError(f"callable {name} must return a pair, the scales and the codes of '{op.text}': {e}") from e
    if result.shape != (cases, *result_shape(op)):
        raise CallableError(f"callable {name} returned {result.shape[0]} blocks of {result.shape[-1] - 1} codes")
    return result.tobytes()


def adapter(function: Callable[..., Any]) -> Callable[[str, list[bytearray], int], bytes]:
    """What the extension module calls: bytes in, bytes out. Raises CallableError."""
    name = getattr(function, "__name__", type(function).__name__)
    ops: dict[str, _core.Op] = {}

    def call(text: str, fields: list[bytearray], cases: int) -> bytes:
        op = ops.get(text)
        if op is None:
            op = ops[text] = _core.Op(text)
        arrays = arrays_of(op, fields)
        try:
            returned = function(*arrays)
        except Exception as e:
            raise CallableError(f"callable {name} raised {type(e).__name__}: {e}") from e
        _, format, _ = op.result
        if op.kind == "quantize":
            return _joined(op, returned, cases, name)
        codes, numbers, shape = codes_dtype(format), number_dtype(format), (cases, *result_shape(op))
        wanted = f"an array of {numbers} and shape {shape}" + ("" if numbers == codes else f" (or {codes} codes)")
        try:
            result = as_array(returned, "the result")
        except (TypeError, ValueError) as e:
            raise CallableError(f"callable {name} returned no array of numbers, but {wanted} is needed: {e}") from e
        if result.dtype not in (numbers, codes):
            raise CallableError(f"callable {name} returned {result.dtype}, but {wanted} is needed")
        if result.shape != shape:
            raise CallableError(f"callable {name} returned shape {result.shape}, but {wanted} is needed")
        try:
            return codes_of(result, format, "the result").tobytes()
        except ValueError as e:
            raise CallableError(f"callable {name} returned wrong codes: {e}") from e

    return call
