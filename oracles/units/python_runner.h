// The program that makes a Python function a unit: python3 -c <this> FILE FUNCTION. It speaks the protocol of
// docs/processes.md on standard input and output.
#pragma once

namespace mmafuzz {

inline constexpr char python_runner[] = R"python(
import importlib.util, os, re, sys

PROTOCOL = "1"
# The numpy type of a format, where there is one; others are unsigned integers that hold the encodings.
TYPES = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "s8": "int8", "u8": "uint8", "s16": "int16",
         "u16": "uint16", "s32": "int32", "u32": "uint32", "s64": "int64", "u64": "uint64"}
ML_TYPES = {"bf16": "bfloat16", "e5m2": "float8_e5m2", "e4m3": "float8_e4m3fn", "e5m2fnuz": "float8_e5m2fnuz",
            "e4m3fnuz": "float8_e4m3fnuz", "e8m0": "float8_e8m0fnu", "e2m3": "float6_e2m3fn", "e3m2": "float6_e3m2fn",
            "e2m1": "float4_e2m1fn", "s4": "int4", "u4": "uint4"}
# What stands in an op line besides formats and sizes; a function that does not say so knows none of it.
PLAIN = {"round": "nearest_even", "nan": None, "flags": None}
ARITY = {"sqrt": 1, "rcp": 1, "fma": 3}

source, function_name = sys.argv[1:3]
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what the function prints is no answer


def say(text, *parts):
    answers.write(text.encode() + b"\n")
    for part in parts:
        answers.write(part)
    answers.flush()


def one_line(error):
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")


class Op:
    """What is computed: kind ("dot", "convert", "scalar", "gemm", "quantize", "dequantize"), operation (of a scalar), and
    the words of the op line as attributes (a, b, c, d, k, round, ...). fields: the operands as (name, format, shape of
    one case). results: (format, shape) of what is returned; quantize returns the scale and the codes."""

    def __init__(self, line):
        words = line.split()
        self.line, self.kind, self.operation = line, words[1], ""
        self.words = {}
        for word in words[2:]:
            name, equals, value = word.partition("=")
            if equals:
                self.words[name] = value
            else:
                self.operation = name
        w = self.words
        number = {name: int(w.get(name, 1)) for name in ("m", "n", "k")}
        m, n, k = number["m"], number["n"], number["k"]
        sizes = {"m", "n", "k"}
        if self.kind == "dot":
            self.fields = [("a", w["a"], (k,)), ("b", w["b"], (k,)), ("c", w["c"], ())]
            if "sblock" in w:
                scales = -(-k // int(w["sblock"]))
                self.fields += [("scale_a", w["sa"], (scales,)), ("scale_b", w["sb"], (scales,))]
            self.result, own = (w["d"], ()), {"a", "b", "c", "d", "sa", "sb", "sblock"}
        elif self.kind == "gemm":
            self.fields = [("a", w["a"], (m, k)), ("b", w["b"], (k, n)), ("c", w["c"], (m, n))]
            self.result, own = (w["d"], (m, n)), {"a", "b", "c", "d"}
        elif self.kind == "convert":
            self.fields, self.result, own = [("source", w["from"], ())], (w["to"], ()), {"from", "to"}
        elif self.kind in ("quantize", "dequantize"):
            block, self.result = (int(w["block"]),), (w["to"], (int(w["block"]),))
            self.fields = [("source" if self.kind == "quantize" else "codes", w["from"], block)]
            if self.kind == "dequantize":
                self.fields.append(("scale", w["scale"], ()))
            if "tensor" in w:
                self.fields.append(("tensor", w["tensor"], ()))
            # The rule is what others compute; a function has its own.
            own = {"from", "to", "block", "scale", "tensor", "rule", "special", "via"}
        else:
            arity = ARITY.get(self.operation, 2)
            self.fields, self.result, own = [("operands", w["format"], (arity,))], (w["format"], ()), {"format"}
        self.results = [(w["scale"], ()), self.result] if self.kind == "quantize" else [self.result]
        self.attributes = {x: v for x, v in w.items() if x not in own | sizes and PLAIN.get(x, "") not in (None, v)}
        for name, value in w.items():
            setattr(self, "from_" if name == "from" else name, number.get(name, value))


def load():
    spec = importlib.util.spec_from_file_location("unit_under_test", source)
    if spec is None or spec.loader is None:
        raise ImportError(f"{source} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(source)))
    spec.loader.exec_module(module)
    return getattr(module, function_name)


def numpy_type(numpy, format_name, size):
    if format_name in TYPES:
        return numpy.dtype(TYPES[format_name])
    if format_name in ML_TYPES:
        try:
            import ml_dtypes
            return numpy.dtype(getattr(ml_dtypes, ML_TYPES[format_name]))
        except (ImportError, AttributeError):
            pass
    return numpy.dtype(f"uint{8 * size}")


def count_of(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def run_arrays(function, op, n, sizes, payload):
    import numpy
    arrays, at = [], 0
    for (name, format_name, shape), size in zip(op.fields, sizes):
        count = n * count_of(shape)
        array = numpy.frombuffer(payload, numpy.dtype(f"<u{size}"), count, at).view(numpy_type(numpy, format_name, size))
        at += count * size
        arrays.append(array.reshape((n, *shape)))
    if op.kind == "scalar":
        arrays = [arrays[0][:, i] for i in range(arrays[0].shape[1])]
    with numpy.errstate(all="ignore"):
        returned = function(*arrays)
    if len(op.results) == 1:
        return numpy.ascontiguousarray(checked(numpy, returned, n, *op.result, sizes[-1])).tobytes()
    if not isinstance(returned, (tuple, list)) or len(returned) != len(op.results):
        raise TypeError("quantize returns two arrays: the scales and the codes")
    parts = []
    for part, (format_name, shape) in zip(returned, op.results):
        part = checked(numpy, part, n, format_name, shape, size_of(format_name))
        encodings = numpy.ascontiguousarray(part).view(f"uint{8 * part.itemsize}")
        parts.append(encodings.reshape(n, -1).astype(f"uint{8 * sizes[-1]}"))
    return numpy.concatenate(parts, axis=1).tobytes()


def size_of(format_name):
    return {"fp32": 4, "tf32": 4, "fp16": 2, "bf16": 2}.get(format_name, 1)


def checked(numpy, result, n, format_name, shape, size):
    result = numpy.asarray(result)
    wanted = numpy_type(numpy, format_name, size)
    if result.dtype not in (wanted, numpy.dtype(f"uint{8 * size}")):
        raise TypeError(f"the result is {result.dtype}, and {format_name} is {wanted}; round it yourself")
    if result.shape != (n, *shape):
        raise ValueError(f"the result has shape {result.shape}, expected {(n, *shape)}")
    return result


def run_cases(function, op, n, sizes, payload):
    columns, at = [], 0
    for (name, format_name, shape), size in zip(op.fields, sizes):
        count = count_of(shape)
        values = [int.from_bytes(payload[at + size * i:at + size * (i + 1)], "little") for i in range(n * count)]
        at += size * n * count
        columns.append([values[i * count:(i + 1) * count] for i in range(n)] if shape else values)
    size, wanted = sizes[-1], sum(count_of(shape) for _, shape in op.results)
    out = bytearray()
    for case in zip(*columns):
        result = function(op, *case)
        values = list(result) if op.result[1] else [result]
        if op.kind == "quantize" and len(values) == 2 and not isinstance(values[1], int):
            values = [values[0], *values[1]]
        if len(values) != wanted:
            raise ValueError(f"{len(values)} results, expected {wanted}")
        for value in values:
            if not isinstance(value, int):
                raise TypeError(f"the result is a {type(value).__name__}, expected an encoding as int")
            out += value.to_bytes(size, "little")
    return bytes(out)


def run_apart(run, function, op, n, sizes, payload):
    """Each case by itself: the results, for each case whether it has one (1) or broke the function (2), and how."""
    counts = [count_of(shape) * size for (_, _, shape), size in zip(op.fields, sizes)]
    nothing, out, ends, how = bytes(sum(count_of(shape) for _, shape in op.results) * sizes[-1]), bytearray(), bytearray(), ""
    for case in range(n):
        at, one = 0, b""
        for count in counts:
            one += payload[at + count * case:at + count * (case + 1)]
            at += count * n
        try:
            out += run(function, op, 1, sizes, one)
            ends.append(1)
        except Exception as error:
            how = how or f"broke says: failed {one_line(error)}\n"
            out += nothing
            ends.append(2)
    return bytes(out + ends), how


def taken(function, op):
    supports = getattr(function, "supports", None)
    if supports is not None:
        reply = supports(op)
        return "yes apart" if reply is True else "no " + re.sub(r"\s+", " ", str(reply or "it does not take this op"))
    if op.attributes:
        words = " ".join(f"{x}={v}" for x, v in op.attributes.items())
        return f"no {function_name} has no attribute `supports` that says that it honours {words}"
    return "yes apart"


def main():
    requests = sys.stdin.buffer
    function = trouble = op = None
    try:
        function = load()
        if not callable(function):
            raise TypeError(f"{function_name} is no function")
        if not getattr(function, "per_case", False):
            import numpy
    except BaseException as error:
        trouble = one_line(error)
    while line := requests.readline():
        word, _, rest = line.decode().rstrip("\n").partition(" ")
        if word == "mmafuzz-process":
            say(f"mmafuzz-process {PROTOCOL} binary {source}:{function_name}")
        elif word == "op":
            op = Op("op " + rest)
            try:
                say("no " + trouble if trouble else taken(function, op))
            except Exception as error:
                say("no " + one_line(error))
        elif word in ("batch", "apart"):
            n, size, *layout = rest.split()
            n, payload = int(n), requests.read(int(size))
            sizes = [int(field.split("=")[1].split("*")[0]) for field in layout]
            try:
                run = run_cases if getattr(function, "per_case", False) else run_arrays
                if word == "apart":
                    results, how = run_apart(run, function, op, n, sizes, payload)
                    say(f"results {n} answered", results, how.encode(), b"end\n")
                    continue
                results = run(function, op, n, sizes, payload)
            except Exception as error:
                say("failed " + one_line(error))
                continue
            say(f"results {n}", results, b"end\n")


main()
)python";

}  // namespace mmafuzz
