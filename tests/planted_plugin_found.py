#!/usr/bin/env python3
"""A campaign with the settings of ci/run-campaign finds the planted wrong unit (planted_plugin/) within its minute, as a contract
divergence, and the printed case shows it. Usage: planted_plugin_found.py MMAFUZZ PLUGIN"""
import os
import re
import subprocess
import sys
import tempfile
import time

mmafuzz, plugin = map(os.path.abspath, sys.argv[1:])
model = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
with tempfile.TemporaryDirectory(prefix="mmafuzz-planted-") as folder:
    begin = time.monotonic()
    run = subprocess.run([mmafuzz, "campaign", "--time", "60", "--jobs", "2", "--units", f"plugin:{plugin},{model}", "--stop-on", "contract",
                          "--out", folder + "/out"], capture_output=True, text=True)
    took = time.monotonic() - begin
    line = f"mmafuzz: divergence equals_model dot.f32.f16.f16.f32 plugin:{plugin} {model} "
    lines = [one for one in run.stdout.splitlines() if one.startswith("mmafuzz: ")]
    assert run.returncode == 1, (run.returncode, run.stdout, run.stderr)
    assert lines and all(one.startswith(line) for one in lines), run.stdout
    # The case that was found, evaluated by both.
    text = open(folder + "/out/findings.cases").read()
    assert re.search("^# " + re.escape(lines[0]) + "$", text, re.M), text
    results = []
    for unit in (f"plugin:{plugin}", model):
        done = subprocess.run([mmafuzz, "eval", "--unit", unit, folder + "/out/findings.cases"], capture_output=True, text=True, check=True)
        results.append([int(case.rsplit("|", 1)[1], 16) for case in done.stdout.splitlines() if "|" in case])
    assert any(x ^ y == 1 for x, y in zip(*results)), results
    print(f"found after {took:.1f} s: {lines[0]}")
