"""The table of arithmetic: operations of libraries on numbers of narrow formats, each rounded once by IEEE 754."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import mmafuzz
from mmafuzz._formats import DTYPE_OF_FORMAT, codes_dtype

from . import inputs
from .conversions import DETOURS, Call, spelled
from .conversions_of_frameworks import ONNX_TYPES, TORCH_TYPES, jax_of_the_cpu, opset_of
from .inputs import as_codes, converted, operands_of
from .party import Declined, module, version_of

_OPERANDS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "rcp": 1, "round_to_integral": 1}
_NARROW = ("fp16", "bf16", "e5m2", "e4m3", "e5m2fnuz", "e4m3fnuz", "e3m2", "e2m3", "e2m1")


class Arithmetic(NamedTuple):
    """One row: an operation of a library. An input holds the encodings of all operands, the first in its high bits. `prepare`
    gives a call on arrays of inputs, or raises `Declined`. `Conversion` says what the methods are for."""

    library: str
    operation: str  #: as the library spells it, with its type
    scalar: str  #: as op lines of mmafuzz spell it
    target: str  #: the format of operands and results
    prepare: Callable[[], Call]
    snippet: str  #: a program that shows a divergence; {input}: encodings in hexadecimal
    version: Callable[[], str]

    @property
    def attributes(self) -> str:
        return ""

    @property
    def width(self) -> int:
        return inputs.width(self.target) * _OPERANDS[self.scalar]

    @property
    def operands(self) -> tuple[str, ...]:
        return (self.target,) * _OPERANDS[self.scalar]

    @property
    def detours(self) -> list[str]:
        return [one for one in DETOURS if inputs.width(one) > inputs.width(self.target)]

    def expected(self, codes: np.ndarray, unit: mmafuzz.Unit) -> np.ndarray:
        return as_codes(unit.evaluate(f"scalar {self.scalar} format={self.target}", *operands_of(codes, self.operands)))

    def in_format(self, codes: np.ndarray, format: str) -> np.ndarray:
        wide = [converted(one, self.target, format) for one in operands_of(codes, self.operands)]
        return as_codes(inputs.IEEE.evaluate(f"scalar {self.scalar} format={format}", *wide))

    def boundaries(self) -> np.ndarray:
        """All pairs of specials, powers of two and their neighbours, of both signs. Only an operation of two operands asks:
        of one operand every input is tried (run.py)."""
        fraction = mmafuzz._core.format_fields(self.target)["fraction_bits"]
        sign = 1 << (inputs.width(self.target) - 1)
        powers = np.arange(0, sign, 1 << fraction, dtype=np.int64)
        near = np.concatenate([inputs.specials(self.target).astype(np.int64), powers - 1, powers, powers + 1])
        chosen = np.unique(near[(near >= 0) & (near < sign)])
        chosen = np.concatenate([chosen, chosen + sign]).astype(np.uint64)
        return _paired(np.repeat(chosen, len(chosen)), np.tile(chosen, len(chosen)), self.target)

    def structured(self, count: int) -> Iterator[np.ndarray]:
        """Pairs of operands. In every second one, b is a with other low bits, up to two of the exponent's, and with a sign of
        its own: sums cancel, quotients are near one. In the others both are uniform over the bits."""
        rng = np.random.default_rng(1)
        bits = inputs.width(self.target)
        fraction = mmafuzz._core.format_fields(self.target)["fraction_bits"]
        for first in range(0, count, inputs.BLOCK):
            size = min(inputs.BLOCK, count - first)
            a = rng.integers(0, 1 << bits, size, dtype=np.uint64)
            b = rng.integers(0, 1 << bits, size, dtype=np.uint64)
            change = rng.integers(0, 1 << (fraction + 2), size, dtype=np.uint64)
            sign = b & np.uint64(1 << (bits - 1))
            yield _paired(a, np.where(np.arange(size) % 2, b, a ^ change ^ sign), self.target)


def _paired(a: np.ndarray, b: np.ndarray, format: str) -> np.ndarray:
    bits = inputs.width(format)
    return (a << np.uint64(bits) | b).astype(inputs.integers_of(2 * bits))


def _on_numbers(scalar: str, format: str, function: Callable[..., Any]) -> Call:
    """A call on inputs, of a function on arrays of numbers."""

    def call(codes: np.ndarray) -> np.ndarray:
        fields = operands_of(codes, (format,) * _OPERANDS[scalar])
        with np.errstate(all="ignore"):
            y = np.asarray(function(*(one.view(DTYPE_OF_FORMAT[format]) for one in fields)))
        if y.dtype != DTYPE_OF_FORMAT[format]:
            raise Declined(f"the result is of {y.dtype}")
        return as_codes(np.ascontiguousarray(y))

    return call


def _program(imports: str, scalar: str, format: str, text: str) -> str:
    """A program that applies the operation, `text` on x0 and x1, to arrays of NumPy. Each operand stands there 64 times, so
    that the library takes its vector code."""
    unpacking = f"{'x0, x1' if _OPERANDS[scalar] == 2 else '[x0]'} = x.reshape(-1, 1).repeat(64, 1)\n"
    return (f"{imports}\nx = np.array([{{input}}], np.uint{8 * codes_dtype(format).itemsize}).view({spelled(format)})\n{unpacking}"
            f"y = np.asarray({text})\nprint(*x, y[0], hex(y.view(np.uint{8 * codes_dtype(format).itemsize})[0]))")  # fmt: skip


# --- NumPy, and ml_dtypes through it ---

_NUMPY = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "sqrt": "sqrt", "rcp": "reciprocal",
          "round_to_integral": "rint"}  # fmt: skip


def _numpy_rows() -> list[Arithmetic]:
    rows = []
    for format in _NARROW:
        library = "numpy" if format == "fp16" else "ml_dtypes"
        imports = "import numpy as np" + (", ml_dtypes" if library == "ml_dtypes" else "")
        for scalar, name in _NUMPY.items():
            text = f"np.{name}({', '.join(f'x{i}' for i in range(_OPERANDS[scalar]))})"
            rows.append(Arithmetic(library, f"np.{name}, {DTYPE_OF_FORMAT[format].name}", scalar, format,
                                   functools.partial(_on_numbers, scalar, format, getattr(np, name)),
                                   _program(imports, scalar, format, text), version_of(library)))  # fmt: skip
    return rows


# --- PyTorch on the CPU ---

_TORCH = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "sqrt": "sqrt", "rcp": "reciprocal", "round_to_integral": "round"}


def _torch_call(scalar: str, format: str) -> Call:
    torch = module("torch")
    if not hasattr(torch, TORCH_TYPES[format]):
        raise Declined(f"this torch has no {TORCH_TYPES[format]}")
    signed = codes_dtype(format).str.replace("u", "i")  # older versions have no uint16

    def call(codes: np.ndarray) -> np.ndarray:
        fields = operands_of(codes, (format,) * _OPERANDS[scalar])
        numbers = (torch.from_numpy(one.view(signed)).view(getattr(torch, TORCH_TYPES[format])) for one in fields)
        y = getattr(torch, _TORCH[scalar])(*numbers)
        return y.view(torch.uint8 if codes_dtype(format).itemsize == 1 else torch.int16).numpy().view(codes_dtype(format))

    return call


def _torch_rows() -> list[Arithmetic]:
    rows = []
    for format in ("fp16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"):
        for scalar, name in _TORCH.items():
            size = codes_dtype(format).itemsize
            snippet = (
                f"import torch\nbits = b''.join(one.to_bytes({size}, 'little') for one in [{{input}}])\n"
                f"x = torch.frombuffer(bytearray(bits), dtype=torch.{TORCH_TYPES[format]})\n"
                f"y = torch.{name}(*x.reshape(-1, 1).repeat(1, 64))\n"
                f"print(x, y[0], y.view(torch.{'uint8' if size == 1 else 'int16'})[0])"
            )
            rows.append(Arithmetic("torch", f"torch.{name}, {TORCH_TYPES[format]}", scalar, format,
                                   functools.partial(_torch_call, scalar, format), snippet, version_of("torch")))  # fmt: skip
    return rows


# --- ONNX: operators of the reference implementation ---

_ONNX = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "sqrt": "Sqrt", "rcp": "Reciprocal", "round_to_integral": "Round"}


def _onnx_call(scalar: str, format: str) -> Call:
    onnx = module("onnx")
    reference = module("onnx.reference")
    type, names = getattr(onnx.TensorProto, ONNX_TYPES[format]), ["x0", "x1"][: _OPERANDS[scalar]]
    described = [onnx.helper.make_tensor_value_info(name, type, [None]) for name in [*names, "y"]]
    graph = onnx.helper.make_graph([onnx.helper.make_node(_ONNX[scalar], names, ["y"])], "one", described[:-1], described[-1:])
    opset = onnx.helper.make_opsetid("", opset_of(onnx))
    evaluator = reference.ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[opset]))
    return _on_numbers(scalar, format, lambda *fields: evaluator.run(None, dict(zip(names, fields)))[0])


def _onnx_rows() -> list[Arithmetic]:
    rows = []
    for format in ("fp16", "bf16"):
        for scalar, name in _ONNX.items():
            operands = ", ".join(f"x{i}" for i in range(_OPERANDS[scalar]))
            imports = f"import ml_dtypes, numpy as np\nfrom onnx.reference.ops.op_{name.lower()} import {name}"
            rows.append(Arithmetic("onnx", f"{name}, {ONNX_TYPES[format]}", scalar, format,
                                   functools.partial(_onnx_call, scalar, format),
                                   _program(imports, scalar, format, f"{name}.eval({operands})"), version_of("onnx")))  # fmt: skip
    return rows


# --- JAX and TensorFlow ---

_JAX = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "sqrt": "sqrt", "rcp": "reciprocal",
        "round_to_integral": "round"}  # fmt: skip
_TENSORFLOW = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "sqrt": "sqrt", "rcp": "reciprocal",
               "round_to_integral": "round"}  # fmt: skip


def _jax_call(scalar: str, format: str) -> Call:
    lax = jax_of_the_cpu().lax
    if scalar == "round_to_integral":
        return _on_numbers(scalar, format, lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN))
    return _on_numbers(scalar, format, getattr(lax, _JAX[scalar]))


def _tensorflow_call(scalar: str, format: str) -> Call:
    math = module("tensorflow").math
    return _on_numbers(scalar, format, getattr(math, _TENSORFLOW[scalar]))


def _framework_rows(library: str, imports: str, spelling: str, names: dict[str, str], prepare: Callable[[str, str], Call],
                    formats: tuple[str, ...]) -> list[Arithmetic]:  # fmt: skip
    rows = []
    for format in formats:
        for scalar, name in names.items():
            operands = ", ".join(f"x{i}" for i in range(_OPERANDS[scalar]))
            if library == "jax" and scalar == "round_to_integral":
                operands += ", jax.lax.RoundingMethod.TO_NEAREST_EVEN"
            rows.append(Arithmetic(library, f"{spelling}.{name}, {DTYPE_OF_FORMAT[format].name}", scalar, format,
                                   functools.partial(prepare, scalar, format),
                                   _program(imports, scalar, format, f"{spelling}.{name}({operands})"),
                                   version_of(library)))  # fmt: skip
    return rows


def table() -> list[Arithmetic]:
    """Every row."""
    jax = _framework_rows("jax", "import jax, ml_dtypes, numpy as np", "jax.lax", _JAX, _jax_call, _NARROW)
    tensorflow = _framework_rows("tensorflow", "import ml_dtypes, numpy as np, tensorflow as tf", "tf.math", _TENSORFLOW,
                                 _tensorflow_call, ("fp16", "bf16", "e4m3", "e5m2"))  # fmt: skip
    return _numpy_rows() + _torch_rows() + _onnx_rows() + jax + tensorflow
