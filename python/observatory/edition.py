"""An edition: what a run of the observatory found, as the repository keeps it (corpus/libraries/observatory.json). `of` makes it of
the results of the rows, `page.written` makes a page of it, which needs no library."""

from __future__ import annotations

import datetime
import fnmatch
import os
import pathlib
import platform

from mmafuzz import product_kinds

from .divergences import KINDS
from .judgements import CONTRADICTION, DOCUMENTED, OPEN, STANDARD, UNJUDGED, judgement_of
from .names import slug
from .past import Release
from .run import ENDS

CLASSES = (STANDARD, CONTRADICTION, UNJUDGED, DOCUMENTED, OPEN)
#: Divergences of these classes are shown with a program.
_SHOWN = (STANDARD, CONTRADICTION, UNJUDGED)
#: What a row of each table is.
NOUNS = {"conversions": "conversion", "arithmetic": "operation", "products": "product"}
#: Characters of a program that a person may want to read.
_LONGEST_PROGRAM = 2000


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


def of(tables: dict[str, list[dict]], old: list[tuple[Release, list[dict]]], minutes: float) -> dict:
    """tables: the results of each table by its name, as dictionaries of `run.Result`."""
    tables = {name: tables.get(name, []) for name in NOUNS}
    groups = [(name, group) for name, results in tables.items() for group in _groups(results)]
    everything = [one for results in tables.values() for one in results]
    return {
        "minutes": minutes, "machine": machine(), "date": datetime.date.today().isoformat(), "kinds": _kinds(tables),
        "covered": {name: [_covered(one) for one in results if not one["declined"]] for name, results in tables.items()},
        "divergences": sorted((_divergence(*one) for one in groups), key=lambda one: CLASSES.index(one["class"])),
        "past": [_past(release, results) for release, results in old], "declined": _declined(everything),
    }  # fmt: skip


def _kinds(tables: dict[str, list[dict]]) -> dict[str, dict[str, str]]:
    """The words of the kinds that were found."""
    found = {}
    for what, kinds, names in (("numbers", KINDS, ("conversions", "arithmetic")), ("products", product_kinds(), ("products",))):
        seen = {one["kind"] for name in names for result in tables[name] for one in result["findings"]}
        found[what] = {kind: text for kind, text in {**kinds, ENDS: "the process ends"}.items() if kind in seen}
    return found


def _covered(result: dict) -> dict:
    kinds = list(dict.fromkeys(one["kind"] for one in result["findings"]))
    return {**{key: result[key] for key in ("library", "version", "operation", "inputs", "proven", "cut")}, "kinds": kinds}


def _groups(results: list[dict]) -> list[list[tuple[dict, dict]]]:
    """Divergences of a library that share kind, class and reason are one."""
    groups: dict[tuple, list[tuple[dict, dict]]] = {}
    for result in results:
        for one in result["findings"]:
            groups.setdefault((result["library"], one["kind"], one["class"], one["reason"]), []).append((result, one))
    return list(groups.values())


def _divergence(table: str, members: list[tuple[dict, dict]]) -> dict:
    """Divergences of one library that are one: the simplest of them whole, the others by name."""
    first = members[0][0]
    result, one = members[0]
    if table == "products":  # the shortest program
        result, one = min(members, key=lambda member: len(member[1]["snippet"]))
    names = list(dict.fromkeys(other["operation"] for other, _ in members))
    shown = one["class"] in _SHOWN and len(one["snippet"]) <= _LONGEST_PROGRAM
    judgement = judgement_of(first["library"], one["kind"], one["class"], one["reason"])
    return {
        "name": slug(" ".join([first["library"], NOUNS[table], one["kind"], judgement.name if judgement else ""])), "table": table,
        "library": first["library"], "version": first["version"], "kind": one["kind"], "detail": one["detail"],
        "class": one["class"], "reason": one["reason"], "upstream": judgement.upstream if judgement else "",
        "operation": result["operation"], "also": [name for name in names if name != result["operation"]], "count": one["count"],
        **{key: one[key] for key in ("input", "expected", "actual")}, "decimals": one.get("decimals"),
        "program": one["snippet"] if shown else "",
    }  # fmt: skip


def _past(release: Release, results: list[dict]) -> dict:
    told = release.known or ("nothing" if release.rows == "*" else "the operation")
    about = {"release": release.name, "library": release.library, "tracker": release.tracker, "defect": release.defect, "told": told}
    hits = [(r["operation"], f) for r in results if fnmatch.fnmatchcase(r["operation"], release.operation)
            for f in r["findings"] if f["kind"] in release.kinds]  # fmt: skip
    if not hits:
        return {**about, "operation": "", "kind": ""}
    operation, one = hits[0]
    shown = {key: one[key] for key in ("input", "expected", "actual")}
    return {**about, "operation": operation, "kind": one["kind"], **shown, "decimals": one.get("decimals")}


def _declined(results: list[dict]) -> list[dict]:
    """Operations of a library that are declined for one reason stand together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in results:
        if one["declined"]:
            reasons.setdefault((one["library"], one["declined"]), []).append(one["operation"])
    return [{"library": library, "operations": names, "reason": reason} for (library, reason), names in reasons.items()]
