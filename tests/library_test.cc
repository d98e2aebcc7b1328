// The C++ library as its callers see it (docs/library.md).
#include <gtest/gtest.h>
#include <mmafuzz/mmafuzz.h>
#include <stdexcept>

namespace mmafuzz::v1 {
namespace {

const char dot[] = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4";

size_t mismatches(const std::string& op, const std::string& unit, const std::string& line) {
  Batch batch(op);
  batch.add(line);
  Check check(Unit(unit, batch.op()));
  check.add(batch);
  EXPECT_EQ(check.compared(), 1u);
  return check.mismatches().size();
}

TEST(Library, ComparesFlagsWhereACaseHasThem) {
  const std::string sum = "3f800000 33800000 | 3f800000";  // inexact
  EXPECT_EQ(mismatches("scalar add format=fp32", "ieee", sum), 0u);
  EXPECT_EQ(mismatches("scalar add format=fp32", "ieee", sum + " | 01"), 0u);
  EXPECT_EQ(mismatches("scalar add format=fp32", "ieee", sum + " | 00"), 1u);
  Batch batch("scalar add format=fp32");
  batch.add(sum + " | 01");
  EXPECT_EQ(batch.line(0), sum + " | 01");
}

TEST(Library, TakesBlocksWhoseScaleIsNanAsEqual) {
  const std::string op = "quantize from=fp32 to=e2m1 block=2 scale=e8m0 special=nan_scale";
  EXPECT_EQ(mismatches(op + " nan=any", "exact", "7fc00000 3f800000 | ff 1 2"), 0u);
  EXPECT_EQ(mismatches(op, "exact", "7fc00000 3f800000 | ff 1 2"), 1u);
  EXPECT_EQ(mismatches(op, "exact", "1. -6. | 1. 1. -6."), 0u);
}

struct MyError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(Library, PassesWhatAFunctionThrows) {
  const Unit throws(
      "throws", dot, [](const Batch&, std::vector<std::uint64_t>&) { throw MyError("mine"); }, "exact");
  EXPECT_THROW(throws.run(Batch(dot, 1)), MyError);
  for (const unsigned threads : {1u, 4u})
    EXPECT_THROW(Search(dot).with(throws).threads(threads).run(1000), MyError) << threads;
  EXPECT_THROW(Search(dot).with("exact").with("h100").run(100000, []() -> bool { throw MyError("mine"); }), MyError);
  EXPECT_THROW(throws.run(Batch("dot a=bf16 b=bf16 c=fp32 d=fp32 k=4", 1)), Error);
}

TEST(Library, AssignsToABatchThatWasMovedFrom) {
  Batch batch(dot, 3);
  const Batch taken = std::move(batch);
  batch = taken;
  EXPECT_EQ(batch.size(), 3u);
}

}  // namespace
}  // namespace mmafuzz::v1
