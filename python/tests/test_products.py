"""Products on whole arrays, against integer and rational arithmetic."""

import ml_dtypes
import numpy as np
import pytest
from reference import exact_dot, truncated_dot, wide_fp16

import mmafuzz

HOPPER = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
AMPERE = "model:ampere/mma.m16n8k16.f32.f16.f16.f32"


def same_bits(x, y):
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


@pytest.mark.parametrize(
    "name,block,bits", [(HOPPER, 16, 25), (AMPERE, 8, 24), ("model:volta/mma.m8n8k4.f32.f16.f16.f32", 4, 23)]
)
@pytest.mark.parametrize("k", [5, 16, 40, 64, 100])
def test_model_products_follow_the_prose(name, block, bits, k):
    rng = np.random.default_rng(k)
    a, b = wide_fp16(rng, (6, k)), wide_fp16(rng, (k, 5))
    c = (rng.standard_normal((6, 5)) * 64).astype(np.float32)
    d = mmafuzz.unit(name).matmul(a, b, c)
    expected = np.array([[truncated_dot(a[i], b[:, j], c[i, j], block, bits) for j in range(5)] for i in range(6)])
    assert same_bits(d, expected)


def test_the_reference_tells_generations_apart():
    rng = np.random.default_rng(3)
    a, b = wide_fp16(rng, (200, 16)), wide_fp16(rng, (200, 16))
    c = rng.standard_normal(200).astype(np.float32)
    hopper = np.array([truncated_dot(x, y, z, 16, 25) for x, y, z in zip(a, b, c)])
    assert same_bits(mmafuzz.unit("h100").dot(a, b, c), hopper)
    assert not same_bits(mmafuzz.unit("a100").dot(a, b, c), hopper)


def test_exact_rounds_the_sum_once():
    rng = np.random.default_rng(4)
    a, b = wide_fp16(rng, (300, 24)), wide_fp16(rng, (300, 24))
    c = rng.standard_normal(300).astype(np.float32)
    expected = np.array([exact_dot(*row) for row in zip(a, b, c)])
    assert same_bits(mmafuzz.unit("exact").dot(a, b, c), expected)


def integers(rng, shape, dtype, limit):
    return rng.integers(-limit, limit + 1, shape).astype(np.float32).astype(dtype)


# Small integers are exact in every unit, whatever its order and width: the answer is NumPy's integer product.
FORMATS = [
    ("model:hopper/mma.m16n8k16.f32.f16.f16.f32", np.float16, np.float32),
    ("h100", ml_dtypes.bfloat16, np.float32),
    ("a100", np.float16, np.float16),
    ("h100/wgmma", ml_dtypes.float8_e4m3fn, np.float32),
    ("h100/wgmma", ml_dtypes.float8_e5m2, np.float32),
    ("ada", ml_dtypes.float8_e4m3fn, np.float32),
    ("mi300x", ml_dtypes.float8_e4m3fnuz, np.float32),
    ("mi300x", np.float16, np.float32),
    ("exact", np.float64, np.float64),
    ("ieee:fma", np.float32, np.float32),
    ("integer", np.int8, np.int32),
    ("h100", np.float64, np.float64),
]


@pytest.mark.parametrize("name,dtype,result", FORMATS)
@pytest.mark.parametrize("m,n,k", [(1, 1, 1), (3, 5, 7), (16, 8, 16), (33, 65, 48), (2, 700, 130), (600, 1, 20)])
def test_small_integers_are_exact_in_every_format(name, dtype, result, m, n, k):
    rng = np.random.default_rng(m * n + k)
    a, b = integers(rng, (m, k), dtype, 2), integers(rng, (k, n), dtype, 2)
    c = rng.integers(-9, 10, (m, n)).astype(result)
    d = mmafuzz.unit(name).matmul(a, b, c)
    expected = a.astype(np.int64) @ b.astype(np.int64) + c.astype(np.int64)
    assert d.dtype == result and (d.astype(np.int64) == expected).all()
    again = mmafuzz.unit(name).matmul(a, b, c, threads=3)
    assert same_bits(d, again)


def test_codes_and_numbers_are_the_same_operands():
    rng = np.random.default_rng(8)
    a = integers(rng, (4, 32), ml_dtypes.float4_e2m1fn, 4)
    b = integers(rng, (32, 3), ml_dtypes.float4_e2m1fn, 4)
    names = [u.name for u in mmafuzz.units("model:*e2m1.e2m1.f32")]  # no row with scales
    assert names
    expected = a.astype(np.int64) @ b.astype(np.int64)
    for name in names:
        unit = mmafuzz.unit(name)
        assert (unit.matmul(a, b) == expected).all()
        assert (unit.matmul(a.view(np.uint8), b.view(np.uint8)) == expected).all()
    assert (mmafuzz.unit("exact").matmul(a.view(np.uint8), b.view(np.uint8), op="a=e2m1 b=e2m1") == expected).all()


@pytest.mark.parametrize(
    "format,one",
    [
        ("cfloat8_1_4_3:7", 0x38),
        ("e3m2", 0x0C),
        ("e2m3", 0x08),
        ("tf32", 0x3F800000),
        ("shp:15", 0x3C00),
        ("uhp", 31 << 10),
    ],
)
def test_codes_of_formats_without_dtype(format, one):
    # The codes of 1 and +0 are typed from the formats' fields.
    codes = np.array(
        [0, one], np.uint32 if format == "tf32" else np.uint16 if format in ("shp:15", "uhp") else np.uint8
    )
    rng = np.random.default_rng(9)
    x, y = rng.integers(0, 2, (5, 12)), rng.integers(0, 2, (12, 4))
    d = mmafuzz.unit("exact").matmul(codes[x], codes[y], op=f"a={format} b={format} d=fp32")
    assert d.dtype == np.float32 and (d == x @ y).all()


@pytest.mark.parametrize("k", [32, 64, 80, 160])
def test_scales_multiply_blocks(k):
    unit = mmafuzz.unit(
        next(u.name for u in mmafuzz.units("model:*") if "sa=e8m0" in u.summary and "a=e4m3 b=e4m3" in u.summary)
    )
    rng, blocks = np.random.default_rng(k), -(-k // 32)
    a, b = integers(rng, (3, k), ml_dtypes.float8_e4m3fn, 4), integers(rng, (k, 5), ml_dtypes.float8_e4m3fn, 4)
    sa, sb = rng.integers(126, 130, (3, blocks)).astype(np.uint8), rng.integers(126, 130, (blocks, 5)).astype(np.uint8)
    expected = np.zeros((3, 5))
    for block in range(blocks):
        part = slice(32 * block, 32 * block + 32)
        scale = 2.0 ** (sa[:, block, None].astype(float) - 127) * 2.0 ** (sb[None, block].astype(float) - 127)
        expected += scale * (a[:, part].astype(float) @ b[part].astype(float))
    d = unit.matmul(a, b, scale_a=sa, scale_b=sb, op="sblock=32")
    assert (d == expected).all()
    numbers = {"scale_a": sa.view(ml_dtypes.float8_e8m0fnu), "scale_b": sb.view(ml_dtypes.float8_e8m0fnu)}
    assert same_bits(d, unit.matmul(a, b, **numbers))
    assert (unit.dot(a, b[:, 0], scale_a=sa, scale_b=sb[:, 0]) == expected[:, 0]).all()


def layouts():
    rng = np.random.default_rng(11)
    a, b = integers(rng, (12, 40), np.float16, 3), integers(rng, (40, 9), np.float16, 3)
    padded = np.full((12, 80), np.nan, np.float16)
    padded[:, ::2] = a
    records = np.zeros((12, 40), np.dtype([("tag", "u1"), ("x", "<f2")]))
    records["x"] = a
    yield "contiguous", a, b
    yield "fortran", np.asfortranarray(a), np.asfortranarray(b)
    yield "transposed views", a.T.copy().T, b.T.copy().T
    yield "every other column", padded[:, ::2], b
    yield "reversed", a[::-1].copy()[::-1], b[:, ::-1].copy()[:, ::-1]
    yield "big-endian", a.astype(">f2"), b.astype(">f2")
    yield "fields of records", records["x"], b
    yield "read-only", np.frombuffer(a.tobytes(), np.float16).reshape(a.shape), b
    unaligned = np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(np.float16).reshape(a.shape)
    yield "unaligned", unaligned, b


@pytest.mark.parametrize("what,a,b", list(layouts()), ids=lambda x: x if isinstance(x, str) else "")
def test_layouts(what, a, b):
    expected = np.asarray(a, np.float64) @ np.asarray(b, np.float64)
    assert (mmafuzz.unit(HOPPER).matmul(a, b) == expected).all()
    assert (mmafuzz.unit(HOPPER).dot(a[:, None, :], b.T) == expected).all()


@pytest.mark.parametrize(
    "a,b,c",
    [
        ((16,), (16,), ()),
        ((16,), (16, 3), (3,)),
        ((4, 16), (16,), (4,)),
        ((5, 4, 16), (16, 3), (3,)),
        ((4, 16), (5, 16, 3), (5, 1, 3)),
        ((2, 1, 4, 16), (3, 16, 2), (2, 3, 4, 2)),
        ((0, 16), (16, 3), None),
        ((4, 16), (16, 0), None),
        ((0, 4, 16), (0, 16, 3), None),
        ((7, 4, 16), (7, 16, 3), None),
    ],
)
def test_shapes_are_those_of_numpy(a, b, c):
    rng = np.random.default_rng(12)
    x, y = integers(rng, a, np.float16, 3), integers(rng, b, np.float16, 3)
    z = None if c is None else integers(rng, c, np.float32, 9)
    d = mmafuzz.unit(HOPPER).matmul(x, y, z)
    expected = np.matmul(x.astype(float), y.astype(float)) + (0 if z is None else z.astype(float))
    assert np.shape(d) == expected.shape and (d == expected).all()


def test_a_long_product_is_a_chain_of_instructions():
    rng = np.random.default_rng(13)
    a, b = wide_fp16(rng, (4, 100)), wide_fp16(rng, (100, 3))
    unit = mmafuzz.unit(HOPPER)
    d = np.zeros((4, 3), np.float32)
    for first in range(0, 100, 16):
        d = unit.matmul(a[:, first : first + 16], b[first : first + 16], d)
    assert same_bits(unit.matmul(a, b), d)
    assert same_bits(unit.matmul(a, b, k=16), d)
    assert same_bits(unit.dot(a[:, None, :], b.T[None], k=16), d)
    chain_of_4 = [truncated_dot(a[0], b[:, 0], 0, 4, 25)]
    assert unit.matmul(a, b, k=4)[0, 0] == chain_of_4[0]
    # `exact` sums all products at once; k=10 makes a chain of ten dots of it.
    whole, parts = (mmafuzz.unit("exact").matmul(a, b, **k) for k in ({}, {"k": 10}))
    expected = np.float32(0)
    for first in range(0, 100, 10):
        expected = exact_dot(a[0, first : first + 10], b[first : first + 10, 0], expected)
    assert parts[0, 0] == expected and whole[0, 0] == exact_dot(a[0], b[:, 0], 0)


def test_any_nan_gives_the_canonical_nan():
    codes = np.array([[0x7E01, 0x7C01, 0xFE00, 0x7DFF]], np.uint16).view(np.float16)
    one = np.full((4, 1), 1, np.float16)
    # PTX ISA: NaN payloads are not preserved, an NVIDIA unit gives the canonical 0x7fffffff.
    assert mmafuzz.unit("h100").matmul(codes, one).view(np.uint32) == 0x7FFFFFFF


def test_matrix_schemes_take_products():
    rng = np.random.default_rng(14)
    a, b = rng.integers(-99, 100, (3, 20)).astype(float), rng.integers(-99, 100, (20, 4)).astype(float)
    assert (mmafuzz.unit("ozaki:dgemm.fp16").matmul(a, b) == a @ b).all()
    assert (mmafuzz.unit("ozaki:dgemm.fp16").dot(a, b.T[0]) == a @ b[:, 0]).all()


def test_other_ops():
    x = np.array([1.0, 1e-8, 3.4e38, np.inf, -2.5], np.float32)
    half, flags = mmafuzz.unit("ieee").evaluate("convert from=fp32 to=fp16 round=nearest_even", x, flags=True)
    with np.errstate(all="ignore"):
        assert same_bits(half, x.astype(np.float16))
    assert list(flags) == [0, 3, 5, 0, 0]  # inexact 1, underflow 2, overflow 4
    y = mmafuzz.unit("ieee").evaluate("scalar fma format=fp64", 2.0**-60, 2.0**-60, np.array([1.0, -1.0]))
    assert (y == [1, -1]).all()


class Exporter:
    """An array that only speaks DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__()

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack():
    rng = np.random.default_rng(15)
    a, b = integers(rng, (4, 16), np.float16, 3), integers(rng, (16, 3), np.float16, 3)
    expected = a.astype(float) @ b.astype(float)
    assert (mmafuzz.unit(HOPPER).matmul(Exporter(a), Exporter(b.T.copy().T)) == expected).all()


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(16)
    x, y = rng.integers(-3, 4, (4, 32)), rng.integers(-3, 4, (32, 5))
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2):
        a, b = torch.tensor(x, dtype=torch.float32).to(dtype), torch.tensor(y, dtype=torch.float32).to(dtype)
        unit = mmafuzz.unit("h100/wgmma" if dtype.itemsize == 1 else "h100")
        assert (unit.matmul(a, b) == x @ y).all()
        assert (unit.matmul(b.T, a.T) == (x @ y).T).all()


def test_a_product_of_known_shapes_asks_its_questions_again_where_it_must():
    """The second call with the same dtypes and shapes takes a short way, which has to give what the long one gives."""
    rng = np.random.default_rng(8)
    known = mmafuzz.unit(HOPPER)

    def drawn(*shape):
        return rng.standard_normal(shape).astype(np.float16)

    for _ in range(3):
        a, b, c = drawn(16, 16), drawn(16, 8), drawn(16, 8).astype(np.float32)
        for x, y, z in [
            (a, b, c),
            (a, b, None),
            (a, b, c[0]),  # broadcast
            (a.T, b, c),  # of other strides
            (a, b, np.asfortranarray(c)),
            (a.astype(">f2"), b, c),
            (a.view(np.uint16), b, c),
            (a[None], b, c),
        ]:
            assert same_bits(known.matmul(x, y, z), mmafuzz.unit(HOPPER).matmul(x, y, z))
        with pytest.raises(ValueError):
            known.matmul(a, b, c, threads=0)
        with pytest.raises(ValueError):
            known.matmul(a, drawn(17, 8), c)
        with pytest.raises(TypeError):
            known.matmul(a.astype(np.float64), b, c)
    codes = np.full((4, 8), 63, np.uint8)
    six = mmafuzz.unit("exact")
    for _ in range(2):  # six bits in eight
        six.matmul(codes, codes.T.copy(), op="a=e3m2 b=e3m2 d=fp32")
        with pytest.raises(ValueError):
            six.matmul(codes + 1, codes.T.copy(), op="a=e3m2 b=e3m2 d=fp32")
    for count in range(300):  # more shapes than are remembered
        assert known.matmul(drawn(1, 16), drawn(16, 1 + count)).shape == (1, 1 + count)
