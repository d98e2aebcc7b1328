"""What the parties of all tables share: why one cannot run, its version, its old releases. A party is a library under test."""

from __future__ import annotations

import glob
import importlib
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

#: Libraries that are no packages of Python: of a pinned release they read a folder.
WITHOUT_IMPORT = ("libnpymath", "OpenBLAS")
#: The folders of their pinned releases.
release_folders: dict[str, pathlib.Path] = {}


class Declined(Exception):
    """Why a party cannot run here, in one line."""


def module(name: str) -> Any:
    """An imported module. Declined."""
    try:
        return importlib.import_module(name)
    except Exception as e:  # a broken installation is as good as none
        raise Declined(f"{name} cannot be imported: {first_line(e)}") from None


def version_of(name: str) -> Callable[[], str]:
    return lambda: str(module(name).__version__)


def first_line(e: BaseException) -> str:
    """An exception's message as one line, without columns' ends in a table."""
    text = (str(e).splitlines() or [""])[0].replace("|", "/")
    return text[:200] or type(e).__name__


def output(*command: str) -> str:
    """What a command prints. Declined where it is not installed."""
    if not shutil.which(command[0]):
        raise Declined(f"{command[0]} is not installed")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def compiler_runtime(compiler: str) -> list[str]:
    """The library of a compiler that has its conversions. Declined."""
    if compiler == "gcc":
        return [output("gcc", "-print-libgcc-file-name")]
    path = output(compiler, "--rtlib=compiler-rt", "--print-libgcc-file-name")
    # Debian keeps the runtime under the name that older releases of clang gave it.
    candidates = [path, *glob.glob(str(pathlib.Path(path).parents[1] / "linux/libclang_rt.builtins-x86_64.a"))]
    found = next((one for one in candidates if pathlib.Path(one).is_file()), None)
    if found is None:
        raise Declined(f"{compiler} has no compiler-rt")
    return [found]
