"""Operands on which matrix units differ, drawn for any of our formats: kinds of cases in turn (KINDS), numpy arrays of
encodings. Independent of the product's own generators (search/), so that a corner forgotten there is not forgotten here
too."""

import numpy as np

# name: exponent bits, fraction bits, bias, ignored low bits, greatest finite code without the sign, specials, sign
FORMATS = {
    "fp64": (11, 52, 1023, 0, 0x7FEFFFFFFFFFFFFF, (0x7FF0000000000000, 0x7FF8000000000001), True),
    "fp32": (8, 23, 127, 0, 0x7F7FFFFF, (0x7F800000, 0x7FC00123), True),
    "tf32": (8, 10, 127, 13, 0x3FBFF, (0x3FC00, 0x3FE01), True),
    "fp16": (5, 10, 15, 0, 0x7BFF, (0x7C00, 0x7E01), True),
    "bf16": (8, 7, 127, 0, 0x7F7F, (0x7F80, 0x7FC1), True),
    "e5m2": (5, 2, 15, 0, 0x7B, (0x7C, 0x7E), True),
    "e4m3": (4, 3, 7, 0, 0x7E, (0x7F,), True),
    "e5m2fnuz": (5, 2, 16, 0, 0x7F, (0x80,), True),
    "e4m3fnuz": (4, 3, 8, 0, 0x7F, (0x80,), True),
    "e3m2": (3, 2, 3, 0, 0x1F, (), True),
    "e2m3": (2, 3, 1, 0, 0x1F, (), True),
    "e2m1": (2, 1, 1, 0, 0x7, (), True),
    "ue4m3": (4, 3, 7, 0, 0x7E, (0x7F,), False),
}
KINDS = (
    "ties",
    "powers",
    "alignment",
    "subnormal",
    "floor",
    "cancel",
    "overflow",
    "specials",
    "zeros",
    "spread",
    "uniform",
)


class Format:
    def __init__(self, name):
        self.name = name
        self.exponent_bits, self.fraction_bits, self.bias, self.low, self.greatest, self.specials, self.signed = (
            FORMATS[name]
        )
        self.emin = 1 - self.bias
        self.emax = (self.greatest >> self.fraction_bits) - self.bias
        self.least_bit = self.emin - self.fraction_bits
        self.sign = 1 << (self.exponent_bits + self.fraction_bits)
        self.signed_zero = not name.endswith("fnuz")

    def encode(self, rng, negative, exponent, fraction):
        """About 2^exponent * 1.fraction: subnormal or zero below the range, the greatest number above it."""
        exponent, fraction = np.broadcast_arrays(exponent, fraction)
        below = np.clip(self.emin - exponent, 0, self.fraction_bits + 1)
        significand = (np.int64(1) << self.fraction_bits | fraction) >> below
        field = np.where(below > 0, 0, exponent + self.bias - 1)
        code = np.minimum((field.astype(np.int64) << self.fraction_bits) + significand, self.greatest).astype(np.uint64)
        return self.container(rng, self.with_sign(code, negative))

    def with_sign(self, code, negative):
        if not self.signed:
            return code
        allowed = negative & (self.signed_zero | (code != 0))
        return np.where(allowed, code | np.uint64(self.sign), code)

    def zeros(self, rng, shape):
        return self.container(rng, self.with_sign(np.zeros(shape, np.uint64), rng.integers(0, 2, shape).astype(bool)))

    def special(self, rng, shape):
        if not self.specials:
            return self.with_sign(np.full(shape, self.greatest, np.uint64), rng.integers(0, 2, shape).astype(bool))
        code = np.array(self.specials, np.uint64)[rng.integers(0, len(self.specials), shape)]
        code = (
            code
            if not self.signed_zero or not self.signed
            else np.where(rng.integers(0, 2, shape) == 1, code | np.uint64(self.sign), code)
        )
        return self.container(rng, code)

    def uniform(self, rng, shape):
        width = 1 + self.exponent_bits + self.fraction_bits + self.low
        return (
            rng.integers(0, 1 << 63, shape, dtype=np.uint64) & np.uint64((1 << width) - 1)
            if width < 64
            else rng.integers(0, 1 << 64, shape, dtype=np.uint64)
        )

    def container(self, rng, code):
        """tf32 travels in 32 bits; some operands have bits in the low 13."""
        if not self.low:
            return code
        low = rng.integers(0, 1 << self.low, code.shape).astype(np.uint64) * (rng.integers(0, 4, code.shape) == 0)
        return code << np.uint64(self.low) | low


def fractions(rng, f, shape, plain=False):
    """0, all ones, one bit, or random."""
    top = 1 << f.fraction_bits
    one_bit = (
        np.int64(1) << rng.integers(0, max(f.fraction_bits, 1), shape) if f.fraction_bits else np.zeros(shape, np.int64)
    )
    kinds = [np.zeros(shape, np.int64), np.full(shape, top - 1), one_bit & (top - 1), rng.integers(0, top, shape)]
    pick = np.zeros(shape, np.int64) if plain else rng.integers(0, 4, shape)
    return np.choose(pick, kinds)


class Drawer:
    """Cases of one unit: op formats a, b, c, d, products k, scales (format, block) or None."""

    def __init__(self, a, b, c, d, k, scale, block, fraction_bits):
        self.a, self.b, self.c, self.d = Format(a), Format(b), Format(c), Format(d)
        self.k, self.scale, self.block, self.f = k, scale, block, fraction_bits

    def factors(self, rng, exponent, plain):
        """Factors whose exponents sum to `exponent` where the formats reach that far."""
        shape = exponent.shape
        a, b = self.a, self.b
        low, high = np.maximum(a.least_bit, exponent - b.emax), np.minimum(a.emax, exponent - b.least_bit)
        ea = np.where(
            low <= high,
            low + rng.integers(0, 1 << 30, shape) % (np.maximum(high - low, 0) + 1),
            np.clip(exponent, a.least_bit, a.emax),
        )
        eb = np.clip(exponent - ea, b.least_bit - 1, b.emax)
        negative = rng.integers(0, 2, (2,) + shape).astype(bool)
        return (
            a.encode(rng, negative[0], ea, fractions(rng, a, shape, plain)),
            b.encode(rng, negative[1], eb, fractions(rng, b, shape, plain)),
        )

    def scales(self, rng, n):
        groups = self.k // self.block
        if self.scale == "e8m0":
            near = rng.integers(117, 138, (2, n, groups)).astype(np.uint64)
            far = np.array([0, 1, 0x40, 0xA0, 0xFD, 0xFE, 0xFF], np.uint64)[rng.integers(0, 7, (2, n, groups))]
            low = rng.integers(0x30, 0x48, (2, n, groups)).astype(np.uint64)  # subnormal results
            pick = rng.integers(0, 40, (2, n, 1))
            s = np.where(
                pick < 26, near, np.where(pick < 36, low, np.where(rng.integers(0, 3, near.shape) == 0, far, near))
            )
        else:
            s = np.where(rng.integers(0, 30, (2, n, groups)) == 0, 0x7F, rng.integers(0, 0x7F, (2, n, groups))).astype(
                np.uint64
            )
            s = np.where(rng.integers(0, 20, s.shape) == 0, 0, s) | np.where(
                rng.integers(0, 8, s.shape) == 0, 0x80, 0
            ).astype(np.uint64)
        return s[0], s[1]

    def ties(self, n, rng):
        """A number half way between two results and a third power of two that may break the tie: in two or three
        products, or c and two products. More than half of them are below d's normal range."""
        d, shape = self.d, (n, self.k)
        low, high = max(self.a.least_bit + self.b.least_bit, -170), min(self.a.emax + self.b.emax + 1, d.emax)
        lead = np.where(
            rng.integers(0, 3, n) == 0, rng.integers(low, high + 1, n), rng.integers(d.least_bit - 1, d.emin + 3, n)
        )
        lead = np.where(rng.integers(0, 3, n) == 0, d.least_bit - 1, lead)  # the tie alone
        tie = np.maximum(lead, d.emin) - d.fraction_bits - 1
        # At F below the tie; at 31 bits below the result; at F below e_zero (5 to 7, for mxf4 13, below d's emin).
        more, wide = self.f - d.fraction_bits, 8 * (self.k == 64)
        near = np.array([0, 1, 2, 7, 8, 9])[rng.integers(0, 6, n)] + np.where(rng.integers(0, 2, n) == 0, more, 0)
        near = np.where(rng.integers(0, 3, n) == 0, more + wide + rng.integers(3, 8, n), near)
        breaker = tie - np.where(rng.integers(0, 4, n) == 0, rng.integers(1, 45, n), np.maximum(near, 1))
        # In neighbouring places, so that most often one block has them all.
        together = min(self.k, 4)
        order = (
            rng.permuted(np.tile(np.arange(together), (n, 1)), axis=1)
            + rng.integers(0, self.k // together, (n, 1)) * together
        )
        if self.k == 64:  # groups are summed exactly: one term in each
            order = order % 4 * 16
        in_c = (rng.integers(0, 2, n) == 0) | (self.k < 3)
        exponent = np.full(shape, -4000)
        rows = np.arange(n)
        for place, value in ((2, np.where(in_c, -4000, lead)), (1, breaker), (0, tie)):
            if place < together:
                exponent[rows, order[:, place]] = value
        unused = exponent == -4000
        scales = (
            self.scales_for(exponent, rng) if self.scale == "e8m0" else self.neutral_scales(n) if self.scale else ()
        )
        if self.scale == "e8m0":
            exponent = exponent - np.repeat((scales[0] + scales[1]).astype(np.int64) - 254, self.block, axis=1)
        x, y = self.factors(rng, exponent, True)
        x, y = np.where(unused, np.uint64(0), x), np.where(unused, np.uint64(0), y)
        z = self.c.encode(
            rng, rng.integers(0, 2, n).astype(bool), np.where(in_c & (lead > tie), lead, -4000), np.zeros(n, np.int64)
        )
        return (x, y, z) + scales

    def scales_for(self, exponent, rng):
        """Scales that bring the greatest of a group's exponents within reach of its products."""
        groups = exponent.reshape(len(exponent), -1, self.block).max(axis=2)
        total = np.where(groups == -4000, 0, groups - rng.integers(0, self.a.emax + self.b.emax + 1, groups.shape))
        first = np.clip(total // 2, -127, 127)
        return (first + 127).astype(np.uint64), (np.clip(total - first, -127, 127) + 127).astype(np.uint64)

    def neutral_scales(self, n):
        one = {"e8m0": 127, "ue4m3": 0x38}[self.scale]
        return (np.full((n, self.k // self.block), one, np.uint64),) * 2

    def draw(self, kind, n, rng):
        k, a, b, c, d, f = self.k, self.a, self.b, self.c, self.d, self.f
        shape = (n, k)
        reach_low, reach_high = a.least_bit + b.least_bit, a.emax + b.emax + 1
        top = rng.integers(max(reach_low, -160), min(reach_high, 150) + 1, (n, 1))
        plain = kind == "ties" or kind in ("powers", "subnormal", "floor") and rng.integers(0, 2) == 0
        if kind == "ties":
            return self.ties(n, rng)
        if kind == "powers" or kind == "alignment":
            offsets = np.array(
                [
                    0,
                    0,
                    1,
                    2,
                    d.fraction_bits,
                    d.fraction_bits + 1,
                    d.fraction_bits + 2,
                    f - 1,
                    f,
                    f + 1,
                    f + 2,
                    f + 7,
                    f + 8,
                    f + 9,
                ]
            )
            distance = offsets[rng.integers(0, len(offsets), shape)]
            exponent = (
                top - distance
                if kind == "powers"
                else np.where(np.arange(k) == rng.integers(0, k, (n, 1)), top, top - f + rng.integers(-1, 4, shape))
            )
            ec = top[:, 0] - np.array(offsets)[rng.integers(0, len(offsets), n)]
        elif kind == "subnormal":
            base = rng.integers(d.least_bit - 3, d.emin + 3, (n, 1))
            exponent = base - rng.integers(0, 12, shape)
            ec = np.where(rng.integers(0, 2, n) == 0, base[:, 0] - rng.integers(-2, 6, n), -4000)
        elif kind == "floor":
            base = (
                d.emin - 5 - rng.integers(-2, 4, (n, 1))
            )  # e_zero is 5 to 7 below d's least exponent in every unit known
            exponent = base - np.where(
                rng.integers(0, 2, shape) == 0, rng.integers(15, 36, shape), rng.integers(-6, 10, shape)
            )
            exponent = np.where(
                rng.integers(0, 2, (n, 1)) == 0,
                exponent,
                d.least_bit - 1 - rng.integers(0, 2, shape) * rng.integers(8, 34, shape),
            )
            ec = np.full(n, -4000)
        elif kind == "cancel":
            exponent = top - rng.integers(0, f + 10, shape)
            ec = top[:, 0] - rng.integers(-1, f + 6, n)
        elif kind == "overflow":
            exponent = d.emax - rng.integers(-2, 6, shape)
            ec = d.emax - rng.integers(0, 4, n)
        else:
            exponent = top - rng.integers(0, 24 if kind != "specials" else 8, shape)
            ec = top[:, 0] - rng.integers(-4, 30, n)
        if kind == "uniform":
            x, y, z = a.uniform(rng, shape), b.uniform(rng, shape), c.uniform(rng, n)
        else:
            x, y = self.factors(rng, exponent, plain)
            z = c.encode(rng, rng.integers(0, 2, n).astype(bool), ec, fractions(rng, c, n, plain))
        if kind == "zeros":
            zero = rng.integers(0, 3, (2, n, k))
            x, y = np.where(zero[0] > 0, a.zeros(rng, shape), x), np.where(zero[1] == 2, b.zeros(rng, shape), y)
            every = rng.integers(0, 3, (n, 1)) > 0  # all products zero; half of these all negative
            x = np.where(every, a.zeros(rng, shape), x)
            if a.signed_zero:
                x = np.where(every & (rng.integers(0, 2, (n, 1)) == 0), np.uint64(a.sign << a.low), x)
                y = np.where(
                    every & (rng.integers(0, 2, (n, 1)) == 0),
                    y & np.uint64(~((b.sign if b.signed else 0) << b.low) & (2**64 - 1)),
                    y,
                )
            z = np.where(rng.integers(0, 3, n) > 0, c.zeros(rng, n), z)
        if kind == "specials":
            for values, fmt in ((x, a), (y, b)):
                at = rng.integers(0, 2 * k, shape) < 2
                values[at] = fmt.special(rng, shape)[at]
            huge_zero = rng.integers(0, k, shape) == 0
            x = np.where(huge_zero, a.zeros(rng, shape), x)
            z = np.where(rng.integers(0, 3, n) == 0, c.special(rng, n), z)
        if kind == "cancel" and k > 1:
            # Product j is minus product i, and sometimes c is minus the rest's greatest.
            i, j = rng.integers(0, k, n), rng.integers(0, k, n)
            rows = np.flatnonzero(i != j)
            x[rows, j[rows]], y[rows, j[rows]] = x[rows, i[rows]], y[rows, i[rows]]
            if a.signed and (a.signed_zero or True):
                flipped = x[rows, j[rows]] ^ np.uint64(a.sign << a.low)
                x[rows, j[rows]] = flipped if a.signed_zero else np.where(flipped == a.sign, np.uint64(0), flipped)
        # Few addends: half of the cases keep only some products.
        few = rng.integers(0, 2, (n, 1)) == 0
        drop = few & (rng.integers(0, k, shape) >= 3) & (kind not in ("uniform", "zeros", "specials"))
        x, y = np.where(drop, np.uint64(0), x), np.where(drop, np.uint64(0), y)
        z = np.where((rng.integers(0, 4, n) == 0) & (kind not in ("uniform", "specials")), c.zeros(rng, n), z)
        return (x, y, z) + (self.scales(rng, n) if self.scale else ())
