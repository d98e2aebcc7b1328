"""Search for wrong matrix products of a library, without a tolerance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._formats import DTYPE_OF_FORMAT
from ._product_case import Layout, Numbers, ProductCase
from ._product_draw import draw
from ._product_judge import FORMS, KINDS, Failure, Subject, judge

#: Of failing cases that look alike, so many are made minimal: behind them may stand several defects.
_MINIMIZED_OF_A_KIND = 3
#: Formats of scales, not of operands.
_SCALES = {"e8m0", "ue4m3"}
#: Calls of the library for one minimal case.
_CALLS = 4000


@dataclass(frozen=True)
class ProductFinding:
    """One way in which a product is wrong, with the smallest case that shows it."""

    kind: str  #: a key of `product_kinds()`
    features: tuple[str, ...]  #: what the smallest case needs beside its shape: 'alpha not 1', 'b by columns', ...
    case: ProductCase
    where: tuple[int, int] | None  #: row and column of the first wrong element
    expected: Any
    got: Any
    detail: str
    count: int  #: cases of the search that looked alike

    @property
    def shape(self) -> tuple[int, int, int]:
        """m, n, k."""
        return self.case.shape

    @property
    def a(self) -> np.ndarray:
        """(m, k), of the operand's dtype."""
        return self.case.matrix("a")

    @property
    def b(self) -> np.ndarray:
        """(k, n)."""
        return self.case.matrix("b")

    @property
    def c(self) -> np.ndarray:
        """(m, n), of the result's dtype: what it held before the call."""
        return self.case.matrix("c")

    def __str__(self) -> str:
        m, n, k = self.shape
        lines = [f"{self.kind}: m={m} n={n} k={k}" + "".join(f", {one}" for one in self.features)]
        if self.where is not None:
            lines.append(f"  element {self.where}: {self.expected} expected, {self.got} returned")
        if self.detail:
            lines.append(f"  {self.detail}")
        lines += [f"  {name} = {np.array2string(getattr(self, name), threshold=40)}" for name in "ab"]
        if np.any(self.case.c) or self.case.unset_c:
            lines.append(f"  c = {np.array2string(self.c, threshold=40)}")
        return "\n".join([*lines, f"  alpha={self.case.alpha} beta={self.case.beta}, {self.count} cases looked alike"])


class ProductFindings(Sequence[ProductFinding]):
    """What a search of products found, and how much it looked at."""

    def __init__(self, found: list[ProductFinding], cases: int):
        self._found = sorted(found, key=lambda f: (list(KINDS).index(f.kind), len(f.features)))
        self.cases = cases  #: evaluated

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __repr__(self) -> str:
        return f"<{len(self)} kinds of wrong products in {self.cases} cases>"

    def __str__(self) -> str:
        return "\n".join([*(str(f) for f in self), f"{len(self)} kinds of wrong products in {self.cases} cases"])


def product_kinds() -> dict[str, str]:
    """The kinds of wrong products, each with its meaning."""
    return dict(KINDS)


def _simpler(case: ProductCase) -> Iterator[ProductCase]:
    """Cases that differ from `case` in one thing less."""
    if case.is_real:
        yield _with_ones(replace(case, c=case.c.astype(np.int64), is_real=False))
    if case.threads > 1:
        yield replace(case, threads=1)
    if case.special is not None:
        yield replace(case, special=None)
    if case.unset_c:
        yield replace(case, unset_c=False)
    if case.alpha != 1:
        yield replace(case, alpha=1)
    if case.beta != 0:
        yield replace(case, beta=0)
    if case.beta not in (0, 1):
        yield replace(case, beta=1)
    for i, layout in enumerate(case.layouts):
        plain = Layout()
        for field in ("step", "by_columns", "padding", "offset"):
            least = 1 if field == "padding" and layout.padding else getattr(plain, field)
            for value in (getattr(plain, field), least):
                if getattr(layout, field) not in (value, getattr(plain, field)):
                    layouts = list(case.layouts)
                    change: dict[str, Any] = {field: value}
                    layouts[i] = replace(layout, **change)
                    yield replace(case, layouts=(layouts[0], layouts[1], layouts[2]))
    if case.special is not None and not np.isnan(case.special.value):
        yield replace(case, special=case.special._replace(value=np.nan))


def _with_ones(case: ProductCase) -> ProductCase:
    return replace(case, a=np.ones(case.a.shape, np.int64), b=np.ones(case.b.shape, np.int64))


def _smaller(case: ProductCase) -> Iterator[ProductCase]:
    """Cases of fewer products, columns, rows: first the halves, which soon make a large case quick, then the smallest."""
    m, n, k = case.shape
    axes = [axes for axes, sizes in (("k", (k,)), ("n", (n,)), ("m", (m,)), ("kn", (k, n)), ("km", (k, m)), ("nm", (n, m)))
            if len(set(sizes)) == 1]  # fmt: skip
    sizes = {"m": m, "n": n, "k": k}
    halves = [(one, sizes[one[0]] // 2) for one in axes if sizes[one[0]] > 3]
    for along, less in halves + [(one, less) for one in axes for less in range(1, sizes[one[0]])]:
        for last in (False, True):
            smaller = case
            for axis in along:
                smaller = smaller.sliced(axis, less, last)
            yield smaller
            if not last and not case.is_real:
                yield _with_ones(smaller)


def _plainer(case: ProductCase) -> Iterator[ProductCase]:
    """Cases of the same shape whose numbers are nearer to all ones, or to zeros."""
    ones = _with_ones(case)
    if not case.is_real and not (np.array_equal(ones.a, case.a) and np.array_equal(ones.b, case.b)):
        yield ones
    if np.any(case.c):
        yield replace(case, c=np.zeros_like(case.c))
        if np.any(case.c != 1):
            yield replace(case, c=np.ones_like(case.c))
    for name in "ab":
        x = getattr(case, name)
        if x.size > 64 or np.all(x == 1):
            continue
        for index in zip(*np.nonzero((x != 0) & (x != 1))):
            for value in (0, 1):
                changed = x.copy()
                changed[index] = value
                yield replace(case, **{name: changed})


def minimized(subject: Subject, case: ProductCase, failure: Failure) -> tuple[ProductCase, Failure]:
    """The case made small as long as it fails in the same way: plain layouts first, then the shape, then the numbers."""
    calls = _CALLS
    repeats = failure.kind in ("not repeatable", "threads")
    changed = True
    while changed and calls > 0:
        changed = False
        for reductions in (_simpler, _smaller, _plainer):
            again = True
            while again and calls > 0:
                again = False
                for candidate in reductions(case):
                    if calls <= 0:
                        break
                    if not candidate.is_real and not candidate.is_exact():
                        continue
                    calls -= 1
                    found = judge(subject, candidate, repeats)
                    if found is not None and found.kind == failure.kind:
                        case, failure, again, changed = candidate, found, True, True
                        break
    return case, failure


def _looks(case: ProductCase, failure: Failure) -> tuple[object, ...]:
    """Failing cases that share this are counted together before any is minimal."""
    special = case.special is not None and (case.special.matrix, bool(np.isnan(case.special.value)))
    return failure.kind, special, case.unset_c, case.alpha == 0, case.is_real, case.shape[2] == 0


def fuzz_product(
    product: Callable[..., Any],
    operands: str | tuple[str, str] = "fp32",
    result: str | None = None,
    *,
    form: str = "product",
    strides: str = "any",
    set_threads: Callable[[int], Any] | None = None,
    seconds: float = 10,
    cases: int | None = None,
    seed: int = 1,
) -> ProductFindings:
    """Searches calls on which a library's matrix product is wrong. It needs no tolerance: the operands are integers so
    small that no order and no blocking of the sums can round, so that only one result is right. Shapes lie around those
    where kernels switch; memory between and around the elements holds NaN (of integers the greatest one).

    product:   with form='product' f(a, b), which returns a @ b, (m, n); with 'out' f(a, b, c), which writes it into c;
               with 'update' f(a, b, c, alpha, beta), which writes alpha * a @ b + beta * c into c: with beta = 0 it must
               not read c, with alpha = 0 neither a nor b, as in BLAS. The last two return None, or the result. a (m, k),
               b (k, n) and c (m, n) are NumPy arrays of any strides.
    operands:  format of a and b ('fp32', 'fp64', 'fp16', 'bf16', 's8', 's32'), or a pair of formats.
    result:    format of c and the result; by default that of a.
    strides:   what the product takes: 'any'; 'blas', rows or columns are contiguous; 'none', plain rows.
    set_threads:  f(count) sets the library's threads.
    seconds:   of the search; making the findings minimal comes on top. `cases` instead makes it repeatable.
    Returns the kinds of failures, each with its smallest case.

    Some cases have fractions instead: then the result must lie within the bound that holds for every order of
    operations in the result's precision, and a second call and (kind 'threads') another number of threads must give
    the same bits.

    ValueError: a format that no NumPy or ml_dtypes type has or that is of scales, another form or other strides, or no case."""
    formats = (operands, operands) if isinstance(operands, str) else tuple(operands)
    formats = (*formats, result or formats[0])
    for format in formats:
        if format not in DTYPE_OF_FORMAT or format in _SCALES:
            fitting = ", ".join(sorted(set(DTYPE_OF_FORMAT) - _SCALES))
            raise ValueError(f"{format!r} is no operand with a dtype: pass one of {fitting}")
    if form not in FORMS:
        raise ValueError(f"form is {form!r}: pass one of {', '.join(map(repr, FORMS))}")
    if strides not in ("any", "blas", "none"):
        raise ValueError(f"strides is {strides!r}: pass 'any', 'blas' or 'none'")
    if not callable(product):
        raise TypeError(f"product is a function of arrays, not {type(product).__name__}")
    if (cases is not None and cases < 1) or not seconds > 0:
        raise ValueError("pass 1 case or more, or more than 0 seconds")
    subject = Subject(product, Numbers(*formats), form, set_threads)
    rng = np.random.default_rng(seed)
    deadline = time.monotonic() + seconds
    alike: dict[tuple[object, ...], list[ProductFinding]] = {}
    counts: dict[tuple[object, ...], int] = {}
    looked = 0
    while looked < cases if cases is not None else time.monotonic() < deadline:
        case = draw(rng, subject.numbers, form, strides, set_threads is not None)
        looked += 1
        failure = judge(subject, case)
        if failure is None:
            continue
        looks = _looks(case, failure)
        counts[looks] = counts.get(looks, 0) + 1
        found = alike.setdefault(looks, [])
        if counts[looks] <= _MINIMIZED_OF_A_KIND:
            case, failure = minimized(subject, case, failure)
            found.append(_finding(case, failure))
    once: dict[tuple[str, tuple[str, ...]], ProductFinding] = {}
    for looks, found in alike.items():
        for one in found:
            key = (one.kind, one.features)
            same = once.get(key)
            smallest = one if same is None or one.shape < same.shape else same
            once[key] = replace(smallest, count=max(counts[looks], same.count if same else 0))
    return ProductFindings(list(once.values()), looked)


def _finding(case: ProductCase, failure: Failure) -> ProductFinding:
    return ProductFinding(failure.kind, case.features(), case, *failure[1:], count=1)
