"""Products that JAX computes on this machine's GPU by each of its algorithms, with their operands: what
python/tests/test_recorded_products.py compares with the models. Needs JAX and a GPU of NVIDIA, and nothing of mmafuzz.
Usage: python3 bench/jax_products.py FILE.npz

K/a and K/b hold the first rows of a and columns of b (transposed) as encodings of fp32, of which narrower operands are made by
rounding to nearest; K/WHAT the product's upper left corner. XLA measures which of its kernels is fastest and takes that
one, so the order of a product's sums may differ from run to run."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

CORNER = slice(0, 16)
OF_FP32 = ("F32_F32_F32", "TF32_TF32_F32", "TF32_TF32_F32_X3", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6",
           "BF16_BF16_F32_X9", "F16_F16_F32", "DEFAULT")
NARROW = {"fp16": jnp.float16, "bf16": jnp.bfloat16, "e4m3": jnp.float8_e4m3fn, "e5m2": jnp.float8_e5m2}


def product(a, b, algorithm):
    contraction = (((1,), (1,)), ((), ()))
    call = jax.jit(lambda x, y: jax.lax.dot_general(x, y, contraction, precision=algorithm,
                                                    preferred_element_type=jnp.float32))
    return np.asarray(call(a, b))[CORNER, CORNER].view(np.uint32)


def main():
    if len(sys.argv) != 2 or jax.default_backend() != "gpu":
        sys.exit("usage: python3 bench/jax_products.py FILE.npz, where JAX finds a GPU")
    draw, arrays = np.random.default_rng(1), {}
    for k in (64, 256, 1024):
        a, b = ((draw.standard_normal((256, k)) * np.exp(draw.standard_normal((256, k)))).astype(np.float32) for _ in "ab")
        arrays[f"{k}/a"], arrays[f"{k}/b"] = a[CORNER].view(np.uint32), b[CORNER].view(np.uint32)
        for name in OF_FP32:
            arrays[f"{k}/{name}"] = product(a, b, getattr(jax.lax.DotAlgorithmPreset, name))
        for name, dtype in NARROW.items():
            other = NARROW["e4m3"] if name == "e5m2" else dtype  # cuBLAS has no e5m2 by e5m2
            arrays[f"{k}/{name}"] = product(jnp.asarray(a).astype(dtype), jnp.asarray(b).astype(other), None)
    arrays["device"] = np.array(f"{jax.devices()[0].device_kind}, JAX {jax.__version__}")
    np.savez_compressed(sys.argv[1], **arrays)


if __name__ == "__main__":
    main()
