#!/usr/bin/env python3
"""Ozaki schemes with a planted flaw: a search of a fixed number of cases finds each as a contract divergence, which minimizes to a small
product with the flaw as its cause; a sound plan passes the same search. gemm_flaws_test.py MMAFUZZ CASES"""
import json
import re
import subprocess
import sys
import tempfile
import time

OPS = ["gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=16", "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=8"]
#: Of each scheme its plans, and of each flaw the property that it breaks, the products that a minimal witness has at most, and its cause: of
#: slices the parameter, of residues the stage. Five products of 11-bit digits are the least that 24 bits do not hold, and eleven bits are
#: all that fp16 has.
BOUND = "gemm_error_bound"
SCHEMES = {
    "ozaki:dgemm.fp16": (["", "sum=exact"],
                         {"extra_width=1": ("exact_slices", 5, "extra_width"), "skip_slice=2": (BOUND, 1, "skip_slice"),
                          "subnormals=halved": (BOUND, 1, "subnormals"), "subnormals=flushed": (BOUND, 1, "subnormals"),
                          "specials=dropped": ("gemm_specials", 1, "specials")}),
    "ozaki2:dgemm.s8": (["", "scaling=accurate"],
                        {"flaw=one_bit_more": (BOUND, 4, "scaling"), "flaw=greatest_only": (BOUND, 4, "scaling"),
                         "flaw=last_left_out": (BOUND, 4, "scaling"), "flaw=wrong_power": (BOUND, 4, "residues"),
                         "flaw=unsigned_residue": (BOUND, 4, "residues"), "flaw=lost_modulus": (BOUND, 4, "residues"),
                         "flaw=truncated_quotient": (BOUND, 4, "reconstruction"),
                         "flaw=one_weight": (BOUND, 4, "reconstruction"), "flaw=late_scale": (BOUND, 4, "reconstruction")}),
    "ozaki2:dgemm.e4m3": (["sum=exact"],
                          {"flaw=digits_swapped": (BOUND, 4, "residues"), "flaw=unsigned_residue": (BOUND, 4, "residues")}),
}


def contracts(mmafuzz, unit, op, cases):
    """Contract divergences that a search finds on a unit, by property; of several the one of normal values, if there is one: a witness with a
    special value keeps it, and the product that it stands in."""
    run = subprocess.run([mmafuzz, "fuzz", "--op", op, "--units", unit, "--cases", cases, "--seed", "1", "--json"], capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr
    buckets = [bucket for bucket in json.loads(run.stdout)["buckets"] if bucket["severity"] == "contract"]
    found = {bucket["property"]: bucket for bucket in sorted(buckets, key=lambda bucket: bucket["value_class"] == "normal")}
    assert (run.returncode == 1) == bool(found), (run.returncode, found)
    return found


def minimized(mmafuzz, bucket):
    """Sizes and cause of the bucket's witness."""
    with tempfile.NamedTemporaryFile("w", suffix=".cases") as file:
        file.write("mmafuzz-cases 1\nproperty " + " ".join([bucket["property"]] + bucket["units"]) + f"\n{bucket['op']}\n{bucket['cases'][0]}\n")
        file.flush()
        text = subprocess.run([mmafuzz, "minimize", file.name], capture_output=True, text=True, check=True).stdout
    m, n, k = map(int, re.search(r"^op gemm .*m=(\d+) n=(\d+) k=(\d+)", text, re.M).groups())
    return m, n, k, re.search(r"^# mmafuzz: divergence .* (\S+)$", text, re.M).group(1)


def main():
    mmafuzz, cases = sys.argv[1:]
    for scheme, (plans, flaws) in SCHEMES.items():
        for plan in plans:
            for op in OPS:
                check(mmafuzz, cases, scheme, plan, flaws, op, whole=plan == plans[0] and op == OPS[1])


def check(mmafuzz, cases, scheme, plan, flaws, op, whole):
    found = contracts(mmafuzz, scheme + (f"?{plan}" if plan else ""), op, cases)
    assert not found, f"a sound plan ({scheme}?{plan}) fails {found} on {op}"
    for flaw, (expected, products, expected_cause) in flaws.items():
        start = time.monotonic()
        found = contracts(mmafuzz, f"{scheme}?" + ",".join(p for p in (plan, flaw) if p), op, cases)
        seconds = time.monotonic() - start
        assert expected in found, f"{flaw} was not found as {expected} but as {sorted(found)} on {op}"
        assert seconds < 60, f"{flaw} took {seconds:.0f} s"
        print(f"{scheme:20} {flaw:24} {plan:16} {op[-12:]} {seconds:5.1f} s  {expected}", flush=True)
        if not whole:
            continue
        m, n, k, cause = minimized(mmafuzz, found[expected])
        print(f"  minimal {m}x{n}x{k} cause {cause}", flush=True)
        assert (m, n) == (1, 1) and k <= products and cause == expected_cause, (m, n, k, cause)


if __name__ == "__main__":
    main()
