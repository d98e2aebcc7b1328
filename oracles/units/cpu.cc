// The machine's own silicon as a device: x86 SSE/AVX/FMA scalar instructions under MXCSR's rounding modes and flags,
// F16C, AVX512-BF16 and AMX where CPUID has them. Instructions that the machine lacks are declined with that reason.
#include "oracles/families.h"
#include "core/function_unit.h"
#include "core/unit_name.h"
#include "oracles/models/model_rows.h"
#include "oracles/units/cpu_integer.h"
#include "oracles/units/cpu_tile.h"
#include "oracles/units/mxcsr.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <bit>

namespace mmafuzz {
namespace {

#if defined(__x86_64__)

// One instruction between loading and storing MXCSR, so that no compiler moves it out. AT&T operand order.
#define MMAFUZZ_SSE(type, instruction)                                                                 \
  asm volatile("ldmxcsr %[mode]\n\t" instruction " %[y], %[x]\n\tstmxcsr %[after]\n\tldmxcsr %[saved]" \
               : [x] "+x"(x), [after] "=m"(after)                                                      \
               : [y] "x"(y), [mode] "m"(mode), [saved] "m"(saved))

template <class Float, class Bits>
CpuAnswer run_instruction(ScalarOperation operation, uint32_t mode, const uint64_t* operands) {
  Float x = std::bit_cast<Float>(static_cast<Bits>(operands[0]));
  Float y = std::bit_cast<Float>(static_cast<Bits>(operands[1]));
  Float z = std::bit_cast<Float>(static_cast<Bits>(operands[2]));
  const uint32_t saved = _mm_getcsr();
  uint32_t after = 0;
  constexpr bool single = sizeof(Float) == 4;
  switch (operation) {
    case ScalarOperation::add:
      if constexpr (single) MMAFUZZ_SSE(float, "addss");
      else MMAFUZZ_SSE(double, "addsd");
      break;
    case ScalarOperation::sub:
      if constexpr (single) MMAFUZZ_SSE(float, "subss");
      else MMAFUZZ_SSE(double, "subsd");
      break;
    case ScalarOperation::mul:
      if constexpr (single) MMAFUZZ_SSE(float, "mulss");
      else MMAFUZZ_SSE(double, "mulsd");
      break;
    case ScalarOperation::div:
      if constexpr (single) MMAFUZZ_SSE(float, "divss");
      else MMAFUZZ_SSE(double, "divsd");
      break;
    case ScalarOperation::sqrt:
      y = x;
      if constexpr (single) MMAFUZZ_SSE(float, "sqrtss");
      else MMAFUZZ_SSE(double, "sqrtsd");
      break;
    case ScalarOperation::fma:
      // vfmadd213 z, y, x: x = y * x + z.
      if constexpr (single) {
        asm volatile("ldmxcsr %[mode]\n\tvfmadd213ss %[z], %[y], %[x]\n\tstmxcsr %[after]\n\tldmxcsr %[saved]"
                     : [x] "+x"(x), [after] "=m"(after)
                     : [y] "x"(y), [z] "x"(z), [mode] "m"(mode), [saved] "m"(saved));
      } else {
        asm volatile("ldmxcsr %[mode]\n\tvfmadd213sd %[z], %[y], %[x]\n\tstmxcsr %[after]\n\tldmxcsr %[saved]"
                     : [x] "+x"(x), [after] "=m"(after)
                     : [y] "x"(y), [z] "x"(z), [mode] "m"(mode), [saved] "m"(saved));
      }
      break;
    case ScalarOperation::equal:
      if constexpr (single) MMAFUZZ_SSE(float, "cmpeqss");
      else MMAFUZZ_SSE(double, "cmpeqsd");
      break;
    case ScalarOperation::less:
      if constexpr (single) MMAFUZZ_SSE(float, "cmpltss");
      else MMAFUZZ_SSE(double, "cmpltsd");
      break;
    case ScalarOperation::less_equal:
      if constexpr (single) MMAFUZZ_SSE(float, "cmpless");
      else MMAFUZZ_SSE(double, "cmplesd");
      break;
    case ScalarOperation::unordered:
      if constexpr (single) MMAFUZZ_SSE(float, "cmpunordss");
      else MMAFUZZ_SSE(double, "cmpunordsd");
      break;
    case ScalarOperation::round_to_integral:
    case ScalarOperation::equal_signaling:
    case ScalarOperation::less_quiet:
    case ScalarOperation::less_equal_quiet:  // oracles/units/cpu_integer.cc
    case ScalarOperation::rcp:               // not offered: x86's rcpss is an approximation
    case ScalarOperation::rem: break;
  }
  if (compares(operation)) x = std::bit_cast<Bits>(x) ? 1 : 0;  // a mask of ones
  return {std::bit_cast<Bits>(x), flags_of_mxcsr(after)};
}

#undef MMAFUZZ_SSE

/// A chain of the machine's FMAs from c, as dot products of fp32 or fp64.
template <class Float, class Bits>
uint64_t fma_chain(const DotOperands& in, uint32_t mode) {
  uint64_t accumulator = in.c;
  for (int i = 0; i < in.k; ++i) {
    const uint64_t operands[3] = {in.a[i], in.b[i], accumulator};
    accumulator = run_instruction<Float, Bits>(ScalarOperation::fma, mode, operands).encoding;
  }
  return accumulator;
}

/// A chain of a multiplication and an addition for each product, from c.
template <class Float, class Bits>
uint64_t mul_add_chain(const DotOperands& in, uint32_t mode) {
  uint64_t accumulator = in.c;
  for (int i = 0; i < in.k; ++i) {
    const uint64_t factors[3] = {in.a[i], in.b[i], 0};
    const uint64_t product = run_instruction<Float, Bits>(ScalarOperation::mul, mode, factors).encoding;
    const uint64_t terms[3] = {accumulator, product, 0};
    accumulator = run_instruction<Float, Bits>(ScalarOperation::add, mode, terms).encoding;
  }
  return accumulator;
}

/// A chain of fmul and faddp from c, in x87's registers: what `long double` is on x86-64 (System V ABI, 3.1.2).
template <class Float, class Bits>
uint64_t x87_chain(const DotOperands& in) {
  constexpr uint16_t all_masked_64_bits = 0x037f;  // the x87 control word ([SDM] vol. 1, 8.1.5)
  uint16_t saved = 0;
  asm volatile("fnstcw %[saved]\n\tfldcw %[mode]" : [saved] "=m"(saved) : [mode] "m"(all_masked_64_bits) : "memory");
  const auto read = [](uint64_t encoding) { return std::bit_cast<Float>(static_cast<Bits>(encoding)); };
  long double sum = read(in.c);
  for (int i = 0; i < in.k; ++i) sum += static_cast<long double>(read(in.a[i])) * read(in.b[i]);
  const Float result = static_cast<Float>(sum);
  asm volatile("fldcw %[saved]" : : [saved] "m"(saved), "m"(result));
  return std::bit_cast<Bits>(result);
}

/// dpps of four products at a time, each joined to c by addss.
__attribute__((target("sse4.1"))) uint64_t dpps_chain(const DotOperands& in) {
  const uint32_t saved = _mm_getcsr();
  _mm_setcsr(mxcsr_all_masked);
  uint64_t accumulator = in.c;
  for (int i = 0; i < in.k; i += 4) {
    const auto four = [&](const uint64_t* v) {
      const auto lane = [&](int j) { return i + j < in.k ? static_cast<int>(v[i + j]) : 0; };
      return _mm_castsi128_ps(_mm_set_epi32(lane(3), lane(2), lane(1), lane(0)));
    };
    const __m128 sum = _mm_dp_ps(four(in.a), four(in.b), 0xf1);
    const uint64_t terms[3] = {accumulator, static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(sum))), 0};
    accumulator = run_instruction<float, uint32_t>(ScalarOperation::add, mxcsr_all_masked, terms).encoding;
  }
  _mm_setcsr(saved);
  return accumulator;
}

/// A chain of vfmadd231sh (AVX512-FP16) from c.
__attribute__((target("avx512fp16,avx512vl"))) uint64_t half_fma_chain(const DotOperands& in) {
  // No lambda: it would not have this function's target. No intrinsic: a compiler would choose the operands' places,
  // on which NaNs depend.
  __m128i accumulator = _mm_cvtsi32_si128(static_cast<int>(in.c));
  for (int i = 0; i < in.k; ++i) {
    const __m128i a = _mm_cvtsi32_si128(static_cast<int>(in.a[i])), b = _mm_cvtsi32_si128(static_cast<int>(in.b[i]));
    asm("vfmadd231sh %[b], %[a], %[sum]" : [sum] "+v"(accumulator) : [a] "v"(a), [b] "v"(b));
  }
  return static_cast<uint64_t>(_mm_cvtsi128_si32(accumulator)) & 0xffff;
}

/// Integers of 32 / `Count` bits; an s32 is joined by `Count` products at a time.
template <int Count, class Instruction>
uint64_t integer_dot(const DotOperands& in, const Instruction& instruction) {
  constexpr int width = 32 / Count;
  int sum = static_cast<int>(in.c);
  for (int i = 0; i < in.k; i += Count) {
    const auto together = [&](const uint64_t* v) {
      uint32_t all = 0;
      for (int j = 0; j < Count && i + j < in.k; ++j)
        all |= static_cast<uint32_t>(v[i + j] & ((1u << width) - 1)) << (width * j);
      return static_cast<int>(all);
    };
    sum = instruction(sum, together(in.a), together(in.b));
  }
  return static_cast<uint32_t>(sum);
}

#define MMAFUZZ_VNNI(name, intrinsic)                                                                        \
  __attribute__((target("avx512vnni,avx512vl"))) int name(int sum, int a, int b) {                           \
    return _mm_cvtsi128_si32(intrinsic(_mm_cvtsi32_si128(sum), _mm_cvtsi32_si128(a), _mm_cvtsi32_si128(b))); \
  }
MMAFUZZ_VNNI(vpdpbusd, _mm_dpbusd_epi32)
MMAFUZZ_VNNI(vpdpbusds, _mm_dpbusds_epi32)
MMAFUZZ_VNNI(vpdpwssd, _mm_dpwssd_epi32)
MMAFUZZ_VNNI(vpdpwssds, _mm_dpwssds_epi32)
#undef MMAFUZZ_VNNI

/// The instructions whose names end in s saturate.
uint64_t byte_dot(const DotOperands& in, bool saturate) { return integer_dot<4>(in, saturate ? vpdpbusds : vpdpbusd); }
uint64_t word_dot(const DotOperands& in, bool saturate) { return integer_dot<2>(in, saturate ? vpdpwssds : vpdpwssd); }

/// vcvtps2ph (F16C). The destination rounds by the immediate; flags come from MXCSR.
__attribute__((target("f16c"))) CpuAnswer to_half(const Op& op, uint64_t source) {
  const __m128 x = _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(source)));
  const uint32_t saved = _mm_getcsr();
  const uint32_t mode = mxcsr_for(op);
  uint32_t after = 0;
  __m128i result;
  // The immediate 4 takes the rounding mode from MXCSR.
  asm volatile("ldmxcsr %[mode]\n\tvcvtps2ph $4, %[x], %[r]\n\tstmxcsr %[after]\n\tldmxcsr %[saved]"
               : [r] "=x"(result), [after] "=m"(after)
               : [x] "x"(x), [mode] "m"(mode), [saved] "m"(saved));
  return {static_cast<uint64_t>(_mm_cvtsi128_si32(result)) & 0xffff, flags_of_mxcsr(after)};
}

/// vcvtph2ps (F16C): exact.
__attribute__((target("f16c"))) CpuAnswer from_half(uint64_t source) {
  const __m128i x = _mm_cvtsi32_si128(static_cast<int>(source));
  const uint32_t saved = _mm_getcsr(), mode = mxcsr_all_masked;
  uint32_t after = 0;
  __m128 result;
  asm volatile("ldmxcsr %[mode]\n\tvcvtph2ps %[x], %[r]\n\tstmxcsr %[after]\n\tldmxcsr %[saved]"
               : [r] "=x"(result), [after] "=m"(after)
               : [x] "x"(x), [mode] "m"(mode), [saved] "m"(saved));
  return {static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(result))), flags_of_mxcsr(after)};
}

/// vdpbf16ps on lane 0: pairs of bf16 products into fp32 (Intel SDM: flushes subnormals, ignores MXCSR).
__attribute__((target("avx512bf16,avx512vl"))) uint64_t bf16_dot(const DotOperands& in) {
  __m128 accumulator = _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(in.c)));
  for (int i = 0; i < in.k; i += 2) {
    const auto pair = [&](const uint64_t* v) {
      const uint64_t high = i + 1 < in.k ? v[i + 1] : 0;
      return (__m128bh)_mm_cvtsi32_si128(static_cast<int>(v[i] | high << 16));
    };
    accumulator = _mm_dpbf16_ps(accumulator, pair(in.a), pair(in.b));
  }
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(accumulator)));
}

/// vcvtneps2bf16: nearest even, subnormals flushed, no flags.
__attribute__((target("avx512bf16,avx512vl"))) CpuAnswer to_bf16(uint64_t source) {
  const __m128 x = _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(source)));
  const __m128i r = (__m128i)_mm_cvtneps_pbh(x);
  return {static_cast<uint64_t>(_mm_cvtsi128_si32(r)) & 0xffff, 0};
}

bool has_fma() { return __builtin_cpu_supports("fma"); }
bool has_f16c() { return __builtin_cpu_supports("f16c"); }
bool has_avx512_bf16() { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vl"); }
bool has_avx512_vnni() { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl"); }
bool has_sse4_1() { return __builtin_cpu_supports("sse4.1"); }
/// GCC 12 does not know the name: leaf 7 of CPUID, bit 23 of edx ([SDM] vol. 2, CPUID).
bool has_avx512_fp16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx >> 23 & 1) && __builtin_cpu_supports("avx512vl");
}

#else

bool has_fma() { return false; }
bool has_f16c() { return false; }
bool has_avx512_bf16() { return false; }
bool has_avx512_vnni() { return false; }
bool has_sse4_1() { return false; }
bool has_avx512_fp16() { return false; }

#endif

constexpr const char *byte_dots = "cpu:dpbusd.s32.u8.s8.s32", *word_dots = "cpu:dpwssd.s32.s16.s16.s32";

struct CpuInstruction {
  const char* name;
  const char* summary;
  bool (*present)();
  const char* feature;
  std::vector<Claim> claims;
};

bool always() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

std::vector<CpuInstruction> other_instructions() {
  const std::vector<Claim> is_ieee = {{"equals_model", "ieee"}};
  return {
      {"cpu:add.f32", "addss", always, "x86-64", is_ieee},
      {"cpu:add.f64", "addsd", always, "x86-64", is_ieee},
      {"cpu:sub.f32", "subss", always, "x86-64", is_ieee},
      {"cpu:sub.f64", "subsd", always, "x86-64", is_ieee},
      {"cpu:mul.f32", "mulss", always, "x86-64", is_ieee},
      {"cpu:mul.f64", "mulsd", always, "x86-64", is_ieee},
      {"cpu:div.f32", "divss", always, "x86-64", is_ieee},
      {"cpu:div.f64", "divsd", always, "x86-64", is_ieee},
      {"cpu:sqrt.f32", "sqrtss", always, "x86-64", is_ieee},
      {"cpu:sqrt.f64", "sqrtsd", always, "x86-64", is_ieee},
      {"cpu:fma.f32", "vfmadd213ss; a dot is a chain of it from c", has_fma, "FMA3", is_ieee},
      {"cpu:fma.f64", "vfmadd213sd; a dot is a chain of it from c", has_fma, "FMA3", is_ieee},
      {"cpu:equal.f32", "cmpeqss", always, "x86-64", is_ieee},
      {"cpu:equal.f64", "cmpeqsd", always, "x86-64", is_ieee},
      {"cpu:less.f32", "cmpltss", always, "x86-64", is_ieee},
      {"cpu:less.f64", "cmpltsd", always, "x86-64", is_ieee},
      {"cpu:less_equal.f32", "cmpless", always, "x86-64", is_ieee},
      {"cpu:less_equal.f64", "cmplesd", always, "x86-64", is_ieee},
      {"cpu:unordered.f32", "cmpunordss", always, "x86-64", is_ieee},
      {"cpu:unordered.f64", "cmpunordsd", always, "x86-64", is_ieee},
      {"cpu:cvt.f16.f32", "vcvtps2ph, fp32 to fp16", has_f16c, "F16C", is_ieee},
      {"cpu:cvt.f32.f16", "vcvtph2ps, fp16 to fp32", has_f16c, "F16C", is_ieee},
      {"cpu:cvt.bf16.f32", "vcvtneps2bf16, fp32 to bf16, flushes subnormals", has_avx512_bf16, "AVX512-BF16", {}},
      {"cpu:dpbf16.f32.bf16.bf16.f32",
       "vdpbf16ps, pairs of bf16 products",
       has_avx512_bf16,
       "AVX512-BF16",
       {{"equals_model", "model:x86/dpbf16.k2.f32.bf16.bf16.f32"}, {"swap_operands", ""}, {"sign_symmetry", ""}}},
      {"cpu:fma.f16",
       "vfmadd231sh; a dot is a chain of it from c",
       has_avx512_fp16,
       "AVX512-FP16",
       {{"equals_model", "model:x86/fma.k1.f16.f16.f16.f16"}}},
      {"cpu:mul_add.f32",
       "mulss and addss for each product, from c",
       always,
       "x86-64",
       {{"equals_model", "model:x86/mul_add.k1.f32.f32.f32.f32"}}},
      {"cpu:mul_add.f64",
       "mulsd and addsd for each product, from c",
       always,
       "x86-64",
       {{"equals_model", "model:x86/mul_add.k1.f64.f64.f64.f64"}}},
      {"cpu:x87.f32",
       "fmul and fadd for each product, from c, in 80 bits",
       always,
       "x86-64",
       {{"equals_model", "extended:serial"}}},
      {"cpu:x87.f64",
       "fmul and fadd for each product, from c, in 80 bits",
       always,
       "x86-64",
       {{"equals_model", "extended:serial"}}},
      {"cpu:dpps.f32",
       "dpps, four products of fp32, and addss with c",
       has_sse4_1,
       "SSE4.1",
       {{"equals_model", "model:x86/dpps.k4.f32.f32.f32.f32"}}},
      {byte_dots,
       "vpdpbusd, four products of u8 and s8 at a time; vpdpbusds where the op saturates",
       has_avx512_vnni,
       "AVX512-VNNI",
       {{"equals_model", "integer"}}},
      {word_dots,
       "vpdpwssd, two products of s16 at a time; vpdpwssds where the op saturates",
       has_avx512_vnni,
       "AVX512-VNNI",
       {{"equals_model", "integer"}}},
  };
}

const std::vector<CpuInstruction>& instructions() {
  const std::vector<Claim> is_ieee = {{"equals_model", "ieee"}};
  static const std::vector<CpuInstruction> all = [&] {
    std::vector<CpuInstruction> rows = other_instructions();
    for (const CpuIntegerInstruction& i : cpu_integer_instructions())
      rows.push_back({i.name, i.summary, i.present, i.feature, is_ieee});
    for (const CpuTileInstruction& i : cpu_tile_instructions())
      rows.push_back({i.name, i.summary, i.present, i.feature, {{"equals_model", i.equals}}});
    return rows;
  }();
  return all;
}

const CpuInstruction* find_instruction(std::string_view name) {
  for (const CpuInstruction& i : instructions())
    if (name == i.name) return &i;
  return nullptr;
}

const CpuIntegerInstruction* find_integer_instruction(std::string_view name) {
  for (const CpuIntegerInstruction& i : cpu_integer_instructions())
    if (name == i.name) return &i;
  return nullptr;
}

const CpuTileInstruction* find_tile_instruction(std::string_view name) {
  for (const CpuTileInstruction& i : cpu_tile_instructions())
    if (name == i.name) return &i;
  return nullptr;
}

std::string missing(const CpuInstruction& i) { return std::string("this machine's CPU has no ") + i.feature; }

class CpuFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return find_instruction(name) != nullptr; }

  Role role(const std::string&) const override { return Role::silicon; }

  /// Not x87: no matrix unit computes in 80 bits, and each of its differences would be a fact.
  std::vector<std::string> searched_by_default(const Op&) const override {
    std::vector<std::string> names;
    for (const UnitInfo& info : list())
      if (info.unavailable.empty() && !info.name.starts_with("cpu:x87.")) names.push_back(info.name);
    return names;
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all;
    for (const CpuInstruction& i : instructions())
      all.push_back({i.name, i.summary, "Intel SDM, AMD APM", i.claims, i.present() ? "" : missing(i)});
    return all;
  }

  static bool has_mode(Rounding mode) { return mode != Rounding::nearest_away && mode != Rounding::odd; }

  /// x86 has four rounding modes, detects tininess after rounding and does not saturate. Its conversions of fp16 ignore
  /// flush-to-zero (vcvtps2ph) and denormals-are-zero (vcvtph2ps); those of bf16 always flush and round to nearest
  /// even.
  Attributes honours(const std::string& name, const Op& op) const override {
    if (name == byte_dots || name == word_dots) return {.saturate = true};
    if (const CpuIntegerInstruction* row = find_integer_instruction(name))
      return {
          .rounding = has_mode(op.rounding), .ftz = op.kind == OpKind::scalar, .inexact = row->run_silently != nullptr};
    if (find_tile_instruction(name) || name == "cpu:fma.f16" || name == "cpu:dpps.f32" ||
        name.starts_with("cpu:mul_add") || name.starts_with("cpu:x87."))
      return {};
    const bool of_bf16 = name == "cpu:cvt.bf16.f32" || name == "cpu:dpbf16.f32.bf16.bf16.f32";
    const bool mode = has_mode(op.rounding) && !of_bf16;
    return {.rounding = mode, .ftz = of_bf16 || op.kind == OpKind::scalar};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const CpuInstruction* instruction = find_instruction(name);
    if (!instruction) return invalid("unit " + name + ": a CPU instruction has no parameters");
    if (!instruction->present()) return declined(missing(*instruction));
#if defined(__x86_64__)
    return bind_instruction(*instruction, op);
#else
    return declined("not an x86-64 machine");
#endif
  }

 private:
#if defined(__x86_64__)
  static Result<std::unique_ptr<Unit>> bind_instruction(const CpuInstruction& instruction, const Op& op) {
    const std::string name = instruction.name;
    const auto is = [&](const char* a, const char* d) { return op.a.name() == a && op.d.name() == d; };
    const uint32_t mode = mxcsr_for(op);
    std::vector<Claim> claims = instruction.claims;
    std::unique_ptr<Unit> unit;
    if (const CpuIntegerInstruction* row = find_integer_instruction(name)) {
      Result<std::unique_ptr<Unit>> bound = bind_cpu_integer(*row, op);
      if (!bound) return bound.refusal();
      unit = std::move(*bound);
    } else if (const CpuTileInstruction* tile = find_tile_instruction(name)) {
      Result<std::unique_ptr<Unit>> bound = bind_cpu_tile(*tile, op);
      if (!bound) return bound.refusal();
      unit = std::move(*bound);
    } else if (name == "cpu:cvt.f16.f32") {
      if (op.kind != OpKind::convert || !is("fp32", "fp16")) return declined(name + " converts fp32 to fp16");
      unit = make_scalar_unit([op](const uint64_t* x) { return to_half(op, x[0]); });
    } else if (name == "cpu:cvt.f32.f16") {
      if (op.kind != OpKind::convert || !is("fp16", "fp32")) return declined(name + " converts fp16 to fp32");
      // vcvtph2ps never raises the denormal-operand flag (Intel SDM vol. 2).
      unit = make_scalar_unit<false>([](const uint64_t* x) { return from_half(x[0]); });
    } else if (name == "cpu:cvt.bf16.f32") {
      if (op.kind != OpKind::convert || !is("fp32", "bf16")) return declined(name + " converts fp32 to bf16");
      unit = make_scalar_unit<false>([](const uint64_t* x) { return to_bf16(x[0]); });
    } else if (name == "cpu:dpbf16.f32.bf16.bf16.f32") {
      if (op.kind != OpKind::dot || !is("bf16", "fp32") || op.b.name() != "bf16" || op.c.name() != "fp32" ||
          op.has_scales())
        return declined(name + " takes 'op dot a=bf16 b=bf16 c=fp32 d=fp32'");
      unit = make_dot_unit([](const DotOperands& in) { return bf16_dot(in); });
    } else if (name == byte_dots || name == word_dots) {
      const bool bytes = name == byte_dots;
      if (op.kind != OpKind::dot || !is(bytes ? "u8" : "s16", "s32") || op.b.name() != (bytes ? "s8" : "s16") ||
          op.c.name() != "s32")
        return declined(name + " takes 'op dot " + (bytes ? "a=u8 b=s8" : "a=s16 b=s16") + " c=s32 d=s32'");
      // The instructions clamp after every 32 bits of operands, `integer` once.
      if (op.saturate && op.k > (bytes ? 4 : 2)) claims.clear();
      unit = make_dot_unit([bytes, saturate = op.saturate](const DotOperands& in) {
        return bytes ? byte_dot(in, saturate) : word_dot(in, saturate);
      });
      return named(std::move(unit), name, std::move(claims));
    } else if (name == "cpu:fma.f16" || name == "cpu:dpps.f32" || name.starts_with("cpu:mul_add.") ||
               name.starts_with("cpu:x87.")) {
      const std::string format = name.ends_with("f16") ? "fp16" : name.ends_with("f32") ? "fp32" : "fp64";
      if (op.kind != OpKind::dot || !is(format.c_str(), format.c_str()) || op.b != op.a || op.c != op.a ||
          op.has_scales())
        return declined(name + " takes dots whose formats are all " + format);
      if (name == "cpu:fma.f16") {
        unit = make_dot_unit([](const DotOperands& in) { return half_fma_chain(in); });
      } else if (name == "cpu:dpps.f32") {
        unit = make_dot_unit([](const DotOperands& in) { return dpps_chain(in); });
      } else if (name.starts_with("cpu:x87.")) {
        unit = format == "fp32" ? make_dot_unit([](const DotOperands& in) { return x87_chain<float, uint32_t>(in); })
                                : make_dot_unit([](const DotOperands& in) { return x87_chain<double, uint64_t>(in); });
      } else if (format == "fp32") {
        unit =
            make_dot_unit([](const DotOperands& in) { return mul_add_chain<float, uint32_t>(in, mxcsr_all_masked); });
      } else {
        unit =
            make_dot_unit([](const DotOperands& in) { return mul_add_chain<double, uint64_t>(in, mxcsr_all_masked); });
      }
    } else {
      const bool single = name.ends_with("f32");
      const char* format = single ? "fp32" : "fp64";
      const std::string operation = name.substr(4, name.rfind('.') - 4);
      if (op.kind == OpKind::dot && operation == "fma") {
        if (!is(format, format) || op.b.name() != format || op.c.name() != format || op.has_scales())
          return declined(name + " takes dots whose formats are all " + format);
        claims = {{ "equals_model", "ieee:fma" }};
        if (op.rounding == Rounding::nearest_even)
          claims.push_back(
              {"equals_model", single ? "model:x86/fma.k1.f32.f32.f32.f32" : "model:x86/fma.k1.f64.f64.f64.f64"});
        if (single) {
          unit = make_dot_unit([mode](const DotOperands& in) { return fma_chain<float, uint32_t>(in, mode); });
        } else {
          unit = make_dot_unit([mode](const DotOperands& in) { return fma_chain<double, uint64_t>(in, mode); });
        }
      } else {
        if (op.kind != OpKind::scalar || operation != name_of(op.scalar) || !is(format, format))
          return declined(name + " takes 'op scalar " + operation + " format=" + format + "'");
        const ScalarOperation scalar = op.scalar;
        if (single) {
          unit = make_scalar_unit([=](const uint64_t* x) { return run_instruction<float, uint32_t>(scalar, mode, x); });
        } else {
          unit =
              make_scalar_unit([=](const uint64_t* x) { return run_instruction<double, uint64_t>(scalar, mode, x); });
        }
      }
    }
    // x86 hands NaN payloads on, where other models than rows that say which give one canonical NaN.
    if (op.nan == NanPolicy::exact && !op.d.fields().integer)
      std::erase_if(claims, [](const Claim& claim) {
        const UnitName model(claim.detail);
        const ModelRow* row = claim.property == "equals_model" ? find_model_row(model.path) : nullptr;
        return !row || row->model.nan_from == NanFrom::constant;
      });
    return named(std::move(unit), name, std::move(claims));
  }
#endif
};

}  // namespace

std::unique_ptr<Family> make_cpu_family() { return std::make_unique<CpuFamily>(); }

}  // namespace mmafuzz
