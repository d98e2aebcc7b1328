#!/usr/bin/env python3
"""A plugin that prints, crashes, ends its process or loops does it to its own process: the command goes on, says so and is not green.
Usage: plugin_ends_test.py MMAFUZZ BAD_PLUGIN"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from waiting import wait_for

MMAFUZZ, PLUGIN = map(os.path.abspath, sys.argv[1:3])
OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
CASE = "3c00 3c00 3c00 3c00 | 0001 0001 0001 0001 | 3f800000"
UNIT = f"plugin:{PLUGIN}"
COMMANDS = {
    "fuzz": ["fuzz", "--op", OP, "--units", "UNIT,exact", "--cases", "2000"],
    "check": ["check", "--unit", "UNIT", "one.cases"],
    "eval": ["eval", "--unit", "UNIT", "one.cases"],
    "eval of a typed case": ["eval", "UNIT", "--op", OP, "--case", CASE],
    "explain": ["explain", "one.cases", "--units", "UNIT,exact"],
    "minimize": ["minimize", "one.cases", "--units", "UNIT,exact"],
    "why": ["why", "UNIT", "exact", "--op", OP],
    "identify": ["identify", "--brief", "--unit", "UNIT", "--op", OP, "--time", "2"],
    "bench": ["bench", "rate", "--op", OP, "--units", "UNIT"],
    "campaign": ["campaign", "--units", "UNIT,exact", "--ops", OP, "--targets", "dot_models", "--cases", "5000", "--out", "OUT"],
}


class PluginEndsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="mmafuzz-plugin-ends-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "one.cases").write_text(f"mmafuzz-cases 1\nop {OP}\n{CASE} | 3f800002\n")

    def start(self, does, arguments, unit=UNIT):
        words = [a.replace("UNIT", unit).replace("OUT", f"{does}.out") for a in arguments]
        return subprocess.Popen([MMAFUZZ, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                                env={**os.environ, "BAD_PLUGIN": does})

    def run_it(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def test_no_command_is_green_where_a_unit_crashes_or_ends_its_process(self):
        for does, said in ("crash", "it died of Segmentation fault"), ("exit", "it exited with code 0"), ("_exit", "it exited with code 0"):
            for name, arguments in COMMANDS.items():
                with self.subTest(f"{name}: {does}"):
                    code, out, err = self.run_it(does, arguments)
                    self.assertEqual(code, 4 if name == "identify" else 1, out + err)
                    if name != "campaign":
                        self.assertIn(said, err)

    def test_no_command_is_green_where_a_unit_ends_the_process_that_it_shares(self):
        for does in "exit", "_exit":
            for name, arguments in COMMANDS.items():
                with self.subTest(f"{name}: {does}"):
                    code, out, err = self.run_it(does, arguments, UNIT + "?isolated=0")
                    self.assertEqual(code, 2, out + err)
                    self.assertIn("mmafuzz: a unit ended this process", err)

    def test_a_worker_that_a_unit_ended_unseen_is_a_crash(self):
        code, out, err = self.run_it("system call", [*COMMANDS["campaign"], "--no-triage"], UNIT + "?isolated=0")
        self.assertEqual(code, 1, out + err)
        self.assertIn("mmafuzz: crash dot_models", out)
        self.assertIn("exit code 0\n", out)

    def test_what_a_unit_prints_is_in_no_output(self):
        for name in "fuzz", "check", "eval", "explain", "why", "bench":
            with self.subTest(name):
                code, out, err = self.run_it("print", [*COMMANDS[name], "--json"])
                self.assertIn("what a plugin prints", err)
                json.loads(out)

    def test_a_unit_that_loops_ends_with_a_killed_command(self):
        process = self.start("hang", COMMANDS["fuzz"])
        self.addCleanup(process.communicate)

        def served():
            found = []
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                except OSError:
                    continue
                if state != "Z" and words[1:3] == [b"serve", os.fsencode(UNIT + "?isolated=0")]:
                    found.append(entry)
            return found

        wait_for(served)
        process.kill()
        wait_for(lambda: not served(), 5)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
