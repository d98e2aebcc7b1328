"""Writes docs/observatory.md from the results of runs."""

from __future__ import annotations

import fnmatch

from .divergences import KINDS
from .judgements import CONTRADICTION, DOCUMENTED, OPEN, STANDARD, UNJUDGED
from .past import Release

_CLASSES = (STANDARD, CONTRADICTION, UNJUDGED, DOCUMENTED, OPEN)
#: Divergences of these classes are shown with a program.
_SHOWN = (STANDARD, CONTRADICTION, UNJUDGED)

_HEAD = """# Observatory

Conversions of libraries that others use, against exact conversion. `ci/observatory {minutes:g}` wrote this page; the
tables are in `python/observatory/`: `conversions.py` has a row for each conversion and what its library promises,
`judgements.py` says what each kind of divergence is.

*Proven* means that all inputs were tried: every encoding of a source of up to 16 bits; of fp32 all 2^32 where the time
allowed. *Tested* means every number of the target and every midpoint of neighbours, with their neighbours in the source,
zeros, infinities and kinds of NaN, then random encodings and encodings near those boundaries. All are compared, bit for
bit, with the unit `ieee`; boundaries and narrow sources with `exact` (big integers), too. NaNs that differ in sign or
payload alone are counted apart.

"""


def written(newest: list[dict], old: list[tuple[Release, list[dict]]], minutes: float) -> str:
    """The page, as Markdown."""
    parts = [_HEAD.format(minutes=minutes), _coverage(newest), _divergences(newest), _past(old), _declined(newest)]
    return "\n".join(parts)


def _inputs(result: dict) -> str:
    return f"proven ({result['inputs']:,})" if result["proven"] else f"tested ({result['inputs']:,})"


def _short(result: dict) -> str:
    kinds = [f"{one['kind']}" for one in result["findings"]]
    return ", ".join(kinds) or "none"


def _coverage(results: list[dict]) -> str:
    ran = [one for one in results if not one["declined"]]
    lines = [f"## What was covered\n\n{len(ran)} conversions, {sum(one['inputs'] for one in ran):,} inputs.\n",
             "| library | version | conversion | inputs | kinds of divergence |", "|---|---|---|---|---|"]  # fmt: skip
    for one in ran:
        lines.append(f"| {one['library']} | {one['version']} | `{one['operation']}` | {_inputs(one)} | {_short(one)} |")
    return "\n".join(lines) + "\n"


def _groups(results: list[dict]) -> list[tuple[dict, list[tuple[str, dict]]]]:
    """Divergences of a library that share kind, detail, class and reason: shown once, the simplest first."""
    groups: dict[tuple, tuple[dict, list[tuple[str, dict]]]] = {}
    for result in results:
        for one in result["findings"]:
            key = (result["library"], one["kind"], one["class"], one["reason"])
            groups.setdefault(key, (result, []))[1].append((result["operation"], one))
    return sorted(groups.values(), key=lambda group: _CLASSES.index(group[1][0][1]["class"]))


def _divergences(results: list[dict]) -> str:
    lines = ["## Divergences\n"]
    groups = _groups(results)
    if not groups:
        return lines[0] + "\nNone.\n"
    lines += [f"- *{kind}*: {text}" for kind, text in KINDS.items()]
    for result, members in groups:
        operation, one = members[0]
        through = f" (through {one['detail']})" if one["detail"] else ""
        lines.append(f"\n### {result['library']} {result['version']}: {one['kind']}{through}\n")
        lines.append(f"**{one['class']}**: {one['reason']}.")
        count = "1 conversion" if len(members) == 1 else f"{len(members)} conversions"
        x, wanted, got = one["decimals"]
        lines.append(f"{count}; of `{operation}` {one['count']:,} inputs. Its simplest input:\n")
        lines += ["| | encoding | value |", "|---|---|---|", f"| input | `{one['input']}` | {x} |",
                  f"| exact | `{one['expected']}` | {wanted} |", f"| library | `{one['actual']}` | {got} |"]  # fmt: skip
        if one["class"] in _SHOWN:
            language = "c" if one["snippet"].startswith("#include") else "python"
            lines += ["", f"```{language}", one["snippet"], "```"]
        if len(members) > 1:
            lines.append("\nAlso: " + ", ".join(f"`{name}`" for name, _ in members[1:]) + ".")
    return "\n".join(lines) + "\n"


def _past(old: list[tuple[Release, list[dict]]]) -> str:
    lines = ["## Defects of the past\n\nThe same table on pinned old releases: the command is not told what to look for. The tracker's threads were read before the\nfirst run, and one kind of input came from onnx #7784.\n",
             "| release | tracker | defect | conversion | found | input | exact | library |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for release, results in old:
        hits = [(r["operation"], f) for r in results if fnmatch.fnmatchcase(r["operation"], release.operation)
                for f in r["findings"] if f["kind"] in release.kinds]  # fmt: skip
        if not hits:
            lines.append(f"| {release.name} | {release.tracker} | {release.defect} | | not found | | | |")
            continue
        operation, one = hits[0]
        x, wanted, got = (f"`{one[key]}` = {value}" for key, value in zip(("input", "expected", "actual"), one["decimals"]))
        lines.append(f"| {release.name} | {release.tracker} | {release.defect} | `{operation}` | {one['kind']} | {x} | "
                     f"{wanted} | {got} |")  # fmt: skip
    return "\n".join(lines) + "\n"


def _declined(results: list[dict]) -> str:
    lines = ["## Declined\n", "| library | conversion | reason |", "|---|---|---|"]
    lines += [f"| {one['library']} | `{one['operation']}` | {one['declined']} |" for one in results if one["declined"]]
    return "\n".join(lines) + "\n"
