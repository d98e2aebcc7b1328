"""Bit-accurate models of matrix units, exact arithmetic, and the search for inputs on which they differ.

docs/python.md is the manual."""

from ._callables import CallableError
from ._cases import Cases, read_cases, write_cases
from ._compare import Comparison, Match, compare
from ._explain import Explanation, explain
from ._findings import Finding, Findings, fuzz, minimize
from ._products import ProductFinding, ProductFindings, fuzz_product, product_kinds
from ._unit import Unit, UnitInfo, ops, rows, unit, units

__all__ = [
    "CallableError",
    "Cases",
    "Comparison",
    "Explanation",
    "Finding",
    "Findings",
    "Match",
    "ProductFinding",
    "ProductFindings",
    "Unit",
    "UnitInfo",
    "compare",
    "explain",
    "fuzz",
    "fuzz_product",
    "minimize",
    "ops",
    "product_kinds",
    "read_cases",
    "rows",
    "unit",
    "units",
    "write_cases",
]
