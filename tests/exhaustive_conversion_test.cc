// The trial of all fp32 inputs: it accepts the codec and catches one that is wrong on a single input in the middle of
// a segment, in value or in flags alone.
#include "oracles/convert/exhaustive_conversion.h"

#include <gtest/gtest.h>

#include "oracles/exact/mpfr_reference.h"
#include "oracles/convert/bulk_convert_simd.h"
#include "tests/case_count.h"

namespace mmafuzz {
namespace {

Op conversion_to(const std::string& name, Rounding rounding = Rounding::nearest_even) {
  Op op;
  op.kind = OpKind::convert;
  op.a = format("fp32");
  op.d = format(name);
  op.rounding = rounding;
  return op;
}

/// The codec, wrong in value on one input and in flags on another.
struct Faulty {
  BulkConversion right;
  uint32_t wrong_value = 0, wrong_flags = 0;  ///< 0: right throughout

  void operator()(const uint32_t* sources, size_t count, uint8_t* results, uint8_t* flags) const {
    right.run(sources, count, 0, results, flags);
    const auto is_here = [&](uint32_t source) { return source != 0 && source - sources[0] < count; };
    if (is_here(wrong_value)) results[(wrong_value - sources[0]) * size_t(right.result_bytes())] ^= 1;
    if (is_here(wrong_flags)) flags[wrong_flags - sources[0]] ^= flag::underflow;
  }
};

TEST(ExhaustiveConversion, CatchesACodecThatIsWrongOnOneInputInsideASegment) {
  const Op op = conversion_to("e4m3");
  // 0x3f812345 lies inside (1, 1 + 1/16): no boundary within thousands of encodings.
  const exact::ExhaustiveConversion tried =
      exact::try_conversion(op, Faulty{{op.d.fields(), op.rounding_rule()}, 0x3f812345, 0xc3456789}, 2);
  ASSERT_TRUE(tried.first_wrong);
  EXPECT_EQ(tried.wrong, 2u);
  EXPECT_EQ(tried.first_wrong->source, 0x3f812345u);
  EXPECT_EQ(tried.first_wrong->encoding, 0x39u);
  EXPECT_EQ(tried.first_wrong->expected, 0x38u);
  EXPECT_EQ(tried.first_wrong->flags, tried.first_wrong->expected_flags);
}

TEST(ExhaustiveConversion, AcceptsTheCodec) {
  const Op op = conversion_to("e2m1", Rounding::up);
  EXPECT_EQ(exact::try_conversion(op, Faulty{{op.d.fields(), op.rounding_rule()}}, 2).wrong, 0u);
}

TEST(ExhaustiveConversion, SegmentsCoverEveryInputOnceAndKnowTheMiddles) {
  for (const char* name : {"e2m1", "cfloat8_1_4_3:7", "e8m0", "uhp", "bf16"}) {
    const Op op = conversion_to(name);
    const std::vector<exact::ConversionSegment> segments = exact::conversion_segments(op, 2);
    uint64_t next = 0;
    for (const exact::ConversionSegment& s : segments) {
      ASSERT_EQ(s.first, next) << name;
      ASSERT_LE(s.first, s.last) << name;
      next = uint64_t{s.last} + 1;
    }
    EXPECT_EQ(next, uint64_t{1} << 32) << name;
    // Inside the segments MPFR agrees with their ends.
    CounterRng rng(1, 0);
    for (int i = 0; i < 2000; ++i) {
      const exact::ConversionSegment& s = segments[rng.below(static_cast<uint32_t>(segments.size()))];
      const uint32_t inside = s.first + static_cast<uint32_t>(rng.next() % (uint64_t{s.last} - s.first + 1));
      const exact::MpfrRounded r = exact::mpfr_convert(op, inside);
      ASSERT_EQ(r.encoding, s.encoding) << name << std::hex << inside;
      ASSERT_EQ(int(r.flags), int(s.flags)) << name << std::hex << inside;
    }
  }
}

TEST(ExhaustiveConversion, SegmentsOfFlushedFormatsAreConstantInDirectedModes) {  // else conversion_segments throws
  for (const char* name : {"uhp", "uhp?tiny_negative=flushed", "uhp?tiny_negative=flushed,flush=before"})
    for (const Rounding mode : {Rounding::up, Rounding::down})
      EXPECT_NO_THROW(exact::conversion_segments(conversion_to(name, mode), 2)) << name << " " << name_of(mode);
}

TEST(ExhaustiveConversion, DirectedModesAndSwitchesAreTriedAtNight) {
  if (!nightly()) GTEST_SKIP() << "nightly";
  for (const char* name :
       {"fp16", "bf16", "e4m3", "e5m2", "e8m0", "cfloat8_1_4_3:7",
        "shp:15?denormal=gradual,overflow=before,underflow=tiny,inexact=raised", "uhp?negative=absolute,flush=before",
        "uhp?tiny_negative=flushed", "uhp?tiny_negative=flushed,flush=before"})
    for (const Rounding mode : {Rounding::toward_zero, Rounding::up, Rounding::down, Rounding::nearest_away}) {
      const Op op = conversion_to(name, mode);
      EXPECT_EQ(exact::try_conversion(op, Faulty{{op.d.fields(), op.rounding_rule()}}, 2).wrong, 0u) << to_text(op);
    }
}

}  // namespace
}  // namespace mmafuzz
