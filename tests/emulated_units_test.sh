#!/usr/bin/env bash
# The instructions of other processors that QEMU runs here, each against the row that it claims to be, or `integer`: of
# CASES eight tenths are of one instruction, a tenth of a chain of them, and a tenth of three products, which end within
# most. Each (by day those that add) is then named from its answers alone (ci/check-silicon). Exit code 77 where no cross
# compiler or emulator is installed.
#   MMAFUZZ=... emulated_units_test.sh [CASES]
set -eu
cases=${1:-60000}
looked_at=0 with_fpcr=0
while read -r unit equal op; do
  case $unit in *pn|*np|*nn) [ "$cases" -gt 1000000 ] || continue ;; esac  # forms that turn signs: by night
  own=$(echo "$op" | grep -o ' k=[0-9]*' | cut -d= -f2)
  parts=("$own 8" "8 1" "3 1")
  case $op in *saturate=1*) parts=("$own 10") ;; esac  # a chain clamps at each step
  for part in "${parts[@]}"; do
    k=${part% *}
    share=$((cases / 10 * ${part#* }))
    of_k=$(echo "$op" | sed "s/ k=[0-9]*/ k=$k/")
    answer=$("$MMAFUZZ" fuzz --op "$of_k" --units "$unit,$equal" --cases "$share" 2>&1) || { echo "$answer"; exit 1; }
    echo "$answer" | grep -q "kinds of divergence: 0 contract" || { echo "$answer"; exit 1; }
    echo "$unit: $share cases of $of_k as $equal"
  done
  # FPCR's control bits, each that is not declined; half of the words share a run.
  case $unit in emulated:arm/*)
    for words in fz+rp rm rz fz16 dn; do
      answer=$("$MMAFUZZ" fuzz --op "$op" --units "$unit?fpcr=$words" --cases $((cases / 25)) 2>&1) || {
        echo "$answer" | grep -q "changes nothing in\|does not read FPCR" && continue
        echo "$answer"; exit 1; }
      echo "$answer" | grep -q "kinds of divergence: 0 contract, 0 accuracy" || { echo "$answer"; exit 1; }
      with_fpcr=$((with_fpcr + 1))
    done ;;
  esac
  looked_at=$((looked_at + 1))
  case $unit in emulated:arm/*|*pp) ;; *) [ "$cases" -gt 1000000 ] || continue ;; esac  # by night all forms are named
  "$(dirname "$0")/../ci/check-silicon" "$MMAFUZZ" "$((cases / 2))" "$unit"
done < <("$MMAFUZZ" list --json --units 'emulated:*' | python3 -c '
import json, sys
for unit in json.load(sys.stdin):
    if not unit["unavailable"]:
        op = unit["summary"].split(": op ")[1]
        print(unit["name"], [c["detail"] for c in unit["claims"] if c["property"] == "equals_model"][0], op)')
[ "$looked_at" -gt 0 ] || exit 77
for words in rp+rm fz16+fz ""; do  # two words that set one thing, and none
  "$MMAFUZZ" fuzz --op "dot a=fp16 b=fp16 c=fp32 d=fp32 k=2" --units "emulated:arm/fmopa_f16?fpcr=$words" --cases 10 2>/dev/null &&
    { echo "fpcr=$words was taken"; exit 1; }
done
# Five instructions read FPCR: one has fp16 for FZ16, and two hand NaNs on without DN.
[ "$with_fpcr" -eq 18 ] || { echo "$with_fpcr runs with fpcr="; exit 1; }
# An engine's input asks an emulated unit in one case of many: no coverage is taken through it.
inputs=$(mktemp -d)
trap 'rm -r "$inputs"' EXIT
python3 -c '
import random, sys
draw = random.Random(1)
for i in range(200):
    open(f"{sys.argv[1]}/{i}", "wb").write(draw.randbytes(71))' "$inputs"
"$(dirname "$MMAFUZZ")/fuzz_targets/dot_models_replay" "--ops=dot a=bf16 b=bf16 c=fp32 d=fp32 k=16" --keep-going "$inputs" >/dev/null
