#!/usr/bin/env python3
"""mmafuzz campaign as a user runs it: bad calls, determinism, resume, Ctrl-C, workers and campaigns that are killed, a panel.
Usage: campaign_test.py MMAFUZZ [TEST...]. One test a method; times are generous because test machines are shared."""
import filecmp
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from waiting import wait_for

MMAFUZZ = ""
ROOT = pathlib.Path(__file__).resolve().parent.parent
OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"
ADD_OP = "dot a=fp32 b=fp32 c=fp32 d=fp32 k=1"
# Crashes on NaN operands, and is wrong by one where a ends in 55.
CRASHES_ON_NAN = r"""#include "oracles/units/plugin_abi.h"
#include <string.h>
static float number(uint64_t bits) { uint32_t b = (uint32_t)bits; float f; memcpy(&f, &b, 4); return f; }
int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }
const char* mmafuzz_plugin_name(void) { return "crashing"; }
const char* mmafuzz_plugin_equals(const struct mmafuzz_op* op) { return "ieee:serial"; }
int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size) { return !strcmp(op->kind, "dot"); }
int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) {
  for (size_t i = 0; i < batch->n; ++i) {
    const float a = number(batch->a[i]), b = number(batch->b[i]);
    if (a != a || b != b) *(volatile int*)0 = 1;
    const float product = a * b, sum = number(batch->c[i]) + product;
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    if (sum != sum) bits = 0x7fc00000;
    else if ((batch->a[i] & 0xff) == 0x55) bits ^= 1;
    batch->result[i] = bits;
  }
  return 0;
}
"""
# Takes every product and answers zeros, which it claims to be split:ootomo.fp16; with an argument it dies of every batch.
ZEROS = """import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "mmafuzz-process":
        print("mmafuzz-process 1 text zeros", flush=True)
    elif words[0] == "op":
        print("yes" if sys.argv[1:] else "yes equals split:ootomo.fp16", flush=True)
    elif sys.argv[1:]:
        sys.exit(1)
    else:
        for _ in range(int(words[1])):
            sys.stdin.readline()
        print(f"results {words[1]}", *["00000000 00000000"] * int(words[1]), "end", sep="\\n", flush=True)
"""
UNITS = "exact,ieee:serial,model:hopper/mma.m16n8k16.f32.f16.f16.f32,model:volta/mma.m8n8k4.f32.f16.f16.f32"
FEW = ["--ops", OP, "--units", UNITS, "--with", "batch"]


def campaign(*arguments, **options):
    return subprocess.run([MMAFUZZ, "campaign", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def start(*arguments, **options):
    return subprocess.Popen([MMAFUZZ, "campaign", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def workers_of(folder):
    """Process ids of the workers that write under a folder."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z" and b"campaign-worker" in words and any(w.startswith(os.fsencode(folder)) for w in words):
            found.append(int(entry.name))
    return found


def keys_of(path):
    return re.findall(r"^# (mmafuzz: divergence .*)$", path.read_text(), re.M)


def cases_of_workers(out):
    """That they say they have done."""
    texts = [p.read_text() for p in (out / "workers").glob("*.status")]
    return sum(int(n) for text in texts for n in re.findall(r"^cases (\d+)$", text, re.M))


def cases_in_progress(out):
    return sum(share["cases"] for share in json.loads((out / "progress.json").read_text())["shares"].values())


def reached(out):
    """Bins of its store."""
    return set(sqlite3.connect(out / "findings.sqlite").execute("SELECT field, op, bin FROM coverage WHERE hits"))


class CampaignTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mmafuzz-campaign-test-")
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "out"

    def refused(self, *arguments, says):
        result = campaign(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("mmafuzz: "), result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_wrong_calls_are_refused_on_one_line(self):
        self.refused("--out", self.out, "--targets", "no_such", says="known: dot_models")
        self.refused("--out", self.out, "--jobs", 0, says="--jobs")
        self.refused("--out", self.out, "--time", "0", says="--time")
        self.refused("--out", self.out, "--time", "3 weeks", says="--time")
        self.refused("--out", self.out, "--cases", 0, says="--cases")
        self.refused("--out", self.out, "--fail-on", "everything", says="--fail-on")
        self.refused("--out", self.out, "--ops", "dot a=fp17", says="fp17")
        self.refused("--out", self.out, "--units", "no:such", says="no:such")
        self.refused("--out", self.out, "--units", "plugin:no_such.so", says="no_such.so")
        self.refused("--out", self.out, "--resume", says="no campaign to resume")
        self.refused("--time", 1, says="--out")
        self.assertFalse(self.out.exists(), "a refused call leaves nothing behind")

    def test_a_folder_with_something_in_it_is_refused(self):
        self.out.mkdir()
        (self.out / "notes.txt").write_text("mine")
        self.refused("--out", self.out, *FEW, "--cases", 10, says="--resume")
        self.assertEqual([p.name for p in self.out.iterdir()], ["notes.txt"])

    def test_a_corpus_that_is_no_folder_of_its_own_is_refused_before_anything_is_written(self):
        other = pathlib.Path(self.folder.name, "other")
        for make in (lambda at: at.write_text("mine"), lambda at: at.symlink_to(other), lambda at: (other.mkdir(), at.symlink_to(other))):
            shutil.rmtree(self.out, ignore_errors=True)
            self.out.mkdir()
            make(self.out / "corpus")
            self.refused("--out", self.out, *FEW, "--cases", 10, says="out/corpus")
            self.assertEqual([p.name for p in self.out.iterdir()], ["corpus"])

    def test_a_campaign_of_shards_takes_no_corpus(self):
        inputs = self.out / "corpus/dot_models/any.inputs"
        inputs.parent.mkdir(parents=True)
        inputs.write_text("mine")
        self.refused("--out", self.out, "--shard", "1/2", *FEW, "--cases", 10, says="takes no corpus")
        self.assertEqual([p.name for p in self.out.iterdir()], ["corpus"])
        self.assertEqual(inputs.read_text(), "mine")

    def test_the_corpus_of_another_campaign_is_where_this_one_begins(self):
        first, next_night, alone = (self.out / name for name in ("first", "next", "alone"))
        next_night.mkdir(parents=True)
        self.assertEqual(campaign("--out", first, *FEW, "--cases", 20000, "--targets", "dot_models").returncode, 0)
        shutil.copytree(first / "corpus", next_night / "corpus")
        bins = {}
        for out in (next_night, alone):
            result = campaign("--out", out, *FEW, "--cases", 64, "--seed", 2, "--targets", "dot_models")
            self.assertEqual(result.returncode, 0, result.stderr)
            bins[out] = reached(out)
        self.assertLessEqual(reached(first), bins[next_night])
        self.assertLess(len(bins[alone]), len(bins[next_night]))
        campaigns = sqlite3.connect(next_night / "findings.sqlite").execute("SELECT cases, uuid FROM campaigns").fetchall()
        self.assertEqual([cases for cases, _ in campaigns], [64])
        self.assertNotIn(campaigns[0][1], (first / "campaign.json").read_text())

    def test_same_seed_and_cases_give_the_same_corpus_and_findings(self):
        outs = [self.out / name for name in ("first", "second")]
        self.out.mkdir()
        for out in outs:
            result = campaign("--out", out, *FEW, "--cases", 30000, "--jobs", 1, "--seed", 7, "--targets", "dot_*")
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(*[(out / "findings.cases").read_bytes() for out in outs])
        self.assertGreater(len(keys_of(outs[0] / "findings.cases")), 3)
        files = [sorted(str(p.relative_to(out)) for p in (out / "corpus").rglob("*") if p.is_file()) for out in outs]
        self.assertGreater(sum((outs[0] / name).stat().st_size for name in files[0]), 10000)
        self.assertEqual(*files)
        self.assertEqual(filecmp.cmpfiles(*outs, files[0], shallow=False)[1:], ([], []))
        other = campaign("--out", self.out / "third", *FEW, "--cases", 30000, "--jobs", 1, "--seed", 8, "--targets", "dot_models")
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertNotEqual((self.out / "third/findings.cases").read_bytes(), (outs[0] / "findings.cases").read_bytes())

    def test_a_campaign_of_cases_ends_the_same_however_often_it_is_killed_or_stopped_early(self):
        call = [*FEW, "--jobs", 2, "--seed", 7, "--targets", "dot_*"]
        whole, killed, longer = (self.out / name for name in ("whole", "killed", "longer"))
        self.out.mkdir()
        self.assertEqual(campaign("--out", whole, *call, "--cases", 200000).returncode, 0)
        for resume in ([*call, "--cases", 200000], ["--resume"], ["--resume"]):
            process = start("--out", killed, *resume)
            # Once before progress is saved, later behind it.
            wait_for(lambda: cases_of_workers(killed) > 20000 and (resume != ["--resume"] or cases_in_progress(killed) > 20000))
            process.kill()
            process.communicate()
            wait_for(lambda: not workers_of(str(killed)))
        self.assertEqual(campaign("--out", killed, "--resume").returncode, 0)
        self.assertEqual(campaign("--out", longer, *call, "--cases", 102400, "--no-triage").returncode, 0)
        self.assertEqual(campaign("--out", longer, "--resume", "--cases", 200000).returncode, 0)
        for out in (killed, longer):
            with self.subTest(out.name):
                self.assertEqual(*[json.loads((o / "summary.json").read_text())["cases"] for o in (whole, out)])
                self.assertEqual(*[{name: share["answers"] for name, share in json.loads((o / "progress.json").read_text())["shares"].items()}
                                   for o in (whole, out)])
                names = [sorted(str(p.relative_to(o)) for part in ("corpus", "findings.cases", "witnesses") for p in [o / part, *(o / part).rglob("*")]
                                if p.is_file()) for o in (whole, out)]  # fmt: skip
                self.assertEqual(*names)
                self.assertEqual(filecmp.cmpfiles(whole, out, names[0], shallow=False)[1:], ([], []))

    def test_the_rate_is_that_of_the_work_and_leaves_out_what_was_waited_for(self):
        late = pathlib.Path(self.folder.name) / "late.sh"
        late.write_text("sleep 4; exec python3 examples/process_add.py")
        done = campaign("--out", self.out, "--ops", "scalar add format=fp32", "--units", f"process:sh {late},exact", "--targets", "scalar",
                        "--with", "batch", "--cases", 100000, "--no-triage", "--json", cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        elapsed, cases = (json.loads(done.stdout)[key] for key in ("elapsed", "cases"))
        value, unit = re.search(r" cases at ([\d.]+) ?(\w?)/s.*\n$", done.stderr).groups()
        rate = float(value) * {"": 1, "k": 1e3, "M": 1e6}[unit]
        self.assertGreater(rate, 1.5 * cases / elapsed, done.stderr)

    def test_most_of_the_time_goes_into_what_a_unit_claims_to_equal(self):
        plugin = pathlib.Path(MMAFUZZ).parent / "tests/wrong_row.so"
        for unit, most in ((f"plugin:{plugin}", True), ("model:hopper/mma.m16n8k16.f32.f16.f16.f32", False)):
            out = self.out.with_name(f"most-{most}")
            done = campaign("--out", out, "--ops", OP, "--units", unit, "--with", "batch", "--jobs", 1, "--time", 4, "--no-triage", "--json")
            seconds = {field["target"]: field["seconds"] for field in json.loads(done.stdout)["fields"]}
            self.assertEqual(set(seconds), {"dot_models", "dot_monotone", "dot_metamorphic"})
            of_claim = seconds.pop("dot_models")
            (self.assertGreater if most else self.assertLess)(of_claim, 1.2 * sum(seconds.values()), done.stderr)

    def test_a_folder_whose_name_is_no_utf_8(self):
        odd = os.fsencode(self.folder.name) + b"/caf\xe9"
        done = subprocess.run([MMAFUZZ, "campaign", "--cases", "64", "--ops", OP, "--targets", "dot_models", "--with", "batch",
                               "--no-triage", "--json", "--out", odd], capture_output=True, timeout=120, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["cases"], 64)

    def test_findings_are_case_text_and_the_summary_counts_them(self):
        result = campaign("--out", self.out, *FEW, "--cases", 20000, "--targets", "dot_models", "--json", "--fail-on", "new", "--verbose",
                          "--minimize")
        self.assertEqual(result.returncode, 1, result.stderr)
        summary = json.loads(result.stdout)
        self.assertEqual(summary, json.loads((self.out / "summary.json").read_text()))
        self.assertEqual(summary["cases"], 20000)
        keys = keys_of(self.out / "findings.cases")
        self.assertEqual(len(keys), sum(summary["new"].values()))
        self.assertEqual(len(keys), len(set(keys)))
        for key in keys:
            self.assertIn(key, result.stderr)
        checked = subprocess.run([MMAFUZZ, "eval", "--unit", "exact", self.out / "findings.cases"], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        size = 3 + 16 * 2 * 2 + 4  # header, a, b and c
        packed = b"".join(p.read_bytes() for p in (self.out / "corpus").rglob("*.inputs"))
        kept = [p.read_bytes() for p in (self.out / "corpus.min").rglob("*") if p.is_file()]
        self.assertGreater(len(kept), 100)
        again = self.out / "again"
        again.mkdir()
        shutil.copytree(self.out / "corpus.min", again / "corpus")
        self.assertEqual(campaign("--out", again, *FEW, "--cases", 64, "--targets", "dot_models").returncode, 0)
        self.assertLessEqual(reached(self.out), reached(again))
        self.assertLessEqual({k[3:] for k in kept}, {packed[i + 3:i + size] for i in range(0, len(packed), size)})

    def test_resume_goes_on_with_the_same_settings(self):
        first = campaign("--out", self.out, *FEW, "--time", 2, "--jobs", 1, "--targets", "dot_models")
        self.assertEqual(first.returncode, 0, first.stderr)
        keys = keys_of(self.out / "findings.cases")
        done = json.loads((self.out / "summary.json").read_text())
        nothing_left = campaign("--out", self.out, "--resume")
        self.assertEqual(nothing_left.returncode, 0, nothing_left.stderr)
        again = campaign("--out", self.out, "--resume", "--time", "2s")
        self.assertEqual(again.returncode, 0, again.stderr)
        summary = json.loads((self.out / "summary.json").read_text())
        self.assertEqual([field["target"] for field in summary["fields"]], ["dot_models"])
        self.assertGreater(summary["elapsed"], done["elapsed"] + 1)
        self.assertGreater(summary["cases"], done["cases"])
        self.assertEqual(sum(summary["known"].values()), len(keys))
        self.assertLessEqual(set(keys), set(keys_of(self.out / "findings.cases")))

    def test_workers_that_search_at_the_same_time_walk_once(self):
        def walked_and_cases():
            share, = json.loads((self.out / "progress.json").read_text())["shares"].values()
            return share["walked"], share["cases"]

        first = campaign("--out", self.out, *FEW, "--targets", "dot_models", "--jobs", 2, "--time", 3)
        self.assertEqual(first.returncode, 0, first.stderr)
        walked, cases = walked_and_cases()
        self.assertGreater(walked, 0)
        self.assertLess(walked, cases)
        again = campaign("--out", self.out, "--resume", "--time", 2)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertGreater(walked_and_cases()[0], walked)

    def test_names_of_rows_are_whole_names_from_the_beginning(self):
        other = "dot a=bf16 b=bf16 c=fp32 d=fp32 k=16"
        unit = "model:custom?kernel=fused_sum,k=16,block=16,fraction_bits=24,output_rounding=toward_zero"
        rows = pathlib.Path(self.folder.name) / "a.rows"
        few = ["--ops", OP, "--ops", other, "--targets", "dot_models", "--jobs", 1, "--with", "batch"]
        rows.write_text(f"mmafuzz-rows 1\nop {OP}\na {unit}\nop {other}\na ieee:serial\n")
        named = self.out / "named"
        done = campaign("--rows", rows, "--units", "a,exact", *few, "--cases", 2000, "--out", named)
        self.assertEqual(done.returncode, 0, done.stderr)
        joined = self.out / "joined"
        done = campaign("--rows", rows, *few, "--cases", 500, "--out", joined)
        self.assertEqual(done.returncode, 0, done.stderr)
        shards = self.out / "shards"
        done = campaign("--rows", rows, "--units", "a,exact", *few, "--cases", 500, "--shard", "1/1", "--out", shards)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows.unlink()  # from here on nothing needs the file
        done = campaign("--out", named, "--resume", "--cases", 3000)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = campaign("--out", shards, "--conclude")
        self.assertEqual(done.returncode, 0, done.stderr)
        for folder in named, joined, shards:
            with self.subTest(folder.name):
                settings = json.loads((folder / "campaign.json").read_text())
                self.assertTrue(any(u.startswith(unit) for u in settings["units"]), settings["units"])
                self.assertNotIn("a.rows", json.dumps({**settings, "command": ""}))
                found = re.findall(r"^# mmafuzz: divergence equal (\S+) (\S+) (\S+) ", (folder / "findings.cases").read_text(), re.M)
                if folder == joined:
                    self.assertIn("dot.f32.f16.f16.f32", {op for op, *pair in found if unit in pair})
                    self.assertNotIn("dot.f32.bf16.bf16.f32", {op for op, *pair in found if unit in pair})
                else:  # each row on its own op
                    self.assertEqual(set(found), {("dot.f32.f16.f16.f32", unit, "exact"), ("dot.f32.bf16.bf16.f32", "ieee:serial", "exact")})

    def test_rows_that_no_op_would_use_are_refused(self):
        rows = pathlib.Path(self.folder.name) / "a.rows"
        rows.write_text(f"mmafuzz-rows 1\nop {OP}\na ieee:fma\n")
        other = ["--rows", rows, "--ops", OP.replace("fp16", "bf16"), "--out", self.out]
        self.refused(*other, says=f"give --ops '{OP}'")
        self.refused(*other, "--units", "a,exact", says=f"give --ops '{OP}'")

    def test_an_interrupted_campaign_ends_like_any_other_and_leaves_no_worker(self):
        process = start("--out", self.out, *FEW, "--time", 600, "--jobs", 2)
        wait_for(lambda: len(workers_of(str(self.out))) == 2)
        wait_for(lambda: any((self.out / "segments").glob("*.cases")))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("Nothing contradicts what is claimed", out)
        self.assertTrue((self.out / "summary.json").exists())
        self.assertEqual(workers_of(str(self.out)), [])

    def test_a_second_campaign_in_the_same_folder_is_refused(self):
        process = start("--out", self.out, *FEW, "--time", 600, "--jobs", 1)
        wait_for(lambda: workers_of(str(self.out)))
        self.refused("--out", self.out, "--resume", says="another campaign runs")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

    def test_a_killed_worker_is_started_again(self):
        process = start("--out", self.out, *FEW, "--time", 600, "--jobs", 1, "--targets", "dot_models")
        victim = wait_for(lambda: workers_of(str(self.out)))[0]
        os.kill(victim, signal.SIGKILL)
        wait_for(lambda: [w for w in workers_of(str(self.out)) if w != victim])
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(json.loads((self.out / "summary.json").read_text())["restarts"], 1)

    def test_workers_die_with_a_killed_campaign(self):
        process = start("--out", self.out, *FEW, "--time", 600, "--jobs", 2)
        wait_for(lambda: len(workers_of(str(self.out))) == 2)
        process.kill()
        process.communicate()
        wait_for(lambda: not workers_of(str(self.out)), 10)

    def test_a_worker_that_crashes_is_a_finding_with_its_command_and_known_when_resumed(self):
        process = start("--out", self.out, *FEW, "--time", 600, "--jobs", 1, "--targets", "dot_models", "--stop-on", "contract")
        os.kill(wait_for(lambda: workers_of(str(self.out)))[0], signal.SIGSEGV)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, out + err)
        line = out.split("\n")[0]
        self.assertRegex(line, r"^mmafuzz: crash dot_models\.dot_.*\.batch signal 11 ")
        reports = list((self.out / "artifacts").glob("*.crash.txt"))
        self.assertEqual(len(reports), 1)
        self.assertTrue(reports[0].read_text().startswith(line + "\n# "))
        self.assertIn("campaign-worker", reports[0].read_text())
        again = campaign("--out", self.out, "--resume", "--time", "0.1", "--json")
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertEqual(json.loads(again.stdout)["known"]["crash"], 1)

    def test_a_contradiction_of_any_severity_fails(self):
        flawed = pathlib.Path(MMAFUZZ).parent / "tests/flawed_plugin_1.so"
        run = campaign("--out", self.out, "--targets", "dot_metamorphic", "--units", f"plugin:{flawed}", "--ops", OP, "--cases", "20000", "--json")
        said = json.loads(run.stdout)
        self.assertEqual([f["name"] for f in said["facts"]["contradictions"]], [f"claim/plugin:{flawed}"], run.stderr)
        self.assertEqual(said["known"]["contract"] + said["new"]["contract"], 0, "properties alone were searched")
        self.assertEqual(run.returncode, 1)

    def broken_unit(self, name="u.so"):
        """A claim of this plugin is broken; the folder's name has a space."""
        folder = pathlib.Path(self.folder.name, "sp ace")
        folder.mkdir(exist_ok=True)
        shutil.copy(pathlib.Path(MMAFUZZ).parent / "tests/planted_plugin.so", folder / name)
        return folder / name

    def mmafuzz(self, *arguments, code):
        done = subprocess.run([MMAFUZZ, *map(str, arguments)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def test_a_plugin_whose_name_has_a_space_breaks_its_contract_to_the_end(self):
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", f"plugin:{self.broken_unit()},exact", "--ops", OP, "--cases", "60000",
                       "--no-triage")
        self.assertEqual(run.returncode, 1, run.stderr)
        triaged = self.mmafuzz("triage", self.out, "--json", code=1)
        self.assertEqual(triaged.stderr.count("left out"), 0, triaged.stderr)
        [bucket] = [b for b in json.loads(triaged.stdout)["buckets"] if b["severity"] == "contract"][:1]
        unit = f"plugin:{self.folder.name}/sp%20ace/u.so"
        self.assertEqual(bucket["units"][0], unit)
        witness = pathlib.Path(self.folder.name, "witness.cases")
        witness.write_text(bucket["witness"])
        shown = self.mmafuzz("explain", witness, "--units", unit, code=0)
        self.assertEqual(self.mmafuzz("explain", witness, "--units", f"plugin:{self.broken_unit()}", code=0).stdout, shown.stdout)
        self.mmafuzz("minimize", witness, code=0)
        self.mmafuzz("eval", witness, "--unit", f"plugin:{self.broken_unit()}?isolated=0", code=0)
        self.mmafuzz("eval", witness, "--unit", "plugin:100%.so", code=2)

    def test_a_unit_of_ones_own_has_the_name_that_was_typed(self):
        os.symlink(self.broken_unit(), pathlib.Path(self.folder.name, "typed.so"))
        done = subprocess.run([os.path.abspath(MMAFUZZ), "campaign", "--out", self.out, "--targets", "dot_models", "--units", "plugin:./typed.so,exact",
                               "--ops", OP, "--cases", "60000"], capture_output=True, text=True, timeout=120, cwd=self.folder.name)
        self.assertEqual(done.returncode, 1, done.stderr)
        units = set(re.findall(r"plugin:[^ ,]*typed\.so", pathlib.Path(self.out, "findings.cases").read_text()))
        self.assertEqual(units, {"plugin:./typed.so"})

    def test_a_regression_of_a_unit_of_ones_own_holds_it_to_its_claim_or_to_its_results(self):
        built = pathlib.Path(MMAFUZZ).parent.resolve() / "tests"
        serial, flawed, right = built / "serial_dot.so", built / "flawed_plugin_1.so", built / "flawed_plugin_14.so"  # flawed elsewhere
        here = pathlib.Path(self.folder.name)
        at_home = lambda *arguments: subprocess.run([os.path.abspath(MMAFUZZ), *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=here)
        for unit, first, broken in (("plugin:./mine.so", flawed, 1), ("plugin:./mine.so?isolated=1", flawed, 1), ("plugin:./mine.so", serial, 0)):
            os.replace(shutil.copy(first, here / "new.so"), here / "mine.so")
            out, corpus = here / f"of {len(unit)} {broken}", here / f"corpus {len(unit)} {broken}"
            other = "exact" if broken else "model:ampere/mma.m16n8k16.f32.f16.f16.f32"  # what `right` is on such cases
            run = at_home("campaign", "--out", out, "--targets", "dot_models", "--units", f"{unit},{other}", "--ops", OP, "--cases", "20000")
            self.assertEqual(run.returncode, broken, run.stderr)
            buckets = json.loads(at_home("findings", out / "findings.sqlite", "--buckets", "--json").stdout)
            promoted = at_home("promote", out / "findings.sqlite", buckets[0]["id"], "--corpus", corpus)
            self.assertEqual(promoted.returncode, 0, promoted.stderr)
            regression = promoted.stdout.strip()
            self.assertEqual(re.findall("^unit (.*)$", pathlib.Path(regression).read_text(), re.M), [unit])
            self.assertEqual(f"fails until {unit} gives what it claims, the result of model:ampere/" in promoted.stderr, broken == 1, promoted.stderr)
            for now, code in (first, broken), (right, 1 - broken):
                checked = at_home("check", regression, "--unit", f"plugin:{now}")
                self.assertEqual(checked.returncode, code, checked.stdout + checked.stderr)
            replay = lambda: subprocess.run(["bash", os.path.abspath(pathlib.Path(__file__).parent / "regressions.sh"), os.path.abspath(MMAFUZZ), corpus],
                                            capture_output=True, text=True, timeout=120, cwd=here)
            for now, code in (first, broken), (right, 1 - broken):
                os.replace(shutil.copy(now, here / "new.so"), here / "mine.so")
                after = replay()
                self.assertEqual(after.returncode, code, after.stdout + after.stderr)
                self.assertEqual(f"{unit} gives" in after.stdout, code == 1)

    def test_a_crash_is_said_hides_nothing_beside_it_and_can_be_promoted(self):
        source, library = pathlib.Path(self.folder.name, "crash.c"), pathlib.Path(self.folder.name, "crash.so")
        source.write_text(CRASHES_ON_NAN)
        root = pathlib.Path(__file__).resolve().parent.parent
        subprocess.run(["cc", "-shared", "-fPIC", "-ffp-contract=off", "-I", root, source, "-o", library], check=True)
        unit = f"plugin:{library}"
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", unit + ",ieee:serial", "--ops", ADD_OP, "--cases", "40000")
        self.assertEqual(run.returncode, 1, run.stderr)
        said = " ".join(run.stdout.split())
        self.assertIn(f"{unit} breaks on some cases: it died of Segmentation fault", said)
        self.assertIn(f"{unit} differs from ieee:serial, which it claims to equal", said)
        answers = json.loads((self.out / "progress.json").read_text())["shares"]
        counts = [s["answers"][unit] for s in answers.values() if unit in s["answers"]]
        self.assertTrue(counts)
        for count in counts:
            self.assertGreater(count["failed"], 10)
            self.assertEqual(count["answered"] + count["failed"], count["asked"])
        store = self.out / "findings.sqlite"
        crash = next(b for b in json.loads(self.mmafuzz("findings", store, "--buckets", "--json", code=0).stdout) if b["property"] == "answers")
        regression = self.mmafuzz("promote", store, crash["id"], "--corpus", self.out / "regressions", code=0).stdout.strip()
        self.assertIn(f"{unit} fails", self.mmafuzz("check", regression, code=1).stdout)
        self.mmafuzz("check", regression, "--unit", "ieee:serial", code=0)
        ids = [b["id"] for b in json.loads(self.mmafuzz("findings", store, "--buckets", "--json", code=0).stdout)]
        decide = [word for each in ids for word in ("--set", f"{each}=known")]
        self.mmafuzz("findings", store, *decide, code=0)
        said = self.mmafuzz("findings", store, code=0).stdout
        self.assertIn("No new contradiction; 2 contradictions that somebody called known", " ".join(said.split()))

    def test_a_crash_of_a_unit_that_claims_nothing_is_a_regression_until_it_answers(self):
        here = pathlib.Path(self.folder.name)
        (here / "unit.py").write_text('''
def dot(op, a, b, c):
    if a[0] == 0x7fc00000:
        raise ValueError("no NaN")
    return c
dot.per_case = True
''')
        (here / "nan.cases").write_text(f"mmafuzz-cases 1\nop {ADD_OP}\n7fc00000 | 3f800000 | 00000000\n")
        unit = f"python:{here}/unit.py:dot"
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", unit + ",exact", "--ops", ADD_OP, "--cases", "40000")
        self.assertEqual(run.returncode, 1, run.stderr)
        store = self.out / "findings.sqlite"
        crash = next(b for b in json.loads(self.mmafuzz("findings", store, "--buckets", "--json", code=0).stdout) if b["property"] == "answers")
        regression = self.mmafuzz("promote", store, crash["id"], "--corpus", here / "corpus", code=0).stdout.strip()
        self.assertIn(f"expected an answer, {unit} fails", self.mmafuzz("check", regression, code=1).stdout)
        self.mmafuzz("check", regression, "--unit", "exact", code=0)

    def test_a_regression_of_a_unit_that_remembers_begins_anew(self):
        counts = pathlib.Path(MMAFUZZ).parent / "tests/flawed_plugin_13.so"  # the first, sixth, ... case is wrong
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", f"plugin:{counts},exact", "--ops", OP, "--cases", "20000")
        self.assertEqual(run.returncode, 1, run.stderr)
        buckets = json.loads(self.mmafuzz("findings", self.out / "findings.sqlite", "--buckets", "--json", code=0).stdout)
        ids = [b["id"] for b in buckets if b["cause"] == "periodic"]
        self.assertGreater(len(ids), 1)
        files = self.mmafuzz("promote", self.out / "findings.sqlite", *ids, "--corpus", self.out / "corpus", code=0).stdout.split()
        wrong = [sorted(line for line in self.mmafuzz("check", *order, code=1).stdout.splitlines() if "expected" in line) for order in (files, files[::-1])]
        self.assertEqual(wrong[0], wrong[1])
        self.assertEqual({line.split(":")[0] for line in wrong[0]}, set(files))

    def test_a_unit_that_claims_nothing_contradicts_nothing_and_is_described(self):
        unit = f"plugin:{pathlib.Path(MMAFUZZ).parent}/tests/serial_dot.so"
        run = campaign("--out", self.out, "--targets", "dot_*", "--units", unit + ",exact", "--ops", OP, "--cases", "20000")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        said = " ".join(run.stdout.split())
        self.assertIn("Nothing contradicts what is claimed; 1 fact is new", said)
        [[differing, as_serial]] = re.findall(r"of these (\d+) cases plugin:.*? ieee:serial on (\d+)", said)
        self.assertGreater(int(differing), 100)
        self.assertEqual(as_serial, differing, "it is a serial sum")
        self.assertLess(int(re.search(r"ieee:pairwise on (\d+)", said)[1]), int(differing))
        self.assertRegex(said, r"the nearest row is model:\S+ with the same result on [\d.]+ % of all")
        self.assertIn(f"identify --unit {unit} --op '{OP}'", said)
        found = " ".join(self.mmafuzz("findings", self.out / "findings.sqlite", code=0).stdout.split())
        self.assertIn(f"ieee:serial on {differing}", found, "the store holds it")

    def test_blocks_are_searched(self):
        op = "quantize from=fp32 to=e4m3 block=8 scale=e8m0 rule=rceil special=nan_scale"
        run = campaign("--out", self.out, "--ops", op, "--units", "quantizer:rceil,exact", "--cases", "2000", "--json")
        self.assertEqual((run.returncode, json.loads(run.stdout)["facts"]["contradictions"]), (0, []), run.stderr)

    def test_a_conversion_that_claims_nothing_contradicts_nothing(self):
        units = pathlib.Path(__file__).parent.parent / "examples/units.py"
        run = campaign("--out", self.out, "--targets", "convert", "--units", f"python:{units}:negate,exact", "--ops", "convert from=fp16 to=fp16",
                       "--cases", "5000", "--json")
        facts = json.loads(run.stdout)["facts"]
        self.assertEqual((run.returncode, facts["contradictions"]), (0, []), run.stderr)
        self.assertIn(f"python:{units}:negate computes in its own way", " ".join(f["sentence"] for f in facts["new"]))

    def test_a_claim_names_a_gpu_and_is_held_to_its_row(self):
        hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
        for unit in (f"plugin:{pathlib.Path(MMAFUZZ).parent}/tests/serial_dot_h100.so{setting}" for setting in ("", "?isolated=1")):
            run = campaign("--out", f"{self.out}{len(unit)}", "--targets", "dot_models", "--units", unit + ",exact", "--ops", OP, "--cases", "20000",
                           "--json")
            [contradiction] = json.loads(run.stdout)["facts"]["contradictions"]
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"{unit} differs from {hopper}, which it claims to equal", contradiction["sentence"])
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", "h100,exact", "--ops", OP, "--cases", "5000", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(hopper, json.dumps(json.loads(run.stdout)["findings"]))

    def test_a_product_is_held_to_its_claim_and_no_unit_is_left_out_of_a_short_search(self):
        pathlib.Path(self.folder.name, "zeros.py").write_text(ZEROS)
        for more, fact in ("", "claim"), (" dies", "answers"):
            unit = f"process:python3 {self.folder.name}/zeros.py{more}"
            run = campaign("--out", f"{self.out}{fact}", "--units", f"split:ootomo.fp16,{unit}", "--with", "batch", "--ops",
                           "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=2 k=4", "--cases", "300", "--json")
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            names = [found["name"] for found in json.loads(run.stdout)["facts"]["contradictions"]]
            self.assertEqual(names, [f"{fact}/{unit.replace(' ', '%20')}"])

    def test_what_was_not_compared_is_not_said_to_be_equal(self):
        for targets, said in ("dot_monotone", True), ("dot_m*", False):
            run = campaign("--out", f"{self.out}{said}", *FEW, "--targets", targets, "--cases", "300", "--units", "exact")
            self.assertIn("No case broke one.", " ".join(run.stdout.split()), run.stderr)
            self.assertEqual("Of 1 op properties alone were checked, not whether units equal others." in " ".join(run.stdout.split()), said, run.stdout)

    def test_a_plugin_with_a_bad_end_of_its_vector_loop_is_not_green(self):
        source = CRASHES_ON_NAN.replace("if (a != a || b != b) *(volatile int*)0 = 1;", "").replace("(batch->a[i] & 0xff) == 0x55", "i >= (batch->n & ~7u)")
        plugin = pathlib.Path(self.folder.name, "end.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-ffp-contract=off", "-I", ROOT, "-x", "c", "-", "-o", plugin], input=source, text=True, check=True)
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", f"plugin:{plugin}", "--ops", ADD_OP, "--cases", "20480", "--json")
        self.assertEqual([f["name"] for f in json.loads(run.stdout)["facts"]["contradictions"]], [f"claim/plugin:{plugin}"], run.stderr)
        self.assertEqual(run.returncode, 1)
        why = self.mmafuzz("why", f"plugin:{plugin}", "ieee:serial", "--op", ADD_OP, code=0)
        self.assertIn("the same case does not give the same result every time", " ".join(why.stdout.split()))

    def test_a_broken_contract_that_triage_cannot_read_is_not_green(self):
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", f"plugin:{self.broken_unit()},exact", "--ops", OP, "--cases", "60000",
                       "--no-triage")
        self.assertEqual(run.returncode, 1, run.stderr)
        broken = 0
        for segment in (self.out / "segments").iterdir():
            header, records = segment.read_bytes().split(b"\n", 1)
            records = header + b"\n" + 3 * records
            broken += records.count(b"\n# severity contract\n")
            segment.write_bytes(records.replace(b"\nproperty equals_model plugin:", b"\nproperty equals_model gone:"))
        self.assertGreater(broken, 1)
        triaged = self.mmafuzz("triage", self.out, "--json", code=1)
        said = json.loads(triaged.stdout)
        [left_out] = said["left_out"]
        self.assertEqual(left_out["records"], broken, "one reason, and each record once")
        self.assertIn("gone:", left_out["reason"])
        self.assertEqual(sum(segment.read_bytes().count(b"\n# severity ") for segment in (self.out / "segments").iterdir()), said["divergences"])
        self.assertIn(f"{broken} of them say that a contract is broken", triaged.stderr)
        self.assertIn("not all triaged", said["facts"]["inconclusive"])
        junit, store = pathlib.Path(self.folder.name, "junit.xml"), self.out / "findings.sqlite"
        self.assertNotIn("Nothing contradicts", self.mmafuzz("findings", store, code=1).stdout)
        self.mmafuzz("report", store, "--junit", junit, code=1)
        self.assertNotIn('failures="0"', junit.read_text())
        self.mmafuzz("merge", "--fail-on-new", pathlib.Path(self.folder.name, "all.sqlite"), store, code=1)

    def test_a_broken_contract_whose_segment_is_lost_is_not_green(self):
        run = campaign("--out", self.out, "--targets", "dot_models", "--units", f"plugin:{self.broken_unit()},exact", "--ops", OP, "--cases", "60000",
                       "--no-triage")
        self.assertEqual(run.returncode, 1, run.stderr)
        damages = {"emptied": lambda s: s.write_bytes(b""), "zeroed": lambda s: s.write_bytes(bytes(s.stat().st_size)), "deleted": pathlib.Path.unlink,
                   "garbage": lambda s: s.write_bytes(os.urandom(4096)), "cut off": lambda s: s.write_bytes(s.read_bytes()[:100]),
                   "deleted with its folder": lambda s: shutil.rmtree(s.parent)}
        for name, damage in damages.items():
            with self.subTest(name):
                out = shutil.copytree(self.out, f"{self.out} {name}")
                [segment] = pathlib.Path(out, "segments").iterdir()
                damage(segment)
                triaged = self.mmafuzz("triage", out, "--json", code=1)
                [left_out] = json.loads(triaged.stdout)["left_out"]
                self.assertIn("no segment", left_out["reason"])
                self.assertIn("say that a contract is broken", triaged.stderr)
                store = f"{out}/findings.sqlite"
                self.mmafuzz("report", store, "--junit", f"{out}/junit.xml", code=1)
                self.mmafuzz("merge", "--fail-on-new", f"{out}/all.sqlite", store, code=1)

    def test_triage_counts_the_records_that_it_read_and_shows_what_its_store_holds(self):
        folders = [f"{self.out}{seed}" for seed in (1, 2)]
        for seed, out in enumerate(folders, 1):
            run = campaign("--out", out, "--ops", OP, "--units", "exact,model:volta/mma.m8n8k4.f32.f16.f16.f32", "--with", "batch", "--cases", 500,
                           "--targets", "dot_models", "--seed", seed, "--no-triage")
            self.assertEqual(run.returncode, 0, run.stderr)
        records = sum(p.read_bytes().count(b"\n# severity ") for out in folders for p in pathlib.Path(out, "segments").iterdir())
        store = f"{self.out}.store"
        said = json.loads(self.mmafuzz("triage", *folders, "--deepen", "20000", "--json", "--store", store, code=0).stdout)
        self.assertEqual(said["divergences"], records, "not what triage found itself")
        held = json.loads(self.mmafuzz("findings", store, "--buckets", "--json", code=0).stdout)
        counts = lambda buckets: {b["id"]: b["count"] for b in buckets}
        self.assertEqual(counts(said["buckets"]), counts(held))

    def test_a_store_of_all_nights_knows_what_was_found_and_decided(self):
        everything, nothing_known = str(self.out) + ".all", str(self.out) + ".knowledge"
        night = lambda number, *more: campaign("--out", f"{self.out}{number}", *FEW, "--cases", "8192", "--seed", number, "--json",
                                               "--store", everything, "--knowledge", nothing_known, *more)
        facts = lambda run: {kind: {f["name"] for f in json.loads(run.stdout)["facts"][kind]} for kind in ("contradictions", "new", "known")}
        first = night(1)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertGreater(len(facts(first)["new"]), 3)
        self.assertFalse([name for name in facts(first)["known"] if "ieee" in name or "/" in name], "rows speak of rows and of exact sums")
        second = facts(night(2))
        self.assertEqual(second["new"] & facts(first)["new"], set())
        self.assertGreater(len(second["known"] & facts(first)["new"]), 3)
        again = facts(night(1, "--resume"))
        self.assertEqual(again["new"] & second["known"], set(), "both nights found them")
        findings = lambda *arguments: subprocess.run([MMAFUZZ, "findings", *arguments], capture_output=True, text=True, check=True).stdout
        buckets = json.loads(findings(f"{self.out}2/findings.sqlite", "--buckets", "--json"))
        findings(everything, "--set", buckets[0]["id"] + "=expected", "--note", "it must be so")
        self.assertEqual(night(2, "--resume").returncode, 0)
        there = json.loads(findings(f"{self.out}2/findings.sqlite", "--buckets", "--json"))
        self.assertEqual([b["status"] for b in there if b["id"] == buckets[0]["id"]], ["expected"])
        of_now = json.loads(findings(everything, "--json", "--since", "1h", "--knowledge", nothing_known))
        parts = lambda names: {part for name in names for part in name.split("+")}  # what one night combines, two may divide
        self.assertEqual(parts(f["name"] for f in of_now["new"] + of_now["known"]),
                         parts(facts(first)["new"] | facts(first)["known"] | second["new"] | second["known"]))
        later = json.loads(findings(everything, "--json", "--since", "2999-01-01", "--knowledge", nothing_known))
        self.assertEqual(later["new"] + later["known"] + later["contradictions"], [])

    def test_only_ops_that_ran_can_have_missed_something(self):
        run = campaign("--out", self.out, "--time", "1", "--jobs", "1", "--with", "batch", "--targets", "dot_models", "--json")
        summary = json.loads(run.stdout)
        ran = {field["label"] for field in summary["fields"] if field["cases"]}
        self.assertLess(len(ran), len(summary["fields"]), "a second is too short for all of them")
        self.assertLessEqual({fact["example"].split(" on ")[1] for fact in summary["facts"]["unseen"]}, ran)
        self.assertIn("; facts: 0 contradictions, ", run.stderr)

    def test_a_terminal_shows_a_panel_of_80_columns(self):
        parent, child = pty.openpty()
        process = subprocess.Popen([MMAFUZZ, "campaign", "--out", str(self.out), *FEW, "--time", "4", "--jobs", "2"], stdout=subprocess.DEVNULL,
                                   stderr=child, env={**os.environ, "TERM": "xterm"})
        os.close(child)
        text = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        os.close(parent)
        self.assertEqual(process.wait(), 0)
        screens = text.decode().replace("\r", "").split("\x1b[J")
        screen = re.sub(r"\x1b\[[0-9]*[AJK]", "", screens[-2])
        self.assertIn("0:04 of 0:04", screen)
        for word in ("dot_models", "batch", "cases/s", "bins", "facts", "known", "last bin"):
            self.assertTrue(any(word in s for s in screens), word)
        self.assertGreater(len(screens), 4)
        self.assertLess(max(map(len, screen.split("\n"))), 80)


if __name__ == "__main__":
    MMAFUZZ = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
