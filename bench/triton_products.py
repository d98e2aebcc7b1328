"""Products that Triton compiles for this machine's GPU, with their operands: what python/tests/test_recorded_products.py
compares with the models. Needs PyTorch, Triton and a GPU of NVIDIA, and nothing of mmafuzz.
Usage: python3 bench/triton_products.py FILE.npz

Arrays hold encodings of the first rows of a, the first columns of b (transposed) and the product's upper left corner.
`instructions` has a line for each product: its name and the matrix instructions of its PTX."""
import sys

import numpy as np
import torch
import triton
import triton.language as tl
from torch_products import CORNER, encodings

TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "e4m3": torch.float8_e4m3fn,
         "e5m2": torch.float8_e5m2}


@triton.jit
def dot(A, B, C, D, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, PRECISION: tl.constexpr,
        IMPRECISE: tl.constexpr):
    i, j, q = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    sum = tl.load(C + i[:, None] * N + j[None, :])
    for k in range(0, K, STEP):
        a = tl.load(A + i[:, None] * K + (k + q)[None, :])
        b = tl.load(B + j[None, :] * K + (k + q)[:, None])
        if IMPRECISE >= 0:
            sum = tl.dot(a, b, sum, input_precision=PRECISION, max_num_imprecise_acc=IMPRECISE)
        else:
            sum = tl.dot(a, b, sum, input_precision=PRECISION)
    tl.store(D + i[:, None] * N + j[None, :], sum)


@triton.jit
def scaled(A, SA, B, SB, D, K: tl.constexpr, BYTES_A: tl.constexpr, BYTES_B: tl.constexpr, OF_A: tl.constexpr,
           OF_B: tl.constexpr, N: tl.constexpr, SCALED_B: tl.constexpr):
    i, s = tl.arange(0, N), tl.arange(0, K // 32)
    a = tl.load(A + i[:, None] * BYTES_A + tl.arange(0, BYTES_A)[None, :])
    b = tl.load(B + i[None, :] * BYTES_B + tl.arange(0, BYTES_B)[:, None])
    scale_a = tl.load(SA + i[:, None] * (K // 32) + s[None, :])
    scale_b = tl.load(SB + i[:, None] * (K // 32) + s[None, :]) if SCALED_B else None
    tl.store(D + i[:, None] * N + i[None, :], tl.dot_scaled(a, scale_a, OF_A, b, scale_b, OF_B))


def numbers(shape, kind, draw):
    """Normal, times e^normal: exponents spread over a few powers of two."""
    if kind == "e2m1":
        return torch.randint(0, 256, (shape[0], shape[1] // 2), generator=draw, dtype=torch.uint8).cuda()
    return (torch.randn(shape, generator=draw) * torch.exp(torch.randn(shape, generator=draw))).to(TYPES[kind]).cuda()


def keep(arrays, name, compiled, **tensors):
    arrays.update({f"{name}/{key}": encodings(tensor) for key, tensor in tensors.items()})
    used = {word for word in compiled.asm["ptx"].split() if word.startswith(("wgmma.mma_async", "mma.sync"))}
    arrays["instructions"].append(name + " " + " ".join(sorted(used)))


def main():
    if len(sys.argv) != 2 or not torch.cuda.is_available():
        sys.exit("usage: python3 bench/triton_products.py FILE.npz, where PyTorch finds a GPU")
    draw, arrays = torch.Generator().manual_seed(1), {"instructions": []}
    plain = [(kind, "tf32", -1) for kind in TYPES] + [("tf32", "tf32x3", -1), ("tf32", "ieee", -1)]
    for size, rows in ((64, plain + [(kind, "tf32", n) for kind in ("e4m3", "e5m2") for n in (0, 32, 64)]), (16, plain)):
        for kind, precision, imprecise in rows:
            a, b = (numbers((size, 256), kind, draw) for _ in "ab")
            c = torch.randn((size, size), generator=draw).cuda()
            d = torch.empty_like(c)
            compiled = dot[(1,)](a, b, c, d, 256, size, size, 64, precision, imprecise)
            keep(arrays, f"dot/{kind}/{precision}/{imprecise}/{size}", compiled, a=a[CORNER], b=b[CORNER],
                 c=c[CORNER, CORNER], d=d[CORNER, CORNER])
    for of_a in ("e4m3", "e5m2", "e2m1"):
        for of_b in ("e4m3", "e5m2", "e2m1", "bf16", "fp16"):
            a, b = numbers((64, 128), of_a, draw), numbers((64, 128), of_b, draw)
            scale_a, scale_b = (torch.randint(*range_, (64, 4), generator=draw, dtype=torch.uint8)
                                for range_ in ((112, 143) if of_b == "fp16" else (40, 160), (90, 170)))
            scale_a[0, 0], scale_b[1, 2] = (112 if of_b == "fp16" else 0), 254  # the least and the greatest
            scale_a, scale_b = scale_a.cuda(), scale_b.cuda()
            d = torch.empty((64, 64), device="cuda")
            compiled = scaled[(1,)](a, scale_a, b, scale_b, d, 128, a.shape[1], b.shape[1], of_a, of_b, 64, of_b[0] == "e")
            keep(arrays, f"dot_scaled/{of_a}/{of_b}", compiled, a=a[CORNER], b=b[CORNER], sa=scale_a[CORNER],
                 sb=scale_b[CORNER], d=d[CORNER, CORNER])
    arrays["instructions"] = np.array(arrays["instructions"])
    arrays["device"] = np.array(f"{torch.cuda.get_device_name(0)}, Triton {triton.__version__}, CUDA {torch.version.cuda}")
    np.savez_compressed(sys.argv[1], **arrays)


if __name__ == "__main__":
    main()
