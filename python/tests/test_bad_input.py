"""Wrong calls end in one line that says what is wrong; odd but meaningful ones in the right answer. Nothing crashes."""

import copy
import gzip
import pickle

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

HOPPER = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
DOT = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"


def half(*shape):
    return np.ones(shape, np.float16)


def single(*shape):
    return np.ones(shape, np.float32)


def unit(name=HOPPER):
    return mmafuzz.unit(name)


def cases_file(tmp_path, data):
    path = tmp_path / "x.cases"
    path.write_bytes(data)
    return list(mmafuzz.read_cases(path))


class Broken:
    def __array__(self, *_, **__):
        raise ValueError("no array today")


class BrokenDlpack:
    def __dlpack__(self, **_):
        raise BufferError("no export today")

    def __dlpack_device__(self):
        return 1, 0


#: What is wrong: the call, the exception, and words of its message.
WRONG = {
    # names and ops
    "an unknown unit": (lambda t: unit("model:hoper/mma"), ValueError, "nearest"),
    "a unit's name that is no text": (lambda t: mmafuzz.unit(3), TypeError, "string"),
    "an empty name": (lambda t: unit(""), ValueError, "unit"),
    "a name with a NUL": (lambda t: unit("model:\0"), ValueError, "unit"),
    "an unknown parameter": (
        lambda t: unit(HOPPER + "?frction_bits=3").matmul(half(2, 16), half(16, 2)),
        ValueError,
        "frction_bits",
    ),
    "a parameter out of range": (
        lambda t: unit(HOPPER + "?block=-1").matmul(half(2, 16), half(16, 2)),
        ValueError,
        "block",
    ),
    "a format that the unit declines": (
        lambda t: unit("h100").matmul(half(2, 4), half(4, 2), op="d=e4m3"),
        ValueError,
        "no unit of",
    ),
    "formats that the unit declines": (
        lambda t: unit("v100").matmul(np.ones((2, 4), ml_dtypes.bfloat16), np.ones((4, 2), ml_dtypes.bfloat16)),
        ValueError,
        "no unit of",
    ),
    "an unknown format": (
        lambda t: unit("exact").matmul(np.ones((2, 4), np.uint8), np.ones((4, 2), np.uint8), op="a=fp5 b=fp5"),
        ValueError,
        "fp5",
    ),
    "a malformed op": (
        lambda t: unit("exact").matmul(half(2, 4), half(4, 2), op="a=fp16 nonsense"),
        ValueError,
        "nonsense",
    ),
    "an unknown word of an op": (
        lambda t: unit("exact").matmul(half(2, 4), half(4, 2), op="colour=red"),
        ValueError,
        "colour",
    ),
    "words of an op that are no text": (
        lambda t: unit().matmul(half(2, 16), half(16, 2), op=3),
        TypeError,
        "words of an op line",
    ),
    "an op of another kind": (
        lambda t: unit("exact").matmul(half(2, 16), half(16, 2), op="scalar fma format=fp32"),
        ValueError,
        "scalar",
    ),
    "an op that is not text": (lambda t: unit("exact").evaluate(3, half(4)), TypeError, ""),
    "an attribute that the unit does not honour": (
        lambda t: unit().matmul(half(2, 16), half(16, 2), op="round=up"),
        ValueError,
        "round",
    ),
    # shapes
    "products that do not fit": (
        lambda t: unit().matmul(half(2, 16), half(15, 2)),
        ValueError,
        "16 columns and b 15 rows",
    ),
    "rows that do not fit": (lambda t: unit().dot(half(2, 16), half(2, 15)), ValueError, "16 products and b has 15"),
    "a scalar": (lambda t: unit().matmul(half(), half()), ValueError, "scalars"),
    "scalars of a dot": (lambda t: unit().dot(half(), half()), ValueError, "dimension"),
    "batches that do not fit": (lambda t: unit().matmul(half(2, 3, 16), half(3, 16, 2)), ValueError, "leading axes"),
    "batches of a dot that do not fit": (lambda t: unit().dot(half(2, 16), half(3, 16)), ValueError, "leading axes"),
    "c that does not fit": (lambda t: unit().matmul(half(2, 16), half(16, 2), single(3, 2)), ValueError, "c of shape"),
    "c larger than the result": (
        lambda t: unit().matmul(half(2, 16), half(16, 2), single(5, 2, 2)),
        ValueError,
        "c of shape",
    ),
    "c of a dot that does not fit": (
        lambda t: unit().dot(half(2, 16), half(2, 16), single(3)),
        ValueError,
        "c of shape",
    ),
    "no products": (lambda t: unit().matmul(half(2, 0), half(0, 2)), ValueError, "K is 0"),
    "no products in a dot": (lambda t: unit().dot(half(2, 0), half(2, 0)), ValueError, "K is 0"),
    "an empty list": (lambda t: unit().matmul([], []), ValueError, "K is 0"),
    "more products than an op may have": (lambda t: unit("exact").dot(half(70000), half(70000)), ValueError, "65536"),
    "a ragged list": (lambda t: unit("exact").matmul([[1.0], [1.0, 2.0]], [[1.0]]), ValueError, "no array"),
    # dtypes
    "objects": (lambda t: unit().matmul(half(2, 16).astype(object), half(16, 2)), TypeError, "object"),
    "text": (lambda t: unit().matmul("1 2", half(16, 2)), TypeError, "str"),
    "an array of text": (lambda t: unit().matmul(np.array([["1"]]), half(1, 2)), TypeError, "<U1"),
    "None": (lambda t: unit().matmul(None, half(16, 2)), TypeError, "NoneType"),
    "a function as operand": (lambda t: unit().matmul(len, half(16, 2)), TypeError, "builtin"),
    "a dictionary": (lambda t: unit().matmul({}, half(16, 2)), TypeError, "dict"),
    "records": (lambda t: unit().matmul(np.zeros((2, 16), "f2,f2"), half(16, 2)), TypeError, "numbers"),
    "dates": (lambda t: unit().matmul(np.zeros((2, 16), "M8[s]"), half(16, 2)), TypeError, "datetime"),
    "complex numbers": (lambda t: unit().matmul(half(2, 16).astype(complex), half(16, 2)), TypeError, "complex128"),
    "booleans": (lambda t: unit().matmul(np.ones((2, 16), bool), half(16, 2)), TypeError, "bool"),
    "wider floats than the row takes": (
        lambda t: unit().matmul(np.ones((2, 16)), half(16, 2)),
        TypeError,
        "float64, but the op takes fp16",
    ),
    "long doubles": (
        lambda t: unit("exact").matmul(np.ones((2, 16), np.longdouble), np.ones((16, 2), np.longdouble)),
        TypeError,
        "no format has",
    ),
    "signed codes": (lambda t: unit().matmul(np.ones((2, 16), np.int16), half(16, 2)), TypeError, "int16"),
    "codes of another width": (
        lambda t: unit().matmul(np.ones((2, 16), np.uint32), half(16, 2)),
        TypeError,
        "uint16 codes",
    ),
    "codes without a format": (
        lambda t: unit("exact").matmul(np.ones((2, 16), np.uint16), np.ones((16, 2), np.uint16)),
        TypeError,
        "name the format",
    ),
    "c of another format": (
        lambda t: unit().matmul(half(2, 16), half(16, 2), np.ones((2, 2))),
        TypeError,
        "c is an array of float64",
    ),
    "a code beyond its format": (
        lambda t: unit("exact").matmul(np.full((2, 16), 16, np.uint8), np.zeros((16, 2), np.uint8), op="a=e2m1 b=e2m1"),
        ValueError,
        "4 bits",
    ),
    "a six-bit code beyond its format": (
        lambda t: unit("exact").dot(np.full(4, 64, np.uint8), np.zeros(4, np.uint8), op="a=e3m2 b=e3m2"),
        ValueError,
        "6 bits",
    ),
    "a masked array": (lambda t: unit().matmul(np.ma.masked_array(half(2, 16)), half(16, 2)), TypeError, "masked"),
    "an array that cannot be made": (lambda t: unit().matmul(Broken(), half(16, 2)), ValueError, "no array today"),
    "an export that fails": (
        lambda t: unit().matmul(BrokenDlpack(), half(16, 2)),
        (TypeError, ValueError, BufferError),
        "",
    ),
    # arguments
    "k of 0": (lambda t: unit().matmul(half(2, 16), half(16, 2), k=0), ValueError, "k is 0"),
    "k below 0": (lambda t: unit().matmul(half(2, 16), half(16, 2), k=-4), ValueError, "k is -4"),
    "k that is no number": (lambda t: unit().matmul(half(2, 16), half(16, 2), k="4"), ValueError, "k is '4'"),
    "k that equals a number": (lambda t: [unit().matmul(half(2, 16), half(16, 2), k=k) for k in (16, 16.0)], ValueError, "k is 16.0"),
    "op that is a list": (lambda t: unit().matmul(half(2, 16), half(16, 2), op=["x"]), TypeError, "op is list"),
    "no threads": (lambda t: unit().matmul(half(2, 16), half(16, 2), threads=0), ValueError, "threads"),
    "half a thread": (lambda t: unit().matmul(half(2, 16), half(16, 2), threads=0.5), ValueError, "threads"),
    "scales where there are none": (
        lambda t: unit().matmul(
            half(2, 16),
            half(16, 2),
            scale_a=np.ones((2, 1), np.uint8),
            scale_b=np.ones((1, 2), np.uint8),
            op="sa=e8m0 sb=e8m0",
        ),
        ValueError,
        "takes",
    ),
    "scales of one side": (
        lambda t: unit("exact").matmul(half(2, 16), half(16, 2), scale_a=np.ones((2, 1), np.uint8)),
        ValueError,
        "both or neither",
    ),
    "no scales where they are needed": (
        lambda t: unit("exact").matmul(half(2, 32), half(32, 2), op="sa=e8m0 sb=e8m0 sblock=16"),
        ValueError,
        "pass scale_a and scale_b",
    ),
    "scales that do not divide": (
        lambda t: unit("exact").matmul(
            half(2, 16),
            half(16, 2),
            scale_a=np.ones((2, 3), np.uint8),
            scale_b=np.ones((3, 2), np.uint8),
            op="sa=e8m0 sb=e8m0",
        ),
        ValueError,
        "sblock",
    ),
    "scales of another shape": (
        lambda t: unit("exact").matmul(
            half(2, 32),
            half(32, 2),
            scale_a=np.ones((2, 2), np.uint8),
            scale_b=np.ones((3, 2), np.uint8),
            op="sa=e8m0 sb=e8m0",
        ),
        ValueError,
        "scale_b of shape",
    ),
    "k of what takes whole products": (
        lambda t: unit("ozaki:dgemm.fp16").matmul(np.ones((2, 4)), np.ones((4, 2)), k=2),
        ValueError,
        "leave k",
    ),
    "scales of what takes whole products": (
        lambda t: unit("ozaki:dgemm.fp16").dot(
            np.ones(4), np.ones(4), scale_a=np.ones(1, np.uint8), scale_b=np.ones(1, np.uint8), op="sa=e8m0 sb=e8m0"
        ),
        ValueError,
        "scales",
    ),
    # evaluate
    "a field too few": (lambda t: unit().evaluate(DOT, half(4), half(4)), ValueError, "3 fields, not 2"),
    "an operand too many": (
        lambda t: unit("ieee").evaluate("scalar add format=fp32", 1, 2, 3),
        ValueError,
        "2 operands",
    ),
    "a case of another k": (lambda t: unit().evaluate(DOT, half(5), half(5), single()), ValueError, "one case of"),
    "operands that do not fit": (
        lambda t: unit("ieee").evaluate("scalar add format=fp32", single(3), single(2)),
        ValueError,
        "shapes do not fit",
    ),
    "flags of what has none": (
        lambda t: unit().evaluate(DOT, half(4), half(4), single(), flags=True),
        ValueError,
        "no flags",
    ),
    # findings
    "an unknown reference": (lambda t: mmafuzz.fuzz("exact", against="h1000", op=DOT, cases=16), ValueError, "h1000"),
    "a reference that declines": (
        lambda t: mmafuzz.fuzz(lambda a, b, c: c, against="ozaki:dgemm.fp16", op=DOT, cases=16),
        ValueError,
        "",
    ),
    "a unit that is a number": (lambda t: mmafuzz.fuzz(3, against="exact", op=DOT, cases=16), TypeError, "int"),
    "no cases": (lambda t: mmafuzz.fuzz("exact", against="h100", op=DOT, cases=0), ValueError, "cases"),
    "no time": (lambda t: mmafuzz.fuzz("exact", against="h100", op=DOT, seconds=0), ValueError, "seconds"),
    "time that is no number": (
        lambda t: mmafuzz.fuzz("exact", against="h100", op=DOT, seconds=float("nan")),
        ValueError,
        "seconds",
    ),
    "a seed below 0": (lambda t: mmafuzz.fuzz("exact", against="h100", op=DOT, cases=9, seed=-1), ValueError, "seed"),
    "threads below 0": (lambda t: mmafuzz.fuzz("exact", against="h100", op=DOT, cases=9, threads=-1), ValueError, "-1"),
    "a property that is no text": (
        lambda t: mmafuzz.minimize("exact", half(4), half(4), single(), op=DOT, property=3),
        TypeError,
        "name",
    ),
    "two cases to minimize": (
        lambda t: mmafuzz.minimize(["exact", "h100"], half(2, 4), half(2, 4), single(2), op=DOT),
        ValueError,
        "one case",
    ),
    "an unknown property": (
        lambda t: mmafuzz.minimize("exact", half(4), half(4), single(), op=DOT, property="beautiful"),
        (ValueError, RuntimeError),
        "beautiful",
    ),
    "two cases to explain": (lambda t: mmafuzz.explain("exact", half(2, 4), half(2, 4)), ValueError, "one case"),
    "nothing to explain on": (lambda t: mmafuzz.explain([], half(4), half(4)), ValueError, "unit"),
    "operands of unequal length to explain": (
        lambda t: mmafuzz.explain("exact", half(4), half(5)),
        ValueError,
        "products",
    ),
    "a property that is none": (
        lambda t: mmafuzz.fuzz("exact", against="h100", op=DOT, cases=16, properties=["monotone_in_d"]),
        ValueError,
        "monotone_in_d",
    ),
    "a callable whose codes are beyond the format": (
        lambda t: mmafuzz.fuzz(
            lambda x: np.full(x.shape, 0x13, np.uint8), against="exact", op="convert from=fp32 to=e2m1", cases=16
        ),
        mmafuzz.CallableError,
        "4 bits",
    ),
    # compare
    "an empty result": (lambda t: mmafuzz.compare(single(0, 2), half(0, 16), half(16, 2)), ValueError, "nothing to compare"),
    "a result of another shape": (
        lambda t: mmafuzz.compare(single(3, 3), half(2, 16), half(16, 2)),
        ValueError,
        "shape",
    ),
    "a result of another format": (
        lambda t: mmafuzz.compare(np.ones((2, 2), complex), half(2, 16), half(16, 2)),
        TypeError,
        "complex128",
    ),
    "a pattern without a unit": (
        lambda t: mmafuzz.compare(single(2, 2), half(2, 16), half(16, 2), units="model:nothing/*"),
        ValueError,
        "no unit",
    ),
    "a callable in compare": (
        lambda t: mmafuzz.compare(single(2, 2), half(2, 16), half(16, 2), units=[len]),
        TypeError,
        "fuzz",
    ),
    "a NaN rule that is none": (
        lambda t: mmafuzz.compare(single(2, 2), half(2, 16), half(16, 2), nan="some"),
        ValueError,
        "nan",
    ),
    # files
    "no file": (lambda t: list(mmafuzz.read_cases(t / "none.cases")), ValueError, "none.cases"),
    "a folder": (lambda t: list(mmafuzz.read_cases(t)), ValueError, ""),
    "an empty file": (lambda t: cases_file(t, b""), ValueError, "x.cases:1"),
    "bytes": (lambda t: cases_file(t, bytes(range(256)) * 9), ValueError, "x.cases:1"),
    "a cut archive": (lambda t: cases_file(t, gzip.compress(b"mmafuzz-cases 1\n" * 99)[:40]), ValueError, "x.cases"),
    "a malformed line": (
        lambda t: cases_file(t, b"mmafuzz-cases 1\nop " + DOT.encode() + b"\n1 2 3\n"),
        ValueError,
        "x.cases:3",
    ),
    "a folder to write to": (lambda t: mmafuzz.write_cases(t / "no" / "x.cases", []), RuntimeError, "cannot write"),
    "no cases to write": (lambda t: mmafuzz.write_cases(t / "x.cases", [3]), TypeError, "Cases"),
    "results of another length": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases", mmafuzz.Cases(DOT, (half(1, 4), half(1, 4), single(1)), single(2))
        ),
        ValueError,
        "results",
    ),
    "flags of another length": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases", mmafuzz.Cases("convert from=fp32 to=fp16", (single(3),), half(3), np.zeros(2, np.uint8))
        ),
        ValueError,
        "flags",
    ),
    "results in another order than the cases": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases", mmafuzz.Cases(DOT, (half(2, 3, 4), half(2, 3, 4), single(2, 3)), single(3, 2))
        ),
        ValueError,
        "shape (3, 2)",
    ),
    "flags of more than 8 bits": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases", mmafuzz.Cases("convert from=fp32 to=fp16", (single(3),), half(3), np.array([256, 1, 2]))
        ),
        ValueError,
        "8 bits",
    ),
    "flags without results": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases", mmafuzz.Cases("convert from=fp32 to=fp16", (single(3),), None, np.zeros(3, np.uint8))
        ),
        ValueError,
        "for each result",
    ),
    "cases of no unit behind those of one": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases",
            [mmafuzz.Cases(DOT, (half(1, 4), half(1, 4), single(1)), single(1), unit=unit) for unit in ("h100", "")],
        ),
        ValueError,
        "h100",
    ),
    "a text with a line break as unit": (
        lambda t: mmafuzz.write_cases(
            t / "x.cases", mmafuzz.Cases(DOT, (half(1, 4), half(1, 4), single(1)), unit="a\nb")
        ),
        ValueError,
        "line",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_calls(what, tmp_path):
    call, exception, words = WRONG[what]
    with pytest.raises(exception) as caught:
        call(tmp_path)
    message = str(caught.value)
    assert message and "\n" not in message and words in message


def test_the_table_is_long_enough():
    assert len(WRONG) >= 50


#: Odd, but with an answer: the call and what it gives.
RIGHT = {
    "no rows": (lambda: unit().matmul(half(0, 16), half(16, 2)), np.zeros((0, 2), np.float32)),
    "no columns": (lambda: unit().matmul(half(2, 16), half(16, 0)), np.zeros((2, 0), np.float32)),
    "no batch": (lambda: unit().dot(half(0, 3, 16), half(3, 16)), np.zeros((0, 3), np.float32)),
    "big-endian": (
        lambda: unit().matmul(half(2, 16).astype(">f2"), half(16, 2).astype(">f2"), single(2, 2).astype(">f4")),
        np.full((2, 2), 17, np.float32),
    ),
    "numbers in lists": (lambda: unit("exact").matmul([[1.0, 2.0]], [[3.0], [0.5]]), np.array([[4.0]])),
    "c as a number": (lambda: unit("exact").matmul([[1.0, 2.0]], [[3.0], [0.5]], 1.5), np.array([[5.5]])),
    "broadcast without memory": (
        lambda: unit().matmul(np.broadcast_to(np.float16(1), (2, 16)), half(16, 2)),
        np.full((2, 2), 16, np.float32),
    ),
    "one product": (lambda: unit().dot(half(1), half(1)), np.float32(1)),
    "a NumPy scalar as c": (lambda: unit().dot(half(4), half(4), np.float32(2)), np.float32(6)),
    "a k longer than K": (lambda: unit().matmul(half(2, 3), half(3, 2), k=16), np.full((2, 2), 3, np.float32)),
    "infinities": (lambda: unit().dot(np.array([np.inf, 1], np.float16), half(2)), np.float32(np.inf)),
    "evaluate without cases": (
        lambda: unit().evaluate(DOT, half(0, 4), half(0, 4), single(0)),
        np.zeros(0, np.float32),
    ),
}


@pytest.mark.parametrize("what", RIGHT)
def test_odd_calls(what):
    call, expected = RIGHT[what]
    result = call()
    assert result.dtype == expected.dtype and result.shape == expected.shape and (result == expected).all()


class Exported:
    """Speaks DLPack alone, as a torch tensor does."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **how):
        return self.x.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integers_come_through_dlpack(bits):
    x = np.arange(-3, 3, dtype=f"i{bits // 8}")
    assert (unit("exact").evaluate(f"convert from=s{bits} to=fp32", Exported(x)) == x).all()


def test_a_unit_that_was_used_can_be_copied():
    one = unit("h100")
    one.dot(half(4), half(4))
    for other in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert other.name == "h100" and other.dot(half(4), half(4)) == 4


def test_operands_are_not_changed():
    a, b, c = half(3, 16), half(16, 3), single(3, 3)
    before = a.tobytes(), b.tobytes(), c.tobytes()
    d = unit().matmul(a, b, c)
    assert (a.tobytes(), b.tobytes(), c.tobytes()) == before
    assert not np.shares_memory(d, c)
