#!/usr/bin/env python3
"""A unit that answers nothing is never green: the command names it and ends with 2. Its share is said where it answers some.
Usage: silent_units_test.py MMAFUZZ"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

MMAFUZZ = os.path.abspath(sys.argv[1])
FALSE = pathlib.Path(__file__).with_name("false_process.py")
OP = "scalar add format=fp16"
CASES = f"mmafuzz-cases 1\nop {OP}\n0001 3c00 | 3c00\n7e00 3c00 | 7e00\n"
COMMANDS = {
    "fuzz": ["fuzz", "--op", OP, "--units", "UNIT,exact", "--cases", "2000"],
    "why": ["why", "UNIT", "exact", "--op", OP],
    "check": ["check", "--unit", "UNIT", "two.cases"],
    "eval": ["eval", "--unit", "UNIT", "two.cases"],
    "eval of a typed case": ["eval", "UNIT", "--op", OP, "--case", "0001 3c00"],
    "record": ["record", "--unit", "UNIT", "two.cases"],
    "minimize": ["minimize", "--units", "UNIT,exact", "two.cases"],
    "explain": ["explain", "two.cases", "--units", "UNIT,exact"],
    "bench": ["bench", "rate", "--op", OP, "--units", "UNIT"],
    "campaign": ["campaign", "--units", "UNIT,exact", "--ops", OP, "--targets", "scalar", "--cases", "5000", "--out", "campaign"],
    "campaign without triage": ["campaign", "--units", "UNIT,exact", "--ops", OP, "--targets", "scalar", "--cases", "5000", "--out", "untriaged", "--no-triage"],
}


class SilentUnitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mmafuzz-silent-units-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "two.cases").write_text(CASES)
        (self.folder / "other.cases").write_text(f"mmafuzz-cases 1\nop {OP}\n1234 5678 | 0000\n")

    def run_it(self, name, unit, *more):
        done = subprocess.run([MMAFUZZ, *[a.replace("UNIT", unit) for a in COMMANDS[name]], *more], capture_output=True, text=True, cwd=self.folder, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_a_process_that_answers_nothing_ends_every_command_with_2_and_its_name(self):
        for name in COMMANDS:
            with self.subTest(name):
                code, out, err = self.run_it(name, f"process:python3 {FALSE} knows_nothing text exact")
                self.assertEqual(code, 2, out + err)
                self.assertRegex(err.splitlines()[-1], "^mmafuzz: process:python3.*knows_nothing.* answered none of [0-9]+ cases?")
                self.assertNotIn("They agree", out)

    def test_what_a_campaign_leaves_behind_is_not_green(self):
        for unit in f"process:python3 {FALSE} knows_nothing text exact", "recorded:other.cases":
            for name, store in ("campaign", "campaign/findings.sqlite"), ("campaign without triage", "untriaged/findings.sqlite"):
                code, out, err = self.run_it(name, unit)
                self.assertNotIn("Nothing contradicts", out)
                self.assertNotIn("identify --unit", out)
                if name == "campaign":
                    self.assertIn("Nothing can be concluded", out)
                for after in (["triage", str(pathlib.Path(store).parent)], ["findings", store], ["report", store, "--junit", "junit.xml"],
                              ["merge", "--fail-on-new", "all.store", store]):
                    with self.subTest(unit=unit, after=after):
                        done = subprocess.run([MMAFUZZ, *after], capture_output=True, text=True, cwd=self.folder, timeout=120)
                        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                        self.assertRegex(done.stdout + done.stderr, "answered none of [0-9]+ cases?")
                        self.assertNotIn("Nothing contradicts", done.stdout)
                suite = (self.folder / "junit.xml").read_text()
                self.assertIn("answered none of", suite)
                self.assertNotRegex(suite, "<testcase [^>]*(knows_nothing|recorded:)[^>]*>\n    <system-out>", "none of its own passes")
                for gone in "campaign", "untriaged":
                    shutil.rmtree(self.folder / gone, ignore_errors=True)

    def test_a_recording_without_the_cases_is_no_agreement(self):
        for name in COMMANDS:
            with self.subTest(name):
                code, out, err = self.run_it(name, "recorded:other.cases")
                self.assertEqual(code, 2, out + err)
                self.assertRegex(err.splitlines()[-1], "^mmafuzz: recorded:other.cases.* answered none of [0-9]+ cases?")

    def test_a_recording_of_no_answer_leaves_no_file(self):
        code, out, err = self.run_it("record", "recorded:other.cases", "-o", "answers.cases")
        self.assertEqual(code, 2, out + err)
        self.assertFalse((self.folder / "answers.cases").exists())

    def test_a_claim_to_equal_what_answers_nothing_is_not_kept(self):
        for name in "fuzz", "campaign without triage":
            with self.subTest(name):
                code, out, err = self.run_it(name, f"process:python3 {FALSE} well text recorded:other.cases")
                self.assertEqual(code, 2, out + err)
                self.assertRegex(err.splitlines()[-1], "^mmafuzz: recorded:other.cases.* answered none of")

    def test_the_share_of_a_unit_that_answers_some_is_said(self):
        for name, more in ("check", []), ("eval", []), ("eval", ["--json"]):
            with self.subTest(name):
                (self.folder / "one.cases").write_text(f"mmafuzz-cases 1\nop {OP}\n0001 3c00 | 3c00\n")
                code, out, err = self.run_it(name, "recorded:one.cases", *more)
                self.assertEqual(code, 0, out + err)
                self.assertEqual(err, f"mmafuzz: recorded:one.cases on 'op {OP} round=nearest_even' answered 1 of 2 cases\n")

    def test_a_unit_that_is_silent_on_one_of_two_ops_is_named(self):
        other = "op scalar mul format=fp16"
        (self.folder / "two.cases").write_text(f"{CASES}{other}\n0001 3c00 | 0001\n")
        (self.folder / "one.cases").write_text(f"{CASES}{other}\n3c00 3c00 | 3c00\n")
        for name, more in ("check", []), ("check", ["--json"]), ("eval", []):
            with self.subTest(name):
                code, out, err = self.run_it(name, "recorded:one.cases", *more)
                self.assertEqual(code, 2, out + err)
                self.assertIn(f"recorded:one.cases on '{other} round=nearest_even' answered none of 1 case: nothing was compared", err)

    def test_identify_does_not_name_it(self):
        op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
        done = subprocess.run([MMAFUZZ, "identify", "--brief", "--op", op, "--unit", f"process:python3 {FALSE} knows_nothing"], capture_output=True, text=True,
                              cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        self.assertIn("answered 0 of", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
