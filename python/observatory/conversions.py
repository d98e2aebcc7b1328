"""The table of conversions: what a library calls them, what they promise, how to call them on whole arrays."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import mmafuzz
from mmafuzz._formats import DTYPE_OF_FORMAT, codes_dtype

from . import inputs
from .inputs import as_codes, converted
from .party import Declined, compiler_runtime, output, release_folders, version_of

Call = Callable[[np.ndarray], np.ndarray]
#: Formats through which a library may compute, so that a result is rounded twice.
DETOURS = ("fp32", "fp16", "bf16")


class Conversion(NamedTuple):
    """One row: a conversion of a library. `prepare` gives a call on arrays of encodings, or raises `Declined`.

    `Arithmetic` has the members behind the fields, too: the machinery of runs asks no more of a row."""

    library: str
    operation: str  #: as the library spells it
    source: str  #: formats of mmafuzz
    target: str
    attributes: str  #: words of an op line: what the library promises beside rounding to nearest, ties to even
    promise: str  #: where the library says so
    prepare: Callable[[], Call]
    snippet: str  #: a program that shows a divergence; {input}: the encoding in hexadecimal
    version: Callable[[], str]

    @property
    def width(self) -> int:
        """Bits of an input."""
        return inputs.width(self.source)

    @property
    def operands(self) -> tuple[str, ...]:
        """Formats of what lies in an input, from its high bits to its low ones."""
        return (self.source,)

    @property
    def detours(self) -> list[str]:
        """Formats of which the library may have rounded to one first, and then to the target."""
        if inputs.is_integer(self.source):
            return []
        return [one for one in DETOURS if self.width > inputs.width(one) > inputs.width(self.target)]

    def expected(self, codes: np.ndarray, unit: mmafuzz.Unit) -> np.ndarray:
        """Encodings of the right results, computed by a unit. ValueError: not an op of this unit."""
        return converted(codes, self.source, self.target, unit, self.attributes)

    def in_format(self, codes: np.ndarray, format: str) -> np.ndarray:
        """Encodings of the results, rounded once to another, wider format."""
        return converted(codes, self.source, format)

    def boundaries(self) -> np.ndarray:
        """Inputs near which a wrong rounding shows first."""
        if inputs.width(self.target) <= 16:
            return inputs.boundaries(self.source, self.target)
        # A wide target has too many numbers: those of bf16 and fp16 stand for them.
        return np.unique(np.concatenate([inputs.boundaries(self.source, one) for one in ("bf16", "fp16")]))

    def structured(self, count: int) -> Iterator[np.ndarray]:
        """`count` more inputs, in blocks, drawn so that many lie near those of boundaries()."""
        around = self.target if inputs.width(self.target) <= 16 else "fp16"
        return inputs.structured(self.source, around, count, seed=1)


# --- NumPy and ml_dtypes: astype ---

_NUMPY_NAME = {"fp16": "np.float16", "fp32": "np.float32", "fp64": "np.float64", "s32": "np.int32"}
_ML_DTYPES = ("bf16", "e5m2", "e4m3", "e5m2fnuz", "e4m3fnuz", "e3m2", "e2m3", "e2m1", "e8m0")
#: Types of ml_dtypes that no format of mmafuzz describes.
WITHOUT_FORMAT = ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "int2", "int4", "uint2", "uint4")


def spelled(format: str) -> str:
    return _NUMPY_NAME.get(format) or f"ml_dtypes.{DTYPE_OF_FORMAT[format].name}"


def _astype(source: str, target: str) -> Call:
    from_dtype, to_dtype = DTYPE_OF_FORMAT[source], DTYPE_OF_FORMAT[target]

    def call(codes: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return as_codes(codes.view(from_dtype).astype(to_dtype))

    return call


def _astype_row(library: str, source: str, target: str, promise: str) -> Conversion:
    imports = "import numpy as np" + (", ml_dtypes" if library == "ml_dtypes" else "")
    code = f"np.uint{8 * codes_dtype(source).itemsize}"
    snippet = (
        f"{imports}\nx = np.array([{{input}}], {code}).view({spelled(source)})\n"
        f"y = x.astype({spelled(target)})\n"
        f"print(x[0], y[0], hex(y.view(np.uint{8 * codes_dtype(target).itemsize})[0]))"
    )
    return Conversion(
        library, f"{spelled(source)} astype {spelled(target)}", source, target, "", promise,
        functools.partial(_astype, source, target), snippet, version_of(library),
    )  # fmt: skip


def _numpy_rows() -> list[Conversion]:
    pairs = [("fp32", "fp16"), ("fp64", "fp16"), ("fp64", "fp32"), ("fp16", "fp32"), ("fp16", "fp64"), ("fp32", "fp64"),
             ("s32", "fp16"), ("s32", "fp32")]  # fmt: skip
    return [_astype_row("numpy", s, t, "IEEE 754: rounds to nearest, ties to even (halffloat.h)") for s, t in pairs]


def _ml_dtypes_rows() -> list[Conversion]:
    rows = []
    promise = "README: the formats; conversions round to nearest, ties to even"
    for target in _ML_DTYPES:
        rows += [_astype_row("ml_dtypes", source, target, promise) for source in ("fp32", "fp64", "fp16", "s32")]
        rows += [_astype_row("ml_dtypes", target, wide, promise) for wide in ("fp32", "fp64", "fp16")]
        rows += [_astype_row("ml_dtypes", source, target, promise) for source in _ML_DTYPES if source != target]
    return rows


# --- C: the compilers' runtimes, and the library that NumPy's wheels carry ---


def _compiled(program: str, libraries: list[str], folder: pathlib.Path) -> ctypes.CDLL:
    source, library = folder / "party.c", folder / "party.so"
    source.write_text(program)
    if not shutil.which("gcc"):
        raise Declined("gcc is not installed")
    command = ["gcc", "-O2", "-shared", "-fPIC", str(source), *libraries, "-lm", "-Wl,-z,defs", "-o",
               str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.splitlines()
        missing = next((x.split("`")[-1].rstrip("'") for x in lines if "undefined reference" in x), None)
        raise Declined(f"this release has no {missing}" if missing else "gcc cannot build a call of it")
    return ctypes.CDLL(str(library))


_C_INTEGER = {8: "unsigned char", 16: "unsigned short", 32: "unsigned", 64: "unsigned long long"}
_C_VALUE = {"fp16": "_Float16", "bf16": "_Float16", "fp32": "float", "fp64": "double"}


def _c_function(name: str, source: str, target: str, libraries: Callable[[], list[str]], on_bits: bool) -> Call:
    """A loop around a C function on encodings or on numbers. Some builds of a runtime take and return 16-bit numbers as
    integers, in other registers: whether 1 and -2 come out right tells which. Declined where neither convention fits."""
    as_integer = {one: "unsigned short" if one in ("fp16", "bf16") else _C_VALUE[one] for one in (source, target)}
    integers = [_C_INTEGER[8 * codes_dtype(one).itemsize] for one in (source, target)]
    conventions = [integers] if on_bits else [[_C_VALUE[source], _C_VALUE[target]], [as_integer[source], as_integer[target]]]
    probe = np.array([0x3FF0000000000000, 0xC000000000000000], np.uint64)
    for argument, result in conventions:
        call = _c_loop(name, source, target, argument, result, libraries())
        if np.array_equal(call(converted(probe, "fp64", source)), converted(probe, "fp64", target)):
            return call
    raise Declined("how it takes and returns 16-bit numbers is unknown")


def _c_loop(name: str, source: str, target: str, argument: str, result: str, libraries: list[str]) -> Call:
    """A bf16 number is declared as _Float16: both travel in the same registers."""
    from_codes, to_codes = codes_dtype(source), codes_dtype(target)
    x, y = _C_INTEGER[8 * from_codes.itemsize], _C_INTEGER[8 * to_codes.itemsize]
    program = f"""#include <string.h>
extern {result} {name}({argument});
void convert_all(const {x}* from, {y}* to, unsigned long count) {{
  for (unsigned long i = 0; i < count; ++i) {{
    {argument} a;
    memcpy(&a, &from[i], sizeof a);
    const {result} r = {name}(a);
    memcpy(&to[i], &r, sizeof r);
  }}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        loaded = _compiled(program, libraries, pathlib.Path(folder))

    def call(codes: np.ndarray) -> np.ndarray:
        codes = np.ascontiguousarray(codes)
        results = np.empty(codes.shape, to_codes)
        loaded.convert_all(codes.ctypes, results.ctypes, ctypes.c_ulong(codes.size))
        return results

    return call


#: Debian's builds that take and return 16-bit numbers as integers; the tests run every program.
_ON_INTEGERS = {("compiler-rt 14", "__truncsfhf2"), ("compiler-rt 14", "__truncdfhf2"), ("compiler-rt 14", "__extendhfsf2"),
                ("compiler-rt 19", "__extendbfsf2")}  # fmt: skip


def _runtime_row(library: str, compiler: str, name: str, source: str, target: str) -> Conversion:
    i, o = (_C_INTEGER[8 * codes_dtype(one).itemsize] for one in (source, target))
    on_integers = (library, name) in _ON_INTEGERS
    x, y = (integer if on_integers and _C_VALUE[one] == "_Float16" else _C_VALUE[one]
            for one, integer in ((source, i), (target, o)))  # fmt: skip
    bf16 = "  // a bf16 travels as a _Float16 does" if "bf16" in (source, target) and not on_integers else ""
    snippet = (
        f"#include <stdio.h>\n#include <string.h>\nextern {y} {name}({x});{bf16}\n"
        f"int main(void) {{ {i} i = {{input}}; {o} o; {x} x; memcpy(&x, &i, sizeof x);\n"
        f"  {y} y = {name}(x); memcpy(&o, &y, sizeof o); printf(\"0x%llx\\n\", (unsigned long long)o); }}"
    )  # fmt: skip
    return Conversion(
        library, name, source, target, "", "IEEE 754, in the rounding mode to nearest",
        functools.partial(_c_function, name, source, target, functools.partial(compiler_runtime, compiler), False),
        snippet, lambda: output(compiler, "-dumpversion"),
    )  # fmt: skip


def _runtime_rows() -> list[Conversion]:
    functions = [("__truncsfhf2", "fp32", "fp16"), ("__truncdfhf2", "fp64", "fp16"), ("__truncsfbf2", "fp32", "bf16"),
                 ("__truncdfbf2", "fp64", "bf16"), ("__extendhfsf2", "fp16", "fp32"), ("__extendhfdf2", "fp16", "fp64"),
                 ("__extendbfsf2", "bf16", "fp32")]  # fmt: skip
    runtimes = [("libgcc", "gcc"), ("compiler-rt 14", "clang-14"), ("compiler-rt 19", "clang-19")]
    return [_runtime_row(library, compiler, *one) for library, compiler in runtimes for one in functions]


def _npymath() -> list[str]:
    folder = release_folders.get("libnpymath")
    if folder is None:
        folder = pathlib.Path(importlib.util.find_spec("numpy").submodule_search_locations[0])  # type: ignore
    found = sorted(folder.rglob("libnpymath.a"))
    if not found:
        raise Declined("this NumPy has no libnpymath.a")
    return [str(found[0])]


def _npymath_version() -> str:
    folder = release_folders.get("libnpymath")
    return str(np.__version__) if folder is None else folder.name


def _npymath_rows() -> list[Conversion]:
    functions = [("npy_floatbits_to_halfbits", "fp32", "fp16"), ("npy_doublebits_to_halfbits", "fp64", "fp16"),
                 ("npy_halfbits_to_floatbits", "fp16", "fp32"), ("npy_halfbits_to_doublebits", "fp16", "fp64")]  # fmt: skip
    return [
        Conversion("libnpymath", name, source, target, "", "NumPy's C library: rounds to nearest, ties to even",
                   functools.partial(_c_function, name, source, target, _npymath, True),
                   f"#include <numpy/halffloat.h>\n#include <stdio.h>\n"
                   f"int main(void) {{ printf(\"0x%llx\\n\", (unsigned long long){name}({{input}})); }}", _npymath_version)
        for name, source, target in functions
    ]  # fmt: skip


def table() -> list[Conversion]:
    """Every row."""
    from . import conversions_of_frameworks

    return _numpy_rows() + _npymath_rows() + _ml_dtypes_rows() + _runtime_rows() + conversions_of_frameworks.rows()
