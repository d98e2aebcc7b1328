"""Runs rows of the table within a time."""

from __future__ import annotations

import fnmatch
import time
from dataclasses import dataclass, field

import numpy as np

from . import inputs
from .conversions import WITHOUT_FORMAT, Call, Conversion, Declined
from .divergences import Divergence, compare, decimal
from .judgements import judged

#: Structured inputs of a row whose inputs are too many to try them all.
STRUCTURED = 1 << 24
#: Below this width all inputs are tried at once.
_NARROW = 16


@dataclass
class Result:
    """What was found of one row. declined: why it did not run."""

    library: str
    operation: str
    version: str = ""
    declined: str = ""
    inputs: int = 0
    proven: bool = False
    seconds: float = 0
    findings: list[dict] = field(default_factory=list)


def _first_pass(row: Conversion, call: Call, found: dict[str, Divergence], deadline: float, count: int) -> tuple[int, bool]:
    if inputs.width(row.source) <= _NARROW:
        every = inputs.everything(row.source)
        return compare(call, row.source, row.target, row.attributes, every, found, checked=True), True
    if inputs.width(row.target) <= _NARROW:
        near = inputs.boundaries(row.source, row.target)
    else:  # a wide target has too many numbers: those of bf16 and fp16 stand for them
        near = np.unique(np.concatenate([inputs.boundaries(row.source, one) for one in ("bf16", "fp16")]))
    # In slices, so that a slow party (one number a call) stops in time, and in an order that sees every region early.
    order = np.random.default_rng(0).permutation(len(near))
    slices = (near[one] for one in np.array_split(order, max(1, len(near) // 65536)))
    soon = lambda: time.monotonic() < deadline  # noqa: E731
    done = compare(call, row.source, row.target, row.attributes, slices, found, checked=True, keep_going=soon)
    if not soon():
        return done, False
    around = row.target if inputs.width(row.target) <= _NARROW else "fp16"
    more = inputs.structured(row.source, around, count, seed=1)
    return done + compare(call, row.source, row.target, row.attributes, more, found, keep_going=soon), False


def observe(row: Conversion, deadline: float, count: int = STRUCTURED) -> tuple[Result, dict[str, Divergence], Call | None]:
    """All inputs of a narrow source; of a wide one boundaries and structured inputs, until the deadline."""
    result = Result(row.library, row.operation)
    found: dict[str, Divergence] = {}
    started = time.monotonic()
    try:
        result.version = row.version()
        call = row.prepare()
        result.inputs, result.proven = _first_pass(row, call, found, deadline, count)
    except Declined as why:
        result.declined = str(why)
        return result, {}, None
    except Exception as e:  # a library that raises is an answer, not the end of the others
        result.declined = f"it raises {type(e).__name__}: {(str(e).splitlines() or [''])[0]}"
        return result, {}, None
    result.seconds = time.monotonic() - started
    result.findings = findings(row, found)
    return result, found, call


def findings(row: Conversion, found: dict[str, Divergence]) -> list[dict]:
    """The divergences of a row as the page shows them."""
    shown = []
    for one in found.values():
        verdict, reason = judged(row.library, row.operation, one.kind)
        digits = [inputs.width(f) // 4 + (inputs.width(f) % 4 > 0) for f in (row.source, row.target, row.target)]
        codes = [f"0x{c:0{d}x}" for c, d in zip((one.input, one.expected, one.actual), digits)]
        decimals = [decimal(c, f) for c, f in zip((one.input, one.expected, one.actual),
                                                  (row.source, row.target, row.target))]  # fmt: skip
        shown.append({
            "kind": one.kind, "detail": one.detail, "count": one.count, "class": verdict, "reason": reason,
            "input": codes[0], "expected": codes[1], "actual": codes[2], "decimals": decimals,
            "snippet": row.snippet.replace("{input}", codes[0]).replace("{{", "{").replace("}}", "}"),
        })  # fmt: skip
    return shown


def run(rows: list[Conversion], library: str, deadline: float, count: int = STRUCTURED) -> list[Result]:
    """Every row of the libraries that match a shell pattern; then, in what is left of the time, all 2^32 inputs of rows
    with 32-bit sources, those of the fewest divergences first, as many as fit."""
    chosen = [row for row in rows if fnmatch.fnmatch(row.library, library)]
    results, open_rows = [], []
    left = sum(inputs.width(row.source) > _NARROW for row in chosen)
    half = time.monotonic() + 0.5 * max(0.0, deadline - time.monotonic())
    for row in chosen:
        share = max(0.0, half - time.monotonic()) / max(1, left)
        left -= inputs.width(row.source) > _NARROW
        result, found, call = observe(row, time.monotonic() + share, count)
        results.append(result)
        if call is not None and not result.proven and inputs.width(row.source) == 32:
            open_rows.append((row, result, found, call))
    for row, result, found, call in sorted(open_rows, key=lambda one: len(one[2])):
        rate = result.inputs / max(result.seconds, 1e-6)
        if time.monotonic() + 2**32 / rate > deadline:
            continue
        found.clear()
        everything = inputs.everything(row.source)
        result.inputs = compare(call, row.source, row.target, row.attributes, everything, found)
        result.proven = True
        result.findings = findings(row, found)
    if fnmatch.fnmatch("ml_dtypes", library):
        results += [Result("ml_dtypes", name, declined="mmafuzz has no such format") for name in WITHOUT_FORMAT]
    return results
