// Every product that cuBLAS is asked for, one row each:
//   ROW(unit, operands, result, compute, operand type, result type, arithmetic)
// `operands` and `result` are formats of mmafuzz; `compute` completes CUBLAS_COMPUTE_..., the types CUDA_R_....
// `arithmetic` is what a probe must show: native, emulated, or nothing (any). cublasGemmEx takes no FP8.
#pragma once

#define MMAFUZZ_CUBLAS(ROW)                                                  \
  ROW("gemmex.fp16", fp16, fp32, 32F, 16F, 32F, any)                         \
  ROW("gemmex.bf16", bf16, fp32, 32F, 16BF, 32F, any)                        \
  ROW("gemmex.tf32", tf32, fp32, 32F_FAST_TF32, 32F, 32F, any)               \
  ROW("gemmex.s8", s8, s32, 32I, 8I, 32I, any)                               \
  ROW("sgemm", fp32, fp32, 32F, 32F, 32F, native)                            \
  ROW("sgemm.emulated", fp32, fp32, 32F_EMULATED_16BFX9, 32F, 32F, emulated) \
  ROW("dgemm", fp64, fp64, 64F, 64F, 64F, native)                            \
  ROW("dgemm.emulated", fp64, fp64, 64F_EMULATED_FIXEDPOINT, 64F, 64F, emulated)
