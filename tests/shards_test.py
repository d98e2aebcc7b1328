#!/usr/bin/env python3
"""A campaign of shards as a user runs it: together and after each other, killed, in a folder that vanishes or is full, with a
clock that is wrong. Usage: shards_test.py MMAFUZZ [TEST...]"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from waiting import wait_for

MMAFUZZ = ""
OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"
FEW = ["--ops", OP, "--units", "exact,ieee:serial,model:hopper/mma.m16n8k16.f32.f16.f16.f32,model:volta/mma.m8n8k4.f32.f16.f16.f32",
       "--targets", "dot_models,dot_monotone", "--with", "batch", "--jobs", "1"]


class ShardsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mmafuzz-shards-test-", ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name, "out")

    def start(self, shard, *more, wrapper=(), time="3", out=None):
        limit = ["--time", time] if time else []
        call = [*wrapper, MMAFUZZ, "campaign", "--shard", shard, "--out", str(out or self.out), *limit, *FEW, *map(str, more)]
        return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended(self, process, codes=(0,)):
        out, err = process.communicate(timeout=120)
        self.assertIn(process.returncode, codes, out + err)
        return out, err

    def conclude(self, *more, codes=(0,), out=None):
        done = subprocess.run([MMAFUZZ, "campaign", "--conclude", "--out", str(out or self.out), *map(str, more)], capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, codes, done.stdout + done.stderr)
        return done

    def lines(self, text):
        return re.findall(r"^(mmafuzz: divergence .*)$", text, re.M)

    def held(self):
        return set(re.findall(r"^# (mmafuzz: divergence .*)$", (self.out / "findings.cases").read_text(), re.M))

    def said(self, text):
        """Lines of standard error that are no progress."""
        return [line for line in text.splitlines() if not re.match(r"mmafuzz: \d+:\d\d ", line)]

    def test_shards_tell_a_finding_once_and_share_what_they_find(self):
        shards = [self.start(f"{i}/3", "--verbose", time="5") for i in (1, 2, 3)]
        texts = [self.ended(s)[0] for s in shards]
        printed = [line for text in texts for line in self.lines(text)]
        self.assertEqual(len(printed), len(set(printed)))
        self.assertTrue(printed)
        # Two assignments in three parts: the second shard has a part of each, so every corpus is shared.
        for field in ("dot_models", "dot_monotone"):
            senders = sorted(self.out.glob(f"exchange/corpus/{field}/*/*.inputs"))
            self.assertEqual(len(senders), 2, senders)
        done = self.conclude()
        self.assertEqual(done.stderr.count("shards"), 0, done.stderr)
        self.assertLessEqual(set(printed), self.held())
        whole = json.loads((self.out / "summary.json").read_text())
        parts = [json.loads(p.read_text()) for p in self.out.glob("shards/*/summary.json")]
        self.assertEqual(whole["cases"], sum(p["cases"] for p in parts))
        for field in whole["fields"]:
            of_parts = [f["bins"] for p in parts for f in p["fields"] if f["target"] == field["target"]]
            self.assertGreaterEqual(field["bins"], max(of_parts))
        self.assertEqual(self.conclude().returncode, 0)  # again

    def test_same_cases_are_divided(self):
        for i in (1, 2, 3, 4):
            self.ended(self.start(f"{i}/4", "--cases", 10001, time=None))
        self.conclude()
        fields = json.loads((self.out / "summary.json").read_text())["fields"]
        self.assertEqual([f["cases"] for f in fields], [10001, 10001])

    def test_shards_of_cases_give_the_same_however_often_they_are_killed(self):
        whole, cases = self.out.with_name("whole"), ["--cases", 1500000]
        for i in (1, 2):
            self.ended(self.start(f"{i}/2", *cases, time=None, out=whole))
        self.conclude(out=whole)
        for _ in range(2):
            shard = self.start("1/2", *cases, time=None)
            folder = self.out / "shards/0001-of-0002"
            wait_for(lambda: any(re.search(r"^cases [1-9]\d{5}", p.read_text(), re.M) for p in folder.glob("workers/*.status")))
            wait_for(lambda: '"cases": 0' not in (folder / "progress.json").read_text())
            shard.kill()
            shard.communicate()
        self.conclude()  # of what there is
        for i in (1, 2):
            self.ended(self.start(f"{i}/2", *cases, time=None))
        self.conclude()
        self.assertEqual(*[json.loads((out / "summary.json").read_text())["cases"] for out in (whole, self.out)])
        self.assertEqual(*[(out / "findings.cases").read_text() for out in (whole, self.out)])
        self.assertEqual(*[json.loads((out / "summary.json").read_text())["divergences"] for out in (whole, self.out)])

    def test_a_stopped_shard_goes_on_and_a_killed_one_too(self):
        shard = self.start("1/2", "--verbose", time="6")
        wait_for(lambda: (self.out / "shards/0001-of-0002/progress.json").exists())
        shard.send_signal(signal.SIGTERM)
        first, err = self.ended(shard, (130,))
        self.assertIn("was stopped after", err)
        shard = self.start("1/2", "--verbose", time="6")
        time.sleep(2)
        other = self.start("1/2", "--verbose", time="6")
        _, err = self.ended(other, (2,))
        self.assertEqual(len(self.said(err)), 1, err)
        self.assertIn("a shard has one process at a time", err)
        shard.kill()
        second = shard.communicate()[0]
        note = self.conclude("--no-triage", codes=(2,)).stderr  # a wrong combination
        self.assertEqual(note.count("\n"), 1)
        note = self.conclude().stderr
        self.assertIn("1 of 2 shards have not begun: 0002-of-0002", note)
        self.assertIn("1 of 2 shards are not at their end: 0001-of-0002", note)
        third = self.ended(self.start("1/2", "--verbose", time="6"))[0]
        progress = json.loads((self.out / "shards/0001-of-0002/progress.json").read_text())
        self.assertLess(progress["elapsed"], 8)  # the rest of its time, not all again
        self.conclude()
        printed = [line for text in (first, second, third) for line in self.lines(text)]
        self.assertEqual(len(printed), len(set(printed)))
        self.assertLessEqual(set(printed), self.held())

    def test_who_was_taken_over_notices_and_writes_to_files_of_its_own(self):
        elsewhere = ["unshare", "--uts", "sh", "-c", 'hostname elsewhere && exec "$@"', "sh"]
        if subprocess.run([*elsewhere, "true"], capture_output=True).returncode != 0:
            self.skipTest("only root can give a process a host name of its own")
        folder = self.out / "shards/0001-of-0002"
        first = self.start("1/2", "--verbose", time="60")
        wait_for(lambda: (folder / "progress.json").exists() and list(folder.glob("segments/*.cases")))
        first.send_signal(signal.SIGSTOP)  # as if cut off; its worker writes on
        own = set(folder.glob("segments/*.cases"))
        second = self.start("1/2", "--verbose", time="60", wrapper=elsewhere)
        wait_for(lambda: set(folder.glob("segments/*.cases")) > own, 30)
        first.send_signal(signal.SIGCONT)
        out, err = self.ended(first, (130,))
        self.assertEqual(len([one for one in self.said(err) if "another process took" in one]), 1, err)
        self.assertTrue(set(folder.glob("segments/*.cases")) > own)
        second.send_signal(signal.SIGTERM)
        out += self.ended(second, (130,))[0]
        self.conclude()
        printed = self.lines(out)
        self.assertEqual(len(printed), len(set(printed)))
        self.assertLessEqual(set(printed), self.held())

    def test_shards_agree(self):
        self.ended(self.start("1/2", time="1"))
        for more, says in ((["--seed", 2], "seed 1, not 2"), (["--memory", 64], None)):
            out, err = self.ended(self.start("2/2", *more, time="1"), (0,) if says is None else (2,))
            if says:
                self.assertEqual(err.count("\n"), 1, err)
                self.assertIn(says, err)
                self.assertFalse((self.out / "shards/0002-of-0002").exists())
        for call, says in ((("--shard", "3/2"), "from 1 to N"), (("--shard", ""), "from 1 to N"), (("--shard", "1/2", "--resume"), "takes no --resume"),
                           (("--resume",), "give --shard I/2 or --conclude"), (("--conclude", "--seed", "3"), "takes no --seed")):
            done = subprocess.run([MMAFUZZ, "campaign", "--out", self.out, *call], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(says, done.stderr)
        plain = self.out.with_name("plain")
        subprocess.run([MMAFUZZ, "campaign", "--out", plain, "--cases", "64", "--no-triage", *FEW], capture_output=True, check=True)
        self.assertIn("without shards", self.ended(self.start("1/2", out=plain), (2,))[1])

    def test_without_rights_in_the_folder_one_line_says_so(self):
        if os.geteuid() != 0:
            self.skipTest("only root can run a shard as somebody else")
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*other, MMAFUZZ, "--version"], capture_output=True, cwd="/").returncode != 0:
            self.skipTest("nobody else can run this build")
        pathlib.Path(self.folder.name).chmod(0o755)
        self.ended(self.start("1/2", time="1"))
        dark = self.out.with_name("dark")
        shutil.copytree(self.out, dark)
        dark.chmod(0o700)
        for out in (self.out, dark):
            for call in (["--shard", "2/2", "--time", "1", *FEW], ["--conclude"]):
                done = subprocess.run([*other, MMAFUZZ, "campaign", "--out", out, *call], capture_output=True, text=True, cwd="/")
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertRegex(done.stderr, rf"^mmafuzz: .*{out}.*: Permission denied$")
        self.assertEqual([p.name for p in (self.out / "shards").iterdir()], ["0001-of-0002"])

    def test_an_exchange_that_vanishes_is_said_once(self):
        shard = self.start("1/2", time="6")
        wait_for(lambda: (self.out / "shards/0001-of-0002/progress.json").exists())
        shutil.rmtree(self.out / "exchange")
        out, err = self.ended(shard)
        self.assertEqual(len([one for one in self.said(err) if "no exchange with other shards for now" in one]), 1, err)
        self.assertEqual(len(self.said(err)), 1, err)
        self.conclude()

    def test_a_folder_that_vanishes_ends_the_shard_with_one_line(self):
        shard = self.start("1/2", time="30")
        wait_for(lambda: (self.out / "shards/0001-of-0002/progress.json").exists())
        self.out.rename(self.out.with_name("gone"))
        out, err = self.ended(shard, (2,))
        self.assertEqual(len([one for one in self.said(err) if "cannot" in one]), 1, err)
        self.out.with_name("gone").rename(self.out)  # a server that came back: what was told is there
        self.conclude()
        self.assertLessEqual(set(self.lines(out)), self.held())

    def test_a_clock_that_is_an_hour_off_changes_nothing(self):
        if not shutil.which("faketime"):
            self.skipTest("no faketime (Debian: apt-get install faketime)")
        ahead = ["faketime", "-f", "+3600s"]
        shards = [self.start("1/2", "--verbose", time="4"), self.start("2/2", "--verbose", wrapper=ahead, time="4")]
        printed = [line for s in shards for line in self.lines(self.ended(s)[0])]
        self.assertEqual(len(printed), len(set(printed)))
        self.conclude()
        self.assertLessEqual(set(printed), self.held())
        self.assertEqual(len(list(self.out.glob("shards/*/summary.json"))), 2)

    def test_the_same_array_runs_under_gnu_parallel(self):
        if not shutil.which("parallel"):
            self.skipTest("no GNU parallel (Debian: apt-get install parallel)")
        script = pathlib.Path(__file__).resolve().parent.parent / "ci/cluster/parallel"
        call = [script, self.out, "3", "--time", "5", *FEW, "--verbose", "--store", self.out.with_name("nights.sqlite"), "--", "--jobs", "3"]
        process = subprocess.Popen(list(map(str, call)), env=dict(os.environ, MMAFUZZ=MMAFUZZ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        owner = self.out / "shards/0002-of-0003/owner"
        wait_for(lambda: (self.out / "shards/0002-of-0003/progress.json").exists())
        for _ in range(4):
            first = owner.read_text().split()
            os.kill(int(first[2]), signal.SIGKILL)
            wait_for(lambda: owner.read_text().split()[4:5] != first[4:5])  # parallel has started it again
        out, err = self.ended(process)
        printed = self.lines(out)
        self.assertTrue(printed)
        self.assertEqual(len(printed), len(set(printed)))
        self.assertLessEqual(set(printed), self.held())
        self.assertEqual(len(list(self.out.glob("shards/*/summary.json"))), 3)
        self.assertNotIn("not at their end", err)
        self.assertTrue(self.out.with_name("nights.sqlite").exists())

    def test_the_array_runs_where_it_was_submitted(self):
        tools = pathlib.Path(self.folder.name, "tools")
        tools.mkdir()
        sbatch = tools / "sbatch"  # stands for Slurm: runs a job at once, the tasks of an array one after the other
        sbatch.write_text("""#!/bin/bash
echo "$*" >>calls
tasks=
while [[ $1 == --* ]]; do
  case $1 in --array=1-*) tasks=${1#--array=1-} ;; --output=*) log=${1#--output=} ;; esac
  shift
done
for i in $(seq "${tasks:-1}"); do
  SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=$tasks bash "$@" >>"$log" 2>&1 </dev/null
done
echo 7
""")
        sbatch.chmod(0o755)
        script = pathlib.Path(__file__).resolve().parent.parent / "ci/cluster/submit"
        here = pathlib.Path(self.folder.name)
        (here / "known").mkdir()
        call = [script, "out", "2", "--time", "1", "--store=nights.sqlite", "--knowledge", "known", *FEW, "--fail-on", "semantic", "--minimize", "--", "--nice"]
        done = subprocess.run(call, cwd=here, env=dict(os.environ, MMAFUZZ=MMAFUZZ, PATH=f"{tools}:{os.environ['PATH']}"), capture_output=True, text=True)
        logs = "".join(p.read_text() for p in self.out.glob("*.log"))
        self.assertEqual((done.returncode, done.stdout), (0, f"array 7 of 2 shards, end 7: {self.out}\n"), done.stderr)
        array, end = (here / "calls").read_text().splitlines()
        self.assertIn("--nice", array)
        self.assertIn("--knowledge known", array)
        self.assertTrue(end.endswith("--store=nights.sqlite --knowledge known --fail-on semantic --minimize"), end)
        for name in ("nights.sqlite", "out/report.html", "out/report.sarif", "out/junit.xml", "out/corpus.min"):
            self.assertTrue((here / name).exists(), name + logs)
        self.assertEqual(len(list(self.out.glob("shards/*/summary.json"))), 2, logs)
        for more in (["--store"], ["--knowledge"]):
            done = subprocess.run([script, "other", "2", *more], cwd=here, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (2, f"{more[0]} needs a value\n"))
        for each in (script, script.with_name("parallel")):
            for number in ("0", "x", "-1"):
                done = subprocess.run([each, "other", number], cwd=here, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (2, f"{number} is no number of shards\n"))
            done = subprocess.run([each, "other", "2", "--store", "--", "--nice"], cwd=here, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (2, "--store needs a value\n"))

    def test_a_full_disk_is_one_line_and_loses_nothing(self):
        disk = pathlib.Path(self.folder.name, "disk")
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True).returncode != 0:
            self.skipTest("only root can mount a small file system")
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)])
        self.out = disk / "out"
        shard = self.start("1/2", "--verbose", time="30")
        out, err = self.ended(shard, (2,))
        printed = set(self.lines(out))
        said = self.said(err)
        self.assertEqual(len(said), 1, err)
        self.assertRegex(said[0], "No space left|disk is full")
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)  # somebody made room
        shard = self.start("1/2", "--verbose", time="30")
        time.sleep(4)
        shard.send_signal(signal.SIGTERM)
        self.ended(shard, (0, 130))  # 0: the disk was full near the end of its time
        self.conclude()
        self.assertTrue(printed)
        self.assertLessEqual(printed, self.held())


if __name__ == "__main__":
    MMAFUZZ = os.path.abspath(sys.argv.pop(1))
    unittest.main()
