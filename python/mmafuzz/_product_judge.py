"""Whether a matrix product of a library is right on one case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._formats import as_array
from ._product_case import Numbers, ProductCase

#: Findings are listed in this order.
KINDS = {
    "raises": "the call raises",
    "no result": "what comes back is no matrix of the result's shape and type",
    "wrong integer": "another integer than every order of exact operations gives",
    "writes outside": "the call changes a, b, or memory between and around the elements of c",
    "NaN made": "a NaN or infinity where finite operands give a finite result",
    "NaN lost": "an infinity or NaN of the operands is missing in the result",
    "beyond the bound": "farther from the exact result than rounding once an operation can lead, in any order",
    "not repeatable": "the same call on the same memory gives other bits",
    "threads": "another number of threads gives other bits",
}


#: How a product is called.
FORMS = {
    "product": "f(a, b) returns a @ b",
    "out": "f(a, b, c) writes a @ b into c",
    "update": "f(a, b, c, alpha, beta) writes alpha * a @ b + beta * c into c",
}


class Failure(NamedTuple):
    """What is wrong, and where: one element of the result."""

    kind: str
    where: tuple[int, int] | None = None
    expected: Any = None
    got: Any = None
    detail: str = ""


@dataclass
class Subject:
    """A library's product as the judge calls it."""

    call: Callable[..., Any]
    numbers: Numbers
    form: str = "product"  #: a key of FORMS
    set_threads: Callable[[int], Any] | None = None

    def run(self, case: ProductCase, threads: int) -> tuple[np.ndarray, str]:
        """The result, and what was written outside, if anything. What the call raises passes through."""
        if self.set_threads is not None:
            self.set_threads(threads)
        placed = [layout.place(case.matrix(x), self.numbers.poison(x)) for x, layout in zip("abc", case.layouts)]
        (a, b, c), memory = (view for view, _ in placed), [m for _, m in placed]
        before = [_bits(m).copy() for m in memory]
        with np.errstate(all="ignore"):
            returned = self.call(*{"product": (a, b), "out": (a, b, c), "update": (a, b, c, case.alpha, case.beta)}[self.form])
        result = as_array(c if returned is None else returned, "the result").copy()
        if returned is None:  # put c back: what else has changed lies outside
            c[...] = case.matrix("c")
        changed = [x for x, m, was in zip("abc", memory, before) if not np.array_equal(_bits(m), was)]
        return result, "" if not changed else "a or b" if changed != ["c"] else "memory around c"


def _bits(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def judge(subject: Subject, case: ProductCase, repeat: bool = True) -> Failure | None:
    """The first kind of failure that the case shows; repeat: also of a second call, and of another number of threads."""
    m, n, _ = case.shape
    try:
        got, outside = subject.run(case, case.threads)
    except Exception as e:  # whatever a library raises is an answer
        return Failure("raises", detail=f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]}")
    dtype = subject.numbers.dtype("c")
    if got.shape != (m, n) or got.dtype != dtype:
        return Failure("no result", detail=f"{got.dtype}{got.shape} instead of {dtype}{(m, n)}")
    if outside:
        return Failure("writes outside", detail=outside)
    failure = _beyond_the_bound(case, got) if case.is_real else _wrong_number(case, got)
    if failure is not None or not repeat:
        return failure
    threads = [("not repeatable", case.threads)]
    if case.is_real and subject.set_threads is not None:
        threads.append(("threads", case.threads % 4 + 1))
    for kind, count in threads:
        again, _ = subject.run(case, count)
        different = np.argwhere(_bits(again) != _bits(got))
        if len(different):
            at = (int(different[0][0]), int(different[0][1]))
            return Failure(kind, at, float(got[at]), float(again[at]))
    return None


def _wrong_number(case: ProductCase, got: np.ndarray) -> Failure | None:
    """Zeros are equal whatever their sign: it depends on what a sum starts from."""
    want = case.expected()
    is_float = case.numbers.is_float
    with np.errstate(invalid="ignore"):  # whatever the library left there
        wide = got.astype(np.float64) if is_float else got.astype(np.int64)
    same = wide == want
    if is_float:
        same |= np.isnan(wide) & np.isnan(want)
    if np.all(same):
        return None
    place = np.argwhere(~same)[0]
    at = (int(place[0]), int(place[1]))
    kind = "wrong integer"
    if is_float and not np.isfinite(want[at]):
        kind = "NaN lost"
    elif is_float and not np.isfinite(wide[at]):
        kind = "NaN made"
    return Failure(kind, at, want[at].item(), wide[at].item(), f"{int(np.count_nonzero(~same))} of {want.size} elements")


def _beyond_the_bound(case: ProductCase, got: np.ndarray) -> Failure | None:
    exact, bound = case.bound()
    wide = got.astype(np.float64)
    inside = np.abs(wide - exact) <= bound
    if np.all(inside):
        return None
    place = np.argwhere(~inside)[0]
    at = (int(place[0]), int(place[1]))
    kind = "beyond the bound" if np.isfinite(wide[at]) else "NaN made"
    return Failure(kind, at, exact[at].item(), wide[at].item(), f"the bound is {bound[at]:.3g}")
