"""Case text as arrays."""

import gzip
import pathlib

import numpy as np
import pytest

import mmafuzz

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_example_of_the_readme():
    blocks = list(mmafuzz.read_cases(ROOT / "corpus/examples/three_generations.cases"))
    assert [one.unit.split("/")[0] for one in blocks] == ["model:volta", "model:ampere", "model:hopper"]
    for one in blocks:
        assert one.op == "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4" and len(one) == 1
        assert (one.a == 0.5).all() and (one.b == 2**-24).all() and one.c == [1]
    assert [one.result.view(np.uint32)[0] for one in blocks] == [0x3F800000, 0x3F800000, 0x3F800001]
    for one in blocks:
        assert mmafuzz.unit(one.unit).dot(*one.fields) == one.result


@pytest.mark.parametrize("path", sorted((ROOT / "corpus/published").glob("*.cases")), ids=lambda p: p.name)
def test_published_files_survive_reading_and_writing(path, tmp_path):
    blocks = list(mmafuzz.read_cases(path))
    copy = tmp_path / "copy.cases.gz"
    mmafuzz.write_cases(copy, blocks)
    again = list(mmafuzz.read_cases(copy))
    assert len(again) == len(blocks)
    for x, y in zip(blocks, again):
        assert (x.op, x.unit, x.statement) == (y.op, y.unit, y.statement)
        assert all(f.tobytes() == g.tobytes() for f, g in zip(x.fields, y.fields))
        assert (x.result is None) == (y.result is None) and (
            x.result is None or x.result.tobytes() == y.result.tobytes()
        )
        assert (x.flags is None) == (y.flags is None) and (x.flags is None or (x.flags == y.flags).all())


def test_writing_gives_the_text_of_the_page(tmp_path):
    path = tmp_path / "x.cases"
    mmafuzz.write_cases(
        path,
        mmafuzz.Cases(
            "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4",
            (np.array([[1, 1, 0, 0]], np.float16), np.array([[1, 2, 0, 0]], np.float16), np.array([1], np.float32)),
            np.array([4], np.float32),
            unit="exact",
        ),
    )
    assert path.read_text() == (
        "mmafuzz-cases 1\nunit exact\nop dot a=fp16 b=fp16 c=fp32 d=fp32 k=4\n"
        "3c00 3c00 0000 0000 | 3c00 4000 0000 0000 | 3f800000 | 40800000\n"
    )


def test_cases_with_and_without_results_come_apart(tmp_path):
    path = tmp_path / "x.cases.gz"
    path.write_bytes(
        gzip.compress(
            b"mmafuzz-cases 1\nop convert from=fp32 to=fp16\n3f800000\n3f800000 | 3c00\n40000000 | 4000 | 00\n"
        )
    )
    blocks = list(mmafuzz.read_cases(path))
    assert [one.result is not None for one in blocks] == [False, True, True]
    assert [one.flags is not None for one in blocks] == [False, False, True]
    assert [int(one.lines[0]) for one in blocks] == [3, 4, 5]
