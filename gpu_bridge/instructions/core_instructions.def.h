// Every CUDA-core instruction that device units run, one row each:
//   ROW(id, form, unit, operation, d, a, rounding, ftz, saturate, claim, architectures, ptx)
// `operation` is the scalar operation, or convert. `form` names the macro of kernels/core.cu that wraps the PTX
// instruction. Rows of one unit differ in what an op asks for: rounding, ftz and saturate. `claim` is all where the PTX
// ISA or the CUDA Programming Guide, "Floating-point standard", says that the result is correctly rounded; no_nans
// where that does not hold for NaN sources (cvt.rna.tf32 ends by clearing the low 13 bits, which makes NaN 7f800001 an
// infinity: machine code of sm_80 to sm_120, ptxas 13.0); none elsewhere. In a row with .relu it is about the number
// before .relu. To add an instruction, add its row.
#pragma once

#include "gpu_bridge/instructions/instructions.def.h"

// A row for each of the four rounding modes that PTX has. `ftz` is "" or ".ftz"; `z` is 0 or 1 accordingly.
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
// Round to nearest even alone.
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
// Exact: nothing is rounded.
#define MMAFUZZ_CVT_EXACT(ROW, form, d, a, archs, PTX) \
  ROW(cvt_##d##_##a, form, "cvt." #d "." #a, convert, d, a, nearest_even, 0, 0, all, archs, PTX)
#define MMAFUZZ_CVT_MODES(ROW, d, a)                                        \
  MMAFUZZ_CVT(ROW, unary, d, a, rn, nearest_even, 0, "", from75, #d "." #a) \
  MMAFUZZ_CVT(ROW, unary, d, a, rz, toward_zero, 0, "", from75, #d "." #a)  \
  MMAFUZZ_CVT(ROW, unary, d, a, rp, up, 0, "", from75, #d "." #a)           \
  MMAFUZZ_CVT(ROW, unary, d, a, rm, down, 0, "", from75, #d "." #a)         \
  MMAFUZZ_CVT(ROW, unary, d, a, rn, nearest_even, 1, ".ftz", from75, #d "." #a)

// Packed conversions take two cases at a time. RELU is "" or ".relu" (with units of its own); z is 1 with .satfinite.
#define MMAFUZZ_CVT_PACKED(ROW, form, d, a, id, RELU, rounding, z, claim, archs, PTX) \
  ROW(cvt_##d##_##a##_##id, form, "cvt" RELU "." #d "." #a, convert, d, a, rounding, 0, z, claim, archs, PTX)
#define MMAFUZZ_CVT_X2(ROW, d, r, RELU)                                                                               \
  ROW(cvt_##d##x2_rn##r, f32x2_b32, "cvt" RELU "." #d "x2.f32", convert, d, f32, nearest_even, 0, 0, all, from80,     \
      "cvt.rn" RELU "." #d "x2.f32")                                                                                  \
  ROW(cvt_##d##x2_rz##r, f32x2_b32, "cvt" RELU "." #d "x2.f32", convert, d, f32, toward_zero, 0, 0, all, from80,      \
      "cvt.rz" RELU "." #d "x2.f32")                                                                                  \
  ROW(cvt_##d##x2_rn_sat##r, f32x2_b32, "cvt" RELU "." #d "x2.f32", convert, d, f32, nearest_even, 0, 1, all, from80, \
      "cvt.rn" RELU ".satfinite." #d "x2.f32")                                                                        \
  ROW(cvt_##d##x2_rz_sat##r, f32x2_b32, "cvt" RELU "." #d "x2.f32", convert, d, f32, toward_zero, 0, 1, all, from80,  \
      "cvt.rz" RELU ".satfinite." #d "x2.f32")
// Formats of at most 8 bits, from fp32 and exactly to fp16.
#define MMAFUZZ_CVT_NARROW(ROW, d, from_f32, to_f16, r, RELU, archs)                      \
  MMAFUZZ_CVT_PACKED(ROW, from_f32, d, f32, rn_sat##r, RELU, nearest_even, 1, all, archs, \
                     "cvt.rn.satfinite" RELU "." #d "x2.f32")                             \
  MMAFUZZ_CVT_PACKED(ROW, to_f16, f16, d, rn##r, RELU, nearest_even, 0, all, archs, "cvt.rn" RELU ".f16x2." #d "x2")
// From fp16. The grammar of PTX ISA 9.0 has e2m1x2 from .f32 alone; that ptxas 13.0 takes it from .f16x2 says nothing
// of its results, so that it claims none.
#define MMAFUZZ_CVT_FROM_F16(ROW, d, form, r, RELU, claim, archs)                       \
  MMAFUZZ_CVT_PACKED(ROW, form, d, f16, rn_sat##r, RELU, nearest_even, 1, claim, archs, \
                     "cvt.rn.satfinite" RELU "." #d "x2.f16x2")
#define MMAFUZZ_CVT_UE8M0(ROW, a, form, PTX)                                                                         \
  MMAFUZZ_CVT_PACKED(ROW, form, ue8m0, a, rz, "", toward_zero, 0, all, from100, "cvt.rz.ue8m0x2." PTX)               \
  MMAFUZZ_CVT_PACKED(ROW, form, ue8m0, a, rp, "", up, 0, all, from100, "cvt.rp.ue8m0x2." PTX)                        \
  MMAFUZZ_CVT_PACKED(ROW, form, ue8m0, a, rz_sat, "", toward_zero, 1, all, from100, "cvt.rz.satfinite.ue8m0x2." PTX) \
  MMAFUZZ_CVT_PACKED(ROW, form, ue8m0, a, rp_sat, "", up, 1, all, from100, "cvt.rp.satfinite.ue8m0x2." PTX)
#define MMAFUZZ_CVT_ALL_PACKED(ROW, r, RELU)                          \
  MMAFUZZ_CVT_X2(ROW, f16, r, RELU)                                   \
  MMAFUZZ_CVT_X2(ROW, bf16, r, RELU)                                  \
  MMAFUZZ_CVT_NARROW(ROW, e4m3, f32x2_b16, b16_b32, r, RELU, from89)  \
  MMAFUZZ_CVT_NARROW(ROW, e5m2, f32x2_b16, b16_b32, r, RELU, from89)  \
  MMAFUZZ_CVT_NARROW(ROW, e3m2, f32x2_b16, b16_b32, r, RELU, from100) \
  MMAFUZZ_CVT_NARROW(ROW, e2m3, f32x2_b16, b16_b32, r, RELU, from100) \
  MMAFUZZ_CVT_NARROW(ROW, e2m1, f32x2_b8, b8_b32, r, RELU, from100)   \
  MMAFUZZ_CVT_FROM_F16(ROW, e4m3, b32_b16, r, RELU, all, from89)      \
  MMAFUZZ_CVT_FROM_F16(ROW, e5m2, b32_b16, r, RELU, all, from89)      \
  MMAFUZZ_CVT_FROM_F16(ROW, e2m1, b32_b8, r, RELU, none, from100)

#define MMAFUZZ_CORE_CVT(ROW)                                                                                   \
  MMAFUZZ_CVT_MODES(ROW, f16, f32)                                                                              \
  MMAFUZZ_CVT_MODES(ROW, f32, f64)                                                                              \
  MMAFUZZ_CVT(ROW, unary, bf16, f32, rn, nearest_even, 0, "", from80, "bf16.f32")                               \
  MMAFUZZ_CVT(ROW, unary, bf16, f32, rz, toward_zero, 0, "", from80, "bf16.f32")                                \
  ROW(cvt_tf32_f32_rna0, unary, "cvt.tf32.f32", convert, tf32, f32, nearest_away, 0, 0, no_nans, from80,        \
      "cvt.rna.tf32.f32")                                                                                       \
  MMAFUZZ_CVT(ROW, unary, tf32, f32, rn, nearest_even, 0, "", from90, "tf32.f32")                               \
  MMAFUZZ_CVT(ROW, unary, tf32, f32, rz, toward_zero, 0, "", from90, "tf32.f32")                                \
  MMAFUZZ_CVT_ALL_PACKED(ROW, 0, "")                                                                            \
  MMAFUZZ_CVT_ALL_PACKED(ROW, _relu, ".relu")                                                                   \
  MMAFUZZ_CVT_UE8M0(ROW, f32, f32x2_b16, "f32")                                                                 \
  MMAFUZZ_CVT_UE8M0(ROW, bf16, b32_b16, "bf16x2")                                                               \
  MMAFUZZ_CVT_PACKED(ROW, b16_b32, bf16, ue8m0, rn, "", nearest_even, 0, all, from100, "cvt.rn.bf16x2.ue8m0x2") \
  MMAFUZZ_CVT_EXACT(ROW, unary, f32, f16, from75, "cvt.f32.f16")                                                \
  MMAFUZZ_CVT_EXACT(ROW, unary, f32, bf16, from90, "cvt.f32.bf16")                                              \
  MMAFUZZ_CVT_EXACT(ROW, unary, f64, f32, from75, "cvt.f64.f32")

#define MMAFUZZ_CORE(ROW)  \
  MMAFUZZ_CORE_SCALAR(ROW) \
  MMAFUZZ_CORE_CVT(ROW)
