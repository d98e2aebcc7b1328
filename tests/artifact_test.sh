#!/bin/bash
# `minimize --target` reads an engine's input as the target does: artifact_test.sh MMAFUZZ FOLDER_OF_TARGETS.
set -u
mmafuzz=$1 targets=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# expect TARGET PROPERTY OP CASE: the case, written as an input of the target, fails the property as a case of that op.
expect() {
  printf 'mmafuzz-cases 1\n%s\n%s\n' "$3" "$4" >"$work/one.cases"
  rm -rf "$work/inputs"
  mkdir "$work/inputs"
  "$targets/$1_replay" "--encode=$work/inputs" "$work/one.cases" >/dev/null 2>&1
  for input in "$work"/inputs/*; do
    "$mmafuzz" minimize --target "$1" "$input" >"$work/out" 2>"$work/err"
    if grep -q "^property $2 " "$work/out" && grep -qF "$3" "$work/out"; then return; fi
  done
  echo "$1: no input of '$4' was minimized as $2 of '$3':"
  head -n 20 "$work/out" "$work/err"
  failed=1
}
# --help of a program, as that of a subcommand: what it does, a usage line, an example that can be typed, 0.
if ! "$targets/convert_replay" -h >"$work/out" || ! grep -q "^Usage: $targets/convert_replay \[OPTIONS\] FILES" "$work/out" ||
  ! grep -q "^Example: $targets/convert_replay corpus/convert$" "$work/out"; then
  echo "convert_replay -h:" && cat "$work/out" && failed=1
fi
# fp64 rounds to fp32 on the way to fp16: a tie that is none.
expect convert survives_detour 'op convert from=fp64 to=fp16 round=nearest_even nan=any' 3ff0020000000001
expect dot_models equal 'op dot a=fp16 b=fp16 c=fp32 d=fp32 k=16' \
  '3800 3800 3800 3800 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 | 0001 0001 0001 0001 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 | 3f800000'
exit $failed
