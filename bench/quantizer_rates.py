#!/usr/bin/env python3
"""Rates of block quantizers on the same blocks in one run, on one thread: `quantizer:RULE` for every default op and every rule of
MX, torchao's to_mx and the casts of ml_dtypes, turn by turn; each one's best of several turns counts.

Needs the Python package, torch, torchao and ml_dtypes. Prints rows of a table: million numbers a second.
Usage: quantizer_rates.py [turns, default 5]"""
import sys
import time

import ml_dtypes
import numpy as np
import torch
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.mx_tensor import to_mx

import mmafuzz

BLOCKS = 1 << 15
SOURCES = {"fp32": np.float32, "bf16": ml_dtypes.bfloat16, "fp16": np.float16}
TORCHAO = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e2m1": torch.float4_e2m1fn_x2}
ML_DTYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn,
             "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn}
MODES = {"floor": "FLOOR", "ceil": "CEIL", "rceil": "RCEIL", "even": "EVEN"}


def words_of(op):
    return dict(word.split("=") for word in op.split() if "=" in word)


def parties(op, x):
    """Name and call of everyone who quantizes these blocks."""
    words = words_of(op)
    element, rule = words["to"], words["rule"]
    tensor = (np.float32(1),) if "tensor" in words else ()
    unit = mmafuzz.unit(f"quantizer:{rule}")
    yield "mmafuzz", lambda: unit.evaluate(op, x, *tensor, threads=1)
    if words["scale"] == "e8m0" and element in TORCHAO and rule in MODES and x.dtype != np.float16:
        t = torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16 if words["from"] == "bf16" else torch.float32)
        yield "torchao", lambda: to_mx(t, TORCHAO[element], x.shape[1], ScaleCalculationMode[MODES[rule]])
    if words["scale"] == "e8m0" and element in ML_DTYPES:
        greatest = np.float32(ml_dtypes.finfo(ML_DTYPES[element]).max)

        def cast():
            wide = x.astype(np.float32)
            scale = (np.abs(wide).max(axis=1) / greatest).astype(ml_dtypes.float8_e8m0fnu).astype(np.float32)
            return (wide / scale[:, None]).astype(ML_DTYPES[element])

        yield "ml_dtypes", cast


def main():
    torch.set_num_threads(1)
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| op | mmafuzz | torchao | ml_dtypes |\n|---|---|---|---|")
    rows = []
    of_mx = [f"op quantize from=fp32 to={element} block=32 scale=e8m0 rule={rule} special=nan_scale nan=any"
             for element in ML_DTYPES for rule in MODES]
    for op in dict.fromkeys([*(o for o in mmafuzz.ops() if o.startswith("op quantize")), *of_mx]):
        words = words_of(op)
        block = int(words["block"])
        x = np.random.default_rng(1).standard_normal((BLOCKS, block)).astype(SOURCES[words["from"]])
        best = {}
        calls = list(parties(op, x))
        for _ in range(turns):
            for name, call in calls:
                start = time.perf_counter()
                call()
                best[name] = min(best.get(name, 1e9), time.perf_counter() - start)
        rates = {name: x.size / seconds / 1e6 for name, seconds in best.items()}
        rows.append((rates["mmafuzz"], op, rates))
    for _, op, rates in sorted(rows):
        shown = [f"{rates[name]:,.0f}" if name in rates else "" for name in ("mmafuzz", "torchao", "ml_dtypes")]
        print(f"| `{op.removeprefix('op ').removesuffix(' nan=any')}` | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
