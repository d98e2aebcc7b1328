#!/usr/bin/env python3
"""docs/json.md names the keys of every command's JSON, no more and no less.

Usage: json_keys_test.py MMAFUZZ SOURCE_FOLDER"""
import json
import os
import re
import subprocess
import sys
import tempfile

program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def output_of(*arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"mmafuzz {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def keys_of(value, path=""):
    """Keys with the keys above them: 'list.file'. Objects of an array count once."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + key
            yield from keys_of(inner, path + key + ".")
    if isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, path)


def documented():
    """Of each section: the keys in the first column of its table."""
    page = open(source + "/docs/json.md", encoding="utf-8").read()
    for section in page.split("\n## ")[1:]:
        rows = re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.M)
        yield section.split("\n")[0], rows


volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32"
op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
failures = 0
with tempfile.TemporaryDirectory() as folder:
    out, store = folder + "/campaign", folder + "/campaign/findings.sqlite"
    search = ["--cases", "512", "--targets", "dot_models,dot_monotone"]
    campaign = json.loads(output_of("campaign", *search, "--out", out, "--json", "--knowledge", folder))
    campaign["facts"] = None  # documented with findings
    facts = json.loads(output_of("findings", store, "--json", "--knowledge", folder))
    facts["unseen"] = [{"name": "", "example": ""}]  # of a campaign
    lists = [facts.pop(name) for name in ("contradictions", "new", "known")]
    facts |= {"contradictions": [], "new": [], "known": [], "*": [fact for each in lists for fact in each]}
    output_of("report", store, "-o", folder + "/r.html", "--json", folder + "/r.json")
    report = json.load(open(folder + "/r.json", encoding="utf-8"))
    report["buckets"] = None  # documented with findings --buckets
    printed = {
        "list --json": json.loads(output_of("list", "--json", "--units", "model:volta/*")),
        "check --json": json.loads(output_of("check", "--json", "--unit", "exact", source + "/corpus/examples/three_generations.cases")),
        "fuzz --json": json.loads(output_of("fuzz", "--json", "--op", op, "--units", "exact," + volta, "--cases", "1000")),
        "campaign --json": campaign,
        "findings --json": facts,
        "findings --buckets --json": json.loads(output_of("findings", store, "--buckets", "--json")),
        "report --json FILE": report,
    }
sections = dict(documented())
if set(sections) != set(printed):
    sys.exit(f"sections: {sorted(set(sections) ^ set(printed))}")
for name, rows in sections.items():
    said = {key for first, _ in rows for key in re.findall(r"`([^`]+)`", first)}
    if name.startswith("report"):  # the keys of its lists stand in the second column
        said |= {f"{first.strip('`')}.{key}" for first, second in rows for key in re.findall(r"`([a-z_]+)`", second)}
    there = set(keys_of(printed[name])) - {"*"}
    for key in sorted(said ^ there):
        failures += 1
        print(f"{name}: {key} is {'printed, but not documented' if key in there else 'documented, but not printed'}")
print(f"{sum(len(set(keys_of(v))) for v in printed.values())} keys, {failures} failures")
sys.exit(bool(failures))
