"""Rows of CPUs against the texts of their makers, written again in rational arithmetic: the pseudocode of Intel's AMX-FP8,
AMX-TF32 and AVX10.2 (Instruction Set Extensions Programming Reference), of the x86 AI Compute Extensions (ACE, version 1,
14.1.6 and 14.3.5), Arm's A1.5.5 and C3.10.28.1 (DDI 0487), and RISC-V's bulk normalization (RVBNA)."""

import os
from fractions import Fraction
from functools import reduce

import ml_dtypes
import numpy as np
import pytest

import mmafuzz

NAN, INFINITE, FINITE = "nan", "infinite", "finite"
#: Exponent bits, fraction bits, dtype of encodings, dtype of numbers.
FORMATS = {
    "e5m2": (5, 2, np.uint8, ml_dtypes.float8_e5m2),
    "e4m3": (4, 3, np.uint8, ml_dtypes.float8_e4m3fn),
    "fp16": (5, 10, np.uint16, np.float16),
    "bf16": (8, 7, np.uint16, ml_dtypes.bfloat16),
    "fp32": (8, 23, np.uint32, np.float32),
}


def read(form, code, flush=False, specials=True):
    """(kind, negative, magnitude) of an encoding; flush: subnormal numbers are zeros of their sign."""
    exponent_bits, fraction_bits, _, _ = FORMATS[form]
    bias = 2 ** (exponent_bits - 1) - 1
    fraction, rest = code % 2**fraction_bits, code >> fraction_bits
    field, negative = rest % 2**exponent_bits, bool(rest >> exponent_bits)
    if specials and field == 2**exponent_bits - 1 and (form != "e4m3" or fraction == 7):
        return (NAN if fraction else INFINITE), negative, Fraction(0)
    if field == 0:
        return FINITE, negative, Fraction(0 if flush else fraction) * Fraction(2) ** (1 - bias - fraction_bits)
    return FINITE, negative, Fraction(2**fraction_bits + fraction) * Fraction(2) ** (field - bias - fraction_bits)


def times(x, y):
    if NAN in (x[0], y[0]):
        return NAN, False, Fraction(0)
    if INFINITE in (x[0], y[0]):
        is_invalid = (FINITE, 0) in ((x[0], x[2]), (y[0], y[2]))
        return (NAN if is_invalid else INFINITE), x[1] != y[1], Fraction(0)
    return FINITE, x[1] != y[1], x[2] * y[2]


def plus(x, y):
    if NAN in (x[0], y[0]) or (x[0] == y[0] == INFINITE and x[1] != y[1]):
        return NAN, False, Fraction(0)
    if INFINITE in (x[0], y[0]):
        return x if x[0] == INFINITE else y
    total = (-x[2] if x[1] else x[2]) + (-y[2] if y[1] else y[2])
    return FINITE, x[1] and y[1] if total == 0 else total < 0, abs(total)


def rounded(form, x, flush=False):
    """The encoding of x to nearest even; NaN is None. flush: what is tiny after rounding is a zero."""
    exponent_bits, fraction_bits, _, _ = FORMATS[form]
    bias = 2 ** (exponent_bits - 1) - 1
    kind, negative, magnitude = x
    sign = int(negative) << (exponent_bits + fraction_bits)
    infinity = (2**exponent_bits - 1) << fraction_bits
    if kind == NAN:
        return None
    if kind == INFINITE:
        return sign | infinity
    if magnitude == 0:
        return sign
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > magnitude
    least = exponent if flush else max(exponent, 1 - bias)
    units, rest = divmod(magnitude, Fraction(2) ** (least - fraction_bits))
    units += rest > Fraction(1, 2) * Fraction(2) ** (least - fraction_bits) or (
        rest == Fraction(1, 2) * Fraction(2) ** (least - fraction_bits) and units % 2
    )
    code = units + ((least + bias - 1) << fraction_bits)  # a carry walks into the exponent
    if flush and code < 1 << fraction_bits:
        return sign
    return sign | min(code, infinity)


def step(form, x, flush):
    """x rounded, as the next operation reads it."""
    code = rounded(form, x, flush)
    return (NAN, False, Fraction(0)) if code is None else read(form, code)


ZERO = (FINITE, False, Fraction(0))


def amx_fp8(a, b, c, forms):
    products = [times(read(forms[0], x), read(forms[1], y)) for x, y in zip(a, b)]
    total = reduce(plus, products)
    total = ZERO if total[0] == FINITE and total[2] == 0 else total  # an integer has no -0
    return rounded("fp32", plus(read("fp32", c, flush=True), step("fp32", total, True)), True)


def ace_fp8(a, b, c, forms, scales):
    if 0xFF in scales:
        return None
    numbers = [[read(form, x, specials=False) for x in row] for form, row in zip(forms, (a, b))]
    total = reduce(plus, map(times, *numbers))
    total = ZERO if total[2] == 0 else (FINITE, total[1], total[2] * Fraction(2) ** (sum(scales) - 254))
    return rounded("fp32", plus(read("fp32", c, flush=True), step("fp32", total, True)), True)


def ace_bf16(a, b, c):
    p = [step("fp32", times(read("bf16", x, True), read("bf16", y, True)), True) for x, y in zip(a, b)]
    return rounded("fp32", plus(read("fp32", c, True), step("fp32", plus(*p), True)), True)


def avx10_fp16(a, b, c):
    d = read("fp32", c, True)
    for i in (1, 0):
        d = step("fp32", plus(times(read("fp16", a[i]), read("fp16", b[i])), d), True)
    return rounded("fp32", d, True)


def amx_tf32(a, b, c):
    def tf32(code):  # a NaN is made quiet before its low bits are cut
        return read("fp32", code, True) if read("fp32", code)[0] == NAN else read("fp32", code >> 13 << 13, True)

    chain = ZERO
    for x, y in zip(a, b):
        chain = step("fp32", plus(times(tf32(x), tf32(y)), chain), True)
    return rounded("fp32", plus(read("fp32", c, True), chain), True)


def bf16_fma(a, b, c):
    return rounded("bf16", plus(times(read("bf16", a[0], True), read("bf16", b[0], True)), read("bf16", c, True)), True)


def arm_fp8(a, b, c, forms, d):
    return rounded(d, reduce(plus, [times(read(forms[0], x), read(forms[1], y)) for x, y in zip(a, b)], read(d, c)))


def arm_fp16(a, b, c):
    p = [times(read("fp16", x), read("fp16", y)) for x, y in zip(a, b)]
    pairs = [step("fp32", plus(p[i], p[i + 1]), False) for i in (0, 2)]
    return rounded("fp32", plus(read("fp32", c), step("fp32", plus(*pairs), False)))


def to_odd(value):
    """A number as fp32, rounded to odd: what is beyond the greatest number is infinite, a zero +0."""
    sign, magnitude = (1 << 31 if value < 0 else 0), abs(value)
    exponent = -126
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    units, inexact = divmod(magnitude, Fraction(2) ** (exponent - 23))
    units = int(units) | (1 if inexact else 0)
    return 0 if value == 0 else sign | 0xFF << 23 if exponent > 127 else sign | ((exponent + 126) << 23) + units


def risc_v(a, b, c, forms):
    """RVBNA of RISC-V's Unprivileged ISA in integers, as its functional description has them, and an addition to odd (Spike:
    f32_add_odd). Subnormal results follow its prose: its code shifts another number there."""
    n, q = len(a), 24
    guard = n.bit_length() - 1
    fractions = [FORMATS[form][1] for form in forms]
    biases = [2 ** (FORMATS[form][0] - 1) - 1 for form in forms]
    parts, kinds = [], set()
    for codes in zip(a, b):
        numbers = [read(form, code) for form, code in zip(forms, codes)]
        kind, negative, _ = times(*numbers)
        kinds |= {kind} | ({(kind, negative)} if kind == INFINITE else set())
        reference, significand = 0, 1
        for form, code, of_fraction in zip(forms, codes, fractions):
            field = code >> of_fraction & (2 ** FORMATS[form][0] - 1)
            reference += max(field, 1)
            significand *= (code & (2**of_fraction - 1)) | (2**of_fraction if field else 0)
        parts.append((0 if significand == 0 else reference, negative, significand))
    if NAN in kinds or kinds >= {(INFINITE, False), (INFINITE, True)}:
        return None
    most = max(reference for reference, _, _ in parts)
    accumulator = 0
    for reference, negative, significand in parts:
        wide = significand << (q + 1 + guard - (sum(fractions) + 2))
        kept = wide >> (most - reference)
        kept |= 1 if kept << (most - reference) != wide else 0
        accumulator += -kept if negative else kept
    # The last of q - 1 + g fraction bits below the greatest reference exponent, which has both biases.
    dot = to_odd(accumulator * Fraction(2) ** (most - sum(biases) - (q - 1 + guard)))
    of_dot = (INFINITE, (INFINITE, True) in kinds, Fraction(0)) if INFINITE in kinds else read("fp32", dot)
    kind, negative, magnitude = plus(read("fp32", c), of_dot)
    if kind != FINITE:
        return None if kind == NAN else 0xFF800000 if negative else 0x7F800000
    if magnitude == 0:
        return 1 << 31 if negative else 0
    return to_odd(-magnitude if negative else magnitude)


def draw(rng, form, shape):
    """Encodings of every kind: half of any bits, the others with an exponent near that of one, or among the least."""
    exponent_bits, fraction_bits, dtype, _ = FORMATS[form]
    code = rng.integers(0, 2 ** (1 + exponent_bits + fraction_bits), shape, np.uint64)
    field = np.uint64(rng.choice([0, 0, 2 ** (exponent_bits - 1) - 1])) + rng.integers(0, 4, shape, np.uint64)
    tame = code & np.uint64(2**fraction_bits - 1) | field << np.uint64(fraction_bits)
    tame |= code & np.uint64(1 << (exponent_bits + fraction_bits))
    return np.where(rng.random(shape) < rng.choice([0.0, 0.1, 0.5]), code, tame).astype(dtype)


def check(unit, k, forms, c_form, reference, cases=600, scaled=False):
    if "MMAFUZZ_NIGHTLY" not in os.environ:
        cases //= 4
    rng = np.random.default_rng(7)
    a, b = (np.stack([draw(rng, form, k) for _ in range(cases)]) for form in forms)
    c = np.array([draw(rng, c_form, 1)[0] for _ in range(cases)])
    scales = np.stack([rng.choice([rng.integers(0, 256, 2), rng.integers(120, 135, 2)]) for _ in range(cases)])
    extra = {}
    if scaled:
        for name, column in zip(("scale_a", "scale_b"), scales.T):
            extra[name] = column.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)[:, None]
    numbers = [x.view(FORMATS[form][3]) for x, form in zip((a, b, c), (*forms, c_form))]
    d = mmafuzz.unit(unit).dot(*numbers, **extra)
    dtype = FORMATS[c_form][2]
    finite = 0
    for i in range(cases):
        arguments = ([int(x) for x in a[i]], [int(x) for x in b[i]], int(c[i]))
        expected = reference(*arguments, tuple(map(int, scales[i]))) if scaled else reference(*arguments)
        if expected is None:
            assert np.isnan(d[i]), (unit, arguments, d[i])
        else:
            assert int(d[i : i + 1].view(dtype)[0]) == expected, (unit, arguments, hex(expected))
            finite += 1
    assert finite > cases / 4


FP8 = [(x, y) for x in ("e5m2", "e4m3") for y in ("e5m2", "e4m3")]
LETTER = {"e5m2": "b", "e4m3": "h"}


@pytest.mark.parametrize("forms", FP8)
def test_fp8_on_x86(forms):
    letters = LETTER[forms[0]] + (LETTER[forms[1]] if forms[0] != forms[1] else "")
    types = f"f32.{forms[0]}.{forms[1]}.f32"
    check(f"model:x86/tdp{letters}f8ps.k64.{types}", 64, forms, "fp32", lambda *of: amx_fp8(*of, forms))
    check(f"model:x86/top4mx{letters}f8ps.k4.{types}.ue8m0", 4, forms, "fp32",
          lambda a, b, c, scales: ace_fp8(a, b, c, forms, scales), scaled=True)


def test_tiles_and_dots_of_x86():
    check("model:x86/tmmultf32ps.k16.f32.tf32.tf32.f32", 16, ("fp32", "fp32"), "fp32", amx_tf32)
    check("model:x86/dpph.k2.f32.f16.f16.f32", 2, ("fp16", "fp16"), "fp32", avx10_fp16)
    check("model:x86/top2bf16ps.k2.f32.bf16.bf16.f32", 2, ("bf16", "bf16"), "fp32", ace_bf16)
    check("model:x86/fma.k1.bf16.bf16.bf16.bf16", 1, ("bf16", "bf16"), "bf16", bf16_fma)


@pytest.mark.parametrize("forms", FP8)
def test_fp8_on_arm(forms):
    for instruction, k, d in [("fdot", 4, "fp32"), ("fdot", 2, "fp16"), ("fmmla", 8, "fp32"), ("fmmla", 4, "fp16"),
                              ("fmlall", 1, "fp32"), ("fmlal", 1, "fp16")]:
        type_d = "f" + d[2:]
        check(f"model:arm/{instruction}.k{k}.{type_d}.{forms[0]}.{forms[1]}.{type_d}", k, forms, d,
              lambda *of, d=d: arm_fp8(*of, forms, d), cases=300)


@pytest.mark.parametrize("forms", [("bf16", "bf16"), *FP8])
def test_bulk_normalization_of_risc_v(forms):
    k = 2 if forms[0] == "bf16" else 4
    check(f"model:riscv/vtfmm.k{k}.f32.{forms[0]}.{forms[1]}.f32", k, forms, "fp32", lambda *of: risc_v(*of, forms), cases=2000)


def test_fmmla_of_fp16():
    check("model:arm/fmmla.k4.f32.f16.f16.f32", 4, ("fp16", "fp16"), "fp32", arm_fp16)
