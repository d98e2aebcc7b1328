"""Products that PyTorch computes on this machine's GPU, with their operands: what python/tests/test_recorded_products.py
compares with the models. Needs PyTorch and a GPU of NVIDIA, and nothing of mmafuzz.
Usage: python3 bench/torch_products.py FILE.npz

Arrays hold encodings. KIND/K/a and /b are the first rows of a and columns of b (transposed), KIND/K/WHAT the products'
upper left corner; scales stand beside them."""
import sys

import numpy as np
import torch

CORNER = slice(0, 16)
E4M3 = torch.float8_e4m3fn


def encodings(tensor):
    words = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[tensor.element_size()]
    return tensor.contiguous().view(words).cpu().numpy()


def scaled(arrays, k, size, draw):
    """FP8 with fp32 scales: of the whole matrix, of rows, and of 1 x 128 by 128 x 128 or by 1 x 128."""
    a, b = (torch.randn(size, k, generator=draw).to(E4M3).cuda() for _ in "ab")
    scale = lambda *shape: (torch.rand(shape, generator=draw) + 0.5).cuda()
    by_columns = lambda tensor: tensor.t().contiguous().t()
    blocks = k // 128
    scales = {
        "tensor": (scale(), scale()),
        "row": (scale(size, 1), scale(1, size)),
        "tile": (by_columns(scale(size, blocks)), by_columns(scale(blocks, size // 128))),
        "tile1": (by_columns(scale(size, blocks)), scale(blocks, size)),
    }
    name = f"e4m3/{k}/"
    arrays[name + "a"], arrays[name + "b"] = encodings(a[CORNER]), encodings(b[CORNER])
    for kind, (of_a, of_b) in scales.items():
        arrays[name + kind + "/a"] = encodings(of_a.reshape(1) if of_a.dim() == 0 else of_a[CORNER])
        arrays[name + kind + "/b"] = encodings(of_b.reshape(1) if of_b.dim() == 0 else of_b[:, CORNER])
        for fast in (False, True) if kind in ("tensor", "row") else (False,):
            d = torch._scaled_mm(a, b.t(), of_a, of_b, out_dtype=torch.float32, use_fast_accum=fast)
            arrays[name + kind + ("/fast" if fast else "/d")] = encodings(d[CORNER, CORNER])


def plain(arrays, kind, dtype, k, size, draw):
    a, b = (torch.randn(size, k, generator=draw).to(dtype).cuda() for _ in "ab")
    name = f"{kind}/{k}/"
    torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
    of_fp32 = {} if dtype == torch.float32 else {"out_dtype": torch.float32}
    arrays[name + "a"], arrays[name + "b"] = encodings(a[CORNER]), encodings(b[CORNER])
    arrays[name + "d"] = encodings(torch.mm(a, b.t(), **of_fp32)[CORNER, CORNER])


def sparse(arrays, k, size):
    """FP8 with two of four elements of a along k, by cuSPARSELt."""
    draw = torch.Generator().manual_seed(5)
    a, b = (torch.randn(size, k, generator=draw).cuda() for _ in "ab")
    groups = a.view(size, -1, 4)
    kept = torch.zeros_like(groups, dtype=torch.bool).scatter_(2, groups.abs().topk(2).indices, True)
    a, b = (groups * kept).view(size, k).to(E4M3), b.to(E4M3)
    name = f"sparse/{k}/"
    arrays[name + "a"], arrays[name + "b"] = encodings(a[CORNER]), encodings(b[CORNER])
    packed = torch._cslt_compress(a)
    for kind, dtype in (("fp32", torch.float32), ("fp16", torch.float16), ("bf16", torch.bfloat16)):
        arrays[name + kind] = encodings(torch._cslt_sparse_mm(packed, b.t(), out_dtype=dtype)[CORNER, CORNER])


def main():
    if len(sys.argv) != 2 or not torch.cuda.is_available():
        sys.exit("usage: python3 bench/torch_products.py FILE.npz, where PyTorch finds a GPU")
    draw, arrays = torch.Generator().manual_seed(1), {}
    for k in (128, 1024):
        scaled(arrays, k, 256, draw)
    for kind, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16), ("tf32", torch.float32), ("fp32", torch.float32)):
        plain(arrays, kind, dtype, 512, 2048, draw)
    sparse(arrays, 256, 256)
    arrays["device"] = np.array(f"{torch.cuda.get_device_name(0)}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    np.savez_compressed(sys.argv[1], **arrays)


if __name__ == "__main__":
    main()
