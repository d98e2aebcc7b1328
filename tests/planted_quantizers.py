"""MXFP4 and NVFP4 quantizers in plain Python, right ones and others with a flaw, as units (`python:FILE:NAME`). Many flaws
are defects of libraries, rebuilt from their descriptions; the source stands beside each."""
import math
import struct
from fractions import Fraction

NUMBERS = (0, 0.5, 1, 1.5, 2, 3, 4, 6)


def number(code):
    return struct.unpack("<f", struct.pack("<I", code))[0]


def truncated_bf16(x):
    """x rounded to bf16, ties to even."""
    code = struct.unpack("<I", struct.pack("<f", x))[0]
    code += 0x7FFF + (code >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", code & 0xFFFF0000))[0]


def floor_log2(x):
    return math.frexp(x)[1] - 1


def in_fp32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def exponent_of(amax, rule):
    """The scale's exponent: OCP MX 1.0, 6.3 for floor; amax / 6 rounded up for rceil; 1.75 * 2^n and more up for even."""
    e = floor_log2(amax)
    if rule == "rceil by a logarithm":
        return math.ceil(in_fp32(math.log2(in_fp32(amax / 6))))
    fraction = amax / 2.0**e
    if rule == "rceil":
        return e - 1 if fraction > 1.5 else e - 2
    if rule == "even":
        return e - 1 if fraction >= 1.75 else e - 2
    if rule == "nearest":
        q = floor_log2(amax / 6)
        rest = amax / 6 / 2.0**q
        return q + 1 if rest > 1.5 or (rest == 1.5 and q % 2 == 0) else q
    return e - 2


def code_of(y, ties="even"):
    """The code of a magnitude, rounded to nearest, saturating."""
    for i in range(7):
        middle = (NUMBERS[i] + NUMBERS[i + 1]) / 2
        if y < middle or (y == middle and (ties == "down" or (ties == "even" and i % 2 == 0))):
            return i
    return 7


def quantize(block, rule="floor", amax_of=None, via=None, clamp=True, scale_used=None, code=code_of, sign=None,
             zero_scale=0, zero_code=0):
    x = [number(c) for c in block]
    if any(math.isnan(v) or math.isinf(v) for v in x):
        return [255] + [0] * len(x)
    amax = amax_of(x) if amax_of else max(abs(v) for v in x)
    if via and amax:
        amax = via(amax)
        if math.isinf(amax):
            return [255] + [0] * len(x)
    e = exponent_of(amax, rule) if amax > 0 else -127
    e = max(-127, min(127, e)) if clamp else (e + 127) % 256 - 127
    used = scale_used(e) if scale_used else e
    codes = []
    for lane, v in enumerate(x):
        y = abs(v) / 2.0**used
        k = code(y, lane) if code is not code_of else code_of(y)
        if v == 0 and zero_code:
            k = zero_code
        negative = sign(v) if sign else math.copysign(1, v) < 0
        codes.append(k | (8 if negative else 0))
    return [zero_scale if amax == 0 else e + 127] + codes


def e4m3(code):
    exponent, fraction = code >> 3, code & 7
    return Fraction(fraction, 512) if exponent == 0 else Fraction(8 + fraction, 8) * Fraction(2) ** (exponent - 7)


SCALES = [e4m3(code) for code in range(127)]


def scale_of(wanted, up=False, saturates=True):
    """The code of an e4m3 scale to nearest, ties to even, or up; beyond 448 that or a NaN."""
    for i, value in enumerate(SCALES[:-1]):
        middle = value if up else (value + SCALES[i + 1]) / 2
        if wanted < middle or (wanted == middle and (up or i % 2 == 0)):
            return i
    return 126 if saturates or wanted <= SCALES[-1] + 16 else 127


def quantize_nvfp4(block, tensor, to_scale=scale_of, divides_by_tensor=True):
    """The scale is e4m3 of amax / (6 tensor), an element e2m1 of x / (scale * tensor)."""
    x, t = [number(c) for c in block], number(tensor)
    if any(math.isnan(v) or math.isinf(v) for v in x) or not 0 < t < math.inf:
        return [127] + [0] * len(x)
    t = Fraction(t)
    scale = to_scale(max(abs(Fraction(v)) for v in x) / 6 / (t if divides_by_tensor else 1))
    if scale == 127:
        return [127] + [0] * len(x)
    codes = [code_of(abs(Fraction(v)) / SCALES[scale] / t) if scale else 0 for v in x]
    return [scale] + [k | (8 if math.copysign(1, v) < 0 else 0) for k, v in zip(codes, x)]


def unit(function):
    function.per_case = True
    return function


def planted(**flaw):
    return unit(lambda op, block: quantize(block, **flaw))


def planted_nvfp4(**flaw):
    return unit(lambda op, block, tensor: quantize_nvfp4(block, tensor, **flaw))


right = planted()
right_rceil = planted(rule="rceil")
right_nvfp4 = planted_nvfp4()
# pytorch/ao, issue 4725: fp32 to bf16 to e8m0.
through_bf16 = planted(via=truncated_bf16)
# ROCm/FlyDSL, pull request 590: amax / greatest to the nearest power of two, one step low on most blocks.
nearest_for_even = planted(rule="nearest")
# ROCm/aiter, pull request 3212: rounded up everywhere.
up_for_floor = planted(rule="rceil")
# ROCm/aiter, pull request 3992: an even rounding with ties away.
ties_away = planted(code=lambda y, lane: code_of(y, "away"))
# vllm, pull request 43557: another threshold than the rule's.
threshold_for_floor = planted(rule="even")
# pytorch/ao, issue 4725: the exponents at the ends.
wrapped_exponent = planted(clamp=False)
# triton, pull request 11668: no saturation.
unsaturated = planted(code=lambda y, lane: code_of(y) if y < 7 else 0)
# triton, pull request 11668: scales of NVFP4 to nearest even, and no NaN beyond 448.
nvfp4_scales_up = planted_nvfp4(to_scale=lambda wanted: scale_of(wanted, up=True))
nvfp4_scales_unsaturated = planted_nvfp4(to_scale=lambda wanted: scale_of(wanted, saturates=False))
# torchao 0.18.0, RCEIL: the logarithm in fp32 rounds numbers above a power of two onto it.
rceil_by_a_logarithm = planted(rule="rceil by a logarithm")
# Others.
nvfp4_tensor_forgotten = planted_nvfp4(divides_by_tensor=False)
zeros_take_the_least = planted(zero_code=1)
least_scale_off_by_one = planted(scale_used=lambda e: max(e, -126))
last_lane_unseen = planted(amax_of=lambda x: max(abs(v) for v in x[:-1]))
signed_amax = planted(amax_of=lambda x: max(max(x), 0.0))
positive_zero_negative = planted(sign=lambda v: v <= 0 if v == 0 else v < 0)
zero_block_scale_one = planted(zero_scale=127)
upper_half_truncated = planted(code=lambda y, lane: code_of(y) if lane < 4 else max(i for i in range(8) if NUMBERS[i] <= y))
small_codes_flushed = planted(code=lambda y, lane: 0 if code_of(y) == 1 else code_of(y))

@unit
def one_number_off(op, block):
    """Of bf16, right but for 10.1875, which nothing but asking every number finds."""
    result = quantize([code << 16 for code in block])
    return result[:1] + [result[1] ^ 1] + result[2:] if block[0] == 0x4123 else result


ties_down = planted(code=lambda y, lane: code_of(y, "down"))
