#!/usr/bin/env python3
"""Builds the site of ci/site and checks it: each row of the catalogue is on one arithmetic page and once in the table, each
divergence of corpus/libraries is once in the table of defects and has its place, each key of the JSON schema, each open point, each known fact with its bits,
subcommand, format and public name of the Python package is on its page, every local link leads somewhere, nothing is loaded from
elsewhere, links to bits are calls that work, no machine's path is on a page, what strangers ask is answered on the first page behind a row of the start page, and the filters pass the right rows in the right order (with node).

Usage: site_test.py MMAFUZZ SOURCE SITE, a folder that is made. Exit code 77 without Sphinx, MyST or Furo."""
import collections
import html
import html.parser
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loaded, self.rows, self.text = set(), [], [], [], path.read_text(encoding="utf-8")
        self.fields = []
        self.feed(self.text)

    def handle_starttag(self, tag, pairs):
        given = dict(pairs)
        self.ids.add(given.get("id"))
        target = given.get("href") or given.get("src")
        if tag == "tr" and any(name.startswith("data-") for name in given):
            self.rows.append({name.removeprefix("data-"): value for name, value in pairs})
        if tag == "a" and self.rows:
            self.rows[-1].setdefault("link", target)
        if tag == "form" and given.get("id") == "filters":
            self.fields = given["data-fields"].split(",")
        if tag in ("link", "script", "img", "iframe") and target:
            self.loaded.append(target)
        if target and not target.startswith("data:"):
            self.links.append(target)


def broken_links(pages):
    for path, page in pages.items():
        for link in page.links:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.loaded:
                    yield f"{path} loads {link}"
                continue
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not target.is_file():
                yield f"{path}: no {link}"
            elif target in pages and target.name != "bits.html" and url.fragment and urllib.parse.unquote(url.fragment) not in pages[target].ids:
                yield f"{path}: no place {link}"


QUERIES = {
    "": lambda row: True,
    "architecture=hopper&operand=e4m3": lambda row: "model:hopper/" in row["name"] and "e4m3" in (row["formats"]["a"], row["formats"]["b"]),
    "result=fp16&kernel=two_stage_sum": lambda row: row["formats"]["d"] == "fp16" and row["kernel"] == "two_stage_sum",
    "evidence=machine+code": lambda row: any(e["kind"] == "machine code" for e in row["evidence"]),
    "text=H200++wgmma": lambda row: "h200" in row["gpus"] and "wgmma" in row["name"],
    "kernel=none_such": lambda row: False,
}


DEFECTS = {
    "": lambda one: True,
    "library=torch&operation=torch.matmul": lambda one: one["library"] == "torch" and any(re.match("torch.matmul[ ,]", o) for o in one["operations"]),
    "operation=block+quantizer&verdict=choice": lambda one: one["page"] == "quantizers" and one["verdict"] == "choice",
    "verdict=IEEE+754+or+OCP+says+otherwise": lambda one: one["verdict"] == "IEEE 754 or OCP says otherwise",
    "upstream=open": lambda one: one["upstream"] == "open",
    "upstream=fixed&library=onnx": lambda one: one["upstream"] == "fixed" and one["library"] == "onnx",
    "library=none_such": lambda one: False,
}


def divergences(source):
    """Of corpus/libraries, by the ends of their links, with the state of their threads; defects of the past count as fixed."""
    states = {line.split("\t")[0]: line.split("\t")[2] for line in pathlib.Path(source, "corpus/libraries/upstream.tsv").read_text().splitlines()[1:]}
    observatory, quantizers = (json.loads(pathlib.Path(source, f"corpus/libraries/{name}.json").read_text(encoding="utf-8"))
                               for name in ("observatory", "quantizers"))
    found = {f"docs/observatory.html#{one['name']}": {**one, "operations": [one["operation"], *one["also"]], "verdict": one["class"]}
             for one in observatory["divergences"]}
    found |= {"docs/observatory.html#past-" + re.sub("[^a-z0-9]+", "-", one["tracker"].lower()):
              {**one, "operations": [one["operation"]], "verdict": "defect", "upstream": "fixed"} for one in observatory["past"]}
    found |= {f"docs/quantizers_of_libraries.html#{one['name']}":
              {**one, "library": function["library"], "operations": [function["call"]], "page": "quantizers"}
              for function in quantizers["functions"] for one in function["findings"]}
    sys.path.insert(0, str(pathlib.Path(source, "python")))
    from observatory import emulators  # noqa: PLC0415  (of the source that is given)

    found |= {f"docs/observatory.html#{one.name}":
              {"library": "QEMU", "operations": [one.instructions], "verdict": "defect", "upstream": "fixed"} for one in emulators.seen()}
    return {link: {"page": "observatory", **one, "upstream": states.get(one["upstream"], one["upstream"])} for link, one in found.items()}


def filtered(script, queries, fields, lines, rows):
    """Which rows pass each query: as the script says of the lines of a table, and as is wanted of what they stand for."""
    asked = f"""const {{passes}} = require({json.dumps(str(script))});
        const lines = {json.dumps(lines)}, fields = {json.dumps(fields)};
        console.log(JSON.stringify({json.dumps(list(queries))}.map(q => lines.map(r => passes(r, new URLSearchParams(q), fields)))));"""
    said = json.loads(subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=True).stdout)
    return [f"the filter {query!r} passes other rows" for (query, wanted), got in zip(queries.items(), said) if got != list(map(wanted, rows))]


def disordered(script, rows):
    """Orders of the catalogue's rows that the script gets wrong: by number, by name, and none that a column has."""
    products = [int(re.search(r" k=(\d+)", row["op"])[1]) for row in rows]
    wanted = {"sort=k": sorted(range(len(rows)), key=products.__getitem__), "sort=-k": sorted(range(len(rows)), key=lambda i: -products[i]),
              "sort=kernel": sorted(range(len(rows)), key=lambda i: rows[i]["kernel"]), "sort=none_such": list(range(len(rows))), "": list(range(len(rows)))}
    asked = f"""const {{ordered}} = require({json.dumps(str(script))});
        const rows = {json.dumps([{"cells": [row["kernel"], str(k)]} for row, k in zip(rows, products)])};
        console.log(JSON.stringify({json.dumps(list(wanted))}.map(q => ordered(rows, new URLSearchParams(q), ["kernel", "k"]))));"""
    said = json.loads(subprocess.run(["node", "-"], input=asked, capture_output=True, text=True, check=True).stdout)
    return [f"'{query}' gives another order" for (query, order), got in zip(wanted.items(), said) if got != order]


def missing_bits(pages, program, source):
    """Links to the page of bits whose call the program refuses, and entries of a number or two that have none."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    calls, of_numbers = {}, 0
    for path, page in pages.items():
        for link in page.links:
            if "bits.html#" in link:
                calls.setdefault(link.split("#")[1], path.name)
                of_numbers += "&list&formats&" in link
    for call, name in calls.items():
        made, *words = (urllib.parse.unquote(word.replace("+", " ")) for word in call.split("&"))
        if made != version or subprocess.run([program, *words], capture_output=True, check=False).returncode:
            yield f"{name}: no bits of {call}"
    kept = json.loads(pathlib.Path(source, "corpus/libraries/observatory.json").read_text(encoding="utf-8"))
    numbers = sum(one["table"] == "conversions" for one in kept["divergences"])
    if calls and of_numbers < numbers:
        yield f"{of_numbers} of {numbers} conversions have a link to their bits"


def wrong_defects(table, source):
    """Each divergence is once in the table; broken_links says whether its place is there."""
    links = [line["link"] for line in table.rows]
    wanted = divergences(source)
    wrong = [f"the table of defects has {links.count(link)} times {link}" for link in wanted if links.count(link) != 1]
    return wrong + [f"the table of defects has {link}" for link in links if link not in wanted]


def missing_keys(page, source):
    """Keys of the schema of --json that the page has not."""
    schema = json.loads(pathlib.Path(source, "docs/json.schema.json").read_text(encoding="utf-8"))
    missing = [one["title"] for one in schema["$defs"].values() if f">{one['title']}<" not in page.text]
    for one in schema["$defs"].values():
        keys = one.get("items", one).get("properties", {})
        missing += [f"{one['title']}: {key}" for key in keys if f'<span class="pre">{key}</span>' not in page.text]
    return [f"docs/json.html has no {what}" for what in missing]


# What strangers ask: words of a row of the start page's table, and what the first page that the row leads to must say.
QUESTIONS = {
    "How are unit, claim": "What a unit promises: the properties that it guarantees",
    "What differs between H100 and A100": "block=8~16 (products that are added at once) and fraction_bits=24~25 (bits kept in alignment)",
    "How many bits does a unit keep": "Hopper wgmma FP8 32 13 -133 -21",
    "the scale of the whole tensor": "tensor=fp32 adds the scale of the whole tensor, NVFP4's second one: it is an operand of each case",
    "compared with silicon": "hopper h100, h200, h800, h20, gh200 43 43 (",
    "sources contradict each other": "point parameter default the other reading",
    "What does a minute without findings say": "A green search says nothing of more than four alignments at once",
    "How do I add a row": "a row (an instruction of a family that is there) one line like its neighbours' in its maker's file in oracles/models/",
    "add a row, a format": "a format one line in core/format.cc",
    "a format, a property": "a property a file in oracles/properties/, one line in properties.def.h",
    "How is a case made small": "Triage makes a case simpler in steps of a fixed order",
    "How are inputs chosen": "One case in two is the next one of a walk",
    "What does proven mean": "by an SMT solver, on all inputs of a domain",
    "what does upstream say": "Upstream is what the library's tracker says",
    "Slurm, many machines": "ci/cluster/submit starts a job array",
    "I have a GPU and ten minutes": "mmafuzz survey -o first --time 300",
    "GitHub, GitLab": "are for the repository of a unit of your own",
    "File formats: cases": "mmafuzz-cases 1",
    "NumPy, C++": "mmafuzz.fuzz_product fuzz_product(",
    "How do I cite it": "A minor version may change rows",
}


def text_of(page):
    return " ".join(html.unescape(re.sub("<[^>]*>", "", re.sub(r"</(td|th|h\d|pre|p|div|summary)>", r" \g<0>", page.text))).replace("¶", "").split())


def unanswered(pages, out):
    """Questions that the first page behind the start page's row does not answer."""
    rows = re.findall(r"<tr.*?</tr>", pages[out / "index.html"].text, re.S)
    for words, answer in QUESTIONS.items():
        links = [link for row in rows if words in " ".join(html.unescape(re.sub("<[^>]*>", "", row)).split()) for link in re.findall('href="([^"]*)"', row)]
        page = links and pages.get((out / links[0].split("#")[0]).resolve())
        if not page or answer not in text_of(page):
            yield f"'{words}': the first page opened, {links[:1]}, has not: {answer}"


def missing_words(pages, program, source):
    """Known facts, subcommands, formats and public names of the package that their pages have not."""
    facts = [line.split("\t") for name in ("differences", "properties") for line in pathlib.Path(source, f"corpus/knowledge/{name}.facts").read_text().splitlines()]
    package = pathlib.Path(source, "python/mmafuzz/__init__.py").read_text()
    listed = {"differences": [html.escape(f[0]) for f in facts if len(f) == 6 and f[1] == "seen"],
              "commands": re.findall(r"^  (\w+) ", subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout.split("Subcommands:")[1], re.M),
              "formats": re.findall(r"^(\S+) ", subprocess.run([program, "list", "formats"], capture_output=True, text=True, check=True).stdout, re.M),
              "docs/python": [f"mmafuzz.{name}" for name in re.findall(r'^    "(\w+)",$', package, re.M)]}
    for page, words in listed.items():
        if len(words) < 20:
            yield f"only {len(words)} words are wanted of {page}"
        yield from (f"{page}.html has no {word}" for word in words if f">{word}<" not in pages[page].text)


def main(program, source, out):
    if not all(map(importlib.util.find_spec, ("sphinx", "myst_parser", "furo"))):
        print("no Sphinx, MyST or Furo here: skipped")
        return 77
    run = [program, "catalogue", "--json", "--corpus", f"{source}/corpus"]
    rows = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    out = pathlib.Path(out).resolve()
    subprocess.run([sys.executable, f"{source}/ci/site", program, "-o", out], check=True)
    pages = {path: Page(path) for path in out.rglob("*.html")}
    errors = list(broken_links(pages))
    here = str(pathlib.Path(source).resolve())
    errors += [f"{path} has a path of this machine" for path, page in pages.items() if here in page.text]
    on_pages = collections.Counter(row["name"] for row in rows for path, page in pages.items()
                                   if path.parent.name == "catalogue" and f'>{row["name"]}</span></code></p></td>' in page.text)
    table = pages[out / "catalogue.html"]
    for row in rows:
        places = on_pages[row["name"]], table.text.count(f'.html">{row["name"].removeprefix("model:")}</a>')
        if places != (1, 1):
            errors.append(f"{row['name']}: on {places[0]} pages and {places[1]} times in the table")
    if len(table.rows) != len(rows):
        errors.append(f"the table has {len(table.rows)} rows, the catalogue {len(rows)}")
    of_arithmetics = [page for path, page in pages.items() if path.parent.name == "catalogue"]
    for section in ("neighbours", "known-differences"):
        if missing := sum(section not in page.ids for page in of_arithmetics):
            errors.append(f"{missing} pages of arithmetics have no section {section}")
    if not any(link and "differences.html#" in link for page in of_arithmetics for link in page.links):
        errors.append("no page of an arithmetic links a known difference")
    points = {json.dumps(point, sort_keys=True) for row in rows for point in row["open_points"]}
    if len(points) < 20 or len(pages[out / "open_points.html"].rows) != len(points):
        errors.append(f"the table of open points has {len(pages[out / 'open_points.html'].rows)} rows of {len(points)}")
    if missing := [part.split('"')[0] for part in pages[out / "differences.html"].text.split('<section id="')[2:-1] if "<svg" not in part]:
        errors.append(f"known differences without their bits: {missing}")
    defects = pages[out / "defects.html"]
    errors += missing_words({name: pages[out / f"{name}.html"] for name in ("differences", "commands", "formats", "docs/python")}, program, source)
    errors += unanswered(pages, out)
    errors += missing_bits(pages, program, source)
    errors += wrong_defects(defects, source) + missing_keys(pages[out / "docs/json.html"], source)
    if shutil.which("node") and not errors:
        by_name = sorted(rows, key=lambda row: table.text.index(f'.html">{row["name"].removeprefix("model:")}</a>'))
        lines = [{**line, "text": (row["name"] + " " + " ".join(row["gpus"])).lower()} for row, line in zip(by_name, table.rows)]
        errors += filtered(out / "_static/table.js", QUERIES, table.fields, lines, by_name)
        errors += disordered(out / "_static/table.js", by_name)
        known = divergences(source)
        errors += filtered(out / "_static/table.js", DEFECTS, defects.fields, [{**line, "text": ""} for line in defects.rows],
                           [known[line["link"]] for line in defects.rows])
    elif not errors:
        print("no node: the filters were not asked")
    print("\n".join(errors[:40]))
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values()):,} links, {len(rows)} rows, {len(defects.rows)} divergences: {len(errors)} problems")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
