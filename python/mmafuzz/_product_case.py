"""Matrix products whose result is the same in every order and blocking: integers, so small that no sum is ever rounded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from . import _core
from ._formats import DTYPE_OF_FORMAT
from ._unit import Unit

_EXACT = Unit("exact")
_iinfo: Any = ml_dtypes.iinfo  # which has no types
_finfo: Any = ml_dtypes.finfo


@dataclass(frozen=True)
class Layout:
    """How a matrix lies in memory. What lies between and around its elements is poison."""

    by_columns: bool = False  #: the elements of a column are neighbours, not those of a row
    padding: int = 0  #: elements between one row (column) and the next
    offset: int = 0  #: elements before the first: decides on its alignment
    step: int = 1  #: from an element to its neighbour; below 0 both axes run backwards

    def words(self, name: str) -> list[str]:
        """What is not plain about the matrix `name`."""
        said = [
            (self.by_columns, "by columns"),
            (self.padding, "padded"),
            (self.offset, "not at the start"),
            (self.step < 0, "backwards"),
            (abs(self.step) > 1, "with gaps"),
        ]
        return [f"{name} {words}" for true, words in said if true]

    def place(self, values: np.ndarray, poison: object) -> tuple[np.ndarray, np.ndarray]:
        """`values` (rows, columns) in memory of poison: the view of them, and all that memory."""
        outer, inner = values.shape[::-1] if self.by_columns else values.shape
        gap = abs(self.step)
        lead = inner * gap + self.padding
        memory = np.full(self.offset + outer * lead + self.padding + 1, poison, values.dtype)
        grid = memory[self.offset : self.offset + outer * lead].reshape(outer, lead)[:, : inner * gap : gap]
        if self.step < 0:
            grid = grid[::-1, ::-1]
        view = grid.T if self.by_columns else grid
        view[...] = values
        return view, memory


class Special(NamedTuple):
    """An infinity or NaN in one place."""

    matrix: str  #: a, b or c
    row: int
    column: int
    value: float


class Numbers(NamedTuple):
    """Formats of a product, and how far their integers go without rounding."""

    a: str
    b: str
    d: str  #: of c and the result

    def format(self, matrix: str) -> str:
        return {"a": self.a, "b": self.b, "c": self.d}[matrix]

    def dtype(self, matrix: str) -> np.dtype:
        return DTYPE_OF_FORMAT[self.format(matrix)]

    def is_integer(self, matrix: str) -> bool:
        return bool(_core.format_fields(self.format(matrix))["integer"])

    @property
    def is_float(self) -> bool:
        return not self.is_integer("c")

    def steps(self, matrix: str) -> int:
        """A rounding to the format changes a number by one part in so many at most."""
        return 1 << (_core.format_fields(self.format(matrix))["fraction_bits"] + 1)

    def greatest(self, matrix: str) -> int:
        """All integers up to it are numbers of the format, and so are their negatives unless it is unsigned."""
        dtype = self.dtype(matrix)
        if self.is_integer(matrix):
            return int(_iinfo(dtype).max)
        return min(self.steps(matrix), int(float(_finfo(dtype).max)))

    def is_signed(self, matrix: str) -> bool:
        return not self.is_integer(matrix) or _iinfo(self.dtype(matrix)).min < 0

    def holds(self, matrix: str, value: float) -> bool:
        """Whether the format has this infinity or NaN."""
        if self.is_integer(matrix):
            return False
        return bool(np.array_equal(np.float32(value).astype(self.dtype(matrix)).astype(np.float32), value, equal_nan=True))

    def poison(self, matrix: str) -> object:
        """What lies around the elements."""
        return np.nan if self.holds(matrix, np.nan) else self.greatest(matrix)

    def has_fractions(self, most: int) -> bool:
        """Whether a and b have numbers of full precision between 1/2 and 1, and sums of `most` of these stay in range."""
        if any(self.is_integer(x) for x in "abc") or float(_finfo(self.dtype("c")).max) < most:
            return False
        return all(float(_finfo(self.dtype(x)).smallest_subnormal) * self.steps(x) <= 1 for x in "ab")


@dataclass(frozen=True, eq=False)
class ProductCase:
    """alpha * a @ b + beta * c: its numbers and how they are passed."""

    numbers: Numbers
    a: np.ndarray  #: (m, k) int64; float64 where `is_real`
    b: np.ndarray  #: (k, n)
    c: np.ndarray  #: (m, n)
    alpha: int = 1
    beta: int = 0
    layouts: tuple[Layout, Layout, Layout] = (Layout(), Layout(), Layout())  #: of a, b, c
    special: Special | None = None
    unset_c: bool = False  #: c holds NaN; with beta = 0 nothing may come of it
    threads: int = 1
    is_real: bool = False  #: fractions: a bound and repeatability are stated, not a result

    @property
    def shape(self) -> tuple[int, int, int]:
        """m, n, k."""
        return self.a.shape[0], self.b.shape[1], self.a.shape[1]

    def is_exact(self) -> bool:
        """Whether no order of operations can round: the magnitudes together stay within the format."""
        limits = self.numbers
        sums = np.abs(self.a) @ np.abs(self.b)
        most = abs(self.alpha) * int(sums.max(initial=0)) + abs(self.beta) * int(np.abs(self.c).max(initial=0))
        scaled = max(1, abs(self.alpha)) * int(np.abs(self.a).max(initial=0))
        return most <= limits.greatest("c") and scaled <= max(limits.greatest("a"), limits.greatest("c"))

    def matrix(self, name: str) -> np.ndarray:
        """a, b or c with its special value, of its format's dtype."""
        dtype = self.numbers.dtype(name)
        values = {"a": self.a, "b": self.b, "c": self.c}[name]
        # Through float32, which holds the integers of the narrow formats: NumPy has no way from int64 to bfloat16.
        stored = values.astype(dtype if dtype.kind in "iuf" else np.float32).astype(dtype)
        if name == "c" and self.unset_c:
            stored[...] = np.nan
        if self.special is not None and self.special.matrix == name:
            stored[self.special.row, self.special.column] = self.special.value
        return stored

    def expected(self) -> np.ndarray:
        """The result, (m, n): float64, or int64 where the format has integers. Not of reals."""
        result = self.alpha * (self.a @ self.b) + self.beta * self.c
        if not self.numbers.is_float:
            return result
        want = result.astype(np.float64)
        if self.special is None:
            return want
        matrix, row, column, value = self.special
        if matrix == "c":
            if self.beta:
                want[row, column] = self.beta * value
        elif self.alpha:  # with alpha = 0 a and b are not looked at
            others = self.b[column, :] if matrix == "a" else self.a[:, row]
            with np.errstate(invalid="ignore"):
                met = self.alpha * value * others.astype(np.float64)
            want[(row, slice(None)) if matrix == "a" else (slice(None), column)] = met
        return want

    def bound(self) -> tuple[np.ndarray, np.ndarray]:
        """Of reals with alpha = 1 and beta 0 or 1: the exact result rounded to fp64, and how far from that rounded value a
        result may lie whose operations round once each, in any order.

        Each of k products and k + 1 additions, and the conversion of a wider sum to the result, multiplies by (1 + delta)
        with |delta| <= u: Higham, Accuracy and Stability of Numerical Algorithms (2002), lemma 3.1 and section 3.1. Five
        more factors cover the fp64 rounding of the exact result, of the sum of magnitudes and of the comparison."""
        k = self.shape[2]
        c = self.c if self.beta else np.zeros_like(self.c)
        words = "a=fp64 b=fp64 c=fp64 d=fp64"
        exact = _EXACT.matmul(self.a, self.b, c, op=words)
        magnitudes = _EXACT.matmul(np.abs(self.a), np.abs(self.b), np.abs(c), op=words + " round=up")
        unit = 1.0 / self.numbers.steps("c")
        steps = (k + 7) * unit
        return exact, np.inf * magnitudes if steps >= 1 else steps / (1 - steps) * magnitudes

    def features(self) -> tuple[str, ...]:
        """What is not plain about the case, in words; nothing for plain matrices of integers."""
        words = []
        if self.is_real:
            words.append("fractions")
        if self.shape[2] == 0:
            words.append("k = 0")
        if self.alpha != 1:
            words.append("alpha = 0" if self.alpha == 0 else "alpha not 1")
        if self.beta != 0:
            words.append("beta not 0")
        if self.unset_c:
            words.append("NaN in c with beta = 0")
        if self.special:
            value = "NaN" if np.isnan(self.special.value) else "infinity"
            words.append(f"{value} in {self.special.matrix}")
            if self.special.matrix == "c" and self.beta == 0:
                words[-1] += " with beta = 0"
        for name, layout in zip("abc", self.layouts):
            words += layout.words(name)
        if self.threads > 1:
            words.append("threads")
        return tuple(words)

    def sliced(self, axis: str, size: int, last: bool) -> ProductCase:
        """The case with `size` of its rows of a (axis m), columns of b (n) or products (k): the first or the last ones."""
        part = slice(-size, None) if last else slice(size)
        a = self.a[part] if axis == "m" else self.a[:, part] if axis == "k" else self.a
        b = self.b[:, part] if axis == "n" else self.b[part] if axis == "k" else self.b
        c = self.c[part] if axis == "m" else self.c[:, part] if axis == "n" else self.c
        special = self.special
        if special is not None:
            shape = {"a": a, "b": b, "c": c}[special.matrix].shape
            special = special._replace(row=min(special.row, shape[0] - 1), column=min(special.column, shape[1] - 1))
        return replace(self, a=a, b=b, c=c, special=special)
