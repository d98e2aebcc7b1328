"""Pages of the site that are made of what the program prints, of corpus/knowledge and of docstrings (ci/site)."""
import ast
import concurrent.futures
import itertools
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def said(program, *words, check=True):
    return subprocess.run([program, *words], capture_output=True, text=True, check=check).stdout


def cells(*texts):
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in texts) + " |\n"


def formats_page(program):
    rows = "".join(cells(f"`{name}`", words) for name, words in re.findall(r"^(\S+) +(.+)$", said(program, "list", "formats"), re.M))
    return f"""# Formats

What `mmafuzz list formats` prints; a number behind it is shown in each of them. [Concepts](docs/concepts.md) explains encodings, [Tesla's
formats](docs/cfloat.md) have a page of their own.

| format | bits |
|---|---|
{rows}"""


def commands_page(program):
    text = "# Commands\n\nWhat `--help` says of each subcommand.\n"
    subcommands = re.findall(r"^  (\w+) ", said(program, "--help").split("Subcommands:")[1], re.M)
    for name in subcommands:
        more = [[name]]
        if name in ("bench", "prove"):
            more += [[name, inner] for inner in re.findall(r"^  ([\w-]+) ", said(program, name, "--help").split("Subcommands:")[1], re.M)]
        for words in more:
            shown = said(program, *words, "--help").replace(str(ROOT) + "/", "")
            text += f"\n##{'#' * (len(words) - 1)} {' '.join(words)}\n\n```text\n{shown}```\n"
    return text


def public_names():
    tree = ast.parse((ROOT / "python/mmafuzz/__init__.py").read_text())
    places = {alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    return {name: places[name] for node in tree.body if isinstance(node, ast.Assign) for name in ast.literal_eval(node.value)}


def signature(function):
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"{function.name}({ast.unparse(function.args)}){returns}"


def python_reference():
    """What the docstrings of the package's public names say, for the end of docs/python.md."""
    text = "\n## Reference\n\nEvery public name, as its docstring has it.\n"
    for name, module in public_names().items():
        source = (ROOT / f"python/mmafuzz/{module}.py").read_text()
        tree, lines = ast.parse(source), source.splitlines()
        node = next(one for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.name == name)
        head = signature(node) if isinstance(node, ast.FunctionDef) else f"class {name}"
        text += f"\n### mmafuzz.{name}\n\n```text\n{head}\n\n{ast.get_docstring(node)}\n"
        for inner in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_") and (words := ast.get_docstring(inner)):
                is_property = any(isinstance(one, ast.Name) and one.id == "property" for one in inner.decorator_list)
                told = f"{inner.name}: {ast.unparse(inner.returns)}" if is_property and inner.returns else signature(inner)
                text += f"\n{told}\n    " + words.replace("\n", "\n    ") + "\n"
            elif isinstance(inner, ast.AnnAssign):
                comments = itertools.takewhile(lambda line: line.strip().startswith("#:"), lines[inner.end_lineno:])
                words = " ".join(line.partition("#:")[2].strip() for line in [lines[inner.end_lineno - 1], *comments])
                text += f"\n{inner.target.id}: {ast.unparse(inner.annotation)}\n" + (f"    {words}\n" if words else "")
        text += "```\n"
    return text


def known(file):
    """Name, reason, property with units, op and case of each known fact that has a witness."""
    for line in (ROOT / f"corpus/knowledge/{file}.facts").read_text().splitlines()[1:]:
        fields = line.split("\t")
        if len(fields) == 6 and fields[1] == "seen":
            yield fields[0], fields[2], *fields[3:]


def name_of_anchor(name):
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def differences_page(program, bits):
    """Every known difference with its bits, and the properties that kinds of arithmetic do not have."""
    facts = list(known("differences"))

    processor = {one["name"]: one for one in json.loads(said(program, "list", "--json", "--units", "cpu:*"))}

    def here(unit):
        """The row that an instruction claims to equal, where this machine has not the instruction."""
        one = processor.get(unit, {"unavailable": ""})
        return next((claim["detail"] for claim in one["claims"] if claim["property"] == "equals_model"), unit) if one["unavailable"] else unit

    def explained(fact):
        _, _, units, op, case = fact
        call = [program, "explain", "--units", ",".join(map(here, units.split()[1:])), "--op", op.removeprefix("op "), "--case", case]
        sentence, drawn = said(*call, "--json", check=False), said(*call, "--svg", "--width", "100", check=False)
        link = said(*call, "--link", check=False).strip()
        return json.loads(sentence)["cases"][0] if sentence else None, drawn, link

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(explained, facts))
    text = f"""---
hide-toc: true
---
# Known differences

{len(facts)} differences that units are known to have, each with the simplest operands that show it, both results and the bits of the sums. The
name of one leads here in later editions, too. It has the parameter that makes the two agree *on those operands*: units may differ in
others, too. [Facts](docs/facts.md) says what a name means, `mmafuzz why` finds such operands for two units.
"""
    for (name, reason, units, op, case), (one, drawn, link) in zip(facts, shown):
        anchor = name_of_anchor(name)
        text += f"\n({anchor})=\n## {name}\n\n"
        results = "".join(cells(f"`{unit['name']}`", " ".join(f"`{r['encoding']}` {r['hexadecimal']} = {r['decimal']}" for r in unit["results"][:1]))
                          for unit in one["units"]) if one else ""
        sentence = one["verdict"]["sentence"] if one and one.get("verdict") else ""
        text += f"{sentence[:1].upper()}{sentence[1:]}{'. ' if sentence else ''}Known because: {reason}.\n\n"
        text += f"`{op}`, case `{case}`\n\n"
        text += f"| unit | result |\n|---|---|\n{results}\n" if results else f"Units: {', '.join(f'`{u}`' for u in units.split()[1:])}.\n"
        if drawn:
            text += f"```{{raw}} html\n<details><summary>bits of {name}</summary><div class=\"scrolls\" tabindex=\"0\">{drawn.strip()}</div></details>\n"
            text += f'<p><a href="{link}">{name} in the page of bits</a></p>\n' if bits and link and "cpu:" not in units else ""
            text += "```\n"
    text += "\n## Properties that a kind of arithmetic does not have\n\n| name | why | units | op and case |\n|---|---|---|---|\n"
    text += "".join(cells(f"`{name}`", reason, ", ".join(f"`{unit}`" for unit in units.split()[1:]), f"`{op}` `{case}`")
                    for name, reason, units, op, case in known("properties"))
    return text
