"""Products of PyTorch, Triton and JAX on an H200, bit for bit: chains of the matrix unit's instruction, and what stands
around them.

corpus/recorded/h200.{torch,triton,jax}.npz are what bench/*_products.py wrote there. The text of the arithmetic is here;
the dots are the models'."""
import pathlib

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

TORCH, TRITON, JAX = (np.load(pathlib.Path(__file__).parents[2] / f"corpus/recorded/h200.{name}.npz")
                      for name in ("torch", "triton", "jax"))
TYPES = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn,
         "e5m2": ml_dtypes.float8_e5m2}
WGMMA = {"fp16": "m64n64k16.f32.f16.f16.f32", "bf16": "m64n64k16.f32.bf16.bf16.f32", "tf32": "m64n64k8.f32.tf32.tf32.f32",
         "e4m3": "m64n64k32.f32.e4m3.e4m3.f32", "e5m2": "m64n64k32.f32.e5m2.e5m2.f32"}
WGMMA = {kind: "model:hopper/wgmma." + name for kind, name in WGMMA.items()}
MMA = {"fp16": "m16n8k16.f32.f16.f16.f32", "bf16": "m16n8k16.f32.bf16.bf16.f32", "tf32": "m16n8k8.f32.tf32.tf32.f32"}
MMA = {kind: "model:hopper/mma." + name for kind, name in MMA.items()}


def chain(unit, a, b, c=None):
    """d of one instruction is c of the next, from c (+0)."""
    return mmafuzz.unit(unit).matmul(np.ascontiguousarray(a), np.ascontiguousarray(b.T), c)


def array(name, dtype=np.float32, of=TORCH):
    return of[name].view(dtype)


def same(got, name, of=TORCH):
    return (got.view(np.uint32) == of[name].view(np.uint32)).all()


def operands(k):
    return array(f"e4m3/{k}/a", ml_dtypes.float8_e4m3fn), array(f"e4m3/{k}/b", ml_dtypes.float8_e4m3fn)


def nearest_tf32(x, ties="away"):
    """Ties as XLA's Triton breaks them, by cvt.rna; cuBLAS breaks them to even."""
    op = f"convert from=fp32 to=tf32 round=nearest_{ties}"
    return mmafuzz.unit("ieee").evaluate(op, np.ascontiguousarray(x)).view(np.float32)


def in_steps(product, k, step, c=None, join=lambda total, part, block: total + part):
    """A chain of its own for each `step` products, joined to the sum in fp32; without c the first one begins it."""
    for block in range(k // step):
        part = product(slice(step * block, step * block + step))
        c = part if c is None else join(c, part, block)
    return c


def promoted(a, b, **join):
    """Chains of 128 products, each joined to the sum from +0."""
    zero = np.zeros((len(a), len(b)), np.float32)
    return in_steps(lambda at: chain(WGMMA["e4m3"], a[:, at], b[:, at]), a.shape[1], 128, zero, **join)


def sums(a, b, fast):
    return chain(WGMMA["e4m3"], a, b) if fast else promoted(a, b)


def fused(x, y, z):
    """x * y + z of fp32, rounded once."""
    shape = np.broadcast(x, y, z).shape
    x, y, z = (np.ascontiguousarray(np.broadcast_to(v, shape), np.float32) for v in (x, y, z))
    return mmafuzz.unit("ieee").evaluate("scalar fma format=fp32", x, y, z)


@pytest.mark.parametrize("kind, dtype", [("fp32", np.float32), ("fp16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_sparse_fp8_is_one_chain_of_what_is_kept(kind, dtype):
    """Two of four elements along k stay, in their order; so 256 are four instructions of 32 products."""
    a, b = (array(f"sparse/256/{name}", ml_dtypes.float8_e4m3fn) for name in "ab")
    for row, d in zip(a, array(f"sparse/256/{kind}", dtype), strict=True):
        kept = np.nonzero(row.astype(np.float32))[0]
        assert len(kept) == 128
        sums = chain("model:hopper/wgmma.sp.m64n64k64.f32.e4m3.e4m3.f32", row[None, kept], b[:, kept])[0]
        assert (sums.astype(dtype).view(np.uint8) == d.view(np.uint8)).all()


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
    d = promoted(a, b, join=lambda total, part, i: fused(part, of_a[:, i : i + 1] * of_b[i], total))
    assert same(d, f"e4m3/{k}/tile/d")


def test_scales_of_narrow_tiles_come_one_after_the_other():
    """1 x 128 of a and of b. With one block, as for k = 128, torch takes the scales for those of rows."""
    a, b = operands(1024)
    of_a, of_b = array("e4m3/1024/tile1/a"), array("e4m3/1024/tile1/b")
    d = promoted(a, b, join=lambda total, part, i: fused(part * of_a[:, i : i + 1], of_b[i], total))
    assert same(d, "e4m3/1024/tile1/d")


@pytest.mark.parametrize("kind", ["fp16", "bf16", "tf32", "fp32"])
def test_products_are_one_chain(kind):
    a, b = (array(f"{kind}/512/{x}", TYPES.get(kind, np.float32)) for x in "ab")
    if kind == "tf32":  # cuBLAS rounds to tf32 before the unit would cut
        a, b = nearest_tf32(a, "even"), nearest_tf32(b, "even")
    assert same(chain(WGMMA.get(kind, "ieee:fma"), a, b), f"{kind}/512/d")


def parts(x):
    """Three bf16 numbers whose sum is x."""
    found = []
    for _ in range(3):
        found.append(x.astype(ml_dtypes.bfloat16))
        x = x - found[-1].astype(np.float32)
    return found


def of_triton(name):
    kind = name.split("/")[1]
    a, b = (array(f"{name}/{x}", TYPES[kind], TRITON) for x in "ab")
    return kind, a, b, array(f"{name}/c", of=TRITON)


@pytest.mark.parametrize("size,units", [(64, WGMMA), (16, MMA)])
@pytest.mark.parametrize("kind", ["fp16", "bf16", "tf32"])
def test_dots_of_triton_are_one_chain_from_c(kind, size, units):
    name = f"dot/{kind}/tf32/-1/{size}"
    kind, a, b, c = of_triton(name)  # operands of tf32 are cut by the unit
    assert same(chain(units[kind], a, b, c), name + "/d", TRITON)


@pytest.mark.parametrize("size", [64, 16])
def test_ieee_dots_of_triton_are_a_chain_of_fmas(size):
    name = f"dot/tf32/ieee/-1/{size}"
    _, a, b, c = of_triton(name)
    assert same(mmafuzz.unit("ieee:fma").matmul(a, np.ascontiguousarray(b.T), c, k=1), name + "/d", TRITON)


@pytest.mark.parametrize("size,units", [(64, WGMMA), (16, MMA)])
def test_tf32x3_of_triton_is_three_products_from_zero_for_each_step(size, units):
    """Low parts first: they are what rounding to tf32 left, cut by the unit."""
    name = f"dot/tf32/tf32x3/-1/{size}"
    _, a, b, c = of_triton(name)
    high = [nearest_tf32(x) for x in (a, b)]
    low = [x - h for x, h in zip((a, b), high)]

    def product(at):
        d = np.zeros_like(c)
        for x, y in ((low[0], high[1]), (high[0], low[1]), (high[0], high[1])):
            d = chain(units["tf32"], x[:, at], y[:, at], d)
        return d

    assert same(in_steps(product, 256, 64, c), name + "/d", TRITON)


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
@pytest.mark.parametrize("imprecise", [-1, 32, 64])
def test_fp8_of_triton_adds_in_fp32_only_where_it_is_told(kind, imprecise):
    """max_num_imprecise_acc: without it all products stay in the 13 bits of the unit's sum."""
    name = f"dot/{kind}/tf32/{imprecise}/64"
    kind, a, b, c = of_triton(name)
    if imprecise < 0:
        d = chain(WGMMA[kind], a, b, c)
    else:
        d = in_steps(lambda at: chain(WGMMA[kind], a[:, at], b[:, at]), 256, imprecise, c)
    assert same(d, name + "/d", TRITON)


@pytest.mark.parametrize("kind", ["e4m3", "e5m2"])
@pytest.mark.parametrize("name", ["tf32/0/64", "tf32/-1/16"])
def test_small_or_precise_fp8_of_triton_is_fp16_in_another_order(kind, name):
    """An instruction has two products of each four of both halves of 32."""
    name = f"dot/{kind}/{name}"
    kind, a, b, c = of_triton(name)
    two = [4 * t + i for t in range(4) for i in (0, 1, 16, 17)]
    order = np.concatenate([np.array(two + [i + 2 for i in two]) + 32 * block for block in range(a.shape[1] // 32)])
    a, b = (x.astype(np.float16)[:, order] for x in (a, b))
    assert same(chain(MMA["fp16"], a, b, c), name + "/d", TRITON)


@pytest.mark.parametrize("of_b", ["e4m3", "e5m2", "e2m1", "bf16", "fp16"])
@pytest.mark.parametrize("of_a", ["e4m3", "e5m2", "e2m1"])
def test_scaled_dots_of_triton_are_products_of_scaled_bf16(of_a, of_b):
    """Where the GPU has no scaled instruction: a number times its scale becomes bf16 (fp16 beside fp16), so great ones
    become infinite, and the scale 00, 2^-127 in OCP MX, makes zeros."""
    name, half = f"dot_scaled/{of_a}/{of_b}", "fp16" if of_b == "fp16" else "bf16"

    def scaled(x, kind):
        codes = TRITON[f"{name}/{x}"]
        if kind in ("bf16", "fp16"):
            return codes.view(TYPES[kind])
        if kind == "e2m1":
            codes = np.stack([codes & 15, codes >> 4], -1).reshape(len(codes), -1)
            numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
        else:
            numbers = codes.view(TYPES[kind]).astype(np.float32)
        scales = np.repeat(TRITON[f"{name}/s{x}"].astype(np.uint16) << 7, 32, axis=1).view(ml_dtypes.bfloat16)
        return (numbers * scales.astype(np.float32)).astype(TYPES[half])

    assert (TRITON[f"{name}/sa"][0, 0] == 0) == (half == "bf16")
    with np.errstate(over="ignore"):
        d = chain(WGMMA[half], scaled("a", of_a), scaled("b", of_b))
    assert same(d, name + "/d", TRITON)


#: Products of a step, by K: within a step JAX's product is a chain, and steps are added in fp32. XLA took these.
STEPS = {
    "F32_F32_F32": (64, 64, 128), "TF32_TF32_F32": (64, 64, 128), "DEFAULT": (64, 64, 128), "BF16_BF16_F32": (64, 64, 128),
    "F16_F16_F32": (64, 64, 128), "fp16": (64, 64, 128), "bf16": (64, 64, 128), "e4m3": (64, 64, 128), "e5m2": (64, 64, 128),
    "TF32_TF32_F32_X3": (16, 32, 64), "BF16_BF16_F32_X3": (16, 32, 64), "BF16_BF16_F32_X6": (8, 16), "BF16_BF16_F32_X9": (8, 16),
}
OF_PARTS = {"BF16_BF16_F32_X3": "10 01 00", "BF16_BF16_F32_X6": "11 20 02 10 01 00"}  # the parts of a and b, in turn


def products_of_jax(algorithm, a, b):
    """The unit, and the operands of the products that are chained in it."""
    if algorithm == "TF32_TF32_F32_X3":
        high = [nearest_tf32(x) for x in (a, b)]
        return WGMMA["tf32"], [(a - high[0], high[1]), (high[0], b - high[1]), high]
    if algorithm in OF_PARTS:
        return WGMMA["bf16"], [(parts(a)[int(i)], parts(b)[int(j)]) for i, j in OF_PARTS[algorithm].split()]
    if "TF32" in algorithm or algorithm in ("DEFAULT", "BF16_BF16_F32_X9"):
        return WGMMA["tf32"], [(nearest_tf32(a), nearest_tf32(b))]
    if algorithm in ("e4m3", "e5m2"):
        return f"model:hopper/wgmma.m64n64k32.f32.{algorithm}.e4m3.f32", [(a.astype(TYPES[algorithm]), b.astype(TYPES["e4m3"]))]
    kind = "fp16" if algorithm in ("fp16", "F16_F16_F32") else "bf16"
    return WGMMA[kind], [(a.astype(TYPES[kind]), b.astype(TYPES[kind]))]


@pytest.mark.parametrize("algorithm,k,step", [(name, k, step) for name, steps in STEPS.items() for k, step in zip((64, 256, 1024), steps)])
def test_products_of_jax_are_chains_in_steps(algorithm, k, step):
    """BF16_BF16_F32_X9 is among them: it is the product of TF32 operands, to the bit, and no product of bf16 parts."""
    a, b = array(f"{k}/a", of=JAX), array(f"{k}/b", of=JAX)

    def product(at):
        if algorithm == "F32_F32_F32":
            zero = np.zeros((len(a), len(b)), np.float32)
            return mmafuzz.unit("ieee:fma").matmul(np.ascontiguousarray(a[:, at]), np.ascontiguousarray(b[:, at].T), zero, k=1)
        unit, operands = products_of_jax(algorithm, a, b)
        d = None
        for x, y in operands:
            d = chain(unit, x[:, at], y[:, at], d)
        return d

    assert same(in_steps(product, k, step), f"{k}/{algorithm}", JAX)


@pytest.mark.parametrize("k", [64, 256, 1024])
def test_nine_products_of_jax_err_as_one_of_tf32(k):
    a, b = (array(f"{k}/{x}", of=JAX).astype(np.float64) for x in "ab")

    def error(algorithm):
        return np.max(np.abs(array(f"{k}/{algorithm}", of=JAX) - a @ b.T) / (np.abs(a) @ np.abs(b.T)))

    assert error("BF16_BF16_F32_X6") < 2e-7 and error("BF16_BF16_F32_X9") > 500 * error("BF16_BF16_F32_X6")
    assert error("BF16_BF16_F32_X9") == pytest.approx(error("TF32_TF32_F32"), rel=0.05)
