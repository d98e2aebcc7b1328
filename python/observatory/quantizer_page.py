"""Makes the page of corpus/libraries/quantizers.json, which ci/quantizers writes: no library is needed, nor mmafuzz."""

from __future__ import annotations

import re

from .upstream import threads

_HEAD = """# Block quantizers of libraries

Which rule each function follows, found by asking it (`mmafuzz identify`), beside what its documentation says.
`python/observatory/quantizers.py` has a row for each and the judgements; `ci/quantizers` asked, and
`corpus/libraries/quantizers.json` holds what was found.

Each function was asked some 50,000 blocks: every step of every rule in fp32, alone in a block, with both neighbours
([quantizers.md](quantizers.md)); every number of the element's format and every middle between two, with both neighbours,
under 32 scales; an infinity or NaN alone and beside numbers; and 32,768 drawn blocks. A scale is a function of the greatest
magnitude, and a rule steps at one significand in every binade: between two steps nothing was asked, so that the rule is
tested, not proven.

A finding is a *defect* where the library's own words, or the specification that it names, say otherwise; the sentence that
decides stands beside it. It is a *choice* where they leave it open. A version that is not the newest one has a known defect:
its source names the report or the change, of which `identify` was told nothing, and the rule is the one that was meant. Rows
that differ in the elements alone share a line, and what was found is shown for the first one.

| library | version | function | elements | its documentation | scale | codes | what else |
|---|---|---|---|---|---|---|---|
"""


def written(edition: dict) -> str:
    """The page, as Markdown."""
    text = _HEAD
    for one in edition["functions"]:
        cells = [one["documented"] or "no rule", one["scale"], one["codes"], _counts(one)]
        text += f"| {one['library']} | {one['version']} | `{one['call']}` | {', '.join(one['elements'])} | {' | '.join(cells)} |\n"
    text += "\nNot asked:\n\n" + "".join(f"- {name}: {why}.\n" for name, why in edition["not_asked"])
    for one in edition["functions"]:
        if one["findings"]:
            text += f"\n## {one['library']} {one['version']}: `{one['call']}`\n\n{_details(one)}"
    return re.sub(r"[ \t]+\n", "\n", text)


def _counts(function: dict) -> str:
    verdicts = [finding["verdict"] for finding in function["findings"]]
    return ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(("defect", "choice", *verdicts)) if v in verdicts) or "nothing"


def _details(function: dict) -> str:
    """The judgements, each under its name with the findings that it is about."""
    text = f"`{function['op']}`, {function['asked']:,} blocks. "
    text += f"{function['source']}.\n\n" if function["source"] else "Its documentation names no rule.\n\n"
    for finding in function["findings"]:
        text += f'- <a id="{finding["name"]}"></a>*{finding["verdict"]}*'
        text += f": {finding['sentence']}." if finding["sentence"] else "."
        thread = threads().get(finding["upstream"])
        text += f" Upstream: {thread.link()}.\n" if thread else "\n"
        text += "".join(f"  - {about}.\n" for about in finding["about"])
        if finding["program"]:
            program, printed = ("\n".join(f"  {line}" for line in finding[key]) for key in ("program", "printed"))
            text += f"\n  ```python\n{program}\n  ```\n  ```\n{printed}\n  ```\n"
    return text
