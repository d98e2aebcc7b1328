"""Defects of emulators of instructions: corpus/libraries/emulators.tsv, written by hand, with the commands that show them."""

from __future__ import annotations

import functools
import pathlib
from typing import NamedTuple

from .upstream import Thread

_TABLE = pathlib.Path(__file__).resolve().parents[2] / "corpus/libraries/emulators.tsv"


class Defect(NamedTuple):
    name: str
    instructions: str
    what: str
    met_in: str  #: the version in which a search of ours met it; empty: in none
    old: str  #: what the older of both versions shows
    new: str
    upstream: str
    address: str
    command: str  #: empty where no unit can show it

    @property
    def thread(self) -> Thread | None:
        return Thread(self.upstream, self.address, "fixed", "") if self.upstream else None


def _lines() -> list[list[str]]:
    return [line.split("\t") for line in _TABLE.read_text().splitlines()]


def versions() -> tuple[str, str]:
    """The older and the newer one."""
    return _lines()[0][4], _lines()[0][5]


@functools.cache
def defects() -> list[Defect]:
    return [Defect(*line) for line in _lines()[1:]]


def seen() -> list[Defect]:
    """Those that a search of ours has met."""
    return [one for one in defects() if one.met_in]
