#!/usr/bin/env python3
"""Runs every command that the README and other pages show and compares its output with what they say, to the letter.

Commands stand in ```console blocks behind "$ "; what follows is their output, "..." stands for any lines. The two
scripts of the first section are run by ci/run-tests itself (it is one of them, and it runs the other). Of commands that
stand within a sentence or a table, the subcommand and its options must be there."""
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


def mentioned(text):
    """Words of each `mmafuzz SUBCOMMAND ...` in a code span."""
    for span in re.findall(r"`(?:build/release/)?mmafuzz ([a-z][^`]*)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        yield span.replace("\\|", "|").split("|")[0].split()


def unknown_words(binary, text, known):
    """Subcommands and options that a text mentions and --help does not know."""
    for words in mentioned(text):
        command = [words[0]]
        if len(words) > 1 and words[0] in ("bench", "prove") and re.fullmatch("[a-z-]+", words[1]):
            command.append(words[1])
        key = tuple(command)
        if key not in known:
            help_text = subprocess.run([binary, *command, "--help"], capture_output=True, text=True, check=False)
            known[key] = set(re.findall(r"--[a-z][a-z-]*", help_text.stdout)) if help_text.returncode == 0 else None
        if known[key] is None:
            yield f"mmafuzz {' '.join(command)}"
            continue
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", " ".join(words)):
            if option not in known[key]:
                yield f"mmafuzz {' '.join(command)} {option}"


def matches(expected, got):
    pattern = "".join(".*" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, got, re.S) is not None


def main(binary, readme, *pages):
    root = pathlib.Path(readme).resolve().parent
    tried = failed = 0
    seen_by_ci, known = set(), {}
    for page in (readme, *pages):
        for unknown in unknown_words(binary, pathlib.Path(page).read_text(), known):
            failed += 1
            print(f"{page} mentions `{unknown}`, which --help does not know")
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
    if len(known) < 15:
        failed += 1
        print(f"few subcommands are mentioned: {known.keys()}")
    print(f"{tried} commands run, {len(known)} subcommands mentioned, {failed} failed")
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
