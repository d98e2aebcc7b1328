"""Inputs of a conversion, as encodings of its source."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import mmafuzz
from mmafuzz._formats import codes_dtype

#: Inputs of one call of a party.
BLOCK = 1 << 20

IEEE = mmafuzz.unit("ieee")
#: Sources whose specials are tried one by one.
_WIDE = ("fp64", "fp32", "fp16", "bf16")


def width(format: str) -> int:
    return mmafuzz._core.format_fields(format)["width"]


def is_integer(format: str) -> bool:
    return mmafuzz._core.format_fields(format)["integer"]


def integers_of(bits: int) -> np.dtype:
    """The unsigned integers that hold so many bits."""
    return np.dtype(f"u{next(wide for wide in (8, 16, 32, 64) if wide >= bits) // 8}")


def as_codes(array: np.ndarray) -> np.ndarray:
    """The encodings of an array of numbers."""
    return array.view(f"u{array.dtype.itemsize}")


def converted(codes: np.ndarray, source: str, target: str, unit: mmafuzz.Unit = IEEE, attributes: str = "") -> np.ndarray:
    """Encodings in `target` of encodings in `source`, rounded once."""
    if source == target:
        return codes
    fields = codes.view(np.int8 if source == "s8" else np.int32) if source in ("s8", "s32") else codes
    return as_codes(unit.evaluate(f"convert from={source} to={target} {attributes}".strip(), fields))


def operands_of(codes: np.ndarray, formats: tuple[str, ...]) -> list[np.ndarray]:
    """The encodings of each operand, from inputs that hold the first one in their high bits."""
    found: list[np.ndarray] = []
    shift = 0
    for format in reversed(formats):
        mask = (1 << width(format)) - 1
        found.insert(0, ((codes >> codes.dtype.type(shift)) & codes.dtype.type(mask)).astype(codes_dtype(format)))
        shift += width(format)
    return found


def everything(bits: int) -> Iterator[np.ndarray]:
    """All inputs of up to 32 bits, a block at a time."""
    for first in range(0, 1 << bits, BLOCK):
        yield np.arange(first, min(first + BLOCK, 1 << bits), dtype=np.uint64).astype(integers_of(bits))


def boundaries(source: str, target: str) -> np.ndarray:
    """Every number of the target and every midpoint of two neighbours, each with the encodings of the source beside it and,
    where the source is wide, those just beyond it; and specials of the source: zeros, ends, infinities, kinds of NaN.
    A midpoint beyond the greatest number, where overflow begins, is among them."""
    dtype = codes_dtype(source)
    bits = 8 * dtype.itemsize
    magnitudes = converted(np.concatenate(list(everything(width(target)))), target, "fp64").view(np.float64)
    magnitudes = np.unique(np.abs(magnitudes[np.isfinite(magnitudes)]))
    step = magnitudes[-1] - magnitudes[-2]
    magnitudes = np.concatenate([magnitudes, magnitudes[-1] + step * np.array([1.0, 2.0])])
    least = magnitudes[magnitudes > 0][0]
    points = np.concatenate([magnitudes, (magnitudes[1:] + magnitudes[:-1]) / 2, least * 2.0 ** -np.arange(1, 4)])
    if source == "s32":
        whole = np.trunc(points[points < 2**31]).astype(np.int64)
        positive = np.concatenate([whole - 1, whole, whole + 1, [2**31 - 1]])
        return np.unique(np.concatenate([positive, -positive]).astype(np.int32)).view(np.uint32)
    near = converted(points.view(np.uint64), "fp64", source).astype(dtype)
    around = [near + np.array(offset, np.int64).astype(dtype) for offset in (-1, 0, 1)]
    if source == "fp64":  # where the way leads through a narrower format, the bits far below decide
        far = range(1, 45) if width(target) < 16 else (16, 28, 29)
        around += [near + (np.uint64(1) << np.uint64(shift)) for shift in far]
        around += [near - (np.uint64(1) << np.uint64(shift)) for shift in far]
    if source == "fp32" and width(target) < 16:  # and one bit more of the fraction
        around += [near ^ dtype.type(1 << shift) for shift in range(1, 23)]
    one_sign = np.concatenate([*around, *([specials(source)] if source in _WIDE else [])])
    return np.unique(np.concatenate([one_sign, one_sign ^ dtype.type(1 << (bits - 1))]))


def specials(format: str) -> np.ndarray:
    """Of a format of IEEE 754, without sign: zero, ends of the ranges of subnormal and normal numbers, infinity, kinds of NaN."""
    fraction = mmafuzz._core.format_fields(format)["fraction_bits"]
    greatest = (1 << (width(format) - 1)) - 1
    top = greatest >> fraction << fraction  # infinity
    found = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, top - 1, top]
    found += [top + 1, top + (1 << (fraction - 1)) - 1, top + (1 << (fraction - 1)), greatest]
    found += [top + (1 << shift) for shift in range(fraction)]  # NaNs with one bit of payload
    return np.array(found, np.uint64).astype(codes_dtype(format))


def structured(source: str, target: str, count: int, seed: int) -> Iterator[np.ndarray]:
    """`count` encodings: half uniform over the bits, a half near boundaries of the target, with a low bit or a run of low
    bits changed."""
    rng = np.random.default_rng(seed)
    dtype = codes_dtype(source)
    bits = 8 * dtype.itemsize
    near = boundaries(source, target)
    for first in range(0, count, BLOCK):
        size = min(BLOCK, count - first)
        uniform = rng.integers(0, 1 << bits, size - size // 2, dtype=np.uint64, endpoint=False)
        chosen = near[rng.integers(0, len(near), size // 2)]
        length = rng.integers(0, bits // 2, size // 2).astype(np.uint64)
        noise = rng.integers(0, 1 << 32, size // 2, dtype=np.uint64) & ((np.uint64(1) << length) - np.uint64(1))
        yield np.concatenate([uniform.astype(dtype), chosen ^ noise.astype(dtype)])
