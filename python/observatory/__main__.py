"""Runs a table for a time and writes what it found as JSON, also where a library ends the process before its time."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sys
import time

from . import party


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="observatory", description=__doc__)
    parser.add_argument("--table", choices=("conversions", "arithmetic", "products"), default="conversions")
    parser.add_argument("--seconds", type=float, default=60, help="how long, for all rows together")
    parser.add_argument("--library", default="*", help="shell pattern: rows of these libraries alone")
    parser.add_argument("--operation", default="*", help="shell pattern: rows of these operations alone")
    parser.add_argument("--prove", action="store_true", help="all 2^32 inputs of the chosen rows, if the time is enough")
    parser.add_argument("--first", type=int, default=0, help="leave out so many of these rows")
    parser.add_argument("--release", metavar="FOLDER", help="a folder with an old release, which is taken instead")
    parser.add_argument("--output", default="-", help="a file for the JSON")
    return parser.parse_args()


def _take_release(folder: str, library: str) -> None:
    """Before anything imports the newest release."""
    if library in party.WITHOUT_IMPORT:
        party.release_folders[library] = pathlib.Path(folder).resolve()
    else:
        sys.path.insert(0, folder)


def main() -> int:
    arguments = _arguments()
    if arguments.release and not pathlib.Path(arguments.release).is_dir():
        print(f"observatory: {arguments.release} is no folder: install a release there by pip --target", file=sys.stderr)
        return 2
    if arguments.release:
        _take_release(arguments.release, arguments.library)
    from . import run
    from .tables import chosen

    rows = chosen(arguments.table, arguments.library, arguments.operation)[arguments.first :]
    if not rows:
        if arguments.first:
            return 0
        print(f"observatory: no row of the table is for '{arguments.library}'", file=sys.stderr)
        return 2

    def save(results: list) -> None:
        text = json.dumps([dataclasses.asdict(one) for one in results], indent=1)
        if arguments.output != "-":
            new = pathlib.Path(arguments.output + ".new")
            new.write_text(text + "\n")
            os.replace(new, arguments.output)

    deadline = time.monotonic() + arguments.seconds
    if arguments.prove:
        results = [run.prove(row, deadline) for row in rows]
    elif arguments.table == "products":
        results = run.run_products(rows, deadline, save, arguments.output + ".call" if arguments.output != "-" else os.devnull)
    else:
        results = run.run(rows, deadline, save=save)
    save(results)
    if arguments.output == "-":
        print(json.dumps([dataclasses.asdict(one) for one in results], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
