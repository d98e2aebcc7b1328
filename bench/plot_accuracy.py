#!/usr/bin/env python3
"""Draws the error of each scheme on a GPU against its narrow products, for two matrices (docs/ozaki.md):
build/release/mmafuzz accuracy a.npy b.npy --for h100 --json | bench/plot_accuracy.py accuracy.svg (needs gnuplot)."""
import json
import subprocess
import sys


def main():
    found = json.load(sys.stdin)
    measure, of = ("greatest", "|a||b|") if found["componentwise"] else ("norm", "the product's norm")
    blocks, plots = "", []
    for i, unit in enumerate(found["units"]):
        points = "".join(f"{one['narrow_products']} {max(one[measure], 1e-18)}\n" for one in unit["curve"])
        blocks += f"$d{i} << END\n{points}END\n"
        scheme = unit["unit"].split("?")[0].replace("_", "\\_")
        plots.append(f"$d{i} using 1:2 with linespoints lw 1.5 title '{scheme}'")
    script = f"""set terminal svg size 820,520 font 'sans,13'
set output '{sys.argv[1]}'
set xlabel 'narrow products'
set ylabel "error, of {of}"
set logscale xy
set format y '10^{{%L}}'
set key outside right
set grid
{blocks}
plot {', '.join(plots)}, {found['within']} with lines lc rgb '#888888' dt 2 title 'wished for'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
