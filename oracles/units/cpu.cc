// The family `cpu:`, this machine's CPU as a device: x86's scalar instructions of SSE, AVX and FMA under MXCSR's
// rounding modes and flags, and F16C, AVX512 and AMX where CPUID reports them. Instructions that the machine lacks are
// declined with that reason.
#include "core/function_unit.h"
#include "core/unit_name.h"
#include "oracles/families.h"
#include "oracles/models/model_rows.h"
#include "oracles/units/cpu_instructions.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>

namespace mmafuzz {
namespace {

#if defined(__x86_64__)

// Instructions on fp32 and on fp64: x is the first operand and the destination. `result`: the answer, made of x.
#define MMAFUZZ_SSE(name, instruction, result, Float, Bits)                          \
  CpuAnswer name(uint32_t mode, const uint64_t* operands) {                          \
    Float x = std::bit_cast<Float>(static_cast<Bits>(operands[0]));                  \
    const Float y = std::bit_cast<Float>(static_cast<Bits>(operands[1]));            \
    const Float z = std::bit_cast<Float>(static_cast<Bits>(operands[2]));            \
    MMAFUZZ_UNDER_MXCSR(instruction, [x] "+x"(x), [y] "x"(y), [z] "x"(z));           \
    return {std::bit_cast<Bits>(static_cast<Float>(result)), flags_of_mxcsr(after)}; \
  }
#define MMAFUZZ_BOTH(stem, operands, result)                           \
  MMAFUZZ_SSE(stem##ss, #stem "ss " operands, result, float, uint32_t) \
  MMAFUZZ_SSE(stem##sd, #stem "sd " operands, result, double, uint64_t)

MMAFUZZ_BOTH(add, "%[y], %[x]", x)
MMAFUZZ_BOTH(sub, "%[y], %[x]", x)
MMAFUZZ_BOTH(mul, "%[y], %[x]", x)
MMAFUZZ_BOTH(div, "%[y], %[x]", x)
MMAFUZZ_BOTH(sqrt, "%[x], %[x]", x)
MMAFUZZ_BOTH(vfmadd213, "%[z], %[y], %[x]", x)  // x = y * x + z
// Comparisons give all ones for true and all zeros for false.
MMAFUZZ_BOTH(cmpeq, "%[y], %[x]", std::signbit(x))
MMAFUZZ_BOTH(cmplt, "%[y], %[x]", std::signbit(x))
MMAFUZZ_BOTH(cmple, "%[y], %[x]", std::signbit(x))
MMAFUZZ_BOTH(cmpunord, "%[y], %[x]", std::signbit(x))

#undef MMAFUZZ_BOTH
#undef MMAFUZZ_SSE

/// A chain of the machine's FMAs from c, as dot products of fp32 or fp64.
uint64_t fma_chain(const DotOperands& in, CpuFunction fma, uint32_t mode) {
  uint64_t accumulator = in.c;
  for (int i = 0; i < in.k; ++i) {
    const uint64_t operands[3] = {in.a[i], in.b[i], accumulator};
    accumulator = fma(mode, operands).encoding;
  }
  return accumulator;
}

/// A chain of a multiplication and an addition for each product, from c.
template <CpuFunction multiply, CpuFunction add>
uint64_t mul_add_chain(const DotOperands& in) {
  uint64_t accumulator = in.c;
  for (int i = 0; i < in.k; ++i) {
    const uint64_t factors[3] = {in.a[i], in.b[i], 0};
    const uint64_t product = multiply(mxcsr_all_masked, factors).encoding;
    const uint64_t terms[3] = {accumulator, product, 0};
    accumulator = add(mxcsr_all_masked, terms).encoding;
  }
  return accumulator;
}

/// A chain of fmul and faddp from c in x87's registers, which `long double` stands for on x86-64 (System V ABI, 3.1.2).
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

/// dpps sums four products at a time, and addss adds each such sum to c.
__attribute__((target("sse4.1"))) uint64_t dpps_chain(const DotOperands& in) {
  const uint32_t saved = _mm_getcsr();
  _mm_setcsr(mxcsr_all_masked);
  uint64_t accumulator = in.c;
  for (int i = 0; i < in.k; i += 4) {
    const auto four = [&](const uint64_t* v) {
      const auto lane = [&](int j) { return i + j < in.k ? static_cast<int>(v[i + j]) : 0; };
      return _mm_castsi128_ps(_mm_set_epi32(lane(3), lane(2), lane(1), lane(0)));
    };
    const __m128 sum = _mm_dp_ps(four(in.a), four(in.b), 0xf1);  // all four products, the sum to lane 0
    const uint64_t terms[3] = {accumulator, static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_castps_si128(sum))), 0};
    accumulator = addss(mxcsr_all_masked, terms).encoding;
  }
  _mm_setcsr(saved);
  return accumulator;
}

/// A chain of vfmadd231sh (AVX512-FP16) from c.
__attribute__((target("avx512fp16,avx512vl"))) uint64_t half_fma_chain(const DotOperands& in) {
  // No lambda: it would not have this function's target. No intrinsic: a compiler would choose the operands' positions,
  // on which NaNs depend.
  __m128i accumulator = _mm_cvtsi32_si128(static_cast<int>(in.c));
  for (int i = 0; i < in.k; ++i) {
    const __m128i a = _mm_cvtsi32_si128(static_cast<int>(in.a[i])), b = _mm_cvtsi32_si128(static_cast<int>(in.b[i]));
    asm("vfmadd231sh %[b], %[a], %[sum]" : [sum] "+v"(accumulator) : [a] "v"(a), [b] "v"(b));
  }
  return static_cast<uint64_t>(_mm_cvtsi128_si32(accumulator)) & 0xffff;
}

/// A dot of integers of 32 / `Count` bits: each instruction adds `Count` products to a 32-bit sum.
template <int Count, class Instruction>
uint64_t integer_dot(const DotOperands& in, const Instruction& instruction) {
  constexpr int width = 32 / Count;
  int sum = static_cast<int>(in.c);
  for (int i = 0; i < in.k; i += Count) {
    const auto packed = [&](const uint64_t* v) {
      uint32_t word = 0;
      for (int j = 0; j < Count && i + j < in.k; ++j)
        word |= static_cast<uint32_t>(v[i + j] & low_mask(width)) << (width * j);
      return static_cast<int>(word);
    };
    sum = instruction(sum, packed(in.a), packed(in.b));
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

/// Dots of u8 with s8 and of s16 by the instructions that saturate, whose names end in s, or by those that wrap.
uint64_t byte_dot(const DotOperands& in, bool saturate) { return integer_dot<4>(in, saturate ? vpdpbusds : vpdpbusd); }
uint64_t word_dot(const DotOperands& in, bool saturate) { return integer_dot<2>(in, saturate ? vpdpwssds : vpdpwssd); }

/// vcvtps2ph (F16C) under the op's rounding mode; flags come from MXCSR.
__attribute__((target("f16c"))) CpuAnswer to_half(const Op& op, uint64_t source) {
  const __m128 x = _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(source)));
  const uint32_t mode = mxcsr_for(op);
  __m128i result;
  // The immediate 4 takes the rounding mode from MXCSR.
  MMAFUZZ_UNDER_MXCSR("vcvtps2ph $4, %[x], %[r]", [r] "=x"(result), [x] "x"(x));
  return {static_cast<uint64_t>(_mm_cvtsi128_si32(result)) & 0xffff, flags_of_mxcsr(after)};
}

/// vcvtph2ps (F16C): exact.
__attribute__((target("f16c"))) CpuAnswer from_half(uint64_t source) {
  const __m128i x = _mm_cvtsi32_si128(static_cast<int>(source));
  const uint32_t mode = mxcsr_all_masked;
  __m128 result;
  MMAFUZZ_UNDER_MXCSR("vcvtph2ps %[x], %[r]", [r] "=x"(result), [x] "x"(x));
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

/// GCC 12 does not know the name: leaf 7 of CPUID, bit 23 of edx ([SDM] vol. 2, CPUID).
bool has_avx512_fp16() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx >> 23 & 1) && MMAFUZZ_SUPPORTS("avx512vl");
}

#else
bool has_avx512_fp16() { return false; }
#endif

bool has_fma() { return MMAFUZZ_SUPPORTS("fma"); }
bool has_f16c() { return MMAFUZZ_SUPPORTS("f16c"); }
bool has_avx512_bf16() { return MMAFUZZ_SUPPORTS("avx512bf16") && MMAFUZZ_SUPPORTS("avx512vl"); }
bool has_avx512_vnni() { return MMAFUZZ_SUPPORTS("avx512vnni") && MMAFUZZ_SUPPORTS("avx512vl"); }

/// No rcp: x86's rcpss is an approximation.
const std::vector<CpuScalarInstruction>& sse_instructions() {
#define MMAFUZZ_BOTH(operation, stem, more, present, feature)                                       \
  {"cpu:" operation ".f32", #stem "ss" more, present, feature, "scalar " operation " format=fp32",  \
   MMAFUZZ_RUN(stem##ss)},                                                                          \
  {                                                                                                 \
    "cpu:" operation ".f64", #stem "sd" more, present, feature, "scalar " operation " format=fp64", \
        MMAFUZZ_RUN(stem##sd)                                                                       \
  }
  static const std::vector<CpuScalarInstruction> all = {
      MMAFUZZ_BOTH("add", add, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("sub", sub, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("mul", mul, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("div", div, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("sqrt", sqrt, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("fma", vfmadd213, "; a dot is a chain of it from c", has_fma, "FMA3"),
      MMAFUZZ_BOTH("equal", cmpeq, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("less", cmplt, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("less_equal", cmple, "", has_sse2, "x86-64"),
      MMAFUZZ_BOTH("unordered", cmpunord, "", has_sse2, "x86-64"),
  };
#undef MMAFUZZ_BOTH
  return all;
}

constexpr const char* bf16_pairs = "cpu:dpbf16.f32.bf16.bf16.f32";

const std::vector<CpuDotInstruction>& dot_instructions() {
  static const std::vector<CpuDotInstruction> all = {
      {bf16_pairs, "vdpbf16ps, pairs of bf16 products", has_avx512_bf16, "AVX512-BF16", "bf16", "bf16", "fp32",
       "model:x86/dpbf16.k2.f32.bf16.bf16.f32", MMAFUZZ_RUN(bf16_dot)},
      {"cpu:fma.f16", "vfmadd231sh; a dot is a chain of it from c", has_avx512_fp16, "AVX512-FP16", "fp16", "fp16",
       "fp16", "model:x86/fma.k1.f16.f16.f16.f16", MMAFUZZ_RUN(half_fma_chain)},
      {"cpu:mul_add.f32", "mulss and addss for each product, from c", has_sse2, "x86-64", "fp32", "fp32", "fp32",
       "model:x86/mul_add.k1.f32.f32.f32.f32", MMAFUZZ_RUN(mul_add_chain<mulss, addss>)},
      {"cpu:mul_add.f64", "mulsd and addsd for each product, from c", has_sse2, "x86-64", "fp64", "fp64", "fp64",
       "model:x86/mul_add.k1.f64.f64.f64.f64", MMAFUZZ_RUN(mul_add_chain<mulsd, addsd>)},
      {"cpu:x87.f32", "fmul and fadd for each product, from c, in 80 bits", has_sse2, "x86-64", "fp32", "fp32", "fp32",
       "extended:serial", MMAFUZZ_RUN(x87_chain<float, uint32_t>)},
      {"cpu:x87.f64", "fmul and fadd for each product, from c, in 80 bits", has_sse2, "x86-64", "fp64", "fp64", "fp64",
       "extended:serial", MMAFUZZ_RUN(x87_chain<double, uint64_t>)},
      {"cpu:dpps.f32", "dpps, four products of fp32, and addss with c", has_sse4_1, "SSE4.1", "fp32", "fp32", "fp32",
       "model:x86/dpps.k4.f32.f32.f32.f32", MMAFUZZ_RUN(dpps_chain)},
  };
  return all;
}

constexpr const char *byte_dots = "cpu:dpbusd.s32.u8.s8.s32", *word_dots = "cpu:dpwssd.s32.s16.s16.s32";

struct CpuInstruction {
  const char* name;
  const char* summary;
  bool (*present)();    ///< whether this CPU has the instruction
  const char* feature;  ///< CPU feature that it needs, for messages
  std::vector<Claim> claims;
  const CpuScalarInstruction* scalar = nullptr;  ///< nullptr: none
  const CpuDotInstruction* dot = nullptr;        ///< nullptr: none
};

std::vector<CpuInstruction> make_instructions() {
  const std::vector<Claim> is_ieee = {{"equals_model", "ieee"}}, is_integer = {{"equals_model", "integer"}};
  std::vector<CpuInstruction> rows;
  const auto add_scalars = [&](const std::vector<CpuScalarInstruction>& scalars) {
    for (const CpuScalarInstruction& i : scalars)
      rows.push_back({i.name, i.summary, i.present, i.feature, is_ieee, &i});
  };
  const auto add_dots = [&](const std::vector<CpuDotInstruction>& dots) {
    for (const CpuDotInstruction& i : dots)
      rows.push_back({i.name, i.summary, i.present, i.feature, {{"equals_model", i.equals}}, nullptr, &i});
  };
  add_scalars(sse_instructions());
  rows.push_back({"cpu:cvt.f16.f32", "vcvtps2ph, fp32 to fp16", has_f16c, "F16C", is_ieee});
  rows.push_back({"cpu:cvt.f32.f16", "vcvtph2ps, fp16 to fp32", has_f16c, "F16C", is_ieee});
  rows.push_back(
      {"cpu:cvt.bf16.f32", "vcvtneps2bf16, fp32 to bf16, flushes subnormals", has_avx512_bf16, "AVX512-BF16", {}});
  add_dots(dot_instructions());
  rows.push_back({byte_dots, "vpdpbusd, four products of u8 and s8 at a time; vpdpbusds where the op saturates",
                  has_avx512_vnni, "AVX512-VNNI", is_integer});
  rows.push_back({word_dots, "vpdpwssd, two products of s16 at a time; vpdpwssds where the op saturates",
                  has_avx512_vnni, "AVX512-VNNI", is_integer});
  add_scalars(cpu_integer_instructions());
  add_dots(cpu_tile_instructions());
  for (CpuInstruction& row : rows)
    if (row.name == std::string_view(bf16_pairs))
      row.claims.insert(row.claims.end(), {{"swap_operands", ""}, {"sign_symmetry", ""}});
  return rows;
}

const std::vector<CpuInstruction>& instructions() {
  static const std::vector<CpuInstruction> all = make_instructions();
  return all;
}

std::string missing(const CpuInstruction& i) { return std::string("this machine's CPU has no ") + i.feature; }

class CpuFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return entry_named(instructions(), name) != nullptr; }

  Role role(const std::string&) const override { return Role::silicon; }

  /// All that this CPU has, except x87: no matrix unit computes in 80 bits, and each difference from x87 would be a
  /// fact.
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
    const CpuInstruction* row = entry_named(instructions(), name);
    if (name == byte_dots || name == word_dots) return {.saturate = true};
    if (name == bf16_pairs || name == "cpu:cvt.bf16.f32") return {.ftz = true};
    if (row->dot) return {};
    return {.rounding = has_mode(op.rounding),
            .ftz = op.kind == OpKind::scalar,
            .inexact = row->scalar && row->scalar->run_silently};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    const CpuInstruction* instruction = entry_named(instructions(), name);
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
    std::vector<Claim> claims = instruction.claims;
    Result<std::unique_ptr<Unit>> unit = declined("");
    if (instruction.dot) unit = bind_dot(*instruction.dot, op);
    else if (op.kind == OpKind::dot && name.starts_with("cpu:fma.")) unit = bind_fma(*instruction.scalar, op, claims);
    else if (instruction.scalar) unit = bind_scalar(*instruction.scalar, op);
    else if (name.starts_with("cpu:cvt.")) unit = bind_narrow(name, op);
    else unit = bind_integers(name, op, claims);
    if (!unit) return unit;
    // x86 hands on the NaN of an operand. Under nan=exact only claims to equal a row that does so, too, can hold: other
    // units return one canonical NaN.
    if (op.nan == NanPolicy::exact && !op.d.fields().integer)
      std::erase_if(claims, [](const Claim& claim) {
        const UnitName model(claim.detail);
        const ModelRow* row = claim.property == "equals_model" ? find_model_row(model.path) : nullptr;
        return !row || row->model.nan_from == NanFrom::constant;
      });
    return named(std::move(*unit), name, std::move(claims));
  }

  static bool takes_dots_of(const Op& op, const std::string& a, const std::string& b, const std::string& c) {
    return op.kind == OpKind::dot && op.a.name() == a && op.b.name() == b && op.c.name() == c && op.d == op.c &&
           !op.has_scales();
  }

  static Result<std::unique_ptr<Unit>> bind_dot(const CpuDotInstruction& row, const Op& op) {
    const std::string a = row.a, b = row.b, c = row.c;
    if (takes_dots_of(op, a, b, c)) return make_dot_unit([run = row.run](const DotOperands& in) { return run(in); });
    const std::string takes = a == b && b == c ? "dots whose formats are all " + a
                                               : "'op dot a=" + a + " b=" + b + " c=" + c + " d=" + c + "'";
    return declined(std::string(row.name) + " takes " + takes);
  }

  static Result<std::unique_ptr<Unit>> bind_fma(const CpuScalarInstruction& row, const Op& op,
                                                std::vector<Claim>& claims) {
    const std::string_view name = row.name;
    const bool is_fp32 = name.ends_with("f32");
    const char* format = is_fp32 ? "fp32" : "fp64";
    if (!takes_dots_of(op, format, format, format))
      return declined(std::string(name) + " takes dots whose formats are all " + format);
    claims = {{ "equals_model", "ieee:fma" }};
    if (op.rounding == Rounding::nearest_even)
      claims.push_back(
          {"equals_model", is_fp32 ? "model:x86/fma.k1.f32.f32.f32.f32" : "model:x86/fma.k1.f64.f64.f64.f64"});
    return make_dot_unit(
        [run = row.run, mode = mxcsr_for(op)](const DotOperands& in) { return fma_chain(in, run, mode); });
  }

  static Result<std::unique_ptr<Unit>> bind_scalar(const CpuScalarInstruction& row, const Op& op) {
    const std::string taken = std::string("op ") + row.op;
    if (!(to_text(op) + " ").starts_with(taken + " "))
      return declined(std::string(row.name) + " takes '" + taken + "'");
    if (row.truncates && op.rounding != Rounding::toward_zero)
      return declined(std::string(row.name) + " takes '" + taken + " round=toward_zero' alone");
    const CpuFunction run = op.signals_inexact ? row.run : row.run_silently;
    return make_scalar_unit([run, mode = mxcsr_for(op)](const uint64_t* x) { return run(mode, x); });
  }

  /// Conversions between fp32 and a narrow format.
  static Result<std::unique_ptr<Unit>> bind_narrow(const std::string& name, const Op& op) {
    const std::string source = name == "cpu:cvt.f32.f16" ? "fp16" : "fp32";
    const std::string target = name == "cpu:cvt.f32.f16" ? "fp32" : name == "cpu:cvt.f16.f32" ? "fp16" : "bf16";
    if (op.kind != OpKind::convert || op.a.name() != source || op.d.name() != target)
      return declined(name + " converts " + source + " to " + target);
    if (target == "fp16") return make_scalar_unit([op](const uint64_t* x) { return to_half(op, x[0]); });
    if (target == "bf16") return make_scalar_unit<false>([](const uint64_t* x) { return to_bf16(x[0]); });
    // vcvtph2ps never raises the denormal-operand flag (Intel SDM vol. 2).
    return make_scalar_unit<false>([](const uint64_t* x) { return from_half(x[0]); });
  }

  static Result<std::unique_ptr<Unit>> bind_integers(const std::string& name, const Op& op,
                                                     std::vector<Claim>& claims) {
    const bool of_bytes = name == byte_dots;
    if (!takes_dots_of(op, of_bytes ? "u8" : "s16", of_bytes ? "s8" : "s16", "s32"))
      return declined(name + " takes 'op dot " + (of_bytes ? "a=u8 b=s8" : "a=s16 b=s16") + " c=s32 d=s32'");
    // The instructions clamp after every 32 bits of operands, `integer` once at the end.
    if (op.saturate && op.k > (of_bytes ? 4 : 2)) claims.clear();
    return make_dot_unit([of_bytes, saturate = op.saturate](const DotOperands& in) {
      return of_bytes ? byte_dot(in, saturate) : word_dot(in, saturate);
    });
  }
#endif
};

}  // namespace

std::unique_ptr<Family> make_cpu_family() { return std::make_unique<CpuFamily>(); }

}  // namespace mmafuzz
