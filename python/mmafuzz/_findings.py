"""Search for divergences, and their minimal witnesses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._callables import adapter, name_of
from ._cases import OperandFields, arrays_of, bytes_of
from ._formats import codes_dtype, numbers_of
from ._unit import Unit, all_units, parsed_op, threads_for

UnitLike = str | Unit | Callable[..., Any]


class Parties:
    """Units and callables on one op, by the names under which the extension module knows them."""

    def __init__(self, op: _core.Op, first: Sequence[UnitLike], against: Sequence[UnitLike] = ()):
        self.callables: dict[str, Callable[..., Any]] = {}
        self.names = [self._named(one, op) for one in first]
        self.against = [self._named(one, op) for one in against]
        # A callable among the first is measured against the others: it claims to equal them.
        self.registry = (
            all_units
            if not self.callables
            else _core.Registry(
                [
                    (name.removeprefix("callable:"), adapter(function), self.against if name in self.names else [])
                    for name, function in self.callables.items()
                ]
            )
        )
        for name in (*self.names, *self.against):
            self.registry.bind(name, op)

    def _named(self, one: UnitLike, op: _core.Op) -> str:
        if isinstance(one, Unit):
            one = one.name
        if isinstance(one, str):
            return _core.unit_of_alias(one, op)
        if not callable(one):
            raise TypeError(f"a unit is a name, a mmafuzz.unit or a callable, not {type(one).__name__}")
        name = plain = "callable:" + name_of(one)
        number = 1
        while self.callables.setdefault(name, one) is not one:
            number += 1
            name = f"{plain}_{number}"
        return name


def units_in(given: Any) -> list[UnitLike]:
    """One unit, or several, as a list."""
    if isinstance(given, (str, Unit)) or callable(given):
        return [given]
    if not isinstance(given, Sequence):
        raise TypeError(f"a unit is a name, a mmafuzz.unit or a callable, not {type(given).__name__}")
    return list(given)


@dataclass(frozen=True)
class Finding(OperandFields):
    """One kind of divergence, with the smallest case that shows it."""

    property_name: str  #: 'equal' or 'equals_model' of two units, or a property of one
    units: list[str]
    op: str
    fields: tuple[np.ndarray, ...]  #: of the witness, one case: as `Unit.evaluate` takes them; the first three are also a, b and c
    results: tuple[np.ndarray, ...]  #: of the two units, or of one unit on the case and on its changed twin; where a
    #: result is a matrix, the element in which they differ
    severity: str  #: 'contract', 'accuracy' or 'semantic' (docs/concepts.md)
    value_class: str  #: 'normal', 'subnormal', 'overflow', 'special', 'zero_sign' or 'flags'
    cause: str | None  #: the parameters that explain it, 'unexplained', 'unstable'; None: not minimized
    detail: str  #: the cause for people
    count: int  #: cases of the search that showed it
    text: str = field(repr=False)  #: the witness as a file of case text; empty where it is not minimized
    callables: dict[str, Callable[..., Any]] = field(default_factory=dict, repr=False)  #: those among `units`

    def __str__(self) -> str:
        lines = [
            f"{self.severity}: {self.property_name} {' '.join(self.units)} ({self.value_class}, {self.count} cases)",
            f"  {self.op}",
        ]
        lines += [f"  {x}" for x in self.fields]
        lines.append("  results " + " against ".join(str(r) for r in self.results))
        return "\n".join(lines + ([f"  {self.detail}"] if self.detail else []))


class Findings(Sequence[Finding]):
    """What a search found, contract first, and how much it looked at."""

    def __init__(self, found: list[Finding], cases: int, comparisons: int):
        order = ("contract", "accuracy", "semantic")
        self._found = sorted(found, key=lambda f: order.index(f.severity))
        self.cases = cases  #: evaluated
        self.comparisons = comparisons  #: of results

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    def __repr__(self) -> str:
        return f"<{len(self)} kinds of divergence in {self.cases} cases>"

    def __str__(self) -> str:
        return "\n".join([*(str(f) for f in self), f"{len(self)} kinds of divergence in {self.cases} cases"])


def _finding(found: Any, callables: dict[str, Callable[..., Any]]) -> Finding:
    op = _core.Op(found["op"])
    fields = tuple(x[0] for x in arrays_of(op, found["fields"]))
    format = found["result_format"]
    results = tuple(numbers_of(np.array(r, codes_dtype(format)), format) for r in found["results"])
    return Finding(
        found["property"],
        found["units"],
        op.text,
        fields,
        results,
        found["severity"],
        found["value_class"],
        found["cause"],
        found["detail"],
        found["count"],
        found["text"],
        callables,
    )


def fuzz(
    unit: UnitLike,
    against: UnitLike | Sequence[UnitLike] = (),
    *,
    op: str,
    seconds: float = 10,
    cases: int | None = None,
    properties: Sequence[str] = (),
    seed: int = 1,
    threads: int | None = None,
    minimize: bool = True,
) -> Findings:
    """Searches operands, guided by what happens in the arithmetic, on which `unit` differs from others.

    unit:     a unit's name, a `mmafuzz.unit`, or a callable. A callable is called in batches, for a dot as
              f(a, b, c[, scale_a, scale_b]) with arrays (n, k), (n, k), (n,) of the formats' dtypes (codes where
              there is none) and returns (n,) of d's dtype, or its codes. For a conversion it is f(x), for a scalar
              operation f(x[, y[, z]]), all (n,); for a gemm f(a, b, c) with (n, m, k), (n, k, n') and (n, m, n').
              It may be called with any n, also on other threads, one at a time.
    against:  what to compare it with: units or callables. A callable is taken to claim that it equals them, so that the
              findings are contract failures and parameters of a model that fit better are named. Without any, a unit is
              checked against what its row claims.
    op:       an op line: 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=16' (`ops()` lists some).
    seconds:  of the search; making the findings minimal comes on top. `cases` instead makes it repeatable: the same
              seed and cases give the same findings on any number of threads.
    properties:  names or patterns of properties to check as well ('monotone*', '*'); `mmafuzz list properties`.
    Returns the findings, each kind once; witnesses are minimal unless minimize=False.

    ValueError: an op that is malformed or that a unit declines. CallableError: a callable raised, or returned another
    dtype or shape."""
    parsed = parsed_op(op)
    parties = Parties(parsed, [unit], units_in(against))
    claims = parties.names[0] in parties.callables
    names = parties.names if claims else [*parties.names, *parties.against]
    if not parties.against and not properties:
        properties = ["*"]
    if cases is not None and (not isinstance(cases, (int, np.integer)) or cases < 1):
        raise ValueError(f"cases is {cases!r}: pass 1 or more")
    if not 0 < seconds <= 1e9:
        raise ValueError(f"seconds is {seconds!r}: pass more than 0")
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed!r}: pass a whole number of 0 or more")
    used = 1 if threads is None and parties.callables else threads_for(threads)
    found, evaluated, compared = _core.search(
        parties.registry,
        parsed,
        names,
        [properties] if isinstance(properties, str) else list(properties),
        1e9 if cases else seconds,
        int(cases or 0),
        int(seed),
        used,
        minimize,
    )
    if compared == 0:
        raise ValueError("nothing was compared: give `against`, or a unit that claims a model or a property")
    return Findings([_finding(one, parties.callables) for one in found], evaluated, compared)


def minimize(units: UnitLike | Sequence[UnitLike], *fields: Any, op: str, property: str = "equal") -> Finding | None:
    """The normal form of a case on which two units differ (or, with a property's name, on which one unit breaks it),
    and the cause. None: the case does not fail.

    fields: one case, as `Unit.evaluate` takes them without leading axes: for a dot a (k,), b (k,), c ().
    TypeError, ValueError: as `fuzz`."""
    parsed = parsed_op(op)
    if not isinstance(property, str):
        raise TypeError(f"property is a name, not {type(property).__name__}")
    parties = Parties(parsed, units_in(units))
    found = _core.minimize(parties.registry, parsed, property, parties.names, bytes_of(parsed, fields))
    return _finding(found, parties.callables) if found is not None else None
