"""The observatory's machinery on planted wrong calls: each is found and named; and its pages, tables and proofs agree with
what is kept in corpus/libraries. No library is needed but numpy and ml_dtypes."""

import functools
import json
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import mmafuzz

sys.path.append(str(pathlib.Path(__file__).parents[1]))  # behind the package that was built

from observatory import (  # noqa: E402
    arithmetic,
    conversions,
    defects,
    edition,
    inputs,
    judgements,
    page,
    party,
    past,
    products,
    programs,
    proofs,
    quantizer_page,
    quantizers,
    run,
    upstream,
)
from observatory.divergences import KINDS, compare  # noqa: E402
from observatory.inputs import converted  # noqa: E402
from observatory.judgements import STANDARD, UNJUDGED, judged  # noqa: E402
from observatory.names import slug  # noqa: E402


def rounded_twice(codes):
    return converted(converted(codes, "fp64", "fp32"), "fp32", "fp16")


def flushing(codes):
    exact = converted(codes, "fp32", "fp16")
    return np.where(exact & 0x7C00, exact, exact & 0x8000).astype(np.uint16)


def saturating(codes):
    return converted(codes, "fp32", "e5m2", attributes="saturate=1")


def losing_nan(codes):  # as truncation of the encoding does where the payload lies in the low bits
    exact = converted(codes, "fp32", "bf16")
    low_payload = (codes & 0x7FFFFFFF > 0x7F800000) & (codes & 0x7F0000 == 0)
    return np.where(low_payload, exact & 0x8000 | 0x7F80, exact).astype(np.uint16)


def ties_away(codes):
    return converted(codes, "fp32", "e4m3", attributes="round=nearest_away")


def truncating(codes):
    return converted(codes, "fp32", "e4m3", attributes="round=toward_zero")


def dropping_zero_signs(codes):
    exact = converted(codes, "fp32", "e5m2")
    return np.where(exact == 0x80, 0, exact).astype(np.uint8)


def negating_nan(codes):
    exact = converted(codes, "fp16", "fp32")
    return np.where(exact & 0x7FFFFFFF > 0x7F800000, exact ^ 0x80000000, exact).astype(np.uint32)


PLANTED = [
    (rounded_twice, "fp64", "fp16", "rounded twice"),
    (flushing, "fp32", "fp16", "flushed"),
    (saturating, "fp32", "e5m2", "saturated"),
    (losing_nan, "fp32", "bf16", "NaN lost"),
    (ties_away, "fp32", "e4m3", "tie"),
    (truncating, "fp32", "e4m3", "rounded wrong"),
    (dropping_zero_signs, "fp32", "e5m2", "zero sign"),
    (negating_nan, "fp16", "fp32", "NaN bits"),
]


def row(call, source, target, attributes=""):
    """A row of the library "planted" with the operation "planted"."""
    return conversions.Conversion("planted", "planted", source, target, attributes, "", lambda: call, "x = {input}",
                                  lambda: "1")  # fmt: skip


@pytest.mark.parametrize("call, source, target, kind", PLANTED, ids=[one[0].__name__ for one in PLANTED])
def test_a_planted_wrong_conversion_is_found_and_named(call, source, target, kind):
    result, found = run.observe(row(call, source, target), time.monotonic() + 60, count=1 << 14)
    assert not result.declined and kind in found
    one = found[kind]
    dtype = inputs.codes_dtype(source)
    assert int(call(np.array([one.input], dtype))[0]) == one.actual
    assert int(converted(np.array([one.input], dtype), source, target)[0]) == one.expected != one.actual
    # Where the wrong rounding crosses an end of the range, it is of another kind, too.
    also = {
        "saturating": {"special made"},
        "ties_away": {"not saturated"},
        "truncating": {"tie", "saturated"},
    }.get(call.__name__, set())
    assert set(found) <= {kind} | also


def test_overflow_through_a_narrower_format_is_rounded_twice():
    # Halfway from the greatest bf16 number to 2^128: there overflow begins.
    middle = np.array([0x7F7F8000], np.uint32).view(np.float32).astype(np.float64)
    codes = middle.view(np.uint64) - np.arange(1, 9, dtype=np.uint64)

    def through_fp32(codes):
        return converted(converted(codes, "fp64", "fp32"), "fp32", "bf16")

    found = {}
    compare(row(through_fp32, "fp64", "bf16"), through_fp32, [codes], found)
    assert set(found) == {"rounded twice"} and found["rounded twice"].detail == "fp32"


@pytest.mark.parametrize("source", ["fp32", "fp64", "s32"])
def test_what_a_format_without_sign_gives_for_negative_numbers(source):
    def call(codes):  # the result of the magnitude
        return converted(codes & codes.dtype.type((1 << (inputs.width(source) - 1)) - 1), source, "e8m0")

    one = row(call, source, "e8m0")
    result, found = run.observe(one, time.monotonic() + 60, count=1 << 12)
    assert not result.declined and set(found) == {"no sign"}
    assert found["no sign"].input >> (inputs.width(source) - 1)


@pytest.mark.parametrize("source, target", [("fp32", "fp16"), ("fp64", "e4m3"), ("fp16", "e5m2"), ("e5m2", "bf16")])
def test_a_right_conversion_has_no_divergence(source, target):
    call = lambda codes: converted(codes, source, target)
    result, found = run.observe(row(call, source, target), time.monotonic() + 60, count=1 << 14)
    assert result.inputs > 200 and not found
    assert result.proven == (inputs.width(source) <= 16)


def test_what_the_time_cut_says_so():
    call = lambda codes: converted(codes, "fp32", "e4m3")
    result, _ = run.observe(row(call, "fp32", "e4m3"), time.monotonic() - 1)
    whole, _ = run.observe(row(call, "fp32", "e4m3"), time.monotonic() + 60, count=1 << 12)
    assert result.cut and not whole.cut and 0 < result.inputs < whole.inputs
    text = page.written(edition.of({"conversions": [vars(result), vars(whole)]}, [], 1))
    assert f"tested ({result.inputs:,}, cut)" in text and "2 conversions (1 of them cut by the time)" in text
    assert f"tested ({whole.inputs:,})" in text


def half_numbers(codes):
    a, b = inputs.operands_of(codes, ("fp16", "fp16"))
    return a.view(np.float16), b.view(np.float16)


def product_of_normal_numbers(codes):
    a, b = (np.where(np.abs(x) < 2.0**-14, np.copysign(np.float16(0), x), x) for x in half_numbers(codes))
    return canonical(inputs.as_codes(a * b))


def product_with_normal_result(codes):
    a, b = half_numbers(codes)
    exact = np.abs(a.astype(np.float64) * b.astype(np.float64))
    return canonical(np.where(exact < 2.0**-14, inputs.as_codes(np.copysign(np.float16(0), a * b)), inputs.as_codes(a * b)))


def truncated_product(codes):
    a, b = half_numbers(codes)
    exact = a.astype(np.float64) * b.astype(np.float64)
    return canonical(converted(exact.view(np.uint64), "fp64", "fp16", attributes="round=toward_zero"))


def product_through_e5m2(codes):
    a, b = half_numbers(codes)
    exact = a.astype(np.float32) * b.astype(np.float32)
    return canonical(converted(converted(exact.view(np.uint32), "fp32", "e5m2"), "e5m2", "fp16"))


def canonical(codes):
    return np.where(codes & 0x7FFF > 0x7C00, 0x7E00, codes).astype(np.uint16)


def arithmetic_row(call, scalar="mul", format="fp16"):
    return arithmetic.Arithmetic("planted", "planted", scalar, format, lambda: call, "x = [{input}]", lambda: "1")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call, kind, also", [
    (product_of_normal_numbers, "operand flushed", set()),
    (product_with_normal_result, "flushed", set()),
    (truncated_product, "rounded wrong", {"tie", "saturated"}),
    # Products between the greatest numbers of e5m2 and of fp16 overflow.
    (product_through_e5m2, "value", {"rounded wrong", "special made", "not saturated"}),
], ids=lambda one: getattr(one, "__name__", ""))  # fmt: skip
def test_a_planted_wrong_operation_is_found_and_named(call, kind, also):
    result, found = run.observe(arithmetic_row(call), time.monotonic() + 60, count=1 << 14)
    assert not result.declined and set(found) == {kind} | also
    one = found[kind]
    assert int(call(np.array([one.input], np.uint32))[0]) == one.actual != one.expected
    shown = next(finding for finding in result.findings if finding["kind"] == kind)
    a, b = (np.array([int(x, 16)], np.uint16).view(np.float16)[0] for x in shown["input"].split(", "))
    assert shown["snippet"] == f"x = [{shown['input']}]" and shown["decimals"][0] == f"{a:.17g}, {b:.17g}"
    # The product, which float64 holds, lies nearer to what is expected.
    values = [converted(np.array([code], np.uint16), "fp16", "fp64").view(np.float64)[0] for code in (one.expected, one.actual)]
    assert abs(values[0] - float(a) * float(b)) < abs(values[1] - float(a) * float(b))


def test_flushed_operands_of_a_format_without_negative_zero():
    exact = mmafuzz.unit("ieee")
    row = arithmetic_row(None, "add", "e4m3fnuz")

    def call(codes):  # subnormal operands count as 0: three bits of fraction, 0x80 is NaN
        a, b = (np.where(one & 0x7F < 8, np.where(one == 0x80, 0x80, 0), one).astype(np.uint8)
                for one in inputs.operands_of(codes, row.operands))  # fmt: skip
        return inputs.as_codes(exact.evaluate("scalar add format=e4m3fnuz", a, b))

    _, found = run.observe(row._replace(prepare=lambda: call), time.monotonic() + 60)
    assert set(found) == {"operand flushed"}


@pytest.mark.parametrize("scalar", ["add", "sub", "mul", "div", "sqrt"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_right_arithmetic_has_no_divergence(scalar):
    """Operations of the processor on fp64, rounded once more: innocuous for formats of few bits (Figueroa 1995)."""
    functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}
    row = arithmetic_row(None, scalar, "e5m2")

    def call(codes):
        wide = [converted(one, "e5m2", "fp64").view(np.float64) for one in inputs.operands_of(codes, row.operands)]
        codes = converted(functions[scalar](*wide).view(np.uint64), "fp64", "e5m2")
        return np.where(codes & 0x7F > 0x7C, 0x7E, codes).astype(np.uint8)

    result, found = run.observe(row._replace(prepare=lambda: call), time.monotonic() + 60)
    assert result.proven and result.inputs == 1 << row.width and not found


def test_what_a_format_without_nan_gives_for_one_is_no_flushed_operand():
    exact = mmafuzz.unit("ieee")
    row = arithmetic_row(None, "sqrt", "e2m1")

    def call(codes):  # zero for all invalid operations, also for the subnormal -0.5
        roots = inputs.as_codes(exact.evaluate("scalar sqrt format=e2m1", codes))
        return np.where(codes > 8, 0, roots).astype(np.uint8)

    _, found = run.observe(row._replace(prepare=lambda: call), time.monotonic() + 60)
    assert set(found) == {"no NaN"} and found["no NaN"].count == 7


def test_all_operands_are_in_an_input():
    row = arithmetic_row(None, "add", "e2m1")
    a, b = inputs.operands_of(np.concatenate(list(inputs.everything(row.width))), row.operands)
    assert row.width == 8 and set(zip(a.tolist(), b.tolist())) == {(x, y) for x in range(16) for y in range(16)}
    near = set(zip(*(x.tolist() for x in inputs.operands_of(arithmetic_row(None).boundaries(), ("fp16", "fp16")))))
    assert {(0x7C00, 0xFC00), (0x0001, 0x8400), (0x03FF, 0x7BFF), (0x3C01, 0xBBFF)} <= near


def test_every_operation_of_numpy_can_be_called_and_shown():
    names = [(one.library, one.operation) for one in arithmetic.table()]
    assert len(names) == len(set(names)) > 100
    for row in arithmetic.table():
        if row.library in ("numpy", "ml_dtypes"):
            one = np.array([0x22], inputs.integers_of(row.width))
            answer = row.prepare()(one)
            text = ", ".join(hex(x[0]) for x in inputs.operands_of(one, row.operands))
            value = f"0x{int(answer[0]):0{-(-inputs.width(row.target) // 4)}x}"
            program = programs.Program(f"{row.library} 1: shown", "python", row.snippet.replace("{input}", text), value)
            names = {}
            exec(program.text.replace("print(", "printed = ("), names)
            assert int(names["printed"][-1], 16) == int(answer[0])


def test_simplest_input_has_few_bits():
    found = {}
    compare(row(ties_away, "fp32", "e4m3"), ties_away, [inputs.boundaries("fp32", "e4m3")], found)
    assert bin(found["tie"].input).count("1") <= 3


def test_boundaries_hold_the_midpoint_where_overflow_begins():
    # IEEE 754-2019, 4.3.1: 65520, halfway from 65504 to 2^16, is the least number that overflows in binary16.
    codes = inputs.boundaries("fp32", "fp16")
    near = np.array([65520], np.float32).view(np.uint32)[0]
    assert {near - 1, near, near + 1} <= set(codes.tolist())


def test_a_library_that_raises_or_is_absent_is_declined_with_one_line():
    def raising(codes):
        raise OSError("no such thing\nat all")

    def absent():
        raise party.Declined("nowhere")

    result, *_ = run.observe(row(raising, "fp16", "e4m3"), time.monotonic() + 5)
    assert result.declined == "it raises OSError: no such thing"
    result, *_ = run.observe(row(raising, "fp16", "e4m3")._replace(prepare=absent), time.monotonic() + 5)
    assert result.declined == "nowhere" and not result.inputs


def test_a_party_of_another_shape_is_declined():
    result, *_ = run.observe(row(lambda codes: codes[1:].astype(np.uint8), "fp16", "e4m3"), time.monotonic() + 5)
    assert "it raises RuntimeError" in result.declined


def test_the_table_has_each_conversion_once():
    names = [(one.library, one.operation) for one in conversions.table()]
    assert len(names) == len(set(names)) > 100


def test_what_nobody_judged_says_so():
    assert judged("planted", "planted", "value")[0] == UNJUDGED
    assert judged("planted", "planted", "rounded twice")[0] == STANDARD
    assert all(len(text) > 10 for text in KINDS.values())


def test_the_page_shows_a_divergence_with_its_program():
    result, *_ = run.observe(row(ties_away, "fp32", "e4m3"), time.monotonic() + 5, count=1 << 12)
    text = page.written(edition.of({"conversions": [vars(result)]}, [], 1))
    one = result.findings[0]
    assert f"x = {one['input']}" in text and one["class"] in text
    assert f"| exact | `{one['expected']}` |" in text and f"| library | `{one['actual']}` |" in text


def program_of(text, value, version=np.__version__, table="conversions"):
    one = {"table": table, "library": "numpy", "version": version, "kind": "x", "detail": "", "actual": value, "program": text}
    [program] = programs.programs_of({"divergences": [one, {**one, "program": ""}]})
    return program


def test_a_program_of_the_page_shows_what_the_page_says_or_is_named():
    right = "import numpy as np\nprint(np.float32(1), hex(np.float32(1).view(np.uint32)))"
    for value, text, shows in (("0x3f800000", right, True), ("0x3f800001", right, False), ("0x3f800000", "print('nothing')", False),
                               ("0x3f800000", right + "; raise SystemExit(3)", False)):  # fmt: skip
        assert programs.prints(programs.printed(program_of(text, value)), value) is shows
    product = program_of("import numpy as np\nprint(np.float32('nan'))  # 0.0 is right", "nan", table="products")
    assert programs.prints(programs.printed(product), "nan") and not programs.prints(programs.printed(product), "0.0")
    with pytest.raises(party.Declined, match="the page has 0.1"):
        programs.printed(program_of(right, "0x3f800000", version="0.1"))


def the_edition():
    return json.loads((pathlib.Path(__file__).parents[2] / "corpus/libraries/observatory.json").read_text())


def test_the_page_of_the_edition_has_each_divergence_once_with_its_program():
    kept = the_edition()
    text = page.written(kept)
    names = [one["name"] for one in kept["divergences"]]
    assert len(names) == len(set(names)) > 50 and all(name == slug(name) for name in names)
    assert all(text.count(f"\n({name})=\n### ") == 1 for name in names)
    assert len(programs.programs_of(kept)) == text.count("```") // 2 > 0


def test_the_edition_says_what_is_judged_today():
    kept = the_edition()
    for one in kept["divergences"]:
        found = judgements.judgement_of(one["library"], one["kind"], one["class"], one["reason"])
        assert found, f"{one['name']}: judgements.py has other words"
        assert one["upstream"] == found.upstream, one["name"]
        assert one["name"].endswith(slug(f"{one['kind']} {found.name}")), one["name"]
        if one["table"] != "products":  # the judgement of a product depends on the case, too
            assert judged(one["library"], one["operation"], one["kind"]) == (one["class"], one["reason"]), one["name"]
    assert [one["release"] for one in kept["past"]] == [release.name for release in past.RELEASES]


def test_the_edition_is_consistent():
    kept = the_edition()
    covered = {(one["library"], one["operation"]): one["kinds"] for rows in kept["covered"].values() for one in rows}
    told = {}
    for one in kept["divergences"]:
        for operation in (one["operation"], *one["also"]):
            told.setdefault((one["library"], operation), set()).add(one["kind"])
    assert told == {key: set(kinds) for key, kinds in covered.items() if kinds}
    assert {kind for kinds in kept["kinds"].values() for kind in kinds} == {one["kind"] for one in kept["divergences"]}


@pytest.mark.parametrize("one", [r for r in conversions.table() if r.library in ("libgcc", "compiler-rt 14", "compiler-rt 19")],
                         ids=lambda one: f"{one.library} {one.operation}")  # fmt: skip
def test_the_c_program_of_a_compiler_runtime_prints_what_the_runtime_gives(one):
    try:
        call = one.prepare()
    except party.Declined as reason:
        pytest.skip(str(reason))
    for code in converted(np.array([0x3FF8000000000000, 0x400921FB54442D18], np.uint64), "fp64", one.source):
        text = one.snippet.replace("{input}", hex(code)).replace("{{", "{").replace("}}", "}")
        program = programs.Program(f"{one.library} 1: shown", "c", text, hex(call(np.array([code]))[0]))
        assert programs.prints(programs.printed(program), program.value)


def product_row(call, **changed):
    """A row of a product, of float32, whose call returns the result."""
    said = {"library": "planted", "operation": "product, float32", "operands": "fp32", "result": "fp32", "form": "product",
            "strides": "any", "prepare": lambda: products.Prepared(call), "snippet": lambda finding: "x = 1",
            "version": lambda: "1"}  # fmt: skip
    return products.Product(**{**said, **changed})


def test_products_that_run_are_searched_and_others_declined():
    def absent():
        raise party.Declined("nowhere")

    rows = [product_row(lambda a, b: (a @ b) * 2), product_row(np.matmul), product_row(np.matmul, prepare=absent)]
    wrong, right, declined = run.run_products(rows, time.monotonic() + 2)
    assert wrong.findings and wrong.findings[0]["kind"] == "wrong integer" and wrong.inputs
    assert not right.findings and not right.declined and right.inputs
    assert declined.declined == "nowhere"
    text = page.written(edition.of({"products": [vars(one) for one in (wrong, right, declined)]}, [], 1))
    assert "m=1 n=1 k=1" in text and "nowhere" in text and "x = 1" in text


def test_a_library_that_ends_the_process_is_a_finding(tmp_path):
    program = f"""
import os, sys, time
sys.path[:0] = {sys.path!r}
from observatory import products, run
def crash(a, b):
    os._exit(3)
row = products.Product("planted", "crash", "fp32", "fp32", "product", "any", lambda: products.Prepared(crash), str, lambda: "1")
import json, dataclasses, pathlib
save = lambda results: pathlib.Path(r"{tmp_path}/out").write_text(json.dumps([dataclasses.asdict(one) for one in results]))
run.run_products([row], time.monotonic() + 5, save, r"{tmp_path}/call")
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 3
    result = run.Result(**json.loads((tmp_path / "out").read_text())[0])
    assert result.declined == run.RUNNING
    run.ended(result, "exit 3", (tmp_path / "call").read_text().strip())
    assert not result.declined and result.findings[0]["kind"] == run.ENDS and "m=" in result.findings[0]["input"]


def test_every_product_of_numpy_can_be_called_and_shown():
    for row in products.table():
        if row.library == "numpy":
            call, set_threads = row.prepare()
            found = mmafuzz.fuzz_product(call, row.operands, row.result, form=row.form, strides=row.strides, cases=5)
            assert found.cases == 5
    wrong = mmafuzz.fuzz_product(lambda a, b: (a @ b) + 1, cases=5)[0]
    programs = [row.snippet(wrong) for row in products.table()]
    assert all(programs) and len(programs) > 60
    shown = next(row for row in products.table() if row.operation == "np.matmul, float32").snippet(wrong)
    names = {}
    exec(shown.replace("print(", "result = ("), names)
    assert names["result"] == wrong.expected


def test_all_inputs_are_tried_only_where_the_time_is_enough(monkeypatch):
    right = row(lambda codes: converted(codes, "fp32", "e4m3"), "fp32", "e4m3")
    assert run.prove(right, time.monotonic() + 0.01).declined
    monkeypatch.setattr(inputs, "everything", lambda format: [np.arange(1 << 16, dtype=np.uint32)])
    proven = run.prove(right, time.monotonic() + 10000)
    assert proven.proven and proven.inputs == 1 << 16 and not proven.findings


def result_of(row, *kinds):
    result = run.Result(row.library, row.operation, "1", proven=True, inputs=1 << 32)
    result.findings = [{"kind": kind, "class": UNJUDGED, "reason": ""} for kind in kinds]
    return vars(result)


def test_a_proof_is_kept_for_later_runs(tmp_path):
    file = tmp_path / "proven.json"
    one = row(ties_away, "fp32", "e4m3")
    proofs.Proofs(file, "a machine").keep(one, result_of(one, "tie", "NaN bits"))
    kept = proofs.Proofs(file, "a machine")
    assert kept.of(one, result_of(one, "tie"))["inputs"] == 1 << 32
    assert kept.of(one, result_of(one))["findings"][0]["class"] == STANDARD, "judged anew"
    assert kept.of(one, {**result_of(one), "version": "2"}) is None
    assert proofs.Proofs(file, "another machine").of(one, result_of(one)) is None
    assert [path.name for path in tmp_path.iterdir()] == ["proven.json"]


def test_a_proof_does_not_hide_what_a_run_finds(tmp_path):
    one = row(ties_away, "fp32", "e4m3")
    kept = proofs.Proofs(tmp_path / "proven.json", "a machine")
    kept.keep(one, result_of(one, "tie"))
    assert kept.of(one, result_of(one, "tie", "value")) is None


def test_a_proof_is_of_one_row_and_one_definition_of_kinds(tmp_path, monkeypatch):
    one = row(ties_away, "fp32", "e4m3")
    kept = proofs.Proofs(tmp_path / "proven.json", "a machine")
    kept.keep(one, result_of(one))
    for other in (one._replace(attributes="saturate=1"), one._replace(prepare=functools.partial(party.module, "numpy"))):
        assert kept.of(other, result_of(other)) is None
    changed = tmp_path / "divergences.py"
    changed.write_text("KINDS = {}")
    with monkeypatch.context() as patched:
        patched.setattr(proofs.divergences, "__file__", str(changed))
        assert kept.of(one, result_of(one)) is None
    with monkeypatch.context() as patched:
        patched.setattr(proofs, "_digest_of_mmafuzz", lambda: "another build")
        assert kept.of(one, result_of(one)) is None
    assert kept.of(one, result_of(one)) is not None


def test_the_definition_of_a_row_is_the_same_in_another_process(tmp_path):
    text = "; ".join([f"import sys; sys.path[:0] = {sys.path!r}", "from observatory import conversions, proofs",
                      "print(*[proofs._definition(row) for row in conversions.table()])"])  # fmt: skip
    printed = subprocess.run([sys.executable, "-c", text], check=True, capture_output=True, text=True).stdout.split()
    assert printed == [proofs._definition(one) for one in conversions.table()] and len(set(printed)) == len(printed)


@pytest.mark.parametrize("text", ["", '{"cut": {"findi', "[]", '{"a": 1}', '{"a": {}}', '{"a": {"findings": [1]}}'])
def test_a_table_of_proofs_that_cannot_be_read_is_an_empty_one(tmp_path, capsys, text):
    file = tmp_path / "proven.json"
    file.write_text(text)
    one = row(ties_away, "fp32", "e4m3")
    kept = proofs.Proofs(file, "a machine")
    said = capsys.readouterr().err
    assert kept.of(one, result_of(one)) is None and said.count("\n") == 1 and str(file) in said
    kept.keep(one, result_of(one, "tie"))
    assert proofs.Proofs(file, "a machine").of(one, result_of(one)) and not capsys.readouterr().err


def test_the_answers_of_quantizers_say_what_is_judged_today():
    kept = json.loads((pathlib.Path(__file__).parents[2] / "corpus/libraries/quantizers.json").read_text())
    text = quantizer_page.written(kept)
    findings = [(function, one) for function in kept["functions"] for one in function["findings"]]
    names = [one["name"] for _, one in findings]
    assert len(names) == len(set(names)) > 50 and all(name == slug(name) and text.count(f'<a id="{name}">') == 1 for name in names)
    assert [list(one) for one in quantizers.LEFT_OUT] == kept["not_asked"]
    assert sum(len(function["elements"]) for function in kept["functions"]) == len(quantizers.ROWS)
    for function, one in findings:
        rows = [row for row in quantizers.ROWS if (row.package, row.call, row.op) == (function["library"], function["call"], function["op"])]
        judged = [j for row in rows for j in row.judged if (j.verdict, j.sentence) == (one["verdict"], one["sentence"])]
        assert judged, f"{one['name']}: quantizers.py has other words"
        assert one["upstream"] in {j.upstream for j in judged}, one["name"]
        assert one["program"] is None or one["verdict"] == quantizers.DEFECT and one["printed"]


def test_the_table_of_defects_has_each_divergence_with_the_end_of_its_link():
    quantized = json.loads((pathlib.Path(__file__).parents[2] / "corpus/libraries/quantizers.json").read_text())
    kept = the_edition()
    rows = defects.rows(kept, quantized)
    pages = {"docs/observatory": page.written(kept), "docs/quantizers_of_libraries": quantizer_page.written(quantized)}
    assert len(rows) == len({(row.page, row.name) for row in rows})
    assert all(f"\n({row.name})=\n" in pages[row.page] or f'<a id="{row.name}">' in pages[row.page] for row in rows)
    found = len(kept["divergences"]) + len(kept["past"]) + sum(len(function["findings"]) for function in quantized["functions"])
    assert len(rows) == found + 2 > 100  # and two of QEMU
    assert {row.upstream for row in rows} <= {"open", "fixed", "known", "none named"}
    assert all(word and "," not in word for row in rows for words in row.words.values() for word in words)
    old = next(row for row in rows if row.thread and row.thread.name == "numpy/numpy#12721")
    assert (old.upstream, old.version, old.more) == ("fixed", "1.15.4", "gone in 2.4.6")
    for result in kept["covered"]["conversions"]:  # as if the newest release still had it
        result["kinds"].append("rounded wrong")
    old = next(row for row in defects.rows(kept, quantized) if row.thread and row.thread.name == "numpy/numpy#12721")
    assert (old.upstream, old.more) == ("known", "")


def test_each_thread_of_a_tracker_is_named_and_each_name_is_one():
    quantized = json.loads((pathlib.Path(__file__).parents[2] / "corpus/libraries/quantizers.json").read_text())
    kept, known = the_edition(), upstream.threads()
    named = {one["upstream"] for one in kept["divergences"]} | {one["tracker"] for one in kept["past"]}
    named |= {one["upstream"] for function in quantized["functions"] for one in function["findings"]}
    assert named - {""} == set(known)
    for thread in known.values():
        assert thread.state in ("open", "fixed"), thread
        if "#" in thread.name:
            assert re.fullmatch(f"https://github.com/{thread.name.replace('#', '/(issues|pull)/')}", thread.url), thread
            assert re.fullmatch(r"20\d\d-\d\d-\d\d", thread.date), thread
