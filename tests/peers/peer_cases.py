#!/usr/bin/env python3
"""A third opinion on the models: cases whose results come from a peer's program, MMA-Sim (PyPI: mmasim 2.1.1).

  tests/peers/make_environment FOLDER                     once: a virtual environment with the peer
  FOLDER/bin/python tests/peers/peer_cases.py write       corpus/peers/*.cases.gz again
  FOLDER/bin/python tests/peers/peer_cases.py compare --mmafuzz build/release/mmafuzz --cases 2000000

`compare` draws new cases for every model of the binary and ends with 1 if a result differs and no open point says so.
Where the peer reads an open point otherwise than our rows do (docs/units.md), the cases that it may decide name the
switch (`readings`).
"""

import argparse
import gzip
import importlib.metadata
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np

    from mmasim_units import WIDTH, Peer
except ImportError as missing:  # ctest reads 77 as "skipped"
    print(f"skipped: no peer here ({missing}); tests/peers/make_environment installs it")
    sys.exit(77)
from structured_cases import KINDS, Drawer

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHUNK = 4096


# ---- which readings of open points are the peer's ------------------------------------------------------------------


def family(peer):
    if peer.arch.startswith("CDNA"):
        return (
            "fma_chain"
            if peer.a in ("fp32", "fp64")
            else {"1": "exact_sum", "2": "ieee_tree", "3": "two_stage_sum"}[peer.arch[-1]]
        )
    if peer.a == "fp64":
        return "fma_chain"
    if peer.evaluate == peer.core_chain:
        return "fma_then_add"
    if (
        peer.a in ("e4m3", "e5m2")
        and peer.instruction == "mma"
        and not peer.kind
        and peer.arch in ("Hopper", "Blackwell")
    ):
        return "emulated_fp8"
    return "grouped_sum" if peer.k == 64 else "scaled_sum" if peer.scale else "fused_sum"


def magnitude(f, values):
    return values & np.uint64((1 << (WIDTH.get(f, 8) - 1)) - 1)


def readings(peer, operands, results):
    """Switches and, for each, the rows on which the peer's reading may decide."""
    kernel, a, b, c = family(peer), *operands[:3]
    zero = magnitude(peer.d, results) == 0
    if kernel == "fused_sum" and peer.c == "fp16" and peer.d == "fp32":
        yield "c_exponent=c_format", (magnitude("fp16", c) < 0x400) & (magnitude("fp16", c) != 0)  # N4
    if kernel == "exact_sum":
        yield "zero_sign=positive", zero  # N5
    if peer.a.endswith("fnuz"):
        special = (a == 0x80).any(axis=1) | (b == 0x80).any(axis=1)
        yield "c_special=reads_minus_one", special | (magnitude("fp32", c) >= 0x7E000000)  # D31; c may become infinite


def nan_rule(peer):
    """CDNA1, CDNA2 and chains of FMAs hand on the host's payloads (D22)."""
    return " nan=any" if family(peer) in ("exact_sum", "ieee_tree", "fma_chain") else ""


# ---- cases ---------------------------------------------------------------------------------------------------------


def hex_words(f, values):
    digits = (WIDTH.get(f, 8) + 3) // 4
    if digits == 1:
        return [" ".join(f"{v:x}" for v in row) for row in values.tolist()]
    big = np.ascontiguousarray(values.astype({2: ">u1", 4: ">u2", 8: ">u4", 16: ">u8"}[digits]))
    return [row.tobytes().hex(" ", digits // 2) for row in big]


def fraction_bits(name):
    if "/mma.m8n8k4" in name and ("volta" in name or "turing" in name):
        return 23
    if "k64" in name:
        return 35
    if re.search(r"ada/.*e[45]m[32]|wgmma.*e[45]m[32]", name):
        return 13
    return 25 if re.search(r"hopper|blackwell", name) else 24


def drawer_of(peer):
    return Drawer(peer.a, peer.b, peer.c, peer.d, peer.k, peer.scale, peer.block, fraction_bits(peer.name))


def draw(peer, kinds, seed):
    """The peer's results on new cases: rows of (switch, kind, case text). kinds: list of (kind, number of cases)."""
    rows, drawer = [], drawer_of(peer)
    for kind, count in kinds:
        rng = np.random.default_rng([seed, zlib.crc32(f"{peer.name} {kind}".encode())])
        operands = drawer.draw(kind, count, rng)
        results = peer.dots(*operands)
        formats = [peer.a, peer.b, peer.c] + [peer.scale] * (len(operands) - 3) + [peer.d]
        columns = [hex_words(f, v.reshape(count, -1)) for f, v in zip(formats, operands + (results,))]
        switches = [""] * count
        for switch, decided in readings(peer, operands, results):
            for i in np.flatnonzero(decided):
                switches[i] += ("," if switches[i] else "?") + switch
        rows += [(switches[i], kind, " | ".join(column[i] for column in columns)) for i in range(count)]
    return rows


def doubtful(peer, row):
    """A subnormal result of an exact sum. MMA-Sim 2.1.1 takes c = 2^-126 with products -2^-150 and -2^-180 for a tie and
    gives 00800000; the sum's nearest number, which its paper asks for, is 007fffff. Not compared."""
    return family(peer) == "exact_sum" and 0 < int(row[2].rsplit(" ", 1)[1], 16) & 0x7FFFFFFF <= 0x00800000


def section_lines(peer, rows):
    """Rows as case text, those under one switch together."""
    lines, last = [], (None, None)
    for switch, kind, row in sorted(rows, key=lambda r: (r[0], KINDS.index(r[1]))):
        if switch != last[0]:
            lines += [f"unit model:{peer.name}{switch}", peer.op() + nan_rule(peer)]
        if (switch, kind) != last:
            lines.append(f"# {kind}")
        lines.append(row)
        last = (switch, kind)
    return lines + [""]


# ---- golden files --------------------------------------------------------------------------------------------------

# Instructions that get many cases, a file for each family; all others of the family get few.
MANY = {
    "fused_sum": [
        "volta/mma.m8n8k4.f32.f16.f16.f32",
        "volta/mma.m8n8k4.f32.f16.f16.f16",
        "volta/mma.m8n8k4.f16.f16.f16.f16",
        "turing/mma.m8n8k4.f32.f16.f16.f32",
        "turing/mma.m8n8k4.f16.f16.f16.f16",
        "turing/mma.m16n8k8.f16.f16.f16.f16",
        "ampere/mma.m16n8k16.f32.bf16.bf16.f32",
        "ampere/mma.m16n8k16.f16.f16.f16.f16",
        "ampere/mma.m16n8k8.f32.tf32.tf32.f32",
        "ada/mma.m16n8k32.f32.e4m3.e5m2.f32",
        "ada/mma.m16n8k16.f16.e5m2.e5m2.f16",
        "hopper/mma.m16n8k16.f32.f16.f16.f32",
        "hopper/mma.m16n8k16.f32.bf16.bf16.f32",
        "hopper/mma.m16n8k16.f16.f16.f16.f16",
        "hopper/wgmma.m64n8k16.f16.f16.f16.f16",
        "hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32",
        "hopper/wgmma.m64n8k32.f16.e4m3.e4m3.f16",
        "blackwell/tcgen05.kind::f8f6f4.m128n8k32.f16.e5m2.e2m1.f16",
        "rtx_blackwell/mma.kind::f8f6f4.m16n8k32.f32.e3m2.e2m3.f32",
    ],
    "scaled_sum": [
        "blackwell/tcgen05.kind::mxf8f6f4.block32.m128n8k32.f32.e4m3.e4m3.f32.ue8m0",
        "rtx_blackwell/mma.kind::mxf8f6f4.block32.m16n8k32.f32.e5m2.e2m1.f32.ue8m0",
    ],
    "grouped_sum": [
        "blackwell/tcgen05.kind::mxf4.block32.m128n8k64.f32.e2m1.e2m1.f32.ue8m0",
        "rtx_blackwell/mma.kind::mxf4nvf4.block16.m16n8k64.f32.e2m1.e2m1.f32.ue4m3",
    ],
    "emulated_fp8": [
        "hopper/mma.m16n8k32.f32.e5m2.e5m2.f32",
        "hopper/mma.m16n8k32.f16.e5m2.e4m3.f16",
        "hopper/mma.m16n8k16.f32.e4m3.e4m3.f32",
        "hopper/mma.m16n8k16.f16.e5m2.e5m2.f16",
    ],
    "exact_sum": ["cdna1/mfma.16x16x16.f32.f16.f16.f32", "cdna1/mfma.16x16x8.f32.bf16.bf16.f32"],
    "ieee_tree": [
        "cdna2/mfma_1k.16x16x16.f32.bf16.bf16.f32",
        "cdna2/mfma.16x16x8.f32.bf16.bf16.f32",
        "cdna2/mfma.16x16x16.f32.f16.f16.f32",
    ],
    "two_stage_sum": [
        "cdna3/mfma.16x16x16.f32.bf16.bf16.f32",
        "cdna3/mfma.16x16x16.f32.f16.f16.f32",
        "cdna3/mfma.16x16x8.f32.xf32.xf32.f32",
        "cdna3/mfma.16x16x32.f32.e5m2fnuz.e5m2fnuz.f32",
        "cdna3/mfma.32x32x16.f32.e4m3fnuz.e5m2fnuz.f32",
    ],
    "fma_chain": [
        "ampere/mma.m8n8k4.f64.f64.f64.f64",
        "hopper/mma.m16n8k8.f64.f64.f64.f64",
        "cdna1/mfma.16x16x4.f32.f32.f32.f32",
    ],
    "fma_then_add": [
        "hopper/mma.m8n8k4.f32.f16.f16.f32",
        "hopper/mma.m8n8k4.f32.f16.f16.f16",
        "hopper/mma.m8n8k4.f16.f16.f16.f16",
    ],
}
# Cases to choose from, for each kind; and how many to keep: for each mutant that they tell from ours, of each kind.
CANDIDATES = {"ties": 1500, "floor": 1500, "subnormal": 800, "cancel": 600, "zeros": 600}
OTHER_CANDIDATES = 400
KEPT_FOR_A_MUTANT, KEPT_OF_A_KIND = 3, 6


def mutations():
    """What the mutants of bench/mutants.txt change."""
    text = (ROOT / "bench/mutants.txt").read_text()
    return sorted(set(re.findall(r"^model:[^?\s]+\?(\S+)", text, re.M)))


def differing(binary, peer, rows, mutation, folder):
    """Which rows a wrong unit does not answer as the peer; with no mutation, our own."""
    path = pathlib.Path(folder) / "candidates.cases"
    at, lines, last = [], ["mmafuzz-cases 1"], None
    names = {part.split("=")[0] for part in mutation.split(",")}
    for i, (switch, _, row) in enumerate(rows):
        if names & {part.split("=")[0] for part in switch[1:].split(",")}:
            continue
        if switch != last:
            name = peer.name + (
                f"{switch},{mutation}" if switch and mutation else switch or (mutation and f"?{mutation}")
            )
            lines += [f"unit model:{name}", peer.op() + nan_rule(peer)]
            last = switch
        lines.append(row)
        at.append((len(lines), i))
    path.write_text("\n".join(lines) + "\n")
    run = subprocess.run([binary, "check", str(path)], capture_output=True, text=True)
    wrong = {int(line) for line in re.findall(r"candidates\.cases:(\d+): ", run.stdout)}
    return {i for line, i in at if line in wrong} if re.search(r"cases, \d+ mismatches", run.stdout) else set()


def chosen(args, peer, folder):
    """Rows that tell ours from mutants, and some of each kind. Our program only chooses; the results are the peer's."""
    rows = sorted(draw(peer, [(kind, CANDIDATES.get(kind, OTHER_CANDIDATES)) for kind in KINDS], args.seed))
    keep = differing(args.mmafuzz, peer, rows, "", folder)
    if keep:
        print(f"{peer.name}: {len(keep)} results are not ours")
    for mutation in mutations():
        found = differing(args.mmafuzz, peer, rows, mutation, folder)
        missing = KEPT_FOR_A_MUTANT - len(found & keep)
        keep |= set(sorted(found - keep, key=lambda i: (len(rows[i][2].replace("0", "")), i))[: max(0, missing)])
    for kind in KINDS:
        of_kind = [i for i, row in enumerate(rows) if row[1] == kind]
        keep |= set(of_kind[:: max(1, len(of_kind) // KEPT_OF_A_KIND)])
    return [rows[i] for i in sorted(keep)]


def model_names(binary):
    text = subprocess.run([binary, "list"], capture_output=True, text=True, check=True).stdout
    return [name.removeprefix("model:") for name in re.findall(r"^\s*(model:\S+)", text, re.M)]


def peers_of(binary, only=""):
    """The peer's object for each of our rows; what it has no object for is named."""
    peers = []
    for name in model_names(binary):
        if only not in name:
            continue
        try:
            peers.append(Peer(name))
        except AssertionError:
            print(f"not in the peer: {name}")
    return peers


def provenance(args, text):
    version = importlib.metadata.version("mmasim")
    return [
        "mmafuzz-cases 1",
        f"# {text}: results of MMA-Sim {version} (PyPI, 2026-10-22), not of this project.",
        f"# Written on {args.date} by: tests/peers/peer_cases.py write --seed {args.seed} --date {args.date}",
        "# A `?switch` is the peer's reading of an open point (docs/units.md); the others agree with our default.",
        "",
    ]


def write(args):
    out = ROOT / "corpus" / "peers"
    out.mkdir(exist_ok=True)
    everything = peers_of(args.mmafuzz)
    for kernel, names in MANY.items():
        many = [Peer(name) for name in names]
        assert all(family(p) == kernel for p in many), kernel
        lines = provenance(args, f"Family {kernel}")
        with tempfile.TemporaryDirectory() as folder:
            for peer in many:
                lines += section_lines(peer, chosen(args, peer, folder))
        for peer in everything:
            if family(peer) == kernel and peer.name not in names:
                lines += section_lines(peer, draw(peer, [(kind, 1) for kind in KINDS], args.seed))
        path = out / f"{kernel}.cases.gz"
        text = "\n".join(lines) + "\n"
        with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
            packed.write(text.encode())
        print(f"{path.relative_to(ROOT)}: {sum(' | ' in line for line in lines)} cases, {path.stat().st_size} bytes")


# ---- comparison with the live peer ---------------------------------------------------------------------------------


def compare(args):
    peers = peers_of(args.mmafuzz, args.only)
    if not peers:
        sys.exit("no unit to compare")
    per_kind = max(1, args.cases // len(peers) // len(KINDS))
    total = wrong = left_out = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "peer.cases"
        for peer in peers:
            differences = []
            for first in range(0, per_kind, CHUNK):
                count = min(CHUNK, per_kind - first)
                rows = draw(peer, [(k, count) for k in KINDS], args.seed + first)
                left_out += sum(doubtful(peer, row) for row in rows)
                rows = [row for row in rows if not doubtful(peer, row)]
                path.write_text("\n".join(["mmafuzz-cases 1"] + section_lines(peer, rows)))
                run = subprocess.run([args.mmafuzz, "check", str(path)], capture_output=True, text=True)
                summary = re.search(r"(\d+) cases, (\d+) mismatches", run.stdout)
                if not summary:
                    sys.exit(f"{peer.name}: {run.stdout}{run.stderr}")
                total += int(summary[1])
                wrong += int(summary[2])
                if summary[2] != "0":
                    text = path.read_text().split("\n")
                    for line in run.stdout.split("\n")[:3]:
                        at = re.match(r".*?:(\d+): (.*)", line)
                        differences += [f"  {text[int(at[1]) - 1]}", f"    {at[2]}"] if at else []
            if differences:
                print(peer.name, *differences[:6], sep="\n", flush=True)
    print(f"{left_out} subnormal exact sums not compared: some of the peer's are not the nearest numbers")
    print(f"{len(peers)} units, {total} cases, {wrong} differences from MMA-Sim {importlib.metadata.version('mmasim')}")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["write", "compare"])
    parser.add_argument("--mmafuzz", default=str(ROOT / "build/release/mmafuzz"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000000, help="compare: over all units")
    parser.add_argument("--only", default="", help="compare: units whose names hold this")
    parser.add_argument("--date", default="2026-11-22")
    args = parser.parse_args()
    write(args) if args.do == "write" else compare(args)


if __name__ == "__main__":
    main()
