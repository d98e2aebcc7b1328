// The tables that everything follows: targets, and what is searched when nothing is named.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/case_text.h"
#include "oracles/models/model_rows.h"
#include "oracles/models/parameters.h"
#include "oracles/properties/properties.h"
#include "plan/default_fields.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/targets.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

TEST(Targets, EachTakesItsOwnOpsAndHasProperties) {
  std::set<std::string> names;
  for (const FuzzTarget& target : fuzz_targets()) {
    EXPECT_TRUE(names.insert(target.name).second) << target.name;
    EXPECT_EQ(&target_named(target.name), &target);
    EXPECT_EQ(ops_of(target).empty(), !target.has_ops()) << target.name;
    for (const Op& op : ops_of(target)) EXPECT_TRUE(takes(target, op)) << target.name << " " << to_text(op);
    for (const Op& op : campaign_ops_of(target)) EXPECT_TRUE(takes(target, op)) << target.name << " " << to_text(op);
    if (target.has_ops()) {
      EXPECT_FALSE(properties_of(target).empty()) << target.name;
    }
  }
  EXPECT_THROW(target_named("dot_model"), BadInput);
}

TEST(Targets, OfBlocksHasBothKindsAndWaitsToBeAskedFor) {
  const FuzzTarget& target = target_named("quantize");
  EXPECT_EQ(target.in_campaigns, InCampaigns::asked);
  for (const char* op : {"quantize from=fp32 to=e4m3 block=64 scale=e8m0 rule=rceil special=nan_scale",
                         "dequantize from=e4m3 to=fp32 block=64 scale=e8m0"}) {
    EXPECT_TRUE(takes(target, op_from_text(op)));
    EXPECT_STREQ(target_of("equals_model", op_from_text(op)).name, "quantize");
  }
}

TEST(Targets, EveryKindOfFailureHasOne) {
  EXPECT_STREQ(target_of("inner_permutation", op_from_text("gemm a=fp64 b=fp64 c=fp64 d=fp64 m=2 n=2 k=4")).name,
               "ozaki_dgemm");
  EXPECT_STREQ(target_of("tile_permutation", op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=2 k=4")).name,
               "split_gemm");
  EXPECT_STREQ(target_of("equal", op_from_text("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=2 k=4")).name, "split_gemm");
  const Op dot = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  EXPECT_STREQ(target_of("equal", dot).name, "dot_models");
  EXPECT_STREQ(target_of("monotone_in_c", dot).name, "dot_monotone");
  EXPECT_STREQ(target_of("zero_padding", dot).name, "dot_metamorphic");
  EXPECT_STREQ(target_of("equals_model", op_from_text("convert from=fp32 to=fp16")).name, "convert");
  EXPECT_THROW(target_of("no_such_property", dot), BadInput);
}

TEST(Targets, TheDocumentationNamesEach) {
  std::ifstream file(std::string(MMAFUZZ_SOURCE_DIR) + "/docs/fuzzing.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const FuzzTarget& target : fuzz_targets())
    EXPECT_NE(text.str().find(std::string("`") + target.name + "`"), std::string::npos) << target.name;
}

/// A parameter that is changed to another value makes another arithmetic, whatever the parameter: a default search that
/// looked at some of them dropped rows.
TEST(DefaultSearch, EveryParameterThatAKernelUsesTellsRowsApart) {
  size_t tried = 0;
  for (const char* name : {"hopper/mma.m16n8k16.f32.f16.f16.f32", "ada/mma.m16n8k32.f32.e4m3.e4m3.f32"}) {
    const DotModel row = find_model_row(name)->model;
    for (const Parameter& p : parameters()) {
      if (!p.used_by(row.kernel) || std::string_view(p.name) == "k" || std::string_view(p.name) == "kernel") continue;
      DotModel other = row;
      const int64_t value = p.get(row);
      p.set(other, p.words.empty() ? value + (value < p.greatest ? 1 : -1)
                                   : (value + 1) % static_cast<int64_t>(p.words.size()));
      EXPECT_FALSE(same_arithmetic(row, other)) << name << " " << p.name;
      ++tried;
    }
  }
  EXPECT_GT(tried, 20u);
}

/// Rows that are called one compute the same, on ops that both divide.
TEST(Rows, ThatAreOneGiveTheSame) {
  size_t compared = 0;
  for (const ModelRow& x : model_rows())
    for (const ModelRow& y : model_rows()) {
      if (x.op.k >= y.op.k || y.op.k % x.op.k != 0) continue;
      const std::string first = "model:" + x.name(), second = "model:" + y.name();
      if (!registry().are_one(first, second, y.op)) continue;
      Batch batch(y.op);
      StructuredGenerator(y.op, 5).fill(0, 300, batch);
      Outcomes a, b;
      bind_or_fail(first, y.op)->run(batch, a);
      bind_or_fail(second, y.op)->run(batch, b);
      for (size_t i = 0; i < batch.size(); ++i)
        ASSERT_EQ(a.results.get(i), b.results.get(i)) << first << " " << second << " " << case_line(batch, i);
      ++compared;
    }
  EXPECT_GT(compared, 10u);
  const Op op = op_from_text("dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=32");
  const std::string emulated = "model:custom?kernel=emulated_fp8,block=4,fraction_bits=13,k=";
  EXPECT_FALSE(registry().are_one(emulated + "16", emulated + "32", op)) << "c joins once an instruction";
  const std::string odd = "model:custom?kernel=fused_sum,fraction_bits=13,block=8,k=";
  EXPECT_FALSE(registry().are_one(odd + "4", odd + "8", op)) << "a block is no longer than its instruction";
  EXPECT_TRUE(registry().are_one(odd + "8", odd + "32", op));
  const std::string chain = "model:custom?kernel=fma_chain,order=swapped_pairs,k=";
  EXPECT_TRUE(registry().are_one(chain + "2", chain + "8", op));
  EXPECT_FALSE(registry().are_one(chain + "1", chain + "8", op)) << "1, 0, 3, 2, ... is not 0, 1, 2, 3, ...";
}

/// What a default search leaves out computes what one of the units that it keeps does.
TEST(DefaultSearch, LeavesOutOnlyRowsThatComputeTheSame) {
  size_t left_out = 0;
  for (const Op& op : default_ops(OpKind::dot)) {
    Batch batch(op);
    StructuredGenerator(op, 5).fill(0, 1000, batch);
    std::vector<Outcomes> kept;
    std::set<std::string> names;
    for (const std::string& name : registry().searched_by_default(op)) {
      names.insert(name);
      if (registry().role_of(name) != Role::model) continue;
      bind_or_fail(name, op)->run(batch, kept.emplace_back());
    }
    for (const ModelRow& row : model_rows()) {
      const std::string name = "model:" + row.name();
      if (names.count(name) || row.op.k != op.k || !registry().bind(name, op)) continue;
      Outcomes outcomes;
      bind_or_fail(name, op)->run(batch, outcomes);
      bool found = false;
      for (const Outcomes& other : kept) {
        bool same = true;
        for (size_t i = 0; i < batch.size() && same; ++i) same = other.results.get(i) == outcomes.results.get(i);
        found = found || same;
      }
      EXPECT_TRUE(found) << name << " on " << to_text(op);
      ++left_out;
    }
  }
  EXPECT_GT(left_out, 10u);
}

}  // namespace
}  // namespace mmafuzz
