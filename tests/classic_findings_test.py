#!/usr/bin/env python3
"""What the literature found by hand about tensor cores comes out of a campaign and its triage by name.
Usage: classic_findings_test.py MMAFUZZ"""
import os
import re
import subprocess
import sys
import tempfile

mmafuzz = os.path.abspath(sys.argv[1])
F16 = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"
F8 = "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32"
volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32"
turing = "model:turing/mma.m16n8k8.f32.f16.f16.f32"
ampere = "model:ampere/mma.m16n8k16.f32.f16.f16.f32"
hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
wgmma = "model:hopper/wgmma.m64n8k32.f32.e4m3.e4m3.f32"
mma8 = "model:hopper/mma.m16n8k32.f32.e4m3.e4m3.f32"


def campaign(units, op, folder, targets="dot_*", cases="200000"):
    run = subprocess.run([mmafuzz, "campaign", "--units", ",".join(units), "--ops", op, "--targets", targets, "--cases", cases, "--time", "100",
                          "--jobs", "2", "--out", folder], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    done = subprocess.run([mmafuzz, "triage", "--details", "--minimize-all", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def expect(what, text, pattern):
    found = re.search(pattern, text, re.M)
    assert found, f"{what}: nothing matches {pattern} in\n{text}"
    print(f"{what}:\n  {found[0].strip()}")


with tempfile.TemporaryDirectory(prefix="mmafuzz-classic-") as folder:
    text = campaign([volta, turing, ampere, hopper, "exact"], F16, folder + "/f16")
    pair = lambda first, second: re.escape(first) + " " + re.escape(second)
    expect("truncation of addends (Fasi et al. 2021)", text, rf"^.* equal \S+ {pair(hopper, 'exact')} normal fraction_bits$")
    expect("the result rounded toward zero (Fasi et al. 2021)", text, rf"^.* equal \S+ {pair(hopper, 'exact')} normal output_rounding$")
    expect("non-monotonicity of c and three products (Fasi et al. 2021)", text,
           rf"^\S+ +semantic +\d+ +4 +monotone_in_c dot\S+ {re.escape(volta)} normal fraction_bits$")
    expect("one more fraction bit from Volta to Turing", text, rf"^.* equal \S+ {pair(volta, turing)} normal fraction_bits\n.*fraction_bits .*: 23 against 24(;.*)?$")
    expect("blocks of 4 and 8", text, rf"^.* equal \S+ {pair(volta, turing)} normal block\n.*block .*: 4 against 8(;.*)?$")
    expect("blocks of 8 and 16", text, rf"^.* equal \S+ {pair(ampere, hopper)} normal block\n.*block .*: 8 against 16(;.*)?$")
    text = campaign([volta, volta + "?block=1"], F16, folder + "/norm", "dot_models")
    expect("no normalization inside a block (Fasi et al. 2021)", text, r"^.* equal .* normal block\n.*block .*: 4 against 1(;.*)?$")
    text = campaign([mma8, wgmma], F8, folder + "/fp8", "dot_models")
    expect("13 fraction bits of FP8 on wgmma beside the emulated mma", text, r"^.* normal \S*fraction_bits\S*\n.*fraction_bits .*25 against 13")
print("all found")
