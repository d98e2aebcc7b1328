"""`scale_by=` and `codes_by=` of quantizers: the same steps in NumPy's single precision, and ml_dtypes' roundings."""

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

OP = "quantize from=fp32 to=e2m1 block=16 scale=e4m3 tensor=fp32 special=nan_scale"
ONE, SIX = np.float32(1), np.float32(6)

SCALES = {
    "divisions": lambda amax, t: (amax / SIX) / t,
    "reciprocal_of_greatest": lambda amax, t: (amax * (ONE / SIX)) / t,
    "reciprocal_of_tensor": lambda amax, t: (amax / SIX) * (ONE / t),
    "reciprocals": lambda amax, t: (amax * (ONE / SIX)) * (ONE / t),
    "product": lambda amax, t: amax / (SIX * t),
    "tensor_first": lambda amax, t: (amax / t) / SIX,
}
CODES = {
    "product": lambda x, s, t: x / (s * t),
    "reciprocal_of_product": lambda x, s, t: x * (ONE / (s * t)),
    "reciprocal_over_scale": lambda x, s, t: x * ((ONE / t) / s),
    "tensor_first": lambda x, s, t: (x / t) / s,
    "scale_first": lambda x, s, t: (x / s) / t,
    "reciprocals": lambda x, s, t: (x * (ONE / t)) * (ONE / s),
    "product_of_reciprocals": lambda x, s, t: x * ((ONE / t) * (ONE / s)),
}


def blocks(seed):
    """Blocks and tensors' scales: amax beside a threshold of the scale, the numbers beside one of the codes."""
    rng = np.random.default_rng(seed)
    n = 20000
    t = rng.uniform(1, 2, n).astype(np.float32) * np.exp2(rng.integers(-8, 8, n)).astype(np.float32)
    codes = rng.integers(8, 126, n).astype(np.uint8)
    low, high = (c.view(ml_dtypes.float8_e4m3fn).astype(np.float64) for c in (codes, codes + np.uint8(1)))
    amax = (6 * t.astype(np.float64) * (low + high) / 2).astype(np.float32)
    amax = (amax.view(np.int32) + rng.integers(-1, 2, n).astype(np.int32)).view(np.float32)
    middles = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])
    x = (rng.choice(middles, (n, 16)) * (low * t)[:, None]).astype(np.float32)
    x = np.minimum((x.view(np.int32) + rng.integers(-1, 2, x.shape).astype(np.int32)).view(np.float32), amax[:, None])
    x[np.arange(n), rng.integers(0, 16, n)] = amax
    return x * rng.choice([-ONE, ONE], x.shape), t


def scales_of(quotient):
    return np.minimum(quotient, np.float32(448)).astype(ml_dtypes.float8_e4m3fn)


def codes_of(quotient):
    return np.clip(quotient, -SIX, SIX).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)


@pytest.mark.parametrize("name", SCALES)
def test_scales_are_of_these_steps(name):
    x, t = blocks(1)
    scales, _ = mmafuzz.unit(f"quantizer:nearest?scale_by={name}").evaluate(OP, x, t)
    expected = scales_of(SCALES[name](np.abs(x).max(axis=1), t))
    assert (np.asarray(scales).view(np.uint8) == expected.view(np.uint8)).all()


@pytest.mark.parametrize("name", CODES)
def test_codes_are_of_these_steps(name):
    x, t = blocks(2)
    scales, codes = mmafuzz.unit(f"quantizer:nearest?codes_by={name}").evaluate(OP, x, t)
    s = np.asarray(scales).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    assert (np.asarray(codes).view(np.uint8) == codes_of(CODES[name](x, s[:, None], t[:, None]))).all()


def test_each_way_has_its_twin():
    for setting, known in (("scale_by", SCALES), ("codes_by", CODES)):
        with pytest.raises(ValueError) as refused:
            mmafuzz.unit(f"quantizer:nearest?{setting}=none").evaluate(OP, *blocks(3))
        words = str(refused.value).split(f"{setting}= is ")[1].replace(" or ", ", ").split(", ")
        assert words == ["exact", *known]
