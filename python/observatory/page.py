"""Writes docs/observatory.md from the results of runs."""

from __future__ import annotations

import fnmatch
import os
import pathlib
import platform

from mmafuzz import product_kinds

from .divergences import KINDS
from .judgements import CONTRADICTION, DOCUMENTED, OPEN, STANDARD, UNJUDGED
from .past import Release
from .run import ENDS

_CLASSES = (STANDARD, CONTRADICTION, UNJUDGED, DOCUMENTED, OPEN)
#: Divergences of these classes are shown with a program.
_SHOWN = (STANDARD, CONTRADICTION, UNJUDGED)
#: What a row of each table is.
_NOUNS = {"conversions": "conversion", "arithmetic": "operation", "products": "product"}
#: Characters of a program that a person may want to read.
_LONGEST_PROGRAM = 2000

_HEAD = """# Observatory

Conversions, arithmetic and matrix products of libraries that others use, against exact ones. The tables are in
`python/observatory/`: `conversions.py`, `arithmetic.py` and `products.py` have a row for each operation, `judgements.py` says
what each kind of divergence is, `past.py` has the old releases. `ci/observatory {minutes:g}` wrote this page. It compiles and runs every program that is shown
here, and fails where one prints something else than the page says (`python -m observatory.programs docs/observatory.md`).

The machine: {machine}.

"""
_CONVERSIONS = """## Conversions: what was covered

*Exhaustive* means that all inputs were tried: every encoding of a source of up to 16 bits; of fp32 and int32 all 2^32 where
the time of this run or of earlier ones on this machine allowed. *Tested* means every number of the target and every midpoint of neighbours, with their neighbours in the
source, zeros, infinities and kinds of NaN, then random encodings and encodings near those boundaries, 2^24 of them, or
*cut*: as many as the time allowed. All are compared,
bit for bit, with the unit `ieee`; boundaries and narrow sources with `exact` (big integers), too; all 2^32 with `bulk`,
and what differs there with `ieee`. NaNs that differ in sign or payload alone are counted apart.

{rows}, {inputs:,} inputs; {proven}.
"""
_ARITHMETIC = """## Arithmetic: what was covered

Operations on numbers of narrow formats, each against the result that is rounded once. *Exhaustive* means that all operands were
tried, of two operands all pairs. *Tested* means all pairs of specials, powers of two and their neighbours of both signs, then
random pairs, a half of them with near exponents, as many as for conversions. All are compared, bit for bit, with the unit `ieee`; the exhaustive ones and the
first pairs with `exact`, too.

{rows}, {inputs:,} inputs.
"""
_PRODUCTS = """## Matrix products: what was covered

No row here is exhaustive: each row is a search by `mmafuzz.fuzz_product` ([python.md](python.md)), which needs no tolerance.
The operands are integers that no order of sums can round; shapes lie around those where kernels switch; NaN lies between
and around the elements. Where the call has them, alpha, beta (with NaN in c where beta is 0), transposed operands, leading
dimensions and 1 to 4 threads vary. Some cases have an infinity or NaN in one place, some have fractions, whose result must
lie within the bound of any order of summation, and all are called twice.

{rows}, {inputs:,} cases.
"""


def machine() -> str:
    """The processor and what of it matters to kernels."""
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    name = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), platform.machine())
    flags = next((x.split(":")[1].split() for x in lines if x.startswith("flags")), [])
    said = [shown for flag, shown in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_bf16", "AVX-512 BF16"),
                                      ("avx512_fp16", "AVX-512 FP16"), ("amx_tile", "AMX")) if flag in flags]  # fmt: skip
    return f"{os.cpu_count()} cores of {name} ({', '.join(said)}), Python {platform.python_version()}"


def written(tables: dict[str, list[dict]], old: list[tuple[Release, list[dict]]], minutes: float) -> str:
    """The page, as Markdown. tables: the results of each table by its name."""
    heads = {"conversions": _CONVERSIONS, "arithmetic": _ARITHMETIC, "products": _PRODUCTS}
    parts = [_HEAD.format(minutes=minutes, machine=machine()),
             *(_coverage(head, _NOUNS[name], tables.get(name, [])) for name, head in heads.items()),
             _divergences(tables), _past(old), _declined([one for results in tables.values() for one in results])]  # fmt: skip
    return "\n".join(parts)


def _covered(result: dict, what: str) -> str:
    if what == "product":
        return f"{result['inputs']:,} cases"
    if result["proven"]:
        return f"exhaustive ({result['inputs']:,})"
    return f"tested ({result['inputs']:,}{', cut' if result['cut'] else ''})"


def _short(result: dict) -> str:
    return ", ".join(dict.fromkeys(one["kind"] for one in result["findings"])) or "none"


def _coverage(head: str, what: str, results: list[dict]) -> str:
    ran = [one for one in results if not one["declined"]]
    whole = [one for one in ran if one["inputs"] == 2**32]
    proven = f"all 2^32 of {len(whole)} of them" if whole else "no source of 32 bits was tried whole"
    cut = sum(one["cut"] for one in ran)
    rows = f"{len(ran)} {what}s" + (f" ({cut} of them cut by the time)" if cut else "")
    lines = [head.format(rows=rows, inputs=sum(one["inputs"] for one in ran), proven=proven),
             f"| library | version | {what} | covered | kinds of divergence |", "|---|---|---|---|---|"]  # fmt: skip
    for one in ran:
        lines.append(f"| {one['library']} | {one['version']} | `{one['operation']}` | {_covered(one, what)} | {_short(one)} |")
    return "\n".join(lines) + "\n"


def _groups(results: list[dict]) -> list[tuple[dict, list[tuple[str, dict]]]]:
    """Divergences of a library that share kind, class and reason: shown once, the simplest first."""
    groups: dict[tuple, tuple[dict, list[tuple[str, dict]]]] = {}
    for result in results:
        for one in result["findings"]:
            key = (result["library"], one["kind"], one["class"], one["reason"])
            groups.setdefault(key, (result, []))[1].append((result["operation"], one))
    return sorted(groups.values(), key=lambda group: _CLASSES.index(group[1][0][1]["class"]))


def _divergences(tables: dict[str, list[dict]]) -> str:
    lines = ["## Divergences\n"]
    of_numbers = [*tables.get("conversions", []), *tables.get("arithmetic", [])]
    for title, kinds, results in (("conversions and arithmetic", KINDS, of_numbers),
                                  ("matrix products", product_kinds(), tables.get("products", []))):  # fmt: skip
        shown = {one["kind"] for result in results for one in result["findings"]}
        lines.append(f"Kinds of {title} that were found:\n" if shown else f"None of {title}.\n")
        lines += [f"- *{kind}*: {text}" for kind, text in {**kinds, ENDS: "the process ends"}.items() if kind in shown]
        lines += [""] if shown else []
    sections = [(_NOUNS[name], *group) for name, results in tables.items() for group in _groups(results)]
    for section in sorted(sections, key=lambda section: _CLASSES.index(section[2][0][1]["class"])):
        lines += _section(*section)
    return "\n".join(lines) + "\n"


def _section(what: str, result: dict, members: list[tuple[str, dict]]) -> list[str]:
    """Divergences of one library that are one: the simplest of them whole, the others by name."""
    operation, one = members[0]
    is_product = what == "product"
    if is_product:  # the shortest program
        operation, one = min(members, key=lambda member: len(member[1]["snippet"]))
    through = f" (through {one['detail']})" if one["detail"] and what != "product" and one["kind"] != ENDS else ""
    lines = [f"### {result['library']} {result['version']}: {one['kind']}{through}\n", f"**{one['class']}**: {one['reason']}."]
    names = list(dict.fromkeys(name for name, _ in members))
    count = f"1 {what}" if len(names) == 1 else f"{len(names)} {what}s"
    if is_product:
        lines.append(f"{count}; `{operation}` at {one['input']}: {one['expected']} is right, it gives {one['actual']}"
                     + (f" ({one['detail']})." if one["detail"] else "."))  # fmt: skip
    elif one["kind"] == ENDS:
        lines.append(f"{count}; `{operation}` ends the process ({one['actual']}).")
    else:
        x, wanted, got = one["decimals"]
        lines.append(f"{count}; of `{operation}` {one['count']:,} inputs. Its simplest input:\n")
        lines += ["| | encoding | value |", "|---|---|---|", f"| input | `{one['input']}` | {x} |",
                  f"| exact | `{one['expected']}` | {wanted} |", f"| library | `{one['actual']}` | {got} |"]  # fmt: skip
    if one["class"] in _SHOWN and 0 < len(one["snippet"]) <= _LONGEST_PROGRAM:
        language = "c" if one["snippet"].startswith(("#include", "//")) else "python"
        lines += ["", f"```{language}", one["snippet"], "```"]
    if len(names) > 1:
        lines.append("\nAlso: " + ", ".join(f"`{name}`" for name in names if name != operation) + ".")
    return [*lines, ""]


def _past(old: list[tuple[Release, list[dict]]]) -> str:
    lines = ["""## Defects of the past

The same tables on pinned old releases: the command is not told what to look for. Who wrote the tables had read the threads.
*Told* is what of a thread went into the search: of products only those of the operation ran, and one kind of input, which all
rows have now, was taken from a thread.

| release | tracker | defect | told | operation | found | input | exact | library |
|---|---|---|---|---|---|---|---|---|"""]
    for release, results in old:
        told = release.known or ("nothing" if release.rows == "*" else "the operation")
        about = f"| {release.name} | {release.tracker} | {release.defect} | {told} |"
        hits = [(r["operation"], f) for r in results if fnmatch.fnmatchcase(r["operation"], release.operation)
                for f in r["findings"] if f["kind"] in release.kinds]  # fmt: skip
        if not hits:
            lines.append(f"{about} | not found | | | |")
            continue
        operation, one = hits[0]
        if "decimals" in one:
            shown = [f"`{one[key]}` = {value}" for key, value in zip(("input", "expected", "actual"), one["decimals"])]
        else:
            shown = [one["input"], one["expected"], one["actual"]]
        lines.append(f"{about} `{operation}` | {one['kind']} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def _declined(results: list[dict]) -> str:
    """Operations of a library that are declined for one reason stand together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in results:
        if one["declined"]:
            reasons.setdefault((one["library"], one["declined"]), []).append(one["operation"])
    lines = ["## Declined\n", "| library | operations | reason |", "|---|---|---|"]
    lines += [f"| {library} | {', '.join(f'`{name}`' for name in names)} | {reason} |"
              for (library, reason), names in reasons.items()]  # fmt: skip
    return "\n".join(lines) + "\n"
