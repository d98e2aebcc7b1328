"""Sums whose order `mmafuzz identify --order` reveals (docs/identify.md): python:examples/orders.py:FUNCTION.

Each takes a and b of shape (cases, k) and c of shape (cases,), and gives c + sum a*b, c added last. The products of
matrices are 32 by k by 32, so that a library has work for its threads: case i is element (i, i) of one of them."""
import ctypes

import numpy

SIDE = 32  # rows and columns of a product of matrices


def _each(dot):
    def unit(a, b, c):
        with numpy.errstate(all="ignore"):
            return numpy.array([dot(x, y) for x, y in zip(a, b)], dtype=c.dtype) + c

    return unit


numpy_sum = _each(lambda x, y: numpy.sum(x * y))
numpy_dot = _each(numpy.dot)
numpy_einsum = _each(lambda x, y: numpy.einsum("i,i->", x, y))
numpy_matmul = _each(lambda x, y: (x.reshape(1, -1) @ numpy.stack([y, y], axis=1))[0, 0])


def _product(dots):
    """dots: 32 rows of x and of y to the products x[i] * y[i]; the last ones of a batch are filled up with zeros."""

    def unit(a, b, c):
        sums = numpy.empty(len(c), dtype=c.dtype)
        with numpy.errstate(all="ignore"):
            for first in range(0, len(c), SIDE):
                x, y = (numpy.zeros((SIDE, a.shape[1]), dtype=a.dtype) for _ in range(2))
                count = min(SIDE, len(c) - first)
                x[:count], y[:count] = a[first : first + count], b[first : first + count]
                sums[first : first + count] = dots(x, y)[:count]
            return sums + c

    return unit


numpy_product = _product(lambda x, y: (x @ y.T).diagonal())


def blis_product(a, b, c):
    """BLIS's cblas_sgemm, from libblis.so.4: x times y transposed, in row-major order."""
    sgemm = ctypes.CDLL("libblis.so.4").cblas_sgemm
    pointer = numpy.ctypeslib.ndpointer(numpy.float32, flags="C")
    sgemm.argtypes = [ctypes.c_int] * 6 + [ctypes.c_float, pointer, ctypes.c_int, pointer, ctypes.c_int,
                                           ctypes.c_float, pointer, ctypes.c_int]  # fmt: skip
    row_major, not_transposed, transposed = 101, 111, 112

    def dots(x, y):
        k, z = x.shape[1], numpy.zeros((SIDE, SIDE), dtype=numpy.float32)
        sgemm(row_major, not_transposed, transposed, SIDE, SIDE, k, 1, x, k, y, k, 0, z, SIDE)
        return z.diagonal()

    return _product(dots)(a, b, c)


def torch_product(a, b, c):
    """PyTorch's product of matrices in fp32."""
    import torch

    return _product(lambda x, y: (torch.from_numpy(x) @ torch.from_numpy(y).T).numpy().diagonal())(a, b, c)


def torch_linear(a, b, c):
    """PyTorch's product of matrices in bf16 with c as the bias, which joins before the result is rounded to bf16."""
    import torch

    def matrix(x):
        return torch.from_numpy(x.view(numpy.int16)).view(torch.bfloat16)

    results = numpy.empty_like(c)
    for first in range(0, len(c), SIDE):
        count = min(SIDE, len(c) - first)
        x, y, bias = (numpy.zeros((SIDE, *v.shape[1:]), dtype=v.dtype) for v in (a, b, c))
        for whole, part in ((x, a), (y, b), (bias, c)):
            whole[:count] = part[first : first + count]
        product = torch.nn.functional.linear(matrix(x), matrix(y), matrix(bias))
        results[first : first + count] = product.diagonal().contiguous().view(torch.int16).numpy().view(c.dtype)[:count]
    return results


def python_sum(a, b, c):
    """Index order, by cumulative sums."""
    with numpy.errstate(all="ignore"):
        return numpy.cumsum(a * b, axis=1, dtype=c.dtype)[:, -1] + c


def torch_sum(a, b, c):
    """torch.sum of the products."""
    import torch

    product = torch.tensor(a) * torch.tensor(b)
    return (torch.stack([p.sum() for p in product]) + torch.tensor(c)).numpy()
