"""Runs the table of conversions for a time and writes what it found as JSON."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import sys
import time


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="observatory", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long, for all rows together")
    parser.add_argument("--library", default="*", help="shell pattern: rows of these libraries alone")
    parser.add_argument("--release", metavar="FOLDER", help="a folder with an old release, which is taken instead")
    parser.add_argument("--output", default="-", help="a file for the JSON")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    if arguments.release and not pathlib.Path(arguments.release).is_dir():
        print(f"observatory: {arguments.release} is no folder: install a release there by pip --target", file=sys.stderr)
        return 2
    if arguments.release and arguments.library != "libnpymath":  # before anything imports the newest release
        sys.path.insert(0, arguments.release)
    from . import conversions
    from .run import run

    if arguments.release and arguments.library == "libnpymath":
        conversions.release_folders["libnpymath"] = pathlib.Path(arguments.release).resolve()
    results = run(conversions.table(), arguments.library, time.monotonic() + arguments.seconds)
    if not results:
        print(f"observatory: no row of the table is for '{arguments.library}'", file=sys.stderr)
        return 2
    text = json.dumps([dataclasses.asdict(one) for one in results], indent=1)
    if arguments.output == "-":
        print(text)
    else:
        pathlib.Path(arguments.output).write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
