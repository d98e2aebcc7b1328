#!/usr/bin/env python3
"""Operands do not depend on who generates them: g++, clang++ and device code give the same bytes for the same seed.

Usage: operand_bytes_test.py clang|ptx SOURCE REQUESTS GENERATE CASES TILES
  clang  compiles the generators of sweeps and of cases with clang++ and compares digests with those of this build
  ptx    compiles the device's generator to PTX with nvcc, translates that (tests/ptx_to_c.py), runs it and compares
Exit code 77 where the compiler is missing (CLANG, NVCC name others).
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def compiler(variable, *names):
    for name in [os.environ.get(variable), *names]:
        if name and shutil.which(name):
            return shutil.which(name)
    print("no %s: skipped" % " or ".join(names))
    sys.exit(77)


def compare(expected, got, what):
    expected, got = expected.splitlines(), got.splitlines()
    different = [line for line, other in zip(expected, got) if line != other]
    assert expected and len(expected) == len(got), "%s: %d lines, not %d" % (what, len(got), len(expected))
    assert not different, "%s generates other operands: %s" % (what, "; ".join(different))
    print("%s: %d digests agree" % (what, len(got)))


def main():
    how, source, requests, generate, cases, tiles = sys.argv[1:]
    source = pathlib.Path(source)
    include = ["-std=c++20", "-O1", "-I", source]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run(requests, folder / "sweeps", tiles)
        expected = run(generate, folder / "sweeps")
        if how == "clang":
            clang = compiler("CLANG", "clang++-19", "clang++-18", "clang++-17", "clang++-16")
            run(clang, *include, source / "tests/operands/generate.cc", "-o", folder / "generate")
            compare(expected, run(folder / "generate", folder / "sweeps"), "sweeps by clang")
            files = [
                "tests/operands/cases.cc",
                "core/batch.cc",
                "core/format.cc",
                "core/op.cc",
                "search/structured_generator.cc",
                "search/draw_block.cc",
                "search/draw_gemm.cc",
                "search/integer_dot.cc",
                "search/mutator.cc",
                "search/random_generators.cc",
            ]
            run(clang, *include, *[source / file for file in files], "-o", folder / "cases")
            compare(run(cases), run(folder / "cases"), "cases by clang")
        else:
            nvcc = compiler("NVCC", "nvcc", "/usr/local/cuda/bin/nvcc")
            panels = re.findall(r"ROW\((\w+), panel_steps", (source / "tests/operands/panel_steps.h").read_text())
            steps = ["%s_%s" % (step, panel) for panel in panels for step in ("tables", "plan", "draw", "dots")]
            objects = []
            for name, kernels, file in (
                ("device", ["generate_vectors", "generate_addends"], "gpu_bridge/kernels/sweep_generation.cu"),
                ("steps", steps, "tests/operands/panel_steps.cu"),
            ):
                ptx, code = folder / (name + ".ptx"), folder / (name + ".cc")
                arch = ["-gencode", "arch=compute_90a,code=compute_90a"]
                run(nvcc, "-std=c++20", "-O3", "-I", source, *arch, "-ptx", "-o", ptx, source / file)
                code.write_text(run(sys.executable, source / "tests/ptx_to_c.py", ptx, *kernels))
                objects.append(folder / (name + ".o"))
                run("g++", "-O1", "-w", "-c", code, "-o", objects[-1])
            run(
                "g++",
                *include,
                "-DDEVICE_KERNELS",
                source / "tests/operands/generate.cc",
                *objects,
                "-o",
                folder / "generate"
            )
            compare(expected, run(folder / "generate", folder / "sweeps"), "sweeps by PTX")
            compare(expected, run(folder / "generate", folder / "sweeps", 3, 32), "sweeps by PTX, another grid")


if __name__ == "__main__":
    main()
