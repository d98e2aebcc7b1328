// corpus/neighbours: every row of a maker other than NVIDIA and of AMD's RDNA has ten cases that tell it from the
// arithmetic nearest to its own. On each the row, its slow twin and the neighbour are evaluated again.
#include "bench/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "arithmetic/decode.h"
#include "core/case_text.h"
#include "core/dot_case.h"
#include "oracles/models/parameters.h"
#include "oracles/models/slow_twin.h"
#include "plan/registry.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string folder = MMAFUZZ_SOURCE_DIR "/corpus/neighbours";
const std::string twin = "twin:";

/// Cases of a row against one neighbour: three blocks of a file.
struct Group {
  CaseBlock row, neighbour, exact;
};

/// By the row's name.
std::map<std::string, std::vector<Group>> read_groups() {
  std::map<std::string, std::vector<Group>> groups;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CaseReader reader(entry.path().string());
    Group group;
    while (reader.next(group.row, 1000)) {
      EXPECT_TRUE(group.row.unit.starts_with(twin)) << group.row.unit;
      EXPECT_TRUE(reader.next(group.neighbour, 1000) && reader.next(group.exact, 1000)) << entry.path();
      groups[group.row.unit.substr(twin.size())].push_back(std::move(group));
      group = {};
    }
    EXPECT_FALSE(reader.error()) << reader.error()->to_string();
  }
  return groups;
}

std::vector<std::string> lines_of(const Batch& cases) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < cases.size(); ++i) lines.push_back(case_line(cases, i));
  return lines;
}

std::vector<uint64_t> results_of(const std::string& unit, const Batch& cases) {
  Outcomes outcomes;
  bind_or_fail(unit, cases.op())->run(cases, outcomes);
  std::vector<uint64_t> results;
  for (size_t i = 0; i < cases.size(); ++i) results.push_back(outcomes.results.get(i));
  return results;
}

std::vector<uint64_t> results_of_twin(const DotModel& model, const Batch& cases) {
  DotCase one(cases.op());
  std::vector<uint64_t> results;
  for (size_t i = 0; i < cases.size(); ++i) results.push_back(slow_twin_dot(model, one.load(cases, i)));
  return results;
}

std::vector<uint64_t> expected_of(const CaseBlock& block) {
  std::vector<uint64_t> results;
  for (size_t i = 0; i < block.batch.size(); ++i) {
    EXPECT_TRUE(block.has_expected[i]) << block.unit << ", line " << block.line[i];
    results.push_back(block.expected.get(i));
  }
  return results;
}

/// The kind of a group's differences; nothing where it has none or several.
std::optional<Differs> kind_of(const Group& group) {
  std::optional<Differs> kind;
  for (size_t i = 0; i < group.row.batch.size(); ++i) {
    const auto how =
        how_they_differ(group.row.batch.op().d.fields(), group.row.expected.get(i), group.neighbour.expected.get(i));
    if (!how || (kind && kind != how)) return std::nullopt;
    kind = how;
  }
  return kind;
}

/// What rows lack.
std::vector<std::string> missing(const std::map<std::string, std::vector<Group>>& groups) {
  std::vector<std::string> said;
  for (const ModelRow* row : rows_with_neighbours())
    for (const Differs kind : {Differs::numbers, Differs::nans}) {
      size_t different = 0;
      if (const auto found = groups.find(row->name()); found != groups.end())
        for (const Group& group : found->second) {
          if (kind_of(group) != kind) continue;
          const std::vector<std::string> lines = lines_of(group.row.batch);
          different = std::max(different, std::set<std::string>(lines.begin(), lines.end()).size());
        }
      if (different < cases_of_a_neighbour)
        said.push_back(row->name() + " has " + std::to_string(different) + " cases on which its nearest neighbour's " +
                       (kind == Differs::numbers ? "numbers" : "NaNs") +
                       " differ, not ten; this makes them: mmafuzz bench neighbours corpus/neighbours");
    }
  return said;
}

TEST(Neighbours, EveryRowHasTenCasesOfNumbersAndTenOfNaNs) { EXPECT_THAT(missing(read_groups()), IsEmpty()); }

TEST(Neighbours, ARowWithoutItsTenIsNamedWithTheCommandThatMakesThem) {
  const auto all = read_groups();
  ASSERT_FALSE(all.empty());
  for (const auto& [name, groups] : all) {
    auto without = all;
    without.erase(name);
    const std::vector<std::string> said = missing(without);
    ASSERT_EQ(said.size(), groups.size()) << name;
    EXPECT_THAT(said[0], HasSubstr(name + " has 0 cases"));
    EXPECT_THAT(said[0], HasSubstr("mmafuzz bench neighbours corpus/neighbours"));
  }
  auto nine = all;
  Batch& cases = nine.begin()->second[0].row.batch;
  cases.resize(cases.size() - 1);
  ASSERT_EQ(missing(nine).size(), 1u);
  EXPECT_THAT(missing(nine)[0], HasSubstr(" has 9 cases"));
}

TEST(Neighbours, TheRowAndItsTwinGiveWhatStandsThereAndTheNeighbourDoesNot) {
  for (const auto& [name, groups] : read_groups()) {
    const ModelRow* row = find_model_row(name);
    ASSERT_TRUE(row && row->name() == name) << name;
    for (const Group& group : groups) {
      const Batch& cases = group.row.batch;
      ASSERT_TRUE(cases.op() == row->op && group.neighbour.batch.op() == row->op) << name;
      const std::string other = group.neighbour.unit.substr(twin.size());
      ASSERT_EQ(lines_of(group.neighbour.batch), lines_of(cases)) << name << ' ' << other;
      const std::vector<uint64_t> expected = expected_of(group.row), of_other = expected_of(group.neighbour);
      EXPECT_EQ(results_of_twin(row->model, cases), expected) << name;
      EXPECT_EQ(results_of("model:" + name, cases), expected) << name;
      EXPECT_EQ(results_of("model:" + other, cases), of_other) << other;
      for (size_t i = 0; i < cases.size(); ++i)
        EXPECT_NE(expected[i], of_other[i]) << name << " and " << other << ", line " << group.row.line[i];
    }
  }
}

TEST(Neighbours, AreRowsOrOneChangeOfARow) {
  for (const auto& [name, groups] : read_groups())
    for (const Group& group : groups) {
      const std::string unit = group.neighbour.unit;
      ASSERT_TRUE(unit.starts_with(twin)) << unit;
      const std::string other = unit.substr(twin.size());
      if (const size_t change = other.find('?'); change != std::string::npos) {
        EXPECT_EQ(other.substr(0, change), name);
        EXPECT_EQ(std::count(other.begin(), other.end(), '='), 1) << other;
      } else {
        EXPECT_NE(other, name);
        EXPECT_NE(find_model_row(other), nullptr) << other;
      }
    }
}

TEST(Neighbours, HaveTheExactSumsBeside) {
  for (const auto& [name, groups] : read_groups())
    for (const Group& group : groups) {
      EXPECT_EQ(group.exact.unit, "exact:mpfr");
      ASSERT_EQ(lines_of(group.exact.batch), lines_of(as_plain_sums(find_model_row(name)->model, group.row.batch)));
      EXPECT_EQ(results_of("exact:mpfr", group.exact.batch), expected_of(group.exact)) << name;
    }
}

/// Each form by hand on 2 * 3 and c = 1, and what the row makes of it.
TEST(Neighbours, ASumWithTheSignsOfAFormIsWhatTheFormGives) {
  const std::map<std::string, uint32_t> sums = {{"", 0x40c00000},     // s
                                                {"pp", 0x40e00000},   // s + c
                                                {"pn", 0x40a00000},   // s - c
                                                {"np", 0xc0a00000},   // c - s
                                                {"nn", 0xc0e00000}};  // -s - c
  for (const auto& [suffix, sum] : sums)
    for (const char* stem : {"xvf32ger", "xvbf16ger2"}) {
      const bool pairs = std::string(stem) == "xvbf16ger2";
      const std::string types = pairs ? ".k2.f32.bf16.bf16.f32" : ".k1.f32.f32.f32.f32";
      const ModelRow& row = *find_model_row("power10/" + (stem + suffix) + types);
      CaseReader reader("one", std::string("mmafuzz-cases 1\n") + to_text(row.op) + "\n" +
                                   (pairs ? "4000 0000 | 4040 0000 | 3f800000\n" : "40000000 | 40400000 | 3f800000\n"));
      CaseBlock block;
      ASSERT_TRUE(reader.next(block, 1)) << reader.error()->to_string();
      EXPECT_EQ(results_of("exact:mpfr", as_plain_sums(row.model, block.batch)), std::vector<uint64_t>{sum})
          << row.name();
      EXPECT_EQ(results_of("model:" + row.name(), block.batch), std::vector<uint64_t>{sum}) << row.name();
    }
}

TEST(Neighbours, DifferByNumbersOrByWhichNaN) {
  const FormatFields f = format("fp32").fields();
  EXPECT_EQ(how_they_differ(f, 0x3f800000, 0x3f800000), std::nullopt);
  EXPECT_EQ(how_they_differ(f, 0x3f800000, 0x3f800001), Differs::numbers);
  EXPECT_EQ(how_they_differ(f, 0, 0x80000000), Differs::numbers);
  EXPECT_EQ(how_they_differ(f, 0x7fc00000, 0x7f800000), Differs::numbers);
  EXPECT_EQ(how_they_differ(f, 0x7fc00000, 0x7fc00001), Differs::nans);
}

}  // namespace
}  // namespace mmafuzz
