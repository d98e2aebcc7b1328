#!/usr/bin/env bash
# The models against results of real GPUs (corpus/recorded): 5,500 of V100, A100, Ada and H100, recorded by Khattak and
# Mikaitis, and all 110,000 where they are at hand, in MMAFUZZ_OBSERVATIONS or ../shared/observations beside the checkout;
# 11,536 of a Radeon Pro W7900 and a Radeon AI Pro R9700, captured by AMD; 12,169 of an H200 and 2,619 of a Xeon,
# this project's own.
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

agrees "35905 cases, 0 mismatches" "$root"/corpus/recorded/*.cases.gz
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
while read -r row override of; do
  check=("$MMAFUZZ" check --skip-declined "$root/corpus/recorded/$of.cases.gz")
  "${check[@]}" --unit "model:$row" >/dev/null  # else the next line says nothing
  if "${check[@]}" --unit "model:$row?$override" >/dev/null; then
    echo "$override agrees with $of, too"
    exit 1
  fi
done <<'EOF'
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=constant h200.mma.f64.nan
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=a_b_c h200.mma.f64.nan
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=a_c_b h200.mma.f64.nan
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=b_a_c h200.mma.f64.nan
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=c_a_b h200.mma.f64.nan
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=c_b_a h200.mma.f64.nan
hopper/mma.m8n8k4.f64.f64.f64.f64 nan_from=signalling_c_a_b h200.mma.f64.nan
x86/fma.k1.f32.f32.f32.f32 nan_from=a_b_c xeon.fma.nan
x86/mul_add.k1.f32.f32.f32.f32 nan_from=a_b_c xeon.mul_add.nan
x86/dpbf16.k2.f32.bf16.bf16.f32 nan_from=b_a_c xeon.dpbf16.nan
x86/tdpbf16ps.k32.f32.bf16.bf16.f32 nan_from=a_c_b xeon.tdpbf16ps.nan
x86/tdpbf16ps.k32.f32.bf16.bf16.f32 nan_from=b_a_c xeon.tdpbf16ps.nan
x86/tdpbf16ps.k32.f32.bf16.bf16.f32 nan_from=c_a_b xeon.tdpbf16ps.nan
rdna3/v_dot2.1x1x2.f32.f16.f16.f32 cut=floor w7900.v_dot2.fp16-fp32
rdna3/v_dot2.1x1x2.f32.bf16.bf16.f32 subnormals=kept w7900.v_dot2.bf16-fp32
rdna3/v_dot2.1x1x2.f32.bf16.bf16.f32 nan_of_c=replaced w7900.v_dot2.bf16-fp32
rdna3/wmma.16x16x16.f32.f16.f16.f32 fraction_bits=23 w7900.wmma.fp16-fp32
rdna3/wmma.16x16x16.f32.f16.f16.f32 c_guard_bits=1 w7900.wmma.fp16-fp32
rdna3/wmma.16x16x16.f32.f16.f16.f32 block=4 w7900.wmma.fp16-fp32
rdna4/v_dot2.1x1x2.f32.bf16.bf16.f32 subnormals=flushed_of_fp32 r9700.v_dot2.bf16-fp32
rdna4/v_dot2.1x1x2.f32.bf16.bf16.f32 cut=opposed_complement,first_sum=1 r9700.v_dot2.bf16-fp32
rdna4/v_dot2.1x1x2.f32.bf16.bf16.f32 invalid_nan=ffc00a3d r9700.v_dot2.bf16-fp32
rdna4/wmma.16x16x16.f32.f16.f16.f32 order=ascending r9700.wmma.fp16-fp32
rdna4/wmma.16x16x16.f32.f16.f16.f32 first_sum=1 r9700.wmma.fp16-fp32
rdna4/wmma.16x16x16.f16.f16.f16.f16 lost_c=floored r9700.wmma.fp16-fp16
rdna4/wmma.16x16x16.bf16.bf16.bf16.bf16 output_via=direct r9700.wmma.bf16-bf16
rdna3/wmma.16x16x16.bf16.bf16.bf16.bf16 subnormals=kept w7900.wmma.bf16-bf16
rdna4/wmma.16x16x16.f32.f16.f16.f32 fraction_bits=23 r9700.wmma.fp16-fp32
rdna4/wmma.16x16x16.f32.f16.f16.f32 c_guard_bits=1 r9700.wmma.fp16-fp32
EOF
