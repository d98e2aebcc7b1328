#!/usr/bin/env python3
"""docs/json.schema.json names the keys of every command's JSON and their types, no more and no less; docs/json.md says of each
other command what a program reads instead.

Usage: json_keys_test.py MMAFUZZ SOURCE_FOLDER"""
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

import json_page

program, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
json_keys = json_page.generator(source)


def output_of(*arguments, codes=(0, 1)):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"mmafuzz {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def explanations():
    """Explanations of every kind, in one object."""
    pair = ["explain", "--json", "--units", f"{volta},exact"]
    whole = json.loads(output_of(*pair, source + "/corpus/examples/three_generations.cases"))
    shown = whole["cases"][0]
    if shown["verdict"]["cause"] != "fraction_bits" or [u["results"][0]["encoding"] for u in shown["units"]] != ["3f800000", "3f800001"]:
        sys.exit(f"explain --json: {shown}")
    for arguments in (["--op", op, "--case", "1. 1. 0x1p-10 0. | 1. 1. 0x1p-13 0. | 0", *pair[2:]],
                      ["--op", "convert from=fp32 to=fp16", "--case", "0.1", "--units", "ieee"],
                      ["--op", "convert from=fp32 to=fp16", "--case", "0.5", "--units", "ieee"]):
        whole["cases"] += json.loads(output_of("explain", "--json", *arguments))["cases"]
    whole["cases"] += json.loads(output_of("explain", "--json", "--op", "dot a=fp32 b=fp32 c=fp32 d=fp32 k=2",
                                           "--case", "3e38 1 | 2 1 | -3e38", "--units", "ieee:serial"))["cases"]  # fmt: skip
    if "ulps" in (infinite := whole["cases"][-1]["units"][0]):
        sys.exit(f"explain --json: {infinite}")
    return whole


def evaluated():
    """Cases of a file, and one that is typed on two units: 1.5 * 2 + 0.1 * 3 = 3.3 less what 0.1 loses, 0.1 = 2e66 in fp16."""
    whole = json.loads(output_of("eval", "--json", "--unit", "exact", source + "/corpus/examples/three_generations.cases"))
    if [(c["line"], c["units"][0]["results"][0]["encoding"]) for c in whole["cases"]] != [(n, "3f800001") for n in (5, 7, 9)]:
        sys.exit(f"eval --json: {whole}")
    two = ["eval", "--json", "exact", "ieee:serial", "--op", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2", "--case", "1.5 0.1 | 2 3 | 0"]
    typed = json.loads(output_of(*two))
    if [u["name"] for u in typed["cases"][0]["units"]] != ["exact", "ieee:serial"] or "2e66" not in typed["notes"][0]:
        sys.exit(f"eval --case --json: {typed}")
    root = json.loads(output_of("eval", "--json", "ieee", "--op", "scalar sqrt format=fp16", "--case", "2."))
    if root["cases"][0]["units"][0]["flags"] != "01":  # inexact, as the square root of 2 is no number of fp16
        sys.exit(f"eval --case --json with flags: {root}")
    return {**whole, "notes": typed["notes"], "cases": whole["cases"] + typed["cases"] + root["cases"]}


def listed():
    """All units. Claims say how they are known, rows what speaks for them and how fast they are: corpus/evidence has the words."""
    units = json.loads(output_of("list", "--json"))
    by_name = {one["name"]: one for one in units}
    row = by_name[volta]
    known = {(one["name"], claim["property"]): claim.get("how") for one in (row, by_name["bulk"], by_name["exact"]) for claim in one["claims"]}
    if (known["bulk", "nearest"], known["bulk", "idempotent"], known[volta, "zero_padding"]) != ("exhaustive", None, "solver-proven"):
        sys.exit(f"list --json: {known}")
    if not any(one["kind"] == "recorded" and one["date"] == "2025" and one["cases"] == 250 for one in row["evidence"]) or row["cases_per_second"] < 1e6:
        sys.exit(f"list --json: {row}")
    undated = {one.get("file", one["source"]) for unit in units for one in unit.get("evidence", []) if one["kind"] in ("recorded", "live") and "date" not in one}
    if undated:
        sys.exit(f"list --json: evidence without a date: {undated}")
    return units


def quantizers(source):
    """What identify says of planted quantizers, as one object: of an exception, of no reading, of one number."""
    said = {}
    for name, numbers in (("zero_block_scale_one", "fp32"), ("signed_amax", "fp32"), ("upper_half_truncated", "fp32"),
                          ("one_number_off", "bf16")):
        one = json.loads(output_of(
            "identify", "--json", "--unit", f"python:{source}/tests/planted_quantizers.py:{name}", "--op",
            f"quantize from={numbers} to=e2m1 block=8 scale=e8m0 special=nan_scale", "--verify", "64"))
        for key in ("scale", "codes", "exceptions"):
            one[key] += said.get(key, [])
        said = one
    return said


def accurate(folder):
    """A product of 2 x 3 and 3 x 2 in fp16: exact, and in FP8 with one scale a row."""
    cases = folder + "/product.cases"
    with open(cases, "w", encoding="utf-8") as file:
        file.write("mmafuzz-cases 1\nop gemm a=fp16 b=fp16 c=fp32 d=fp32 m=2 n=2 k=3\n"
                   "3c00 3c01 4000 3800 4200 3555 | 3c00 3555 4001 3c00 4500 3800 | 00000000 00000000 00000000 00000000\n")
    output_of("convert", cases, "-o", folder + "/product.npz")
    zipfile.ZipFile(folder + "/product.npz").extractall(folder)
    whole = json.loads(output_of("accuracy", "--json", folder + "/a.npy", folder + "/b.npy", "exact", "scaled:fp8.row", "ozaki2:dgemm.e4m3?moduli=7", codes=(0,)))
    exact, row, residues = whole["units"]
    if residues["narrow_products"] != 7 * 3:  # three of digits for each modulus (Karatsuba)
        sys.exit(f"accuracy --json: {residues}")
    if exact["norm"] > 2**-24 or not 2**-10 < row["norm"] < 2**-3 or abs(sum(s["share"] for s in row["steps"]) - 1) > 1e-9:
        sys.exit(f"accuracy --json: {whole}")
    chosen = json.loads(output_of("accuracy", "--json", folder + "/a.npy", folder + "/b.npy", "--for", "w7900", codes=(0,)))
    if not all(one["reaches"] and one["norm"] <= chosen["within"] and one["norm"] <= one["proven"]["norm"] for one in chosen["units"]) or len(chosen["left_out"]) != 2:
        sys.exit(f"accuracy --for w7900 --json: {chosen}")
    with open(cases, "w", encoding="utf-8") as file:  # 1 + 2^-30 - 1 - 2^-30
        file.write("mmafuzz-cases 1\nop gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k=4\n"
                   "3f800000 30800000 bf800000 b0800000 | 3f800000 3f800000 3f800000 3f800000 | 00000000\n")
    output_of("convert", cases, "-o", folder + "/product.npz")
    zipfile.ZipFile(folder + "/product.npz").extractall(folder)
    of_zero = json.loads(output_of("accuracy", "--json", folder + "/a.npy", folder + "/b.npy", "ieee:serial", codes=(0,)))
    if of_zero["units"][0]["norm"] is not None:
        sys.exit(f"accuracy of a product that is zero: {of_zero}")
    shares = []  # the squares of 2^-680 and 2^1020 are no doubles; at 2^1023 neither is the sum of the magnitudes
    for size in (0, -340, 510, 511.5):
        with open(cases, "w", encoding="utf-8") as file:
            file.write("mmafuzz-cases 1\nop gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=1 k=3\n" + " | ".join(
                " ".join(struct.pack(">d", math.ldexp(x, math.floor(size + of_a))).hex() for x in numbers)
                for of_a, numbers in ((0.5, (1.1, 0.7, -1.3, 1.7, -0.3, -1.9)), (0, (1.1, 1.9, 1.7)), (0, (0, 0)))) + "\n")
        output_of("convert", cases, "-o", folder + "/product.npz")
        zipfile.ZipFile(folder + "/product.npz").extractall(folder)
        scheme, asked = json.loads(output_of("accuracy", "--json", folder + "/a.npy", folder + "/b.npy", "--within", "1e-9", "--componentwise",
                                             "ozaki:dgemm.fp16?slices=2", "ozaki:dgemm.fp16"))["units"]
        if size < 511:  # beyond, no bound of the unit is known
            bounds = scheme["proven"]
        shares.append([scheme["norm"], scheme["greatest"], bounds, asked["unit"], asked["reaches"]])
    if any(one != shares[0] for one in shares):
        sys.exit(f"accuracy depends on the exponents of the product: {shares}")
    return {**whole, **chosen, "units": whole["units"] + chosen["units"] + of_zero["units"]}


def measured(store):
    """What bench prints in rows. fp16 has 65,536 inputs, and their conversion is proven."""
    calls = {"rate": ["--seconds", "0.01", "--units", "exact"],
             "gemm": ["--seconds", "0.01"],
             "exhaustive": ["--from", "fp16", "--to", "e4m3"],
             "bounds": ["--units", volta, "--cases", "500"],
             "identify": ["--rows", "volta/mma.m8n8k4.f32.*", "--verify", "64"],
             "search": ["--flaws", source + "/bench/mutants.txt", "--only", f"{volta}*", "--seeds", "1", "--cases", "100",
                        "--strategies", "structured"],
             "ozaki": ["-m", "8", "-n", "8", "-k", "8", "--threads", "1"],
             "split": ["--cases", "100", "--search", "100"],
             "exchange": ["--shards", "1", "--rounds", "1"],
             "store": [store, "--nights", "1"],
             "triage": ["--divergences", "100", "--minimizations", "1"],
             "order": ["--units", "ieee:serial", "--k", "4", "--replay", "10"]}
    printed = {f"bench {name} --json": json.loads(output_of("bench", name, *more, "--json", codes=(0,))) for name, more in calls.items()}
    row = printed["bench exhaustive --json"]["list"][0]
    if (row["inputs"], row["wrong"]) != (65536, 0):
        sys.exit(f"bench exhaustive --json: {row}")
    return printed


def minimized(folder):
    """A case that fails and one that does not, of a file and of a target's artifact."""
    cases = folder + "/mixed.cases"
    with open(cases, "w", encoding="utf-8") as file:
        file.write(f"mmafuzz-cases 1\nop {op}\n"
                   "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n3c00 3c00 0000 0000 | 3c00 4000 0000 0000 | 00000000\n")
    units = ["--units", f"{volta},exact", "--json"]
    whole = json.loads(output_of("minimize", *units, cases))
    if [(e["line"], "minimized" in e) for e in whole["list"]] != [(3, True), (4, False)] or (whole["cases"], whole["failing"]) != (2, 1):
        sys.exit(f"minimize --json: {whole}")
    kept = json.loads(output_of("minimize", *units, "-o", folder + "/minimal.cases", cases))
    if kept != whole or whole["list"][0]["minimized"]["case"] not in open(folder + "/minimal.cases", encoding="utf-8").read():
        sys.exit("minimize --json -o writes other cases")
    with open(folder + "/artifact", "wb") as file:
        file.write(bytes(range(1, 200)))
    artifact = json.loads(output_of("minimize", "--target", "dot_models", *units, "--op", op, folder + "/artifact"))
    if artifact["cases"] < 32 or any("line" in e or "minimized" not in e for e in artifact["list"]):
        sys.exit(f"minimize --target --json: {artifact}")
    return {**whole, "list": whole["list"] + artifact["list"]}


def promoted(folder):
    """The fate of a regression: new, then unchanged; of this machine's processor nothing is kept."""
    out, store = folder + "/of_a_processor", folder + "/of_a_processor/findings.sqlite"
    units = "cpu:dpps.f32,model:x86/dpps.k4.f32.f32.f32.f32"  # NaNs of operands, which the row replaces
    output_of("campaign", "--targets", "dot_models", "--ops", "dot a=fp32 b=fp32 c=fp32 d=fp32 k=4", "--units", units, "--cases", "512", "--out", out, "--knowledge", folder)
    buckets = json.loads(output_of("findings", store, "--buckets", "--json"))
    bucket = next(b for b in buckets if [u.split(":")[0] for u in b["units"]] == ["cpu", "model"])
    call = ["promote", "--json", "--leave-out", "--corpus", folder, store, bucket["id"]]
    first, second = json.loads(output_of(*call)), json.loads(output_of(*call))
    fates = [p["regressions"][0]["fate"] for p in (first, second)]
    regression = first["regressions"][0]
    if [regression["left_out"], regression["units"]] != [bucket["units"][:1], bucket["units"][1:]]:
        sys.exit(f"promote --leave-out --json: {first}")
    if fates != ["new", "unchanged"] or not os.path.exists(first["regressions"][0]["file"]):
        sys.exit(f"promote --json: {first} {second}")
    return first


def triaged(out, folder, facts):
    """A campaign, and a record of a unit that is not here."""
    segment = folder + "/segment.cases"
    with open(segment, "w", encoding="utf-8") as file:
        text = "".join(open(p, encoding="utf-8").read() for p in sorted(pathlib.Path(out).glob("segments/*")))
        file.write(text.replace("model:ampere", "plugin:gone.so"))
    whole = json.loads(output_of("triage", out, segment, "--json", "--knowledge", folder, "--store", folder + "/triaged.sqlite"))
    if not whole["left_out"] or not whole["new"] or {f["name"] for f in facts["new"]} - {f["name"] for f in whole["facts"]["new"]}:
        sys.exit(f"triage --json: {whole['left_out']} {whole['new']} {[f['name'] for f in whole['facts']['new']]}")
    return whole


def proofs(folder):
    """Answers of every kind in one object; none where no solver is installed."""
    if subprocess.run([program, "prove", "equal", volta, volta], capture_output=True, check=False).returncode == 2:
        return None
    whole = json.loads(output_of("prove", "--json", "bits", volta, codes=(0,)))
    if (whole["outcome"], whole["integer_bits"], [q["outcome"] for q in whole["questions"]]) != ("proven", 5, ["proven", "witness"]):
        sys.exit(f"prove bits --json: {whole}")
    one = json.loads(output_of("prove", "bits", volta, "--domain", "products=0,c=0", "--json", codes=(0,)))
    if (one["outcome"], one["integer_bits"], [q["outcome"] for q in one["questions"]]) != ("proven", 1, ["proven"]):
        sys.exit(f"prove bits --json where one bit is enough: {one}")
    mutants = folder + "/mutants.txt"
    with open(mutants, "w", encoding="utf-8") as file:
        file.write(f"{volta}?fraction_bits=22\n{volta}?order=descending\n{volta}?block=99\n")
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
        "list --json": listed(),
        "catalogue --json": json.loads(output_of("catalogue", "--json", "--corpus", source + "/corpus")),
        "identify --json": identified,
        "identify --json of a quantizer": quantizers(source),
        "prove --json": proofs(folder),
        "check --json": json.loads(output_of("check", "--json", "--unit", "exact", source + "/corpus/examples/three_generations.cases")),
        "explain --json": explanations(),
        "eval --json": evaluated(),
        "accuracy --json": accurate(folder),
        "A value": explanations()["cases"][0]["units"][0]["results"],
        "minimize --json": minimized(folder),
        "promote --json": promoted(folder),
        "triage --json": triaged(out, folder, facts),
        "fuzz --json": json.loads(output_of("fuzz", "--json", "--op", op, "--units", "exact," + volta, "--cases", "1000")),
        "campaign --json": campaign,
        "findings --json": facts,
        "A fact": [fact for name in ("contradictions", "new", "known") for fact in facts[name]],
        "findings --buckets --json": buckets,
        "A bucket": json.loads(output_of("findings", store, "--show", buckets[0]["id"], "--json")),
        "merge --json": merged,
        "store trends --json": json.loads(output_of("store", "trends", nights, "--bins", "--json")),
        "store prune --json": json.loads(output_of("store", "--json", "prune", nights, "--keep", "1d")),
        "why --json": json.loads(output_of("why", "v100", "exact", "--op", op, "--cases", "4096", "--json")),
        "report --json FILE": report,
        "sweep --json": json.loads(output_of("sweep", "--unit", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", "--cases", "5000", "--json")),
        **measured(store),
        "bench discriminate --json": json.loads(output_of("bench", "discriminate", "--query", "carry-bits/*", "--seeds", "1", "--json")),
    }
sections = json_page.sections(source)
documented = list(sections)
del sections["survey.json"]  # survey_test.py looks at it
if printed["prove --json"] is None:
    print("prove --json is not looked at: no SMT solver is installed (ci/setup-solvers)")
    del printed["prove --json"], sections["prove --json"]
if set(sections) != set(printed):
    sys.exit(f"sections: {sorted(set(sections) ^ set(printed))}")
keys, wrong = 0, []
for name, rows in sections.items():
    more, count = json_page.wrong_keys(name, rows, printed[name])
    wrong += more
    keys += count

# Each command has JSON, or the page says what a program reads instead.
head = open(source + "/docs/json.md", encoding="utf-8").read().split("\n## ", 1)[0]
commands = re.findall(r"^  (\w+) ", output_of("--help").split("Subcommands:")[1].split("Exit codes")[0], re.M)
wrong += [f"{c} has neither JSON nor a reason" for c in commands if f"`{c}`" not in head and not any(t.startswith(c) for t in documented)]
if len(commands) < 20:
    wrong.append(f"few commands: {commands}")

# What may be absent is said in words and by the schema; a validator that is not ours agrees with the schema, where there is one.
schema = json_page.schema_of(source)
wrong += json_keys.untrue(schema)
if schema["$id"] != f"urn:mmafuzz:json:{campaign['json_version']}" or f"This is version {campaign['json_version']}." not in head:
    wrong.append(f"the schema, docs/json.md and what is printed are not of one version: {schema['$id']}, {campaign['json_version']}")
if schema["anyOf"] != [{"$ref": "#/$defs/" + name} for name in schema["$defs"]]:
    wrong.append("the schema's anyOf does not name each definition")
titles = {one["title"]: name for name, one in schema["$defs"].items()}
samples = [(titles[title], value) for title, value in printed.items() if title not in ("A fact", "A value")]
refused = json_page.refusals(source, samples, ("check", {**printed["check --json"], "cases": "three"}))
wrong += [refused] if refused else []
print("\n".join([*wrong, f"{keys} keys, {len(wrong)} failures"]))
sys.exit(bool(wrong))
