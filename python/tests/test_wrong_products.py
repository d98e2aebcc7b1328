"""Planted wrong matrix products: each is found, without a tolerance, and its smallest case names the mistake."""

import numpy as np
import pytest

import mmafuzz
from mmafuzz._product_case import Layout, Numbers, ProductCase, Special
from mmafuzz._product_draw import draw

CASES = 400


def right(a, b, c, alpha, beta):
    """alpha * a @ b + beta * c by NumPy's own loops, not by a BLAS."""
    one = c.dtype.type
    d = np.zeros_like(c)
    if alpha:
        d = one(alpha) * np.einsum("mk,kn->mn", a, b, optimize=False).astype(c.dtype)
    c[...] = d if beta == 0 else d + one(beta) * c


def k_tail_dropped(a, b, c, alpha, beta):
    whole = a.shape[1] // 8 * 8 if a.shape[1] > 8 else a.shape[1]
    right(a[:, :whole], b[:whole], c, alpha, beta)


def beta_not_honoured_where_zero(a, b, c, alpha, beta):
    d = np.zeros_like(c)
    right(a, b, d, alpha, 0)
    c[...] = d + c.dtype.type(beta) * c  # NaN * 0 is NaN


def beta_for_each_block_of_k(a, b, c, alpha, beta):
    right(a[:, :32], b[:32], c, alpha, beta)
    for first in range(32, a.shape[1], 32):
        right(a[:, first : first + 32], b[first : first + 32], c, alpha, beta if beta != 0 else 1)


def padded_read(a, b, c, alpha, beta):
    """Rows of a of odd length are read one element too far, against a row of zeros."""
    right(a, b, c, alpha, beta)
    if a.shape[1] % 2 and a.strides[1] == a.itemsize and a.strides[0] > a.shape[1] * a.itemsize:
        beyond = np.lib.stride_tricks.as_strided(a, (a.shape[0], a.shape[1] + 1), a.strides)[:, -1:]
        c += beyond * c.dtype.type(0)


def transposed_edge(a, b, c, alpha, beta):
    """The last column, beyond a multiple of four, of a transposed b starts one row late."""
    if b.shape[1] % 4 == 1 and b.shape[1] > 4 and b.strides[0] == b.itemsize:
        b = b.copy()
        b[:, -1] = np.roll(b[:, -1], -1)
    right(a, b, c, alpha, beta)


class Threads:
    """Rows are shared among threads; the first row of a share is added by two of them."""

    def __init__(self):
        self.count = 1
        self.__name__ = "threads_overlap"

    def set(self, count):
        self.count = count

    def __call__(self, a, b, c, alpha, beta):
        before = c.copy()
        right(a, b, c, alpha, beta)
        if self.count > 1 and c.shape[0] >= 16:
            second = -(-c.shape[0] // self.count)
            right(a[second : second + 1], b, before[second : second + 1], alpha, 0)
            c[second : second + 1] += before[second : second + 1]


def alpha_ignored_on_tails(a, b, c, alpha, beta):
    whole = a.shape[0] // 4 * 4
    right(a[:whole], b, c[:whole], alpha, beta)
    right(a[whole:], b, c[whole:], 1, beta)


def writes_beyond_a_row(a, b, c, alpha, beta):
    right(a, b, c, alpha, beta)
    if c.shape[1] % 4 == 3 and c.strides[1] == c.itemsize and c.strides[0] > c.shape[1] * c.itemsize:
        np.lib.stride_tricks.as_strided(c, (c.shape[0], c.shape[1] + 1), c.strides)[:, -1] = 0


def zeros_skipped(a, b, c, alpha, beta):
    """A product with a zero of b is left out, so that an infinity or NaN of a is lost."""
    d = c.copy()
    right(a, b, d, alpha, beta)
    for row in np.flatnonzero(~np.all(np.isfinite(a), axis=1)):
        summed = np.where(b == 0, 0, a[row][:, None] * b).sum(axis=0)
        d[row] = (alpha * summed if alpha else 0) + (beta * c[row] if beta else 0)
    c[...] = d


def second_half_of_k_dropped(a, b, c, alpha, beta):
    """Split K for few rows and many products: the second share is not added."""
    half = a.shape[1] // 2 if a.shape[1] > 128 and a.shape[0] * b.shape[1] < 64 else a.shape[1]
    right(a[:, :half], b[:half], c, alpha, beta)


def narrow_operands(a, b, c, alpha, beta):
    """Long products through 11 significant bits, as tf32 has."""
    if a.shape[1] >= 16:
        a, b = (np.ascontiguousarray(x) for x in (a, b))
        a, b = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b))
    right(a, b, c, alpha, beta)


def one_column_taken_for_a_row(a, b, c, alpha, beta):
    if a.shape[0] == 1 and b.shape[1] > 1 and b.shape[0] == b.shape[1]:
        b = b.T
    right(a, b, c, alpha, beta)


def k_of_zero_leaves_c(a, b, c, alpha, beta):
    if a.shape[1]:
        right(a, b, c, alpha, beta)


#: Each with the kind that it must show, the shape of its smallest case (None: not asked), and what the case needs.
PLANTED = [
    (k_tail_dropped, "wrong integer", (1, 1, 9), set()),
    (beta_not_honoured_where_zero, "NaN made", (1, 1, 1), {"NaN in c with beta = 0"}),
    (beta_for_each_block_of_k, "wrong integer", (1, 1, 33), {"beta not 0"}),
    (padded_read, "NaN made", (1, 1, 1), {"a padded"}),
    (transposed_edge, "wrong integer", (1, 5, 2), {"b by columns"}),
    (Threads(), "wrong integer", (16, 1, 1), {"threads"}),
    (alpha_ignored_on_tails, "wrong integer", (1, 1, 1), {"alpha not 1"}),
    (writes_beyond_a_row, "writes outside", (1, 3, 1), {"c padded"}),
    (zeros_skipped, "NaN lost", (1, 1, 1), {"NaN in a"}),
    (second_half_of_k_dropped, "wrong integer", (1, 1, 129), set()),
    (narrow_operands, "wrong integer", (1, 1, 16), set()),
    (one_column_taken_for_a_row, "wrong integer", (1, 2, 2), set()),
    (k_of_zero_leaves_c, "wrong integer", (1, 1, 0), {"k = 0"}),
]


@pytest.mark.parametrize("product, kind, shape, features", PLANTED, ids=[one[0].__name__ for one in PLANTED])
def test_a_planted_mistake_is_found_and_made_small(product, kind, shape, features):
    set_threads = product.set if isinstance(product, Threads) else None
    found = mmafuzz.fuzz_product(product, form="update", set_threads=set_threads, cases=CASES)
    smallest = [one for one in found if one.kind == kind]
    assert smallest, found
    assert shape in [one.shape for one in smallest], [str(one) for one in smallest]
    assert any(features <= set(one.features) for one in smallest), [one.features for one in smallest]
    text = str(found[0])
    assert "m=" in text and "a = " in text


@pytest.mark.parametrize("operands, result", [("fp32", None), ("fp64", None), ("fp16", None), ("bf16", "fp32"), ("s8", "s32")])
def test_a_right_product_has_no_finding(operands, result):
    def product(a, b, c, alpha, beta):
        wide = np.int64 if c.dtype.kind == "i" else np.float64
        d = alpha * np.einsum("mk,kn->mn", a.astype(wide), b.astype(wide)) if alpha else 0
        with np.errstate(over="ignore"):
            c[...] = (d if beta == 0 else d + beta * c.astype(wide)).astype(c.dtype) if alpha else beta * c if beta else 0

    found = mmafuzz.fuzz_product(product, operands, result, form="update", cases=300)
    assert not found and found.cases == 300, str(found)


def test_expected_results_are_those_of_the_exact_unit():
    rng = np.random.default_rng(7)
    exact = mmafuzz.unit("exact")
    seen = 0
    while seen < 40:
        case = draw(rng, Numbers("fp32", "fp32", "fp32"), "update", "any", False)
        if case.is_real or case.alpha != 1 or case.beta not in (0, 1) or not case.shape[2] or case.special:
            continue
        assert case.is_exact()
        c = case.c.astype(np.float32) if case.beta else None
        d = exact.matmul(case.a.astype(np.float32), case.b.astype(np.float32), c)
        assert np.array_equal(d.astype(np.float64), case.expected())
        seen += 1


def test_a_special_value_in_one_place_has_one_right_result():
    ones = np.ones((2, 2), np.int64)
    case = ProductCase(Numbers("fp32", "fp32", "fp32"), ones, ones * [1, 0], ones)
    def with_special(*special, **more):
        return ProductCase(case.numbers, case.a, case.b, case.c, special=Special(*special), **more).expected()

    inf, nan = np.inf, np.nan
    assert np.array_equal(with_special("a", 0, 1, inf), [[inf, nan], [2, 0]], equal_nan=True)
    assert np.array_equal(with_special("a", 0, 1, -inf, alpha=-1), [[inf, nan], [-2, 0]], equal_nan=True)
    assert np.array_equal(with_special("b", 1, 0, nan), [[nan, 0], [nan, 0]], equal_nan=True)
    assert np.array_equal(with_special("b", 1, 0, nan, alpha=0), [[0, 0], [0, 0]])
    assert np.array_equal(with_special("c", 1, 1, inf), [[2, 0], [2, 0]])
    assert np.array_equal(with_special("c", 1, 1, inf, beta=-1), [[1, -1], [1, -inf]])


def test_poison_lies_between_and_around_the_elements():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    for layout in (Layout(padding=2), Layout(True, 1, 3), Layout(step=-2, offset=1), Layout(step=2, padding=1)):
        view, memory = layout.place(values, np.nan)
        assert np.array_equal(view, values)
        assert np.isnan(memory).sum() == memory.size - values.size
        assert np.shares_memory(view, memory)


def test_a_product_of_another_kind_of_answer():
    assert [f.kind for f in mmafuzz.fuzz_product(lambda a, b: (a @ b)[:-1], cases=20)] == ["no result"]
    assert [f.kind for f in mmafuzz.fuzz_product(lambda a, b: 1 / 0, cases=20)] == ["raises"]
    state = np.random.default_rng(3)
    shaky = lambda a, b: a @ b * np.float32(1 + 2.0**-23 * state.integers(2))
    kinds = {f.kind for f in mmafuzz.fuzz_product(shaky, cases=300)}
    assert "not repeatable" in kinds or "wrong integer" in kinds


def test_fractions_far_from_the_exact_result_are_beyond_the_bound():
    def halved(a, b):  # only where numbers are no integers, so that nothing else can see it
        d = np.einsum("mk,kn->mn", a, b)
        return d if np.array_equal(d, np.round(d), equal_nan=True) else d * np.float32(1.001)

    found = mmafuzz.fuzz_product(halved, cases=400)
    assert [f.kind for f in found] == ["beyond the bound"]


def exactly(a, b, c, alpha, beta):
    """alpha * a @ b + beta * c of any dtypes: in integers or float64, then rounded once, or modulo the integers' range."""
    wide = np.int64 if is_integer(c) else np.float64
    d = np.zeros(c.shape, wide)
    if alpha:
        d += alpha * (a.astype(wide) @ b.astype(wide))
    if beta:
        d += beta * c.astype(wide)
    c[...] = d.astype(c.dtype) if wide is np.int64 or c.dtype == np.float64 else d.astype(np.float32).astype(c.dtype)


def is_integer(x):
    return x.dtype.kind in "iu" or "int" in x.dtype.name


NARROW = ["bf16", "e5m2", "e4m3", "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "s4", "u4", "s8", "u8"]


@pytest.mark.parametrize("operands", NARROW)
@pytest.mark.parametrize("wide", [False, True])
def test_a_right_product_of_a_narrow_format_is_right(operands, wide):
    results = [operands, "fp32"] + (["s32"] if operands[0] in "su" else [])
    for result in results[1:] if wide else results[:1]:
        with np.errstate(all="ignore"):
            found = mmafuzz.fuzz_product(exactly, operands, result, form="update", cases=150)
        assert not len(found), f"{result}\n{found}"


@pytest.mark.parametrize("operands", ["e4m3", "e2m1", "s4", "u8"])
def test_a_wrong_product_of_a_narrow_format_is_found(operands):
    def without_the_last(a, b, c, alpha, beta):
        exactly(a[:, : max(1, a.shape[1] - 1)], b[: max(1, a.shape[1] - 1)], c, alpha, beta)

    assert "wrong integer" in [f.kind for f in mmafuzz.fuzz_product(without_the_last, operands, form="update", cases=150)]


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"product": 3}, TypeError),
        ({"operands": "fp24"}, ValueError),
        ({"operands": "e8m0"}, ValueError),
        ({"strides": "all"}, ValueError),
        ({"form": "in place"}, ValueError),
        ({"cases": 0}, ValueError),
        ({"seconds": 0}, ValueError),
    ],
)
def test_wrong_arguments_are_refused(arguments, error):
    with pytest.raises(error):
        mmafuzz.fuzz_product(**{"product": np.matmul, "cases": 1, **arguments})


def test_the_same_seed_finds_the_same():
    one, two = (mmafuzz.fuzz_product(k_tail_dropped, form="update", cases=200, seed=5) for _ in range(2))
    assert str(one) == str(two) and len(one)
