"""The tables by their names, each as the function that gives its rows."""

import fnmatch
from collections.abc import Callable
from typing import Any

from . import arithmetic, conversions, products

TABLES: dict[str, Callable[[], list[Any]]] = {"conversions": conversions.table, "arithmetic": arithmetic.table, "products": products.table}


def chosen(table: str, library: str = "*", operation: str = "*") -> list[Any]:
    """Rows of a table whose library and operation fit shell patterns."""
    return [row for row in TABLES[table]() if fnmatch.fnmatchcase(row.library, library) and fnmatch.fnmatchcase(row.operation, operation)]
