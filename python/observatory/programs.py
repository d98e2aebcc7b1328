"""Runs the programs of an edition as a reader of its page would: does each print what the page says that the library gives?

  python -m observatory.programs corpus/libraries/observatory.json

A program is declined, with the reason, where its library is absent here or has another version than the page says. Exit code 1
where a program shows something else, 2 where none could be run."""

from __future__ import annotations

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

from . import page
from .party import Declined, compiler_runtime

#: Debian's folders of headers and libraries, and gcc's arguments, by the words that a section's library begins with.
_LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
_HEADERS = pathlib.Path("/usr/include/x86_64-linux-gnu")
_BUILDS = {
    "OpenBLAS (Debian)": ["gcc", f"-I{_HEADERS}/openblas-pthread", f"{_LIBRARIES}/openblas-pthread/libopenblas.so.0", "-lm"],
    "BLIS (Debian)": ["gcc", f"-I{_HEADERS}/blis-openmp", f"{_LIBRARIES}/blis-openmp/libblis.so.4", "-lm"],
    "oneDNN (Debian)": ["gcc", "-l:libdnnl.so.2", "-lm"],
    "libgcc": ["gcc"],
}  # fmt: skip
#: Where a distribution on PyPI has another name than the page.
_DISTRIBUTIONS = {"tensorflow": "tensorflow_cpu", "blis (Python)": "blis"}
_SECONDS = 300


class Program(NamedTuple):
    """A program of the page: the section's title, its language, its text, what it must print."""

    title: str
    language: str
    text: str
    value: str  #: what the library gives: an encoding ("0x4400"), or of a matrix product the element ("nan")

    @property
    def library(self) -> str:
        return re.split(r" (?=\d)", self.title.split(":")[0])[0]

    @property
    def version(self) -> str:
        found = re.search(r" (\d[\w.+]*)", self.title.split(":")[0])
        return found[1] if found else ""


def programs_of(edition: dict) -> list[Program]:
    """The programs of a page, in its order."""
    return [Program(page.title(one), page.language(one["program"]), one["program"], one["actual"])
            for one in edition["divergences"] if one["program"]]  # fmt: skip


def prints(text: str, value: str) -> bool:
    """Whether a program's output ends in a value: an encoding as an integer in any base, or a number."""
    words = re.findall(r"0x[0-9a-f]+|nan|-?inf|[-+]?\d[\d.]*(?:e[-+]?\d+)?", re.sub(r"dtype=[\w.]+|shape=\(.*?\)", "", text))
    if not words:
        return False
    if value.startswith("0x"):
        bits = 4 * len(value[2:])
        try:
            last = int(words[-1], 0)
        except ValueError:
            return False
        return last % (1 << bits) == int(value, 16)
    return any(float(word) == float(value) or (math.isnan(float(value)) and word == "nan") for word in words[:1])


def printed(program: Program) -> str:
    """What a program prints. Declined."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", program.text]
        if program.language == "c":
            build = next((b for name, b in _BUILDS.items() if program.title.startswith(name)), None)
            runtime = re.match(r"compiler-rt \d+", program.title)
            if runtime:  # gcc knows _Float16 on every x86, older releases of clang do not
                build = ["gcc", *compiler_runtime("clang-" + runtime[0].split()[1])]
            if build is None:
                raise Declined("how to compile for this library is unknown")
            source, file = pathlib.Path(folder, "shown.c"), pathlib.Path(folder, "shown")
            source.write_text(program.text)
            try:
                made = subprocess.run([build[0], "-O1", str(source), *build[1:], "-o", str(file)], capture_output=True,
                                      text=True, check=False)  # fmt: skip
            except FileNotFoundError:
                raise Declined(f"{build[0]} is not installed") from None
            if made.returncode:
                error = next((x for x in made.stderr.splitlines() if "error" in x or "cannot find" in x), "cannot be compiled")
                raise Declined(error)
            command = [str(file)]
        else:
            _must_be(program)
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return f"nothing within {_SECONDS} s"
        return done.stdout if done.returncode == 0 else f"{done.stdout}(exit {done.returncode}) {done.stderr[-300:]}"


def _must_be(program: Program) -> None:
    """The page's version of a Python library."""
    import importlib.metadata as metadata

    name = _DISTRIBUTIONS.get(program.library, program.library)
    try:
        here = metadata.version(name)
    except metadata.PackageNotFoundError:
        raise Declined(f"{name} is not installed") from None
    if here.split("+")[0] != program.version.split("+")[0]:
        raise Declined(f"{name} is {here} here, the page has {program.version}")


def main() -> int:
    edition = json.loads(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "corpus/libraries/observatory.json").read_text())
    count = {"shown": 0, "differ": 0, "declined": 0}
    for program in programs_of(edition):
        try:
            text = printed(program)
        except Declined as reason:
            count["declined"] += 1
            print(f"declined: {program.title}: {reason}")
            continue
        shown = prints(text, program.value)
        count["shown" if shown else "differ"] += 1
        if not shown:
            print(f"differs: {program.title}: the page says {program.value}, the program prints\n{text}")
    print(f"{count['shown']} programs show what the page says, {count['differ']} do not, {count['declined']} are declined")
    return 1 if count["differ"] else 0 if count["shown"] else 2


if __name__ == "__main__":
    sys.exit(main())
