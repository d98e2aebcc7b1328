// Every CUDA-core instruction that device units run, one row each:
//   ROW(id, form, unit, operation, d, a, rounding, ftz, saturate, claim, architectures, ptx)
// `operation` is the scalar operation, or convert. `form` says how the PTX instruction is used (kernels/core.cu). Rows
// of one unit differ in what an op asks for: rounding, ftz and saturate. claim: all where it is correctly rounded by
// the PTX ISA or the CUDA Programming Guide, "Floating-point standard"; no_nans where that does not hold for NaN
// sources (cvt.rna.tf32 ends by clearing the low 13 bits, which makes NaN 7f800001 an infinity: machine code of sm_80
// to sm_120, ptxas 13.0); none. To add an instruction, add its row.
#pragma once

#include "gpu_bridge/instructions/instructions.def.h"

// The four rounding modes of IEEE 754 that PTX has; ftz is empty or ".ftz", z its 0 or 1.
#define MMAFUZZ_MODES(ROW, form, op, type, z, ftz, archs)                                                      \
  ROW(op##_##type##_rn##z, form, #op "." #type, op, type, type, nearest_even, z, 0, all, archs,                \
      #op ".rn" ftz "." #type)                                                                                 \
  ROW(op##_##type##_rz##z, form, #op "." #type, op, type, type, toward_zero, z, 0, all, archs,                 \
      #op ".rz" ftz "." #type)                                                                                 \
  ROW(op##_##type##_rp##z, form, #op "." #type, op, type, type, up, z, 0, all, archs, #op ".rp" ftz "." #type) \
  ROW(op##_##type##_rm##z, form, #op "." #type, op, type, type, down, z, 0, all, archs, #op ".rm" ftz "." #type)
#define MMAFUZZ_FP32_MODES(ROW, form, op)          \
  MMAFUZZ_MODES(ROW, form, op, f32, 0, "", from75) \
  MMAFUZZ_MODES(ROW, form, op, f32, 1, ".ftz", from75)
// To nearest only.
#define MMAFUZZ_NEAREST(ROW, form, op, type, z, ftz, archs) \
  ROW(op##_##type##_rn##z, form, #op "." #type, op, type, type, nearest_even, z, 0, all, archs, #op ".rn" ftz "." #type)
#define MMAFUZZ_FP16_OPERATION(ROW, form, op)        \
  MMAFUZZ_NEAREST(ROW, form, op, f16, 0, "", from75) \
  MMAFUZZ_NEAREST(ROW, form, op, f16, 1, ".ftz", from75)
// What -prec-div=false and -prec-sqrt=false compile to.
#define MMAFUZZ_APPROXIMATE(ROW, form, op, how)                                                      \
  ROW(op##_##how##_f32_0, form, #op "." #how ".f32", op, f32, f32, nearest_even, 0, 0, none, from75, \
      #op "." #how ".f32")                                                                           \
  ROW(op##_##how##_f32_1, form, #op "." #how ".f32", op, f32, f32, nearest_even, 1, 0, none, from75, \
      #op "." #how ".ftz.f32")

#define MMAFUZZ_CORE_SCALAR(ROW)                                                                               \
  MMAFUZZ_FP32_MODES(ROW, binary, add)                                                                         \
  MMAFUZZ_FP32_MODES(ROW, binary, sub)                                                                         \
  MMAFUZZ_FP32_MODES(ROW, binary, mul)                                                                         \
  MMAFUZZ_FP32_MODES(ROW, ternary, fma)                                                                        \
  MMAFUZZ_FP32_MODES(ROW, binary, div)                                                                         \
  MMAFUZZ_FP32_MODES(ROW, unary, sqrt)                                                                         \
  MMAFUZZ_FP32_MODES(ROW, unary, rcp)                                                                          \
  MMAFUZZ_MODES(ROW, binary, add, f64, 0, "", from75)                                                          \
  MMAFUZZ_MODES(ROW, binary, sub, f64, 0, "", from75)                                                          \
  MMAFUZZ_MODES(ROW, binary, mul, f64, 0, "", from75)                                                          \
  MMAFUZZ_MODES(ROW, ternary, fma, f64, 0, "", from75)                                                         \
  MMAFUZZ_MODES(ROW, binary, div, f64, 0, "", from75)                                                          \
  MMAFUZZ_MODES(ROW, unary, sqrt, f64, 0, "", from75)                                                          \
  MMAFUZZ_MODES(ROW, unary, rcp, f64, 0, "", from75)                                                           \
  MMAFUZZ_APPROXIMATE(ROW, binary, div, approx)                                                                \
  MMAFUZZ_APPROXIMATE(ROW, binary, div, full)                                                                  \
  MMAFUZZ_APPROXIMATE(ROW, unary, sqrt, approx)                                                                \
  MMAFUZZ_APPROXIMATE(ROW, unary, rcp, approx)                                                                 \
  ROW(rcp_approx_f64_1, unary, "rcp.approx.f64", rcp, f64, f64, nearest_even, 1, 0, none, from75,              \
      "rcp.approx.ftz.f64")                                                                                    \
  MMAFUZZ_FP16_OPERATION(ROW, binary, add)                                                                     \
  MMAFUZZ_FP16_OPERATION(ROW, binary, sub)                                                                     \
  MMAFUZZ_FP16_OPERATION(ROW, binary, mul)                                                                     \
  MMAFUZZ_FP16_OPERATION(ROW, ternary, fma)                                                                    \
  MMAFUZZ_NEAREST(ROW, binary, add, bf16, 0, "", from90)                                                       \
  MMAFUZZ_NEAREST(ROW, binary, sub, bf16, 0, "", from90)                                                       \
  MMAFUZZ_NEAREST(ROW, binary, mul, bf16, 0, "", from90)                                                       \
  MMAFUZZ_NEAREST(ROW, ternary, fma, bf16, 0, "", from80)                                                      \
  ROW(fmad_false, two_roundings, "fma.fmad_false.f32", fma, f32, f32, nearest_even, 0, 0, none, from75, ".rn") \
  ROW(fmad_true, two_roundings, "fma.fmad_true.f32", fma, f32, f32, nearest_even, 0, 0, all, from75, "")

// cvt.<rounding>[.ftz][.satfinite].<d>.<a>
#define MMAFUZZ_CVT(ROW, form, d, a, mode, rounding, z, ftz, archs, PTX)                            \
  ROW(cvt_##d##_##a##_##mode##z, form, "cvt." #d "." #a, convert, d, a, rounding, z, 0, all, archs, \
      "cvt." #mode ftz "." PTX)
#define MMAFUZZ_CVT_SATURATED(ROW, form, d, a, mode, rounding, archs, PTX)                             \
  ROW(cvt_##d##_##a##_##mode##_sat, form, "cvt." #d "." #a, convert, d, a, rounding, 0, 1, all, archs, \
      "cvt." #mode ".satfinite." PTX)
// Rounds by nothing: exact.
#define MMAFUZZ_CVT_EXACT(ROW, form, d, a, archs, PTX) \
  ROW(cvt_##d##_##a, form, "cvt." #d "." #a, convert, d, a, nearest_even, 0, 0, all, archs, PTX)
#define MMAFUZZ_CVT_MODES(ROW, d, a)                                        \
  MMAFUZZ_CVT(ROW, unary, d, a, rn, nearest_even, 0, "", from75, #d "." #a) \
  MMAFUZZ_CVT(ROW, unary, d, a, rz, toward_zero, 0, "", from75, #d "." #a)  \
  MMAFUZZ_CVT(ROW, unary, d, a, rp, up, 0, "", from75, #d "." #a)           \
  MMAFUZZ_CVT(ROW, unary, d, a, rm, down, 0, "", from75, #d "." #a)         \
  MMAFUZZ_CVT(ROW, unary, d, a, rn, nearest_even, 1, ".ftz", from75, #d "." #a)

#define MMAFUZZ_CORE_CVT(ROW)                                                                            \
  MMAFUZZ_CVT_MODES(ROW, f16, f32)                                                                       \
  MMAFUZZ_CVT_MODES(ROW, f32, f64)                                                                       \
  MMAFUZZ_CVT(ROW, unary, bf16, f32, rn, nearest_even, 0, "", from80, "bf16.f32")                        \
  MMAFUZZ_CVT(ROW, unary, bf16, f32, rz, toward_zero, 0, "", from80, "bf16.f32")                         \
  ROW(cvt_tf32_f32_rna0, unary, "cvt.tf32.f32", convert, tf32, f32, nearest_away, 0, 0, no_nans, from80, \
      "cvt.rna.tf32.f32")                                                                                \
  MMAFUZZ_CVT(ROW, unary, tf32, f32, rn, nearest_even, 0, "", from90, "tf32.f32")                        \
  MMAFUZZ_CVT(ROW, unary, tf32, f32, rz, toward_zero, 0, "", from90, "tf32.f32")                         \
  MMAFUZZ_CVT_SATURATED(ROW, packed, e4m3, f32, rn, nearest_even, from89, "e4m3x2.f32")                  \
  MMAFUZZ_CVT_SATURATED(ROW, packed, e5m2, f32, rn, nearest_even, from89, "e5m2x2.f32")                  \
  MMAFUZZ_CVT_SATURATED(ROW, packed, e3m2, f32, rn, nearest_even, from100, "e3m2x2.f32")                 \
  MMAFUZZ_CVT_SATURATED(ROW, packed, e2m3, f32, rn, nearest_even, from100, "e2m3x2.f32")                 \
  MMAFUZZ_CVT_SATURATED(ROW, packed4, e2m1, f32, rn, nearest_even, from100, "e2m1x2.f32")                \
  MMAFUZZ_CVT(ROW, packed, ue8m0, f32, rz, toward_zero, 0, "", from100, "ue8m0x2.f32")                   \
  MMAFUZZ_CVT(ROW, packed, ue8m0, f32, rp, up, 0, "", from100, "ue8m0x2.f32")                            \
  MMAFUZZ_CVT_SATURATED(ROW, packed, ue8m0, f32, rz, toward_zero, from100, "ue8m0x2.f32")                \
  MMAFUZZ_CVT_SATURATED(ROW, packed, ue8m0, f32, rp, up, from100, "ue8m0x2.f32")                         \
  MMAFUZZ_CVT_EXACT(ROW, unary, f32, f16, from75, "cvt.f32.f16")                                         \
  MMAFUZZ_CVT_EXACT(ROW, unary, f32, bf16, from90, "cvt.f32.bf16")                                       \
  MMAFUZZ_CVT_EXACT(ROW, unary, f64, f32, from75, "cvt.f64.f32")                                         \
  MMAFUZZ_CVT_EXACT(ROW, unpacked, f16, e4m3, from89, "cvt.rn.f16x2.e4m3x2")                             \
  MMAFUZZ_CVT_EXACT(ROW, unpacked, f16, e5m2, from89, "cvt.rn.f16x2.e5m2x2")                             \
  MMAFUZZ_CVT_EXACT(ROW, unpacked, f16, e3m2, from100, "cvt.rn.f16x2.e3m2x2")                            \
  MMAFUZZ_CVT_EXACT(ROW, unpacked, f16, e2m3, from100, "cvt.rn.f16x2.e2m3x2")                            \
  MMAFUZZ_CVT_EXACT(ROW, unpacked4, f16, e2m1, from100, "cvt.rn.f16x2.e2m1x2")                           \
  MMAFUZZ_CVT_EXACT(ROW, unpacked, bf16, ue8m0, from100, "cvt.rn.bf16x2.ue8m0x2")

#define MMAFUZZ_CORE(ROW)  \
  MMAFUZZ_CORE_SCALAR(ROW) \
  MMAFUZZ_CORE_CVT(ROW)
