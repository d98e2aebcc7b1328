"""Conversions of frameworks: PyTorch, JAX and TensorFlow on the CPU, ONNX's reference implementation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mmafuzz._formats import DTYPE_OF_FORMAT, codes_dtype

from .conversions import Call, Conversion
from .inputs import as_codes
from .party import Declined, module, version_of

# --- PyTorch on the CPU ---

TORCH_TYPES = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "e4m3": "float8_e4m3fn",
          "e5m2": "float8_e5m2", "e4m3fnuz": "float8_e4m3fnuz", "e5m2fnuz": "float8_e5m2fnuz",
          "e8m0": "float8_e8m0fnu"}  # fmt: skip


def _torch_to(source: str, target: str) -> Call:
    torch = module("torch")
    names = [TORCH_TYPES[source], TORCH_TYPES[target]]
    if missing := [name for name in names if not hasattr(torch, name)]:
        raise Declined(f"this torch has no {missing[0]}")
    signed = codes_dtype(source).str.replace("u", "i")  # torch has views of signed integers for every width

    def call(codes: np.ndarray) -> np.ndarray:
        x = torch.from_numpy(np.ascontiguousarray(codes).view(signed)).view(getattr(torch, names[0]))
        y = x.to(getattr(torch, names[1]))
        bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[codes_dtype(target).itemsize]
        return y.view(bits).numpy().view(codes_dtype(target))

    return call


def _torch_rows() -> list[Conversion]:
    narrow = [format for format in TORCH_TYPES if format not in ("fp32", "fp64")]
    pairs = [(source, target) for target in narrow for source in ("fp32", "fp64", "fp16", "bf16") if source != target]
    pairs += [(source, "fp32") for source in narrow] + [(source, "bf16") for source in narrow if source[0] == "e"]
    rows = []
    for source, target in dict.fromkeys(pairs):
        # PyTorch 2.12 and later: pull request 178817
        saturates = "saturate=1" if target == "e4m3" else ""
        promise = "finite overflow saturates (pull request 178817)" if saturates else "rounds to nearest, ties to even"
        bits = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}
        snippet = (
            f"import torch, struct\n"
            f"x = torch.frombuffer(bytearray(({{input}}).to_bytes({codes_dtype(source).itemsize}, 'little')), "
            f"dtype=torch.{TORCH_TYPES[source]})\ny = x.to(torch.{TORCH_TYPES[target]})\n"
            f"print(x, y, y.view(torch.{bits[codes_dtype(target).itemsize]}))"
        )
        rows.append(Conversion("torch", f"torch.{TORCH_TYPES[source]} to torch.{TORCH_TYPES[target]}", source, target, saturates,
                               promise, functools.partial(_torch_to, source, target), snippet,
                               version_of("torch")))  # fmt: skip
    return rows


# --- ONNX: the operator Cast of the reference implementation ---

ONNX_TYPES = {"fp16": "FLOAT16", "bf16": "BFLOAT16", "fp32": "FLOAT", "fp64": "DOUBLE", "e4m3": "FLOAT8E4M3FN",
         "e5m2": "FLOAT8E5M2", "e4m3fnuz": "FLOAT8E4M3FNUZ", "e5m2fnuz": "FLOAT8E5M2FNUZ", "e2m1": "FLOAT4E2M1",
         "e8m0": "FLOAT8E8M0"}  # fmt: skip


def opset_of(onnx: Any) -> int:
    """The opset of our graphs: the one that they are written for, or the newest that an older onnx has."""
    return min(onnx.defs.onnx_opset_version(), 25)


def _onnx_cast(target: str, options: dict[str, Any]) -> Call:
    onnx = module("onnx")
    reference = module("onnx.reference")
    helper, types = onnx.helper, onnx.TensorProto
    if not hasattr(types, ONNX_TYPES[target]):
        raise Declined(f"this onnx has no {ONNX_TYPES[target]}")
    to = getattr(types, ONNX_TYPES[target])
    node = helper.make_node("Cast", ["x"], ["y"], to=to, **options)
    graph = helper.make_graph([node], "cast", [helper.make_tensor_value_info("x", types.FLOAT, [None])],
                              [helper.make_tensor_value_info("y", to, [None])])  # fmt: skip
    opset = opset_of(onnx)
    if "round_mode" in options and opset < 24:
        raise Declined("this onnx has no round_mode")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    evaluator = reference.ReferenceEvaluator(model)
    dtype = codes_dtype(target)

    def call(codes: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(evaluator.run(None, {"x": codes.view(np.float32)})[0]).view(dtype)

    return call


def _onnx_rows() -> list[Conversion]:
    rows = []
    e8m0 = [("e8m0", "round=up saturate=1", {"saturate": 1, "round_mode": "up"}),
            ("e8m0", "round=down saturate=1", {"saturate": 1, "round_mode": "down"})]  # fmt: skip
    float8 = [format for format in ONNX_TYPES if format.startswith(("e4", "e5"))]
    table = [(t, "saturate=1", {"saturate": 1}) for t in float8] + [(t, "", {"saturate": 0}) for t in float8]
    for target, attributes, options in table + [("fp16", "", {}), ("bf16", "", {}), ("e2m1", "", {})] + e8m0:
        shown = "".join(f" {key}={value}" for key, value in options.items())
        snippet = (
            f"import numpy as np, onnx\nfrom onnx.reference.ops.op_cast import cast_to\n"
            f"x = np.array([{{input}}], np.uint32).view(np.float32)\n"
            f"y = cast_to(x, onnx.TensorProto.{ONNX_TYPES[target]}, saturate={bool(options.get('saturate', 1))}"
            + (f", round_mode={options['round_mode']!r}" if "round_mode" in options else "")
            + ")\nprint(x[0], y[0], np.asarray(y).view(np.uint8))"
        )
        rows.append(Conversion("onnx", f"Cast FLOAT to {ONNX_TYPES[target]}{shown}", "fp32", target, attributes,
                               "the tables of the operator Cast", functools.partial(_onnx_cast, target, options), snippet,
                               version_of("onnx")))  # fmt: skip
    return rows


# --- JAX and TensorFlow: casts of arrays of ml_dtypes ---

_NARROW = ("fp16", "bf16", "e4m3", "e5m2")
_JAX_FORMATS = (*_NARROW, "e4m3fnuz", "e5m2fnuz", "e3m2", "e2m3", "e2m1", "e8m0")


def _name(format: str) -> str:
    return DTYPE_OF_FORMAT[format].name


def _framework_pairs(narrow: tuple[str, ...]) -> list[tuple[str, str]]:
    pairs = [(source, target) for target in narrow for source in ("fp32", "fp64", "fp16", "bf16") if source != target]
    pairs += [(source, "fp32") for source in narrow] + [("fp64", "fp32"), ("s32", "fp16"), ("s32", "fp32"), ("s32", "bf16")]
    return pairs


def _numbers(codes: np.ndarray, format: str) -> np.ndarray:
    return np.ascontiguousarray(codes).view(DTYPE_OF_FORMAT[format])


def jax_of_the_cpu() -> Any:
    """The module, set to compute on the CPU, with numbers of 64 bits. Declined."""
    jax = module("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    return jax


def _jax_to(source: str, target: str) -> Call:
    jax, jnp = jax_of_the_cpu(), module("jax.numpy")
    if not hasattr(jnp, _name(target)) or not hasattr(jnp, _name(source)):
        raise Declined(f"this jax has no {_name(target) if not hasattr(jnp, _name(target)) else _name(source)}")
    dtype = DTYPE_OF_FORMAT[target]
    return lambda codes: as_codes(np.asarray(jax.lax.convert_element_type(jnp.asarray(_numbers(codes, source)), dtype)))


def _tensorflow_cast(source: str, target: str) -> Call:
    tf = module("tensorflow")
    names = [_name(format) for format in (source, target)]
    if missing := [name for name in names if not hasattr(tf, name) and not hasattr(tf.dtypes.experimental, name)]:
        raise Declined(f"this tensorflow has no {missing[0]}")
    dtype = tf.dtypes.as_dtype(DTYPE_OF_FORMAT[target])
    return lambda codes: as_codes(tf.cast(tf.constant(_numbers(codes, source)), dtype).numpy())


def _framework_row(library: str, imports: str, operation: str, text: str, prepare: Callable[[str, str], Call], source: str,
                   target: str) -> Conversion:  # fmt: skip
    itemsize = codes_dtype(source).itemsize
    kind = "np" if DTYPE_OF_FORMAT[source].kind in "iuf" else "ml_dtypes"
    snippet = (
        f"{imports}\nx = np.array([{{input}}], np.uint{8 * itemsize}).view({kind}.{_name(source)})\n"
        f"y = np.asarray({text.format(target=_name(target))})\n"
        f"print(x[0], y[0], hex(y.view(np.uint{8 * codes_dtype(target).itemsize})[0]))"
    )
    return Conversion(library, f"{operation} of {_name(source)} to {_name(target)}", source, target, "",
                      "rounds to nearest, ties to even", functools.partial(prepare, source, target), snippet,
                      version_of(library))  # fmt: skip


def _jax_rows() -> list[Conversion]:
    imports = "import jax, ml_dtypes, numpy as np\njax.config.update('jax_enable_x64', True)"
    text = "jax.lax.convert_element_type(x, '{target}')"
    return [_framework_row("jax", imports, "convert_element_type", text, _jax_to, *pair)
            for pair in _framework_pairs(_JAX_FORMATS)]  # fmt: skip


def _tensorflow_rows() -> list[Conversion]:
    imports = "import ml_dtypes, numpy as np, tensorflow as tf"
    return [_framework_row("tensorflow", imports, "tf.cast", "tf.cast(tf.constant(x), '{target}')", _tensorflow_cast, *pair)
            for pair in _framework_pairs(_NARROW)]  # fmt: skip


def rows() -> list[Conversion]:
    return _torch_rows() + _onnx_rows() + _jax_rows() + _tensorflow_rows()
