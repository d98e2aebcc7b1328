#!/usr/bin/env python3
"""Every command that mmafuzz prints for a person to type works: at the end of a campaign, in findings, facts, why, in a
report and in --help. They are run by a shell, those that name no program in a path with the program in PATH.

Usage: printed_commands_test.py MMAFUZZ SOURCE_FOLDER"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failures = []
ran = 0


def output_of(*arguments, code=0):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != code:
        sys.exit(f"mmafuzz {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def commands_in(text):
    """Lines of a screen that are a command; a remark may follow in parentheses, two spaces away."""
    lines = [line.strip() for line in text.splitlines()]
    return [line.split("  (")[0] for line in lines if line.startswith(program + " ")]


def run(commands, what, folder, at_least):
    global ran
    if len(commands) < at_least:
        failures.append(f"{what}: only {len(commands)} commands are printed, at least {at_least} were expected")
    environment = dict(os.environ, PATH=os.path.dirname(program) + ":" + os.environ["PATH"])
    for command in commands:
        ran += 1
        if " identify " in command:
            command += " --verify 4096 --time 5"  # minutes, else
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        silent = " report " in command
        if done.returncode not in (0, 1, 4) or not (done.stdout or silent):
            failures.append(f"{what}: {command}\n  exit code {done.returncode}: {done.stderr.strip()}")


def help_examples():
    """Those of the subcommands, in words that a shell takes; bench measures for minutes, record and survey want a device,
    serve waits for requests."""
    examples = []
    for name in re.findall(r"^  (\w+) ", output_of("--help").split("Subcommands:")[1], re.M):
        if name in ("bench", "record", "survey", "serve"):
            continue
        text = output_of(name, "--help")
        if "Example" not in text:
            failures.append(f"{name} --help has no example")
            continue
        for example in re.split(r"\bmmafuzz (?=" + name + r"\b)", text.split("Example", 1)[1])[1:]:
            examples.append("mmafuzz " + " ".join(example.split()))
    return examples


with tempfile.TemporaryDirectory() as folder:
    campaign, elsewhere = folder + "/a campaign", folder + "/elsewhere"
    os.mkdir(elsewhere)
    ops = ["dot a=fp16 b=fp16 c=fp32 d=fp32 k=16", "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32", "convert from=fp32 to=e4m3 nan=any",
           "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=4"]
    narrowed = [word for op in ops for word in ("--ops", op)]
    end = output_of("campaign", "--cases", "2048", "--targets", "dot_models,dot_monotone,convert,split_gemm", *narrowed, "--out", campaign)
    run([c.replace("--time 10m", "--cases 4096") for c in commands_in(end)], "end of a campaign", elsewhere, 3)

    plugin = os.path.dirname(program) + "/tests/serial_dot.so"
    end = output_of("campaign", "--cases", "2048", "--targets", "dot_models", "--units", f"plugin:{plugin},exact", "--out", folder + "/stranger")
    run([c for c in commands_in(end) if " identify " in c], "a unit that claims nothing", elsewhere, 1)

    store = campaign + "/findings.sqlite"
    nothing_known = ["--knowledge", folder]  # every fact is new, and has its command
    run(commands_in(output_of("findings", store, *nothing_known)), "findings", elsewhere, 6)
    facts = json.loads(output_of("findings", store, "--json", *nothing_known))
    for fact in facts["new"][:5]:
        run(commands_in(output_of("findings", store, "--fact", fact["name"], *nothing_known)), "a fact", elsewhere, 1)
    buckets = json.loads(output_of("findings", store, "--buckets", "--json"))
    run([bucket["command"] for bucket in buckets[:: max(1, len(buckets) // 24)]], "buckets", elsewhere, 20)
    shown = output_of("findings", store, "--show", buckets[0]["id"])
    run(re.findall(r"^command +(.*)$", shown, re.M), "a bucket", elsewhere, 1)

    run(commands_in(output_of("why", "a100", "h100")), "why", elsewhere, 5)

    output_of("report", store, "-o", folder + "/report.html", *nothing_known)
    page = open(folder + "/report.html", encoding="utf-8").read()
    cards = [html.unescape(c) for c in re.findall(r"<code>(mmafuzz [^<]*)</code> <button", page)]
    run(cards[::2], "report", elsewhere, 15)

    # The files that the examples of --help speak of.
    for name in ("night.store", "monday.store", "tuesday.store", "findings.db"):
        shutil.copy(store, elsewhere + "/" + name)
    shutil.copytree(campaign, elsewhere + "/campaign-folder")
    shutil.copytree(source + "/corpus", elsewhere + "/corpus")
    example = source + "/corpus/examples/three_generations.cases"
    shutil.copy(example, elsewhere + "/cases.cases")
    with open(elsewhere + "/found.cases", "w", encoding="utf-8") as found:
        found.write("".join(open(example, encoding="utf-8").readlines()[:3] + ["3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n"]))
    matrices = elsewhere + "/matrices"
    with open(matrices + ".cases", "w", encoding="utf-8") as product:
        product.write("mmafuzz-cases 1\nop gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=2\n3f800000 40000000 | 3f800000 3fc00000 | 00000000\n")
    output_of("convert", matrices + ".cases", "-o", matrices + ".npz")
    zipfile.ZipFile(matrices + ".npz").extractall(elsewhere)
    os.mkdir(elsewhere + "/nothing_known")
    changed = [("--time 10m", "--cases 1024"), ("--out /tmp/hopper", "--out hopper"), ("--accept", "--knowledge nothing_known --accept"),
               ("promote night.store 3f2a9", "promote night.store " + buckets[0]["id"])]
    examples = help_examples()
    for old, new in changed:
        examples = [e.replace(old, new) for e in examples]
    run(examples, "--help", elsewhere, 14)

for failure in failures:
    print(failure)
print(f"{ran} printed commands, {len(failures)} failures")
sys.exit(bool(failures))
