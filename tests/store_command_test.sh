#!/bin/bash
# findings, merge and promote as a user types them, and what replays the promoted. MMAFUZZ names the binary. The stores are
# made by docs/store.sql, not by our own code. Prints each expectation that fails; ends with "N passed, N failed".
set -u

: "${MMAFUZZ:?set MMAFUZZ to the mmafuzz binary}"
MMAFUZZ=$(realpath "$MMAFUZZ")
regressions=$(realpath "$(dirname "$0")/regressions.sh")
work=$(mktemp -d "${TMPDIR:-/tmp}/store_command_test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

passed=0
failed=0
command=""
code=0

# expect DESCRIPTION CONDITION...: counts one expectation about the last run.
expect() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n  command: %s\n  exit code %s\n  stdout: %s\n  stderr: %s\n' "$what" "$command" "$code" \
      "$(head -c 1500 out)" "$(head -c 600 err)"
  fi
}
run() {
  command="mmafuzz $*"
  "$MMAFUZZ" "$@" >out 2>err </dev/null
  code=$?
}
is_empty() { [ ! -s "$1" ]; }
has() { grep -qF -- "$2" "$1"; }
lacks() { ! has "$@"; }
ends_with() { [ "$code" -eq "$1" ]; }
same() { [ "$1" = "$2" ]; }
good() {
  run "$@"
  expect "exit code 0" ends_with 0
  expect "nothing on standard error" is_empty err
}
# bad TEXT ARGUMENTS...: exit code 2, nothing on standard output, one line on standard error that holds TEXT.
bad() {
  local text=$1
  shift
  run "$@"
  expect "exit code 2" ends_with 2
  expect "one line on standard error" [ "$(wc -l <err)" -eq 1 ]
  expect "the message holds '$text'" has err "$text"
  expect "nothing on standard output" is_empty out
}
ids() { python3 -c 'import json, sys; print(" ".join(b["id"] for b in json.load(open("out"))))'; }
id_of() { python3 ids.py "$1"; }

cat >make_stores.py <<'END'
# Stores as docs/store.md and docs/store.sql describe them; ids by their definition there.
import sqlite3, sys

def bucket_id(line):
    value = 0xCBF29CE484222325
    for byte in line.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"[:10]

def tables(document):  # docs/store.sql
    return open(document).read()

volta, hopper = "model:volta/mma.m8n8k4.f32.f16.f16.f32", "model:hopper/mma.m16n8k16.f32.f16.f16.f32"
dot = "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4\n"
fma = "op scalar fma format=fp32 round=nearest_even\n"
BUCKETS = [  # name, property, op, first, second, class, cause, severity, witness, status
    ("truncation", "equal", "dot.f32.f16.f16.f32", volta, hopper, "normal", "fraction_bits", "semantic",
     "mmafuzz-cases 1\n" + dot + "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n", "new"),
    ("fasi", "monotone_in_c", "dot.f32.f16.f16.f32", volta, "", "normal", "fraction_bits", "semantic",
     "mmafuzz-cases 1\n" + dot + "3c00 3c00 3c00 3c00 | 0001 0001 0001 0001 | 3f7fffff\n3c00 3c00 3c00 3c00 | 0001 0001 0001 0001 | 3f800000\n", "new"),
    ("split", "split_k", "dot.f32.f16.f16.f32", volta, "", "normal", "block", "semantic",
     "mmafuzz-cases 1\n" + dot + "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n", "known"),
    ("scalar", "equal", "scalar.fma.f32", "exact", "ieee", "normal", "unexplained", "semantic",
     "mmafuzz-cases 1\n" + fma + "3f800001 3f800001 bf800002\n", "new"),
    ("convert", "equal", "convert.f16.f32", "exact", "ieee", "flags", "rounding", "contract",
     "mmafuzz-cases 1\nop convert from=fp32 to=fp16 round=nearest_even\n3f801fff\n", "new"),
    ("plugin", "equals_model", "dot.f32.f16.f16.f32", "plugin:/here/only.so", volta, "normal", "unexplained", "contract",
     "mmafuzz-cases 1\n" + dot + "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n", "new"),
    ("recording", "equal", "dot.f32.f16.f16.f32", "recorded:mine.cases", volta, "normal", "unexplained", "semantic",
     "mmafuzz-cases 1\n" + dot + "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n", "new"),
    ("reference", "equal", "dot.f32.f16.f16.f32", "recorded:mine.cases", "exact", "normal", "unexplained", "semantic",
     "mmafuzz-cases 1\n" + dot + "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n", "new"),
    ("lonely", "sign_symmetry", "dot.f32.f16.f16.f32", "recorded:mine.cases", "", "normal", "unexplained", "semantic",
     "mmafuzz-cases 1\n" + dot + "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000\n", "new"),
    ("empty", "equal", "dot.f32.f16.f16.f32", "exact", volta, "overflow", "block", "semantic", "", "new"),
]

def line_of(b):
    return " ".join(x for x in ["mmafuzz: divergence", *b[1:6], b[6]] if x)

def make(path, campaign, names, count):
    db = sqlite3.connect(path)
    db.executescript(tables(sys.argv[1]) + "PRAGMA application_id=1835884902; PRAGMA user_version=1; PRAGMA journal_mode=WAL;")
    db.execute(f"INSERT INTO campaigns VALUES(?, {1000 if campaign == 'm' else 90000}, 60, 10, 10, 7, 'mmafuzz campaign', 'a machine', '0.1.0', '')", (campaign,))
    db.execute("INSERT INTO campaign_numbers(uuid) VALUES(?)", (campaign,))
    for b in BUCKETS:
        if b[0] in names:
            i = bucket_id(line_of(b))
            texts = [b[1], b[2], b[3], b[4], b[5], b[6], "in words", ""]
            db.executemany("INSERT OR IGNORE INTO texts(text) VALUES(?)", [(t,) for t in texts])
            numbers = [db.execute("SELECT number FROM texts WHERE text = ?", (t,)).fetchone()[0] for t in texts]
            number = db.execute("INSERT INTO bucket_rows(id, property, op, first_unit, second_unit, value_class, cause, detail, facts, severity, "
                                "first_seen, last_seen, seed, witness, addends, status, status_set) VALUES(?,?,?,?,?,?,?,?,?,?,1000,2000,7,?,4,?,?)",
                                (i, *numbers, b[7], b[8], b[9], 0 if b[9] == "new" else 1500)).lastrowid
            db.execute("INSERT INTO bucket_counts VALUES(?, 1, ?)", (number, count))
    # What the night came to: half a minute, two bins of three on one unit, one pair.
    db.execute("INSERT INTO campaign_samples VALUES(1, 30, 10, 2, 1)")
    db.executemany("INSERT INTO bins VALUES(?, ?)", [("align.first", 1), ("align.second", 2), ("align.third", 3)])
    db.execute("INSERT INTO subjects(field, op) VALUES(?, 'dot.f32.f16.f16.f32')", (volta,))
    db.execute("INSERT INTO reached VALUES(1, 1, ?)", (bytes([2 | 8]) if campaign == "m" else bytes([2]),))
    db.execute("INSERT INTO pair_numbers VALUES(1, 'dot.f32.f16.f16.f32', ?, ?, 'equal')", (volta, hopper))
    db.execute("INSERT INTO pair_counts VALUES(1, 1, 100, 50)")
    db.commit()
    db.close()

if __name__ == "__main__":
    all_names = [b[0] for b in BUCKETS]
    make("monday.store", "m", all_names[:4], 10)
    make("tuesday.store", "t", [n for n in all_names if n not in ("recording", "reference")], 5)
    make("recorded.store", "r", ["recording", "reference"], 5)
    open("ids.py", "w").write("import sys\nprint(%r[sys.argv[1]])\n" % {b[0]: bucket_id(line_of(b)) for b in BUCKETS})
END
python3 make_stores.py "$(dirname "$regressions")/../docs/store.sql" || exit 1

sql() { python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()' "$@"; }

# ---- findings ----
good findings tuesday.store --buckets
expect "a header of the columns" has out "id          severity  status  count  addends  property"
expect "contract and unexplained first" has <(sed -n 2p out) "$(id_of plugin)  contract"
expect "then contract" has <(sed -n 3p out) "$(id_of convert)  contract"
expect "then what is unexplained" has <(sed -n 4,5p out) "$(id_of scalar)  semantic"
expect "how many" has out "8 buckets"
good findings tuesday.store --buckets --json
expect "JSON of all" same "$(ids | wc -w)" 8
good findings tuesday.store --buckets --json --severity contract --cause 'un*'
expect "filters add up" same "$(ids)" "$(id_of plugin)"
good findings tuesday.store --buckets --json --unit 'recorded:*'
expect "by unit" same "$(ids)" "$(id_of lonely)"
good findings tuesday.store --buckets --json --op 'convert.*'
expect "by op" same "$(ids)" "$(id_of convert)"
good findings tuesday.store --buckets --json --status known
expect "by status" same "$(ids)" "$(id_of split)"
good findings tuesday.store --buckets --status fixed
expect "none is no error" has out "0 buckets"
truncation=$(id_of truncation)
good findings tuesday.store --show "${truncation:0:7}"
expect "its line" has out "mmafuzz: divergence equal dot.f32.f16.f16.f32 model:volta/"
expect "its cause in words" has out "in words"
expect "its witness" has out "3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000"
good findings tuesday.store --json --show "$(id_of truncation)"
expect "the count" has out '"count": 5'
good findings tuesday.store --set "$(id_of truncation)=expected" --set "$(id_of scalar)=fixed" --note "as published"
expect "what was set" has out "$(id_of truncation) expected"
good findings tuesday.store --show "$(id_of truncation)"
expect "it is kept" has out "expected, set 20"
expect "with its note" has out "as published"
good findings tuesday.store --set "$(id_of truncation)=known"
good findings tuesday.store --json --show "$(id_of truncation)"
expect "the note stays where none is given" has out '"note": "as published"'
sql tuesday.store "UPDATE bucket_rows SET last_seen = 1 << 40 WHERE id = '$(id_of scalar)'"
good findings tuesday.store --buckets --status fixed
expect "what came after it was called fixed" has out "fixed, seen again"
bad "no bucket 'ffffffffff'" findings tuesday.store --set "$(id_of truncation)=new" --set ffffffffff=known
bad "'well' is none of new, known, expected, fixed" findings tuesday.store --set "$(id_of truncation)=well"
bad "--set takes ID=known" findings tuesday.store --set "$(id_of truncation)"
bad "--set takes ID=known" findings tuesday.store --set expected
good findings tuesday.store --buckets --json --status known
expect "a list of settings is set as a whole or not at all" has out "$(id_of truncation)"
cp tuesday.store filtered.store
good findings filtered.store --set expected --op 'convert.*' --note "all conversions"
expect "what passes the filters is set" has out "1 bucket expected"
good findings filtered.store --buckets --json --status expected
expect "and nothing else" same "$(ids)" "$(id_of convert)"
good findings tuesday.store
expect "facts: a bucket of an older store goes by its cause" has out "unexplained"
expect "a verdict comes first" has <(sed -n 1p out) "Nothing contradicts what is claimed"
good findings tuesday.store --unit 'nothing*'
expect "a verdict on a part says so" has <(sed -n 1p out) "Of what passes the filters:"
for with in --buckets --json "--fact rounding" "--severity semantic"; do
  # shellcheck disable=SC2086  # two words
  bad "--names is for the list of facts" findings tuesday.store --names $with
done
bad "no fact 'nothing=1~2'" findings tuesday.store --fact 'nothing=1~2'
bad "requires --accept" findings tuesday.store --reason x
bad "--accept needs --reason" findings tuesday.store --accept '*'
bad "no fact that is not in the folder of known facts matches 'nothing*'" findings tuesday.store --accept 'nothing*' --reason why --knowledge knowledge
sql tuesday.store "UPDATE campaigns SET inconclusive = 'divergences are not all triaged'"
run report tuesday.store --junit untriaged.xml
expect "what is not triaged is not green" [ "$code" -eq 1 ]
expect "nor in JUnit" has untriaged.xml "divergences are not all triaged"
expect "and it is said" has err "not all triaged"
run findings tuesday.store --buckets
expect "nor is the list of buckets" [ "$code" -eq 1 ]
sql tuesday.store "UPDATE campaigns SET inconclusive = ''"
bad "'grave' is none of contract, accuracy, semantic" findings tuesday.store --severity grave
bad "none.store: no such store" findings none.store
bad "none.store: no such store" findings none.store --set "x=known"
expect "and none is made" [ ! -e none.store ]
bad "not a mmafuzz store" findings make_stores.py
bad "store is required" findings
bad "requires --set" findings tuesday.store --note x

# ---- merge ----
good merge all.store monday.store tuesday.store
tables_of() { python3 -c 'import sqlite3, sys; [print(*(" ".join(str(x).split()) for x in row)) for row in sqlite3.connect(sys.argv[1]).execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type, name")]' "$1"; }
tables_of all.store >ours
tables_of monday.store >documented
expect "a store that we make has the tables of docs/store.sql" [ "$(wc -l <ours)" -gt 12 ]
expect "and no others" cmp -s ours documented
expect "the sum" has out "all.store: 8 buckets (8 more) of 2 campaigns (2 more)"
good merge all.store tuesday.store monday.store all.store
expect "nothing twice" has out "all.store: 8 buckets (0 more) of 2 campaigns (0 more)"
good findings all.store --json --show "$(id_of truncation)"
expect "counts of both campaigns" has out '"count": 15'
expect "a decision wins over new" has out '"status": "known"'
expect "witnesses lie beside" cmp -s "witnesses/$(id_of convert).cases" <(printf 'mmafuzz-cases 1\nop convert from=fp32 to=fp16 round=nearest_even\n3f801fff\n')
expect "one for each" same "$(ls witnesses | wc -l)" 7
bad "none.store: no such store" merge new.store monday.store none.store
expect "a wrong name creates nothing" [ ! -e new.store ]
cp all.store before
bad "not a mmafuzz store" merge all.store monday.store make_stores.py
expect "or changes anything" cmp -s all.store before
bad "from is required" merge all.store

# What was called fixed and is in a later campaign is back.
cp all.store again.store
good findings again.store --set "$(id_of scalar)=fixed" --note "mended"
sql again.store "UPDATE bucket_rows SET last_seen = 1000 WHERE id = '$(id_of scalar)'"
run merge again.store monday.store --fail-on-new
expect "an older campaign does not bring it back" [ "$code" -eq 0 ]
run merge again.store tuesday.store --fail-on-new
expect "a later one does" [ "$code" -eq 1 ]
expect "and it is named" has out "$(id_of scalar)"
cp all.store json.store
good findings json.store --set "$(id_of scalar)=fixed" --note "mended"
sql json.store "UPDATE bucket_rows SET last_seen = 1000 WHERE id = '$(id_of scalar)'"
run merge json.store tuesday.store --fail-on-new --json
expect "JSON fails, too" [ "$code" -eq 1 ]
expect "and names it alone" same "$(python3 -c 'import json; print([b["id"] for b in json.load(open("out"))["failing"]])')" "['$(id_of scalar)']"

# What is written down as known is no news of the night, but for broken claims and what nothing explains.
mkdir known
sql tuesday.store "UPDATE bucket_rows SET severity = 'accuracy' WHERE id = '$(id_of convert)'"
run merge news.store tuesday.store --fail-on-new --knowledge known
expect "a first night has news" [ "$code" -eq 1 ]
expect "the facts are told" has out "2 facts in 4 buckets"
known() { printf 'mmafuzz-facts 1\n%s\tseen\tas published\t%s\t%s\t%s\n' "$@" >known/differences.facts; }
known rounding "equal exact ieee" "op convert from=fp32 to=bf16" 3f801fff
run merge news1.store tuesday.store --fail-on-new --knowledge known
expect "of an accuracy another op says nothing" has out "2 facts in 4 buckets"
known rounding "equal exact ieee" "op convert from=fp32 to=fp16" 3f801fff
run merge news2.store tuesday.store --fail-on-new --knowledge known --json
expect "one is known" same "$(python3 -c 'import json; print(json.load(open("out"))["failing_facts"])')" "['unexplained']"
good findings tuesday.store --fact rounding --knowledge known
expect "why it is known is said" has out "written down: as published"
cp news2.store fixed.store
good findings fixed.store --set "$(id_of convert)=fixed" --note "mended"
sql fixed.store "UPDATE bucket_rows SET last_seen = 1000, status_set = 1500 WHERE id = '$(id_of convert)'"
run merge fixed.store tuesday.store --fail-on-new --knowledge known
expect "what was fixed and is back is news, known or not" has out "rounding"
known unexplained "equal exact ieee" "op convert from=fp32 to=fp16" 3f801fff
run merge known.store tuesday.store --fail-on-new --knowledge known
expect "a broken contract stays one" [ "$code" -eq 1 ]
expect "so does what nothing explains" has out "unexplained"
sql tuesday.store "UPDATE bucket_rows SET severity = 'contract' WHERE id = '$(id_of convert)'"

# ---- promote ----
for name in truncation fasi split scalar convert; do good promote all.store "$(id_of $name)" --corpus corpus; done
regression="corpus/dot_models/regressions/$(id_of truncation).cases"
cat >expected <<'END'
mmafuzz-cases 1
# mmafuzz: divergence equal dot.f32.f16.f16.f32 model:volta/mma.m8n8k4.f32.f16.f16.f32 model:hopper/mma.m16n8k16.f32.f16.f16.f32 normal fraction_bits
# cause: in words
# bucket ID, semantic. Below: what each unit gives.
property equal model:volta/mma.m8n8k4.f32.f16.f16.f32 model:hopper/mma.m16n8k16.f32.f16.f16.f32
unit model:volta/mma.m8n8k4.f32.f16.f16.f32
op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4
3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000 | 3f800000
unit model:hopper/mma.m16n8k16.f32.f16.f16.f32
op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4
3800 3800 3800 3800 | 0001 0001 0001 0001 | 3f800000 | 3f800001
END
sed -i "s/bucket ID/bucket $(id_of truncation)/" expected
expect "the results that Fasi et al. saw, and the key" cmp -s expected "$regression"
expect "a pair of cases" same "$(grep -c '^3c00' "corpus/dot_monotone/regressions/$(id_of fasi).cases")" 2
expect "by target" [ -e "corpus/dot_metamorphic/regressions/$(id_of split).cases" ]
expect "by target" [ -e "corpus/scalar/regressions/$(id_of scalar).cases" ]
expect "flags of conversions" has "corpus/convert/regressions/$(id_of convert).cases" "3f801fff | 3c01 | 01"
bad "/here/only.so" promote all.store "$(id_of plugin)" --corpus corpus
bad "recorded:mine.cases is of this machine" promote recorded.store "$(id_of recording)" --corpus corpus
good promote recorded.store "$(id_of recording)" --corpus corpus --leave-out
expect "the model's result remains" has "corpus/dot_models/regressions/$(id_of recording).cases" "| 3f800000 | 3f800000"
expect "the recording is no unit there" lacks "corpus/dot_models/regressions/$(id_of recording).cases" "unit recorded:"
bad "only exact is left, which cannot show the difference" promote recorded.store "$(id_of reference)" --corpus corpus --leave-out
bad "no unit is left" promote all.store "$(id_of lonely)" --corpus corpus --leave-out
bad "has no witness" promote all.store "$(id_of empty)" --corpus corpus
bad "no bucket 'ffffffffff'" promote all.store "$(id_of truncation)" ffffffffff --corpus corpus
touch file
bad "file/dot_models/regressions: cannot be created" promote all.store "$(id_of truncation)" --corpus file
good check corpus/*/regressions/*.cases

# ---- replaying ----
replay() {
  command="regressions.sh $*"
  bash "$regressions" "$MMAFUZZ" "$1" >out 2>err
  code=$?
}
replay corpus
expect "unchanged results are exit code 0" ends_with 0
expect "all files" has out "10 cases, 0 mismatches"
sed -i 's/| 3f800001$/| 3f800002/' "$regression"
replay corpus
expect "a changed result is exit code 1" ends_with 1
expect "it names the bucket" has out "# mmafuzz: divergence equal dot.f32.f16.f16.f32 model:volta/mma.m8n8k4.f32.f16.f16.f32 model:hopper/"
expect "by its id" has out "# bucket $(id_of truncation)"
expect "both results" has out "expected 3f800002, model:hopper/mma.m16n8k16.f32.f16.f16.f32 gives 3f800001"
expect "and explains" has out "truncated fused sum"
expect "on both units" same "$(grep -c '^    greatest exponent' out)" 2
expect "with a verdict" has out "verdict: they differ: fraction_bits"
mkdir nothing
replay nothing
expect "without any it is skipped" ends_with 77

# ---- many nights ----
good merge nights.store monday.store tuesday.store
good store trends nights.store --recent 1
expect "how many nights" has out "2 campaigns from 1970-01-01 to 1970-01-02"
expect "a fact that stayed" grep -qE '^fraction_bits=\S* +2  1970-01-01  1970-01-02  5|^fraction_bits\S* +2 ' out
expect "bins of the last night" has out "distinct bins of the last campaigns: 1"
expect "a bin that did not come again" grep -A1 -q "bins that the last 1 did not reach" out
expect "which" has out "align.third"
expect "what is new" has out "facts that only the last 1 saw"
good store trends nights.store --recent 1 --json
expect "the same for programs" same "$(python3 -c 'import json; t = json.load(open("out")); print(len(t["campaigns"]), sorted(f["name"] for f in t["facts"] if f["come"]) != [], "bins" in t)')" "2 True False"
expect "a campaign's bins are those of the list, each once" same "$(python3 -c 'import json; t = json.load(open("out")); print([c["distinct_bins"] for c in t["campaigns"]])')" "[2, 1]"
good store trends nights.store --bins
expect "a line for each bin" grep -qE '^align.first +2  1970-01-01  1970-01-02 ' out
views="SELECT bin, sum(hits) FROM coverage GROUP BY bin ORDER BY bin; SELECT count(*) FROM samples; SELECT sum(differing) FROM pairs; SELECT sum(count) FROM counts"
sql() { python3 -c 'import sqlite3, sys; print([r for q in sys.argv[2].split(";") for r in sqlite3.connect(sys.argv[1]).execute(q)])' "$@"; }
expect "what other programs read" same "$(sql nights.store "$views")" "[('align.first', 2), ('align.second', 0), ('align.third', 1), (2,), (100,), ($(sql nights.store 'SELECT sum(count) FROM bucket_counts' | tr -dc 0-9),)]"
before=$(sql nights.store "SELECT count(*), sum(count) FROM counts")
good store prune nights.store --keep 1000d
expect "old nights go" has out "of 2 campaigns are gone"
expect "counts stay" same "$(sql nights.store "SELECT count(*), sum(count) FROM counts")" "$before"
expect "coverage, progress and pairs do not" same "$(sql nights.store "SELECT count(*) FROM coverage; SELECT count(*) FROM samples; SELECT count(*) FROM pairs")" "[(0,), (0,), (0,)]"
good findings nights.store --buckets
good store trends nights.store
expect "trends say so" has out "distinct bins of the last campaigns: pruned pruned"
good merge nights.store monday.store tuesday.store
expect "merging again brings it back" same "$(sql nights.store "$views; SELECT count(*) FROM counts")" "[('align.first', 2), ('align.second', 0), ('align.third', 1), (2,), (100,), ($(sql nights.store 'SELECT sum(count) FROM bucket_counts' | tr -dc 0-9),), ($(sql nights.store 'SELECT count(*) FROM bucket_counts' | tr -dc 0-9),)]"
bad "give a time" store prune nights.store --keep forever
bad "no such store" store prune nowhere.store --keep 1d
bad "no such store" store trends nowhere.store

# ---- a store behind a link ----
cp monday.store real.store
mkdir latest
ln -s ../real.store latest/night.store
good findings latest/night.store --buckets --json
expect "is read" same "$(ids)" "$("$MMAFUZZ" findings real.store --buckets --json >out; ids)"
good merge latest/night.store tuesday.store
expect "the link stays one" [ -L latest/night.store ]
expect "what came is in the store behind it" same "$(sql real.store 'SELECT count(*) FROM campaigns')" "$(sql latest/night.store 'SELECT count(*) FROM campaigns')"
expect "and nothing else beside the link" same "$(ls latest)" night.store
good merge real.store latest/night.store
expect "a store merged into itself is the same" has out "(0 more) of 2 campaigns (0 more)"

# ---- merges at the same time ----
for i in 1 2 3 4; do
  "$MMAFUZZ" merge together.store monday.store tuesday.store >together.$i 2>&1 &
done
wait
expect "one of them brought the campaigns" same "$(cat together.? | grep -c 'of 2 campaigns (2 more)')" 1
expect "the others know them" same "$(cat together.? | grep -c 'of 2 campaigns (0 more)')" 3

# ---- reports ----
good report nights.store --json /dev/stdout
expect "a report for a pipe" has out '"json_version"'
expect "a report in place of standard output is whole" python3 -c 'import json; json.load(open("out"))'
echo "what stood there" >log
"$MMAFUZZ" report nights.store --json /dev/stdout >>log 2>err
expect "what stands in standard output's file stays" [ "$(head -1 log)" = "what stood there" ]
expect "and the report follows" cmp -s <(tail -n +2 log) out
good report nights.store --junit report.xml
cp report.xml before
ln -s report.xml link.xml
good report monday.store --junit link.xml
expect "a link stays a link" [ -L link.xml ]
expect "what it names is new" [ "$(cmp -s report.xml before; echo $?)" -eq 1 ]
mkdir far
ln -s far/second.json first.json
ln -s ../nowhere.json far/second.json
good report monday.store --json first.json
expect "links to what is missing stay links" [ -L first.json -a -L far/second.json ]
expect "and what they name is there" has nowhere.json '"json_version"'
ln -s loop.json loop.json
bad "loop.json: links that lead to no file" report monday.store --json loop.json
expect "a loop of links stays one" [ -L loop.json ]
cp report.xml before
# A limit for files stands for a full disk; the report is longer, what SQLite writes beside a store is not.
python3 -c 'import sqlite3; db = sqlite3.connect("nights.store"); db.execute("UPDATE campaigns SET command = hex(zeroblob(30000))"); db.commit()'
(ulimit -f 36; trap '' XFSZ; "$MMAFUZZ" report nights.store --json report.xml 2>err)
expect "a full disk is said" has err "cannot be written: File too large"
expect "and leaves the report that was there" cmp -s report.xml before
expect "and nothing else" same "$(echo report.xml*)" "report.xml"
bad "Not a directory" report nights.store --sarif report.xml/x

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
