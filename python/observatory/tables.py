"""The tables by their names, each as the function that gives its rows."""

import fnmatch

from . import arithmetic, conversions, products

TABLES = {"conversions": conversions.table, "arithmetic": arithmetic.table, "products": products.table}


def chosen(table: str, library: str = "*", operation: str = "*") -> list:
    """Rows of a table whose library and operation fit shell patterns."""
    return [row for row in TABLES[table]() if fnmatch.fnmatch(row.library, library) and fnmatch.fnmatchcase(row.operation, operation)]
