"""Our unit names in the terms of a peer, MMA-Sim (PyPI: mmasim 2.1.1): which of its objects evaluates a unit's dots,
and how encodings become its tensors and back. The peer is called as a black box; where it has no object for an
instruction that the machine code composes of others (docs/semantics.md 4 and 8), its objects are composed likewise and
IEEE additions are numpy's.
"""

import re

import numpy as np
import torch
from mmasim.amd import MFMA
from mmasim.nv_ptx import MMA, WGMMA, MMABlockScale, TCGen05MMA, TCGen05MMABlockScale

ARCH = {
    "volta": "Volta",
    "turing": "Turing",
    "ampere": "Ampere",
    "ada": "Ada Lovelace",
    "hopper": "Hopper",
    "blackwell": "Blackwell",
    "rtx_blackwell": "RTX Blackwell",
    "cdna1": "CDNA1",
    "cdna2": "CDNA2",
    "cdna3": "CDNA3",
}
TYPE = {
    "f64": "fp64",
    "f32": "fp32",
    "f16": "fp16",
    "ue8m0": "e8m0",
    "xf32": "tf32",
}  # where type and format names differ
WIDTH = {"fp64": 64, "fp32": 32, "tf32": 32, "fp16": 16, "bf16": 16, "e3m2": 6, "e2m3": 6, "e2m1": 4}
TORCH = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "tf32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "e8m0": torch.float8_e8m0fnu,
    "ue4m3": torch.float8_e4m3fn,
    "e4m3fnuz": torch.float8_e4m3fnuz,
    "e5m2fnuz": torch.float8_e5m2fnuz,
}
NAN = {
    "fp32": 0x7FFFFFFF,
    "fp16": 0x7FFF,
}  # what NVIDIA's IEEE operations give (PTX ISA, "NaN payloads are not preserved")


def bits_of(width):
    return {64: np.int64, 32: np.int32, 16: np.int16}.get(width, np.uint8)


def tensor(format_name, codes, packed=False):
    """Encodings (uint64, last axis along k) as the tensor that the peer takes for them."""
    if format_name in ("e3m2", "e2m3"):
        return torch.from_numpy(codes.astype(np.uint8))
    if format_name == "e2m1":  # two to a byte, the first one high; or in the middle of a byte (the peer's comments)
        nibbles = codes.astype(np.uint8)
        return torch.from_numpy(nibbles[..., 0::2] << 4 | nibbles[..., 1::2] if packed else nibbles << 2)
    width = WIDTH.get(format_name, 8)
    plain = codes.astype({64: np.uint64, 32: np.uint32, 16: np.uint16, 8: np.uint8}[width]).view(bits_of(width))
    return torch.from_numpy(np.ascontiguousarray(plain)).view(TORCH[format_name])


def codes(format_name, values):
    """The peer's results as encodings."""
    width = WIDTH[format_name]
    integer = values.contiguous().view({64: torch.int64, 32: torch.int32, 16: torch.int16}[width]).numpy()
    return integer.view({64: np.uint64, 32: np.uint32, 16: np.uint16}[width]).astype(np.uint64)


class Peer:
    """One unit. dots(a, b, c[, sa, sb]) takes encodings in arrays of shapes (n, k), (n, k), (n,), (n, k / block)."""

    def __init__(self, name):
        arch, rest = name.removeprefix("model:").split("/")
        match = re.fullmatch(
            r"(mma|wgmma|tcgen05|mfma_1k|mfma)(?:\.kind::(\w+))?(?:\.block(\d+))?\.([\w]+)\.([\w.]+)", rest
        )
        self.name, self.arch, self.instruction, self.kind, block, self.shape, types = (
            name,
            ARCH[arch],
            *match.groups(),
        )
        self.types = types.split(".")
        self.d, self.a, self.b, self.c, *scale = [TYPE.get(t, t) for t in self.types]
        self.scale = scale[0] if scale else None
        self.block = int(block) if block else 0
        self.k = int(re.search(r"[kx](\d+)(_\d+b)?$", self.shape)[1])
        self.packed = self.k == 64
        self.evaluate = self.composed() or self.single(self.object())

    def op(self):
        scales = f" sa={self.scale} sb={self.scale} sblock={self.block}" if self.scale else ""
        return f"op dot a={self.a} b={self.b} c={self.c} d={self.d} k={self.k}{scales}"

    def object(self, shape=None):
        shape = shape or self.shape
        d, a, b, c, *scale = self.types
        kind = f".kind::{self.kind}" if self.kind else ""
        if self.instruction == "mma":
            if scale:
                return MMABlockScale(self.arch, f"{shape}{kind}.block{self.block}.{'.'.join(self.types)}")
            return MMA(self.arch, f"{shape}{kind}.{'.'.join(self.types)}")
        if self.instruction == "wgmma":
            return WGMMA(self.arch, f"{shape}.{d}.{a}.{b}")
        if self.instruction == "tcgen05":
            if scale:
                return TCGen05MMABlockScale(self.arch, f"{shape}{kind}.block{self.block}.{d}.{a}.{b}.{scale[0]}")
            return TCGen05MMA(self.arch, f"{shape}{kind}.{d}.{a}.{b}")
        names = {"e4m3fnuz": "fp8", "e5m2fnuz": "bf8"}
        a, b = names.get(a, a), names.get(b, b)
        if self.arch == "CDNA3":
            return MFMA(self.arch, f"{d}_{shape}_{a}" + (f"_{b}" if a in ("fp8", "bf8") else ""))
        return MFMA(self.arch, f"{d}_{shape}{a}" + ("_1k" if self.instruction == "mfma_1k" else ""))

    def single(self, peer):
        def run(a, b, c, sa=None, sb=None):
            operands = [tensor(self.a, a, self.packed), tensor(self.b, b, self.packed), tensor(self.c, c)]
            if self.scale:
                operands += [tensor(self.scale, sa), tensor(self.scale, sb)]
            return codes(self.d, peer.dpa(*operands))

        return run

    def composed(self):
        if self.instruction != "mma" or self.kind:
            return None
        if self.shape == "m8n8k4" and self.a == "fp16" and self.arch not in ("Volta", "Turing"):
            return self.core_chain
        if self.a in ("e4m3", "e5m2") and self.arch in ("Hopper", "Blackwell"):
            d = self.types[0]
            half = MMA(self.arch, f"m16n8k{self.k // 2}.{d}.f16.f16.{d}")

            def run(a, b, c):
                x, y = (codes("fp16", tensor(f, v).to(torch.float16)) for f, v in ((self.a, a), (self.b, b)))
                total = np.zeros(len(c), np.uint64)
                for pair in (0, 1):
                    at = [i for i in range(self.k) if i % 4 // 2 == pair]
                    total = codes(
                        self.d, half.dpa(tensor("fp16", x[:, at]), tensor("fp16", y[:, at]), tensor(self.d, total))
                    )
                return ieee_add(self.d, c, total)

            return run
        return None

    def core_chain(self, a, b, c):
        """m8n8k4 by ptxas 13.0.88 for sm_80 to sm_120: FFMA and FADD. The FMAs are the peer's (CDNA1's fp32 MFMA)."""
        fma = MFMA("CDNA1", "f32_32x32x1f32")
        x, y = (tensor("fp16", v).to(torch.float32) for v in (a, b))
        step = lambda i, total: fma.dpa(x[:, i : i + 1].contiguous(), y[:, i : i + 1].contiguous(), total)
        total = tensor(self.c, c).to(torch.float32)
        if self.d == "fp32":
            chain = torch.zeros(len(c))
            for i in range(4):
                chain = step(i, chain)
            return canonical("fp32", codes("fp32", total + chain))
        for i in (0, 2):
            total = total + step(i + 1, x[:, i] * y[:, i])
        return canonical("fp16", codes("fp16", total.to(torch.float16)))

    def dots(self, *operands):
        return self.evaluate(*operands)


def is_nan(format_name, encodings):
    exponent, fraction = {
        "fp32": (0x7F800000, 0x7FFFFF),
        "fp16": (0x7C00, 0x3FF),
        "fp64": (0x7FF << 52, (1 << 52) - 1),
    }[format_name]
    return (encodings & np.uint64(exponent) == np.uint64(exponent)) & (encodings & np.uint64(fraction) != 0)


def canonical(format_name, encodings):
    return np.where(is_nan(format_name, encodings), np.uint64(NAN[format_name]), encodings)


def ieee_add(format_name, x, y):
    """Numpy adds fp16 numbers in fp32 and rounds again, which is the correctly rounded sum (24 >= 2 * 11 + 2 bits)."""
    unsigned, real = {"fp32": (np.uint32, np.float32), "fp16": (np.uint16, np.float16)}[format_name]
    with np.errstate(all="ignore"):
        total = x.astype(unsigned).view(real) + y.astype(unsigned).view(real)
    return canonical(format_name, total.view(unsigned).astype(np.uint64))
