"""Units as Python functions (docs/processes.md): python:examples/units.py:FUNCTION."""


def serial(a, b, c):
    """fp16 dots onto fp32: products and sums in fp32, in index order from c. Needs numpy, which gives arrays: a and b of
    shape (cases, k), c of shape (cases,). The result has the type of d's format."""
    total = c
    for i in range(a.shape[1]):
        total = total + a[:, i].astype("float32") * b[:, i].astype("float32")
    return total


def negate(op, source):
    """A conversion of a format to itself that flips the sign: one case at a time, encodings as whole numbers."""
    return source ^ 0x8000


negate.per_case = True
negate.supports = lambda op: op.line == "op convert from=fp16 to=fp16 round=nearest_even" or "it takes fp16 to fp16"
