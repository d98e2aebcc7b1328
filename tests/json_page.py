"""docs/json.schema.json against what mmafuzz prints: the keys of a definition and their types, no more and no less."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys

# Kinds whose objects have a section of their own, and are looked at there.
ELSEWHERE = ("value", "facts", "list of values", "list of facts", "list of buckets")
KINDS = {"text": str, "integer": int, "true or false": bool, "list of text": str, "list of integers": int}


def generator(source):
    """ci/json-keys as a module."""
    loader = importlib.machinery.SourceFileLoader("json_keys", source + "/ci/json-keys")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("json_keys", loader))
    loader.exec_module(module)
    return module


def schema_of(source):
    return json.load(open(source + "/docs/json.schema.json", encoding="utf-8"))


def sections(source):
    return {title: rows for title, _, rows in generator(source).sections(schema_of(source))}


def places(value, path=""):
    """(key, value) with the keys above it: 'list.file'. What stands in several objects of an array comes several times."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + key, inner
            yield from places(inner, path + key + ".")
    if isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict):
                yield from places(inner, path)


def is_of(kind, value):
    if kind.startswith("list of "):
        return isinstance(value, list) and all(type(v) is KINDS.get(kind, dict) for v in value)
    if kind == "number or null" and value is None:
        return True
    if kind.startswith("number"):
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is KINDS.get(kind, dict)


def wrong_keys(title, rows, printed):
    """What is wrong with one thing that was printed, or with a list of them: lines. Second: how many keys it has."""
    kinds = {key: kind for words, kind, _ in rows for key in words}
    elsewhere = tuple(key + "." for key, kind in kinds.items() if kind in ELSEWHERE)
    there = {}
    for key, value in places(printed) if rows else ():
        if not key.startswith(elsewhere):
            there.setdefault(key, []).append(value)
    wrong = [f"{title}: {key} is {'printed, but not documented' if key in there else 'documented, but not printed'}"
             for key in sorted(set(kinds) ^ set(there))]
    for key in sorted(set(kinds) & set(there)):
        odd = [value for value in there[key] if not is_of(kinds[key], value)]
        if odd:
            wrong.append(f"{title}: {key} is no {kinds[key]}: {odd[0]!r:.80}")
    return wrong, len(there)


CHECK = "import json, jsonschema, sys\n" \
        "schema, samples = json.load(sys.stdin)\n" \
        "for name, value in samples:\n" \
        "    jsonschema.Draft202012Validator({**schema, 'anyOf': [{'$ref': '#/$defs/' + name}]}).validate(value)\n"


def refusals(source, samples, spoiled):
    """What a validator that is not ours says to (name of a definition, value): empty where the schema takes them all and refuses
    the spoiled one. Where there is none, that is printed."""
    schema = schema_of(source)
    for python in (source + "/build/venv/bin/python", sys.executable):
        if not os.path.exists(python) or subprocess.run([python, "-c", "import jsonschema"], capture_output=True, check=False).returncode:
            continue
        asked = [subprocess.run([python, "-c", CHECK], input=json.dumps([schema, them]), capture_output=True, text=True, check=False)
                 for them in (samples, [spoiled])]
        if asked[0].returncode or not asked[1].returncode:
            return asked[0].stderr[-1500:] or f"the schema takes a {spoiled[0]} that is none"
        return ""
    print("the schema is not tried on the outputs: no jsonschema (ci/run-tests installs it)")
    return ""
