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
#: Of each scheme its plans, and of each flaw the property that it breaks and the products that a minimal witness has at most. Five products
#: of 11-bit digits are the least that 24 bits do not hold, and eleven bits are all that fp16 has.
SCHEMES = {
    "ozaki:dgemm.fp16": (["", "sum=exact"],
                         {"extra_width=1": ("exact_slices", 5), "skip_slice=2": ("gemm_error_bound", 1),
                          "subnormals=halved": ("gemm_error_bound", 1), "subnormals=flushed": ("gemm_error_bound", 1),
                          "specials=dropped": ("gemm_specials", 1)}),
    "ozaki2:dgemm.s8": (["", "scaling=accurate"],
                        {"flaw=one_bit_more": ("gemm_error_bound", 4), "flaw=greatest_only": ("gemm_error_bound", 4),
                         "flaw=wrong_power": ("gemm_error_bound", 4), "flaw=unsigned_residue": ("gemm_error_bound", 4),
                         "flaw=lost_modulus": ("gemm_error_bound", 4), "flaw=truncated_quotient": ("gemm_error_bound", 4),
                         "flaw=one_weight": ("gemm_error_bound", 4), "flaw=late_scale": ("gemm_error_bound", 4)}),
    "ozaki2:dgemm.e4m3": (["sum=exact"],
                          {"flaw=digits_swapped": ("gemm_error_bound", 4), "flaw=unsigned_residue": ("gemm_error_bound", 4)}),
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
    for flaw, (expected, products) in flaws.items():
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
        assert (m, n) == (1, 1) and k <= products and cause == flaw.split("=")[0], (m, n, k, cause)


if __name__ == "__main__":
    main()
