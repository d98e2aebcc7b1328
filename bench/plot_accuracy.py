#!/usr/bin/env python3
"""Draws how the error of each scheme for the product of two matrices falls with the number of products of narrow
matrices that the scheme makes (docs/ozaki.md). Reads what `mmafuzz accuracy --json` prints; needs gnuplot:
build/release/mmafuzz accuracy a.npy b.npy --for h100 --json | bench/plot_accuracy.py accuracy.svg"""
import json
import subprocess
import sys

LEAST_DRAWN = 1e-18  # a logarithmic axis has no place for an exact product's error, 0


def main():
    found = json.load(sys.stdin)
    measure, whole = ("greatest", "|a||b|") if found["componentwise"] else ("norm", "the product's norm")
    blocks, plots = "", []
    for i, unit in enumerate(found["units"]):
        points = "".join(f"{one['narrow_products']} {max(one[measure], LEAST_DRAWN)}\n" for one in unit["curve"])
        blocks += f"$d{i} << END\n{points}END\n"
        scheme = unit["unit"].split("?")[0].replace("_", "\\_")
        plots.append(f"$d{i} using 1:2 with linespoints lw 1.5 title '{scheme}'")
    script = f"""set terminal svg size 820,520 font 'sans,13'
set output '{sys.argv[1]}'
set xlabel 'narrow products'
set ylabel "error, as a share of {whole}"
set logscale xy
set format y '10^{{%L}}'
set key outside right
set grid
{blocks}
plot {', '.join(plots)}, {found['within']} with lines lc rgb '#888888' dt 2 title 'asked for'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
