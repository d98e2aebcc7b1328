"""Sums whose order `mmafuzz identify --order` reveals (docs/identify.md): python:examples/orders.py:FUNCTION.

Each takes a and b of shape (cases, k) and c of shape (cases,), and gives c + sum a*b, c added last."""
import numpy


def _each(dot):
    def unit(a, b, c):
        with numpy.errstate(all="ignore"):
            return numpy.array([dot(x, y) for x, y in zip(a, b)], dtype=c.dtype) + c

    return unit


numpy_sum = _each(lambda x, y: numpy.sum(x * y))
numpy_dot = _each(numpy.dot)
numpy_einsum = _each(lambda x, y: numpy.einsum("i,i->", x, y))
numpy_matmul = _each(lambda x, y: (x.reshape(1, -1) @ numpy.stack([y, y], axis=1))[0, 0])


def python_sum(a, b, c):
    """Index order, by cumulative sums."""
    with numpy.errstate(all="ignore"):
        return numpy.cumsum(a * b, axis=1, dtype=c.dtype)[:, -1] + c


def torch_matmul(a, b, c):
    """PyTorch's matrix product on the CPU: one row by two columns."""
    import torch

    x, y = torch.tensor(a), torch.tensor(b)
    product = torch.stack([(p.reshape(1, -1) @ torch.stack([q, q], dim=1))[0, 0] for p, q in zip(x, y)])
    return (product + torch.tensor(c)).numpy()


def torch_sum(a, b, c):
    """torch.sum of the products."""
    import torch

    product = torch.tensor(a) * torch.tensor(b)
    return (torch.stack([p.sum() for p in product]) + torch.tensor(c)).numpy()
