"""What trackers of libraries say: the threads of corpus/libraries/upstream.tsv."""

from __future__ import annotations

import functools
import pathlib
from typing import NamedTuple

TABLE = pathlib.Path(__file__).resolve().parents[2] / "corpus/libraries/upstream.tsv"


class Thread(NamedTuple):
    name: str
    url: str
    state: str  #: open or fixed
    date: str  #: of what was read there last; empty of a release

    def link(self) -> str:
        """In Markdown, with its state."""
        return f"{self.state}, [{self.name}]({self.url})" + (f", {self.date}" if self.date else "")


@functools.cache
def threads() -> dict[str, Thread]:
    """All, by name."""
    return {one.name: one for one in (Thread(*line.split("\t")) for line in TABLE.read_text().splitlines()[1:])}
