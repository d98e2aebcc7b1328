#!/usr/bin/env python3
"""The kernels around the products of cuBLAS (gpu_bridge/kernels/dgemm.cu) give the bits of their host twin: compiled to
PTX by nvcc, translated by tests/ptx_to_c.py, run on the host.

Usage: dgemm_kernels_test.py SOURCE
Exit code 77 where nvcc is missing (NVCC names another).
"""

import pathlib
import sys
import tempfile

from operand_bytes_test import compiler, run

KERNELS = ("draw_matrix", "find_tops", "7S8Digit", "9Fp16Digit", "add_productsIi", "add_productsIf")
FILES = ("core/format.cc", "gpu_bridge/dgemm/dgemm.cc", "gpu_bridge/instructions/cublas_gemm.cc")


def main():
    source = pathlib.Path(sys.argv[1])
    nvcc = compiler("NVCC", "nvcc", "/usr/local/cuda/bin/nvcc")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ptx, code = folder / "dgemm.ptx", folder / "dgemm.cc"
        arch = ["-gencode", "arch=compute_90a,code=compute_90a"]
        run(nvcc, "-std=c++20", "-O3", "-I", source, *arch, "-ptx", "-o", ptx, source / "gpu_bridge/kernels/dgemm.cu")
        code.write_text(run(sys.executable, source / "tests/ptx_to_c.py", ptx, *KERNELS))
        run("g++", "-O1", "-w", "-c", code, "-o", folder / "dgemm.o")
        run("g++", "-std=c++20", "-O1", "-I", source, source / "tests/operands/dgemm_kernels.cc",
            *[source / file for file in FILES], folder / "dgemm.o", "-o", folder / "dgemm")
        print(run(folder / "dgemm"))


if __name__ == "__main__":
    main()
