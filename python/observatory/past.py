"""Old releases with defects that their trackers know. The table is run on them as on the newest ones."""

from __future__ import annotations

from typing import NamedTuple


class Release(NamedTuple):
    name: str  #: its folder
    library: str  #: the rows of the table that run on it
    pip: list[str]  #: what pip installs there
    operation: str  #: where the defect shows: a shell pattern of operations
    kinds: tuple[str, ...]  #: kinds of divergence of the defect, one of which must be found
    tracker: str
    defect: str
    table: str = "conversions"
    rows: str = "*"  #: a shell pattern: the rows that run
    known: str = ""  #: what of the tracker's thread went into the search


_OLD_WHEEL = ["--no-deps", "--only-binary=:all:", "--python-version", "37", "--platform", "manylinux1_x86_64"]

RELEASES = [
    Release("numpy-1.15.4", "libnpymath", [*_OLD_WHEEL, "numpy==1.15.4"], "npy_floatbits_to_halfbits", ("rounded wrong",),
            "numpy/numpy#12721", "fp32 to fp16 subnormals: low bits are lost before rounding"),
    Release("numpy-1.15.4", "libnpymath", [*_OLD_WHEEL, "numpy==1.15.4"], "npy_doublebits_to_halfbits",
            ("rounded wrong", "rounded twice"), "numpy/numpy#12722", "fp64 to fp16 subnormals: the same, fixed together"),
    Release("onnx-1.14.0", "onnx", ["onnx==1.14.0", "protobuf<4", "numpy<2", "ml_dtypes==0.5.3"],
            "Cast FLOAT to FLOAT8E4M3FN*", ("tie",), "onnx/onnx#5456", "fp32 to E4M3: a tie goes up, also from even"),
    Release("onnx-1.16.1", "onnx", ["onnx==1.16.1", "numpy<2", "ml_dtypes==0.5.3"], "Cast FLOAT to BFLOAT16",
            ("rounded wrong", "flushed"), "onnx/onnx#3876",
            "fp32 to bf16 by Cast drops bits where the helper rounds; the rewrite onnx/onnx#7089 rounds"),
    Release("onnx-1.20.1", "onnx", ["--no-deps", "onnx==1.20.1"], "*E8M0*round_mode=up", ("rounded wrong",),
            "onnx/onnx#7784", "fp32 to E8M0 rounding up: a wrong mask overlooks one bit of the fraction",
            known="a kind of input: a number with one more bit"),
    Release("ml_dtypes-0.5.0", "ml_dtypes", ["--no-deps", "ml_dtypes==0.5.0"], "*astype ml_dtypes.float8_e8m0fnu", ("tie", "rounded wrong"),
            "jax-ml/ml_dtypes#223", "to E8M0: ties are decided by a wrong bit"),
    Release("numpy-2.3.0", "numpy", ["--no-deps", "numpy==2.3.0"], "np.matmul with out*", ("wrong integer", "NaN made", "beyond the bound"),
            "numpy/numpy#29164", "np.matmul writes to a wrong place where out runs backwards", "products", "np.matmul*"),
    Release("scipy-openblas32-0.3.28.0.2", "OpenBLAS", ["--no-deps", "scipy-openblas32==0.3.28.0.2"], "cblas_*gemm",
            ("ends the process",), "OpenMathLib/OpenBLAS#4981", "gemm crashes after the number of threads was raised", "products", "*gemm"),
    Release("scipy-openblas32-0.3.29.0.0", "OpenBLAS", ["--no-deps", "scipy-openblas32==0.3.29.0.0"], "cblas_*gemm", ("NaN made",),
            "Reference-LAPACK/lapack#1077", "with alpha = 0 a NaN of a or b reaches the result; OpenBLAS 0.3.17 and 0.3.34 give 0",
            "products", "*gemm"),
]  # fmt: skip
