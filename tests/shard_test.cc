// The parts of a plan, and the records that shards exchange.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "campaign/exchange.h"
#include "campaign/shard.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

Plan whole_plan(double worker_seconds, uint64_t cases) {
  return make_plan({{"dot_*", "convert"}, {}, {}, {"batch"}, {}, worker_seconds, cases, 1});
}

TEST(Plan, TheParserIsSearchedWhereAllIsNotWhereUnitsOrOpsAreNamed) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("plan_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const char* target : {"case_text", "dot_models"}) {
    std::ofstream(folder / (target + std::string("_libfuzzer")));
    std::filesystem::permissions(folder / (target + std::string("_libfuzzer")), std::filesystem::perms::owner_all);
  }
  const auto runs_parser = [&](std::vector<std::string> targets, std::vector<std::string> ops,
                               std::vector<std::string> units) {
    const Plan plan = make_plan({targets, ops, units, {"libfuzzer"}, {folder.string()}, 0, 0, 1});
    return std::any_of(plan.assignments.begin(), plan.assignments.end(),
                       [](const Assignment& a) { return std::string(a.target->name) == "case_text"; });
  };
  const std::string hopper = "model:hopper/mma.m16n8k16.f32.f16.f16.f32", op = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16";
  EXPECT_TRUE(runs_parser({"*"}, {}, {}));
  EXPECT_TRUE(runs_parser({"*"}, {}, {"default", "exact"}));
  EXPECT_TRUE(runs_parser({"case_text", "dot_models"}, {}, {hopper})) << "asked for by name";
  EXPECT_FALSE(runs_parser({"*"}, {}, {hopper}));
  EXPECT_FALSE(runs_parser({"*"}, {op}, {}));
  std::filesystem::remove_all(folder);
}

TEST(Plan, BlocksAreSearchedWhereTheyAreAskedFor) {
  const auto ops_of_blocks = [](std::vector<std::string> targets, std::vector<std::string> ops,
                                std::vector<std::string> units) {
    const Plan plan = make_plan({targets, ops, units, {"batch"}, {}, 0, 0, 1});
    return std::count_if(plan.assignments.begin(), plan.assignments.end(),
                         [](const Assignment& a) { return std::string(a.target->name) == "quantize"; });
  };
  const std::string op = "quantize from=fp32 to=e4m3 block=32 scale=e8m0 rule=rceil special=nan_scale";
  EXPECT_EQ(ops_of_blocks({"*"}, {}, {}), 0);
  EXPECT_EQ(ops_of_blocks({"*"}, {}, {"exact"}), 0);
  EXPECT_EQ(ops_of_blocks({"*"}, {op, "dequantize from=e4m3 to=fp32 block=32 scale=e8m0"}, {}), 2);
  EXPECT_GT(ops_of_blocks({"quant*"}, {}, {}), 2);
  EXPECT_GT(ops_of_blocks({"*"}, {}, {"quantizer:floor", "exact"}), 0) << "the unit takes nothing else";
}

TEST(Shard, PartsCoverThePlanOnceAndHaveTheSameTime) {
  const Plan plan = whole_plan(480, 0);
  double all = 0;
  for (const Assignment& a : plan.assignments) all += a.seconds;
  for (const unsigned count : {1u, 2u, 3u, 8u, 17u, 64u, 1000u}) {
    std::map<std::string, double> covered;
    for (unsigned i = 1; i <= count; ++i) {
      const Plan part = part_of(plan, {i, count});
      ASSERT_FALSE(part.assignments.empty()) << i << "/" << count;
      for (const Assignment& a : part.assignments) covered[a.name()] += a.seconds;
    }
    // Slivers are dropped, and what is short is made as long as its engine needs: nobody's assignment is nobody's.
    for (const Assignment& a : plan.assignments)
      EXPECT_GE(covered[a.name()], a.seconds / 2) << count << " " << a.name();
    if (count <= 3)
      for (unsigned i = 1; i <= count; ++i) {
        double mine = 0;
        for (const Assignment& a : part_of(plan, {i, count}).assignments) mine += a.seconds;
        EXPECT_NEAR(mine, all / count, 2) << i << "/" << count;
      }
  }
}

TEST(Shard, ManyShardsOfOneOpBeginAtPlacesOfTheirOwn) {
  const Plan plan = make_plan({{"dot_models"}, {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"}, {}, {"batch"}, {}, 60, 0, 1});
  ASSERT_EQ(plan.assignments.size(), 1u);
  std::set<double> places;
  for (unsigned i = 1; i <= 1024; ++i) {
    const Plan part = part_of(plan, {i, 1024});
    ASSERT_EQ(part.assignments.size(), 1u) << i;
    places.insert(part.assignments[0].begins_at);
    EXPECT_GE(part.assignments[0].seconds, 60.0 / 1024);
  }
  EXPECT_EQ(places.size(), 1024u);
}

TEST(Shard, CasesAreDividedWithoutRest) {
  const Plan plan = whole_plan(0, 1001);
  for (const unsigned count : {1u, 2u, 7u, 100u}) {
    std::map<std::string, uint64_t> cases;
    for (unsigned i = 1; i <= count; ++i)
      for (const Assignment& a : part_of(plan, {i, count}).assignments) cases[a.name()] += a.cases;
    for (const Assignment& a : plan.assignments) EXPECT_EQ(cases[a.name()], 1001) << count << " " << a.name();
  }
}

TEST(Shard, TextIsReadWholeOrRefused) {
  EXPECT_EQ(shard_from_text("3/8").name(), "0003-of-0008");
  for (const char* text : {"", "3", "0/8", "9/8", "3/", "/8", "3/8x", "-1/8", "3/0", "3/99999999999", " 3/8"})
    EXPECT_THROW(shard_from_text(text), BadInput) << text;
}

TEST(Exchange, RecordsSurviveWhatStandsAroundThem) {
  const std::vector<std::string> inputs = {"first", std::string("\0mmz\x01", 5), "", "last"};
  std::string text = "rubbish";
  for (const std::string& input : inputs) text += input_record(input) + std::string(7, '\0');
  size_t done = 0;
  EXPECT_EQ(inputs_of_records(text, done), inputs);
  EXPECT_EQ(done, text.size() - 7);
  // Cut off anywhere: the whole ones before the cut, and the rest once it is there.
  const std::string whole = input_record("abc") + input_record("defg");
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    std::vector<std::string> read = inputs_of_records(whole.substr(0, cut), done);
    size_t more = 0;
    for (std::string& input : inputs_of_records(whole.substr(done), more)) read.push_back(std::move(input));
    EXPECT_EQ(read, (std::vector<std::string>{"abc", "defg"})) << cut;
  }
  // A wrong bit in one takes that one alone.
  for (size_t at = 0; at < input_record("abc").size(); ++at) {
    std::string broken = whole;
    broken[at] ^= 4;
    EXPECT_EQ(inputs_of_records(broken, done), (std::vector<std::string>{"defg"})) << at;
  }
}

class TwoShards : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(out_);
    for (const char* shard : {"a", "b"}) std::filesystem::create_directories(out_ + "/" + shard + "/corpus/field");
  }
  void TearDown() override { std::filesystem::remove_all(out_); }
  void gains(const std::string& shard, const std::string& inputs) {
    std::ofstream(out_ + "/" + shard + "/corpus/field.inputs", std::ios::app) << inputs;
  }
  std::string corpus(const std::string& shard) {
    std::ifstream in(out_ + "/" + shard + "/corpus/field.inputs");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  Exchange shard(const std::string& name, bool fresh = false) {
    return Exchange(out_ + "/exchange", out_ + "/" + name, name, {{"field", 4, false}}, fresh);
  }
  const std::string out_ = testing::TempDir() + "mmafuzz-two-shards";
};

TEST_F(TwoShards, EachHasWhatTheOtherFoundOnce) {
  gains("a", "seed");
  gains("b", "seed");
  Exchange a = shard("a", true), b = shard("b", true);
  gains("a", "aaaaboth");
  gains("b", "bothbbbb");
  for (int round = 0; round < 3; ++round) {
    a.run();
    b.run();
  }
  EXPECT_EQ(corpus("a"), "seedaaaabothbbbb");
  EXPECT_EQ(corpus("b"), "seedbothbbbbaaaa");
  EXPECT_EQ(a.counts().sent, 2u);  // not the seeds
  EXPECT_EQ(b.counts().sent, 1u);  // nor what a sent before
}

TEST_F(TwoShards, AShardThatGoesOnSendsTheRestAndNothingTwice) {
  {
    Exchange a = shard("a", true);
    gains("a", "aaaa");
    a.run();
    gains("a", "late");  // and it is killed
  }
  Exchange a = shard("a"), b = shard("b", true);
  a.run();
  b.run();
  EXPECT_EQ(a.counts().sent, 1u);
  EXPECT_EQ(corpus("b"), "aaaalate");
}

TEST_F(TwoShards, OnlyOneTellsAFinding) {
  Exchange a = shard("a"), b = shard("b");
  EXPECT_TRUE(a.claim("mmafuzz: divergence x"));
  EXPECT_FALSE(b.claim("mmafuzz: divergence x"));
  EXPECT_TRUE(b.claim("mmafuzz: divergence y"));
}

TEST_F(TwoShards, WhatCouldNotBeSentIsSentLater) {
  Exchange a = shard("a", true), b = shard("b", true);
  gains("a", "aaaa");
  std::filesystem::rename(out_ + "/exchange", out_ + "/away");
  EXPECT_THROW(a.run(), std::runtime_error);
  EXPECT_TRUE(a.claim("told all the same"));
  std::filesystem::rename(out_ + "/away", out_ + "/exchange");
  a.run();
  b.run();
  EXPECT_EQ(corpus("b"), "aaaa");
}

TEST(ShardLease, OneProcessAtATimeAndTheEarlierOneNotices) {
  const std::string folder = testing::TempDir() + "mmafuzz-lease";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder + "/owner");
  {
    ShardLease mine(folder);
    EXPECT_THROW(ShardLease(folder, 0.1), BadInput);  // the same process lives
    EXPECT_TRUE(mine.beat());
    // Another host that takes over: its clock does not matter, only that the file is another's.
    std::ofstream(folder + "/owner") << "elsewhere pid:[1] 1 1 0123456789abcdef 1\n";
    EXPECT_FALSE(mine.beat());
    EXPECT_FALSE(mine.beat());
  }
  // Its sign of life does not move: taken over, after a look.
  ShardLease next(folder, 0.5);
  EXPECT_TRUE(next.beat());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mmafuzz
