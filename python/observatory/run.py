"""Runs rows of a table within a time."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from mmafuzz import ProductFinding, fuzz_product

from . import inputs
from .arithmetic import Arithmetic
from .conversions import WITHOUT_FORMAT, Call, Conversion
from .divergences import Divergence, compare, decimal
from .judgements import judged
from .party import Declined, first_line
from .products import Product

#: Structured inputs of a row whose inputs are too many to try them all.
STRUCTURED = 1 << 24
#: Below this width all inputs are tried at once.
_NARROW = 16


#: The kind of finding of a row whose library ended the process.
ENDS = "ends the process"


@dataclass
class Result:
    """What was found of one row. declined: why it did not run. cut: the time ended before all that was planned was tried."""

    library: str
    operation: str
    version: str = ""
    declined: str = ""
    inputs: int = 0
    proven: bool = False
    cut: bool = False
    seconds: float = 0
    findings: list[dict] = field(default_factory=list)


def _first_pass(row: Conversion | Arithmetic, call: Call, found: dict[str, Divergence], deadline: float, count: int) -> int:
    """The number of inputs that were tried: all of a narrow source; else boundaries and `count` structured ones, until the
    deadline."""
    if row.width <= _NARROW:
        return compare(row, call, inputs.everything(row.width), found, checked=True)
    near = row.boundaries()
    # In slices, so that a slow party (one number a call) stops in time, and in an order that sees every region early.
    order = np.random.default_rng(0).permutation(len(near))
    slices = (near[one] for one in np.array_split(order, max(1, len(near) // 65536)))
    soon: Callable[[], bool] = lambda: time.monotonic() < deadline
    done = compare(row, call, slices, found, checked=True, keep_going=soon)
    if not soon():
        return done
    return done + compare(row, call, row.structured(count), found, keep_going=soon)


def observe(row: Conversion | Arithmetic, deadline: float, count: int = STRUCTURED) -> tuple[Result, dict[str, Divergence]]:
    """All inputs of a narrow source; of a wide one boundaries and structured inputs, until the deadline."""
    result = Result(row.library, row.operation)
    found: dict[str, Divergence] = {}
    started = time.monotonic()
    try:
        result.version = row.version()
        call = row.prepare()
        result.inputs = _first_pass(row, call, found, deadline, count)
        result.proven = row.width <= _NARROW
        result.cut = not result.proven and time.monotonic() >= deadline
    except Declined as why:
        result.declined = str(why)
        return result, {}
    except Exception as e:  # a library that raises is an answer, not the end of the others
        result.declined = f"it raises {type(e).__name__}: {first_line(e)}"
        return result, {}
    result.seconds = time.monotonic() - started
    result.findings = findings(row, found)
    return result, found


def findings(row: Conversion | Arithmetic, found: dict[str, Divergence]) -> list[dict]:
    """The divergences of a row as the page shows them."""
    shown = []
    for one in found.values():
        verdict, reason = judged(row.library, row.operation, one.kind)
        input = np.array([one.input], inputs.integers_of(row.width))
        asked = [(int(codes[0]), f) for codes, f in zip(inputs.operands_of(input, row.operands), row.operands)]
        texts = [[(f"0x{code:0{-(-inputs.width(f) // 4)}x}", decimal(code, f)) for code, f in codes]
                 for codes in (asked, [(one.expected, row.target)], [(one.actual, row.target)])]  # fmt: skip
        codes, decimals = ([", ".join(text[i] for text in each) for each in texts] for i in (0, 1))
        shown.append({
            "kind": one.kind, "detail": one.detail, "count": one.count, "class": verdict, "reason": reason,
            "input": codes[0], "expected": codes[1], "actual": codes[2], "decimals": decimals,
            "snippet": row.snippet.replace("{input}", codes[0]).replace("{{", "{").replace("}}", "}"),
        })  # fmt: skip
    return shown


#: What stands for a row that is running: where the process ends there, it stays.
RUNNING = "running"


def _started(row: Conversion | Arithmetic | Product) -> Result:
    result = Result(row.library, row.operation, declined=RUNNING)
    with contextlib.suppress(Exception):  # why it has none is said when it runs
        result.version = row.version()
    return result


def run(
    rows: list[Conversion] | list[Arithmetic],
    deadline: float,
    count: int = STRUCTURED,
    save: Callable[[list[Result]], None] = lambda results: None,
) -> list[Result]:
    """Every row, as far as the time goes. `save` gets the results so far, before each row."""
    results: list[Result] = []
    left = sum(row.width > _NARROW for row in rows)
    for row in rows:
        save([*results, _started(row)])
        share = max(0.0, deadline - time.monotonic()) / max(1, left)
        left -= row.width > _NARROW
        result, _ = observe(row, time.monotonic() + share, count)
        results.append(result)
    if any(row.library == "ml_dtypes" and isinstance(row, Conversion) for row in rows):
        results += [Result("ml_dtypes", name, declined="mmafuzz has no such format") for name in WITHOUT_FORMAT]
    return results


def can_be_proven(row: Conversion | Arithmetic) -> bool:
    """Whether all inputs are many, but not too many."""
    return row.width == 32


def prove(row: Conversion | Arithmetic, deadline: float) -> Result:
    """All 2^32 inputs of a row, if a sample says that the time is enough; declined otherwise."""
    result = Result(row.library, row.operation)
    started = time.monotonic()
    try:
        result.version = row.version()
        call = row.prepare()

        def compared(blocks: Iterable[np.ndarray], found: dict[str, Divergence]) -> int:
            return compare(row, call, blocks, found, quickly=True)

        # Whole blocks, as they come: NaNs stand together, and what differs costs more.
        starts = [(2 * i + 1) << 29 for i in range(4)]
        sample = [np.arange(start, start + inputs.BLOCK, dtype=np.uint64).astype(np.uint32) for start in starts]
        compared(sample[:1], {})  # a library may compile at its first call
        before = time.monotonic()
        tried = compared(sample, {})
        if time.monotonic() + (time.monotonic() - before) * (1 << 32) / tried > deadline:
            raise Declined("the time is too short for all 2^32 inputs")
        found: dict[str, Divergence] = {}
        result.inputs = compared(inputs.everything(row.width), found)
    except Declined as why:
        result.declined = str(why)
        return result
    result.proven, result.seconds = True, time.monotonic() - started
    result.findings = findings(row, found)
    return result


class LastCall:
    """Keeps in a file what the last call of a library was, so that it can be read after the end of the process."""

    def __init__(self, path: str):
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        self._threads = ""

    def of(self, call: Callable[..., object]) -> Callable[..., object]:
        def watched(a: np.ndarray, b: np.ndarray, *rest: object) -> object:
            scales = f", alpha={rest[1]} beta={rest[2]}" if len(rest) == 3 else ""
            text = f"m={a.shape[0]} n={b.shape[1]} k={a.shape[1]}{scales}{self._threads}"
            os.pwrite(self._file, text.ljust(100).encode(), 0)
            return call(a, b, *rest)

        return watched

    def of_threads(self, set_threads: Callable[[int], object] | None) -> Callable[[int], object] | None:
        def watched(count: int) -> object:
            self._threads = f", {count} threads"
            return set_threads(count)  # type: ignore

        return None if set_threads is None else watched


def run_products(
    rows: list[Product],
    deadline: float,
    save: Callable[[list[Result]], None] = lambda results: None,
    last_call: str = os.devnull,
) -> list[Result]:
    """Searches wrong results of every row, each for the same share of the time. last_call: a file that says what was called
    last."""
    watch = LastCall(last_call)
    results: list[Result] = []
    for i, row in enumerate(rows):
        result = _started(row)
        results.append(result)
        save(results)
        started = time.monotonic()
        result.declined = ""
        try:
            result.version = row.version()
            call, set_threads = row.prepare()
            share = max(0.1, (deadline - time.monotonic()) / (len(rows) - i))
            found = fuzz_product(watch.of(call), row.operands, row.result, form=row.form, strides=row.strides,
                                 set_threads=watch.of_threads(set_threads), seconds=share)  # fmt: skip
        except Declined as why:
            result.declined = str(why)
            continue
        result.inputs, result.seconds = found.cases, time.monotonic() - started
        result.findings = [_of_product(row, one) for one in found]
    save(results)
    return results


def ended(result: Result, how: str, last_call: str) -> None:
    """Makes of a row that was running a finding: its library ended the process."""
    verdict, reason = judged(result.library, result.operation, ENDS, last_call)
    result.declined = ""
    result.findings = [{
        "kind": ENDS, "detail": how, "count": 1, "class": verdict, "reason": reason, "input": last_call, "where": None,
        "expected": "a result", "actual": how, "snippet": "",
    }]  # fmt: skip


def _of_product(row: Product, one: ProductFinding) -> dict:
    """A finding as the page shows it."""
    verdict, reason = judged(row.library, row.operation, one.kind, ", ".join(one.features))
    m, n, k = one.shape
    return {
        "kind": one.kind, "detail": one.detail, "count": one.count, "class": verdict, "reason": reason,
        "input": ", ".join([f"m={m} n={n} k={k}", *one.features]), "where": one.where, "expected": str(one.expected),
        "actual": str(one.got), "snippet": row.snippet(one),
    }  # fmt: skip
