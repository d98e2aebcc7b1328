"""Products of PyTorch on an H200, bit for bit: chains of the matrix unit's instruction, and where the scales go.

corpus/recorded/h200.torch.npz is what bench/torch_products.py wrote there. The text of the arithmetic is here; the dots are
the models'."""
import pathlib

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

RECORDED = np.load(pathlib.Path(__file__).parents[2] / "corpus/recorded/h200.torch.npz")
E4M3 = "model:hopper/wgmma.m64n64k32.f32.e4m3.e4m3.f32"


def chain(unit, a, b):
    """d of one instruction is c of the next, from +0."""
    return mmafuzz.unit(unit).matmul(np.ascontiguousarray(a), np.ascontiguousarray(b.T))


def array(name, dtype=np.float32):
    return RECORDED[name].view(dtype)


def same(got, name):
    return (got.view(np.uint32) == RECORDED[name].view(np.uint32)).all()


def operands(k):
    return array(f"e4m3/{k}/a", ml_dtypes.float8_e4m3fn), array(f"e4m3/{k}/b", ml_dtypes.float8_e4m3fn)


def promoted(a, b, join):
    """Chains of 128 products, each joined to the sum in fp32."""
    total = np.zeros((len(a), len(b)), np.float32)
    for block in range(a.shape[1] // 128):
        part = slice(128 * block, 128 * block + 128)
        total = join(total, chain(E4M3, a[:, part], b[:, part]), block)
    return total


def sums(a, b, fast):
    return chain(E4M3, a, b) if fast else promoted(a, b, lambda total, part, block: total + part)


def fused(x, y, z):
    """x * y + z of fp32, rounded once."""
    shape = np.broadcast(x, y, z).shape
    x, y, z = (np.ascontiguousarray(np.broadcast_to(v, shape), np.float32) for v in (x, y, z))
    return mmafuzz.unit("ieee").evaluate("scalar fma format=fp32", x, y, z)


@pytest.mark.parametrize("k", [128, 1024])
@pytest.mark.parametrize("fast", [False, True])
def test_scales_of_matrices_are_one_factor(k, fast):
    """use_fast_accum is one chain; without it 128 products a chain, as CUTLASS' promotion."""
    a, b = operands(k)
    factor = array(f"e4m3/{k}/tensor/a")[0] * array(f"e4m3/{k}/tensor/b")[0]
    assert same(sums(a, b, fast) * factor, f"e4m3/{k}/tensor/{'fast' if fast else 'd'}")


@pytest.mark.parametrize("k", [128, 1024])
@pytest.mark.parametrize("fast", [False, True])
def test_scales_of_rows_come_one_after_the_other(k, fast):
    a, b = operands(k)
    d = (sums(a, b, fast) * array(f"e4m3/{k}/row/b")) * array(f"e4m3/{k}/row/a")
    assert same(d, f"e4m3/{k}/row/{'fast' if fast else 'd'}")


@pytest.mark.parametrize("k", [128, 1024])
def test_scales_of_tiles_are_fused_with_the_sum(k):
    a, b = operands(k)
    of_a, of_b = array(f"e4m3/{k}/tile/a"), array(f"e4m3/{k}/tile/b")[:, :1]  # the corner lies in the first 128 columns
    d = promoted(a, b, lambda total, part, i: fused(part, of_a[:, i : i + 1] * of_b[i], total))
    assert same(d, f"e4m3/{k}/tile/d")


def test_scales_of_narrow_tiles_come_one_after_the_other():
    """1 x 128 of a and of b. With one block, as for k = 128, torch takes the scales for those of rows."""
    a, b = operands(1024)
    of_a, of_b = array("e4m3/1024/tile1/a"), array("e4m3/1024/tile1/b")
    d = promoted(a, b, lambda total, part, i: fused(part * of_a[:, i : i + 1], of_b[i], total))
    assert same(d, "e4m3/1024/tile1/d")


@pytest.mark.parametrize("kind,dtype,unit", [
    ("fp16", np.float16, "model:hopper/wgmma.m64n64k16.f32.f16.f16.f32"),
    ("bf16", ml_dtypes.bfloat16, "model:hopper/wgmma.m64n64k16.f32.bf16.bf16.f32"),
    ("tf32", np.float32, "model:hopper/wgmma.m64n64k8.f32.tf32.tf32.f32"),
    ("fp32", np.float32, "ieee:fma"),
])
def test_products_are_one_chain(kind, dtype, unit):
    a, b = array(f"{kind}/512/a", dtype), array(f"{kind}/512/b", dtype)
    if kind == "tf32":  # cuBLAS rounds to tf32 before the unit would cut
        to_tf32 = lambda x: mmafuzz.unit("ieee").evaluate("convert from=fp32 to=tf32", np.ascontiguousarray(x)).view(np.float32)
        a, b = to_tf32(a), to_tf32(b)
    assert same(chain(unit, a, b), f"{kind}/512/d")
