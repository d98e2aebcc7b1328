// The bulk codec against the rounding that every other conversion takes (round.h): every format, mode and switch, value
// and flags, in vectors and one by one; and stochastic rounding against its definition, counted over all random values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <thread>

#include "oracles/convert/bulk_convert_simd.h"
#include "search/structured_generator.h"
#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

constexpr Rounding modes[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up,        Rounding::down,
                              Rounding::nearest_away, Rounding::odd,         Rounding::stochastic};

std::vector<std::string> bulk_formats() {
  std::vector<std::string> names;
  for (const std::string& name : format_names())
    if (has_bulk_plan(format(name).fields())) names.push_back(name);
  for (const char* more :
       {"cfloat8_1_4_3:7", "cfloat8_1_4_3:63", "cfloat8_1_5_2:31?denormal=gradual", "shp:63",
        "shp:15?denormal=gradual,zero=positive",
        "cfloat8_1_4_3:7?hole=tie_down,overflow=before,underflow=tiny,inexact=raised",
        "cfloat8_1_5_2:15?clamp=positive,nan=signed,zero=positive,infinity=invalid",
        "shp:15?stochastic_hole=nearest,infinity=invalid", "uhp?negative=zero,flush=before",
        "uhp?tiny_negative=flushed", "uhp?tiny_negative=flushed,negative=zero,flush=before,inexact=raised",
        "uhp?tiny_negative=flushed,negative=absolute",
        "uhp?negative=absolute,invalid=signaling_nan,overflow=before,conversions=silent"})
    names.push_back(more);
  return names;
}

/// fp32 sources near every corner of the destination: the encodings around each of its numbers, structured ones, and
/// noise.
std::vector<uint32_t> sources_for(const Format& to) {
  std::vector<uint32_t> sources;
  CounterRng rng(3, 0);
  const uint64_t codes = uint64_t{1} << to.fields().width;
  for (int i = 0; i < 400; ++i) {
    const uint64_t code = to.fields().width <= 8 ? uint64_t(i) % codes : rng.next() & to.fields().container_mask();
    const auto near = static_cast<uint32_t>(convert_number(fp32_fields, decode(to.fields(), code), {}).encoding);
    const uint32_t half_step = 1u << (22 - to.fields().fraction_bits);
    for (const uint32_t at : {near, near + half_step, near + half_step / 2, near + 2 * half_step})
      for (uint32_t d = 0; d < 5; ++d) sources.push_back(at + d - 2);
  }
  Op op;
  op.kind = OpKind::convert;
  op.a = format("fp32");
  op.d = to;
  Batch batch;
  StructuredGenerator(op, 7).fill(0, case_count(4000, 400000), batch);
  for (size_t i = 0; i < batch.size(); ++i) sources.push_back(static_cast<uint32_t>(batch.inputs()[0].get(i)));
  for (int i = 0; i < 1000; ++i) sources.push_back(static_cast<uint32_t>(rng.next()));
  for (uint32_t edge :
       {0u, 1u, 0x007fffffu, 0x00800000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fbfffffu, 0x7fc00000u, 0x7fffffffu})
    for (const uint32_t sign : {0u, 0x80000000u}) sources.push_back(edge | sign);
  return sources;
}

class BulkTo : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Formats, BulkTo, testing::ValuesIn(bulk_formats()), test_name);

TEST_P(BulkTo, EqualsTheSlowRoundingInVectorsAndOneByOne) {
  const Format to = format(GetParam());
  const std::vector<uint32_t> sources = sources_for(to);
  std::vector<uint16_t> upper(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) upper[i] = static_cast<uint16_t>(sources[i] >> 16);
  for (const Rounding mode : modes)
    for (const Tininess tininess : {Tininess::after, Tininess::before})
      for (const Overflow overflow : {Overflow::by_rounding, Overflow::saturate}) {
        RoundingRule rule{mode, tininess, overflow};
        rule.random_bits = tininess == Tininess::after ? 24 : 31;
        rule.threshold = overflow == Overflow::saturate ? Threshold::nearest
                         : tininess == Tininess::after  ? Threshold::floor
                                                        : Threshold::ceiling;
        for (const DrawBy draw_by : {DrawBy::position, DrawBy::source}) {
          if (mode != Rounding::stochastic && draw_by == DrawBy::source) continue;
          const BulkConversion conversion(to.fields(), rule, 99, draw_by);
          const auto bytes = static_cast<size_t>(conversion.result_bytes());
          std::vector<uint8_t> results(sources.size() * 4), plain(sources.size() * 4), flags(sources.size()),
              of_upper(sources.size() * 4), upper_flags(sources.size());
          const size_t count = sources.size() - (mode == Rounding::up ? 3 : 0);  // also a rest of other lengths
          conversion.run(sources.data(), count, 1000, results.data(), flags.data());
          conversion.run(sources.data(), count, 1000, plain.data(), nullptr);
          conversion.run(upper.data(), count, 1000, of_upper.data(), upper_flags.data());
          for (size_t i = 0; i < count; ++i) {
            const auto expected = [&](uint32_t source, uint64_t encoding) {
              rule.random = random_word(99, draw_by == DrawBy::source ? encoding : 1000 + i, rule.random_bits);
              Rounded r = convert_number(to.fields(), decode(fp32_fields, source), rule);
              if (to.fields().has(policy::conversions_silent)) r.flags = 0;
              return r;
            };
            const auto result = [&](const std::vector<uint8_t>& from) {
              uint32_t value = 0;
              std::memcpy(&value, from.data() + i * bytes, bytes);
              return value;
            };
            const Rounded want = expected(sources[i], sources[i]);
            const BulkResult one = conversion.convert_one(sources[i], 1000 + i);
            const std::string where =
                GetParam() + " " + name_of(mode) + " source " + to_hex(format("fp32"), sources[i]);
            ASSERT_EQ(one.encoding, want.encoding) << where;
            ASSERT_EQ(int(one.flags), int(want.flags)) << where;
            ASSERT_EQ(result(results), want.encoding) << where;
            ASSERT_EQ(int(flags[i]), int(want.flags)) << where;
            ASSERT_EQ(result(plain), want.encoding) << where;
            const Rounded want_upper = expected(fp32_of_bf16(upper[i]), upper[i]);
            const BulkResult one_upper = conversion.convert_one(upper[i], 1000 + i);
            ASSERT_EQ(one_upper.encoding, want_upper.encoding) << where;
            ASSERT_EQ(int(one_upper.flags), int(want_upper.flags)) << where;
            ASSERT_EQ(result(of_upper), want_upper.encoding) << where;
            ASSERT_EQ(int(upper_flags[i]), int(want_upper.flags)) << where;
          }
        }
      }
}

TEST_P(BulkTo, EveryEncodingSurvivesTheWayToFp32AndBack) {
  const Format to = format(GetParam());
  const FormatFields& f = to.fields();
  if (f.width > 16) GTEST_SKIP() << "wider than 16 bits";
  const WideningTable widen(f);
  const BulkConversion narrow(f, {});
  for (uint64_t e = 0; e <= f.container_mask(); ++e) {
    const uint32_t back = narrow.convert_one(widen[e], 0).encoding;
    const Number n = decode(f, e);
    if (n.cls == NumberClass::nan) {
      ASSERT_EQ(back, f.encode_nan()) << std::hex << e;
    } else if (f.sign == SignField::ignored) {
      ASSERT_EQ(back, e & 0x7f);
    } else if (n.subnormal && f.subnormals == SubnormalRule::flushed) {
      ASSERT_EQ(back, 0u);
    } else if (f.has(policy::zero_positive) && n.cls == NumberClass::zero) {
      ASSERT_EQ(back, 0u);
    } else {
      ASSERT_EQ(back, e) << std::hex << e;
    }
  }
}

/// How many of all random values move `source` away from zero, and how many the definition says: T.
void expect_exact_count(const FormatFields& to, uint32_t source, int discarded_bits, int random_bits,
                        Threshold threshold) {
  RoundingRule rule;
  rule.rounding = Rounding::stochastic;
  rule.random_bits = static_cast<uint8_t>(random_bits);
  rule.threshold = threshold;
  const BulkPlan plan = make_bulk_plan(to, rule);
  const uint64_t fraction = source & low_mask(discarded_bits), scaled = fraction << random_bits;
  uint64_t expected = scaled >> discarded_bits;
  if (threshold == Threshold::ceiling) expected = (scaled + low_mask(discarded_bits)) >> discarded_bits;
  if (threshold == Threshold::nearest) expected = (scaled + (uint64_t{1} << (discarded_bits - 1))) >> discarded_bits;
  const uint32_t down =
      convert_bulk(plan, source, (1u << random_bits) - 1).encoding - (expected == uint64_t{1} << random_bits);
  uint64_t up = 0;
  for (uint32_t random = 0; random >> random_bits == 0; ++random)
    up += convert_bulk(plan, source, random).encoding != down;
  ASSERT_EQ(up, expected) << std::hex << source << " threshold " << int(threshold);
}

TEST(StochasticRounding, CountsOverAllRandomValuesAreThoseOfTheDefinition) {
  // fp16 discards 13 bits: every fraction position against every random value.
  const FormatFields half = format("fp16").fields();
  for (uint32_t fraction = 0; fraction < 1u << 13; fraction += nightly() ? 1 : 5)
    expect_exact_count(half, 0x3f802000 + fraction, 13, 13, Threshold::floor);
  // 8-bit formats discard 20 and 21: with 8 random bits, every position that they tell apart, at its ends and inside.
  for (const char* name : {"e4m3", "e5m2", "e4m3fnuz", "cfloat8_1_4_3:7", "cfloat8_1_5_2:15"}) {
    const FormatFields f = format(name).fields();
    const int discarded = 23 - f.fraction_bits;
    for (uint32_t position = 0; position < 256; ++position)
      for (const uint32_t low : {0u, 1u, 1u << (discarded - 9), static_cast<uint32_t>(low_mask(discarded - 8))})
        for (const Threshold threshold : {Threshold::floor, Threshold::ceiling, Threshold::nearest})
          expect_exact_count(f, 0x3f800000 + (position << (discarded - 8)) + low, discarded, 8, threshold);
  }
}

TEST(StochasticRounding, CountsInTheHoleAreThoseOfItsWidth) {
  // CFloat8_1_4_3, bias 7: from 7 * 2^-10 to 2^-6, a gap of 9 * 2^-10; sources in units of 2^-31.
  const FormatFields f = format("cfloat8_1_4_3:7").fields();
  const uint64_t from = 7 << 21, gap = 9 << 21;
  for (const uint64_t part : {uint64_t{1}, gap / 9, gap / 2, gap / 2 + 3, gap - 3, gap - 1}) {
    const auto source = std::bit_cast<uint32_t>(static_cast<float>(std::ldexp(double(from + part), -31)));
    const uint64_t exact = decode(fp32_fields, source).significand;  // parts that fp32 lacks are rounded to it
    const int exponent = decode(fp32_fields, source).exponent + 31;
    const uint64_t scaled = ((exponent < 0 ? exact >> -exponent : exact << exponent) - from) << 10;
    for (const Threshold threshold : {Threshold::floor, Threshold::ceiling, Threshold::nearest}) {
      RoundingRule rule;
      rule.rounding = Rounding::stochastic;
      rule.random_bits = 10;
      rule.threshold = threshold;
      const BulkPlan plan = make_bulk_plan(f, rule);
      uint64_t expected = scaled / gap;
      if (threshold == Threshold::ceiling) expected = (scaled + gap - 1) / gap;
      if (threshold == Threshold::nearest) expected = (2 * scaled + gap) / (2 * gap);
      uint64_t up = 0;
      for (uint32_t random = 0; random < 1024; ++random) {
        const uint32_t result = convert_bulk(plan, source, random).encoding;
        ASSERT_TRUE(result == 7 || result == 8) << result;
        up += result == 8;
      }
      EXPECT_EQ(up, expected) << part << " threshold " << int(threshold);
    }
  }
}

TEST(StochasticRounding, DrawsByPositionAreUniformWhereTheyCannotBeEnumerated) {
  // 16 cells of 2^20 draws of 24 bits: the chi-square statistic of 15 degrees of freedom exceeds 50 once in 10^5 seeds.
  for (const uint64_t seed : {1u, 2u, 3u}) {
    size_t cells[16] = {};
    const size_t draws = size_t{1} << 20;
    for (size_t i = 0; i < draws; ++i) ++cells[random_word(seed, i, 24) >> 20];
    double chi = 0;
    for (const size_t cell : cells)
      chi += (double(cell) - draws / 16.0) * (double(cell) - draws / 16.0) / (draws / 16.0);
    EXPECT_LT(chi, 50);
  }
  // bf16 at 5/16 of a gap: a binomial count within five deviations.
  RoundingRule rule;
  rule.rounding = Rounding::stochastic;
  const BulkConversion conversion(format("bf16").fields(), rule, 17);
  const std::vector<uint32_t> sources(1 << 20, 0x3f805000);
  std::vector<uint16_t> results(sources.size());
  conversion.run(sources.data(), sources.size(), 0, results.data(), nullptr);
  const auto up = static_cast<double>(std::count(results.begin(), results.end(), 0x3f81));
  const double n = double(sources.size()), p = 5.0 / 16;
  EXPECT_LT(std::fabs(up - n * p), 5 * std::sqrt(n * p * (1 - p)));
  EXPECT_EQ(up + static_cast<double>(std::count(results.begin(), results.end(), 0x3f80)), n);
}

TEST(StochasticRounding, TheSameSeedGivesTheSameBitsOnEveryThreadCount) {
  const FormatFields f = format("e5m2").fields();
  RoundingRule rule;
  rule.rounding = Rounding::stochastic;
  const BulkConversion conversion(f, rule, 42);
  const size_t n = 100003;
  std::vector<uint32_t> sources(n);
  for (size_t i = 0; i < n; ++i) sources[i] = 0x3f800000 + static_cast<uint32_t>(CounterRng(1, i).next() & 0x7fffff);
  std::vector<uint8_t> alone(n);
  conversion.run(sources.data(), n, 0, alone.data(), nullptr);
  for (const size_t threads : {2, 3, 7}) {
    std::vector<uint8_t> together(n);
    std::vector<std::thread> workers;
    for (size_t t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        const size_t from = n * t / threads, to = n * (t + 1) / threads;
        conversion.run(sources.data() + from, to - from, from, together.data() + from, nullptr);
      });
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(together, alone) << threads;
  }
  for (size_t i = 0; i < n; i += 1009) EXPECT_EQ(conversion.convert_one(sources[i], i).encoding, alone[i]);
  std::vector<uint8_t> other(n);
  BulkConversion(f, rule, 43).run(sources.data(), n, 0, other.data(), nullptr);
  EXPECT_NE(other, alone);
}

}  // namespace
}  // namespace mmafuzz
