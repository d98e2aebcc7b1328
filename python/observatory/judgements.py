"""What a person found of each kind of divergence: the only place where a class is given. What is not here is unjudged."""

from __future__ import annotations

import fnmatch
from typing import NamedTuple

DOCUMENTED = "documented choice"
OPEN = "left open by the standards"
STANDARD = "IEEE 754 or OCP says otherwise"
CONTRADICTION = "contradiction within the library"
UNJUDGED = "unjudged"


class Judgement(NamedTuple):
    library: str  #: shell patterns, by | where several fit
    operation: str
    kind: str
    verdict: str
    reason: str
    features: str = "*"  #: of a matrix product: what the smallest case needs
    name: str = ""  #: tells it from others of the library and kind: a part of the divergence's name, which links to it keep
    upstream: str = ""  #: a thread of corpus/libraries/upstream.tsv


_ALL = [
    Judgement("*", "*", "NaN bits", OPEN, "IEEE 754-2019, 6.2.3 recommends to keep payloads, and 6.3 leaves the sign of a NaN open"),
    Judgement("*", "*", "no NaN", OPEN, "OCP MX 1.0 leaves to implementations what a NaN becomes in formats without NaN"),
    Judgement("onnx", "*E8M0*", "no sign", DOCUMENTED, "the table of Cast: unspecified below zero and for -0"),
    Judgement("onnx", "*E8M0*round_mode=up*", "special made", CONTRADICTION,
              "the table of Cast says E8M0_MAX for infinity with saturate and up; the reference gives NaN", name="of infinity upwards"),
    Judgement("onnx", "*E8M0*round_mode=up*", "rounded wrong low", CONTRADICTION,
              "2^-127 is a number of E8M0, and Cast says E8M0_MIN for what lies below it; the reference gives 2^-126 for both"),
    Judgement("onnx", "*E8M0*", "special made", OPEN, "the table of Cast does not list infinity for this mode"),
    Judgement("*", "*e8m0*", "no sign", OPEN, "OCP MX 1.0 has no conversion to E8M0 of zero or of negative numbers"),
    Judgement("ml_dtypes", "*float8_e8m0fnu", "rounded wrong low", STANDARD,
              "rounding to nearest, which the library uses elsewhere, gives 2^-127 (code 00 of OCP MX 1.0) for numbers just "
              "above it; 2^-126 is the farther one"),
    Judgement("torch|jax", "*float8_e8m0fnu", "rounded wrong low", STANDARD,
              "rounding to nearest gives 2^-127 (code 00 of OCP MX 1.0) for numbers just above it; 2^-126 is the farther one"),
    Judgement("jax", "*", "*flushed", DOCUMENTED,
              "JAX's page of sharp bits (pull request 26668): on CPUs XLA replaces subnormals by zero; also issue 38995"),
    Judgement("jax|tensorflow", "*float64 to bfloat16", "rounded wrong", STANDARD,
              "IEEE 754-2019, 5.4.2: a conversion rounds once; here through fp32, whose subnormals are flushed",
              name="float64 to bfloat16"),
    Judgement("*", "*float64 to bfloat16", "not saturated", STANDARD,
              "IEEE 754-2019, 5.4.2: a conversion rounds once; here to the midpoint where overflow begins, in fp32",
              name="to bfloat16"),
    Judgement("*", "*int32 to bfloat16", "rounded wrong", STANDARD,
              "IEEE 754-2019, 5.4.1: a conversion rounds once; here through fp32, where it becomes a tie",
              name="int32 to bfloat16"),
    Judgement("*", "*float64 * *float8_e8m0fnu", "not saturated|rounded wrong", STANDARD,
              "IEEE 754-2019, 5.4.2: a conversion rounds once; here through fp32, where it becomes a tie", name="to e8m0"),
    Judgement("*", "*float64 * *float8_e8m0fnu", "special made", STANDARD,
              "IEEE 754-2019, 5.4.2: a conversion rounds once; here it becomes a zero of fp32 first"),
    Judgement("torch", "*float8_e4m3fn", "special made", DOCUMENTED,
              "pull request 178817: finite overflow saturates, infinity stays NaN"),
    Judgement("ml_dtypes", "np.float64 astype *", "rounded twice", STANDARD,
              "IEEE 754-2019, 5.4.2: a conversion rounds once",
              upstream="jax-ml/ml_dtypes#401"),
    Judgement("ml_dtypes", "np.int32 astype *", "rounded wrong", STANDARD,
              "IEEE 754-2019, 5.4.1: a conversion rounds once",
              name="from int32", upstream="jax-ml/ml_dtypes#401"),
    # Arithmetic.
    Judgement("torch", "torch.mul, float8_e4m3fn", "saturated", DOCUMENTED,
              "pull request 178817: what is rounded to this type saturates on finite overflow"),
    Judgement("tensorflow", "tf.math.reciprocal, bfloat16", "rounded wrong", CONTRADICTION,
              "its page says y = 1 / x; tf.math.divide is right, and so is this operation on fewer than eight numbers"),
    Judgement("tensorflow", "tf.math.reciprocal, bfloat16", "value", CONTRADICTION,
              "2^-126, the least normal number, becomes 0; its page says y = 1 / x; tf.math.divide is right, and so is this "
              "operation on fewer than eight numbers"),
    Judgement("jax", "jax.lax.*, float6_*", "ends the process", CONTRADICTION,
              "other operations on this type raise an exception of JAX"),
    # Matrix products.
    Judgement("*", "*", "threads", OPEN, "IEEE 754-2019, 9.4: a sum of many terms may be taken in any order"),
    Judgement("*", "cblas_?gemv", "wrong integer|NaN made", DOCUMENTED,
              "the reference BLAS returns at once where a matrix has no columns, and leaves the result as it was", "k = 0*",
              name="k 0"),
    Judgement("OpenBLAS*", "cblas_?gemm", "NaN made", CONTRADICTION,
              "up to 100 x 100 x 100 a NaN comes through alpha = 0, beyond it does not; the reference BLAS says that a and b do "
              "not matter then (Reference-LAPACK pull request 1098)", "alpha = 0, * in [ab]*", name="alpha 0"),
    Judgement("Eigen*", "*", "NaN made", OPEN,
              "0 * NaN is NaN by IEEE 754; Eigen has no rule of its own for a factor of zero", "alpha = 0, * in [ab]*"),
    Judgement("torch", "torch.addmm, *", "NaN made", CONTRADICTION,
              "with alpha = 0 float32 and float64 leave a and b out, the narrow types do not", "alpha = 0, * in [ab]*",
              name="alpha 0 in addmm"),
    Judgement("torch", "torch.baddbmm, *|Tensor.addmv_, *", "NaN made", CONTRADICTION,
              "with alpha = 0 small products give NaN, larger ones leave a and b out", "alpha = 0, * in [ab]*",
              name="alpha 0 in small products"),
    Judgement("torch", "torch.baddbmm, *|Tensor.addmv_, *", "*", CONTRADICTION,
              "with alpha = 0 beta is ignored, and with beta = 0 the result is what its memory held; float32 is right",
              "alpha = 0*", name="alpha 0 and beta"),
    Judgement("torch|tensorflow", "*, bfloat16", "NaN made", STANDARD,
              "IEEE 754-2019, 6.2: a row without NaN gives none; oneDNN reads beyond a row and multiplies by zero (its issue "
              "5717, fixed there by pull request 5723)", "* in [ab]*",
              name="behind a row", upstream="uxlfoundation/oneDNN#5723"),
    Judgement("torch", "*, bfloat16", "NaN made", STANDARD,
              "IEEE 754-2019, 6.2: operands without NaN give none; with two threads what lies behind the rows in memory is read "
              "and multiplied by zero, as in oneDNN's issue 5717", "* k=*[13579], * padded, *threads",
              name="behind the rows with two threads"),
    Judgement("oneDNN*", "dnnl_*", "wrong integer|NaN made", CONTRADICTION,
              "dnnl.h: C := alpha * A * B + beta * C; without products C stays as it was, whatever beta is", "k = 0*",
              name="k 0"),
    Judgement("oneDNN*", "dnnl_*", "NaN made", CONTRADICTION,
              "with beta = 0 dnnl_sgemm does not read C, dnnl_gemm_bf16bf16f32 with alpha = 0 does", "alpha = 0, NaN in c*",
              name="alpha 0 in c"),
    Judgement("numpy", "np.dot, *", "NaN lost", STANDARD,
              "IEEE 754-2019, 6.2: an operation with a quiet NaN gives a quiet NaN; k = 1 goes through axpy, which skips a factor "
              "of zero", upstream="numpy/numpy#14788"),
    Judgement("*", "*", "NaN lost", STANDARD,
              "IEEE 754-2019, 6.2: an operation with a quiet NaN gives a quiet NaN, also one with zero", "* in [ab]*"),
    Judgement("*", "*", "rounded twice", STANDARD, "IEEE 754-2019, 5.4.2: a conversion rounds once"),
    Judgement("*", "*", "NaN lost", STANDARD, "IEEE 754-2019, 6.2: an operation with a quiet NaN gives a quiet NaN"),
    Judgement("*", "*", "tie", STANDARD, "IEEE 754-2019, 4.3.1: ties to even is the default"),
    Judgement("*", "*", "operand flushed", STANDARD, "IEEE 754-2019, 3.4: subnormals are numbers of the format, not zeros"),
    Judgement("*", "*", "flushed", STANDARD, "IEEE 754-2019, 7.5: a subnormal result is not replaced by zero"),
]  # fmt: skip


def _fits(text: str, patterns: str) -> bool:
    return any(fnmatch.fnmatchcase(text, one) for one in patterns.split("|"))


def judgement_of(library: str, kind: str, verdict: str, reason: str) -> Judgement | None:
    """The row that gave a class and a reason."""
    fits = (one for one in _ALL if (one.verdict, one.reason) == (verdict, reason))
    return next((one for one in fits if _fits(library, one.library) and _fits(kind, one.kind)), None)


def judged(library: str, operation: str, kind: str, features: str = "") -> tuple[str, str]:
    """The class of a divergence and the reason: the first row that fits."""
    for one in _ALL:
        patterns = ((library, one.library), (operation, one.operation), (kind, one.kind), (features, one.features))
        if all(_fits(text, pattern) for text, pattern in patterns):
            return one.verdict, one.reason
    return UNJUDGED, "nobody has read the library's documentation on this yet"
