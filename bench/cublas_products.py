"""Records what cuBLAS's emulation of FP64 gives on this machine's GPU, for python/tests/test_cublas_products.py.

    bench/cublas_products.py LIBCUBLAS OUT.npz     needs PyTorch with CUDA, for device memory

Products of small matrices under fixed numbers of bits and where cuBLAS chooses them, with and without scalars; k from 1,024 on,
where it splits k; rows of subnormal numbers, of numbers next to a power of two, of zeros; NaNs and infinities in c."""

import ctypes
import json
import sys
from typing import Any

import numpy as np

EMULATED, FIXED_POINT_MATH, EAGER, FP64, TRANSPOSED = 79, 8, 2, 1, 1
DYNAMIC, FIXED = 0, 1
Array = np.ndarray[Any, np.dtype[np.float64]]


class Cublas:
    def __init__(self, path: str) -> None:
        import torch

        self.torch = torch
        torch.zeros(1, device="cuda")
        self.library = ctypes.CDLL(path)
        self.handle = ctypes.c_void_p()
        self.call("cublasCreate_v2", ctypes.byref(self.handle))
        version = ctypes.c_int()
        self.call("cublasGetVersion_v2", self.handle, ctypes.byref(version))
        self.version = version.value
        self.count = torch.zeros(1, dtype=torch.int32, device="cuda")
        self.call("cublasSetMathMode", self.handle, FIXED_POINT_MATH)
        self.call("cublasSetEmulationStrategy", self.handle, EAGER)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def choose(self, bits: int, offset: int = 0) -> None:
        """bits: retained; 0: cuBLAS chooses them."""
        prefix = "cublasSetFixedPointEmulationMantissa"
        self.call(prefix + "Control", self.handle, FIXED if bits else DYNAMIC)
        self.call("cublasSetFixedPointEmulationMaxMantissaBitCount", self.handle, bits)
        self.call(prefix + "BitOffset", self.handle, offset)
        self.call(prefix + "BitCountPointer", self.handle, ctypes.c_void_p(self.count.data_ptr()))

    def product(self, a: Array, b: Array, c: Array, alpha: float, beta: float) -> tuple[Array, int]:
        """a (m, k), b (k, n), c (m, n): alpha * a @ b + beta * c, and the bits that were retained; -1: native."""
        (m, k), n = a.shape, b.shape[1]
        on_device = [self.torch.from_numpy(np.ascontiguousarray(x)).cuda() for x in (a, b.T, c.T)]
        pointers = [ctypes.c_void_p(x.data_ptr()) for x in on_device]
        self.count.fill_(0)
        self.torch.cuda.synchronize()
        scalars = [ctypes.byref(ctypes.c_double(x)) for x in (alpha, beta)]
        self.call(
            "cublasGemmEx", self.handle, TRANSPOSED, 0, m, n, k, scalars[0], pointers[0], FP64, k, pointers[1], FP64, k,
            scalars[1], pointers[2], FP64, m, EMULATED, -1,
        )  # fmt: skip
        self.torch.cuda.synchronize()
        return on_device[2].cpu().numpy().T.copy(), int(self.count.item())


def drawn(rng: np.random.Generator, shape: tuple[int, int], spread: float) -> Array:
    return (rng.random(shape) - 0.5) * np.exp(spread * rng.standard_normal(shape))


def changed(rng: np.random.Generator, a: Array, b: Array, kind: int) -> tuple[Array, Array]:
    """One of the corners that the scheme has."""
    power = lambda least, greatest: 2.0 ** float(rng.integers(least, greatest))  # noqa: E731
    if kind == 1:
        return a * power(-1060, 1000), b
    if kind == 2:
        return a * power(-600, 500), b * power(-600, 500)
    if kind == 3:
        return np.where(rng.random(a.shape) < 0.3, 0.0, a), np.where(rng.random(b.shape) < 0.3, -0.0, b)
    if kind == 4:  # next to a power of two
        return np.sign(a) * 2.0 ** np.floor(np.log2(np.abs(a))) * (2 - power(-53, -1)), b
    if kind == 5:
        return np.abs(a), -np.abs(b)
    return a, b


def main(path: str, out: str) -> None:
    cublas, rng = Cublas(path), np.random.default_rng(20)
    cases: list[dict[str, Any]] = []
    values: list[Array] = []

    def record(a: Array, b: Array, c: Array, alpha: float, beta: float, bits: int, offset: int = 0) -> None:
        d, retained = cublas.product(a, b, c, alpha, beta)
        shape = {"m": a.shape[0], "n": b.shape[1], "k": a.shape[1]}
        held = {"rows": a.shape[0], "columns": b.shape[1]}
        cases.append({**shape, **held, "bits": bits, "offset": offset, "alpha": alpha, "beta": beta, "retained": retained})
        values.extend(x.ravel() for x in (a, b, c, d))

    def record_first(row: Array, column: Array, m: int, n: int, bits: int) -> None:
        """The first element of a product of zeros but for the first row of a and column of b: alone its file is small."""
        a, b = np.zeros((m, len(row))), np.zeros((len(column), n))
        a[0], b[:, 0] = row, column
        whole, retained = cublas.product(a, b, np.zeros((m, n)), 1.0, 0.0)
        cases.append({"m": m, "n": n, "k": len(row), "rows": 1, "columns": 1, "bits": bits, "offset": 0, "alpha": 1.0,
                      "beta": 0.0, "retained": retained})  # fmt: skip
        values.extend((row, column, np.zeros(1), whole[0, :1]))

    def scalars(kind: int) -> tuple[float, float]:
        return (1.0, 0.0) if kind % 3 else (float(rng.choice([1, -1, 3.7, 0.1])), float(rng.choice([1, -0.3, 0.5, 0])))

    for bits in (1, 7, 8, 15, 16, 23, 31, 47, 54, 55, 56, 63, 71, 79, 100, 200, 0):
        cublas.choose(bits)
        for kind in range(24):
            m, n, k = (int(x) for x in rng.integers(1, 6, 3))
            spread = float(rng.choice([0.1, 0.5, 1.0] if bits == 0 else [0.1, 1.0, 3.0, 8.0]))
            a, b = changed(rng, drawn(rng, (m, k), spread), drawn(rng, (k, n), spread), kind % 8)
            record(a, b, drawn(rng, (m, n), spread), *scalars(kind), bits)
    for bits in (7, 55, 0):  # k is split; sums of parts, c first
        cublas.choose(bits)
        for m, n, k in ((1, 1, 1023), (2, 3, 1024), (1, 2, 1300), (2, 1, 2049)):
            for alpha, beta in ((1.0, 0.0), (1.0, 1.0), (3.7, -0.3), (0.1, 2.5)):
                record(drawn(rng, (m, k), 0.5), drawn(rng, (k, n), 0.5), drawn(rng, (m, n), 3.0), alpha, beta, bits)
    for m, n in ((129, 1), (129, 129), (257, 130)):  # more tiles, fewer parts
        cublas.choose(7)
        record_first(*drawn(rng, (2, 1153), 1.0), m, n, 7)
    cublas.choose(0)
    for k in (32, 64, 65, 128, 200):  # exponents in runs: blocks of the span
        for _ in range(12):
            runs = lambda: np.repeat(rng.choice([0, 0, 3, 10, -12], k), int(rng.choice([1, 3, 17, 40])))[:k]  # noqa: E731
            row, column = 2.0 ** runs() * rng.choice([-1.0, 1.5], k), 2.0 ** runs() * rng.choice([-1.0, 1.5], k)
            if rng.random() < 0.3:
                row[rng.random(k) < 0.3] = 0.0
            record(row[None], column[:, None], np.zeros((1, 1)), 1.0, 0.0, 0)
    for offset in (-16, -8, 8, 16):
        cublas.choose(0, offset)
        for spread in (0.1, 1.0, 2.0):
            record(drawn(rng, (3, 8), spread), drawn(rng, (8, 2), spread), np.zeros((3, 2)), 1.0, 0.0, 0, offset)
    cublas.choose(55)
    inf, nan = float("inf"), float(np.uint64(0xFFF0000000000123).view(np.float64))
    for alpha, beta, c in (
        (0.0, 1.0, 2.0), (0.0, 0.0, nan), (1.0, 0.0, nan), (1.0, 1.0, inf), (1.0, 1.0, nan), (1.0, inf, 0.0),
        (-0.0, 1.0, 1.0), (0.0, 0.5, -0.0), (1.0, 1.0, -0.0), (-1.0, 0.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, 1.0, -0.0),
    ):  # fmt: skip
        for low in (1.0, 0.0, 5e-324):
            a, b = drawn(rng, (2, 3), 0.5), drawn(rng, (3, 2), 0.5)
            a[0] *= low
            record(a, b, np.full((2, 2), c), alpha, beta, 55)
    for special in (inf, nan):  # native where it stands in a or b
        a, b = drawn(rng, (2, 3), 0.5), drawn(rng, (3, 2), 0.5)
        a[1, 1] = special
        record(a, b, np.ones((2, 2)), 1.0, 1.0, 55)
    for m, n, k, bits in (
        (1, 1, 65536, 200), (1, 2, 65000, 160), (1, 1, 131072, 79), (1024, 1024, 3000, 127), (1024, 1024, 4224, 79),
        (1024, 1024, 6144, 55), (1024, 1024, 8192, 55), (1024, 1024, 8192, 79), (1024, 1024, 12288, 63),
        (1024, 1024, 16384, 31), (1024, 1024, 40000, 55), (512, 512, 24576, 23), (384, 384, 57344, 15),
    ):  # fmt: skip
        # long sums, in groups and parts; the numbers come again and again, so that the file stays small
        cublas.choose(bits)
        row, column = (np.resize(drawn(rng, (1, 1021), 2.0), k) for _ in "ab")
        record_first(row, column, m, n, bits)
    about = {"gpu": cublas.torch.cuda.get_device_name(), "cublas": cublas.version, "cases": cases}
    np.savez_compressed(out, about=json.dumps(about), values=np.concatenate(values).view(np.uint64))
    print(f"{len(cases)} products of {about['gpu']}, cuBLAS {cublas.version}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
