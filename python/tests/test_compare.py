"""compare names the GPU of every recorded file, given only the arrays."""

import os
import pathlib

import numpy as np
import pytest

import mmafuzz

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = sorted((ROOT / "corpus/recorded").glob("*.cases.gz"))
ALL = sorted(
    pathlib.Path(os.environ.get("MMAFUZZ_OBSERVATIONS", ROOT.parent / "shared/observations")).glob("*.cases.gz")
)
OF_ONE_UNIT = [path for path in RECORDED if not path.name.startswith(("h200.", "xeon."))]
OF_INSTRUCTIONS = [path for path in RECORDED if path.name.startswith(("h200.mma", "h200.sparse", "h200.wgmma"))]
#: Architectures that compute these formats alike; docs/units.md has the sources.
ALIKE = [
    {"ampere", "ada", "turing"},
    {"hopper", "blackwell", "rtx_blackwell"},
    {"volta", "turing"},
    {"hopper"},
    {"ada"},
    {"rdna3"},
    {"rdna4"},
]
ARCHITECTURES = {"v100": "volta", "a100": "ampere", "ada": "ada", "h100": "hopper", "w7900": "rdna3", "r9700": "rdna4"}


def architectures(names):
    return {name.removeprefix("model:").split("/")[0] for name in names if name.startswith("model:")}


def test_there_are_recordings():
    assert len(OF_ONE_UNIT) == 38 and len(OF_INSTRUCTIONS) == 6


@pytest.mark.parametrize("path", OF_INSTRUCTIONS, ids=lambda p: p.name)
def test_every_instruction_is_named(path):
    for cases in mmafuzz.read_cases(path):
        found = mmafuzz.compare(cases.result, cases.a, cases.b, cases.c)
        assert cases.model in found.reproducing and "hopper" in architectures(found.reproducing), cases.unit


@pytest.mark.parametrize("path", OF_ONE_UNIT + ALL, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_the_gpu_is_named(path):
    (cases,) = mmafuzz.read_cases(path)
    found = mmafuzz.compare(cases.result, cases.a, cases.b, cases.c)
    assert cases.model in found.reproducing
    assert ARCHITECTURES[path.name.split(".")[0]] in architectures(found.reproducing)
    if "fp32" in path.name:  # fp16 results hide what the generations drop
        assert any(architectures(found.reproducing) <= alike for alike in ALIKE)


@pytest.mark.parametrize("name", ["h100.wmma.fp16-fp32", "a100.wmma.tf32-fp32", "ada.mma.e4m3-fp32"])
def test_one_bit_in_a_thousand_rows_is_none(name):
    path = next(p for p in RECORDED if p.name.startswith(name))
    (cases,) = mmafuzz.read_cases(path)
    repeats = -(-1000 // len(cases))
    a, b, c = (np.concatenate([x] * repeats)[:1000] for x in cases.fields)
    d = np.concatenate([cases.result] * repeats)[:1000].copy()
    finite = int(np.flatnonzero(np.isfinite(d) & (d != 0))[137])
    d.view(np.uint32)[finite] ^= 1
    found = mmafuzz.compare(d, a, b, c)
    assert found.reproducing == [] and "reproduced by none" in str(found)
    right = found[cases.model]
    assert right.mismatches == 1 and right.where.tolist() == [[finite]] and right.ulps == {"1": 1}


def test_a_matrix_product_with_a_bit_changed():
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((50, 32)).astype(np.float16), rng.standard_normal((32, 40)).astype(np.float16)
    d = mmafuzz.unit("h100").matmul(a, b)
    assert "model:hopper/mma.m16n8k16.f32.f16.f16.f32" in mmafuzz.compare(d, a, b).reproducing
    d.view(np.uint32)[17, 23] += 3
    best = mmafuzz.compare(d, a, b, units=["h100", "exact"])[0]
    assert best.mismatches == 1 and best.where.tolist() == [[17, 23]] and best.ulps == {"3-4": 1}


def test_nans_by_bits_or_by_class():
    a, b = np.array([[np.nan, 1]], np.float16), np.ones((1, 2), np.float16)
    d = np.array([0x7FC00001], np.uint32).view(np.float32)
    exact = mmafuzz.compare(d, a, b, units="h100")
    assert exact.reproducing == [] and exact[0].ulps == {"nan_bits": 1}
    assert len(mmafuzz.compare(d, a, b, units="h100", nan="any").reproducing) == 1
    zero = mmafuzz.compare(np.array([-0.0], np.float32), b * 0, b, units="exact")
    assert zero[0].ulps == {"zero_sign": 1}


def test_float32_is_also_read_as_tf32_on_one_gpu():
    a = np.ones((2, 4), np.float32)
    found = mmafuzz.compare(np.full((2, 2), 4, np.float32), a, a.T, units=["h100", "exact"])
    assert sorted((m.unit.split("/")[0], m.op.split()[2]) for m in found) == [
        ("exact", "a=fp32"),
        ("exact", "a=tf32"),
        ("model:hopper", "a=tf32"),
    ]
    assert all(m.reproduces for m in found)
    with pytest.raises(ValueError, match="no unit of v100"):
        mmafuzz.compare(np.full((2, 2), 4, np.float32), a, a.T, units="v100")


def test_html_has_every_unit():
    a = np.ones((2, 16), np.float16)
    found = mmafuzz.compare(np.full(2, 16, np.float32), a, a, units=["h100", "exact"])
    assert all(match.unit in found._repr_html_() for match in found)
