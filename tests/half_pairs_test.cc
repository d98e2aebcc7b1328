// Every pair of fp16 operands of add, mul and div, and every fp16 of sqrt: the unit `ieee` against the host's fp64
// arithmetic, whose results are rounded to odd (Boldo and Melquiond 2008) and then once more by F16C in each of MXCSR's
// modes, which also raises the flags. All 2^32 pairs at night, every 997th row by default.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <thread>

#include "arithmetic/ieee_operations.h"
#include "core/op.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/lanes/host_float.h"
#include "tests/case_count.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace mmafuzz {
namespace {

struct Half {
  uint16_t encoding;
  double value;
  bool nan, signaling, subnormal;
};

std::vector<Half> all_halves() {
  std::vector<Half> all;
  for (uint32_t e = 0; e < 65536; ++e) {
    const int field = e >> 10 & 31, fraction = e & 1023;
    double v = field == 31 ? (fraction ? NAN : INFINITY)
                           : std::ldexp(field ? 1024 + fraction : fraction, (field ? field : 1) - 25);
    if (e & 0x8000) v = -v;
    all.push_back({static_cast<uint16_t>(e), v, field == 31 && fraction, field == 31 && fraction && fraction < 512,
                   field == 0 && fraction});
  }
  return all;
}

/// fp64 to fp32, truncated, the last bit set where anything was lost: rounds to fp16 as the fp64 number does.
float to_odd(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  if (x == 0 || std::isinf(x)) return static_cast<float>(x);
  const auto exponent =
      static_cast<uint32_t>((bits >> 52 & 0x7ff) - 1023 + 127);  // fp16 results are far from fp32's ends
  const auto fraction = static_cast<uint32_t>(bits >> 29 & 0x7fffff) | ((bits & 0x1fffffff) != 0);
  return std::bit_cast<float>(static_cast<uint32_t>(bits >> 63) << 31 | exponent << 23 | fraction);
}

/// vcvtps2ph in the mode of `mxcsr`; its flags overflow, underflow, inexact in `flags`.
__attribute__((target("f16c"))) uint16_t narrowed(float x, uint32_t mxcsr, uint8_t& flags) {
  const uint32_t saved = _mm_getcsr();
  uint32_t after = 0;
  __m128i result;
  asm volatile("ldmxcsr %[mode]\n\tvcvtps2ph $4, %[x], %[r]\n\tstmxcsr %[after]\n\tldmxcsr %[saved]"
               : [r] "=x"(result), [after] "=m"(after)
               : [x] "x"(_mm_set_ss(x)), [mode] "m"(mxcsr), [saved] "m"(saved));
  flags = (after & 8 ? flag::overflow : 0) | (after & 16 ? flag::underflow : 0) | (after & 32 ? flag::inexact : 0);
  return static_cast<uint16_t>(_mm_cvtsi128_si32(result));
}

struct Mode {
  Rounding rounding;
  uint32_t mxcsr;
};
constexpr Mode modes[] = {{Rounding::nearest_even, 0x1f80},
                          {Rounding::down, 0x3f80},
                          {Rounding::up, 0x5f80},
                          {Rounding::toward_zero, 0x7f80}};

struct Expected {
  uint16_t encoding;
  uint8_t flags;
};

/// The host's answer; `value` is its fp64 result, which holds sums and products exactly and quotients to 53 bits, of
/// which two numbers of 11 bits need at most 36 to be told from their neighbours.
Expected rounded_on_host(const Half& x, const Half& y, ScalarOperation operation, double value, const Mode& mode) {
  const bool any_nan = x.nan || y.nan;
  uint8_t flags = x.signaling || y.signaling ? flag::invalid : 0;
  if (std::isnan(value)) return {0x7e00, static_cast<uint8_t>(flags | (any_nan ? 0 : flag::invalid))};
  if (operation == ScalarOperation::div && y.value == 0 && std::isfinite(x.value)) flags |= flag::divide_by_zero;
  const bool subnormal = (x.subnormal || y.subnormal) && !flags;
  if (value == 0 && operation == ScalarOperation::add &&
      (x.value != 0 || std::signbit(x.value) != std::signbit(y.value)))
    value = mode.rounding == Rounding::down ? -0.0 : 0.0;  // the host added to nearest
  uint8_t raised;
  const uint16_t encoding = narrowed(to_odd(value), mode.mxcsr, raised);
  return {encoding, static_cast<uint8_t>(flags | raised | (subnormal ? flag::denormal_operand : 0))};
}

class HalfPairs : public testing::TestWithParam<ScalarOperation> {};
INSTANTIATE_TEST_SUITE_P(All, HalfPairs,
                         testing::Values(ScalarOperation::add, ScalarOperation::mul, ScalarOperation::div),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(HalfPairs, EqualTheHostInValueAndFlags) {
  if (!__builtin_cpu_supports("f16c") || !default_float_environment()) GTEST_SKIP() << "needs F16C";
  const std::vector<Half> halves = all_halves();
  std::vector<Number> numbers;
  for (const Half& h : halves) numbers.push_back(decode(fp16_fields, h.encoding));
  const size_t step = case_count(997, 1), rows = (65536 + step - 1) / step;
  for (const Mode& mode : modes) {
    RoundingRule rule;
    rule.rounding = mode.rounding;
    std::atomic<size_t> next = 0;
    std::atomic<uint64_t> wrong = 0, compared = 0, a_wrong_pair = 0;
    const auto work = [&] {
      for (size_t row; (row = next++) < rows;) {
        const Half& x = halves[row * step];
        for (size_t j = 0; j < 65536; ++j) {
          const Half& y = halves[j];
          Rounded ours;
          double value;
          switch (GetParam()) {
            case ScalarOperation::add:
              ours = ieee_add(fp16_fields, numbers[x.encoding], numbers[j], rule);
              value = x.value + y.value;
              break;
            case ScalarOperation::mul:
              ours = ieee_multiply(fp16_fields, numbers[x.encoding], numbers[j], rule);
              value = x.value * y.value;
              break;
            default:
              ours = ieee_divide(fp16_fields, numbers[x.encoding], numbers[j], rule);
              value = x.value / y.value;
              break;
          }
          const Expected theirs = rounded_on_host(x, y, GetParam(), value, mode);
          if (ours.encoding == theirs.encoding && ours.flags == theirs.flags) continue;
          ++wrong;
          a_wrong_pair = uint64_t{x.encoding} << 16 | y.encoding;
        }
        compared += 65536;
      }
    };
    std::vector<std::thread> others;
    for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
    EXPECT_EQ(wrong, 0u) << name_of(mode.rounding) << ", one of them " << std::hex << a_wrong_pair;
    EXPECT_EQ(compared, rows * 65536);
  }
}

}  // namespace
}  // namespace mmafuzz
#endif

namespace mmafuzz {
namespace {

TEST(HalfRoots, EveryOneEqualsMpfrInEveryMode) {
  Op op;
  op.kind = OpKind::scalar;
  op.scalar = ScalarOperation::sqrt;
  op.a = op.d = format("fp16");
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down,
                                  Rounding::nearest_away, Rounding::odd}) {
    op.rounding = rounding;
    for (uint64_t e = 0; e < 65536; ++e) {
      const Rounded ours = ieee_square_root(fp16_fields, decode(fp16_fields, e), op.rounding_rule());
      const exact::MpfrRounded theirs = exact::mpfr_scalar(op, &e);
      ASSERT_EQ(ours.encoding, theirs.encoding) << std::hex << e;
      ASSERT_EQ(int(ours.flags), int(theirs.flags)) << std::hex << e;
    }
  }
}

}  // namespace
}  // namespace mmafuzz
