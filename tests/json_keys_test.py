#!/usr/bin/env python3
"""docs/json.md names the keys of every command's JSON and their types, no more and no less, and docs/json.schema.json is what it
says.

Usage: json_keys_test.py MMAFUZZ SOURCE_FOLDER"""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
loader = importlib.machinery.SourceFileLoader("json_schema", source + "/ci/json-schema")
json_schema = importlib.util.module_from_spec(importlib.util.spec_from_loader("json_schema", loader))
loader.exec_module(json_schema)


def output_of(*arguments, codes=(0, 1)):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"mmafuzz {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def places(value, path=""):
    """(key, value) with the keys above it: 'list.file'. What stands in several objects of an array comes several times."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + key, inner
            yield from places(inner, path + key + ".")
    if isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                yield from places(inner, path)


def is_of(kind, value):
    if kind.startswith("list of "):
        of = {"list of text": str, "list of integers": int}.get(kind, dict)
        return isinstance(value, list) and all(type(v) is of for v in value)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is {"text": str, "integer": int, "true or false": bool, "object": dict, "facts": dict}[kind]


def proofs(folder):
    """Answers of every kind in one object; none where no solver is installed."""
    if subprocess.run([program, "prove", "equal", volta, volta], capture_output=True, check=False).returncode == 2:
        return None
    whole = json.loads(output_of("prove", "bits", volta, "--json", codes=(0,)))
    if (whole["outcome"], whole["integer_bits"], [q["outcome"] for q in whole["questions"]]) != ("proven", 5, ["proven", "witness"]):
        sys.exit(f"prove bits --json: {whole}")
    one = json.loads(output_of("prove", "bits", volta, "--domain", "products=0,c=0", "--json", codes=(0,)))
    if (one["outcome"], one["integer_bits"], [q["outcome"] for q in one["questions"]]) != ("proven", 1, ["proven"]):
        sys.exit(f"prove bits --json where one bit is enough: {one}")
    mutants = folder + "/mutants.txt"
    with open(mutants, "w", encoding="utf-8") as file:
        file.write(f"{volta}?fraction_bits=22\n{volta}?order=descending\n{volta}?special_scope=whole_k\n")
    asked = json.loads(output_of("prove", "mutants", mutants, "--json", codes=(4,)))
    if (asked["outcome"], [q["outcome"] for q in asked["questions"]]) != ("unknown", ["witness", "proven", "declined"]):
        sys.exit(f"prove mutants --json: {asked}")
    short = json.loads(output_of("prove", "property", "monotone_in_c", volta, "--time", "0.01", "--json", codes=(4,)))
    for seconds in ("4", "16", "64"):  # a busy machine needs longer
        monotone = json.loads(output_of("prove", "monotone", volta + "?integer_bits=1", "--time", seconds, "--json", codes=(0, 4)))
        if "products" in monotone:
            break
    whole["questions"] += asked["questions"] + short["questions"] + monotone["questions"]
    return {**whole, "products": monotone["products"], "ulps": 1}  # the ulps take minutes


volta = "model:volta/mma.m8n8k4.f32.f16.f16.f32"
op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
failures = 0
with tempfile.TemporaryDirectory() as folder:
    out, store = folder + "/campaign", folder + "/campaign/findings.sqlite"
    search = ["--cases", "512", "--targets", "dot_models,dot_monotone"]
    campaign = json.loads(output_of("campaign", *search, "--out", out, "--json", "--knowledge", folder))
    facts = json.loads(output_of("findings", store, "--json", "--knowledge", folder))
    facts["unseen"] = [{"name": "", "example": ""}]  # of a campaign
    output_of("report", store, "-o", folder + "/r.html", "--json", folder + "/r.json")
    report = json.load(open(folder + "/r.json", encoding="utf-8"))
    buckets = json.loads(output_of("findings", store, "--buckets", "--json"))
    nights = folder + "/nights.sqlite"
    merged = json.loads(output_of("merge", nights, store, "--json"))
    identified = json.loads(output_of("identify", "--json", "--unit", volta.replace("model:", "twin:"), "--op", op, "--verify", "64"))
    identified["best"] = [next(p for p in identified["parameters"] if p["ruled_out"])["ruled_out"][0]]  # where nothing fits
    printed = {
        "list --json": json.loads(output_of("list", "--json", "--units", "model:volta/*")),
        "identify --json": identified,
        "prove --json": proofs(folder),
        "check --json": json.loads(output_of("check", "--json", "--unit", "exact", source + "/corpus/examples/three_generations.cases")),
        "fuzz --json": json.loads(output_of("fuzz", "--json", "--op", op, "--units", "exact," + volta, "--cases", "1000")),
        "campaign --json": campaign,
        "findings --json": facts,
        "A fact": [fact for name in ("contradictions", "new", "known") for fact in facts[name]],
        "findings --buckets --json": buckets,
        "A bucket": json.loads(output_of("findings", store, "--show", buckets[0]["id"], "--json")),
        "merge --json": merged,
        "store trends --json": json.loads(output_of("store", "trends", nights, "--bins", "--json")),
        "why --json": json.loads(output_of("why", "v100", "exact", "--op", op, "--cases", "4096", "--json")),
        "report --json FILE": report,
        "sweep --json": json.loads(output_of("sweep", "--unit", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", "--cases", "5000", "--json")),
        "bench discriminate --json": json.loads(output_of("bench", "discriminate", "--query", "carry-bits/*", "--seeds", "1", "--json")),
    }
sections = {title: rows for title, _, rows in json_schema.sections(open(source + "/docs/json.md", encoding="utf-8").read())}
if printed["prove --json"] is None:
    print("prove --json is not looked at: no SMT solver is installed (ci/setup-solvers)")
    del printed["prove --json"], sections["prove --json"]
if set(sections) != set(printed):
    sys.exit(f"sections: {sorted(set(sections) ^ set(printed))}")
keys = 0
for name, rows in sections.items():
    kinds = {key: kind for words, kind, _ in rows for key in words}
    # What has a section of its own is looked at there.
    elsewhere = tuple(key + "." for key, kind in kinds.items() if kind in ("list of facts", "list of buckets", "facts"))
    there = {}
    for key, value in places(printed[name]) if rows else ():
        if not key.startswith(elsewhere):
            there.setdefault(key, []).append(value)
    keys += len(there)
    for key in sorted(set(kinds) ^ set(there)):
        failures += 1
        print(f"{name}: {key} is {'printed, but not documented' if key in there else 'documented, but not printed'}")
    for key in set(kinds) & set(there):
        for value in there[key]:
            if not is_of(kinds[key], value):
                failures += 1
                print(f"{name}: {key} is no {kinds[key]}: {value!r:.80}")
                break

# The schema is made of the page, and a validator that is not ours agrees with it, where there is one.
failures += json_schema.main(["--check", source])
validator = source + "/build/venv/bin/python"
check = "import json, jsonschema, sys\nschema, samples = json.load(sys.stdin)\n" \
        "for name, value in samples.items():\n" \
        "    jsonschema.Draft202012Validator({**schema, 'anyOf': [{'$ref': '#/$defs/' + name}]}).validate(value)\n" \
        "print(len(samples))"
samples = {json_schema.name_of(title): value for title, value in printed.items() if title != "A fact"}
schema = json.load(open(source + "/docs/json.schema.json", encoding="utf-8"))
for python in (validator, sys.executable):
    if os.path.exists(python) and subprocess.run([python, "-c", "import jsonschema"], capture_output=True, check=False).returncode == 0:
        done = subprocess.run([python, "-c", check], input=json.dumps([schema, samples]), capture_output=True, text=True, check=False)
        wrong = dict(samples, check={**samples["check"], "cases": "three"})
        refused = subprocess.run([python, "-c", check], input=json.dumps([schema, wrong]), capture_output=True, text=True, check=False)
        if done.returncode or not refused.returncode:
            failures += 1
            print(done.stderr[-1500:] or "the schema takes a text for a number")
        break
else:
    print("the schema is not tried on the outputs: no jsonschema (ci/run-tests installs it)")
print(f"{keys} keys, {failures} failures")
sys.exit(bool(failures))
