"""Matrix products of libraries for C and C++: OpenBLAS, BLIS, the reference BLAS, oneDNN, Eigen."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import pathlib
import re
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mmafuzz import ProductFinding

from .party import Declined, output, release_folders
from .products import Prepared, Product, c_matrix

_SYSTEM = pathlib.Path("/usr/lib/x86_64-linux-gnu")
_C_TYPE = {"fp32": ("float", ctypes.c_float, "s"), "fp64": ("double", ctypes.c_double, "d")}
_ROW_MAJOR, _COLUMN_MAJOR, _NO, _TRANSPOSED = 101, 102, 111, 112  # cblas.h


def _lies_by_columns(x: np.ndarray) -> bool:
    return x.strides[1] != x.itemsize


def _lead(x: np.ndarray) -> int:
    """The leading dimension: elements from a row (column) to the next."""
    by_columns = _lies_by_columns(x)
    lead = x.strides[1 if by_columns else 0] // x.itemsize
    return max(lead, 1, x.shape[0 if by_columns else 1])


# --- BLAS through CBLAS ---


class _Blas(NamedTuple):
    """A shared library with CBLAS."""

    name: str
    file: Callable[[], pathlib.Path]  #: Declined
    threads: str = ""  #: the function that sets their number
    describe: str = ""  #: the function that returns a text about the build


def _openblas_of_pip() -> pathlib.Path:
    folder = release_folders.get("OpenBLAS")
    if folder is None:
        found = importlib.util.find_spec("scipy_openblas32")
        if found is None:
            raise Declined("the package scipy-openblas32 is not installed")
        folder = pathlib.Path(str(found.origin)).parent
    files = sorted(folder.rglob("*openblas*.so*"))
    if not files:
        raise Declined(f"{folder.name} has no OpenBLAS")
    return files[0]


def _of_system(path: str, package: str) -> Callable[[], pathlib.Path]:
    def find() -> pathlib.Path:
        if not (_SYSTEM / path).exists():
            raise Declined(f"Debian's {package} is not installed")
        return _SYSTEM / path

    return find


_LIBRARIES = [
    _Blas("OpenBLAS", _openblas_of_pip, "openblas_set_num_threads", "openblas_get_config"),
    _Blas("OpenBLAS (Debian)", _of_system("openblas-pthread/libopenblas.so.0", "libopenblas0-pthread"),
          "openblas_set_num_threads", "openblas_get_config"),
    _Blas("BLIS (Debian)", _of_system("blis-openmp/libblis.so.4", "libblis4-openmp"), "bli_thread_set_num_threads",
          "bli_info_get_version_str"),
    _Blas("reference BLAS (Debian)", _of_system("blas/libblas.so.3", "libblas3")),
]  # fmt: skip


@functools.cache
def _loaded(path: pathlib.Path) -> ctypes.CDLL:
    try:
        for runtime in ("libquadmath*", "libgfortran*"):  # wheels bring their own, which only their importer finds
            for beside in path.parent.glob(runtime):
                ctypes.CDLL(str(beside), ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(str(path))
    except OSError as e:
        raise Declined(f"{path.name} cannot be loaded: {e}") from None


def _function(blas: _Blas, name: str) -> tuple[Any, Any]:
    """A function and the type of its integers. Wheels put words before and behind the names."""
    library = _loaded(blas.file())
    for before in ("", "scipy_"):
        for behind, integer in (("", ctypes.c_int), ("64_", ctypes.c_int64)):
            if hasattr(library, before + name + behind):
                return getattr(library, before + name + behind), integer
    raise Declined(f"this release has no {name}")


def _threads(blas: _Blas) -> Callable[[int], Any] | None:
    if not blas.threads:
        return None
    setter, _ = _function(blas, blas.threads)
    return lambda count: setter(ctypes.c_int(count))


def _version(blas: _Blas) -> str:
    if not blas.describe:
        return blas.file().resolve().name.partition(".so.")[2]
    describe, _ = _function(blas, blas.describe)
    describe.restype = ctypes.c_char_p
    text = describe().decode()
    core = ""
    if blas.describe.startswith("openblas"):
        name, _ = _function(blas, "openblas_get_corename")
        name.restype = ctypes.c_char_p
        core = f" ({name().decode()})"
        text = text.split()[1]
    return text + core


def _gemm(blas: _Blas, format: str) -> Prepared:
    _, number, letter = _C_TYPE[format]
    function, integer = _function(blas, f"cblas_{letter}gemm")
    function.argtypes = [ctypes.c_int] * 3 + [integer] * 3 + [number, ctypes.c_void_p, integer, ctypes.c_void_p, integer,
                                                              number, ctypes.c_void_p, integer]  # fmt: skip

    def call(a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: int, beta: int) -> None:
        by_columns = _lies_by_columns(c)
        order = _COLUMN_MAJOR if by_columns else _ROW_MAJOR
        turn = [_NO if _lies_by_columns(x) == by_columns else _TRANSPOSED for x in (a, b)]
        function(order, *turn, a.shape[0], b.shape[1], a.shape[1], alpha, a.ctypes.data, _lead(a), b.ctypes.data, _lead(b),
                 beta, c.ctypes.data, _lead(c))  # fmt: skip

    return Prepared(call, _threads(blas))


def _gemv(blas: _Blas, format: str) -> Prepared:
    """Column by column of b and c, whose elements may lie apart."""
    _, number, letter = _C_TYPE[format]
    function, integer = _function(blas, f"cblas_{letter}gemv")
    function.argtypes = [ctypes.c_int] * 2 + [integer] * 2 + [number, ctypes.c_void_p, integer, ctypes.c_void_p, integer,
                                                              number, ctypes.c_void_p, integer]  # fmt: skip

    def call(a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: int, beta: int) -> None:
        turn = _TRANSPOSED if _lies_by_columns(a) else _NO
        stored = a.shape[::-1] if turn == _TRANSPOSED else a.shape
        for x, y in zip(b.T, c.T):
            function(_ROW_MAJOR, turn, *stored, alpha, a.ctypes.data, _lead(a), x.ctypes.data, x.strides[0] // x.itemsize,
                     beta, y.ctypes.data, y.strides[0] // y.itemsize)  # fmt: skip

    return Prepared(call, _threads(blas))


def _c_program(finding: ProductFinding, types: tuple[str, str, str], headers: str, call: Callable[[dict[str, str]], str]) -> str:
    """A program in C. types: of a, b and c; call: the library's, of expressions of their first elements."""
    made = {name: c_matrix(finding, name, type) for name, type in zip("abc", types)}
    row, column = finding.where or (0, 0)
    layout = finding.case.layouts[2]
    lead = (finding.shape[0] if layout.by_columns else finding.shape[1]) + layout.padding
    at = layout.offset + (column * lead + row if layout.by_columns else row * lead + column)
    return "\n".join([
        headers, "#include <math.h>", "#include <stdio.h>", "int main(void) {",
        *(f"  {declaration}" for declaration, _ in made.values()),
        f"  {call({name: start for name, (_, start) in made.items()})}",
        f"  printf(\"%g\\n\", (double)c[{at}]);  // {finding.expected} is right", "}",
    ])  # fmt: skip


def _leads(finding: ProductFinding) -> list[int]:
    m, n, k = finding.shape
    shapes = ((m, k), (k, n), (m, n))
    return [max(1, (rows if layout.by_columns else columns) + layout.padding)
            for (rows, columns), layout in zip(shapes, finding.case.layouts)]  # fmt: skip


def _gemm_program(format: str, finding: ProductFinding) -> str:
    m, n, k = finding.shape
    lays = [layout.by_columns for layout in finding.case.layouts]
    order = "CblasColMajor" if lays[2] else "CblasRowMajor"
    turn = ["CblasNoTrans" if lay == lays[2] else "CblasTrans" for lay in lays[:2]]
    lda, ldb, ldc = _leads(finding)
    case = finding.case
    return _c_program(finding, (_C_TYPE[format][0],) * 3, "#include <cblas.h>", lambda at: (
        f"cblas_{_C_TYPE[format][2]}gemm({order}, {turn[0]}, {turn[1]}, {m}, {n}, {k}, {case.alpha}, {at['a']}, {lda}, "
        f"{at['b']}, {ldb}, {case.beta}, {at['c']}, {ldc});"))  # fmt: skip


def _gemv_program(format: str, finding: ProductFinding) -> str:
    m, n, k = finding.shape
    case, (lda, ldb, ldc) = finding.case, _leads(finding)
    lays = [layout.by_columns for layout in case.layouts]
    turn, stored = ("CblasTrans", f"{k}, {m}") if lays[0] else ("CblasNoTrans", f"{m}, {k}")
    column = finding.where[1] if finding.where else 0
    x = (f"{column * ldb}", 1) if lays[1] else (f"{column}", ldb)
    y = (f"{column * ldc}", 1) if lays[2] else (f"{column}", ldc)
    return _c_program(finding, (_C_TYPE[format][0],) * 3, "#include <cblas.h>", lambda at: (
        f"cblas_{_C_TYPE[format][2]}gemv(CblasRowMajor, {turn}, {stored}, {case.alpha}, {at['a']}, {lda}, {at['b']} + {x[0]}, "
        f"{x[1]}, {case.beta}, {at['c']} + {y[0]}, {y[1]});"))  # fmt: skip


def _blas_rows() -> list[Product]:
    rows = []
    for blas in _LIBRARIES:
        for format in ("fp64", "fp32"):
            letter = _C_TYPE[format][2]
            for name, prepare, program in (("gemm", _gemm, _gemm_program), ("gemv", _gemv, _gemv_program)):
                rows.append(Product(blas.name, f"cblas_{letter}{name}", format, format, "update", "blas",
                                    functools.partial(prepare, blas, format), functools.partial(program, format),
                                    functools.partial(_version, blas)))  # fmt: skip
    return rows


# --- oneDNN's own gemm ---

_DNNL = _Blas("oneDNN (Debian)", _of_system("libdnnl.so.2", "libdnnl2"))


def _dnnl_version() -> str:
    class Version(ctypes.Structure):
        _fields_ = [("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int)]

    function, _ = _function(_DNNL, "dnnl_version")
    function.restype = ctypes.POINTER(Version)
    said = function().contents
    return f"{said.major}.{said.minor}.{said.patch}"


def _openmp_threads(count: int) -> None:
    _loaded(_SYSTEM / "libgomp.so.1").omp_set_num_threads(ctypes.c_int(count))


def _dnnl(name: str) -> Prepared:
    """Row-major alone: a result by columns is the transpose of b.T @ a.T."""
    function, _ = _function(_DNNL, name)
    is_integer = name.endswith("s32")
    size, letter = ctypes.c_int64, ctypes.c_char

    def call(a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: int, beta: int) -> None:
        if _lies_by_columns(c):
            if is_integer and a.dtype != b.dtype:
                raise Declined("a and b of different types do not change places")
            a, b, c = b.T, a.T, c.T
        turn = [letter(b"T" if _lies_by_columns(x) else b"N") for x in (a, b)]
        sizes = [size(x) for x in (a.shape[0], b.shape[1], a.shape[1])]
        number = ctypes.c_float
        pa, pb, pc = (ctypes.c_void_p(x.ctypes.data) for x in (a, b, c))
        if is_integer:
            zero, offset = ctypes.c_int8(0), (ctypes.c_int32 * 1)(0)
            status = function(*turn, letter(b"F"), *sizes, number(alpha), pa, size(_lead(a)), zero, pb, size(_lead(b)), zero,
                              number(beta), pc, size(_lead(c)), offset)  # fmt: skip
        else:
            status = function(*turn, *sizes, number(alpha), pa, size(_lead(a)), pb, size(_lead(b)), number(beta), pc, size(_lead(c)))
        if status:
            raise RuntimeError(f"{name} returns {status}")

    return Prepared(call, _openmp_threads)


_DNNL_TYPES = {"dnnl_sgemm": ("float",) * 3, "dnnl_gemm_bf16bf16f32": ("unsigned short", "unsigned short", "float"),
               "dnnl_gemm_s8s8s32": ("signed char", "signed char", "int")}  # fmt: skip


def _dnnl_program(name: str, finding: ProductFinding) -> str:
    m, n, k = finding.shape
    case, (lda, ldb, ldc) = finding.case, _leads(finding)
    turn = ["T" if layout.by_columns else "N" for layout in case.layouts]

    def call(at: dict[str, str]) -> str:
        left, right, rows, columns = (at["a"], lda, turn[0]), (at["b"], ldb, turn[1]), m, n
        if turn[2] == "T":  # the transpose of everything
            flipped = {"N": "T", "T": "N"}
            left, right, rows, columns = (*right[:2], flipped[right[2]]), (*left[:2], flipped[left[2]]), n, m
        orders = f"'{left[2]}', '{right[2]}'"
        if name.endswith("s32"):
            return (f"{name}({orders}, 'F', {rows}, {columns}, {k}, {case.alpha}, {left[0]}, {left[1]}, 0, {right[0]}, {right[1]}, "
                    f"0, {case.beta}, {at['c']}, {ldc}, (int[]){{0}});")  # fmt: skip
        return (f"{name}({orders}, {rows}, {columns}, {k}, {case.alpha}, {left[0]}, {left[1]}, {right[0]}, {right[1]}, "
                f"{case.beta}, {at['c']}, {ldc});")  # fmt: skip

    headers = "#include <oneapi/dnnl/dnnl.h>"
    if name == "dnnl_gemm_bf16bf16f32":  # the library has it, its header has not
        headers += (f"\ndnnl_status_t {name}(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float, const unsigned short*, "
                    "dnnl_dim_t,\n  const unsigned short*, dnnl_dim_t, float, float*, dnnl_dim_t);")  # fmt: skip
    return _c_program(finding, _DNNL_TYPES[name], headers, call)


def _dnnl_rows() -> list[Product]:
    table = [("dnnl_sgemm", "fp32", "fp32"), ("dnnl_gemm_bf16bf16f32", "bf16", "fp32"), ("dnnl_gemm_s8s8s32", "s8", "s32")]
    return [Product("oneDNN (Debian)", name, operands, result, "update", "blas", functools.partial(_dnnl, name),
                    functools.partial(_dnnl_program, name), _dnnl_version) for name, operands, result in table]  # fmt: skip


# --- Eigen, compiled here ---

_EIGEN = """#include <Eigen/Core>
using Number = {type};
using Index = Eigen::Index;
template <int order>
using View = Eigen::Map<Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, order>, 0, Eigen::OuterStride<>>;

template <int oa, int ob, int oc>
void product(Index m, Index n, Index k, Number* a, Index lda, Number* b, Index ldb, Number* c, Index ldc, int alpha, int beta) {{
  View<oa> A(a, m, k, Eigen::OuterStride<>(lda));
  View<ob> B(b, k, n, Eigen::OuterStride<>(ldb));
  View<oc> C(c, m, n, Eigen::OuterStride<>(ldc));
  if (beta == 0) C.noalias() = Number(alpha) * A * B;
  else {{
    C *= Number(beta);
    C.noalias() += Number(alpha) * A * B;
  }}
}}

extern "C" void eigen_product(int orders, Index m, Index n, Index k, Number* a, Index lda, Number* b, Index ldb, Number* c,
                              Index ldc, int alpha, int beta) {{
  constexpr int R = Eigen::RowMajor, C = Eigen::ColMajor;
  constexpr decltype(&product<R, R, R>) all[] = {{product<R, R, R>, product<C, R, R>, product<R, C, R>, product<C, C, R>,
                                                 product<R, R, C>, product<C, R, C>, product<R, C, C>, product<C, C, C>}};
  all[orders](m, n, k, a, lda, b, ldb, c, ldc, alpha, beta);
}}

extern "C" void eigen_threads(int count) {{ Eigen::setNbThreads(count); }}
"""
_EIGEN_TYPES = {"fp64": "double", "fp32": "float", "fp16": "Eigen::half", "bf16": "Eigen::bfloat16", "s32": "int"}
_EIGEN_HEADER = pathlib.Path("/usr/include/eigen3/Eigen/src/Core/util/Macros.h")


def _eigen_version() -> str:
    if not _EIGEN_HEADER.is_file():
        raise Declined("Debian's libeigen3-dev is not installed")
    text = _EIGEN_HEADER.read_text()
    return ".".join(re.search(rf"define EIGEN_{part}_VERSION (\d+)", text).group(1)  # type: ignore
                    for part in ("WORLD", "MAJOR", "MINOR"))  # fmt: skip


def _eigen(format: str) -> Prepared:
    output("g++", "-dumpversion")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "party.cc").write_text(_EIGEN.format(type=_EIGEN_TYPES[format]))
        command = ["g++", "-O2", "-march=native", "-fopenmp", "-shared", "-fPIC", "-I/usr/include/eigen3",
                   str(folder / "party.cc"), "-o", str(folder / "party.so")]  # fmt: skip
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise Declined("g++ cannot build a call of it")
        library = ctypes.CDLL(str(folder / "party.so"))
    size = ctypes.c_int64

    def call(a: np.ndarray, b: np.ndarray, c: np.ndarray, alpha: int, beta: int) -> None:
        orders = sum(_lies_by_columns(x) << i for i, x in enumerate((a, b, c)))
        where = [y for x in (a, b, c) for y in (ctypes.c_void_p(x.ctypes.data), size(_lead(x)))]
        sizes = [size(x) for x in (a.shape[0], b.shape[1], a.shape[1])]
        library.eigen_product(ctypes.c_int(orders), *sizes, *where, ctypes.c_int(alpha), ctypes.c_int(beta))

    return Prepared(call, lambda count: library.eigen_threads(ctypes.c_int(count)))


def _eigen_program(format: str, finding: ProductFinding) -> str:
    m, n, k = finding.shape
    type = _EIGEN_TYPES[format]
    order = ["Eigen::ColMajor" if layout.by_columns else "Eigen::RowMajor" for layout in finding.case.layouts]

    def matrix(name: str, rows: int, columns: int, which: str) -> str:
        x = np.asarray(getattr(finding, name), np.float64)
        fill = "".join(f" {name}({i}, {j}) = {x[i, j]};" for i, j in np.argwhere(x != x[0, 0])[:8]) if x.size else ""
        return f"  Eigen::Matrix<{type}, -1, -1, {which}> {name}({rows}, {columns}); {name}.setConstant({type}({x[0, 0] if x.size else 0}));{fill}"

    row, column = finding.where or (0, 0)
    return "\n".join([
        "#include <Eigen/Core>", "#include <iostream>", "int main() {",
        matrix("a", m, k, order[0]), matrix("b", k, n, order[1]), matrix("c", m, n, order[2]),
        f"  c.noalias() = {type}({finding.case.alpha}) * a * b;",
        f"  std::cout << c({row}, {column}) << '\\n';  // {finding.expected} is right", "}",
    ]).replace("nan", "NAN")  # fmt: skip


def _eigen_rows() -> list[Product]:
    return [Product("Eigen (Debian)", f"c = alpha * a * b, {type}", format, format, "update", "blas",
                    functools.partial(_eigen, format), functools.partial(_eigen_program, format), _eigen_version)
            for format, type in _EIGEN_TYPES.items()]  # fmt: skip


def rows() -> list[Product]:
    return _blas_rows() + _dnnl_rows() + _eigen_rows()
