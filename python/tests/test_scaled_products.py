"""Units `scaled:`: the recipes' texts again in NumPy, and what a recipe cannot do."""

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

ELEMENTS = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}


def greatest(element):
    return float(ml_dtypes.finfo(ELEMENTS[element]).max)


def codes(x, element):
    """The numbers of the element's format nearest to x, at most its greatest one."""
    clipped = np.clip(x, -greatest(element), greatest(element))
    return clipped.astype(ELEMENTS[element]).astype(np.float64)


def blocks(x, rows, length):
    """Views of x, (m, k), that share a scale."""
    m, k = x.shape
    rows, length = rows or m, length or k
    for i in range(0, m, rows):
        for at in range(0, k, length):
            yield slice(i, i + rows), slice(at, at + length)


def quantized(x, element, rows, length, scale_of):
    """Elements and scales, each with x's shape."""
    element_values, scales = np.zeros(x.shape), np.ones(x.shape)
    for where in blocks(x, rows, length):
        scales[where] = scale_of(np.abs(x[where]).max())
        element_values[where] = codes(x[where] / scales[where], element)
    return element_values, scales


def power_of_two(element):
    """OCP MX 1.0, 6.3: the exponent of amax less that of the greatest element."""
    emax = np.frexp(greatest(element))[1]
    return lambda amax: 2.0 ** (np.frexp(amax)[1] - emax)


def nearest_fp32(element):
    return lambda amax: float(np.float32(np.float64(amax) / greatest(element)))


def matrices(m, k, n, seed):
    rng = np.random.default_rng(seed)
    spread = np.exp2(rng.integers(-3, 4, (m, k)))
    return (rng.standard_normal((m, k)) * spread).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)


def chain(a, b, first, count):
    """The sum of some products a.b' in exact dots of 32, each rounded to fp32."""
    d = np.zeros((len(a), len(b)), np.float32)
    for at in range(first, min(first + count, a.shape[1]), 32):
        d = (d + a[:, at : at + 32] @ b.T[at : at + 32]).astype(np.float32)
    return d


def fused(x, y, z):
    """x * y + z of fp32, as good as rounded once: the product's 48 bits are exact in 64, and the sum keeps 64."""
    return (x.astype(np.longdouble) * y + z).astype(np.float32)


@pytest.mark.parametrize(
    "unit,element,step",
    [("mxfp8.e4m3", "e4m3", 32), ("mxfp8.e5m2", "e5m2", 32), ("mxfp6.e3m2", "e3m2", 32), ("mxfp6.e2m3", "e2m3", 32),
     ("mxfp4", "e2m1", 64)],
)
def test_mx(unit, element, step):
    a, b = matrices(5, 200, 3, 1)
    of_a, scale_a = quantized(a, element, 1, 32, power_of_two(element))
    of_b, scale_b = quantized(b.T, element, 1, 32, power_of_two(element))
    d = np.zeros((5, 3), np.float32)
    for at in range(0, 200, step):
        part = slice(at, at + step)  # exact in fp64: few bits, and exponents close together
        d = (d + (of_a * scale_a)[:, part] @ (of_b * scale_b).T[part]).astype(np.float32)
    assert (mmafuzz.unit(f"scaled:{unit}?on=exact").matmul(a, b) == d).all()


def test_nvfp4():
    a, b = matrices(4, 96, 6, 2)

    def tensor(x):
        return float(np.float32(np.float64(np.abs(x).max()) / (6 * 448)))

    def scale(x):
        return lambda amax: codes(np.float64(amax) / (6 * tensor(x)), "e4m3")

    of_a, of_b = [], []
    for x, to in ((a, of_a), (b.T, of_b)):
        elements = np.zeros(x.shape)
        scales = np.zeros(x.shape)
        for where in blocks(x, 1, 16):
            scales[where] = scale(x)(np.abs(x[where]).max())
            elements[where] = codes(x[where] / (scales[where] * tensor(x)), "e2m1")
        to.append(elements * scales)
    d = np.zeros((4, 6), np.float32)
    for at in range(0, 96, 64):
        d = (d + of_a[0][:, at : at + 64] @ of_b[0].T[at : at + 64]).astype(np.float32)
    factor = np.float32(np.float32(tensor(a)) * np.float32(tensor(b)))
    assert (mmafuzz.unit("scaled:nvfp4?on=exact").matmul(a, b) == d * factor).all()


@pytest.mark.parametrize("unit,rows_a,columns_b", [("fp8.tensor", 0, 0), ("fp8.row", 1, 1)])
def test_one_scale_at_the_end(unit, rows_a, columns_b):
    a, b = matrices(4, 100, 5, 3)
    of_a, scale_a = quantized(a, "e4m3", rows_a, 0, nearest_fp32("e4m3"))
    of_b, scale_b = quantized(b.T, "e4m3", columns_b, 0, nearest_fp32("e4m3"))
    d = chain(of_a, of_b, 0, 100)
    of_a, of_b = scale_a[:, :1].astype(np.float32), scale_b[:, 0].astype(np.float32)
    # As torch on an H200 (test_recorded_products.py).
    expected = (d * of_b) * of_a if unit == "fp8.row" else d * (of_a * of_b)
    assert (mmafuzz.unit(f"scaled:{unit}?on=exact").matmul(a, b) == expected).all()


def test_narrow_tiles():
    """1 x 128 of both, a's scale first, as torch on an H200 (test_recorded_products.py)."""
    a, b = matrices(3, 300, 4, 5)
    of_a, scale_a = quantized(a, "e4m3", 1, 128, nearest_fp32("e4m3"))
    of_b, scale_b = quantized(b.T, "e4m3", 1, 128, nearest_fp32("e4m3"))
    d = np.zeros((3, 4), np.float32)
    for first in range(0, 300, 128):
        part = chain(of_a, of_b, first, 128) * scale_a[:, first : first + 1].astype(np.float32)
        d = fused(part, scale_b[:, first].astype(np.float32), d)
    assert (mmafuzz.unit("scaled:fp8.tile1?on=exact").matmul(a, b) == d).all()


@pytest.mark.parametrize("promote", [32, 128])
def test_tiles(promote):
    """DeepSeek-V3's: 1 x 128 of a, 128 x 128 of b, each tile's sum times both scales added in fp32."""
    a, b = matrices(3, 300, 130, 4)
    of_a, scale_a = quantized(a, "e4m3", 1, 128, nearest_fp32("e4m3"))
    of_b, scale_b = quantized(b.T, "e4m3", 128, 128, nearest_fp32("e4m3"))
    d = np.zeros((3, 130), np.float32)
    for first in range(0, 300, promote):
        scales = scale_a[:, first : first + 1].astype(np.float32) * scale_b[:, first].astype(np.float32)
        d = fused(chain(of_a, of_b, first, promote), scales, d)
    assert (mmafuzz.unit(f"scaled:fp8.tile?promote={promote},on=exact").matmul(a, b) == d).all()


def test_scales_outside_the_unit():
    """An MX product on a unit without scales: each block's sum times 2^n, added in fp32."""
    a, b = matrices(4, 128, 4, 5)
    of_a, scale_a = quantized(a, "e4m3", 1, 32, power_of_two("e4m3"))
    of_b, scale_b = quantized(b.T, "e4m3", 1, 32, power_of_two("e4m3"))
    d = np.zeros((4, 4), np.float32)
    for at in range(0, 128, 32):
        part = (of_a[:, at : at + 32] @ of_b.T[at : at + 32]).astype(np.float32)
        d = (d + part * (scale_a[:, at : at + 1] * scale_b[:, at])).astype(np.float32)
    assert (mmafuzz.unit("scaled:mxfp8.e4m3?apply=outside,on=exact").matmul(a, b) == d).all()


@pytest.mark.parametrize(
    "settings,reason",
    [("fp8.tile?promote=48", "unit_k=32"), ("fp8.tile?promote=never", "divide the block"), ("nvfp4?rule=floor,scale=e8m0", "e4m3"),
     ("fp8.row?apply=outside", "at the end"), ("fp8.tile?apply=unit", "no unit takes"), ("fp8.tile?rule=floor", "fraction"),
     ("mxfp4?unit_k=48", "do not divide"), ("mxfp9", "unknown"), ("mxfp4?block=16", "unknown parameter")],
)
def test_declined(settings, reason):
    a, b = matrices(2, 64, 2, 6)
    with pytest.raises(ValueError, match=reason):
        mmafuzz.unit(f"scaled:{settings}").matmul(a, b)


def test_nan_and_zeros():
    a, b = matrices(3, 64, 2, 7)
    a[0, 5] = np.nan
    a[1] = 0
    for unit in ("mxfp8.e4m3", "nvfp4", "fp8.row", "fp8.tile"):
        d = mmafuzz.unit(f"scaled:{unit}").matmul(a, b)
        assert np.isnan(d[0]).all() and (d[1] == 0).all() and np.isfinite(d[2]).all(), unit
