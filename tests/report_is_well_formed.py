#!/usr/bin/env python3
"""Checks the files that tests/report_test.cc wrote: HTML whose tags nest, XML that parses, JSON that parses.

Usage: report_is_well_formed.py FOLDER. Exit code 1 if a file is broken or none is there."""
import html.parser
import json
import pathlib
import sys
import xml.etree.ElementTree

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Nesting(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.errors, self.tags, self.ids = [], [], 0, set()

    def handle_starttag(self, tag, attrs):
        self.tags += 1
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.errors.append(f"{self.getpos()}: <{tag}> repeats an attribute")
        for name, value in attrs:
            if name.startswith("on") or (name in {"src", "href"} and not value.startswith(("#", "data:"))):
                self.errors.append(f"{self.getpos()}: <{tag} {name}={value}> loads or runs something")
            if name == "id":
                if value in self.ids:
                    self.errors.append(f"{self.getpos()}: id {value} twice")
                self.ids.add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.errors.append(f"{self.getpos()}: </{tag}> closes {self.open[-1:]}")
        else:
            self.open.pop()


def problems(path):
    text = path.read_text(encoding="utf-8")
    try:
        if path.suffix == ".json":
            json.loads(text)
        elif path.suffix == ".xml":
            root = xml.etree.ElementTree.fromstring(text)
            cases, failures = root.findall("testcase"), root.findall("testcase/failure")
            if (int(root.get("tests")), int(root.get("failures"))) != (len(cases), len(failures)) or not cases:
                return ["the counts are not those of the test cases"]
        else:
            page = Nesting()
            page.feed(text)
            page.close()
            return page.errors + [f"<{tag}> stays open" for tag in page.open] + ([] if page.tags > 10 else ["empty page"])
    except (json.JSONDecodeError, xml.etree.ElementTree.ParseError) as e:
        return [str(e)]
    return []


def main(folder):
    files = [p for p in sorted(pathlib.Path(folder).iterdir()) if p.suffix in {".html", ".xml", ".json"}]
    failed = 0
    for path in files:
        for problem in problems(path)[:10]:
            failed += 1
            print(f"{path.name}: {problem}")
    print(f"{len(files)} files, {failed} problems")
    return 1 if failed or len(files) < 7 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
