#!/usr/bin/env python3
"""A wheel of ci/wheel works in an environment that has nothing else: its tag is one of manylinux, it carries the libraries that it needs
with their licences, it holds no path of this machine, what it loads beside Python's own is glibc, libstdc++ and what it carries, and the
examples of its page (docs/python.md, as its METADATA has it) give what they say.

Usage: wheel_test.py SOURCE. Installs NumPy and ml_dtypes from PyPI."""
import email
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

# What manylinux lets a wheel take from a system, by the beginnings of names, of what this one takes.
SYSTEM = ("ld-linux", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libutil.", "libstdc++.", "libgcc_s.", "libz.")
LOADED = """import mmafuzz, re
print(mmafuzz.__file__)
print(*sorted(set(re.findall(r"/\\S+[.]so[.0-9]*", open("/proc/self/maps").read()))), sep="\\n")"""
EXAMPLES = "import doctest, sys; failed, tried = doctest.testfile(sys.argv[1], module_relative=False); print(tried, failed)"


def main(source):
    source, errors = pathlib.Path(source).resolve(), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([source / "ci/wheel", "-o", folder], check=True)
        wheel, = folder.glob("*.whl")
        if not re.search(r"-manylinux_2_\d+_\w+\.whl$", wheel.name):
            errors.append(f"the tag is not of manylinux: {wheel.name}")
        with zipfile.ZipFile(wheel) as archive:
            files = {one: archive.read(one) for one in archive.namelist()}
        errors += [f"{one} has a path of this machine" for one, text in files.items() if bytes(source) in text]
        carried = {one.split("/")[-1].split("-")[0] for one in files if one.startswith("mmafuzz.libs/")}
        licences = " ".join(one for one in files if "/licenses/" in one)
        errors += [f"no licence of {one}" for one in carried if one not in licences]
        errors += [f"no {one} is carried" for one in ("libmpfr", "libgmp") if one not in carried]

        python = folder / "venv/bin/python"
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel], check=True)
        home = dict(cwd=folder, env={"PATH": "/usr/bin:/bin", "HOME": name}, capture_output=True, text=True, check=False)
        where, *loaded = subprocess.run([python, "-I", "-c", LOADED], **home).stdout.splitlines() or [""]
        if not where.startswith(f"{folder}/venv/"):
            errors.append(f"imported from {where!r}")
        ours = [pathlib.Path(one).name for one in loaded if "/mmafuzz.libs/" in one]
        errors += [f"{one} is loaded from the system" for one in loaded for stem in carried
                   if pathlib.Path(one).name.startswith(stem + ".") and not one.startswith(f"{folder}/venv/")]
        if {one.split("-")[0] for one in ours} != carried:
            errors.append(f"carried {sorted(carried)}, loaded {ours}")
        needed = subprocess.run(["ldd", next(python.parent.parent.glob("lib/python3*/site-packages/mmafuzz/_core*.so"))], **home).stdout
        errors += [f"needs {line.strip()} of the system" for line in needed.splitlines()
                   if "/venv/" not in line and "vdso" not in line and not pathlib.Path(line.split()[0]).name.startswith(SYSTEM)]

        metadata = email.message_from_bytes(next(text for one, text in files.items() if one.endswith("/METADATA")))
        page = folder / "page.md"
        page.write_text(metadata.get_payload(decode=False) or metadata["Description"], encoding="utf-8")
        ran = subprocess.run([python, "-I", "-c", EXAMPLES, page], **home)
        tried, failed = map(int, (ran.stdout.split() or ["0", "1"])[-2:])
        if failed or tried < 20:
            errors.append(f"{tried} examples of the page, {failed} failed: {ran.stdout[-1500:]}{ran.stderr[-1500:]}")
        print("\n".join(errors))
        print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB, carries {', '.join(sorted(carried))}; {tried} examples; {len(errors)} problems")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
