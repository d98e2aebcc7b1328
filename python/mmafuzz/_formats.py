"""Formats and the NumPy dtypes that hold them.

Numbers travel as encodings: an array of a format's dtype, or unsigned integers of the format's storage size (1, 2, 4 or
8 bytes), one encoding in the low bits of each."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from . import _core

#: The format of each dtype. Formats without a dtype of their own (cfloat8_*, shp, uhp) travel as codes; tf32 is held in
#: float32, ue4m3 in float8_e4m3fn.
FORMAT_OF_DTYPE: dict[np.dtype, str] = {
    np.dtype(dtype): name
    for dtype, name in (
        (np.float64, "fp64"),
        (np.float32, "fp32"),
        (np.float16, "fp16"),
        (ml_dtypes.bfloat16, "bf16"),
        (ml_dtypes.float8_e5m2, "e5m2"),
        (ml_dtypes.float8_e4m3fn, "e4m3"),
        (ml_dtypes.float8_e5m2fnuz, "e5m2fnuz"),
        (ml_dtypes.float8_e4m3fnuz, "e4m3fnuz"),
        (ml_dtypes.float6_e3m2fn, "e3m2"),
        (ml_dtypes.float6_e2m3fn, "e2m3"),
        (ml_dtypes.float4_e2m1fn, "e2m1"),
        (ml_dtypes.float8_e8m0fnu, "e8m0"),
        (ml_dtypes.int4, "s4"),
        (ml_dtypes.uint4, "u4"),
        (np.int8, "s8"),
        (np.uint8, "u8"),
        (np.int16, "s16"),
        (np.int32, "s32"),
    )
}
DTYPE_OF_FORMAT: dict[str, np.dtype] = {name: dtype for dtype, name in FORMAT_OF_DTYPE.items()}
DTYPE_OF_FORMAT["s64"] = np.dtype(np.int64)
DTYPE_OF_FORMAT["tf32"] = np.dtype(np.float32)
DTYPE_OF_FORMAT["ue4m3"] = np.dtype(ml_dtypes.float8_e4m3fn)

#: DLPack's dtype codes and widths (dlpack.h), for arrays that NumPy does not import by itself.
_DTYPE_OF_DLPACK = {
    (0, 8): np.int8,
    (0, 16): np.int16,
    (0, 32): np.int32,
    (0, 64): np.int64,
    (1, 8): np.uint8,
    (1, 16): np.uint16,
    (1, 32): np.uint32,
    (1, 64): np.uint64,
    (2, 16): np.float16,
    (2, 32): np.float32,
    (2, 64): np.float64,
    (4, 16): ml_dtypes.bfloat16,
    (10, 8): ml_dtypes.float8_e4m3fn,
    (11, 8): ml_dtypes.float8_e4m3fnuz,
    (12, 8): ml_dtypes.float8_e5m2,
    (13, 8): ml_dtypes.float8_e5m2fnuz,
    (14, 8): ml_dtypes.float8_e8m0fnu,
    (15, 6): ml_dtypes.float6_e2m3fn,
    (16, 6): ml_dtypes.float6_e3m2fn,
}


@functools.cache
def codes_dtype(format: str) -> np.dtype:
    """The unsigned integers that hold a format's encodings. ValueError: no such format."""
    return np.dtype(f"u{_core.format_fields(format)['storage_bytes']}")


class _Holder(NamedTuple):
    """What may hold a format's numbers."""

    codes: np.dtype
    numbers: np.dtype | None
    greatest: int | None  #: the greatest encoding where the container is wider than the format


_holders: dict[str, _Holder] = {}


def _holder(format: str) -> _Holder:
    fields = _core.format_fields(format)
    is_full = fields["width"] == 8 * fields["storage_bytes"]
    holder = _Holder(codes_dtype(format), DTYPE_OF_FORMAT.get(format), None if is_full else (1 << fields["width"]) - 1)
    return _holders.setdefault(format, holder)


def has_spare_codes(format: str) -> bool:
    """Whether the container is wider than the format, so that a code may be beyond it."""
    return (_holders.get(format) or _holder(format)).greatest is not None


def number_dtype(format: str) -> np.dtype:
    """The dtype in which results of a format are returned: its own, else unsigned codes."""
    return DTYPE_OF_FORMAT.get(format) or codes_dtype(format)


#: dtypes that `as_array` has let through, so that a small call does not pay for its questions again.
_plain: set[np.dtype] = set()


def as_array(x: Any, name: str) -> np.ndarray:
    """`x` as an array in native byte order, without a copy where its layout allows: an array, what speaks DLPack (a
    torch tensor), a number or nested lists of numbers. TypeError, ValueError."""
    if type(x) is not np.ndarray:
        x = _imported(x, name)
    dtype = x.dtype
    if dtype in _plain:
        return x
    if dtype.kind == "O" or dtype.names is not None or dtype.hasobject:
        raise TypeError(f"{name} is an array of {dtype}: pass numbers")
    if not dtype.isnative:
        bits = x.view(f"{dtype.byteorder}u{dtype.itemsize}")  # as integers, so that no NaN is touched
        return bits.astype(bits.dtype.newbyteorder("=")).view(dtype.newbyteorder("="))
    if dtype in FORMAT_OF_DTYPE:  # so the set stays small
        _plain.add(dtype)
    return x


def _imported(x: Any, name: str) -> np.ndarray:
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: pass its data, or fill it")
    if isinstance(x, (np.ndarray, np.generic)):
        return np.asarray(x)
    if hasattr(x, "__dlpack__"):
        try:
            exported: Any = _core.from_dlpack(x)
        except TypeError:
            raise TypeError(
                f"{name} is {type(x).__name__}, which does not give its data to the CPU through DLPack"
            ) from None
        bits, code, width = exported
        dtype = _DTYPE_OF_DLPACK.get((code, width))
        if dtype is None:
            raise TypeError(f"{name} has a dtype that no format has (DLPack code {code}, {width} bits)")
        return bits.view(dtype)
    if x is None or isinstance(x, (str, bytes, dict, set)) or callable(x):
        raise TypeError(f"{name} is {type(x).__name__}: pass an array of numbers")
    try:
        return np.asarray(x)
    except ValueError as e:
        raise ValueError(f"{name} is no array: {e}") from None


def format_of(x: np.ndarray, name: str) -> str:
    """The format of an array by its dtype. TypeError."""
    format = FORMAT_OF_DTYPE.get(x.dtype)
    if format is None:
        hint = ": name the format of these codes, as in op='a=e2m1 b=e2m1'" if x.dtype.kind == "u" else ""
        raise TypeError(f"{name} is an array of {x.dtype}, which no format has{hint}")
    return format


def codes_of(x: np.ndarray, format: str, name: str) -> np.ndarray:
    """The encodings of an array, which holds numbers of the format's dtype or unsigned codes, as a view. TypeError,
    ValueError."""
    codes, own, greatest = _holders.get(format) or _holder(format)
    if x.dtype != codes:
        if x.dtype != own:
            wanted = f"{own} or {codes} codes" if own is not None else f"{codes} codes"
            raise TypeError(f"{name} is an array of {x.dtype}, but the op takes {format}: pass {wanted}")
        x = x.view(codes)
    if greatest is not None and x.size and int(x.max()) > greatest:
        raise ValueError(f"{name} has a code of more than the {greatest.bit_length()} bits of {format}")
    if not x.flags.c_contiguous and any(stride % x.itemsize for stride in x.strides):
        return np.ascontiguousarray(x)  # a field of records
    return x


def numbers_of(codes: np.ndarray, format: str) -> np.ndarray:
    """Encodings as an array of the format's dtype, or as they are where it has none."""
    dtype = number_dtype(format)
    return codes if codes.dtype == dtype else codes.view(dtype)
