"""Rows under names of one's own, from files as `mmafuzz identify --save` writes them."""

import threading

import numpy as np
import pytest

import mmafuzz

OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4"
#: Fewer bits than a GPU keeps: 1 + 2^-20 is 1.
NARROW = "model:custom?kernel=fused_sum,k=4,block=4,fraction_bits=14"


def file_of(path, *rows, op=OP):
    path.write_text("\n".join(["mmafuzz-rows 1", f"op {op}", *rows]) + "\n")
    return path


def test_names_of_a_file_are_units(tmp_path):
    with pytest.raises(ValueError, match="pychip"):
        mmafuzz.unit("pychip")
    mmafuzz.rows(file_of(tmp_path / "my.rows", f"pychip {NARROW}"))
    mmafuzz.rows(str(tmp_path / "my.rows"))  # once is enough
    a, b, c = np.full(4, 0.5, np.float16), np.array([2.0**-19, 0, 0, 0], np.float16), np.float32(1)
    assert mmafuzz.unit("pychip").dot(a, b, c) == 1 < mmafuzz.unit("h100").dot(a, b, c)
    found = mmafuzz.fuzz("pychip", against="h100", op=OP, cases=512)
    assert any("fraction_bits" in one.cause for one in found)


def test_a_file_that_cannot_be_taken_is_a_value_error(tmp_path):
    with pytest.raises(ValueError, match="cannot be read"):
        mmafuzz.rows(tmp_path / "none.rows")
    with pytest.raises(ValueError, match=r"bad\.rows:3: "):
        mmafuzz.rows(file_of(tmp_path / "bad.rows", "pybad"))
    with pytest.raises(TypeError):
        mmafuzz.rows(3)
    mmafuzz.rows(file_of(tmp_path / "one.rows", "pyone exact"))
    with pytest.raises(ValueError, match="another file of rows has the name pyone"):
        mmafuzz.rows(file_of(tmp_path / "two.rows", "pytwo exact", "pyone ieee:fma"))
    with pytest.raises(ValueError, match="pytwo"):  # nothing of it was taken
        mmafuzz.unit("pytwo")


def test_files_are_taken_while_a_search_runs(tmp_path):
    mmafuzz.rows(file_of(tmp_path / "base.rows", f"pybase {NARROW}"))
    failed = []

    def search():
        try:
            for _ in range(20):
                mmafuzz.fuzz("pybase", against="h100", op=OP, cases=64)
        except Exception as error:  # a thread's exceptions reach nobody else
            failed.append(error)

    searching = threading.Thread(target=search)
    searching.start()
    for i in range(200):
        mmafuzz.rows(file_of(tmp_path / f"{i}.rows", f"pymore{i} exact"))
    searching.join()
    assert not failed
    assert mmafuzz.unit("pymore199").name == "pymore199"
