"""The tables by their names, each as the function that gives its rows."""

from . import arithmetic, conversions, products

TABLES = {"conversions": conversions.table, "arithmetic": arithmetic.table, "products": products.table}
