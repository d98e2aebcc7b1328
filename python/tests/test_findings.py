"""fuzz, minimize, explain, and callables as units."""

import time

import ml_dtypes
import numpy as np
import pytest
from reference import truncated_dot

import mmafuzz

DOT = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"
HOPPER = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"


def test_generations_differ_and_the_cause_is_named():
    found = mmafuzz.fuzz("a100", against="h100", op=DOT, cases=4096)
    assert len(found) and found.cases == 4096
    first = found[0]
    # What the rows' sources say of the two: blocks of 8 and of 16 products, 24 and 25 bits (docs/units.md).
    assert set(first.cause.split(",")) <= {"block", "fraction_bits"} and first.severity == "semantic"
    # The witness is evidence by itself: the prose gives the same two results.
    assert truncated_dot(first.a, first.b, first.c, 8, 24) == first.results[0]
    assert truncated_dot(first.a, first.b, first.c, 16, 25) == first.results[1]
    assert mmafuzz.fuzz("a100", against="h100", op=DOT, cases=4096, threads=2)[0].text == first.text


def test_a_wrong_callable_is_found_with_the_parameter_that_fits():
    wrong = mmafuzz.unit(HOPPER + "?fraction_bits=24")

    def mine(a, b, c):
        assert a.shape == b.shape == (len(c), 16) and a.dtype == np.float16 and c.dtype == np.float32
        return wrong.dot(a, b, c, threads=1)

    found = mmafuzz.fuzz(mine, against=HOPPER, op=DOT, cases=2048)
    assert found[0].severity == "contract" and found[0].units == ["callable:mine", HOPPER]
    assert "25 is claimed, 24 fits" in found[0].detail
    assert truncated_dot(found[0].a, found[0].b, found[0].c, 16, 24) == found[0].results[0]
    assert "callable:mine" in str(mmafuzz.explain(found[0]))


def test_a_right_callable_is_not_accused():
    right = mmafuzz.unit(HOPPER)
    found = mmafuzz.fuzz(lambda a, b, c: right.dot(a, b, c, threads=1), against=HOPPER, op=DOT, cases=20000)
    assert len(found) == 0 and found.comparisons >= 20000


def test_callables_of_conversions_and_other_formats():
    def to_half(x):
        with np.errstate(all="ignore"):
            return x.astype(np.float16)

    assert (
        len(
            mmafuzz.fuzz(to_half, against="ieee", op="convert from=fp32 to=fp16 round=nearest_even nan=any", cases=4096)
        )
        == 0
    )

    def through_fp32(x):  # rounds twice
        with np.errstate(all="ignore"):
            return x.astype(np.float32).astype(ml_dtypes.bfloat16)

    found = mmafuzz.fuzz(
        through_fp32, against="ieee", op="convert from=fp64 to=bf16 round=nearest_even nan=any", cases=20000
    )
    assert len(found) and float(found[0].results[0]) != float(found[0].results[1])

    def codes(a, b, c):
        return np.zeros(len(c), np.uint32)

    found = mmafuzz.fuzz(codes, against="exact", op="dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=8", cases=1024)
    assert len(found) and found[0].results[0] == 0


def test_callable_against_callable():
    exact = mmafuzz.unit("exact")
    one = lambda a, b, c: exact.dot(a, b, c, threads=1)
    other = lambda a, b, c: exact.dot(a, b, -c, threads=1)
    found = mmafuzz.fuzz(one, against=other, op=DOT, cases=1024)
    assert len(found) and found[0].units == ["callable:_lambda_", "callable:_lambda__2"]


WRONG_CALLABLES = {
    "raises": (lambda a, b, c: 1 // 0, "raised ZeroDivisionError"),
    "returns a float": (lambda a, b, c: 1.0, "returned float64"),
    "returns another float": (lambda a, b, c: np.zeros(len(c)), "returned float64"),
    "returns half": (lambda a, b, c: np.zeros(len(c), np.float16), "returned float16"),
    "returns signed codes": (lambda a, b, c: np.zeros(len(c), np.int32), "returned int32"),
    "changes shape": (lambda a, b, c: c[:-1], "returned shape"),
    "adds a dimension": (lambda a, b, c: c[:, None], "returned shape"),
    "returns nothing": (lambda a, b, c: None, "no array of numbers"),
    "returns text": (lambda a, b, c: "1", "no array of numbers"),
    "returns objects": (lambda a, b, c: c.astype(object), "no array of numbers"),
    "returns a ragged list": (lambda a, b, c: [[1], [1, 2]], "no array of numbers"),
    "takes too few": (lambda a, b: a, "raised TypeError"),
    "raises in the middle": (lambda a, b, c: 1 // 0 if np.isnan(a).any() else c, "raised ZeroDivisionError"),
    "changes its mind": (lambda a, b, c: c if len(c) == 1024 else c[:1], "returned shape"),
    "returns a memoryview": (lambda a, b, c: memoryview(b"1234"), "returned"),
}


@pytest.mark.parametrize("what", WRONG_CALLABLES)
def test_wrong_callables(what):
    function, message = WRONG_CALLABLES[what]
    with pytest.raises(mmafuzz.CallableError, match=message) as caught:
        mmafuzz.fuzz(function, against=HOPPER, op=DOT, cases=1500)
    assert "\n" not in str(caught.value)


def test_what_a_callable_raised_is_the_cause():
    with pytest.raises(mmafuzz.CallableError) as caught:
        mmafuzz.fuzz(lambda a, b, c: {}["x"], against=HOPPER, op=DOT, cases=10)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_callable_may_keep_and_change_its_operands():
    kept = []

    def keeps(a, b, c):
        kept.append(a)
        a[...] = 0
        return c

    mmafuzz.fuzz(keeps, against=HOPPER, op=DOT, cases=2048, minimize=False)
    assert all((a == 0).all() for a in kept)


def test_a_callable_costs_less_than_two_microseconds_a_case():
    from mmafuzz import _core
    from mmafuzz._callables import adapter

    registry = _core.Registry([("nothing", adapter(lambda a, b, c: c), [])])
    unit = registry.bind("callable:nothing", _core.Op(DOT))
    fields, results = [np.zeros((1024, 16), np.uint16)] * 2 + [np.zeros(1024, np.uint32)], np.empty(1024, np.uint32)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        unit.evaluate(fields, 1024, results, None, 1)
        best = min(best, time.perf_counter() - start)
    assert best / 1024 < 2e-6


def test_minimize():
    # Fasi et al. (2021), test B3: four products of 2^-25 and 1.
    a, b, c = np.full(4, 0.5, np.float16), np.full(4, 2**-24, np.float16), np.float32(1)
    op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
    found = mmafuzz.minimize(["v100", "exact"], a, b, c, op=op)
    assert found.cause == "fraction_bits" and np.count_nonzero(found.a) == 1
    assert truncated_dot(found.a, found.b, found.c, 4, 23) == found.results[0] != found.results[1]
    assert mmafuzz.minimize(["v100", "v100"], a, b, c, op=op) is None
    seven = np.full(4, 7, np.float16)
    assert mmafuzz.minimize(["v100", "exact"], seven, seven, c, op=op) is None


def test_explain():
    a, b = np.full(4, 0.5, np.float16), np.full(4, 2**-24, np.float16)
    shown = mmafuzz.explain(["v100", "h100"], a, b, np.float32(1))
    assert "shift 15" in str(shown) and "3f800001" in str(shown)  # 2^-1 * 2^-24: a subnormal keeps the exponent -14
    assert shown.verdict.startswith("verdict: they differ")
    assert shown._repr_html_().startswith("<div") and "<svg" in shown.svg and shown.svg.endswith("</svg>")
    assert "exact value" in str(mmafuzz.explain("exact", np.float32(1.5), op="convert from=fp32 to=fp16"))


def test_a_unit_that_answers_nothing_is_no_agreement(tmp_path):
    op = "scalar add format=fp16"
    other = tmp_path / "other.cases"
    other.write_text(f"mmafuzz-cases 1\nop {op}\n1234 5678 | 0000\n")
    with pytest.raises(ValueError, match="other.cases answered none of 1000 cases"):
        mmafuzz.fuzz("exact", against=f"recorded:{other}", op=op, cases=1000)
