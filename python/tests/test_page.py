"""The examples of docs/python.md, and what the package says of itself."""

import doctest
import inspect
import pathlib

import mmafuzz

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_every_example_of_the_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(ROOT / "docs/python.md"), module_relative=False)
    assert tried > 20 and failed == 0


def test_everything_public_has_a_docstring_and_types():
    for name in mmafuzz.__all__:
        member = getattr(mmafuzz, name)
        assert member.__doc__, name
        for function in (
            [member]
            if inspect.isfunction(member)
            else [
                f
                for n, f in inspect.getmembers(member, inspect.isfunction)
                if not n.startswith("_") and f.__module__.startswith("mmafuzz")
            ]
        ):
            assert "return" in function.__annotations__, function.__qualname__


def test_types_are_shipped():
    folder = pathlib.Path(mmafuzz.__file__).parent
    assert (folder / "py.typed").exists() and "class Registry" in (folder / "_core.pyi").read_text()
