#!/usr/bin/env python3
"""A survey against a false device: every fault is named, nothing stops the rest, the time limit holds, a killed
survey is readable. Every survey.json has the keys that docs/json.schema.json names.

Usage: survey_test.py MMAFUZZ FALSE_DEVICE_CHILD SOURCE [kills]
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

import json_page

QUICK = (
    "control",
    "discriminators",
    "published",
    "sweep",
    "cores",
    "conversions",
    "ozaki",
    "cublas",
    "sanitizer",
)  # all but what fills the time
MMA = "cuda:mma.m16n8k16.f32.f16.f16.f32"
mmafuzz, child, source = sys.argv[1:4]
kills = int(sys.argv[4]) if len(sys.argv) > 4 else 20
written = []  # every survey.json


def read(folder):
    written.append(json.loads((folder / "survey.json").read_text()))
    return written[-1]


def start(folder, *arguments, fault="twin", since=0, observations=None, tools=None):
    environment = dict(
        os.environ,
        MMAFUZZ_DEVICE_CHILD=child,
        FALSE_DEVICE=fault,
        FALSE_DEVICE_ARCH="90",
        FALSE_DEVICE_FROM=str(since),
        ASAN_OPTIONS="handle_segv=0",  # a crash is one where sanitizers are compiled in, too
    )
    environment.pop("MMAFUZZ_OBSERVATIONS", None)
    if tools:
        environment["PATH"] = f"{tools}:{environment['PATH']}"
    if observations:
        environment["MMAFUZZ_OBSERVATIONS"] = str(observations)
    patience = "1" if fault == "hang" else "10"  # a loaded machine is late, too: only what hangs is not waited for
    command = [mmafuzz, "survey", "-o", str(folder), "--corpus", source + "/corpus", "--patience", patience, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def survey(folder, *arguments, **how):
    process = start(folder, *arguments, **how)
    process.output, process.errors = process.communicate(timeout=120)
    return process, read(folder)


def findings(result, kind):
    return [f for f in result["findings"] if f["kind"] == kind]


def status(result, step, unit=MMA):
    return [s["status"] for s in result["steps"] if s["step"] == step and s["unit"] == unit]


def a_right_device_has_no_findings(folder):
    tools = folder.parent / "tools"
    tools.mkdir()
    (tools / "compute-sanitizer").write_text("#!/bin/sh\necho nothing found\n")  # its words, its exit code
    (tools / "compute-sanitizer").chmod(0o755)
    process, result = survey(
        folder,
        "--units",
        "cuda:mma.m16n8k16.f32.*f16*",
        "--units",
        "cuda:wmma*tf32*",
        "--units",
        "cuda:mma.m8n8k4.f64*",
        "--units",
        "cuda:cvt.tf32*",
        "--units",
        "cuda:bulk",
        "--units",
        "cublas:gemmex.fp16",
        "--time",
        "60",
        *[w for part in QUICK for w in ("--only", part)],
        tools=tools,
    )
    assert process.returncode == 0, process.output + process.errors
    assert result["complete"] and result["findings"] == [], result["findings"]
    assert status(result, "published cases") == ["done"] and status(result, "short sweep") == ["done"]
    sweeps = [s for s in result["steps"] if s["kind"] == "sweep" and s["unit"] == MMA]
    assert all(s["dots"] > 0 and s["divergent"] == 0 for s in sweeps)
    published = next(s for s in result["steps"] if s["step"] == "published cases" and s["unit"] == MMA)
    assert published["cases"] > 100 and published["differs"] == 0
    points = next(s for s in result["steps"] if s["kind"] == "discriminators" and s["unit"] == MMA)["rows"]
    assert any(
        "D10" in p["point"].split(", ") and "as it is" in p["own_agrees"] for p in points
    ), "D10 was recorded for another GPU and asked all the same"
    files = [f for f in folder.rglob("*") if f.is_file()]
    assert (
        all(f.parent == folder for f in files) and len(files) < 16
    ), files  # flat and few: they must be brought back
    for cases in folder.glob("*.cases"):
        subprocess.run(
            [mmafuzz, "check", "--unit", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", cases], capture_output=True
        )
    assert "# Survey of host twin, sm_90" in (folder / "note.md").read_text()


def faults_are_named(root):
    expected = {
        "wrong_bit": ("divergence", "wrong bit 3 of d in lane 5"),
        "swapped_fragments": ("divergence", "swapped fragments of a: rows and their number xor 1"),
        "stale_accumulator": ("divergence", "stale accumulator: c is the d of the tile before"),
        "flaky": ("unstable", "the second answer differs"),
        "hang": ("lost", "gave no answer in time (it was killed)"),
        "crash": ("lost", "Segmentation fault"),
        "garbage": ("lost", "sent what is no answer"),
        "fail": ("lost", "unspecified launch failure"),
    }
    for fault, (kind, words) in expected.items():
        folder = root / fault
        since = 3 if kind == "lost" else 0  # in the middle
        process, result = survey(
            folder,
            "--units",
            MMA,
            "--only",
            "published",
            "--only",
            "sweep",
            "--time",
            "100",
            fault=fault,
            since=since,
        )
        found = findings(result, kind)
        assert any(words in f["what"] for f in found), (fault, result["findings"])
        assert words in (folder / "note.md").read_text(), fault
        # A loss is never a clean row, and does not stop what comes after it.
        assert process.returncode == (2 if kind == "lost" else 1), (fault, process.returncode)
        assert result["complete"], fault
        if kind == "lost":
            assert "lost" in status(result, "published cases") + status(result, "short sweep"), result["steps"]
            assert len(status(result, "short sweep")) == 1


def divergences_of_a_run_that_is_lost_are_kept(folder):
    # Wrong from the first call on, gone at the tenth, when divergent tiles run again: what was found before is there.
    process, result = survey(
        folder, "--units", MMA, "--only", "sweep", "--time", "100", fault="wrong_then_crash", since=9
    )
    assert process.returncode == 1 and status(result, "short sweep") == ["lost"], result["findings"]
    assert findings(result, "divergence") and findings(result, "lost"), result["findings"]
    check = subprocess.run(
        [mmafuzz, "check", "--unit", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", folder / "divergent.cases"],
        capture_output=True,
        text=True,
    )
    assert check.returncode == 1, check.stdout + check.stderr  # they differ from the model, one and all
    cases, mismatches = check.stdout.splitlines()[-1].split()[0::2]
    assert cases == mismatches != "0", check.stdout.splitlines()[-1]


def dots_that_differ_only_in_their_place_are_kept_too(folder):
    process, result = survey(folder, "--units", MMA, "--only", "sweep", "--time", "100", fault="wrong_bit")
    sweep = next(s for s in result["steps"] if s["step"] == "short sweep")
    assert sweep["unstable"] > 0
    assert (folder / "unstable.cases").read_text().count(" | ") > 0


def the_time_limit_holds(root):
    for fault in ("hang", "slow"):
        begin = time.monotonic()
        process, result = survey(root / fault, "--units", "cuda:*", "--time", "5", fault=fault, since=2)
        took = time.monotonic() - begin
        assert took < 5 + 6, (fault, took)  # the limit, and a loaded machine
        assert "out of time" in {s["status"] for s in result["steps"]} or not result["complete"], fault


def fp64_products_are_timed_and_checked(root):
    def rows(name, sizes=("16",), time="60", **how):
        process, result = survey(root / name, "--only", "dgemm", "--time", time, "--sizes", *sizes, **how)
        steps = [s for s in result["steps"] if s["kind"] == "dgemm"]
        return process.returncode, result, [row for s in steps for row in s["rows"]]

    code, result, right = rows("right", ("16", "20"))
    assert code == 0 and result["findings"] == [], result["findings"]
    assert len(right) == 12 and all(row["tflops"] > 0 and row["error"] < 1e-10 for row in right), right
    ours = [row for row in right if row["arithmetic"].startswith("ozaki:")]
    assert all(row["beyond"] == 0 for row in right if row not in ours), right
    assert len(ours) == 8 and all(row["differs"] == 0 for row in ours), ours
    note = (root / "right" / "note.md").read_text()
    assert "| 20 | cublas:dgemm.emulated | done |" in note and "0.98 and 0.54" in note, note
    code, result, wrong = rows("wrong", fault="wrong_bit")
    assert code == 1 and len(findings(result, "divergence")) == 4, result["findings"]
    assert all(row["differs"] > 32 for row in wrong if row["arithmetic"].startswith("ozaki:")), wrong
    assert [row["beyond"] for row in wrong[:2]] == [0, 0], wrong  # a last bit: as another order of summation
    for fault in ("unwritten", "no_number", "coarse"):
        code, result, spoiled = rows(fault, fault=fault)
        found = findings(result, "divergence")
        assert code == 1 and [f["unit"] for f in found] == ["cublas:dgemm", "cublas:dgemm.emulated"], found
        assert all(row["beyond"] > 60 for row in spoiled[:2]), spoiled
        assert fault != "unwritten" or "eeeeeeeeeeeeeeee, exact" in found[0]["what"], found
    code, result, native = rows("native", fault="never_emulates")
    assert code == 0 and "did not emulate" in native[1]["why"], native
    code, result, none = rows("none", fault="no_cublas")
    assert code == 0 and {row["status"] for row in none} == {"declined"}, none
    rows_speak_for_themselves(rows, root)
    process = start(root / "odd", "--only", "dgemm", "--sizes", "18")
    assert process.wait() == 2 and "expected multiples of 4" in process.stderr.read()


def rows_speak_for_themselves(rows, root):
    """What ended a step, and how long the step took, is said once and not of each row."""

    def noted(name):
        lines = [line.split(" |") for line in (root / name / "note.md").read_text().splitlines()]
        return [[cell.strip() for cell in line] for line in lines if line[0] in ("| 16", "| 64", "| 300")]

    code, result, measured = rows("short", ("16", "64"), time="10")  # no time for all products of n = 64
    assert code == 0 and {row["status"] for row in measured} == {"done"}, measured
    late = [s for s in result["steps"] if s["status"] == "out of time"]
    ends = [line for line in noted("short") if line[2] == "out of time"]
    assert late and len(ends) == len(late), result["steps"]
    assert all(line[1] == "" and line[5] == "" and line[-2].startswith("before ") for line in ends), ends
    done = [line for line in noted("short") if line[2] == "done"]
    assert len(done) == len(measured) and all(line[-2] == "" for line in done), done
    code, result, declined = rows("large", ("300",))
    assert len(declined) == 6 and {line[2] for line in noted("large")} == {"declined"}, declined
    assert {line[5] for line in noted("large")} == {""}, noted("large")


def recordings_are_the_positive_control(folder):
    recordings = folder / "recordings"
    recordings.mkdir(parents=True)
    (recordings / "h100.cases").write_text(
        "mmafuzz-cases 1\nunit nvidia.h100/wmma.fp32.fp16\nop dot a=fp16 b=fp16 c=fp32 d=fp32 k=16\n"
        + "3c00 " * 16
        + "| "
        + "3c00 " * 16
        + "| 00000000 | 41800000\n"
        + "3c00 " * 16
        + "| "
        + "4000 " * 16
        + "| 00000000 | 41800000\n"
    )
    process, result = survey(
        folder / "out", "--units", MMA, "--only", "control", "--time", "20", observations=recordings
    )
    step = next(s for s in result["steps"] if s["kind"] == "control")
    # The second result is none that a GPU gave. In corpus/recorded stand 250 of an H100, and of an H200
    # 110 + 113, and 214 of the sparse instruction with the same row.
    assert step["cases"] == 2 + 250 + 110 + 113 + 214 and step["differs"] == 1, step
    assert step["source"] == "nvidia.h200/wmma.fp32.fp16", step
    assert process.returncode == 1


def a_killed_survey_is_readable(root):
    random.seed(1)
    steps = set()
    for i in range(kills):
        folder = root / str(i)
        process = start(folder, "--units", "cuda:mma.m16n8k16.f32.*", "--units", "cuda:add*", "--time", "20")
        time.sleep(random.uniform(0.05, 1.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if not (folder / "survey.json").exists():
            assert not list(folder.glob("*.cases")) if folder.exists() else True  # killed before it had begun
            continue
        result = read(folder)
        assert not result["complete"]
        assert "Not complete" in (folder / "note.md").read_text() or not (folder / "note.md").exists()
        steps.add(len(result["steps"]))
        for cases in folder.glob("*.cases"):
            check = subprocess.run(
                [mmafuzz, "check", "--unit", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", cases],
                capture_output=True,
                text=True,
            )
            assert "expected" not in check.stderr and "malformed" not in check.stderr, check.stderr
    assert kills < 10 or len(steps) > 3, "the moments were not different: %s" % steps


def a_call_that_cannot_be_done_says_why(folder):
    for arguments, words in ((["--only", "nothing"], "no part of the plan matches"), (["--time", "0"], "--time")):
        process = start(folder, *arguments)
        _, errors = process.communicate()
        assert process.returncode == 2 and words in errors, errors
    process, result = survey(folder / "none", "--time", "5", fault="none")
    assert (
        process.returncode == 2
        and not result["complete"]
        and any("no CUDA device" in f["what"] for f in findings(result, "failed"))
    ), result


def the_page_names_every_key():
    wrong, keys = json_page.wrong_keys("survey.json", json_page.sections(source)["survey.json"], written)
    refused = json_page.refusals(source, [("survey", one) for one in written], ("survey", {**written[0], "steps": 1}))
    assert not wrong and not refused, "\n".join(wrong) + refused
    print("%d keys in %d surveys" % (keys, len(written)))


def gpu_check(folder, *arguments, **how):
    environment = dict(
        os.environ,
        MMAFUZZ_DEVICE_CHILD=child,
        FALSE_DEVICE="twin",
        FALSE_DEVICE_ARCH="90",
        MMAFUZZ=mmafuzz,
        OUT=str(folder),
        MMAFUZZ_OBSERVATIONS=source,
    )
    return subprocess.Popen(
        [source + "/ci/gpu-check", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def one_archive_comes_back_however_it_ends(root):
    process = gpu_check(root / "whole", "20", "--units", "cuda:add*", "--only", "cores")
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    cut = gpu_check(root / "cut", "60", "--units", MMA)
    while not (root / "cut" / "survey.json").exists():
        time.sleep(0.05)
    cut.send_signal(signal.SIGTERM)
    cut.communicate(timeout=60)
    for name in ("whole", "cut"):
        with tarfile.open(root / name / "survey.tar.gz") as archive:
            assert {"./survey.json", "./note.md"} <= set(archive.getnames()), archive.getnames()
            assert json.load(archive.extractfile("./survey.json"))["complete"] == (name == "whole")


def main():
    with tempfile.TemporaryDirectory() as root:
        for test in (
            a_right_device_has_no_findings,
            faults_are_named,
            divergences_of_a_run_that_is_lost_are_kept,
            dots_that_differ_only_in_their_place_are_kept_too,
            the_time_limit_holds,
            recordings_are_the_positive_control,
            fp64_products_are_timed_and_checked,
            one_archive_comes_back_however_it_ends,
            a_killed_survey_is_readable,
            a_call_that_cannot_be_done_says_why,
        ):
            begin = time.monotonic()
            test(pathlib.Path(root) / test.__name__)
            print("%s: %.1f s" % (test.__name__, time.monotonic() - begin), flush=True)
    the_page_names_every_key()


if __name__ == "__main__":
    main()
