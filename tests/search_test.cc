// The search library's plumbing: bytes to cases and back, mutations that stay valid, segments that survive a killed
// writer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/case_text.h"
#include "plan/default_fields.h"
#include "search/byte_codec.h"
#include "core/divergence_log.h"
#include "search/mutator.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

std::vector<Op> sample_ops() {
  std::vector<Op> ops;
  for (const OpKind kind : {OpKind::dot, OpKind::scalar, OpKind::convert})
    for (const Op& op : default_ops(kind)) ops.push_back(op);
  for (const char* text : {"dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
                           "dot a=e3m2 b=e2m3 c=fp32 d=fp32 k=32 sa=e8m0 sb=e8m0 sblock=32",
                           "convert from=cfloat8_1_4_3:7 to=fp32 round=nearest_even",
                           "scalar sqrt format=bf16 round=up", "dot a=s8 b=s8 c=s32 d=s32 k=8"}) {
    ops.push_back(*parse_op(text));
  }
  return ops;
}

bool same_case(const Batch& x, size_t i, const Batch& y, size_t j) { return case_line(x, i) == case_line(y, j); }

/// Every encoding fits its format's width.
bool valid(const Batch& batch, size_t index) {
  const std::vector<FieldShape> fields = batch.op().inputs();
  for (size_t f = 0; f < fields.size(); ++f)
    for (int i = 0; i < fields[f].count; ++i)
      if (batch.inputs()[f].get(index, i) & ~low_mask(fields[f].format.fields().width)) return false;
  return true;
}

TEST(ByteCodec, CasesSurviveTheWayToBytesAndBack) {
  for (const Op& op : sample_ops()) {
    Batch batch, again(op);
    StructuredGenerator(op, 3).fill(0, 100, batch);
    again.resize(1);
    for (size_t i = 0; i < batch.size(); ++i) {
      const std::vector<uint8_t> bytes = encode_case({7, 9, 11}, batch, i);
      EXPECT_EQ(bytes.size(), encoded_bytes(op));
      const EngineInput header = decode_header(bytes.data(), bytes.size());
      EXPECT_EQ(header.op, 7);
      EXPECT_EQ(header.focus, 9);
      EXPECT_EQ(header.selector, 11);
      decode_operands(bytes.data(), bytes.size(), again, 0);
      ASSERT_TRUE(same_case(batch, i, again, 0)) << case_line(batch, i);
    }
  }
}

TEST(ByteCodec, EveryByteStringIsAnInput) {
  for (const Op& op : sample_ops()) {
    Batch batch(op);
    batch.resize(1);
    CounterRng rng(5, 0);
    for (size_t size = 0; size <= encoded_bytes(op) + 3; ++size) {
      std::vector<uint8_t> bytes(size);
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng.next());
      decode_operands(bytes.data(), bytes.size(), batch, 0);
      ASSERT_TRUE(valid(batch, 0));
      bytes.resize(encoded_bytes(op));  // missing bytes are zero, surplus ones ignored
      Batch padded(op);
      padded.resize(1);
      decode_operands(bytes.data(), bytes.size(), padded, 0);
      ASSERT_TRUE(same_case(batch, 0, padded, 0));
    }
  }
}

TEST(Mutator, MovesStayValidAndChangeMostCases) {
  for (const Op& op : sample_ops()) {
    const Mutator mutator(op, corner_hints(nullptr));
    Batch batch, before;
    StructuredGenerator(op, 4).fill(0, 2000, batch);
    before = batch;
    size_t changed = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      CounterRng rng(1, i);
      if (i % 3 == 0) mutator.cross(batch, i, before, (i + 1) % before.size(), rng);
      else mutator.mutate(batch, i, rng);
      ASSERT_TRUE(valid(batch, i)) << to_text(op) << "\n" << case_line(batch, i);
      changed += !same_case(batch, i, before, i);
    }
    EXPECT_GT(changed, batch.size() / 2) << to_text(op);
  }
}

TEST(Mutator, ANeighbourIsTheOneOfTheWholeBatch) {
  for (const Op& op : sample_ops()) {
    const Mutator mutator(op, corner_hints(nullptr));
    Batch all, one;
    StructuredGenerator(op, 6).fill(0, 64, all);
    one = all;
    mutator.neighbours(all, 77);
    for (size_t i = 1; i < all.size(); ++i) {
      copy_case(all, 0, one, 5);
      mutator.neighbour(one, 5, 77, i);
      ASSERT_TRUE(same_case(all, i, one, 5)) << to_text(op) << ", neighbour " << i;
      ASSERT_TRUE(valid(all, i));
    }
  }
}

TEST(Mutator, SameRandomNumbersSameCase) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const Mutator mutator(op, corner_hints(nullptr));
  Batch x, y;
  StructuredGenerator(op, 4).fill(0, 50, x);
  y = x;
  for (size_t i = 0; i < x.size(); ++i) {
    CounterRng first(1, i), second(1, i);
    mutator.mutate(x, i, first);
    mutator.mutate(y, i, second);
    ASSERT_TRUE(same_case(x, i, y, i));
  }
}

class Segment : public testing::Test {
 protected:
  Segment() : path_(testing::TempDir() + "segment-" + std::to_string(getpid())) { std::filesystem::remove(path_); }
  ~Segment() override { std::filesystem::remove(path_); }

  static Divergence divergence(const char* property, uint64_t number = 0) {
    Batch batch;
    StructuredGenerator(dot_op("fp16", "fp32", "fp32", 4), 1).fill(number, 1, batch);
    return make_divergence(property, Severity::contract, batch, 0, ValueClass::normal, "first", 1, "second", 2);
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    read_segment(path_, 0, [&](LoggedDivergence d) {
      EXPECT_EQ(d.severity, Severity::contract);
      all.push_back(d.key);
    });
    return all;
  }
  std::string path_;
};

TEST_F(Segment, OfABucketFewAreWritten) {
  DivergenceLog log(path_);
  EXPECT_TRUE(log.add(divergence("one")));
  EXPECT_TRUE(log.add(divergence("two")));
  for (int i = 1; i < 32; ++i) EXPECT_FALSE(log.add(divergence("one")));
  EXPECT_EQ(keys().size(), 33u);  // the first sixteen, then a sixteenth more each time: every one up to 32
  EXPECT_FALSE(log.add(divergence("one")));
  EXPECT_EQ(keys().size(), 33u);
  EXPECT_FALSE(log.add(divergence("one")));
  EXPECT_EQ(keys().size(), 34u);  // the 34th: two more than 32
  EXPECT_FALSE(log.add(divergence("one"), 1000));
  EXPECT_FALSE(log.add(divergence("one")));
  EXPECT_EQ(keys().size(), 35u);
  EXPECT_EQ(log.key_count(), 2u);
}

TEST_F(Segment, ARestartedWorkerKnowsWhatItWrote) {
  for (int i = 0; i < 20; ++i) {
    DivergenceLog log(path_);
    for (int j = 0; j < 16; ++j) EXPECT_EQ(log.add(divergence("one", static_cast<uint64_t>(16 * i + j))), i + j == 0);
  }
  EXPECT_EQ(keys().size(), 256u);
}

TEST_F(Segment, AWorkerThatBeginsAgainWritesNothingTwice) {
  for (const uint64_t last : {20u, 10u, 30u}) {
    DivergenceLog log(path_);
    for (uint64_t i = 0; i < last; ++i) {
      log.add(divergence("one", i));
      log.add(divergence("the same case twice"));
      log.add(divergence("the same case twice"));
    }
  }
  const std::vector<std::string> all = keys();
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& key) { return key.find("one") != std::string::npos; }),
            30);
  EXPECT_EQ(all.size(), 30u + 32 + 8 + 4);  // every one up to 32, then every second up to 48, every third up to 60
}

TEST_F(Segment, WhateverIsCutOffWholeRecordsStay) {
  std::string whole;
  {
    DivergenceLog log(path_);
    log.add(divergence("one"));
    log.add(divergence("two"));
  }
  {
    std::ifstream file(path_, std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  const size_t first_end = whole.find("# end of record\n") + 16;
  for (size_t size = 16; size <= whole.size(); ++size) {
    {
      std::ofstream file(path_, std::ios::binary | std::ios::trunc);
      file.write(whole.data(), static_cast<std::streamsize>(size));
    }
    const size_t readable = size < first_end ? 0 : size < whole.size() ? 1 : 2;
    ASSERT_EQ(keys().size(), readable) << "cut at " << size;
    DivergenceLog log(path_);  // goes on behind the cut
    log.add(divergence("three"));
    const std::vector<std::string> after = keys();
    const bool lacked_a_line_break =
        size + 1 == first_end || size + 1 == whole.size();  // whole again behind the writer's own
    ASSERT_EQ(after.size(), readable + 1 + lacked_a_line_break) << "cut at " << size;
    EXPECT_NE(after.back().find("three"), std::string::npos);
  }
}

TEST_F(Segment, ASegmentIsCaseText) {
  {
    DivergenceLog log(path_);
    log.add(divergence("one"));
  }
  CaseReader reader(path_);
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, 10));
  EXPECT_EQ(block.batch.size(), 1u);
  EXPECT_EQ(block.property, "one first second");
  EXPECT_FALSE(reader.error());
}

TEST_F(Segment, AGrowingSegmentCanBeFollowed) {
  DivergenceLog log(path_);
  size_t seen = 0, offset = read_segment(path_, 0, [&](LoggedDivergence) { ++seen; });
  log.add(divergence("one"));
  offset = read_segment(path_, offset, [&](LoggedDivergence) { ++seen; });
  EXPECT_EQ(seen, 1u);
  log.add(divergence("two"));
  offset = read_segment(path_, offset, [&](LoggedDivergence) { ++seen; });
  EXPECT_EQ(seen, 2u);
}

}  // namespace
}  // namespace mmafuzz
