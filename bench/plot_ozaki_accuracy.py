#!/usr/bin/env python3
"""Draws the errors of Ozaki DGEMM against the spread of its inputs (Mukunoki et al. 2020, section 5):
build/release/mmafuzz bench ozaki-accuracy > accuracy.tsv; bench/plot_ozaki_accuracy.py accuracy.tsv docs/ozaki_accuracy.svg (needs gnuplot)."""
import subprocess
import sys

LEAST_DRAWN = 1e-17  # the least error on the axis
COLOURS = {"2": "#9400d3", "3": "#009e73", "4": "#56b4e9", "5": "#e69f00", "6": "#b8a800", "7": "#0072b2", "8": "#e51e10", "all": "#000000"}  # by slices


def main():
    tsv, svg = sys.argv[1:]
    with open(tsv) as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    names, rows = rows[0], rows[1:]

    def curve(name):
        at = names.index(name)
        return "".join(f"{row[0]} {max(float(row[at]), LEAST_DRAWN)}\n" for row in rows)

    blocks, plots = "", []
    for i, (slices, colour) in enumerate(COLOURS.items()):
        for fast in "01":
            blocks += f"$d{i}{fast} << END\n{curve(f'slices={slices},fast={fast}')}END\n"
            title = f"title 'd = {slices}'" if fast == "0" else "notitle"
            plots.append(f"$d{i}{fast} using 1:2 with lines lw 1.5 dt {1 + int(fast)} lc rgb '{colour}' {title}")
    blocks += f"$ieee << END\n{curve('ieee:fma')}END\n"
    plots.append("$ieee using 1:2 with lines lw 3 lc rgb '#888888' title 'FP64 FMA'")
    script = f"""set terminal svg size 820,520 font 'sans,13'
set output '{svg}'
set xlabel 'phi'
set ylabel 'greatest relative error'
set logscale y
set yrange [{LEAST_DRAWN}:1e1]
set format y '10^{{%L}}'
set key outside right
set grid
set title 'd slices of a and of b; dashed: fast mode' font ',12'
{blocks}
plot {', '.join(plots)}
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
