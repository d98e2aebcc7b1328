#!/usr/bin/env python3
"""A plugin that equals its model but for one flaw, added to the default units: a campaign ends with exactly one contradiction, about
the plugin, and with no new fact. one_contradiction_test.py MMAFUZZ CASES PLUGIN... Prints what is said about each flaw."""
import json
import subprocess
import sys
import tempfile


def facts_with(mmafuzz, plugin, cases):
    with tempfile.TemporaryDirectory(prefix="mmafuzz-contradiction-") as folder:
        run = subprocess.run([mmafuzz, "campaign", "--targets", "dot_models", "--units", f"default,plugin:{plugin}", "--cases", cases,
                              "--out", folder + "/out", "--json"], capture_output=True, text=True, check=False)
        assert run.returncode in (0, 1), (run.returncode, run.stderr)
        return run.returncode, json.loads(run.stdout)["facts"]


def main():
    mmafuzz, cases, *plugins = sys.argv[1:]
    failed = 0
    for plugin in plugins:
        code, facts = facts_with(mmafuzz, plugin, cases)
        names = [fact["name"] for fact in facts["contradictions"]]
        new = [fact["name"] for fact in facts["new"]]
        good = code == 1 and names == [f"claim/plugin:{plugin}"] and not new
        if "wrong_row" in plugin:
            good = good and "block (products per fused step): 16 is claimed, 4 fits" in facts["contradictions"][0]["sentence"]
        failed += not good
        print("ok    " if good else "FAILED", plugin.rsplit("/", 1)[-1], names if not good else facts["contradictions"][0]["sentence"].split(": ", 1)[-1],
              new or "", flush=True)
    print(f"{len(plugins) - failed} of {len(plugins)} flaws are one contradiction and nothing else new")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
