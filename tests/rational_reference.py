#!/usr/bin/env python3
"""An independent reference in integers: decoding, exact and IEEE dots, matrix products, scalar operations and
conversions, from IEEE 754-2019, OCP OFP8 1.0, OCP MX 1.0 and Tesla's text, sharing nothing with the C++ code. What
those leave open is as docs/case-text.md and docs/cfloat.md say. It draws operations and cases itself, has mmafuzz
evaluate them and compares every bit:

  tests/rational_reference.py build/release/mmafuzz [--seed N] [--scaled N] [--others N] [--units A,B]

Exit status 1 where a unit differs. What a unit declines is left out and counted."""

import argparse
import collections
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

INEXACT, UNDERFLOW, OVERFLOW, DIVIDE_BY_ZERO, INVALID, DENORMAL = 1, 2, 4, 8, 16, 32  # as case text writes them
MODES = ["nearest_even", "toward_zero", "up", "down", "nearest_away", "odd"]  # IEEE 754-2019, 4.3; Boldo, Melquiond

# ------------------------------------------------------------ formats


class Format:
    """special: ieee (3.4: the top exponent is infinity or NaN), ones (OFP8 E4M3: all ones is NaN), minus_zero (fnuz:
    the code of -0 is NaN), clamp (MX and Tesla: every code is a number), top (E8M0). below: gradual, literal (Tesla:
    2^-bias * 0.f), flushed (UHP), none (E8M0: no zero, no subnormals). switches: the readings of Tesla's text that are
    not the default (docs/cfloat.md), as "name=value"."""

    def __init__(
        self,
        name,
        bits,
        exponent,
        fraction,
        bias,
        special,
        sign=True,
        below="gradual",
        padding=0,
        tesla=False,
        switches=(),
    ):
        self.switches = frozenset(switches)
        below = "gradual" if "denormal=gradual" in switches else below
        name += "?" + ",".join(switches) if switches else ""
        self.name, self.bits, self.exponent, self.fraction, self.bias, self.special = (
            name,
            bits,
            exponent,
            fraction,
            bias,
            special,
        )
        self.sign, self.below, self.padding = sign, below, padding
        self.any_nan_invalid = tesla and "invalid=signaling_nan" not in switches
        self.has_inexact = not tesla or "inexact=raised" in switches
        self.precision = fraction + 1
        self.sign_bit = 1 << (exponent + fraction) if sign is True else 0
        self.top = (1 << exponent) - 1
        self.emin = -bias if below == "none" else 1 - bias
        self.digits = (bits + 3) // 4
        last = (self.top << fraction) | ((1 << fraction) - 1)
        self.greatest = {"ieee": (self.top << fraction) - 1, "ones": last - 1, "top": last - 1}.get(special, last)
        self.nan = {
            "ieee": (self.top << fraction) | (1 << (fraction - 1) if fraction else 0),
            "ones": last,
            "minus_zero": self.sign_bit,
            "top": last,
            "clamp": None,
        }[special]
        self.infinity = self.top << fraction if special == "ieee" else None

    def zero(self, negative):
        return (
            self.sign_bit if negative and self.special != "minus_zero" and "zero=positive" not in self.switches else 0
        )

    def encode(self, code):
        return code << self.padding

    def nan_or_greatest(self):
        return self.nan if self.nan is not None else self.greatest


class Integer:
    def __init__(self, name, bits, signed):
        self.name, self.bits, self.signed, self.digits, self.padding, self.switches = (
            name,
            bits,
            signed,
            bits // 4,
            0,
            frozenset(),
        )


def ieee(name, exponent, fraction, **more):
    return Format(name, 1 + exponent + fraction, exponent, fraction, (1 << (exponent - 1)) - 1, "ieee", **more)


def tesla(name, bias, *switches):
    exponent, fraction = {"cfloat8_1_4_3": (4, 3), "cfloat8_1_5_2": (5, 2), "shp": (5, 10)}[name]
    return Format(
        f"{name}:{bias}",
        1 + exponent + fraction,
        exponent,
        fraction,
        bias,
        "clamp",
        below="literal",
        tesla=True,
        switches=switches,
    )


def uhp(*switches):
    return Format("uhp", 16, 6, 10, 31, "ieee", sign=False, below="flushed", tesla=True, switches=switches)


FLOATS = [
    ieee("fp64", 11, 52),
    ieee("fp32", 8, 23),
    ieee("fp16", 5, 10),
    ieee("bf16", 8, 7),
    Format("tf32", 32, 8, 10, 127, "ieee", padding=13),  # PTX ISA: the low 13 bits of the register are ignored
    ieee("e5m2", 5, 2),
    Format("e4m3", 8, 4, 3, 7, "ones"),  # OFP8 1.0
    Format("e5m2fnuz", 8, 5, 2, 16, "minus_zero"),
    Format("e4m3fnuz", 8, 4, 3, 8, "minus_zero"),
    Format("e3m2", 6, 3, 2, 3, "clamp"),
    Format("e2m3", 6, 2, 3, 1, "clamp"),
    Format("e2m1", 4, 2, 1, 1, "clamp"),  # MX 1.0
    Format("e8m0", 8, 8, 0, 127, "top", sign=False, below="none"),  # MX 1.0
    Format("ue4m3", 8, 4, 3, 7, "ones", sign="ignored"),  # PTX ISA
    tesla("cfloat8_1_4_3", 7),
    tesla("cfloat8_1_4_3", 0),
    tesla("cfloat8_1_5_2", 15),
    tesla("cfloat8_1_5_2", 63),
    tesla("shp", 0),
    tesla("shp", 15),
    tesla("shp", 40),
    uhp(),
    uhp("negative=zero"),
    uhp("negative=absolute", "flush=before"),
    uhp("tiny_negative=flushed"),
    uhp("tiny_negative=flushed", "flush=before"),
    uhp("invalid=signaling_nan", "overflow=before"),
    tesla("cfloat8_1_4_3", 7, "hole=tie_down"),
    tesla("cfloat8_1_4_3", 7, "denormal=gradual", "clamp=positive"),
    tesla("shp", 15, "zero=positive", "overflow=before", "underflow=tiny"),
    tesla("cfloat8_1_5_2", 15, "nan=signed", "infinity=invalid", "inexact=raised"),
    tesla("cfloat8_1_5_2", 0, "conversions=silent", "hole=tie_down"),
]
INTEGERS = [Integer("s8", 8, True), Integer("u8", 8, False)]
WIDE_INTEGERS = [Integer("s32", 32, True), Integer("u32", 32, False), Integer("s64", 64, True), Integer("u64", 64, False)]
BY_NAME = {f.name: f for f in FLOATS + INTEGERS + WIDE_INTEGERS}

# A number is (kind, negative, m, e), kind "zero", "finite", "infinity", "nan"; its magnitude is m * 2^e.
Number = collections.namedtuple("Number", "kind negative m e subnormal signaling", defaults=(False, False))
ZERO = {s: Number("zero", s, 0, 0) for s in (False, True)}


def decode(f, encoding):
    if isinstance(f, Integer):
        value = encoding - (1 << f.bits) if f.signed and encoding >> (f.bits - 1) else encoding
        return Number("finite" if value else "zero", value < 0, abs(value), 0)
    code = encoding >> f.padding
    negative = bool(f.sign_bit and code & f.sign_bit)
    fraction = code & ((1 << f.fraction) - 1)
    field = code >> f.fraction & f.top
    magnitude = field << f.fraction | fraction
    if (
        (f.special == "ieee" and field == f.top and fraction)
        or (f.special in ("ones", "top") and magnitude == f.nan)
        or (f.special == "minus_zero" and code == f.nan)
    ):
        negative = negative and f.special != "minus_zero"  # the one NaN, which is no -0 either
        signaling = f.special == "ieee" and (f.any_nan_invalid or not fraction >> (f.fraction - 1))
        return Number("nan", negative, 0, 0, False, signaling)
    if f.special == "ieee" and field == f.top:
        return Number("infinity", negative, 0, 0)
    if field == 0 and f.below != "none":
        if fraction == 0:
            return ZERO[negative and "zero=positive" not in f.switches]
        if f.below == "flushed":
            return Number("zero", negative, 0, 0, True)
        return Number("finite", negative, fraction, -f.bias - f.fraction + (f.below == "gradual"), True)
    return Number("finite", negative, fraction | 1 << f.fraction, field - f.bias - f.fraction)


# ------------------------------------------------------------ rounding

Rule = collections.namedtuple("Rule", "mode tiny saturate", defaults=("nearest_even", "after", False))


def goes_up(mode, negative, odd, twice_rest, whole):
    """Whether a magnitude rest / whole of a step over the lower neighbour moves away from zero (IEEE 754-2019, 4.3)."""
    if twice_rest == 0 or mode == "toward_zero":
        return False
    if mode == "odd":
        return not odd
    if mode in ("up", "down"):
        return negative == (mode == "down")
    return twice_rest > whole or (twice_rest == whole and (odd or mode == "nearest_away"))


def cut(num, den, exponent, quantum):
    """num / den * 2^exponent in units of 2^quantum: quotient, rest, and what the rest is counted in."""
    shift = exponent - quantum
    if shift >= 0:
        num <<= shift
    else:
        den <<= -shift
    n, rest = divmod(num, den)
    return n, rest, den


def floor_log2(num, den, exponent):
    guess = num.bit_length() - den.bit_length()
    if (num << -guess if guess < 0 else num) < (den << guess if guess > 0 else den):
        guess -= 1
    return guess + exponent


def negative_without_sign(f, rule):
    return (f.zero(False) if rule.saturate or f.nan is None or "negative=zero" in f.switches else f.nan), INVALID


def beyond(f, negative, rule, mode):
    """The code of an overflow (7.4); without infinities NaN (OFP8) or the greatest number (MX, Tesla)."""
    away = mode in ("nearest_even", "nearest_away") or negative == (mode == "down") and mode not in ("toward_zero", "odd")
    if not away or rule.saturate or f.nan is None:
        return f.greatest | (f.sign_bit if negative and "clamp=positive" not in f.switches else 0)
    if f.infinity is not None:
        return f.infinity | (f.sign_bit if negative else 0)
    return f.nan | (f.sign_bit if negative and f.special == "ones" else 0)


def round_ratio(f, negative, num, den, exponent, rule):
    """(-1)^negative * num / den * 2^exponent, not zero, rounded once: code and flags."""
    if negative and not f.sign_bit:
        if "negative=absolute" in f.switches:
            return round_ratio(f, False, num, den, exponent, rule)
        if "tiny_negative=flushed" not in f.switches:
            return negative_without_sign(f, rule)
    p, mode = f.precision, rule.mode
    leading = floor_log2(num, den, exponent)
    below_normal = leading < f.emin
    if below_normal and f.below == "none":
        return 0, UNDERFLOW | INEXACT  # the least number is the nearest
    literal = below_normal and f.below == "literal"
    quantum = max(leading, f.emin) - p + 1 - literal
    n, rest, whole = cut(num, den, exponent, quantum)
    inexact = rest != 0
    top = (1 << f.fraction) - 1
    if literal and (n > top or (n == top and inexact)):
        # Between the greatest denormal and the least normal number, in units of 2^quantum; ties go to the normal one,
        # whose encoding is even.
        inexact = True
        twice_part, width = 2 * ((n - top) * whole + rest), (2 * (top + 1) - top) * whole
        code = top + goes_up(mode, negative, "hole=tie_down" not in f.switches, twice_part, width)
        if mode == "odd":
            code = top + (top % 2 == 0)
        if twice_part == width and mode == "nearest_away":
            code = top + ("hole=tie_down" not in f.switches)
    else:
        n += goes_up(mode, negative, n & 1, 2 * rest, whole)
        if n < 1 << f.fraction or literal:
            code = n
        else:
            carry = n >> p
            code = ((quantum + f.fraction + f.bias + carry) << f.fraction) + ((n >> carry) - (1 << f.fraction))
    tiny = below_normal
    if tiny and rule.tiny == "after":
        unbounded, rest, whole = cut(num, den, exponent, leading - p + 1)
        unbounded += goes_up(mode, negative, unbounded & 1, 2 * rest, whole)
        tiny = not (unbounded >> p and leading + 1 == f.emin)
    flags = (INEXACT if inexact else 0) | (UNDERFLOW if tiny and (inexact or "underflow=tiny" in f.switches) else 0)
    if f.below == "flushed" and (0 < code < 1 << f.fraction or (below_normal and "flush=before" in f.switches)):
        code, flags = 0, UNDERFLOW | INEXACT
    if negative and not f.sign_bit and code:
        return negative_without_sign(f, rule)
    if "overflow=before" in f.switches and code == f.greatest:
        greatest = decode(f, f.greatest)
        flags |= OVERFLOW if cut(num, den, exponent, greatest.e)[:2] > (greatest.m, 0) else 0
    if code > f.greatest:
        return beyond(f, negative, rule, mode), OVERFLOW | INEXACT
    return (code | (f.sign_bit if negative else 0) if code else f.zero(negative)), flags


def round_number(f, x, rule):
    """Any number but NaN, rounded once."""
    if x.kind == "zero":
        return f.zero(x.negative), (UNDERFLOW | INEXACT if f.below == "none" else 0)
    if x.kind == "infinity":
        if x.negative and not f.sign_bit:
            if "negative=absolute" not in f.switches:
                return negative_without_sign(f, rule)
            x = x._replace(negative=False)
        if f.infinity is not None and not rule.saturate:
            return f.infinity | (f.sign_bit if x.negative else 0), 0
        return beyond(f, x.negative, rule, "nearest_even"), (
            INVALID if "infinity=invalid" in f.switches else OVERFLOW | INEXACT
        )
    return round_ratio(f, x.negative, x.m, 1, x.e, rule)


# ------------------------------------------------------------ operations

NAN = Number("nan", False, 0, 0)


def product(x, y):
    if x.kind == "nan" or y.kind == "nan":
        return NAN
    negative = x.negative != y.negative
    if "infinity" in (x.kind, y.kind):
        return NAN if "zero" in (x.kind, y.kind) else Number("infinity", negative, 0, 0)
    if "zero" in (x.kind, y.kind):
        return ZERO[negative]
    return Number("finite", negative, x.m * y.m, x.e + y.e)


def exact_sum(terms, mode):
    """IEEE 754-2019, 6.1 and 6.3: an exact zero sum has the terms' common sign, else + except when rounding down."""
    if any(t.kind == "nan" for t in terms):
        return NAN
    infinities = {t.negative for t in terms if t.kind == "infinity"}
    if infinities:
        return NAN if len(infinities) == 2 else Number("infinity", infinities.pop(), 0, 0)
    finite = [t for t in terms if t.kind == "finite"]
    base = min((t.e for t in finite), default=0)
    total = sum((-t.m if t.negative else t.m) << (t.e - base) for t in finite)
    if total == 0:
        signs = {t.negative for t in terms}
        return ZERO[signs.pop() if len(signs) == 1 else mode == "down"]
    return Number("finite", total < 0, abs(total), base)


def result_of(f, x, rule):
    """Encoding of a sum or product."""
    return f.encode(f.nan_or_greatest() if x.kind == "nan" else round_number(f, x, rule)[0])


def flushed_operand(f, x, ftz):
    """Under ftz=1 a subnormal operand is a zero of its sign, in a format whose zeros have signs."""
    return ZERO[x.negative and "zero=positive" not in f.switches] if ftz and x.subnormal else x


def flushed_result(f, encoding, flags, ftz):
    """Under ftz=1 a result is a zero of its sign that is subnormal, or that underflowed to the least normal number."""
    if not ftz:
        return encoding, False
    x = decode(f, encoding)
    tiny = x.subnormal or (flags & UNDERFLOW and f.below != "none")
    return (f.encode(f.zero(x.negative)), True) if tiny else (encoding, False)


def dot_terms(op, a, b, sa, sb):
    terms = []
    for i, (x, y) in enumerate(zip(a, b)):
        p = product(flushed_operand(op.a, decode(op.a, x), op.ftz), flushed_operand(op.b, decode(op.b, y), op.ftz))
        if op.sa:
            p = product(product(p, decode(op.sa, sa[i // op.sblock])), decode(op.sb, sb[i // op.sblock]))
        terms.append(p)
    return terms


def dot(order, op, a, b, c, sa, sb):
    f, rule = op.d, op.rule._replace(tiny="after")  # a dot takes no tiny=
    terms = dot_terms(op, a, b, sa, sb)
    c = flushed_operand(op.c, decode(op.c, c), op.ftz)

    def rounded(x):
        flags = 0 if x.kind == "nan" else round_number(f, x, rule)[1]
        return flushed_result(f, result_of(f, x, rule), flags, op.ftz)[0]

    def add(x, y):
        return rounded(exact_sum([x, y], rule.mode))

    if order == "exact":
        return rounded(exact_sum(terms + [c], rule.mode))
    if order == "pairwise":  # Whitehead and Fit-Florea, 3.1: products by halves; c last

        def half(first, last):
            if last - first == 1:
                return rounded(terms[first])
            middle = first + (last - first) // 2
            return add(decode(f, half(first, middle)), decode(f, half(middle, last)))

        return add(decode(f, half(0, len(terms))), c)
    sum_ = c
    for term in terms:
        encoding = add(sum_, term if order == "fma" else decode(f, rounded(term)))
        sum_ = decode(f, encoding)
    return encoding


def gemm(op, a, b, c):
    """BLAS: a zero alpha leaves the products out, a zero beta c, whatever they hold; no term: +0. Unwritten means 1."""
    one = Number("finite", False, 1, 0)
    alpha, beta = (one if s is None else decode(op.d, s) for s in (op.alpha, op.beta))
    results = []
    for i in range(op.m):
        for j in range(op.n):
            terms = []
            if alpha.kind != "zero":
                terms = [
                    product(product(decode(op.a, a[i * op.k + t]), decode(op.b, b[t * op.n + j])), alpha)
                    for t in range(op.k)
                ]
            if beta.kind != "zero":
                terms.append(product(decode(op.c, c[i * op.n + j]), beta))
            results.append(result_of(op.d, exact_sum(terms, op.rule.mode) if terms else ZERO[False], op.rule))
    return results


def finish(f, operands, encoding, flags, ftz):
    """Flags that operands bring: signaling NaN (7.2), denormal operands (as on x86, outranked by NaN and 7.2, 7.3)."""
    encoding, flushed = flushed_result(f, encoding, flags, ftz)
    if flushed:
        flags |= UNDERFLOW | INEXACT
    any_nan = any(x.kind == "nan" for x in operands)
    if any(x.signaling for x in operands) or (any_nan and f.any_nan_invalid):
        flags |= INVALID
    if any(x.subnormal for x in operands) and not any_nan and not flags & (INVALID | DIVIDE_BY_ZERO) and not ftz:
        flags |= DENORMAL
    if not f.has_inexact:
        flags &= ~INEXACT  # Tesla's text has four flags: Invalid, Denormal, Overflow, Underflow
    return encoding, flags


def to_integral(x, mode):
    """A finite number as a signed integer, and whether that is inexact."""
    n, rest, whole = cut(x.m, 1, x.e, 0)
    n += goes_up(mode, x.negative, n & 1, 2 * rest, whole)
    return (-n if x.negative else n), rest != 0


def convert_to_integer(op, x):
    """IEEE 754-2019, 5.8 and 7.2 j; what these leave open as docs/case-text.md says."""
    f = op.d
    least, greatest = (-(1 << (f.bits - 1)), (1 << (f.bits - 1)) - 1) if f.signed else (0, (1 << f.bits) - 1)
    silent = "conversions=silent" in op.a.switches
    if x.kind in ("zero", "finite"):
        value, inexact = to_integral(x, op.rule.mode)
        if least <= value <= greatest:
            raised = inexact and op.inexact and op.a.has_inexact and not silent
            return value & ((1 << f.bits) - 1), INEXACT if raised else 0
    flags = 0 if silent else INVALID
    if not op.rule.saturate:
        return (1 << (f.bits - 1) if f.signed else greatest), flags
    return (0 if x.kind == "nan" else least if x.negative else greatest) & ((1 << f.bits) - 1), flags


def convert(op, source):
    x = decode(op.a, source)
    y = flushed_operand(op.a, x, op.ftz)
    f = op.d
    if isinstance(f, Integer):
        return convert_to_integer(op, y)
    if y.kind == "nan":
        code, flags = f.nan_or_greatest(), (0 if f.nan is not None else INVALID)
        code |= f.sign_bit if f.nan is None and y.negative and "nan=signed" in f.switches else 0
    else:
        code, flags = round_number(f, y, op.rule)
    encoding, flags = finish(f, [x], f.encode(code), flags, op.ftz)
    return encoding, 0 if "conversions=silent" in op.a.switches | f.switches else flags


COMPARISONS = {  # IEEE 754-2019, 5.11: the truth of a relation, and whether quiet NaNs are invalid
    "equal": ("=", False),
    "less": ("<", True),
    "less_equal": ("<=", True),
    "unordered": ("?", False),
    "equal_signaling": ("=", True),
    "less_quiet": ("<", False),
    "less_equal_quiet": ("<=", False),
}


def compare_numbers(op, seen, x):
    f = op.a
    symbols, signals = COMPARISONS[op.scalar]
    if any(n.kind == "nan" for n in x):
        relation, flags = "?", (INVALID if signals else 0)
    else:
        base = min([n.e for n in x if n.kind == "finite"], default=0)
        size = {"zero": lambda n: 0, "finite": lambda n: n.m << (n.e - base), "infinity": lambda n: 1 << 5000}
        one, other = (-s if n.negative else s for n in x for s in [size[n.kind](n)])
        relation, flags = ("=" if one == other else "<" if one < other else ">"), 0
    code = round_number(f, Number("finite", False, 1, 0) if relation in symbols else ZERO[False], Rule())[0]
    return finish(f, seen, f.encode(code), flags, op.ftz)


def scalar(op, encodings):
    f, rule = op.a, op.rule
    seen = [decode(f, e) for e in encodings]
    x = [flushed_operand(op.a, n, op.ftz) for n in seen]
    name = op.scalar
    flags, value = 0, None
    if name in COMPARISONS:
        return compare_numbers(op, seen, x)
    if name == "round_to_integral":
        code, flags = f.nan_or_greatest(), 0
        if x[0].kind != "nan":
            y, inexact = x[0], False
            if y.kind == "finite":
                value, inexact = to_integral(y, rule.mode)
                y = Number("finite" if value else "zero", y.negative, abs(value), 0)
            code, flags = round_number(f, y, rule)
            flags |= INEXACT if inexact and op.inexact else 0
        # As roundss of x86: a subnormal operand has no flag of its own.
        return finish(f, [n._replace(subnormal=False) for n in seen], f.encode(code), flags, op.ftz)
    if any(n.kind == "nan" for n in x):
        return finish(f, seen, f.encode(f.nan_or_greatest()), 0, op.ftz)
    if name in ("add", "sub"):
        value = exact_sum([x[0], x[1] if name == "add" else x[1]._replace(negative=not x[1].negative)], rule.mode)
    elif name == "mul":
        value = product(x[0], x[1])
    elif name == "fma":
        p = product(x[0], x[1])
        value = NAN if p.kind == "nan" else exact_sum([p, x[2]], rule.mode)
    elif name == "sqrt":
        if x[0].negative and x[0].kind != "zero":
            value = NAN
        elif x[0].kind != "finite":
            value = x[0]
        else:
            odd = x[0].e & 1
            m = x[0].m << (odd + 2 * (2 * f.precision + 4))
            root = math.isqrt(m)
            # One bit more, set where a rest was left: enough below the last bit to round by.
            value = Number(
                "finite", False, 2 * root + (root * root != m), (x[0].e - odd) // 2 - (2 * f.precision + 4) - 1
            )
    else:
        numerator, divisor = (Number("finite", False, 1, 0), x[0]) if name == "rcp" else x
        negative = numerator.negative != divisor.negative
        if numerator.kind == divisor.kind and numerator.kind != "finite":
            value = NAN
        elif numerator.kind == "infinity":
            value = Number("infinity", negative, 0, 0)
        elif divisor.kind == "zero":  # 7.3: an exact infinity, neither overflow nor inexact
            code = round_number(f, Number("infinity", negative, 0, 0), rule)
            return finish(f, seen, f.encode(code[0]), DIVIDE_BY_ZERO, op.ftz)
        elif numerator.kind == "zero" or divisor.kind == "infinity":
            value = ZERO[negative]
        else:
            code, flags = round_ratio(f, negative, numerator.m, divisor.m, numerator.e - divisor.e, rule)
            return finish(f, seen, f.encode(code), flags, op.ftz)
    if value.kind == "nan":
        return finish(f, seen, f.encode(f.nan_or_greatest()), INVALID, op.ftz)
    code, flags = round_number(f, value, rule)
    return finish(f, seen, f.encode(code), flags, op.ftz)


# ------------------------------------------------------------ generation


class Op:
    """kind: dot, scalar, convert, gemm. As case text has it."""

    def __init__(
        self,
        kind,
        a,
        d,
        rule,
        b=None,
        c=None,
        k=0,
        sa=None,
        sb=None,
        sblock=0,
        ftz=False,
        scalar=None,
        m=1,
        n=1,
        alpha=None,
        beta=None,
        inexact=True,
    ):
        self.inexact = inexact
        self.m, self.n, self.alpha, self.beta = m, n, alpha, beta
        self.kind, self.a, self.b, self.c, self.d, self.k, self.sa, self.sb, self.sblock = (
            kind,
            a,
            b,
            c,
            d,
            k,
            sa,
            sb,
            sblock,
        )
        self.rule, self.ftz, self.scalar = rule, ftz, scalar

    def text(self):
        head = {
            "dot": lambda: f"dot a={self.a.name} b={self.b.name} c={self.c.name} d={self.d.name} k={self.k}",
            "gemm": lambda: f"gemm a={self.a.name} b={self.b.name} c={self.c.name} d={self.d.name}"
            + f" m={self.m} n={self.n} k={self.k}",
            "scalar": lambda: f"scalar {self.scalar} format={self.a.name}",
            "convert": lambda: f"convert from={self.a.name} to={self.d.name}",
        }[self.kind]()
        if self.sa:
            head += f" sa={self.sa.name} sb={self.sb.name} sblock={self.sblock}"
        head += "".join(
            f" {name}={value:0{self.d.digits}x}"
            for name, value in (("alpha", self.alpha), ("beta", self.beta))
            if value is not None
        )
        r = self.rule
        return (
            f"op {head} round={r.mode}"
            + (" tiny=before" if r.tiny == "before" and self.kind in ("convert", "scalar") else "")
            + (" ftz=1" if self.ftz else "")
            + (" saturate=1" if r.saturate else "")
            + ("" if self.inexact else " inexact=0")
        )

    def units(self):
        if self.kind == "dot":
            return ["exact", "exact:mpfr", "exact:bigint", "ieee:serial", "ieee:fma", "ieee:pairwise"]
        if self.kind == "gemm":
            return ["exact", "exact:mpfr", "exact:bigint"]
        return ["ieee", "exact", "exact:mpfr"]

    def expected(self, unit, fields):
        """Result (of a gemm: results) and flags; None for what no source decides."""
        if self.kind == "gemm":
            return gemm(self, *fields), None
        if self.kind == "dot":
            a, b, c, *scales = fields
            sa, sb = scales if scales else (None, None)
            order = "exact" if unit.startswith("exact") else unit.split(":")[1]
            return dot(order, self, a, b, c[0], sa, sb), None
        if self.kind == "convert":
            return convert(self, fields[0][0])
        encoding, flags = scalar(self, fields[0])
        if self.scalar == "fma" and not flags & INVALID:
            x, y, z = (decode(self.a, e) for e in fields[0])
            if z.kind == "nan" and {x.kind, y.kind} == {"zero", "infinity"}:
                flags = None  # 7.2: whether 0 * infinity + a quiet NaN is invalid is the implementation's choice
        return encoding, flags


def corner(f, rng):
    if isinstance(f, Integer):
        return rng.choice([0, 1, (1 << f.bits) - 1, 1 << (f.bits - 1)])
    least = 1 << f.fraction
    codes = [0, 1, least - 1, least, f.greatest, f.bias << f.fraction, f.greatest - 1, 2]
    if f.nan is not None:
        codes += [f.nan]
    if f.infinity is not None:
        codes += [f.infinity, f.infinity + 1]
    code = rng.choice(codes) & ((1 << (f.exponent + f.fraction)) - 1 | f.sign_bit)
    return f.encode(code ^ (f.sign_bit if rng.random() < 0.5 else 0))


def draw(f, rng, middle):
    """Half of the numbers lie within some octaves of `middle`, so that they meet; the rest: corners, any encodings."""
    kind = rng.random()
    if kind < 0.12:
        return corner(f, rng)
    if isinstance(f, Integer) or kind < 0.35:
        return rng.getrandbits(f.bits)
    field = min(max(f.bias + middle + rng.randint(-4, 4), 0), f.top)
    fraction = rng.getrandbits(f.fraction) if f.fraction else 0
    if rng.random() < 0.3 and f.fraction:
        fraction &= -1 << rng.randint(0, f.fraction)
    code = field << f.fraction | fraction | (f.sign_bit if rng.random() < 0.5 else 0)
    return f.encode(code) | (rng.getrandbits(f.padding) if f.padding else 0)


def draw_case(op, rng):
    if op.kind == "gemm":
        middle = op.d.bias // 8
        return [
            [draw(f, rng, s) for _ in range(size)]
            for f, s, size in ((op.a, middle, op.m * op.k), (op.b, -middle, op.k * op.n), (op.c, 0, op.m * op.n))
        ]
    if op.kind == "convert":
        far = op.d.bits if isinstance(op.d, Integer) else op.d.bias + op.d.fraction + 2
        limit = max(1, min(op.a.bias if isinstance(op.a, Format) else 8, far))
        return [[draw(op.a, rng, rng.randint(-limit, limit))]]
    if op.kind == "scalar":
        limit = max(1, op.a.bias)
        middle = rng.randint(-limit, limit) if rng.random() < 0.5 else 0
        if op.scalar == "round_to_integral" and rng.random() < 0.7:
            middle = rng.randint(-3, op.a.fraction + 1)
        count = {"sqrt": 1, "rcp": 1, "fma": 3, "round_to_integral": 1}.get(op.scalar, 2)
        operands = [draw(op.a, rng, middle) for _ in range(count)]
        if op.scalar in COMPARISONS and rng.random() < 0.4:  # equal, or a step apart
            operands[1] = (operands[0] + rng.randint(-1, 1)) & ((1 << op.a.bits) - 1)
        return [operands]
    middle = rng.choice([0, 0, rng.randint(-140, 140)])
    fields = [
        [draw(op.a, rng, middle) for _ in range(op.k)],
        [draw(op.b, rng, rng.choice([0, -middle])) for _ in range(op.k)],
        [draw(op.c, rng, middle)],
    ]
    if op.k > 1 and rng.random() < 0.3:  # two products that cancel, or nearly
        i, j = rng.sample(range(op.k), 2)
        fields[0][j] = fields[0][i] ^ (op.a.encode(op.a.sign_bit) if isinstance(op.a, Format) else 0)
        fields[1][j] = fields[1][i] ^ (1 << op.b.padding if rng.random() < 0.3 else 0)
    if op.sa:
        blocks = (op.k + op.sblock - 1) // op.sblock
        fields += [
            [draw(op.sa, rng, 0) for _ in range(blocks)],
            [draw(op.sb, rng, rng.choice([0, -middle])) for _ in range(blocks)],
        ]
    return fields


def draw_rule(rng):
    mode = rng.choice(MODES)
    tiny = rng.choice(["after", "after", "before"])
    saturate = rng.random() < 0.15
    return Rule(mode, tiny, saturate)


def draw_op(rng, scaled):
    rule = draw_rule(rng)
    kind = "dot" if scaled else rng.choice(["dot", "dot", "scalar", "scalar", "convert", "convert", "gemm"])
    ftz = not scaled and rng.random() < 0.1
    if kind == "convert":
        if rng.random() < 0.3:
            inexact = rng.random() < 0.7
            return Op(kind, rng.choice(FLOATS), rng.choice(INTEGERS + WIDE_INTEGERS), rule, ftz=ftz, inexact=inexact)
        return Op(kind, rng.choice(FLOATS + INTEGERS + WIDE_INTEGERS), rng.choice(FLOATS), rule, ftz=ftz)
    if kind == "scalar":
        f = rng.choice(FLOATS)
        if rng.random() < 0.3:
            # A comparison needs a format with 1 and +0.
            has_both = f.below != "none" and decode(f, f.encode(f.greatest))[3] > -f.fraction and f.below != "literal"
            name = rng.choice(["round_to_integral", *COMPARISONS]) if has_both else "round_to_integral"
            return Op(kind, f, f, rule, ftz=ftz, scalar=name, inexact=name != "round_to_integral" or rng.random() < 0.7)
        return Op(kind, f, f, rule, ftz=ftz, scalar=rng.choice(["add", "sub", "mul", "div", "sqrt", "fma", "rcp"]))
    wide = [BY_NAME["fp32"], BY_NAME["fp16"], BY_NAME["fp64"], BY_NAME["bf16"]]
    a = rng.choice(FLOATS + INTEGERS)
    b = a if rng.random() < 0.5 else rng.choice(FLOATS + INTEGERS)
    c = rng.choice(wide if rng.random() < 0.5 else FLOATS)
    d = c if rng.random() < 0.5 else rng.choice(FLOATS)
    k = rng.choice([1, 1, 2, 3, 4, 5, 8, 16])
    if kind == "gemm":
        alpha, beta = (draw(d, rng, 0) & ((1 << d.bits) - 1) if rng.random() < 0.6 else None for _ in range(2))
        sizes = rng.choice([1, 2, 3]), rng.choice([1, 2])
        return Op(
            kind, a, d, rule._replace(tiny="after"), b, c, min(k, 5), m=sizes[0], n=sizes[1], alpha=alpha, beta=beta
        )
    if not scaled:
        return Op(kind, a, d, rule, b, c, k, ftz=ftz)
    if rng.random() < 0.5:  # products of many bits: up to 4 * 53
        a, b, sa, sb = (BY_NAME[rng.choice(["fp64", "fp64", "fp32", "e8m0"])] for _ in range(4))
        d = rng.choice(wide)
        return Op(kind, a, d, rule._replace(tiny="after"), b, c, k, sa, sb, rng.choice([1, 2, 4, 16, 32]))
    sa = rng.choice(wide if rng.random() < 0.5 else FLOATS)
    sb = sa if rng.random() < 0.4 else rng.choice(FLOATS)
    return Op(kind, a, d, rule._replace(tiny="after"), b, c, k, sa, sb, rng.choice([1, 2, 4, 16, 32]))


WITNESSES = [  # (issue, op, fields): what the attack found, kept
    (
        "A",
        Op(
            "dot",
            BY_NAME["fp64"],
            BY_NAME["fp64"],
            Rule(),
            BY_NAME["fp64"],
            BY_NAME["fp64"],
            1,
            BY_NAME["fp64"],
            BY_NAME["e8m0"],
            1,
        ),
        [[0x3FF0000000000000], [0x3FF0000000000000], [0], [0x3FF0000000000000], [0x7F]],
    ),
    (
        "B",
        Op("dot", BY_NAME["fp32"], BY_NAME["fp32"], Rule(), BY_NAME["fp32"], BY_NAME["fp32"], 1, ftz=True),
        [[1], [0x7F000000], [0]],
    ),
    (
        "C",
        Op("dot", BY_NAME["fp16"], BY_NAME["uhp?negative=zero"], Rule(), BY_NAME["fp16"], BY_NAME["fp16"], 1),
        [[0xBC00], [0x3C00], [0]],
    ),
    (
        "C",
        Op(
            "dot",
            BY_NAME["fp16"],
            BY_NAME["cfloat8_1_4_3:7?hole=tie_down"],
            Rule(),
            BY_NAME["fp16"],
            BY_NAME["fp16"],
            1,
        ),
        [[0x21C0], [0x3C00], [0]],
    ),
    ("D", Op("convert", BY_NAME["fp32"], BY_NAME["e4m3fnuz"], Rule(), ftz=True), [[0xBA800001]]),
    (
        "E",
        Op("gemm", BY_NAME["e5m2"], BY_NAME["shp:0"], Rule(), BY_NAME["e5m2"], BY_NAME["shp:0"], 1),
        [[0x40], [0x40], [0]],
    ),
    (
        "E",
        Op("gemm", BY_NAME["e5m2"], BY_NAME["shp:0"], Rule(), BY_NAME["e5m2"], BY_NAME["shp:0"], 1, beta=0x0800),
        [[0x40], [0x40], [0]],
    ),
    ("F", Op("scalar", BY_NAME["e4m3"], BY_NAME["e4m3"], Rule(), scalar="rcp"), [[0x80]]),
    ("F", Op("scalar", BY_NAME["e4m3"], BY_NAME["e4m3"], Rule(), scalar="div"), [[0x38, 0x00]]),
]

# ------------------------------------------------------------ comparison


def case_text(op, fields):
    formats = [op.a, op.b, op.c, op.sa, op.sb] if op.kind in ("dot", "gemm") else [op.a]
    return " | ".join(" ".join(f"{e:0{f.digits}x}" for e in field) for f, field in zip(formats, fields))


def evaluate(mmafuzz, unit, blocks, declined):
    """Results of a unit, by block: a list of (encoding, flags), or None where it declines the op."""
    if not blocks:
        return []
    with tempfile.NamedTemporaryFile("w", suffix=".cases", delete=False) as file:
        file.write("mmafuzz-cases 1\n")
        for op, cases in blocks:
            file.write(op.text() + "\n" + "".join(case_text(op, c) + "\n" for c in cases))
    run = subprocess.run([mmafuzz, "eval", "--unit", unit, file.name], capture_output=True, text=True)
    os.unlink(file.name)
    if run.returncode != 0:
        if len(blocks) > 1:
            middle = len(blocks) // 2
            return evaluate(mmafuzz, unit, blocks[:middle], declined) + evaluate(
                mmafuzz, unit, blocks[middle:], declined
            )
        if run.returncode < 0 or "mmafuzz:" not in run.stderr:
            sys.exit(f"{unit} ends with {run.returncode} on\n{blocks[0][0].text()}\n{run.stderr}")
        declined[f"{unit}: {run.stderr.strip().splitlines()[-1]}"] += len(blocks[0][1])
        return [None]
    lines = [
        line.split("|")
        for line in run.stdout.splitlines()
        if line and line[0] not in "#m" and not line.startswith(("op ", "unit ", "mmafuzz"))
    ]
    results, at = [], 0
    for op, cases in blocks:
        answers = []
        for _ in cases:
            parts = lines[at]
            at += 1
            if op.kind == "gemm":
                answers.append(([int(e, 16) for e in parts[-1].split()], None))
            else:
                answers.append(
                    (int(parts[-1], 16), None) if op.kind == "dot" else (int(parts[-2], 16), int(parts[-1], 16))
                )
        results.append(answers)
    if at != len(lines):
        sys.exit(f"{unit}: {len(lines)} results of {at} cases")
    return results


def compare(mmafuzz, blocks, only, show):
    checked, wrong, declined = collections.Counter(), collections.Counter(), collections.Counter()
    kinds = collections.defaultdict(collections.Counter)
    by_unit = collections.defaultdict(list)
    for block in blocks:
        for unit in block[0].units():
            if not only or unit in only:
                by_unit[unit].append(block)
    expected = {}
    for unit, mine in sorted(by_unit.items()):
        answers = []
        for first in range(0, len(mine), 64):
            answers += evaluate(mmafuzz, unit, mine[first : first + 64], declined)
        for (op, cases), got in zip(mine, answers):
            if got is None:
                continue
            for case, (encoding, flags) in zip(cases, got):
                key = (id(case), unit if unit.startswith("ieee:") else "exact")
                if key not in expected:
                    expected[key] = op.expected(unit, case)
                want, want_flags = expected[key]
                checked[unit] += 1
                if encoding == want and (flags is None or want_flags is None or flags == want_flags):
                    continue
                wrong[unit] += 1
                traits = [
                    op.kind if op.kind != "scalar" else op.scalar,
                    "scales" if op.sa else "",
                    "ftz" if op.ftz else "",
                    "saturate" if op.rule.saturate else "",
                    f"to {op.d.name}" if op.kind != "dot" or op.d.switches else "",
                    "flags alone" if encoding == want else "",
                ]
                kinds[unit][" ".join(t for t in traits if t)] += 1
                if wrong[unit] <= show:
                    shown = lambda r: " ".join(
                        f"{e:0{op.d.digits}x}" for e in (r if isinstance(r, list) else [r])
                    )
                    have = shown(encoding) + (f" flags {flags:02x}" if flags is not None else "")
                    need = shown(want) + (
                        f" flags {want_flags:02x}" if flags is not None and want_flags is not None else ""
                    )
                    print(f"{unit} gives {have}, the reference {need}\n  {op.text()}\n  {case_text(op, case)}")
    for unit in sorted(by_unit):
        print(
            f"{unit}: {checked[unit]} cases, {wrong[unit]} differ"
            + "".join(f"\n  {n} {what}" for what, n in kinds[unit].most_common(12))
        )
    for reason, count in declined.most_common(6):
        print(f"declined, {count} cases: {reason}")
    if not sum(checked.values()):
        sys.exit("nothing was compared")
    return sum(wrong.values())


# ------------------------------------------------------------ self check


def check_itself():
    """Published constants, and Python's own floats, which no part of the reference uses."""
    greatest = {
        "fp64": sys.float_info.max,
        "fp32": 3.4028234663852886e38,
        "fp16": 65504,
        "bf16": 3.3895313892515355e38,
        "e5m2": 57344,
        "e4m3": 448,
        "e5m2fnuz": 57344,
        "e4m3fnuz": 240,
        "e3m2": 28,
        "e2m3": 7.5,
        "e2m1": 6,
        "e8m0": 2.0**127,
        "ue4m3": 448,
    }  # OFP8 table 2, MX tables 2 to 6
    least = {
        "fp64": 5e-324,
        "fp32": 2.0**-149,
        "fp16": 2.0**-24,
        "bf16": 2.0**-133,
        "e5m2": 2.0**-16,
        "e4m3": 2.0**-9,
        "e5m2fnuz": 2.0**-17,
        "e4m3fnuz": 2.0**-10,
        "e3m2": 0.0625,
        "e2m3": 0.125,
        "e2m1": 0.5,
        "ue4m3": 2.0**-9,
    }
    for name, code_of in ((n, c) for n in greatest for c in ("greatest", "least")):
        f, table = BY_NAME[name], greatest if code_of == "greatest" else least
        if name in table:
            x = decode(f, f.encode(f.greatest if code_of == "greatest" else 1))
            assert math.ldexp(x.m, x.e) == table[name], (name, code_of)
    rng = random.Random(1)
    for _ in range(2000):
        x, y = (struct.unpack("<d", struct.pack("<Q", draw(BY_NAME["fp64"], rng, 0)))[0] for _ in range(2))
        of = lambda v: struct.unpack("<Q", struct.pack("<d", v))[0]
        if math.isfinite(x) and math.isfinite(y):
            op = Op("scalar", BY_NAME["fp64"], BY_NAME["fp64"], Rule())
            for op.scalar, value in (
                ("add", x + y),
                ("sub", x - y),
                ("mul", x * y),
                ("div", x / y if y else None),
                ("sqrt", math.sqrt(x) if x > 0 else None),
            ):
                if value is not None:
                    got = scalar(op, [of(x), of(y)][: 1 if op.scalar == "sqrt" else 2])[0]
                    assert got == of(value), (op.scalar, x, y)
                nearest = round(x)  # Python's integers: ties to even
                fits = -(1 << 63) <= nearest < 1 << 63
                got = convert(Op("convert", BY_NAME["fp64"], BY_NAME["s64"], Rule()), of(x))
                assert got == (((nearest if fits else 1 << 63) & ((1 << 64) - 1)), INVALID if not fits else nearest != x), x
                op.scalar = "less_quiet"
                assert scalar(op, [of(x), of(y)])[0] == of(float(x < y)), (x, y)
            if abs(x) < 65504:
                half = convert(Op("convert", BY_NAME["fp64"], BY_NAME["fp16"], Rule()), of(x))[0]
                assert struct.pack("<H", half) == struct.pack("<e", x), x


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mmafuzz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scaled", type=int, default=1290, help="cases of dots with scales (one op each)")
    parser.add_argument("--others", type=int, default=12000, help="cases of dots, operations and conversions")
    parser.add_argument("--per-op", type=int, default=20, help="cases of one op, scales apart")
    parser.add_argument("--units", default="", help="only these, separated by commas")
    parser.add_argument("--show", type=int, default=3, help="differences shown of each unit")
    options = parser.parse_args()
    check_itself()
    only = set(filter(None, options.units.split(",")))
    rng = random.Random(options.seed)
    wrong = 0
    print("witnesses")
    wrong += compare(options.mmafuzz, [(op, [fields]) for _, op, fields in WITNESSES], only, 9)
    print(f"{options.scaled} dots with scales, seed {options.seed}")
    scaled = [draw_op(rng, True) for _ in range(options.scaled)]
    wrong += compare(options.mmafuzz, [(op, [draw_case(op, rng)]) for op in scaled], only, options.show)
    left = options.others
    while left > 0:  # in parts, so that memory stays small
        part = min(left, 50000)
        print(f"{part} others, seed {options.seed}, {left} left")
        blocks = []
        for _ in range(math.ceil(part / options.per_op)):
            op = draw_op(rng, False)
            blocks.append((op, [draw_case(op, rng) for _ in range(options.per_op)]))
        wrong += compare(options.mmafuzz, blocks, only, options.show)
        left -= part
    print(f"{wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
