"""Units on arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._formats import as_array, codes_dtype, codes_of, format_of, has_spare_codes, number_dtype

#: Every unit of this machine.
all_units = _core.Registry([])

#: A dot of more products than the vector kernels hold at once runs in several of this many.
_PRODUCTS_AT_ONCE = 64
#: Below this many products a call stays on the calling thread.
_PRODUCTS_FOR_THREADS = 1 << 20


class UnitInfo(NamedTuple):
    """What `units` says of a unit."""

    name: str
    summary: str  #: the op that a model's row describes, or what the unit is
    source: str  #: where its arithmetic is described
    unavailable: str  #: why this machine cannot run it; empty: it can


def units(glob: str = "*") -> list[UnitInfo]:
    """The units whose names match a shell pattern ('model:hopper/*'), in the order of `mmafuzz list`.

    A GPU's name ('h100'), an overridden row ('model:...?fraction_bits=24') and 'plugin:file.so' are units too, although
    no list can show them all."""
    return [UnitInfo(*one) for one in all_units.list() if _core.matches_glob(glob, one[0])]


def ops() -> list[str]:
    """Op lines: those of the default searches, then those of all models' rows, each once."""
    return _core.default_ops()


def rows(path: str | os.PathLike[str]) -> None:
    """Makes the names of a file of rows known, as `mmafuzz identify --save` writes it: they are units from now on.

    path: a file; one that was taken before changes nothing.

    ValueError: the file cannot be read, a line of it is malformed, or another file has one of its names for the same
    formats; then none of its names is known. TypeError: not a path. Other threads may search meanwhile."""
    _core.take_rows(os.fspath(path))


def unit(name: str) -> Unit:
    """A unit by its name: 'model:hopper/mma.m16n8k16.f32.f16.f16.f32', 'h100', 'exact', 'ieee:fma', 'plugin:my.so', ...

    ValueError: no such unit (the message has the nearest names)."""
    return Unit(name)


def parsed_op(op: str) -> _core.Op:
    """TypeError: not text. ValueError: malformed."""
    if not isinstance(op, str):
        raise TypeError(f"an op is a line of text, not {type(op).__name__}")
    return _core.Op(op)


def words_of(op: str) -> dict[str, str]:
    """The words `key=value` of an op line of products, or of a part of one. TypeError, ValueError."""
    if not isinstance(op, str):
        raise TypeError(f"op is {type(op).__name__}: pass words of an op line, as in 'a=e2m1 b=e2m1'")
    words = {}
    for word in op.split():
        key, equals, value = word.partition("=")
        if not equals:
            if word in ("op", "dot", "gemm"):  # a whole line
                continue
            raise ValueError(f"op '{op}': '{word}' is not of the form key=value")
        words[key] = value
    return words


class Operands(NamedTuple):
    """The arrays of a product."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray | None = None
    scale_a: np.ndarray | None = None
    scale_b: np.ndarray | None = None


class _Plan(NamedTuple):
    """How a call with arrays of these dtypes runs."""

    formats: tuple[str, ...]  #: of a, b, c, d, scale_a, scale_b; "" without scales
    chain: list[tuple[_core.BoundUnit, int]]
    codes: np.dtype
    numbers: np.dtype


class _Prepared(NamedTuple):
    """A product of two plain matrices that was computed once: what all others of these dtypes and shapes need not ask
    again. A product of an instruction's shape takes less time than the questions."""

    plan: _Plan
    codes: tuple[np.dtype, np.dtype, np.dtype]  #: of a, b, c
    shape: tuple[int, ...]  #: of d
    products: int


#: So many shapes of products a unit remembers.
_MOST_PREPARED = 256


class Unit:
    """A unit, which evaluates ops on arrays. Make one with `unit(name)`.

    Arrays hold numbers of a format's dtype (NumPy's or ml_dtypes') or unsigned codes (uint8 for formats of up to 8
    bits, uint16, uint32, uint64), whose format the unit's row or `op` names. They may have any strides and are read in
    place.
    Torch tensors on the CPU, and whatever else speaks DLPack, do as well. The interpreter's lock is released."""

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise TypeError(f"a unit's name is a string, not {type(name).__name__}")
        self.name = name
        self._row = words_of(_core.op_of_row(name) or "")
        self._row_k = int(self._row.pop("k", 0))
        self._bound: dict[str, _core.BoundUnit] = {}
        self._plans: dict[Any, _Plan] = {}
        self._prepared: dict[Any, _Prepared] = {}
        if not all_units.knows(name):
            all_units.bind(name, _core.Op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"))  # raises with the nearest names
        self._is_scheme = all_units.is_scheme(name)

    def __repr__(self) -> str:
        return f"mmafuzz.unit({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Unit, (self.name,)  # copies and pickles bind anew

    def bind(self, op: str) -> _core.BoundUnit:
        """The unit on one op. ValueError: the op is malformed, or the unit declines it; the message has the reason."""
        bound = self._bound.get(op)
        if bound is None:
            bound = self._bound[op] = all_units.bind(self.name, _core.Op(op))
        return bound

    def dot(
        self,
        a: Any,
        b: Any,
        c: Any = None,
        *,
        scale_a: Any = None,
        scale_b: Any = None,
        op: str = "",
        k: int | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """d = c + sum(a * b) over the last axis, row by row, in the unit's arithmetic.

        a, b:  (..., K); their leading axes are broadcast.
        c:     (...), broadcast to the result; without it the sum starts from +0.
        scale_a, scale_b:  (..., K / block), for ops with scales.
        op, k, threads:  as in `matmul`.
        Returns (...), of d's dtype; a scalar where both are vectors.

        TypeError, ValueError: as `matmul`."""
        a, b, c, scale_a, scale_b = _operands(a, b, c, scale_a, scale_b)
        if a.shape[-1] != b.shape[-1]:
            raise ValueError(f"a has {a.shape[-1]} products and b has {b.shape[-1]}: shapes {a.shape} and {b.shape}")
        if self._is_scheme:  # each row is a product of 1 x K and K x 1
            c = None if c is None else c[..., None, None]
            matrices = Operands(a[..., None, :], b[..., :, None], c, scale_a, scale_b)
            d = self._product(matrices, op, k, threads, (a, b))
            return d[..., 0, 0][()]
        plan = self._plan_for(Operands(a, b, c, scale_a, scale_b), op, k)
        shape = _leading_axes(a.shape[:-1], b.shape[:-1], (a, b))
        given = [(a, "a", shape + a.shape[-1:]), (b, "b", shape + b.shape[-1:]), (c, "c", shape)]
        if scale_a is not None:
            count = scale_a.shape[-1:]
            given += [(scale_a, "scale_a", shape + count), (scale_b, "scale_b", shape + count)]
        order = (0, 1, 2, 4, 5)
        fields = [
            _broadcast(
                np.zeros((), codes_dtype(plan.formats[i])) if x is None else codes_of(x, plan.formats[i], name),
                wanted,
                name,
            )
            for (x, name, wanted), i in zip(given, order)
        ]
        cases = int(np.prod(shape, dtype=np.int64))
        used = threads_for(threads, cases * a.shape[-1])
        for bound, first in plan.chain:
            d = np.empty(shape, plan.codes)
            if cases:
                parts = fields
                if len(plan.chain) > 1:
                    last, block = first + bound.op.k, bound.op.scale_block
                    parts = [fields[0][..., first:last], fields[1][..., first:last], fields[2]]
                    parts += [x[..., first // block : -(-last // block)] for x in fields[3:]]
                self._check_answers(bound.evaluate(parts, cases, d, None, used), cases)
            fields[2] = d
        return d.view(plan.numbers)[()]

    def matmul(
        self,
        a: Any,
        b: Any,
        c: Any = None,
        *,
        scale_a: Any = None,
        scale_b: Any = None,
        op: str = "",
        k: int | None = None,
        threads: int | None = None,
    ) -> np.ndarray:
        """d = c + a @ b, each element a dot in the unit's arithmetic; shapes as for `numpy.matmul`.

        a:     (..., M, K), or (K,)
        b:     (..., K, N), or (K,)
        c:     broadcast to the result's shape; without it every sum starts from +0.
        scale_a, scale_b:  (..., M, K / block) and (..., K / block, N), for ops with scales.
        op:    words of an op line that name what dtypes do not: formats of codes and of d ('a=e2m1 b=e2m1 d=fp32'),
               'sblock=32', 'round=up', ... Without them a model takes the formats of its row; another unit those of the
               arrays, with c's format for d, else fp64, fp32 or s32.
        k:     products of one instruction. A longer K runs as a chain, in which the d of one instruction is the c of
               the next, as in the loops of programs. By default a model's instruction has its row's k, and any other
               unit sums all K products at once. If k does not divide K, the last instruction is shorter: models pad it
               with +0 (its scales with one), other units evaluate that op or decline it.
        threads:  default: all cores, for products that take longer than starting them.
        Returns (..., M, N), of d's dtype (codes where its format has none), with the unit's bits.

        Units that take whole matrix products (ozaki:, ozaki2:, split:, scaled:) get one op gemm for each matrix of the batch.

        TypeError: a dtype that is not of the op's format. ValueError: shapes that do not fit, an op that the unit
        declines, a code beyond its format, K = 0, a case that a recording does not have."""
        key: tuple[Any, ...] | None = None
        plain = type(op) is str and (k is None or type(k) is int) and scale_a is None and scale_b is None
        if plain and type(a) is np.ndarray and type(b) is np.ndarray:
            if c is None:
                key = (a.dtype, b.dtype, a.shape, b.shape, op, k)
            elif type(c) is np.ndarray:
                key = (a.dtype, b.dtype, a.shape, b.shape, op, k, c.dtype, c.shape)
        prepared = self._prepared.get(key)
        if prepared is not None and a.flags.c_contiguous and b.flags.c_contiguous:
            if c is None or c.flags.c_contiguous:
                return self._again(prepared, a, b, c, threads)
        a, b, c, scale_a, scale_b = _operands(a, b, c, scale_a, scale_b)
        whole_a, whole_b = a if a.ndim > 1 else a[None, :], b if b.ndim > 1 else b[:, None]
        if whole_a.shape[-1] != whole_b.shape[-2]:
            raise ValueError(
                f"a has {whole_a.shape[-1]} columns and b {whole_b.shape[-2]} rows: shapes {a.shape} and {b.shape}"
            )
        if c is not None:
            if b.ndim == 1 and c.ndim:
                c = c[..., None]
            if a.ndim == 1 and c.ndim:
                c = c[..., None, :]
        scale_a = None if scale_a is None else np.atleast_2d(scale_a)
        if scale_b is not None:
            scale_b = scale_b if scale_b.ndim > 1 else scale_b[..., None]
        d = self._product(Operands(whole_a, whole_b, c, scale_a, scale_b), op, k, threads, (a, b))
        if key is not None and a.ndim == b.ndim == 2 and d.size and (c is None or c.shape == d.shape):
            self._remember(key, a, b, c, op, k, d)
        if a.ndim == 1:
            d = d[..., 0, :]
        return d[..., 0][()] if b.ndim == 1 else d

    def evaluate(self, op: str, *fields: Any, flags: bool = False, threads: int | None = None) -> Any:
        """Any op on its fields, as in a line of case text: many cases at once.

        op:      an op line: 'scalar fma format=fp32', 'convert from=fp32 to=e4m3', 'dot ... k=16', 'gemm ...',
                 'quantize from=fp32 to=e2m1 block=32 scale=e8m0 ...'
        fields:  dot: a (..., k), b (..., k), c (...), then scales (..., k / block). gemm: a (..., m, k), b (..., k, n),
                 c (..., m, n). convert: the numbers (...). scalar: its operands, (...) each. quantize: the numbers
                 (..., block), and the tensor's scale (...) where the op has one. dequantize: the codes (..., block),
                 the scale (...), and the tensor's.
        Returns the results, (...), (..., m, n) or (..., block); of quantize the scales (...) and the codes
                 (..., block) as a pair; with flags=True also the status flags, (...) of uint8
        (docs/case-text.md).

        TypeError, ValueError: as `matmul`."""
        parsed = parsed_op(op)
        bound = self.bind(op)
        _, result_format, _ = parsed.result
        arrays, case_shapes = fields_of(parsed, fields)
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - len(s)] for x, s in zip(arrays, case_shapes)))
        arrays = [np.broadcast_to(x, batch + s) for x, s in zip(arrays, case_shapes)]
        results = np.empty(batch + result_shape(parsed), codes_dtype(result_format))
        raised = np.empty(batch, np.uint8) if flags else None
        cases = int(np.prod(batch, dtype=np.int64))
        if cases:
            self._check_answers(
                bound.evaluate(arrays, cases, results, raised, threads_for(threads, cases * parsed.k)), cases
            )
        numbers = parted_result(parsed, results) or results.view(number_dtype(result_format))[()]
        return numbers if raised is None else (numbers, raised[()])

    def _check_answers(self, without: int, cases: int) -> None:
        if without:
            raise ValueError(f"unit {self.name} has no answer for {without} of {cases} cases")

    def _product(
        self, matrices: Operands, op: str, k: int | None, threads: int | None, given: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """d of (..., M, N) from matrices. `given`: what messages show."""
        a, b, c, scale_a, scale_b = matrices
        extents = (a.shape[-2], b.shape[-1])
        plan = self._plan_for(matrices, op, k, extents if self._is_scheme else None)
        formats = plan.formats
        a, b = codes_of(a, formats[0], "a"), codes_of(b, formats[1], "b")
        if c is not None:
            c = codes_of(c, formats[2], "c")
        if scale_a is not None and scale_b is not None:
            scale_a, scale_b = codes_of(scale_a, formats[4], "scale_a"), codes_of(scale_b, formats[5], "scale_b")
        batch: tuple[int, ...] = ()
        if a.ndim > 2 or b.ndim > 2:
            batch = _leading_axes(a.shape[:-2], b.shape[:-2], given)
        shape = batch + extents
        if c is not None:
            c = _broadcast(c, shape, "c")
        if batch:
            a, b = np.broadcast_to(a, batch + a.shape[-2:]), np.broadcast_to(b, batch + b.shape[-2:])
        if scale_a is not None and scale_b is not None:
            scale_a = _broadcast(scale_a, batch + (a.shape[-2], scale_a.shape[-1]), "scale_a")
            scale_b = _broadcast(scale_b, batch + (scale_a.shape[-1], b.shape[-1]), "scale_b")
        d = np.empty(shape, plan.codes)
        if d.size:
            used = threads_for(threads, d.size * a.shape[-1])
            if self._is_scheme:
                cases = d.size // (shape[-1] * shape[-2])
                c = c if c is not None else np.zeros((1,) * len(shape), codes_dtype(formats[2]))
                without = plan.chain[0][0].evaluate([a, b, np.broadcast_to(c, shape)], cases, d, None, used)
            else:
                without = _core.multiply(plan.chain, a, b, c, scale_a, scale_b, d, used)
            self._check_answers(without, d.size)
        return d.view(plan.numbers)

    def _remember(
        self, key: Any, a: np.ndarray, b: np.ndarray, c: np.ndarray | None, op: str, k: int | None, d: np.ndarray
    ) -> None:
        """Where the arrays were read as they are, and no code can be beyond its format."""
        plain = key[0] == a.dtype and key[1] == b.dtype and (c is None or key[6] == c.dtype)
        if self._is_scheme or not plain:
            return
        plan = self._plan_for(Operands(a, b, c), op, k)
        if any(has_spare_codes(format) for format in plan.formats[:3]):
            return
        if len(self._prepared) >= _MOST_PREPARED:
            self._prepared.clear()
        x, y, z = (codes_dtype(format) for format in plan.formats[:3])
        self._prepared[key] = _Prepared(plan, (x, y, z), d.shape, d.size * a.shape[1])

    def _again(
        self, prepared: _Prepared, a: np.ndarray, b: np.ndarray, c: np.ndarray | None, threads: int | None
    ) -> np.ndarray:
        plan, (x, y, z), shape, products = prepared
        d = np.empty(shape, plan.codes)
        c = None if c is None else c.view(z)
        used = threads_for(threads, products)
        without = _core.multiply(plan.chain, a.view(x), b.view(y), c, None, None, d, used)
        if without:
            self._check_answers(without, d.size)
        return d.view(plan.numbers)

    def _plan_for(self, given: Operands, op: str, k: int | None, extents: tuple[int, int] | None = None) -> _Plan:
        # Before the key: as keys 16 and 16.0 are one, and a list is none.
        if k is not None and (not isinstance(k, (int, np.integer)) or k < 1):
            raise ValueError(f"k is {k!r}: pass a number of products, 1 or more")
        if not isinstance(op, str):
            words_of(op)  # says what it is
        a, b, c, scale_a, scale_b = given
        key = (
            a.dtype,
            b.dtype,
            c is None or c.dtype,
            scale_a is None or (scale_a.dtype, scale_a.shape[-1:]),
            scale_b is None or scale_b.dtype,
            a.shape[-1],
            op,
            k,
            extents,
        )
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._planned(given, op, k, extents)
        return plan

    def _planned(self, given: Operands, op: str, k: int | None, extents: tuple[int, int] | None) -> _Plan:
        words = op_words(self._row, op, given)
        given_k = words.pop("k", "0")
        step = k or (int(given_k) if given_k.isdigit() else 0)
        products = given.a.shape[-1]
        if extents and (step or given.scale_a is not None):
            raise ValueError(f"{self.name} takes whole matrix products: leave k and scales out")
        formats = tuple(words.get(word, "") for word in ("a", "b", "c", "d", "sa", "sb"))
        d = formats[3]
        if extents:
            chain = [(self.bind(op_line("gemm", {**words, "m": str(extents[0]), "n": str(extents[1])}, products)), 0)]
        else:
            chain = self._chain(words, products, step)
        return _Plan(formats, chain, codes_dtype(d), number_dtype(d))

    def _chain(self, words: dict[str, str], products: int, step: int) -> list[tuple[_core.BoundUnit, int]]:
        """The instructions for K products, with the first product of each."""
        if step == 0:
            whole = self.bind(op_line("dot", words, products))
            instruction = whole.instruction_k
            # A model runs the chain by itself, but its vector kernels hold only so many products.
            if not instruction or products <= _PRODUCTS_AT_ONCE or words["c"] != words["d"]:
                return [(whole, 0)]
            step = max(instruction, _PRODUCTS_AT_ONCE // instruction * instruction)
        if "sblock" in words and step % int(words["sblock"]) and step < products:
            raise ValueError(f"k is {step}, but a scale has {words['sblock']} products: k must be a multiple")
        chain = []
        for first in range(0, products, step):
            here = words if first == 0 else {**words, "c": words["d"]}
            chain.append((self.bind(op_line("dot", here, min(step, products - first))), first))
        return chain


def op_words(row: dict[str, str], op: str, given: Operands) -> dict[str, str]:
    """The words of the op of these arrays: those of a row and of `op`, the rest by the dtypes. a and scale_a have their
    products in the last axis. TypeError, ValueError."""
    a, b, c, scale_a, scale_b = given
    words = {**row, **words_of(op)}
    products = a.shape[-1]
    if products == 0:
        raise ValueError("K is 0: there are no products to sum")
    if "a" not in words:
        words["a"] = format_of(a, "a")
    if "b" not in words:
        words["b"] = words["a"] if b.dtype == a.dtype else format_of(b, "b")
    if "c" not in words and c is not None:
        words["c"] = format_of(c, "c")
    if "d" not in words:
        wide = {"fp64": "fp64"} | dict.fromkeys(("s4", "u4", "s8", "u8", "s16"), "s32")
        words["d"] = words.get("c") or wide.get(words["a"], "fp32")
    words.setdefault("c", words["d"])
    if (scale_a is None) != (scale_b is None):
        raise ValueError("an op has scales of a and of b, or none: pass both or neither")
    if scale_a is None or scale_b is None:
        if "sblock" in words:
            raise ValueError("the op has scales: pass scale_a and scale_b")
        return words
    unsigned = {"e4m3": "ue4m3"}  # PTX has no signed scales
    for word, array, name in (("sa", scale_a, "scale_a"), ("sb", scale_b, "scale_b")):
        if word not in words:
            format = format_of(array, name)
            words[word] = unsigned.get(format, format)
    count = scale_a.shape[-1] if scale_a.ndim else 0
    if "sblock" not in words:
        if count == 0 or products % count:
            raise ValueError(
                f"{products} products and {count} scales: say how many products a scale has, as in op='sblock=32'"
            )
        words["sblock"] = str(products // count)
    block = int(words["sblock"]) if words["sblock"].isdigit() else 0
    if block and -(-products // block) != count:
        raise ValueError(
            f"{products} products in blocks of {block} have {-(-products // block)} scales, scale_a has {count}"
        )
    return words


def op_line(kind: str, words: dict[str, str], k: int) -> str:
    """An op line of these words and k."""
    order = ("a", "b", "c", "d", "m", "n")
    first = [f"{word}={words[word]}" for word in order if word in words]
    rest = [f"{word}={value}" for word, value in words.items() if word not in order]
    return " ".join([kind, *first, f"k={k}", *rest])


def _operands(a: Any, b: Any, *more: Any) -> tuple[Any, ...]:
    """a, b, c and the scales of `dot` and `matmul` as arrays; None stays None."""
    a, b = as_array(a, "a"), as_array(b, "b")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("a and b need an axis of products: they take no scalars, but at least one dimension")
    return (a, b, *(None if x is None else as_array(x, name) for x, name in zip(more, ("c", "scale_a", "scale_b"))))


def _leading_axes(a: tuple[int, ...], b: tuple[int, ...], given: tuple[np.ndarray, np.ndarray]) -> tuple[int, ...]:
    """The shape to which the leading axes are broadcast. `given`: what the message shows."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise ValueError(
            f"the leading axes of a and b do not fit: shapes {given[0].shape} and {given[1].shape}"
        ) from None


def _broadcast(x: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    if x.shape == shape:
        return x
    try:
        return np.broadcast_to(x, shape)
    except ValueError:
        raise ValueError(f"{name} of shape {x.shape} does not fit {shape}") from None


def threads_for(threads: int | None, products: int = _PRODUCTS_FOR_THREADS) -> int:
    """The number of threads of a call that asks for so many. ValueError."""
    if threads is None:
        return 1 if products < _PRODUCTS_FOR_THREADS else len(os.sched_getaffinity(0))
    if not isinstance(threads, (int, np.integer)) or not 1 <= threads <= 1024:
        raise ValueError(f"threads is {threads!r}: pass 1 to 1024")
    return int(threads)


def case_shapes_of(op: _core.Op) -> list[tuple[int, ...]]:
    """The shape of one case in each of an op's fields, as callables and `evaluate` see them."""
    if op.kind == "gemm":
        return [(op.m, op.k), (op.k, op.n), (op.m, op.n)]
    if op.kind == "dot":
        return [() if name == "c" else (count,) for name, _, count in op.fields]
    if op.kind in ("quantize", "dequantize"):
        return [(op.fields[0][2],), *[()] * (len(op.fields) - 1)]
    return [(op.fields[0][2],)]


def result_shape(op: _core.Op) -> tuple[int, ...]:
    """The shape of one result: of quantize the scale and then the codes."""
    count = op.result[2]
    return (op.m, op.n) if op.kind == "gemm" else (count,) if op.kind in ("quantize", "dequantize") else ()


def parted_result(op: _core.Op, results: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The scales (...) and codes (..., block) of a quantize op, of their formats' dtypes; None of other ops."""
    if op.kind != "quantize":
        return None
    (_, scale, _), (_, element, _) = op.results
    scales = np.ascontiguousarray(results[..., 0]).astype(codes_dtype(scale))
    codes = np.ascontiguousarray(results[..., 1:]).astype(codes_dtype(element))
    return scales.view(number_dtype(scale))[()], codes.view(number_dtype(element))[()]


def joined_result(op: _core.Op, parts: Sequence[Any]) -> np.ndarray:
    """The other way. TypeError, ValueError."""
    named = zip(parts, op.results, strict=True)
    codes = [codes_of(as_array(part, name), format, name) for part, (name, format, _) in named]
    wide = codes_dtype(op.result[1])
    return np.concatenate([codes[0][..., None].astype(wide), codes[1].astype(wide)], axis=-1)


def fields_of(op: _core.Op, given: tuple[Any, ...]) -> tuple[list[np.ndarray], list[tuple[int, ...]]]:
    """The codes of an op's fields from arrays as `Unit.evaluate` takes them, and the shape of one case in each."""
    shapes = case_shapes_of(op)
    arrays = [as_array(x, f"field {i + 1}") for i, x in enumerate(given)]
    if op.kind in ("scalar", "convert"):  # operands apart
        count = op.fields[0][2]
        if len(arrays) != count:
            raise ValueError(f"'{op.text}' has {count} operands, not {len(arrays)}")
        codes = [codes_of(x, op.fields[0][1], f"operand {i + 1}") for i, x in enumerate(arrays)]
        try:
            return [np.stack(np.broadcast_arrays(*codes), axis=-1)], shapes
        except ValueError:
            raise ValueError("the operands' shapes do not fit: " + ", ".join(str(x.shape) for x in arrays)) from None
    if len(arrays) != len(shapes):
        raise ValueError(f"'{op.text}' has {len(shapes)} fields, not {len(arrays)}")
    fields = []
    for x, shape, (name, format, _) in zip(arrays, shapes, op.fields):
        if x.ndim < len(shape) or x.shape[x.ndim - len(shape) :] != shape:
            raise ValueError(f"{name} has shape {x.shape}, but one case of '{op.text}' has {shape}")
        fields.append(codes_of(x, format, name))
    return fields, shapes
