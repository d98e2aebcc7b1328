"""A unit that is slow, hangs, crashes or answers garbage ends `identify` in time, with an exit code and a reason.
Usage: identify_ends_test.py MMAFUZZ SOURCE_FOLDER"""
import os
import subprocess
import sys
import tempfile
import time

mmafuzz, root = map(os.path.abspath, sys.argv[1:])
NO_FIT, TOO_FEW = 1, 4
EXPECTED = [  # function, seconds to ask, seconds it may take in all, exit code, words of the reason
    ("hangs", 5, 40, TOO_FEW, "not enough answers: "),
    ("crashes", 30, 30, TOO_FEW, "not enough answers: the unit "),  # broke on some, or answered none before it was gone
    ("slow", 4, 20, TOO_FEW, "not enough answers: the time is over"),
    ("too_wide", 30, 30, TOO_FEW, "not enough answers: the unit broke on"),
    ("no_number", 30, 30, TOO_FEW, "not enough answers: the unit broke on"),
    ("forgets", 30, 30, NO_FIT, "no hypothesis fits: the same case was answered in two ways"),
]
failures = []
with tempfile.TemporaryDirectory() as folder:  # failed batches are kept where the command runs
    for function, asking, most, code, reason in EXPECTED:
        begin = time.monotonic()
        command = [mmafuzz, "identify", "--brief", "--time", str(asking), "--op", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4",
                   "--unit", f"python:{root}/tests/broken_units.py:{function}?timeout=1"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)
        seconds = time.monotonic() - begin
        print(f"{function}: exit code {done.returncode}, {seconds:.1f} s, {done.stdout.splitlines()[:1]}", flush=True)
        if done.returncode != code or not done.stdout.startswith(reason):
            failures.append(f"{function}: expected {code} and '{reason}', got {done.returncode}: {done.stdout[:300]}")
        if seconds > most:
            failures.append(f"{function}: took {seconds:.1f} s")
    command = [mmafuzz, "identify", "--order", "--replay", "200", "--op", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4",
               "--unit", f"python:{root}/tests/broken_units.py:alternates"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)
    print(f"alternates: exit code {done.returncode}, {done.stdout.splitlines()[-1:]}")
    if done.returncode != NO_FIT or "0 differ; 200 the unit itself answers in two ways" not in done.stdout:
        failures.append(f"alternates: {done.returncode}: {done.stdout}{done.stderr}")
for failure in failures:
    print("FAILED", failure)
sys.exit(bool(failures))
