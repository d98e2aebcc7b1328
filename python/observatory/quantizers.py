"""Block quantizers of libraries: a row for each, and the functions that make units of them.

`python:python/observatory/quantizers.py:NAME` is the unit of the row of that name. A function takes numpy arrays, the numbers
(blocks, block) and maybe the tensor's scales (blocks,), and returns the scales (blocks,) and the codes (blocks, block), both
as encodings. `ci/quantizers` asks each one (`mmafuzz identify`) and writes docs/quantizers_of_libraries.md."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

np: Any
try:
    import numpy as np
except ImportError:  # who reads the rows alone needs none
    np = None

#: The scales and the codes of blocks.
Quantized = tuple[Any, Any]

MX = "quantize from=fp32 to={} block=32 scale=e8m0 special=nan_scale nan=any"
NVFP4 = "quantize from=fp32 to=e2m1 block=16 scale=e4m3 tensor=fp32 special=nan_scale nan=any"

#: What a finding is to the library's own words.
DEFECT, CHOICE = "defect", "choice"


@dataclass
class Judgement:
    """Of every finding whose text has `about` in it: what it is, and the sentence that decides."""

    about: str
    verdict: str
    sentence: str


@dataclass
class Row:
    name: str  #: the function below
    package: str  #: as PyPI calls it
    call: str
    op: str
    documented: str  #: the reading that its documentation names, as identify words it; "" where it names none
    source: str  #: where it says so
    program: tuple[str, ...]  #: shows a block: x is a float32 array of one block, t the tensor's scale
    judged: list[Judgement] = field(default_factory=list)
    release: str = ""  #: of an old one, pinned
    with_packages: tuple[str, ...] = ()  #: what is installed beside it


def _of_pairs(packed: Any) -> Any:
    """Codes of four bits from bytes, the low half first."""
    packed = np.asarray(packed).view(np.uint8)
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(packed.shape[0], -1)


def _codes_of_fp4(numbers: Any) -> Any:
    """Encodings of numbers that are numbers of e2m1; NaN has none and counts as the greatest."""
    magnitudes = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    at = np.searchsorted(magnitudes, np.nan_to_num(np.abs(numbers), nan=6, posinf=6)).astype(np.uint8)
    return at | np.signbit(numbers).astype(np.uint8) << 3


def _torchao(element: str, mode: str) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        import torch
        from torchao.prototype.mx_formats import constants
        from torchao.prototype.mx_formats.config import ScaleCalculationMode
        from torchao.prototype.mx_formats.mx_tensor import to_mx

        of_element = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "e2m1": torch.float4_e2m1fn_x2,
                      "e2m3": constants.DTYPE_FP6_E2M3, "e3m2": constants.DTYPE_FP6_E3M2}[element]
        scale, data = to_mx(torch.from_numpy(np.array(x)), of_element, x.shape[1], ScaleCalculationMode[mode])
        codes = data.view(torch.uint8).numpy()
        return scale.view(torch.uint8).numpy().reshape(-1), _of_pairs(codes) if element == "e2m1" else codes

    return quantize


def torchao_nvfp4(x: Any, t: Any) -> Quantized:
    import torch
    from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize

    scale, data = nvfp4_quantize(torch.from_numpy(np.array(x)), 16, torch.from_numpy(np.array(t))[:, None])
    return scale.view(torch.uint8).numpy().reshape(-1), _of_pairs(data.view(torch.uint8).numpy())


def _mlx(mode: str) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        import mlx.core as mx

        mx.set_default_device(mx.cpu)
        codes, scale = mx.quantize(mx.array(np.array(x)), mode=mode)
        codes = np.array(codes).view(np.uint8).reshape(x.shape[0], -1)
        return np.array(scale).view(np.uint8).reshape(-1), codes if mode == "mxfp8" else _of_pairs(codes)

    return quantize


mlx_mxfp4, mlx_mxfp8 = _mlx("mxfp4"), _mlx("mxfp8")
mlx_mxfp8_old = mlx_mxfp8


def modelopt_mxfp4(x: Any) -> Quantized:
    import torch
    from modelopt.torch.quantization.qtensor.mxfp4_tensor import MXFP4QTensor

    data, scale = MXFP4QTensor.quantize(torch.from_numpy(np.array(x)), 32)
    return scale.numpy().reshape(-1), _of_pairs(data._quantized_data.numpy().reshape(x.shape[0], -1))


def modelopt_mxfp8(x: Any) -> Quantized:
    import torch
    from modelopt.torch.quantization.qtensor.mxfp8_tensor import MXFP8QTensor

    data, scale = MXFP8QTensor.quantize(torch.from_numpy(np.array(x)))
    return scale.numpy().reshape(-1), data._quantized_data.view(torch.uint8).numpy().reshape(x.shape)


def modelopt_nvfp4(x: Any, t: Any) -> Quantized:
    import torch
    from modelopt.torch.quantization.qtensor.nvfp4_tensor import NVFP4QTensor

    x, t = torch.from_numpy(np.array(x)), torch.from_numpy(np.array(t))[:, None]
    scale = NVFP4QTensor.get_weights_scaling_factor(x, 16, t)[0]
    data = NVFP4QTensor.quantize(x, 16, scale, t)[0]
    return scale.view(torch.uint8).numpy().reshape(-1), _of_pairs(data._quantized_data.numpy().reshape(x.shape[0], -1))


def _compressed_tensors(bits: int) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        import torch
        from compressed_tensors.quantization import FP4_E2M1_DATA
        from compressed_tensors.quantization.utils.mxfp_utils import generate_mx_scales

        x = torch.from_numpy(np.array(x))
        scale = generate_mx_scales(x.abs().amax(dim=-1), bits).nan_to_num(nan=255, posinf=255, neginf=0)
        scale = scale.clamp(0, 255).to(torch.uint8)
        y = x / (2.0 ** (scale.to(torch.float) - 127))[:, None]
        if bits == 8:
            return scale.numpy(), y.clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8).numpy()
        return scale.numpy(), _codes_of_fp4(FP4_E2M1_DATA.cast_to_fp4(y.clone()).numpy())

    return quantize


compressed_tensors_mxfp4, compressed_tensors_mxfp8 = _compressed_tensors(4), _compressed_tensors(8)


def gfloat_e4m3(x: Any) -> Quantized:
    from gfloat import RoundMode, block, formats
    from gfloat.encode_ndarray import encode_ndarray
    from gfloat.round_ndarray import round_ndarray

    element = formats.format_info_ocp_e4m3
    with np.errstate(all="ignore"):
        scale = np.array([block.compute_scale_amax(element.emax, one) for one in np.asarray(x)])
        numbers = round_ndarray(element, x.astype(np.float64) / scale[:, None], RoundMode.TiesToEven, True)
    exponent = np.nan_to_num(np.log2(scale), nan=128)
    return (exponent + 127).astype(np.uint8), encode_ndarray(element, numbers).astype(np.uint8)


def ml_dtypes_e2m1(x: Any) -> Quantized:
    import ml_dtypes

    with np.errstate(all="ignore"):
        scale = (np.abs(x).max(axis=1) / np.float32(6)).astype(ml_dtypes.float8_e8m0fnu)
        codes = (x / scale.astype(np.float32)[:, None]).astype(ml_dtypes.float4_e2m1fn)
    return scale.view(np.uint8), codes.view(np.uint8)


_TORCHAO_SAYS = {"FLOOR": "rule=floor", "CEIL": "rule=ceil", "RCEIL": "rule=rceil", "EVEN": "rule=even"}
_AT_LEAST = Judgement(
    "the codes of blocks at the least scales", DEFECT,
    "the scale byte is 0, 2^-127, and to_dtype multiplies by that; the numbers were divided by 2^-126 (get_fp_scale clamps)")
_SUBNORMAL = Judgement("the codes of blocks of subnormal numbers", DEFECT, _AT_LEAST.sentence)
_INFINITY = Judgement("blocks with an infinity or NaN", CHOICE, "OCP MX 1.0 leaves an infinity in a block open")
_LOGARITHM = Judgement(
    "(log2(", DEFECT,
    "a rule of exact powers of two, computed by a logarithm in fp32 that rounds numbers beside a power onto it")
_ZEROS = Judgement("of zeros", CHOICE, "OCP MX 1.0 gives a block of zeros no scale")
_TOP = Judgement("greatest binade", DEFECT, "amax is a finite number; rounding it up overflows the exponent field")
_SIGN = Judgement("signs of zero codes", CHOICE, "OCP MX 1.0 does not say what sign a zero code has")


def _rows() -> list[Row]:
    rows = []
    dtypes = {"e4m3": "torch.float8_e4m3fn", "e5m2": "torch.float8_e5m2", "e2m1": "torch.float4_e2m1fn_x2",
              "e2m3": '"fp6_e2m3"', "e3m2": '"fp6_e3m2"'}
    for element, dtype in dtypes.items():
        for mode, says in _TORCHAO_SAYS.items():
            name = f"torchao_{element}_{mode.lower()}"
            globals()[name] = _torchao(element, mode)
            rows.append(Row(
                name, "torchao", f"to_mx({dtype}, ScaleCalculationMode.{mode})", MX.format(element), says,
                "torchao/prototype/mx_formats/config.py, ScaleCalculationMode",
                ("import torch", "from torchao.prototype.mx_formats.config import ScaleCalculationMode",
                 "from torchao.prototype.mx_formats.mx_tensor import to_mx",
                 f"print(to_mx(torch.from_numpy(x), {dtype}, 32, ScaleCalculationMode.{mode}))"),
                [_AT_LEAST, _SUBNORMAL, _INFINITY, _LOGARITHM, _TOP]))
    rows.append(Row(
        "torchao_nvfp4", "torchao", "nvfp4_quantize(x, 16, t)", NVFP4, "", "", (),
        [Judgement("the scale of", CHOICE, "scales are clamped to 2^-6 at least (E4M3_EPS); the tensor's scale is believed"),
         Judgement("the codes of", CHOICE, "0 * infinity: the reciprocal of the scales overflows")]))
    for mode, element in (("mxfp4", "e2m1"), ("mxfp8", "e4m3")):
        rows.append(Row(
            f"mlx_{mode}", "mlx", f"mx.quantize(x, mode='{mode}')", MX.format(element), "",
            "mlx.core.quantize: 'More details ... in the specification' of OCP",
            ("import mlx.core as mx", "mx.set_default_device(mx.cpu)", f"print(mx.quantize(mx.array(x), mode='{mode}'))"),
            [Judgement("of blocks of subnormal numbers", DEFECT,
                       "the exponent wraps: the least numbers get the greatest scales"),
             Judgement("at the least scales", DEFECT, "the exponent wraps: the least numbers get the greatest scales"),
             Judgement("round=nearest_toward_zero", CHOICE, "no words on ties; OCP MX 1.0, 6.3 asks for nearest, ties to even"),
             _INFINITY, _ZEROS, _SIGN, _TOP], with_packages=("mlx-cpu",)))
    rows.append(Row(
        "mlx_mxfp8_old", "mlx", "mx.quantize(x, mode='mxfp8')", MX.format("e4m3"), "",
        "mlx, pull request 4353: what it replaced", (),
        [Judgement("", DEFECT, "mended in pull request 4353, which says that the largest elements saturate")],
        release="0.31.2", with_packages=("mlx-cpu==0.31.2",)))
    rows.append(Row(
        "modelopt_mxfp4", "nvidia-modelopt", "MXFP4QTensor.quantize(x, 32)", MX.format("e2m1"), "",
        "", ("import torch", "from modelopt.torch.quantization.qtensor.mxfp4_tensor import MXFP4QTensor",
             "data, scale = MXFP4QTensor.quantize(torch.from_numpy(x), 32)", "print(scale, data._quantized_data)"),
        [_LOGARITHM, _INFINITY, _TOP,
         Judgement("round=nearest_toward_zero", CHOICE, "a tie takes the lower code: E2M1_bounds compares with >"),
         Judgement("signs of zero codes", DEFECT, "+0 takes the code of -0: sign(0) is 0, and (2 - 0) // 2 is 1")]))
    rows.append(Row(
        "modelopt_mxfp8", "nvidia-modelopt", "MXFP8QTensor.quantize(x)", MX.format("e4m3"), "", "",
        ("import torch", "from modelopt.torch.quantization.qtensor.mxfp8_tensor import MXFP8QTensor",
         "data, scale = MXFP8QTensor.quantize(torch.from_numpy(x))", "print(scale, data._quantized_data)"),
        [_LOGARITHM, _INFINITY, _TOP]))
    rows.append(Row(
        "modelopt_nvfp4", "nvidia-modelopt", "NVFP4QTensor.quantize(x, 16, scale, t)", NVFP4, "", "", (),
        [Judgement("", CHOICE, "no words on the ends of the scales; scales are not below 2^-9, and 1 for zeros")]))
    for bits, element in ((4, "e2m1"), (8, "e4m3")):
        rows.append(Row(
            f"compressed_tensors_mxfp{bits}", "compressed-tensors", f"generate_mx_scales(amax, {bits})", MX.format(element),
            "rule=threshold" if bits == 8 else "rule=even", "generate_mx_scales: 'Round to the closest power of 2'",
            ("import torch", "from compressed_tensors.quantization.utils.mxfp_utils import generate_mx_scales",
             f"print(generate_mx_scales(torch.from_numpy(abs(x)).amax(-1), {bits}))"),
            [_TOP, _INFINITY, _ZEROS, _SIGN, Judgement("codes of", CHOICE, "the caller clamps the exponent")]))
    rows.append(Row(
        "gfloat_e4m3", "gfloat", "compute_scale_amax, encode_ndarray", MX.format("e4m3"), "rule=floor",
        "gfloat/block.py: 'the largest exponent in the array vals * scale will be emax'",
        ("from gfloat import block", "print(block.compute_scale_amax(8, x[0]))"), [_LOGARITHM, _INFINITY],
        with_packages=("array-api-compat", "more_itertools")))
    rows.append(Row(
        "ml_dtypes_e2m1", "ml_dtypes", "(amax / 6).astype(float8_e8m0fnu)", MX.format("e2m1"), "rule=nearest",
        "ml_dtypes, issue 298: 'rounding to nearest is the common behavior'",
        ("import ml_dtypes, numpy as np", "print((abs(x).max(1) / np.float32(6)).astype(ml_dtypes.float8_e8m0fnu))"),
        [Judgement("with ties up", CHOICE, "ties go up; IEEE 754's nearest takes the even one, and e8m0 has no fraction"),
         Judgement("of zeros", CHOICE, "e8m0 has no zero: the cast of 0 is NaN"),
         Judgement("", CHOICE, "e8m0 has no zero: what is below half the least number is cast to NaN")]))
    return rows


ROWS = _rows()
