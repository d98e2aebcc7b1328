#!/usr/bin/env python3
"""Runs every command that the README and other pages show.

Commands in ```console blocks stand behind "$ "; what follows is their output, to the letter, "..." stands for any lines. The two
scripts of the first section are run by ci/run-tests itself (it is one of them, and it runs the other). Commands in other blocks and
within sentences and tables are run in a scratch folder that has the files that the pages speak of: smaller where they would take
long (SMALLER), with a name where a page has a placeholder, and not at all where they want a device (NOT_HERE) or are a word of their
own (`mmafuzz fuzz`). They end with exit code 0, or with what CODES says. What a page says in a table behind a command, "prints `...`", is in
its output. Of notes, which are of single days, subcommands and options must exist."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

RUN_BY_CI = {"ci/run-tests", "ci/run-campaign"}

OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"
ROW = "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
PLACES = {"UNIT": ROW, "U": ROW, "V": f"'{ROW}?fraction_bits=24'", "OP": f"'{OP}'", "STORE": "night/findings.sqlite", "N": "64", "WIDTH": "10"}
SMALLER = {"--time 10m": f"--cases 2048 --targets dot_models --ops '{OP}'", "--time 8h": f"--cases 2048 --targets dot_models --ops '{OP}'", "fuzz --op any": "fuzz --op any --ops 20",
           "--all --seconds 0.05": "--units h100 --seconds 0.01", "/tmp/first": "first", "/shared/": "shared/", "--out night": "--out tried", "--shard 3/8": "--shard 1/1",
           "accuracy a.npy b.npy": "accuracy doubles/a.npy doubles/b.npy", "on=model:volta/mma.m8n8k4.f32.f16.f16.f32' product": "' doubles/product",
           "property NAME": "property sign_symmetry", "mutants FILE": "mutants mutants.txt"}
# What wants a device, or has an ellipsis.
NOT_HERE = re.compile(r"cuda:|mmafuzz (survey|record|serve)\b|\.\.\.")
# A subcommand, with an option perhaps, is a word of a sentence; the lists need no more.
WORD = re.compile(r"mmafuzz (?!list|catalogue|--)([\w-]+|(bench|prove) [\w-]+)( --[a-z-]+)?")


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


def written(text):
    """Commands in sentences, tables and blocks without output; what the text says that each prints, and its exit code."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.S | re.M):
        for line in re.sub(r"\\\n\s*", "", block).splitlines() if language in ("", "sh") else ():
            command, _, remark = line.partition("  #")
            if re.match(r"(build/release/)?mmafuzz ", command):
                yield command.strip(), re.findall("prints ([^;]+)", remark), int((re.findall(r"exit code (\d)", remark) or [0])[0])
    spans = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    for span, said, code in re.findall(r"`((?:build/release/)?mmafuzz [a-z-][^`]*|testfloat_gen [^`]*)`"
                                       r"((?:,? (?:prints|and) `[^`]*`)*)(?: \(exit code (\d)\))?", spans):
        yield " ".join(span.replace("\\|", "|").split()), re.findall("`([^`]*)`", said), int(code or 0)


class Desk:
    """A scratch folder with the files that pages speak of."""

    def __init__(self, binary, root, folder):
        self.folder = pathlib.Path(folder)
        self.env = dict(os.environ, PATH=f"{folder}/bin:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
        build = pathlib.Path(binary).resolve().parent
        for target, name in ((binary, "bin/mmafuzz"), (binary, "build/release/mmafuzz"), (root / "examples", "examples"), (root / "bench", "bench"),
                             (build / "tests/truncating_dot.so", "truncating_dot.so"), (build / "tests/verilog/fused_dot", "obj/fused_dot")):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).symlink_to(pathlib.Path(target).resolve())
        shutil.copytree(root / "corpus", self.folder / "corpus")
        shutil.copy(root / "corpus/examples/three_generations.cases", self.folder / "cases.cases")
        (self.folder / "mutants.txt").write_text(ROW + "?fraction_bits=24\n")
        (self.folder / "bin/testfloat_gen").write_text("echo 3FF0000000000000 3FF0000000000000 4000000000000000 00\n")
        (self.folder / "bin/testfloat_gen").chmod(0o755)
        (self.folder / "q.py").write_text("import numpy as np\ndef mine(x):\n"
                                          "    return np.full(len(x), 127, np.uint8), np.zeros(x.shape, np.uint8)\n")
        self.matrices()
        self.run("mmafuzz campaign --cases 2048 --targets dot_models --out ./night")
        for name in ("all", "monday", "tuesday"):
            shutil.copy(self.folder / "night/findings.sqlite", self.folder / f"{name}.sqlite")
        # What the machine lacks, its commands do without.
        self.lacks = [word for word, there in (("python:", importlib.util.find_spec("numpy")), ("process:obj", (self.folder / "obj/fused_dot").exists()))
                      if not there]
        self.fact = json.loads(self.run("mmafuzz findings night/findings.sqlite --json").stdout)["known"][0]["name"]

    def matrices(self):
        """a.npy to d.npy, a product of an H100; in doubles/ one of doubles."""
        for folder, wide, narrow, letters, unit in ((".", "fp16", "fp32", "eef", "h100"), ("doubles", "fp64", "fp64", "ddd", "exact")):
            place = self.folder / folder
            place.mkdir(exist_ok=True)
            fields = ((0.5 + i * step for i in range(count)) for count, step in ((8, 0.125), (8, -0.25), (4, 1)))
            case = " | ".join(" ".join(struct.pack(">" + letter, x).hex() for x in field) for letter, field in zip(letters, fields))
            (place / "operands.cases").write_text(f"mmafuzz-cases 1\nop gemm a={wide} b={wide} c={narrow} d={narrow} m=2 n=2 k=4\n{case}\n")
            self.run(f"cd {folder} && mmafuzz eval --unit {unit} operands.cases -o product.cases && mmafuzz convert product.cases -o product.npz")
            zipfile.ZipFile(place / "product.npz").extractall(place)

    def run(self, command):
        """A page's command, with files and names of here, and less to do."""
        for page, here in SMALLER.items():
            command = command.replace(page, here)
        if re.search(r"\bID\b", command):
            store = re.search(r"mmafuzz (?:findings|promote) (\S+)", command)[1].replace("STORE", PLACES["STORE"])
            buckets = json.loads(self.run(f"mmafuzz findings {store} --buckets --json").stdout)
            command = re.sub(r"\bID\b", buckets[0]["id"], command)
        for place, here in {**PLACES, "--fact NAME": f"--fact {self.fact}" if "NAME" in command else ""}.items():
            command = re.sub(rf"(?<![\w-]){place}(?![\w-])", lambda _: here, command)
        if "mmafuzz prove" in command:
            command += " --time 0.5"  # unknown is an answer
        if "mmafuzz fuzz" in command and "--cases" not in command and "--ops" not in command:
            command += " --cases 2048"
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False, timeout=60)


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
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(binary, root, folder)
        for page in (page for page in (readme, *pages) if "/notes/" not in page):
            for command, said, code in written(pathlib.Path(page).read_text()):
                if NOT_HERE.search(command) or any(word in command for word in desk.lacks) or WORD.fullmatch(command):
                    continue
                tried += 1
                done = desk.run(command)
                got = " ".join((done.stdout + done.stderr).split())
                codes = {0, 1, 4} if re.search(r"mmafuzz (prove|identify)", command) and not code else {code}
                if done.returncode not in codes or any(" ".join(one.split()) not in got for one in said):
                    failed += 1
                    print(f"{page}\n$ {command}\n--- it says {said}, exit code {code}\n--- got (exit {done.returncode})\n{got[-600:]}")
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
