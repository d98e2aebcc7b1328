"""Matrix products of libraries for Python: NumPy, ml_dtypes, PyTorch, JAX, TensorFlow, the package blis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from mmafuzz import ProductFinding

from .party import module, version_of
from .products import Prepared, Product, python_matrix

#: Formats by the names that all these libraries share.
_NAMES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "s32": "int32", "s8": "int8"}
_FLOATS = ("fp64", "fp32", "fp16", "bf16")


class _Library(NamedTuple):
    """How a library is imported, and how arrays become its tensors."""

    name: str
    imports: str  #: as a program has them
    names: Callable[[], dict[str, Any]]  #: what the imports bind; Declined
    given: Callable[[np.ndarray], Any]
    taken: Callable[[Any], np.ndarray]
    given_text: Callable[[str], str]  #: of a dtype's name: the expression that makes a tensor of x
    version: Callable[[], str]
    set_threads: Callable[[int], Any] | None = None


def _itself(x: Any) -> Any:
    return x


def _torch_given(x: np.ndarray) -> Any:
    torch = module("torch")
    if min(x.strides) < 0:  # torch has no such views
        x = x.copy()
    if x.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(x)


def _torch_taken(x: Any) -> np.ndarray:
    torch = module("torch")
    return x.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16) if x.dtype == torch.bfloat16 else x.numpy()


def _torch_text(dtype: str) -> str:
    if dtype == "bfloat16":
        return "torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)"
    return "torch.from_numpy(x)"


def _jax_names() -> dict[str, Any]:
    module("jax").config.update("jax_enable_x64", True)
    return {"jnp": module("jax.numpy")}


_NUMPY = _Library("numpy", "import numpy as np", lambda: {"np": np}, _itself, _itself, lambda dtype: "x", version_of("numpy"))
_ML_DTYPES = _NUMPY._replace(name="ml_dtypes", version=version_of("ml_dtypes"))
_TORCH = _Library("torch", "import numpy as np, torch", lambda: {"torch": module("torch")}, _torch_given, _torch_taken,
                  _torch_text, version_of("torch"), lambda count: module("torch").set_num_threads(count))  # fmt: skip
_JAX = _Library("jax", "import jax, jax.numpy as jnp, numpy as np\njax.config.update('jax_enable_x64', True)", _jax_names,
                lambda x: module("jax.numpy").asarray(x), np.asarray, lambda dtype: "jnp.asarray(x)", version_of("jax"))  # fmt: skip
_TENSORFLOW = _Library("tensorflow", "import numpy as np, tensorflow as tf", lambda: {"tf": module("tensorflow")},
                       lambda x: module("tensorflow").constant(x), lambda x: x.numpy(), lambda dtype: "tf.constant(x)",
                       version_of("tensorflow"))  # fmt: skip
_BLIS = _Library("blis (Python)", "import blis.py, numpy as np", lambda: {"blis": module("blis"), "": module("blis.py")},
                 _itself, _itself, lambda dtype: "x", lambda: version("blis"))  # fmt: skip


def _prepared(library: _Library, expression: str, form: str) -> Prepared:
    names = library.names()
    code = compile(expression, f"<{library.name}>", "eval")

    def call(a: np.ndarray, b: np.ndarray, c: np.ndarray | None = None, alpha: int = 1, beta: int = 0) -> np.ndarray | None:
        given = {"a": library.given(a), "b": library.given(b), "alpha": alpha, "beta": beta}
        if c is not None:
            given["c"] = library.given(c)
        result = eval(code, {**names, **given})
        return library.taken(result) if form == "product" else None

    return Prepared(call, library.set_threads)


def _snippet(library: _Library, expression: str, form: str, finding: ProductFinding) -> str:
    names = "ab" if form == "product" else "abc"
    extra = "import ml_dtypes\n" if any(getattr(finding, x).dtype.kind not in "iuf" for x in names) else ""
    lines = [extra + library.imports, *(python_matrix(finding, x) for x in names)]
    make = library.given_text(str(finding.a.dtype))
    if make != "x":
        tuple_text = ", ".join(names)
        lines.append(f"{tuple_text} = ({make} for x in ({tuple_text}))")
    case = finding.case
    call = expression.replace("beta=beta", f"beta={case.beta}").replace("alpha=alpha", f"alpha={case.alpha}")
    at = f"[{finding.where[0]}, {finding.where[1]}]" if finding.where else ""
    lines.append(f"d = {call}" if form == "product" else call)
    return "\n".join([*lines, f"print({'d' if form == 'product' else 'c'}{at})  # {finding.expected} is right"])


def _rows(library: _Library, operation: str, expression: str, form: str, formats: tuple[str, ...], result: str = "",
          strides: str = "any") -> list[Product]:  # fmt: skip
    return [
        Product(library.name, f"{operation}, {_NAMES[format]}", format, result or format, form, strides,
                functools.partial(_prepared, library, expression, form),
                functools.partial(_snippet, library, expression, form), library.version)
        for format in formats
    ]  # fmt: skip


def rows() -> list[Product]:
    numpy_formats = ("fp64", "fp32", "fp16", "s32")
    # NumPy takes another function of BLAS (syrk) where b is the transpose of a.
    own_transpose = "(lambda x: (x @ x.T)[:len(a), len(a):])(np.concatenate([a, b.T]))"
    addmv = "[c[:, j].addmv_(a, b[:, j], beta=beta, alpha=alpha) for j in range(c.shape[1])]"
    baddbmm = "torch.baddbmm(c[None], a[None], b[None], beta=beta, alpha=alpha, out=c[None])"
    found = [
        *_rows(_NUMPY, "np.matmul", "np.matmul(a, b)", "product", numpy_formats),
        *_rows(_NUMPY, "np.matmul with out", "np.matmul(a, b, out=c)", "out", numpy_formats),
        *_rows(_NUMPY, "np.dot", "np.dot(a, b)", "product", numpy_formats),
        *_rows(_NUMPY, "np.einsum", "np.einsum('mk,kn->mn', a, b)", "product", numpy_formats),
        *_rows(_NUMPY, "np.einsum with optimize", "np.einsum('mk,kn->mn', a, b, optimize=True)", "product", ("fp64", "fp32")),
        *_rows(_NUMPY, "x @ x.T", own_transpose, "product", numpy_formats),
        *_rows(_ML_DTYPES, "np.matmul", "np.matmul(a, b)", "product", ("bf16",), "fp32"),
        *_rows(_TORCH, "torch.matmul", "torch.matmul(a, b)", "product", (*_FLOATS, "s32")),
        *_rows(_TORCH, "torch.matmul with out", "torch.matmul(a, b, out=c)", "out", _FLOATS, strides="blas"),
        *_rows(_TORCH, "torch.addmm", "torch.addmm(c, a, b, beta=beta, alpha=alpha, out=c)", "update", _FLOATS, strides="blas"),
        *_rows(_TORCH, "torch.baddbmm", baddbmm, "update", _FLOATS, strides="blas"),
        *_rows(_TORCH, "Tensor.addmv_", addmv, "update", _FLOATS, strides="blas"),
        *_rows(_TORCH, "torch.nn.functional.linear", "torch.nn.functional.linear(a, b.T)", "product", _FLOATS),
        *_rows(_TORCH, "torch.einsum", "torch.einsum('mk,kn->mn', a, b)", "product", _FLOATS),
        *_rows(_TORCH, "torch._int_mm", "torch._int_mm(a, b)", "product", ("s8",), "s32"),
        *_rows(_JAX, "jnp.matmul", "jnp.matmul(a, b)", "product", (*_FLOATS, "s32")),
        *_rows(_JAX, "jnp.matmul to int32", "jnp.matmul(a, b, preferred_element_type=jnp.int32)", "product", ("s8",), "s32"),
        *_rows(_JAX, "jnp.matmul to float32", "jnp.matmul(a, b, preferred_element_type=jnp.float32)", "product", ("bf16",), "fp32"),
        *_rows(_TENSORFLOW, "tf.linalg.matmul", "tf.linalg.matmul(a, b)", "product", (*_FLOATS, "s32")),
        *_rows(_BLIS, "blis.py.gemm", "blis.py.gemm(a, b, out=c, alpha=alpha, beta=beta)", "update", ("fp64", "fp32"), strides="none"),
    ]  # fmt: skip
    return found
