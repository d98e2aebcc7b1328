"""Bit-accurate models of matrix units, exact arithmetic, and the search for inputs on which they differ (docs/python.md)."""
from ._unit import Unit, UnitInfo, ops, unit, units

__all__ = ["Unit", "UnitInfo", "ops", "unit", "units"]
