"""Rows of one's own on the command line: saved by `identify`, and each used on its own op.
Usage: rows_test.py MMAFUZZ"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

MMAFUZZ = ""
HALF = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
BFLOAT = "dot a=bf16 b=bf16 c=fp32 d=fp32 k=4"
ROW = "model:custom?kernel=fused_sum,k=4,block=4,fraction_bits=23,output_rounding=toward_zero"
OTHER = "model:custom?kernel=fused_sum,k=4,block=4,fraction_bits=25,output_rounding=toward_zero"
VOLTA = ["--unit", "twin:volta/mma.m8n8k4.f32.f16.f16.f32", "--op", HALF, "--verify", "300", "--brief"]


class RowsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rows = self.folder / "my rows"

    def run_it(self, *arguments):
        return subprocess.run([MMAFUZZ, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=self.folder)

    def refused(self, *arguments, says):
        done = self.run_it(*arguments)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(done.stdout, "")

    def two_rows(self):
        self.rows.write_text(f"mmafuzz-rows 1\nop {HALF}\na {ROW}\nop {BFLOAT}\na {OTHER}\n")

    def test_the_command_that_save_prints_runs(self):
        done = self.run_it("identify", *VOLTA, "--save", self.rows, "--as", "mychip")
        self.assertEqual(done.returncode, 0, done.stderr)
        command = shlex.split(done.stdout.splitlines()[-1].partition(": ")[2])
        self.assertIn("fuzz", command)
        searched = self.run_it(*command[1:], "--cases", 500)
        self.assertIn(searched.returncode, (0, 1), searched.stderr)
        self.assertIn("model:custom", searched.stdout)

    def test_time_that_is_over_names_nothing(self):
        op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=9"
        for seconds in "0.01", "0.5":
            done = self.run_it("identify", "--unit", "ieee:pairwise", "--op", op, "--time", seconds, "--json")
            said = json.loads(done.stdout)
            if said["verdict"] == "identified":
                self.assertEqual(said["unit"], "ieee:pairwise")
                self.assertGreaterEqual(said["verified"], 256)
            else:
                self.assertEqual(done.returncode, 4, done.stdout)

    def test_verified_cases_are_counted_once(self):
        done = self.run_it("identify", *VOLTA, "--json")
        said = json.loads(done.stdout)
        self.assertEqual(said["verified"], 300)
        self.assertLessEqual(said["verification"]["guided"], 300)

    def test_what_cannot_be_saved_is_refused_before_the_unit_is_asked(self):
        self.refused("identify", *VOLTA, "--save", self.rows, "--as", "op", says="begins an op line")
        self.refused("identify", *VOLTA, "--save", self.rows, "--as", "a", "--order", says="--order")
        self.refused("identify", *VOLTA, "--save", self.rows, "--as", "a", "--ask", "q", says="--ask")
        self.refused("identify", *VOLTA, "--save", "no/such/folder", "--as", "a", says="cannot be written")
        self.refused("identify", *VOLTA, "--save", "", "--as", "a", says="is empty")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing_identified_is_not_saved(self):
        answers = self.folder / "few.cases"
        answers.write_text(f"mmafuzz-cases 1\nop {HALF}\n" + " ".join(["0000"] * 4) + " | " + " ".join(["0000"] * 4) + " | 00000000 | 00000000\n")
        done = self.run_it("identify", "--brief", "--answers", answers, "--save", self.rows, "--as", "a")
        self.assertIn(done.returncode, (1, 4), done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "not saved: nothing was identified")
        self.assertFalse(self.rows.exists())

    def test_serve_answers_with_the_row_of_the_op(self):
        self.two_rows()
        self.rows.rename(self.folder / "my.rows")
        served = f"process:{MMAFUZZ} serve --rows {self.folder}/my.rows a"
        for op, same in (HALF, ROW), (BFLOAT, OTHER):
            done = self.run_it("fuzz", "--op", op, "--units", f"{served},{same}", "--cases", 2000)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.run_it("fuzz", "--op", HALF.replace("fp16", "tf32"), "--units", f"{served},exact", "--cases", 10)
        self.assertEqual(done.returncode, 2)
        self.assertIn("no row of a is for", done.stderr)

    def test_record_writes_the_whole_name_for_each_op(self):
        self.two_rows()
        cases = self.folder / "in.cases"
        line = lambda one: " ".join([one] * 4) + " | " + " ".join([one] * 4) + " | 00000000\n"
        cases.write_text(f"mmafuzz-cases 1\nop {HALF}\n{line('3c00')}op {BFLOAT}\n{line('3f80')}")
        done = self.run_it("record", "--rows", self.rows, "--unit", "a", cases)
        self.assertEqual(done.returncode, 0, done.stderr)
        units = [text[5:] for text in done.stdout.splitlines() if text.startswith("unit ")]
        self.assertEqual(units, [ROW, OTHER])

    def test_prove_takes_the_op_of_the_row(self):
        self.two_rows()
        done = self.run_it("prove", "equal", "--rows", self.rows, "a", "no_such_row")
        self.assertEqual(done.returncode, 2)
        if "no solver to ask" in done.stderr:
            self.skipTest("no solver is installed")
        self.assertIn("no_such_row", done.stderr)
        self.assertNotIn("name one with --op", done.stderr)

    def test_sweep_takes_one_row(self):
        self.two_rows()
        self.refused("sweep", "--rows", self.rows, "--unit", "a", "--cases", 4096, says=f"give --op with one of '{HALF}', '{BFLOAT}'")
        self.refused("sweep", "--unit", ROW.replace("custom", "volta/mma.m8n8k4.f32.f16.f16.f32"), "--op", HALF, "--cases", 4096, says="--op chooses")
        done = self.run_it("sweep", "--rows", self.rows, "--unit", "a", "--op", BFLOAT, "--cases", 4096, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(OTHER, done.stdout)


if __name__ == "__main__":
    MMAFUZZ = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
