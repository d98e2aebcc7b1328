#!/usr/bin/env python3
"""mmafuzz why on pairs whose differences are published: none missing, none that is not published, each in seconds.

What must be found follows from the tables of MMA-Sim 2.1.1, the MATLAB models of tensor cores and the recordings of GPUs
by Khattak and Mikaitis: products per fused step (block), bits kept in alignment (fraction_bits), bits of the result
(output_fraction_bits), the exponent that a zero reads (zero_exponent) and the order of AMD's additions. What only the
rows say: a zero's exponent cannot matter where products of fp16 or FP8 are added to fp32, since all of them lie above it.

Usage: why_pairs_test.py MMAFUZZ"""
import re
import resource
import subprocess
import sys

program = sys.argv[1]
slowest = 5  # seconds of the processor: others may be using it, too


def processor_seconds():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def dot(a, d, k):
    return f"dot a={a} b={a} c={d} d={d} k={k}"


def product(a, d, k):
    return f"gemm a={a} b={a} c={d} d={d} m=2 n=2 k={k}"


mxfp4 = "model:blackwell/tcgen05.kind::"
# units, op, what must be found, what only the rows say
PAIRS = [
    ("v100 t4", dot("fp16", "fp32", 8), "block=4~8 fraction_bits=23~24", "zero_exponent=-132~-131"),
    ("t4 a100", dot("fp16", "fp32", 16), "", ""),
    ("a100 ada", dot("fp16", "fp32", 16), "", ""),
    ("a100 h100", dot("fp16", "fp32", 16), "block=8~16 fraction_bits=24~25", "zero_exponent=-133~-132"),
    ("a100 h100", dot("fp16", "fp32", 8), "fraction_bits=24~25", "zero_exponent=-133~-132"),
    ("a100 h100", dot("bf16", "fp32", 16), "block=8~16 fraction_bits=24~25 zero_exponent=-133~-132", ""),
    ("a100 h100", dot("tf32", "fp32", 8), "block=4~8 fraction_bits=24~25 zero_exponent=-133~-132", ""),
    ("a100 h100", dot("fp16", "fp16", 16), "block=8~16 fraction_bits=24~25 zero_exponent=-21~-20", ""),
    ("v100 a100", dot("fp16", "fp16", 8), "block=4~8 fraction_bits=23~24 zero_exponent=-20~-19", ""),
    ("v100 h100", dot("fp16", "fp32", 16), "block=4~16 fraction_bits=23~25", "zero_exponent=-133~-131"),
    ("h100 h100/wgmma", dot("fp16", "fp32", 16), "", ""),
    ("h100 h100/wgmma", dot("fp16", "fp16", 16), "", ""),
    ("h100 b200", dot("fp16", "fp32", 16), "", ""),
    ("h100/wgmma b200/tcgen05", dot("bf16", "fp32", 16), "", ""),
    ("ada h100/wgmma", dot("e4m3", "fp32", 32), "block=16~32", "zero_exponent=-133~-132"),
    ("h100/wgmma b200/tcgen05", dot("e4m3", "fp32", 32), "fraction_bits=13~25 output_fraction_bits=13~23", ""),
    ("ada rtx5090", dot("e5m2", "fp32", 32), "block=16~32 fraction_bits=13~25 output_fraction_bits=13~23", "zero_exponent=-133~-132"),
    ("h100 h100/wgmma", dot("e4m3", "fp32", 32),
     "block=16~32 fraction_bits=13~25 output_fraction_bits=13~23 kernel=emulated_fp8~fused_sum", ""),
    ("mi100 mi250x", dot("fp16", "fp32", 8), "kernel=exact_sum~ieee_tree subnormals=flushed~kept", ""),
    ("mi250x/mfma_1k mi250x/mfma", dot("bf16", "fp32", 4), "block=2~4", ""),
    ("mi250x mi300x", dot("bf16", "fp32", 8),
     "block=4~8 kernel=ieee_tree~two_stage_sum nan=7fc00000~7fffffff subnormals=flushed~kept", ""),
    ("mi100 mi300x", dot("fp16", "fp32", 8), "block=4~8 kernel=exact_sum~two_stage_sum nan=7fc00000~7fffffff", ""),
    ("h100 mi300x", dot("fp16", "fp32", 16),
     "block=8~16 fraction_bits=24~25 kernel=fused_sum~two_stage_sum output_rounding=nearest_even~toward_zero", ""),
    ("mi100 mi250x", dot("fp32", "fp32", 4), "", ""),
    ("a100 h100", dot("fp64", "fp64", 8), "", ""),
    ("mi250x mi300x", dot("fp64", "fp64", 4), "", ""),
    ("v100 t4", dot("fp16", "fp16", 8), "block=4~8 fraction_bits=23~24 zero_exponent=-20~-19", ""),
    # CDNA3 adds c in a second stage that cuts downwards (MMA-Sim 2, TR-FDPA).
    ("a100 mi300x", dot("bf16", "fp32", 8), "kernel=fused_sum~two_stage_sum output_rounding=nearest_even~toward_zero", ""),
    ("h100 mi300x", dot("tf32", "fp32", 8),
     "block=4~8 fraction_bits=24~25 kernel=fused_sum~two_stage_sum output_rounding=nearest_even~toward_zero", ""),
    ("mi100 mi300x", dot("bf16", "fp32", 8), "block=2~8 kernel=exact_sum~two_stage_sum nan=7fc00000~7fffffff", ""),
    # Products of e4m3 are 2^-18 at least, above what a zero reads; mma.sync of sm_100 emulates FP8, that of sm_120 does not.
    ("ada rtx5090", dot("e4m3", "fp16", 32), "block=16~32 fraction_bits=13~25", "zero_exponent=-21~-20"),
    ("b200 rtx5090", dot("e4m3", "fp32", 32), "block=16~32 kernel=emulated_fp8~fused_sum", ""),
    # MXFP4 by the instruction for all narrow formats (ST-FDPA) and by the one for FP4 (GST-FDPA: groups of 16 products).
    (mxfp4 + "mxf8f6f4.block32.m128n8k32.f32.e2m1.e2m1.f32.ue8m0 " + mxfp4 + "mxf4.block32.m128n8k64.f32.e2m1.e2m1.f32.ue8m0",
     dot("e2m1", "fp32", 64) + " sa=e8m0 sb=e8m0 sblock=32",
     "fraction_bits=25~35 k=32~64 kernel=fused_sum~grouped_sum zero_exponent=-139~-133", ""),
    # Matrix products of rows differ in what the rows differ in; schemes in the settings by which they are defined: Ootomo and Yokota
    # scale residuals by 2^11 and add outside of the unit, Markidis et al. do neither; an Ozaki sum that keeps every slice and
    # adds exactly is correctly rounded (Mukunoki et al. 2020).
    ("a100 h100", product("fp16", "fp32", 32), "block=8~16 fraction_bits=24~25", ""),
    ("h100 h100/wgmma", product("fp16", "fp32", 16), "", ""),
    ("split:ootomo.fp16 split:markidis.fp16", product("fp32", "fp32", 8), "split.scale=0~11 split.accumulate=inside~outside", ""),
    ("split:ootomo.fp16 split:ootomo.tf32", product("fp32", "fp32", 8), "split.format=fp16~tf32", ""),
    ("split:ootomo.fp16 split:ootomo.fp16?residual_product=0", product("fp32", "fp32", 4), "split.residual_product=0~1", ""),
    ("ozaki:dgemm.fp16 exact", product("fp64", "fp64", 4), "ozaki.sum=exact~fp64", ""),
    ("ozaki:dgemm.s8?sum=exact exact", product("fp64", "fp64", 4), "", ""),
    ("ozaki:dgemm.fp16?sum=exact ozaki:dgemm.s8?sum=exact", product("fp64", "fp64", 4), "", ""),
    ("ozaki:dgemm.fp16?slices=3 ozaki:dgemm.fp16", product("fp64", "fp64", 4), "ozaki.slices=3~all", ""),
    ("ozaki:dgemm.fp16?specials=dropped,sum=exact exact", product("fp64", "fp64", 4), "ozaki.specials=dropped~kept", ""),
    ("ozaki:dgemm.fp16 ozaki:dgemm.fp16?extra_width=1", product("fp64", "fp64", 8), "ozaki.extra_width=0~1", ""),
    ("ozaki:dgemm.s8?subnormals=flushed,sum=exact exact", product("fp64", "fp64", 4), "ozaki.subnormals=flushed~kept", ""),
    ("ozaki2:dgemm.s8?moduli=6 ozaki2:dgemm.s8", product("fp64", "fp64", 4), "ozaki2.moduli=6~15", ""),
    ("ozaki:dgemm.cublas?bits=20 ozaki:dgemm.cublas", product("fp64", "fp64", 4), "ozaki.bits=20~55", ""),
]

failures = 0
for units, op, found, only_rows in PAIRS:
    start = processor_seconds()
    text = subprocess.run([program, "why", *units.split(), "--op", op], capture_output=True, text=True, check=True).stdout
    seconds = processor_seconds() - start
    names = re.findall(r"^  ([^\s:?]+=\S+)$", text, re.M)
    shown = {part for name in names for part in name.split("+")}
    rows = re.findall(r"Their rows also differ in (.*?), (?:but|which)", " ".join(text.split()))
    unseen = set(", ".join(rows).split(", ")) if rows else set()
    problems = [f"{w}: {sorted(s)}" for w, s in (("missing", set(found.split()) - shown), ("wrong", shown - set(found.split())),
                                               ("rows", unseen ^ set(only_rows.split()))) if s]
    if bare := re.findall(r"^    (\w+\.\w+): ", text, re.M):  # a setting stands for its meaning
        problems.append(f"no meaning: {bare}")
    if seconds > slowest:
        problems.append(f"took {seconds:.1f} s")
    failures += bool(problems)
    print(f"{'FAILED' if problems else 'ok':6} {seconds:5.2f} s  {units:24} {op}  {'; '.join(problems)}")
print(f"{len(PAIRS)} pairs, {failures} failures")
sys.exit(bool(failures))
