"""What was proven over all inputs, kept in a file for later runs."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import mmafuzz

from . import divergences, inputs
from .judgements import judged


class Proofs:
    """Proven results, as dictionaries of `run.Result`, by what they depend on: a library's version, a row, the machine,
    mmafuzz, and the kinds of divergences. OSError where the file cannot be written."""

    def __init__(self, file: pathlib.Path, machine: str):
        """machine: its processor, by which libraries choose their kernels."""
        self._file, self._machine = file, machine
        self._kept = _read(file)

    def of(self, row: Any, result: dict) -> dict | None:
        """The proof of a row, judged as of today; None if there is none, or if it lacks a kind that `result` has found."""
        proof = self._kept.get(self._key(row, result["version"]))
        if proof is None or not _kinds(result) <= _kinds(proof):
            return None
        for finding in proof["findings"]:
            finding["class"], finding["reason"] = judged(row.library, row.operation, finding["kind"])
        return proof

    def keep(self, row: Any, proof: dict) -> None:
        self._kept[self._key(row, proof["version"])] = proof
        new = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        new.write_text(json.dumps(self._kept, indent=1))
        os.replace(new, self._file)

    def _key(self, row: Any, version: str) -> str:
        return "; ".join((row.library, version, row.operation, self._machine, _definition(row)))


def _kinds(result: dict) -> set[str]:
    return {finding["kind"] for finding in result["findings"]}


def _read(file: pathlib.Path) -> dict[str, dict]:
    if not file.is_file():
        return {}
    try:
        kept = json.loads(file.read_text())
        for proof in kept.values():
            _kinds(proof)
    except (AttributeError, KeyError, TypeError, ValueError) as why:
        print(f"observatory: {file} is no table of proofs, they begin anew: {why!r}", file=sys.stderr)
        return {}
    return kept


def _definition(row: Any) -> str:
    """A digest of what decides a proof beside the library: mmafuzz, the row, how it is called, what kinds there are."""
    files = [sys.modules[_function(row.prepare).__module__].__file__, divergences.__file__, inputs.__file__]
    parts = [_digest_of_mmafuzz(), *(pathlib.Path(str(file)).read_text() for file in files), _text(list(row))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.cache
def _digest_of_mmafuzz() -> str:
    """Of the package as it was built: its version names no change that is not committed, and changes with each page."""
    files = sorted(one for one in pathlib.Path(str(mmafuzz.__file__)).parent.iterdir() if one.suffix in (".py", ".so"))
    return hashlib.sha256(b"\0".join(one.read_bytes() for one in files)).hexdigest()


def _function(call: Callable[..., Any]) -> Callable[..., Any]:
    return _function(call.func) if isinstance(call, functools.partial) else call


def _text(part: Any) -> str:
    """A part of a row without addresses: functions by their names."""
    if isinstance(part, functools.partial):
        return _text([part.func, *part.args, *part.keywords.items()])
    if isinstance(part, (list, tuple)):
        return f"({', '.join(map(_text, part))})"
    return f"{part.__module__}.{part.__qualname__}" if callable(part) else repr(part)
