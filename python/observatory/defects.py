"""One table of what both editions of corpus/libraries say of libraries: the rows, each with the end of its link."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import emulators
from .page import NOUNS, past_name, title
from .upstream import Thread, threads

#: Verdicts that say that a library is wrong.
_WRONG = ("IEEE 754 or OCP says otherwise", "contradiction within the library", "defect")
_PAGES = {"observatory": "docs/observatory", "quantizers": "docs/quantizers_of_libraries"}


class Row(NamedTuple):
    page: str  #: that shows it
    name: str  #: where on the page
    library: str
    version: str
    operation: str
    what: str
    verdict: str
    upstream: str  #: open, fixed, known or none named
    thread: Thread | None  #: where upstream speaks of it
    more: str  #: what is known beside that
    words: dict[str, list[str]]  #: what the filters ask


def _row(page: str, name: str, library: str, version: str, kind: str, operations: list[str], what: str, verdict: str, thread: Thread | None,
         state: str = "", more: str = "") -> Row:  # fmt: skip
    state = state or (thread.state if thread else "none named")
    calls = list(dict.fromkeys(filter(None, map(_call, operations))))
    is_wrong = "defect" if verdict in _WRONG else "not judged" if "judged" in verdict else "choice"
    words = {"library": [re.sub(r" \d+$| \(.*", "", library)], "operation": [kind, *calls],
             "verdict": list(dict.fromkeys([is_wrong, verdict])), "upstream": [state]}  # fmt: skip
    others = f" and {len(operations) - 1} more" if len(operations) > 1 else ""
    return Row(_PAGES[page], name, library, version, operations[0] + others, what, verdict, state, thread, more, words)


def _call(operation: str) -> str:
    """'astype' of 'np.float32 astype np.float16', 'torch.add' of 'torch.add, bfloat16'; empty of a formula."""
    called = re.search(r"[A-Za-z_][\w.]*(?=\()", operation)
    words = re.split(r"[ ,]", operation)
    name = called[0] if called else words[1] if words[1:2] in (["astype"], ["to"]) else words[0]
    return name.strip(".") if len(name) > 1 else ""


def rows(observatory: dict, quantizers: dict) -> list[Row]:
    of = threads().get
    found = [_row("observatory", one["name"], one["library"], one["version"], NOUNS[one["table"]], [one["operation"], *one["also"]],
                  f"{title(one).split(': ', 1)[1]}: {one['reason']}", one["class"], of(one["upstream"])) for one in observatory["divergences"]]  # fmt: skip
    found += [_of_past(one, observatory, of(one["tracker"])) for one in observatory["past"] if one["kind"]]
    for function in quantizers["functions"]:
        found += [_row("quantizers", one["name"], function["library"], function["version"], "block quantizer", [function["call"]],
                       one["sentence"].replace("`", ""), one["verdict"], of(one["upstream"])) for one in function["findings"]]  # fmt: skip
    found += [_row("observatory", one.name, "QEMU", one.met_in, "instruction", [one.instructions], one.what, "defect",
                   one.thread, "fixed", f"gone in {emulators.versions()[1].split()[1]}") for one in emulators.seen()]  # fmt: skip
    return sorted(found, key=lambda row: (row.words["verdict"][0] != "defect", row.library.lower()))


def _of_past(one: dict, observatory: dict, thread: Thread | None) -> Row:
    """Fixed, where the newest release was asked the same and does not do it; else known."""
    asked = [row for rows in observatory["covered"].values() for row in rows
             if row["library"] == one["library"] and row["operation"] == one["operation"]]  # fmt: skip
    fixed = [row["version"] for row in asked if one["kind"] not in row["kinds"]]
    kind = next(NOUNS[table] for table, rows in observatory["covered"].items() if any(row["library"] == one["library"] for row in rows))
    version = one["release"].rpartition("-")[2]
    return _row("observatory", past_name(one), one["library"], version, kind, [one["operation"]], one["defect"], "defect",
                thread, "fixed" if fixed else "known", f"gone in {fixed[0]}" if fixed else "")  # fmt: skip
