#!/usr/bin/env python3
"""Rates of the Python package on one core: `unit.matmul` and `unit.dot` against MMA-Sim (PyPI mmasim: its matrix call
and its `dpa`), interleaved, and against the kernel's own rate (`mmafuzz bench rate`).

  taskset -c 1 python bench/python_rates.py build/release/mmafuzz [--seconds 1] [--rounds 5]

Figures are medians of the rounds, in millions of dots of the instruction's k per second. Without mmasim only our own
rates are printed."""

import argparse
import statistics
import subprocess
import time

import ml_dtypes
import numpy as np

import mmafuzz

try:
    import torch
    from mmasim.nv_ptx import MMA, WGMMA

    torch.set_num_threads(1)
except ImportError:
    torch = None

# What MMA-Sim calls the instruction, and our row of it.
INSTRUCTIONS = [
    ("fp16 k=16", "MMA", "m16n8k16.f32.f16.f16.f32", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", np.float16, 16),
    (
        "bf16 k=16",
        "MMA",
        "m16n8k16.f32.bf16.bf16.f32",
        "model:hopper/mma.m16n8k16.f32.bf16.bf16.f32",
        ml_dtypes.bfloat16,
        16,
    ),
    (
        "fp8 k=32",
        "WGMMA",
        "m64n8k32.f32.e4m3.e4m3",
        "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32",
        ml_dtypes.float8_e4m3fn,
        32,
    ),
]
SHAPES = [("instruction 16 x 8", 16, 8), ("matrix 256 x 256", 256, 256)]
DOTS = 4096


def rate(call, dots, seconds):
    """Million dots per second."""
    calls, start = 0, time.perf_counter()
    while True:
        call()
        calls += 1
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            return dots * calls / elapsed / 1e6


def interleaved(parties, dots, seconds, rounds):
    """The median rate of each call; the calls take turns, so that the machine's moods meet all of them."""
    for call in parties.values():
        call()
    rates = {name: [] for name in parties}
    for _ in range(rounds):
        for name, call in parties.items():
            rates[name].append(rate(call, dots, seconds))
    return {name: statistics.median(all_rates) for name, all_rates in rates.items()}


def tensor(x):
    """The same numbers for torch."""
    bits = {1: np.uint8, 2: np.int16, 4: np.int32}[x.dtype.itemsize]
    dtypes = {
        "float16": torch.float16,
        "bfloat16": torch.bfloat16,
        "float8_e4m3fn": torch.float8_e4m3fn,
        "float32": torch.float32,
    }
    return torch.from_numpy(x.view(bits).copy()).view(dtypes[x.dtype.name])


def print_rates(what, ours, rates):
    line = f"{what:44} {ours:16} {rates[ours]:8.2f} M/s"
    for name, value in rates.items():
        if name != ours:
            line += f"   {name} {value:.3f} M/s, {rates[ours] / value:.0f} times"
    print(line, flush=True)


def against_mmasim(arguments):
    rng = np.random.default_rng(1)
    for title, kind, shape, name, dtype, k in INSTRUCTIONS:
        unit = mmafuzz.unit(name)
        peer = None
        if torch:
            peer = (MMA if kind == "MMA" else WGMMA)("Hopper", shape)
        for what, m, n in SHAPES:
            a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
            c = rng.standard_normal((m, n)).astype(np.float32)
            parties = {"matmul": lambda: unit.matmul(a, b, c, threads=1)}
            if peer:
                x, y, z = tensor(a), tensor(b), tensor(c)
                assert (peer(x, y, z).numpy() == unit.matmul(a, b, c)).all(), "MMA-Sim gives other results"
                parties["MMA-Sim matrix"] = lambda: peer(x, y, z)
            print_rates(f"{title}, {what}", "matmul", interleaved(parties, m * n, arguments.seconds, arguments.rounds))
        a, b = rng.standard_normal((DOTS, k)).astype(dtype), rng.standard_normal((DOTS, k)).astype(dtype)
        c = rng.standard_normal(DOTS).astype(np.float32)
        parties = {"dot": lambda: unit.dot(a, b, c, threads=1)}
        if peer:
            x, y, z = tensor(a), tensor(b), tensor(c)
            assert (peer.dpa(x, y, z).numpy() == unit.dot(a, b, c)).all(), "MMA-Sim gives other results"
            parties["MMA-Sim dpa"] = lambda: peer.dpa(x, y, z)
        print_rates(f"{title}, {DOTS} dots", "dot", interleaved(parties, DOTS, arguments.seconds, arguments.rounds))


def kernel_rate(binary, name, k, seconds):
    """Million cases per second of `mmafuzz bench rate`, on structured operands."""
    op = f"dot a=fp16 b=fp16 c=fp32 d=fp32 k={k}"
    out = subprocess.run(
        [binary, "bench", "rate", "--op", op, "--units", name, "--seconds", str(seconds)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return float(out.splitlines()[-1].split()[1])


def against_the_kernel(arguments):
    name = INSTRUCTIONS[0][3]
    unit = mmafuzz.unit(name)
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((4096, 64)).astype(np.float16), rng.standard_normal((64, 4096)).astype(np.float16)
    products, kernels = [], []
    for _ in range(arguments.rounds):
        start = time.perf_counter()
        unit.matmul(a, b, threads=1)
        products.append(4096 * 4096 / (time.perf_counter() - start) / 1e6)
        kernels.append(kernel_rate(arguments.mmafuzz, name, 64, arguments.seconds))
    ours, kernel = statistics.median(products), statistics.median(kernels)
    print(
        f"4096 x 4096 x 64 through {name}: {4096 * 4096 / ours / 1e6:.2f} s, {ours:.2f} M elements/s; "
        f"the kernel's own rate at k=64 {kernel:.2f} M/s; {ours / kernel:.2f} of it"
    )


def callables(arguments):
    """What a callable as a unit costs beyond its own work."""
    from mmafuzz import _core
    from mmafuzz._callables import adapter

    op = _core.Op("dot a=fp16 b=fp16 c=fp32 d=fp32 k=16")
    registry = _core.Registry([("nothing", adapter(lambda a, b, c: c), [])])
    unit = registry.bind("callable:nothing", op)
    for cases in (128, 1024, 4096):
        fields = [np.zeros((cases, 16), np.uint16), np.zeros((cases, 16), np.uint16), np.zeros(cases, np.uint32)]
        results = np.empty(cases, np.uint32)
        cost = 1 / rate(lambda: unit.evaluate(fields, cases, results, None, 1), cases, arguments.seconds)
        print(f"a callable as a unit, batches of {cases}, k=16: {cost:.3f} us a case")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mmafuzz", help="the command, for the kernel's own rate")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    against_mmasim(arguments)
    against_the_kernel(arguments)
    callables(arguments)


if __name__ == "__main__":
    main()
