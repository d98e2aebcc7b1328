#!/usr/bin/env python3
"""Plots what fp32 numbers around CFloat8_1_4_3's least normal number become under both readings of its denormals:
bench/plot_cfloat_hole.py build/release/mmafuzz docs/cfloat_hole.svg (needs gnuplot)."""
import struct
import subprocess
import sys


def converted(mmafuzz, switch, numbers):
    """Results of the unit ieee, decoded here from the text's formulas (bias 7)."""
    cases = f"mmafuzz-cases 1\nop convert from=fp32 to=cfloat8_1_4_3:7?denormal={switch} round=nearest_even\n"
    cases += "".join(struct.pack(">f", x).hex() + "\n" for x in numbers)
    lines = subprocess.run([mmafuzz, "eval", "--unit", "ieee", "-"], input=cases, capture_output=True, text=True, check=True).stdout.splitlines()
    values = []
    for line in lines:
        if "|" not in line:
            continue
        code = int(line.split("|")[1], 16)
        exponent, fraction = code >> 3 & 15, code & 7
        below = 2.0 ** (-7 if switch == "literal" else -6) * fraction / 8
        values.append(2.0 ** (exponent - 7) * (1 + fraction / 8) if exponent else below)
    return values


def main():
    mmafuzz, svg = sys.argv[1:]
    numbers = [i * 2.0**-14 for i in range(1, 513)]  # to 2^-5
    literal, gradual = (converted(mmafuzz, s, numbers) for s in ("literal", "gradual"))
    data = "".join(f"{x * 128} {a * 128} {b * 128}\n" for x, a, b in zip(numbers, literal, gradual))
    script = f"""set terminal svg size 820,420 font 'sans,13'
set output '{svg}'
set xlabel 'source, in units of 2^-^7 (the least normal number is 2)'
set ylabel 'result'
set key top left
set grid
set object 1 rectangle from 0.875,graph 0 to 2,graph 1 fillcolor rgb '#eeeeee' fillstyle solid noborder behind
set label 1 'the hole' at 1.3,0.2
$points << END
{data}END
plot $points using 1:1 with lines lc rgb '#bbbbbb' title 'exact', \\
  $points using 1:3 with steps lw 1.5 lc rgb '#4477aa' title 'denormal=gradual', \\
  $points using 1:2 with steps lw 2 lc rgb '#cc3311' title 'denormal=literal'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
