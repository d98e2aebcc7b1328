"""Makes pages of an edition (edition.py), which is data: no library is needed, nor mmafuzz."""

from __future__ import annotations

import re
from collections.abc import Callable

from .emulators import defects, versions
from .names import slug
from .upstream import threads

_HEAD = """# Observatory

Conversions, arithmetic and matrix products of libraries that others use, against exact ones. `corpus/libraries/observatory.json`
has the data, which `ci/observatory {minutes:g}` found on {date}; it compiles and runs every program that is shown here, and
fails where one prints something else than is said here. The tables are in `python/observatory/`: `conversions.py`,
`arithmetic.py`, `products_in_c.py` and `products_in_python.py` have a row for each operation, `judgements.py` says what each kind of divergence is, `past.py` has
the old releases.

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
_PAST = """## Defects of the past

The same tables on pinned old releases: the command is not told what to look for. Who wrote the tables had read the threads.
*Told* is what of a thread went into the search: of products only those of the operation ran, and one kind of input, which all
rows have now, was taken from a thread.

| release | upstream | defect | told | operation | found | input | exact | library |
|---|---|---|---|---|---|---|---|---|
"""
_EMULATORS = """## Emulators of instructions

QEMU against the rows of the instructions that it emulates. The commands run with that QEMU first in `PATH`; `docs/processes.md` says what
they need. What is said of {0} is not run again with an edition.

| defect | instructions | {0} | {1} | upstream | command |
|---|---|---|---|---|---|
"""
#: What a row of each table is, and several.
NOUNS = {"conversions": "conversion", "arithmetic": "operation", "products": "product"}
_OF_PROCESSES = "ends the process"


#: Links to the page of bits: the address of a call's words, or "" where there is no such page.
Bits = Callable[[list[str]], str]


def written(edition: dict, bits: Bits = lambda _: "") -> str:
    """The page, as Markdown."""
    heads = {"conversions": _CONVERSIONS, "arithmetic": _ARITHMETIC, "products": _PRODUCTS}
    return "\n".join([_HEAD.format(**edition), _divergences(edition, bits), _past(edition["past"]), _emulators(),
                      *(_coverage(head, name, edition["covered"][name]) for name, head in heads.items()), _declined(edition["declined"])])  # fmt: skip


def _tried(row: dict, table: str) -> str:
    if table == "products":
        return f"{row['inputs']:,} cases"
    if row["proven"]:
        return f"exhaustive ({row['inputs']:,})"
    return f"tested ({row['inputs']:,}{', cut' if row['cut'] else ''})"


def _coverage(head: str, table: str, rows: list[dict]) -> str:
    whole = sum(one["inputs"] == 2**32 for one in rows)
    proven = f"all 2^32 of {whole} of them" if whole else "no source of 32 bits was tried whole"
    cut = sum(one["cut"] for one in rows)
    count = f"{len(rows)} {NOUNS[table]}s" + (f" ({cut} of them cut by the time)" if cut else "")
    lines = [head.format(rows=count, inputs=sum(one["inputs"] for one in rows), proven=proven),
             f"| library | version | {NOUNS[table]} | covered | kinds of divergence |", "|---|---|---|---|---|"]  # fmt: skip
    for one in rows:
        kinds = ", ".join(one["kinds"]) or "none"
        lines.append(f"| {one['library']} | {one['version']} | `{one['operation']}` | {_tried(one, table)} | {kinds} |")
    return "\n".join(lines) + "\n"


def _divergences(edition: dict, bits: Bits) -> str:
    lines = ["## Divergences\n"]
    for what, title in (("numbers", "conversions and arithmetic"), ("products", "matrix products")):
        kinds = edition["kinds"][what]
        lines.append(f"Kinds of {title} that were found:\n" if kinds else f"None of {title}.\n")
        lines += [f"- *{kind}*: {text}" for kind, text in kinds.items()]
        lines += [""] if kinds else []
    for one in edition["divergences"]:
        lines += _section(one, bits)
    return "\n".join(lines) + "\n"


def title(one: dict) -> str:
    is_product = one["table"] == "products"
    through = f" (through {one['detail']})" if one["detail"] and not is_product and one["kind"] != _OF_PROCESSES else ""
    return f"{one['library']} {one['version']}: {one['kind']}{through}"


def _section(one: dict, bits: Bits) -> list[str]:
    """A divergence under its name, which stays in later editions."""
    noun, thread = NOUNS[one["table"]], threads().get(one["upstream"])
    number = 1 + len(one["also"])
    count = f"1 {noun}" if number == 1 else f"{number} {noun}s"
    lines = [f"({one['name']})=\n### {title(one)}\n", f"**{one['class']}**: {one['reason']}." + (f" Upstream: {thread.link()}." if thread else "")]
    if one["table"] == "products":
        lines.append(f"{count}; `{one['operation']}` at {one['input']}: {one['expected']} is right, it gives {one['actual']}"
                     + (f" ({one['detail']})." if one["detail"] else "."))  # fmt: skip
    elif one["kind"] == _OF_PROCESSES:
        lines.append(f"{count}; `{one['operation']}` ends the process ({one['actual']}).")
    else:
        x, wanted, got = one["decimals"]
        lines.append(f"{count}; of `{one['operation']}` {one['count']:,} inputs. Its simplest input:\n")
        lines += ["| of | encoding | value |", "|---|---|---|", f"| input | `{one['input']}` | {x} |",
                  f"| exact | `{one['expected']}` | {wanted} |", f"| library | `{one['actual']}` | {got} |"]  # fmt: skip
    if one["program"]:
        lines += ["", f"```{language(one['program'])}", one["program"], "```"]
    words = bits_words(one)
    if words and (address := bits(words)):
        lines.append(f'\n```{{raw}} html\n<p><a href="{address}">The bits of {"the input, in every format" if words[0] == "list" else "both operands"}</a></p>\n```')
    if one["also"]:
        lines.append("\nAlso: " + ", ".join(f"`{name}`" for name in one["also"]) + ".")
    return [*lines, ""]


#: Formats of narrow operations, and operations, as mmafuzz calls them.
_FORMATS = {"bfloat16": "bf16", "float16": "fp16", "float8_e4m3fn": "e4m3", "float6_e3m2fn": "e3m2", "float4_e2m1fn": "e2m1"}
_OPERATIONS = {"add": "add", "mul": "mul", "div": "div", "divide": "div"}


def bits_words(one: dict) -> list[str]:
    """The call of mmafuzz that shows the bits: of a number in every format, of an operation step by step; none of a product."""
    codes = [code.removeprefix("0x") for code in one["input"].split(", ") if code.startswith("0x")]
    operation = re.search(r"(\w+), (\w+)$", one["operation"])
    if operation and len(codes) == 2 and operation[1].lower() in _OPERATIONS:
        op = f"scalar {_OPERATIONS[operation[1].lower()]} format={_FORMATS[operation[2].lower()]}"
        return ["explain", "ieee", "exact", "--op", op, "--case", " ".join(codes)]
    if operation or len(codes) != 1:
        return []
    source = "s32" if "int32" in one["operation"] else {8: "fp32", 16: "fp64"}[len(codes[0])]
    return ["list", "formats", f"{source}:{codes[0]}"]


def language(program: str) -> str:
    return "c" if program.startswith(("#include", "//")) else "python"


def past_name(one: dict) -> str:
    return slug(f"past {one['tracker']}")


def _past(releases: list[dict]) -> str:
    text, of = _PAST, threads()
    for one in releases:
        about = f"| <a id=\"{past_name(one)}\"></a>{one['release']} | {of[one['tracker']].link()} | {one['defect']} | {one['told']} |"
        if not one["kind"]:
            text += f"{about} | not found | | | |\n"
            continue
        shown = [one["input"], one["expected"], one["actual"]]
        if one["decimals"]:
            shown = [f"`{code}` = {value}" for code, value in zip(shown, one["decimals"])]
        text += f"{about} `{one['operation']}` | {one['kind']} | " + " | ".join(shown) + " |\n"
    return text


def _emulators() -> str:
    text = _EMULATORS.format(*versions())
    for one in defects():
        told = f"[{one.upstream}]({one.address})" if one.upstream else "-"
        shown = f"`{one.command}`" if one.command else "-"
        text += f"| <a id=\"{one.name}\"></a>{one.what} | {one.instructions} | {one.old} | {one.new} | {told} | {shown} |\n"
    return text


def _declined(declined: list[dict]) -> str:
    lines = ["## Declined\n", "| library | operations | reason |", "|---|---|---|"]
    lines += [f"| {one['library']} | {', '.join(f'`{name}`' for name in one['operations'])} | {one['reason']} |" for one in declined]
    return "\n".join(lines) + "\n"
