#!/usr/bin/env bash
# The models against results of real V100, A100, Ada and H100 GPUs (corpus/recorded: recorded by Khattak and Mikaitis):
# 5,500, and all 110,000 where they are at hand, in MMAFUZZ_OBSERVATIONS or ../shared/observations beside the checkout.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)

agrees() {
  local expected=$1
  shift
  local out
  out=$("$MMAFUZZ" check "$@" | tail -n 1)
  echo "$out"
  [ "$out" = "$expected" ]
}

agrees "5500 cases, 0 mismatches" "$root"/corpus/recorded/*.cases.gz
all=${MMAFUZZ_OBSERVATIONS:-$root/../shared/observations}
if ls "$all"/*.cases.gz >/dev/null 2>&1; then agrees "110000 cases, 0 mismatches" "$all"/*.cases.gz; fi

# They are sharp: a bit more or less is seen.
for bits in 24 26; do
  if "$MMAFUZZ" check --unit "model:hopper/mma.m16n8k16.f32.f16.f16.f32?fraction_bits=$bits" \
    "$root/corpus/recorded/h100.wmma.fp16-fp32.cases.gz" >/dev/null; then
    echo "fraction_bits=$bits agrees with an H100, too"
    exit 1
  fi
done
