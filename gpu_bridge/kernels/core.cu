// CUDA-core instructions, a thread for one or two cases, with encodings in 64-bit words; and mmafuzz's conversions in
// bulk (arithmetic/convert_bulk.h), with 32-bit encodings.
#include "gpu_bridge/instructions/core_instructions.def.h"
#include "gpu_bridge/kernels/core_cases.h"
#include "gpu_bridge/kernels/core_kernels.h"
#include "gpu_bridge/kernels/this_arch.cuh"

namespace mmafuzz {
namespace {

// The register of each PTX type: its constraint letter for asm, and its conversion from and to an encoding.
#define LETTER_f64 "d"
#define LETTER_f32 "f"
#define LETTER_f16 "h"
#define LETTER_bf16 "h"
#define LETTER_tf32 "r"
struct f64 {
  double value;
  __device__ static f64 of(uint64_t x) { return {__longlong_as_double(static_cast<long long>(x))}; }
  __device__ uint64_t bits() const { return static_cast<uint64_t>(__double_as_longlong(value)); }
};
struct f32 {
  float value;
  __device__ static f32 of(uint64_t x) { return {__uint_as_float(static_cast<uint32_t>(x))}; }
  __device__ uint64_t bits() const { return __float_as_uint(value); }
};
struct f16 {
  unsigned short value;
  __device__ static f16 of(uint64_t x) { return {static_cast<unsigned short>(x)}; }
  __device__ uint64_t bits() const { return value; }
};
using bf16 = f16;
struct tf32 {  // a destination only
  uint32_t value;
  __device__ uint64_t bits() const { return value; }
};

// The forms: how an instruction is called. Operands are in[0] to in[2], the result goes to out[0].
#define FORM_unary(D, A, PTX)                                                   \
  const A x = A::of(in[0]);                                                     \
  D d;                                                                          \
  asm volatile(PTX " %0, %1;" : "=" LETTER_##D(d.value) : LETTER_##A(x.value)); \
  out[0] = d.bits();
#define FORM_binary(D, A, PTX)                                                                           \
  const A x = A::of(in[0]), y = A::of(in[1]);                                                            \
  D d;                                                                                                   \
  asm volatile(PTX " %0, %1, %2;" : "=" LETTER_##D(d.value) : LETTER_##A(x.value), LETTER_##A(y.value)); \
  out[0] = d.bits();
#define FORM_ternary(D, A, PTX)                                                  \
  const A x = A::of(in[0]), y = A::of(in[1]), z = A::of(in[2]);                  \
  D d;                                                                           \
  asm volatile(PTX " %0, %1, %2, %3;"                                            \
               : "=" LETTER_##D(d.value)                                         \
               : LETTER_##A(x.value), LETTER_##A(y.value), LETTER_##A(z.value)); \
  out[0] = d.bits();
// A product and a sum; without .rn on both, ptxas may contract them.
#define FORM_two_roundings(D, A, RN)                                                \
  const A x = A::of(in[0]), y = A::of(in[1]), z = A::of(in[2]);                     \
  D d;                                                                              \
  asm volatile("{.reg .f32 t;\nmul" RN ".f32 t, %1, %2;\nadd" RN ".f32 %0, t, %3;}" \
               : "=" LETTER_##D(d.value)                                            \
               : LETTER_##A(x.value), LETTER_##A(y.value), LETTER_##A(z.value));    \
  out[0] = d.bits();
// Two cases at a time, in the halves of one register or in two registers; the low half is the first case. The names say
// which registers hold the two sources, then which one holds the two results.
#define PUT_PAIR(low, high) \
  out[0] = low;             \
  out[1] = high;
#define FORM_f32x2_b32(D, A, PTX)                                                                              \
  uint32_t d;                                                                                                  \
  asm volatile(PTX " %0, %2, %1;" : "=r"(d) : LETTER_##A(A::of(in[0]).value), LETTER_##A(A::of(in[1]).value)); \
  PUT_PAIR(d & 0xffff, d >> 16)
#define FORM_f32x2_b16(D, A, PTX)                                                                              \
  unsigned short d;                                                                                            \
  asm volatile(PTX " %0, %2, %1;" : "=h"(d) : LETTER_##A(A::of(in[0]).value), LETTER_##A(A::of(in[1]).value)); \
  PUT_PAIR(d & 0xff, d >> 8)
#define FORM_f32x2_b8(D, A, PTX)                                                  \
  unsigned short d;                                                               \
  asm volatile("{.reg .b8 t;\n" PTX " t, %2, %1;\nmov.b16 %0, {t, 0};}"           \
               : "=h"(d)                                                          \
               : LETTER_##A(A::of(in[0]).value), LETTER_##A(A::of(in[1]).value)); \
  PUT_PAIR(d & 0xf, d >> 4 & 0xf)
#define FORM_b32_b16(D, A, PTX)                                                             \
  unsigned short d;                                                                         \
  asm volatile(PTX " %0, %1;" : "=h"(d) : "r"(static_cast<uint32_t>(in[0] | in[1] << 16))); \
  PUT_PAIR(d & 0xff, d >> 8)
#define FORM_b32_b8(D, A, PTX)                                      \
  unsigned short d;                                                 \
  asm volatile("{.reg .b8 t;\n" PTX " t, %1;\nmov.b16 %0, {t, 0};}" \
               : "=h"(d)                                            \
               : "r"(static_cast<uint32_t>(in[0] | in[1] << 16)));  \
  PUT_PAIR(d & 0xf, d >> 4 & 0xf)
#define FORM_b16_b32(D, A, PTX)                                                                  \
  uint32_t d;                                                                                    \
  asm volatile(PTX " %0, %1;" : "=r"(d) : "h"(static_cast<unsigned short>(in[0] | in[1] << 8))); \
  PUT_PAIR(d & 0xffff, d >> 16)
#define FORM_b8_b32(D, A, PTX)                                          \
  uint32_t d;                                                           \
  asm volatile("{.reg .b8 t, u;\nmov.b16 {t, u}, %1;\n" PTX " %0, t;}"  \
               : "=r"(d)                                                \
               : "h"(static_cast<unsigned short>(in[0] | in[1] << 4))); \
  PUT_PAIR(d & 0xffff, d >> 16)

/// The number of cases that a form takes at a time.
enum CasesOf {
  unary = 1,
  binary = 1,
  ternary = 1,
  two_roundings = 1,
  f32x2_b32 = 2,
  f32x2_b16 = 2,
  f32x2_b8 = 2,
  b32_b16 = 2,
  b32_b8 = 2,
  b16_b32 = 2,
  b8_b32 = 2
};

/// operands: `arity` encodings for each case; arity is 1 for forms that take two cases at a time.
template <class I>
__global__ void run_core(const uint64_t* operands, int arity, uint64_t* results, uint64_t count) {
  for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i * I::cases < count;
       i += uint64_t(gridDim.x) * blockDim.x)
    run_cases<I>(i, operands, arity, results, count);
}

constexpr int core_block = 256;
unsigned core_grid(uint64_t count) { return blocks_for(count, core_block, 65536); }

template <class I>
void launch_core(const uint64_t* operands, int arity, uint64_t* results, uint64_t count) {
  run_core<I><<<core_grid(count), core_block>>>(operands, arity, results, count);
}

#define ROW(id, form, unit, operation, d, a, rounding, ftz, saturate, claim, archs, ptx) \
  struct Core_##id {                                                                     \
    static constexpr uint64_t cases = CasesOf::form;                                     \
    __device__ static void run(const uint64_t* in, uint64_t* out) {                      \
      if constexpr ((arch::archs & this_arch) != 0) {                                    \
        FORM_##form(d, a, ptx)                                                           \
      }                                                                                  \
    }                                                                                    \
  };
MMAFUZZ_CORE(ROW)
#undef ROW

#define ROW(id, form, unit, operation, d, a, rounding, ftz, saturate, claim, archs, ptx) launch_core<Core_##id>,
constexpr LaunchCore launches[] = {MMAFUZZ_CORE(ROW)};
#undef ROW

__global__ void convert_elements(const __grid_constant__ BulkRequest r, const uint32_t* sources, uint32_t* results,
                                 uint8_t* flags, uint64_t count) {
  for (uint64_t i = uint64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += uint64_t(gridDim.x) * blockDim.x) {
    const BulkResult result = convert_one(r, sources[i]);
    results[i] = result.encoding;
    flags[i] = result.flags;
  }
}

}  // namespace

std::span<const LaunchCore> core_launches() { return launches; }

void launch_bulk(const BulkRequest& request, const uint32_t* sources, uint32_t* results, uint8_t* flags,
                 uint64_t count) {
  convert_elements<<<core_grid(count), core_block>>>(request, sources, results, flags, count);
}

}  // namespace mmafuzz
