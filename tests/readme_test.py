#!/usr/bin/env python3
"""Runs every command that the README and other pages show and compares its output with what they say, to the letter.

Commands stand in ```console blocks behind "$ "; what follows is their output, "..." stands for any lines. The two
scripts of the first section are run by ci/run-tests itself (it is one of them, and it runs the other)."""
import pathlib
import re
import subprocess
import sys

RUN_BY_CI = {"ci/run-tests", "ci/run-campaign"}


def blocks(text):
    return re.findall(r"```console\n(.*?)```", text, re.S)


def commands(block):
    command, output = None, []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, output
            command, output = line[2:], []
        else:
            output.append(line)
    if command is not None:
        yield command, output


def matches(expected, got):
    pattern = "".join(".*" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, got, re.S) is not None


def main(binary, readme, *pages):
    root = pathlib.Path(readme).resolve().parent
    tried = failed = 0
    seen_by_ci = set()
    for page in (readme, *pages):
        for block in blocks(pathlib.Path(page).read_text()):
            for command, expected in commands(block):
                if command in RUN_BY_CI:
                    seen_by_ci.add(command)
                    if not (root / command).stat().st_mode & 0o100:
                        failed += 1
                        print(f"{command} is not executable")
                    continue
                tried += 1
                run = command.replace("build/release/mmafuzz", binary)
                result = subprocess.run(["bash", "-c", run], cwd=root, capture_output=True, text=True, check=False)
                got = result.stdout + result.stderr
                if not matches(expected, got):
                    failed += 1
                    print(f"{page}\n$ {command}\n--- it says\n" + "\n".join(expected) +
                          f"\n--- got (exit {result.returncode})\n{got}")
    if seen_by_ci != RUN_BY_CI:
        failed += 1
        print("the README does not show", RUN_BY_CI - seen_by_ci)
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
