#!/usr/bin/env python3
"""The program, CITATION.cff and the newest entry of CHANGELOG.md are of one version; CITATION.cff follows its schema, where
check-jsonschema is installed. Usage: version_test.py MMAFUZZ SOURCE_FOLDER"""
import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[2])
printed = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout
found = [re.match(r"mmafuzz ([0-9.]+)", printed),
         re.search(r"^version: ([0-9.]+)$", (source / "CITATION.cff").read_text(), re.M),
         re.search(r"^## ([0-9.]+)$", (source / "CHANGELOG.md").read_text(), re.M)]
versions = [match and match[1] for match in found]
print("program, CITATION.cff, CHANGELOG.md:", *versions)
checker = source / "build/venv/bin/check-jsonschema"
valid = True
if checker.exists():
    schema = ["--builtin-schema", "vendor.citation-file-format", source / "CITATION.cff"]
    valid = subprocess.run([checker, *schema], check=False).returncode == 0
sys.exit(not valid or None in versions or len(set(versions)) != 1)
