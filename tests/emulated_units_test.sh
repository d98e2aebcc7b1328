#!/usr/bin/env bash
# The instructions of other processors that QEMU runs here, each against the row that it claims to be: of CASES eight
# tenths are of one instruction, a tenth of a chain of them, and a tenth of three products, which end within most. Each
# is then named from its answers alone (ci/check-silicon). Exit code 77 where no cross compiler or emulator is installed.
#   MMAFUZZ=... emulated_units_test.sh [CASES]
set -eu
cases=${1:-1000000}
looked_at=0
while read -r unit row; do
  formats=${row#*.}  # k2.f32.bf16.bf16.f32
  type=$(echo "$formats" | cut -d. -f3)
  case $type in f16) type=fp16 ;; f32) type=fp32 ;; f64) type=fp64 ;; esac
  result=fp32
  [ "$type" != fp64 ] || result=fp64
  own=${formats%%.*}
  for part in "${own#k} 8" "8 1" "3 1"; do
    k=${part% *}
    share=$((cases / 10 * ${part#* }))
    op="dot a=$type b=$type c=$result d=$result k=$k"
    answer=$("$MMAFUZZ" fuzz --op "$op" --units "$unit,model:$row" --cases "$share" 2>&1) || { echo "$answer"; exit 1; }
    echo "$answer" | grep -q "kinds of divergence: 0 contract" || { echo "$answer"; exit 1; }
    echo "$unit: $share cases of $op as model:$row"
  done
  looked_at=$((looked_at + 1))
  "$(dirname "$0")/../ci/check-silicon" "$MMAFUZZ" 100000 "$unit"
done < <("$MMAFUZZ" list --json --units 'emulated:*' | python3 -c '
import json, sys
for unit in json.load(sys.stdin):
    if not unit["unavailable"]:
        print(unit["name"], [c["detail"] for c in unit["claims"] if c["property"] == "equals_model"][0].split(":")[1])')
[ "$looked_at" -gt 0 ] || exit 77
