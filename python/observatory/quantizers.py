"""Block quantizers of libraries: a row for each, and the functions that make units of them.

`python:python/observatory/quantizers.py:NAME` is the unit of the row of that name. A function takes numpy arrays, the numbers
(blocks, block) and maybe the tensor's scales (blocks,), and returns the scales (blocks,) and the codes (blocks, block), both
as encodings. `ci/quantizers` asks each one (`mmafuzz identify`) and writes corpus/libraries/quantizers.json."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

np: Any
try:
    import numpy as np
except ImportError:  # who reads the rows alone needs none
    np = None

#: The scales and the codes of blocks.
Quantized = tuple[Any, Any]

MX = "quantize from={} to={} block=32 scale=e8m0 special=nan_scale nan=any"
NVFP4 = "quantize from=fp32 to=e2m1 block=16 scale=e4m3 tensor=fp32 special=nan_scale nan=any"

#: What was tried and is not asked, and why.
LEFT_OUT = (
    ("fp_quant 0.3.2", "read, not run: its kernels give numbers and no codes, and abs_max's scale of MXFP4 is 2^(n+2) / 3"),
    ("llmcompressor 0.14.0.1", "read, not run: its observers ask compressed-tensors 0.19.0, which it pins, for the scales"),
    ("triton_kernels", "PyPI's package of that name (0.1.0) is another one; `triton.tools.mxfp` is asked instead"),
    ("microxcaling, mx", "PyPI has no package of either name"),
    ("vllm, sglang", "not tried"),
)

#: What a finding is to the library's own words.
DEFECT, CHOICE = "defect", "choice"


@dataclass
class Judgement:
    """Of every finding whose text has `about` in it: what it is, and the sentence that decides."""

    about: str
    verdict: str
    sentence: str
    upstream: str = ""  #: a thread of corpus/libraries/upstream.tsv


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
    alone: bool = False  #: asks for releases that are not the newest ones


def _of_pairs(packed: Any) -> Any:
    """Codes of four bits from bytes, the low half first."""
    packed = np.asarray(packed).view(np.uint8)
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(packed.shape[0], -1)


def _codes_of(numbers: Any, element: str) -> Any:
    """Encodings of numbers of a format. Infinity counts as the greatest number, and NaN where the format has none."""
    import ml_dtypes

    dtype = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e2m1": ml_dtypes.float4_e2m1fn,
             "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn}[element]
    greatest = GREATEST[element]
    nan = np.nan if element in ("e4m3", "e5m2") else greatest
    numbers = np.nan_to_num(np.asarray(numbers), nan=nan, posinf=greatest, neginf=-greatest)
    codes = numbers.astype(dtype)
    if not np.array_equal(codes.astype(np.float32), numbers, equal_nan=True):
        raise ValueError(f"numbers that {element} has not")
    return codes.view(np.uint8)


def _code_of_scale(scale: Any) -> Any:
    """e8m0's encodings of powers of two; the least one for lesser numbers, NaN for infinity and NaN."""
    exponent = np.clip(np.frexp(scale)[1] - 1, -127, 127)
    return np.where(np.isfinite(scale), exponent + 127, 255).astype(np.uint8)


def _power_of(code: Any) -> Any:
    """e8m0's number, in fp32."""
    power = np.ldexp(np.float32(1), code.astype(np.int32) - 127)
    return np.where(code == 255, np.nan, power).astype(np.float32)


def _floor_scale(x: Any, emax: int) -> Any:
    """e8m0's encodings by rule=floor, for functions that are given a scale."""
    exponent = np.abs(x).max(axis=1).view(np.uint32) >> 23
    return np.where(exponent == 255, 255, np.maximum(exponent, emax) - emax).astype(np.uint8)


def _torchao(element: str, mode: str) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        import torch
        from torchao.prototype.mx_formats import constants
        from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx

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
        return scale.numpy(), _codes_of(FP4_E2M1_DATA.cast_to_fp4(y.clone()).numpy(), "e2m1")

    return quantize


compressed_tensors_mxfp4, compressed_tensors_mxfp8 = _compressed_tensors(4), _compressed_tensors(8)


def compressed_tensors_triton(x: Any) -> Quantized:
    os.environ["TRITON_INTERPRET"] = "1"
    import torch
    from compressed_tensors.quantization.utils.fp4_utils import cast_to_fp4_triton

    scale = _floor_scale(x, 2)
    return scale, _codes_of(cast_to_fp4_triton(torch.from_numpy(x / _power_of(scale)[:, None])).numpy(), "e2m1")

def compressed_tensors_packed(x: Any) -> Quantized:
    import torch
    from compressed_tensors.compressors.quantized_compressors.fp4_quantized import MXFP4PackedCompressor
    from compressed_tensors.quantization import preset_name_to_scheme
    from compressed_tensors.quantization.utils import calculate_qparams

    x = torch.from_numpy(np.array(x).view(np.int16)).view(torch.bfloat16)
    args = preset_name_to_scheme("MXFP4A16", ["Linear"]).weights
    scale, _ = calculate_qparams(x.amin(-1, keepdim=True), x.amax(-1, keepdim=True), args)
    packed = MXFP4PackedCompressor().compress_weight(x, scale, None, args)
    return packed["weight_scale"].to(torch.uint8).numpy().reshape(-1), _of_pairs(packed["weight_packed"].numpy())


def _quark(element: str, even: bool) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        import torch
        from quark.torch.kernel.hw_emulation import hw_emulation_interface as quark
        from quark.torch.quantization.utils import even_round

        x, dtype = torch.from_numpy(np.array(x)), QUARK_DTYPES[element]
        if even:
            scale = even_round(x.abs().amax(-1, keepdim=True), dtype)
            data = quark.real_quantize_fp4_fp6_per_group(x, scale, -1, x.shape[1], dtype)
        else:
            scale, data = quark.real_quantize_mxfp(x, dtype, -1, x.shape[1]).split([1, x.shape[1]], -1)
        return _code_of_scale(scale.numpy()[:, 0]), _codes_of(data.numpy(), element)

    return quantize


def _auto_round_type(element: str) -> str:
    return f"mx_fp{1 + int(element[1]) + int(element[3])}{element}"


def _auto_round(element: str) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        import torch
        from auto_round.data_type.mxfp import quant_mx

        dtype = _auto_round_type(element)
        numbers, exponent, _ = quant_mx(torch.from_numpy(np.array(x)), group_size=x.shape[1], data_type=dtype)
        scale = np.where(np.isnan(exponent), 255, np.nan_to_num(exponent) + 127).astype(np.uint8).reshape(-1)
        return scale, _codes_of(numbers.numpy() / _power_of(scale)[:, None], element)

    return quantize


def triton_mxfp4(x: Any) -> Quantized:
    import torch
    from triton.tools.mxfp import MXFP4Tensor, MXScaleTensor

    scale = MXScaleTensor(torch.from_numpy(np.abs(x).max(axis=1))).data.numpy()
    scale = np.where(scale == 255, 255, np.maximum(scale, 2) - 2).astype(np.uint8)
    return scale, MXFP4Tensor(torch.from_numpy(x / _power_of(scale)[:, None])).data.numpy()


def _onnx(element: str, divisor: float) -> Callable[[Any], Quantized]:
    def quantize(x: Any) -> Quantized:
        from onnx import TensorProto, helper, numpy_helper
        from onnx.reference import ReferenceEvaluator

        with np.errstate(all="ignore"):
            scale = numpy_helper.to_float8e8m0(np.abs(x).max(axis=1) / np.float32(divisor)).view(np.uint8)
            node = helper.make_node("QuantizeLinear", ["x", "scale"], ["y"], axis=1, block_size=x.shape[1],
                                    output_dtype=getattr(TensorProto, ONNX_TYPES[element]))
            y = ReferenceEvaluator(node).run(None, {"x": x, "scale": _power_of(scale)[:, None]})[0]
        return scale, np.asarray(y).view(np.uint8)

    return quantize


onnx_e4m3_old = _onnx("e4m3", 256)


def onnx_codes_old(x: Any) -> Quantized:
    from onnx import helper
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.custom_element_types import float8e4m3fn

    scale = _floor_scale(x, 8)
    node = helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"], axis=0)
    with np.errstate(all="ignore"):
        y = ReferenceEvaluator(node).run(None, {"x": x, "scale": _power_of(scale), "zero": np.zeros(1, float8e4m3fn)})[0]
    return scale, np.asarray(y).view(np.uint8)


def _jax(mode: str) -> Callable[..., Quantized]:
    def quantize(x: Any, t: Any = None) -> Quantized:
        import jax
        from jax._src.cudnn import scaled_matmul_stablehlo

        tensor = None if t is None else jax.numpy.array(t)[:, None, None]
        codes, scale = scaled_matmul_stablehlo.quantize(jax.numpy.array(x), jax.nn.get_scaled_dot_general_config(mode, tensor))
        return np.array(scale).view(np.uint8).reshape(-1), np.array(codes).view(np.uint8)

    return quantize


jax_mxfp8, jax_nvfp4 = _jax("mxfp8"), _jax("nvfp4")


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


DTYPES = {"e4m3": "torch.float8_e4m3fn", "e5m2": "torch.float8_e5m2", "e2m1": "torch.float4_e2m1fn_x2",
          "e2m3": '"fp6_e2m3"', "e3m2": '"fp6_e3m2"'}
QUARK_DTYPES = {"e2m1": "fp4", "e2m3": "fp6_e2m3", "e3m2": "fp6_e3m2"}
ONNX_TYPES = {"e4m3": "FLOAT8E4M3FN", "e5m2": "FLOAT8E5M2", "e2m1": "FLOAT4E2M1", "e2m3": "FLOAT6E2M3",
              "e3m2": "FLOAT6E3M2"}
GREATEST = {"e4m3": 448, "e5m2": 57344, "e2m1": 6, "e2m3": 7.5, "e3m2": 28}
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


def _of_least(verdict: str, sentence: str, of: str = "") -> list[Judgement]:
    return [Judgement(f"{of}blocks of subnormal numbers", verdict, sentence),
            Judgement(f"{of}blocks at the least scales", verdict, sentence)]


_MLX = [_INFINITY, _ZEROS, _SIGN, _TOP,
        *_of_least(DEFECT, "the exponent wraps: the least numbers get the greatest scales"),
        Judgement("round=nearest_toward_zero", CHOICE, "no words on ties; OCP MX 1.0, 6.3 asks for nearest, ties to even")]
_E8M0_MIN = _of_least(
    DEFECT, "ONNX, Cast: with `saturate` and `up` what is less than E8M0_MIN becomes E8M0_MIN; it becomes the number after it",
    "the scale of ")
_TRITON_TIES = Judgement(
    "the codes", DEFECT,
    "'roundTiesToEven'; a number within 1e-6 of a tie counts as one (_from_float takes 1e-6 from the even one's distance)")


def _rows() -> list[Row]:
    rows = []
    for mode, says in _TORCHAO_SAYS.items():
        for element, dtype in DTYPES.items():
            name = f"torchao_{element}_{mode.lower()}"
            globals()[name] = _torchao(element, mode)
            rows.append(Row(
                name, "torchao", f"to_mx(x, dtype, 32, ScaleCalculationMode.{mode})", MX.format("fp32", element), says,
                "torchao/prototype/mx_formats/config.py, ScaleCalculationMode",
                ("import torch", "from torchao.prototype.mx_formats.mx_tensor import ScaleCalculationMode, to_mx",
                 f"print(to_mx(torch.from_numpy(x), {dtype}, 32, ScaleCalculationMode.{mode}))"),
                [_AT_LEAST, _SUBNORMAL, _INFINITY, _LOGARITHM, _TOP]))
    first = rows[0]
    globals()["torchao_floor_old"] = _torchao("e4m3", "FLOOR")
    rows.append(Row(
        "torchao_floor_old", "torchao", first.call, first.op, first.documented,
        "to_mx: 'the largest power-of-two less than or equal to max_abs(v)'; github.com/pytorch/ao/pull/1908: what it replaced",
        first.program,
        [replace(_LOGARITHM, upstream="pytorch/ao#1908"), _INFINITY,
         Judgement("the codes of blocks", DEFECT, "the scale byte is 0, 2^-127, and the numbers are divided by 2^-126; to_mx calls "
                   "2^-127 'more correct'")],
        release="0.9.0"))
    rows.append(Row(
        "torchao_nvfp4", "torchao", "nvfp4_quantize(x, 16, t)", NVFP4, "", "", (),
        [Judgement("the scale of", CHOICE, "scales are clamped to 2^-6 at least (E4M3_EPS); the tensor's scale is believed"),
         Judgement("the codes of", CHOICE, "0 * infinity: the reciprocal of the scales overflows")]))
    for mode, element in (("mxfp4", "e2m1"), ("mxfp8", "e4m3")):
        rows.append(Row(
            f"mlx_{mode}", "mlx", f"mx.quantize(x, mode='{mode}')", MX.format("fp32", element), "",
            "mlx.core.quantize: 'More details ... in the specification' of OCP",
            ("import mlx.core as mx", "mx.set_default_device(mx.cpu)", f"print(mx.quantize(mx.array(x), mode='{mode}'))"),
            _MLX, with_packages=("mlx-cpu",)))
    rows.append(Row(
        "mlx_mxfp8_old", "mlx", "mx.quantize(x, mode='mxfp8')", MX.format("fp32", "e4m3"), "rule=rceil",
        "github.com/ml-explore/mlx/pull/4353: what it replaced", rows[-1].program,
        [*_MLX, Judgement("the scale is", DEFECT, "mended in pull request 4353, which says that the largest elements saturate",
                          "ml-explore/mlx#4353")],
        release="0.31.2", with_packages=("mlx-cpu==0.31.2",)))
    rows.append(Row(
        "modelopt_mxfp4", "nvidia-modelopt", "MXFP4QTensor.quantize(x, 32)", MX.format("fp32", "e2m1"), "",
        "", ("import torch", "from modelopt.torch.quantization.qtensor.mxfp4_tensor import MXFP4QTensor",
             "data, scale = MXFP4QTensor.quantize(torch.from_numpy(x), 32)", "print(scale, data._quantized_data)"),
        [_LOGARITHM, _INFINITY, _TOP,
         Judgement("round=nearest_toward_zero", CHOICE, "a tie takes the lower code: E2M1_bounds compares with >"),
         Judgement("signs of zero codes", DEFECT, "+0 takes the code of -0: sign(0) is 0, and (2 - 0) // 2 is 1")],
        with_packages=("requests", "huggingface_hub")))
    rows.append(Row(
        "modelopt_mxfp8", "nvidia-modelopt", "MXFP8QTensor.quantize(x)", MX.format("fp32", "e4m3"), "", "",
        ("import torch", "from modelopt.torch.quantization.qtensor.mxfp8_tensor import MXFP8QTensor",
         "data, scale = MXFP8QTensor.quantize(torch.from_numpy(x))", "print(scale, data._quantized_data)"),
        [_LOGARITHM, _INFINITY, _TOP], with_packages=("requests", "huggingface_hub")))
    rows.append(Row(
        "modelopt_nvfp4", "nvidia-modelopt", "NVFP4QTensor.quantize(x, 16, scale, t)", NVFP4, "", "", (),
        [Judgement("", CHOICE, "no words on the ends of the scales; scales are not below 2^-9, and 1 for zeros")],
        with_packages=("requests", "huggingface_hub")))
    for bits, element in ((4, "e2m1"), (8, "e4m3")):
        rows.append(Row(
            f"compressed_tensors_mxfp{bits}", "compressed-tensors", f"generate_mx_scales(amax, {bits})",
            MX.format("fp32", element), "rule=threshold" if bits == 8 else "rule=even",
            "generate_mx_scales: 'Round to the closest power of 2'",
            ("import torch", "from compressed_tensors.quantization.utils.mxfp_utils import generate_mx_scales",
             f"print(generate_mx_scales(torch.from_numpy(abs(x)).amax(-1), {bits}))"),
            [_TOP, _INFINITY, _ZEROS, _SIGN, Judgement("codes of", CHOICE, "the caller clamps the exponent")]))
    rows.append(Row(
        "compressed_tensors_triton", "compressed-tensors", "cast_to_fp4_triton(x), in Triton's interpreter",
        MX.format("fp32", "e2m1"), "rule=floor",
        "github.com/vllm-project/compressed-tensors/pull/824: what it replaced; the scale is not the library's",
        ("import os; os.environ['TRITON_INTERPRET'] = '1'", "import torch",
         "from compressed_tensors.quantization.utils.fp4_utils import cast_to_fp4_triton as cast",
         "s = 2.0 ** (np.floor(np.log2(abs(x).max())) - 2); print(s, cast(torch.from_numpy(np.float32(x / s))))"),
        [Judgement("the codes", DEFECT, "mended in pull request 824: 2.500004 counts as 2.5 in bf16, and becomes 2",
                   "vllm-project/compressed-tensors#824")],
        release="0.18.0"))
    rows.append(Row(
        "compressed_tensors_packed", "compressed-tensors", "calculate_qparams, MXFP4PackedCompressor.compress_weight",
        MX.format("bf16", "e2m1"), "rule=even",
        "github.com/vllm-project/compressed-tensors/pull/538 and 541, github.com/vllm-project/vllm/pull/35979: what they "
        "replaced",
        ("import torch; from compressed_tensors.quantization import preset_name_to_scheme, utils",
         "from compressed_tensors.compressors.quantized_compressors.fp4_quantized import MXFP4PackedCompressor as Packed",
         "w, args = torch.from_numpy(x).bfloat16(), preset_name_to_scheme('MXFP4A16', ['Linear']).weights",
         "s = utils.calculate_qparams(w.amin(-1, True), w.amax(-1, True), args)[0]; "
         "print(s, 2.0 ** (Packed().compress_weight(w, s, None, args)['weight_scale'] - 127.0))"),
        [_INFINITY, _SIGN,
         Judgement("", DEFECT, "emax is subtracted twice, by generate_mxfp4_scales and by compress_scale: the scale stored is a "
                   "quarter of the one used, and wraps at the least scales", "vllm-project/compressed-tensors#538")],
        release="0.13.0"))
    for even in (True, False):
        for element, dtype in QUARK_DTYPES.items():
            name = f"quark_{element}_{'even' if even else 'floor'}"
            globals()[name] = _quark(element, even)
            rows.append(Row(
                name, "amd-quark", "even_round(amax, dtype), real_quantize_fp4_fp6_per_group" if even else
                "real_quantize_mxfp(x, dtype, -1, 32)", MX.format("fp32", element), "rule=even" if even else "rule=floor",
                "quark/torch/quantization/utils.py, even_round" if even else
                "quark/torch/quantization/config/config.py, OCP_MXSpec: OCP MX 1.0, 6.3",
                ("import torch", "from quark.torch.quantization.utils import even_round",
                 f"print(even_round(torch.from_numpy(x).abs().amax(-1, True), '{dtype}'))") if even else
                ("import torch", "from quark.torch.kernel.hw_emulation.hw_emulation_interface import real_quantize_mxfp",
                 f"print(real_quantize_mxfp(torch.from_numpy(x), '{dtype}', -1, 32)[:, 0])"),
                [_LOGARITHM, _INFINITY, _SIGN,
                 Judgement("greatest binade", DEFECT, "even_round's comment rounds it to 2^(n + 1); infinity comes of it, and the "
                           "scale is clamped to 2^127"),
                 Judgement("the scale of blocks", CHOICE, "a scale that underflows to zero becomes 2^-23; e8m0 ends at 2^-127"),
                 Judgement("the codes of blocks", CHOICE, "the scale is a number of fp32; less than 2^-127 counts as 2^-127 here")],
                alone=True))
    for element in GREATEST:
        globals()[f"auto_round_{element}"] = _auto_round(element)
        rows.append(Row(
            f"auto_round_{element}", "auto-round", "quant_mx(x, group_size=32, data_type=dtype)", MX.format("fp32", element),
            "", "", ("import torch", "from auto_round.data_type.mxfp import quant_mx",
                 f"y, e, _ = quant_mx(torch.from_numpy(x), group_size=32, data_type='{_auto_round_type(element)}')",
                 "print(y[torch.from_numpy(x) != 0], e)"),
            [_LOGARITHM, _INFINITY, _ZEROS, _SIGN,
             Judgement("the codes are", DEFECT, "`mantissa_rounding` is 'even'; the number below half a step becomes a step: in fp32 "
                       "its sum with 0.5 is 1, and floor follows"),
             Judgement("the codes of", CHOICE, "it gives the product of scale and code, which overflows")]))
    globals()["auto_round_old"] = _auto_round("e2m1")
    rows.append(Row(
        "auto_round_old", "auto-round", rows[-1].call, MX.format("fp32", "e2m1"), "rule=floor",
        "auto_round/data_type/mxfp.py of 0.4.7: 'this is incorrect', of what it leaves out",
        tuple(line.replace("e3m2", "e2m1").replace("fp6", "fp4") for line in rows[-1].program),
        [_LOGARITHM, _INFINITY, _ZEROS, _SIGN,
         Judgement("the codes", DEFECT, "left out in 0.4.7: what rounds up to a power of two is clamped to the number before it",
                   "auto-round 0.4.7")],
        release="0.4.6", with_packages=("transformers==4.49.*",)))
    rows.append(Row(
        "triton_mxfp4", "triton", "MXScaleTensor(amax), MXFP4Tensor(x / scale)", MX.format("fp32", "e2m1"), "rule=floor",
        "triton/tools/mxfp.py, _from_float: 'the floor of log2(value)', 'roundTiesToEven'",
        ("import torch; from triton.tools.mxfp import MXFP4Tensor, MXScaleTensor",
         "scale = 2.0 ** (MXScaleTensor(torch.from_numpy(x).abs().amax(-1)).data - 129.0)",
         "print(scale, MXFP4Tensor(torch.from_numpy(x) / scale).data)"),
        [_LOGARITHM, Judgement("of zeros", CHOICE, "its words: zero has the encoding of NaN"), _INFINITY,
         Judgement("the scale of blocks", CHOICE, "MXScaleTensor ends at 2^127, and is given amax"), _TRITON_TIES]))
    for element, greatest in GREATEST.items():
        globals()[f"onnx_{element}"] = _onnx(element, greatest)
        rows.append(Row(
            f"onnx_{element}", "onnx", "to_float8e8m0(amax / greatest), QuantizeLinear", MX.format("fp32", element),
            "rule=rceil", "ONNX, Cast: `round_mode` is `up`; QuantizeLinear 'rounds to the nearest even'",
            ("from onnx.numpy_helper import to_float8e8m0", f"print(to_float8e8m0(abs(x).max(-1) / np.float32({greatest})))"),
            [_INFINITY, *_E8M0_MIN]))
    rows.append(Row(
        "onnx_e4m3_old", "onnx", "to_float8e8m0(amax / 256), QuantizeLinear", MX.format("fp32", "e4m3"), "rule=ceil",
        "github.com/onnx/onnx/pull/7784: what it replaced",
        ("from onnx.numpy_helper import to_float8e8m0", "print(to_float8e8m0(abs(x).max(-1) / np.float32(256)))"),
        [_INFINITY, *_E8M0_MIN,
         Judgement("the scale is", DEFECT, "mended in pull request 7784: 1.125, 1.25 and 5 were rounded down; with amax / 448 no "
                   "block that was asked meets one", "onnx/onnx#7784")],
        release="1.21.0"))
    rows.append(Row(
        "onnx_codes_old", "onnx", "QuantizeLinear(x, scale)", MX.format("fp32", "e4m3"), "rule=floor",
        "github.com/onnx/onnx/pull/5456, github.com/microsoft/onnxruntime/issues/16938: what was replaced; the scale is not "
        "ONNX's",
        ("from onnx.helper import float32_to_float8e4m3 as to; from onnx.numpy_helper import float8e4m3_to_float32 as back",
         "s = 2.0 ** (np.floor(np.log2(abs(x).max())) - 8); print(s, [back(to(y)) for y in x[0] / s if y])"),
        [Judgement("the codes of blocks of subnormal", DEFECT, "'rounding to the nearest even'; half of the least number became it"),
         Judgement("the codes", DEFECT, "mended in pull request 5456: 1.8131605 became 1.75, and 1.875 is nearer",
                   "onnx/onnx#5456")],
        release="1.14.1", with_packages=("numpy<2", "protobuf<5")))
    rows.append(Row(
        "jax_mxfp8", "jax", "quantize(x, get_scaled_dot_general_config('mxfp8'))", MX.format("fp32", "e4m3"), "rule=rceil",
        "jax/_src/cudnn/scaled_matmul_stablehlo.py, cast_to_e8m0_with_rounding_up", (),
        [_INFINITY, Judgement("", CHOICE, "on a CPU XLA takes subnormal numbers for zero, 2^-127 among them; jax.nn.scaled_dot_general "
                              "calls it on GPUs alone, and on an H200 the rule holds")]))
    rows.append(Row(
        "jax_nvfp4", "jax", "quantize(x, get_scaled_dot_general_config('nvfp4', t))", NVFP4, "", "", (),
        [Judgement("the scale is", CHOICE, "XLA multiplies by the reciprocals of the tensor's scale and of 6"),
         Judgement("the codes are", CHOICE, "XLA multiplies by the reciprocals of both scales"),
         Judgement("", CHOICE, "no words on the ends of the scales; zero over a scale of zero is NaN, whose code is -0")]))
    rows.append(Row(
        "gfloat_e4m3", "gfloat", "compute_scale_amax, encode_ndarray", MX.format("fp32", "e4m3"), "rule=floor",
        "gfloat/block.py: 'the largest exponent in the array vals * scale will be emax'",
        ("from gfloat import block", "print(block.compute_scale_amax(8, x[0]))"), [_LOGARITHM, _INFINITY],
        with_packages=("array-api-compat", "more_itertools")))
    rows.append(Row(
        "ml_dtypes_e2m1", "ml_dtypes", "(amax / 6).astype(float8_e8m0fnu)", MX.format("fp32", "e2m1"), "rule=nearest",
        "ml_dtypes, issue 298: 'rounding to nearest is the common behavior'",
        ("import ml_dtypes, numpy as np", "print((abs(x).max(1) / np.float32(6)).astype(ml_dtypes.float8_e8m0fnu))"),
        [Judgement("with ties up", CHOICE, "ties go up; IEEE 754's nearest takes the even one, and e8m0 has no fraction; pull "
                   "request 398, open, asks for the even code", "jax-ml/ml_dtypes#398"),
         Judgement("of zeros", CHOICE, "e8m0 has no zero: the cast of 0 is NaN"),
         Judgement("", CHOICE, "e8m0 has no zero: what is below half the least number is cast to NaN")]))
    return rows


ROWS = _rows()
