#!/usr/bin/env python3
"""An installed mmafuzz works from its prefix, wherever that is moved to: the command finds its corpus, what is known and its
fuzz targets; a plugin compiles against its header and a program outside the tree against its library; manual pages and
completion are those of the command's own help.

Usage: installation_test.py BUILD_FOLDER SOURCE_FOLDER"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

build, source = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
failures = []


def run(*command, code=0, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != code:
        failures.append(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def expect(what, holds):
    if not holds:
        failures.append(what)


def completed(completion, line):
    """What bash offers behind a line."""
    helpers = "/usr/share/bash-completion/bash_completion"
    script = f"source {helpers}; source '{completion}'; COMP_WORDS=({line} ''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); " \
             "COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}; _mmafuzz; printf '%s\\n' \"${COMPREPLY[@]}\""
    return run("bash", "-c", script, env=dict(os.environ, PATH=f"{prefix}/bin:{os.environ['PATH']}")).split("\n")


# What is installed and not built is built: programs and libraries by the target `installed`, pages here and now.
scripts = "".join(script.read_text() for script in build.rglob("cmake_install.cmake") if script.parent.name != "python")
programs = set(re.findall(rf'"{build}/([^"]*(?:mmafuzz|replay|libfuzzer|afl|\.so))"', scripts))
left_out = programs - set(run("ninja", "-C", build, "-t", "query", "installed").split())
expect(f"the target `installed` makes all {len(programs)} programs, not {left_out}", len(programs) > 10 and not left_out)
shutil.rmtree(build / "pages", ignore_errors=True)

with tempfile.TemporaryDirectory(prefix="mmafuzz-install-") as folder:
    first, prefix = pathlib.Path(folder, "first"), pathlib.Path(folder, "moved here")
    run("cmake", "--install", build, "--prefix", first, "--strip")
    shutil.move(first, prefix)
    mmafuzz = prefix / "bin/mmafuzz"
    elsewhere = dict(cwd=folder)

    version = run(mmafuzz, "--version", **elsewhere)
    expect(f"--version names version, engines and corpus: {version}",
           re.search(r"^mmafuzz \d+\.\d+\.\d+( \([0-9a-f]{10}\+?\))?\nengines: batch \(\d+ targets\)", version) and f"corpus: {prefix}/share/mmafuzz/corpus" in version)
    for engine in ("libfuzzer", "afl"):
        built = list((build / "fuzz_targets").glob(f"*_{engine}"))
        expect(f"all {len(built)} targets of {engine} are installed", f"{engine} ({len(built) or 'no'} targets)" in version)
    expect("the scripts for clusters are there", all(os.access(prefix / "share/mmafuzz/cluster" / name, os.X_OK) for name in ("submit", "parallel")))
    expect("and the files for other people's CI", (prefix / "share/mmafuzz/ci/gitlab-ci.yml").exists())
    published = sorted((prefix / "share/mmafuzz/corpus/published").glob("*.cases"))
    expect("1392 published cases hold", "1392 cases, 0 mismatches" in run(mmafuzz, "check", *published, **elsewhere))
    campaign = pathlib.Path(folder, "campaign")
    screen = run(mmafuzz, "campaign", "--cases", 4096, "--targets", "dot_models", "--ops", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16",
                 "--units", "exact,ieee:serial,model:hopper/mma.*", "--out", campaign, **elsewhere)
    expect(f"a campaign begins with the installed seeds and knows the installed facts:\n{screen}", re.search(r"[1-9]\d* known", screen))
    run(prefix / "libexec/mmafuzz/dot_models_replay", published[0], **elsewhere)
    if (prefix / "libexec/mmafuzz/case_text_libfuzzer").exists():
        run(prefix / "libexec/mmafuzz/case_text_libfuzzer", "-runs=1000", "-seed=1", **elsewhere)

    example = prefix / "share/doc/mmafuzz/examples/truncating_dot.c"
    run("cc", "-O2", "-shared", "-fPIC", "-I", prefix / "include", example, "-o", "mine.so", "-lm", **elsewhere)
    fuzz = run(mmafuzz, "fuzz", "--op", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4", "--units", "plugin:mine.so,exact", "--cases", 2000, "--quiet", **elsewhere)
    expect(f"a plugin that was compiled against the installed header runs:\n{fuzz}", "plugin:mine.so" in fuzz)

    if (prefix / "libexec/mmafuzz/dot_models_libfuzzer").exists():  # it finds the command that serves a plugin
        run(prefix / "libexec/mmafuzz/dot_models_libfuzzer", "-runs=100", "-seed=1", "--ops=dot a=fp16 b=fp16 c=fp32 d=fp32 k=4",
            "--units=exact,plugin:mine.so", **elsewhere)

    outside = pathlib.Path(folder, "outside")
    shutil.copytree(prefix / "share/doc/mmafuzz/examples/library", outside)
    run("cmake", "-S", outside, "-B", outside / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", outside / "build")
    answer = run(outside / "build/half_adder", **elsewhere)
    # 1 + 4 * 2^-24 in fp32: each step ties to even and stays 1; exact is 1 + 2^-22.
    for line in ("serial_sum 3f800000, exact 3f800002", "1 compared, 1 mismatches, 1 without a result", "equals ieee:serial", "semantic equal normal: "):
        expect(f"the program outside says '{line}':\n{answer}", line in answer)

    pages = {page.stem: page.read_text() for page in (prefix / "share/man/man1").glob("*.1")}
    helps = run(mmafuzz, "--help").split("Subcommands:")[1]
    for name in re.findall(r"^  ([\w-]+) ", helps, re.M):
        page = pages.get(f"mmafuzz-{name}", "").replace("\\-", "-")
        for option in set(re.findall(r"(?<![\w-])--[a-z][\w-]*", run(mmafuzz, name, "--help").split("Example")[0])):
            expect(f"the manual page of {name} has {option}", option in page)
    if shutil.which("man"):
        for page in (prefix / "share/man/man1").glob("*.1"):
            done = subprocess.run(["man", "--warnings", "-l", str(page)], capture_output=True, text=True, check=False, env=dict(os.environ, MANWIDTH="120"))
            expect(f"{page.name} is a manual page: {done.stderr}", done.returncode == 0 and not done.stderr and "NAME" in done.stdout)
    completion = prefix / "share/bash-completion/completions/mmafuzz"
    if os.path.exists("/usr/share/bash-completion/bash_completion"):
        expect("subcommands are completed", {"eval", "campaign", "report"} <= set(completed(completion, "mmafuzz")))
        expect("words of an option are completed", set(completed(completion, "mmafuzz campaign --fail-on")) >= {"contract", "semantic"})
        expect("units are completed", "exact" in completed(completion, "mmafuzz eval --unit"))
        expect("what bench measures is completed", "rate" in completed(completion, "mmafuzz bench"))
    else:
        print("completion is not tried: no bash-completion (Debian: apt-get install bash-completion)")

print("\n".join(failures))
print(f"{len(failures)} failures")
sys.exit(bool(failures))
