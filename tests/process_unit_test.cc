// Units in processes of their own: `process:`, `python:` and `plugin:`, well-behaved and not. A failure means
// that someone's unit is fed wrong operands, that what breaks passes, or that it ends the search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "core/case_text.h"
#include "plan/request.h"
#include "plan/registry.h"
#include "oracles/units/process_unit.h"
#include "search/comparison.h"
#include "search/focuses.h"
#include "search/structured_generator.h"
#include "oracles/properties/properties.h"
#include "tests/run_one_dot.h"

namespace mmafuzz {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string add16 = "scalar add format=fp16";

std::string refusal_of(const std::string& name, const std::string& op = add16) {
  const Result<std::unique_ptr<Unit>> unit = registry().bind(name, op_from_text(op));
  if (unit) return "it is bound";
  EXPECT_EQ(unit.refusal().reason.find('\n'), std::string::npos);
  return unit.refusal().reason;
}

/// The false process with one fault; hangs end after a second.
std::string false_unit(const std::string& fault, const std::string& protocol = "text", const std::string& more = "") {
  return "process:python3 -IS " MMAFUZZ_SOURCE_DIR "/tests/false_process.py " + fault + " " + protocol +
         (more.empty() ? "" : " " + more) + "?timeout=1";
}

/// Cases of add16 by their first operands; the second is 1.
Batch cases_of(const std::vector<uint64_t>& operands) {
  Batch batch(op_from_text(add16));
  batch.resize(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    batch.inputs()[0].set(i, 0, operands[i]);
    batch.inputs()[0].set(i, 1, 0x3c00);
  }
  return batch;
}

constexpr uint64_t bad = 0x7e00;  ///< the false process does not behave on it

/// Runs with a folder of its own for kept batches, and gives what was said on standard error.
class ProcessUnits : public ::testing::Test {
 protected:
  ProcessUnits() {
    std::string name = (std::filesystem::temp_directory_path() / "process_unit_test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot create " + name);
    folder_ = name;
    setenv("MMAFUZZ_PROCESS_FAILURES", name.c_str(), 1);
  }
  ~ProcessUnits() override { std::filesystem::remove_all(folder_); }

  std::string run(const Unit& unit, const Batch& batch) {
    testing::internal::CaptureStderr();
    unit.run(batch, outcomes_);
    return testing::internal::GetCapturedStderr();
  }
  std::vector<std::filesystem::path> kept() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }

  std::filesystem::path folder_;
  Outcomes outcomes_;
};

struct Fault {
  const char* name;
  const char* says;
};

/// Each fault on one case among others: that case fails, the others are answered, and the batch is kept as case text.
class FaultTest : public ProcessUnits, public ::testing::WithParamInterface<std::tuple<Fault, const char*>> {};

TEST_P(FaultTest, IsFoundAndTheSearchGoesOn) {
  const auto& [fault, protocol] = GetParam();
  const std::unique_ptr<Unit> unit = bind_or_fail(false_unit(fault.name, protocol), op_from_text(add16));
  const std::string said = run(*unit, cases_of({1, 2, bad, 4, 5}));
  EXPECT_THAT(said, HasSubstr("process failed: process:python3%20"));
  EXPECT_THAT(said, ContainsRegex(fault.says));
  for (size_t i : {0, 1, 3, 4}) {
    EXPECT_TRUE(outcomes_.has_answer(i)) << i;
    EXPECT_FALSE(outcomes_.has_failed(i)) << i;
    EXPECT_EQ(outcomes_.results.get(i), i + 1);
  }
  EXPECT_FALSE(outcomes_.has_answer(2));
  EXPECT_TRUE(outcomes_.has_failed(2));

  ASSERT_EQ(kept().size(), 1u);
  CaseReader reader(kept()[0].string());
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, 100));
  EXPECT_EQ(block.unit, unit->name());
  ASSERT_EQ(block.batch.size(), 5u);
  EXPECT_EQ(case_line(block.batch, 2), "7e00 3c00");

  run(*unit, cases_of({6, 7}));  // the process was started again
  EXPECT_TRUE(outcomes_.has_answer(1));
  EXPECT_EQ(outcomes_.results.get(1), 7u);
}

constexpr Fault of_both[] = {
    {"crash", "died of Segmentation fault"},
    {"exit", "exited with code 5"},
    {"hang", "gave no answer in time .it was killed"},
    {"crash_midway", "died of Aborted"},
    {"hang_midway", "gave no answer in time"},
    {"too_few", "answered 4 of 5 cases"},
    {"too_many", "answered 6 of 5 cases"},
    {"after_end", "said more than it was asked for: 'and more"},
    {"garbage", "where 'results 5' was expected"},
    {"no_number", "where 'results 5' was expected"},
    {"nothing", "said '' where 'results 5' was expected"},
    {"says_so", "says: failed it does not like 7e00"},
};
constexpr Fault of_text[] = {
    {"fewer_lines", "answered 4 of 5 cases"},
    {"more_lines", "after 5 cases, where 'end' was expected"},
    {"upper_case", "said '7E00' to case 3, where the 4 lower-case hex digits of fp16 were expected"},
    {"too_wide", "said '10001' to case 1"},
    {"flags", "zz' to case 1, where the 4 lower-case hex digits of fp16, . and the flags were expected"},
};
std::string fault_name(const ::testing::TestParamInfo<FaultTest::ParamType>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param);
}
INSTANTIATE_TEST_SUITE_P(Both, FaultTest,
                         ::testing::Combine(::testing::ValuesIn(of_both), ::testing::Values("text", "binary")),
                         fault_name);
INSTANTIATE_TEST_SUITE_P(Text, FaultTest, ::testing::Combine(::testing::ValuesIn(of_text), ::testing::Values("text")),
                         fault_name);

TEST_F(ProcessUnits, WrongFirstWordsAreDeclinedWithAReason) {
  EXPECT_THAT(refusal_of("process:/nowhere/none"), EndsWith("cannot run /nowhere/none: No such file or directory"));
  EXPECT_THAT(refusal_of("process:" MMAFUZZ_SOURCE_DIR "/README.md"), EndsWith("Permission denied"));
  EXPECT_THAT(refusal_of(false_unit("exit_at_once")), HasSubstr("closed the connection (it exited with code 3)"));
  EXPECT_THAT(refusal_of(false_unit("silent")), HasSubstr("gave no answer in time (it was killed)"));
  EXPECT_THAT(refusal_of(false_unit("never_ends_a_line")), HasSubstr("a line without an end"));
  EXPECT_THAT(refusal_of(false_unit("old_version")), HasSubstr("speaks version '0' of the protocol, this is 1"));
  EXPECT_THAT(refusal_of(false_unit("no_name")), HasSubstr("after the version come 'text' or 'binary', and a name"));
  EXPECT_THAT(refusal_of(false_unit("other_protocol")),
              HasSubstr("after the version come 'text' or 'binary', and a name"));
  EXPECT_THAT(refusal_of(false_unit("no_greeting")), HasSubstr("said 'hello' where 'mmafuzz-process 1 text NAME' was"));
  EXPECT_THAT(refusal_of(false_unit("empty_greeting")), HasSubstr("said ''"));
  EXPECT_THAT(refusal_of(false_unit("neither_yes_nor_no")), HasSubstr("said 'maybe' to an op"));
  EXPECT_THAT(refusal_of(false_unit("refuses")), EndsWith(": it takes nothing"));
  EXPECT_THAT(refusal_of(false_unit("well"), "scalar add format=fp32"), EndsWith(": it takes scalar add format=fp16"));
}

// ---- features ----

std::map<size_t, std::vector<int>> features_of(const Unit& unit, const Batch& batch) {
  std::map<size_t, std::vector<int>> seen;
  unit.observe(batch, [&](size_t index, int feature) { seen[index].push_back(feature); });
  return seen;
}

TEST_F(ProcessUnits, MayTellFeaturesOfEachCase) {
  for (const char* protocol : {"text", "binary"}) {
    const auto unit = registry().bind(false_unit("features", protocol), op_from_text(add16));
    ASSERT_TRUE(unit) << unit.refusal().reason;
    EXPECT_EQ((*unit)->features(), 32);
    const std::map<size_t, std::vector<int>> expected = {{0, {0, 1}}, {2, {14, 31}}};
    EXPECT_EQ(features_of(**unit, cases_of({3, 0, 0xc000})), expected);
    EXPECT_EQ(run(**unit, cases_of({3, 0, 0xc000})), "") << "it answers cases after that";
    EXPECT_EQ(outcomes_.results.get(2), 0xc000u);
  }
  const auto without = registry().bind(false_unit("none"), op_from_text(add16));
  ASSERT_TRUE(without) << without.refusal().reason;
  EXPECT_EQ((*without)->features(), 0);
}

TEST_F(ProcessUnits, WrongNumbersOfFeaturesAreDeclined) {
  for (const char* fault : {"features_0", "features_many", "features_word", "features_twice"})
    EXPECT_THAT(refusal_of(false_unit(fault)),
                HasSubstr("to an op, where 'yes', 'yes equals UNIT', 'no REASON' or a 'yes' that ends"))
        << fault;
}

TEST_F(ProcessUnits, FeaturesThatAreWrongAreToldOnceAndTheCasesGoOn) {
  for (const char* fault : {"features_late", "features_no_number", "features_few", "features_count"}) {
    const auto unit = registry().bind(false_unit(fault), op_from_text(add16));
    ASSERT_TRUE(unit) << unit.refusal().reason;
    testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) features_of(**unit, cases_of({3, 5}));
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("tells no features any more: asked for them the process said '")) << fault;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_EQ(run(**unit, cases_of({3, 5})), "") << fault;
    EXPECT_EQ(outcomes_.results.get(1), 5u);
  }
}

/// Features of a unit join those of its focus: a case that reaches a new one is kept.
TEST_F(ProcessUnits, ASearchKeepsCasesOfNewFeatures) {
  const Op op = op_from_text(add16);
  const Comparison comparison(op, {false_unit("features", "binary"), "ieee"}, registry(), {});
  std::vector<GuidedSearch::Focus> focuses = focuses_of(comparison);
  ASSERT_EQ(focuses.size(), 1u);
  EXPECT_EQ(focuses[0].feedback->features(), bins::count + 32);
  GuidedSearch guided(op, std::move(focuses), 1);
  guided.import(cases_of({0x0001}));
  const size_t before = guided.corpus().size();
  EXPECT_EQ(guided.import(cases_of({0x0201})), 1u);
  EXPECT_EQ(guided.hits(0, bins::count + 9), 1u);
  EXPECT_EQ(guided.hits(0, bins::count + 0), 2u);
  EXPECT_EQ(guided.corpus().size(), before + 1);
}

TEST_F(ProcessUnits, WrongNamesAreRefused) {
  EXPECT_THAT(refusal_of("process:"), HasSubstr("unknown unit 'process:'"));
  EXPECT_THAT(refusal_of("process:%20"), HasSubstr("names no command"));
  EXPECT_THAT(refusal_of("process:a%2"), HasSubstr("% begins two hexadecimal digits"));
  EXPECT_THAT(refusal_of("process:a%zz"), HasSubstr("% begins two hexadecimal digits"));
  EXPECT_THAT(refusal_of("process:a%00"), HasSubstr("% begins two hexadecimal digits"));
  EXPECT_THAT(refusal_of("process:true?speed=9"), HasSubstr("has no parameter 'speed', only timeout"));
  for (const char* wrong : {"", "0", "-1", "nan", "1e9", "1s"})
    EXPECT_THAT(refusal_of("process:true?timeout=" + std::string(wrong)), HasSubstr("timeout takes seconds")) << wrong;
  EXPECT_THAT(refusal_of("python:file.py"), HasSubstr("python:FILE.py:FUNCTION"));
  EXPECT_THAT(refusal_of("plugin:x.so?isolated=2"), HasSubstr("isolated=0 or 1"));
}

TEST_F(ProcessUnits, ACommandIsWrittenSoThatCaseTextCanNameIt) {
  EXPECT_EQ(encode_command("a b,c?d*e%f"), "a%20b%2cc%3fd%2ae%25f");
  for (const std::string command : {"./sim --fast", "100%", "a,b?c=d"}) {
    const Result<std::string> back = decode_command(encode_command(command));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, command);
  }
}

TEST_F(ProcessUnits, ClaimsThatItAnswersAndWhatItSays) {
  const std::unique_ptr<Unit> unit = bind_or_fail(false_unit("well", "text", "ieee"), op_from_text(add16));
  ASSERT_EQ(unit->claims().size(), 2u);
  EXPECT_EQ(unit->claims()[0].property, "answers");
  EXPECT_EQ(unit->claims()[1].property, "equals_model");
  EXPECT_EQ(unit->claims()[1].detail, "ieee");
  EXPECT_EQ(unit->role(), Role::plugin);
}

TEST_F(ProcessUnits, AFailureIsAContractDivergenceWhateverElseIsCompared) {
  const Op op = op_from_text(add16);
  const Comparison alone(op, {false_unit("crash", "text", "exact")}, registry(), all_properties());
  testing::internal::CaptureStderr();
  for (const uint64_t first : {uint64_t{0}, uint64_t{1} << 20}) {  // when all properties are looked at, and later
    const Findings found = alone.examine(cases_of({1, bad, 3}), first);
    size_t failures = 0;
    for (const auto& [key, finding] : found.buckets) {
      if (key.property != "answers") continue;
      ++failures;
      EXPECT_EQ(finding.severity, Severity::contract);
      EXPECT_EQ(finding.count, 1u);
      EXPECT_EQ(key.value_class, "special");
      EXPECT_EQ(case_line(finding.first.cases, 0), "7e00 3c00");
    }
    EXPECT_EQ(failures, 1u);
  }
  std::vector<Outcomes> outcomes;
  const Batch batch = cases_of({1, bad, 3});
  alone.run(batch, outcomes);
  SeenClasses seen;
  size_t reported = 0;
  alone.examine_focus(batch, outcomes, 0, 1 << 20, seen, [&](const Divergence& d, uint64_t count) {
    reported += d.key.property == "answers" ? count : 0;
  });
  EXPECT_EQ(reported, 1u);
  testing::internal::GetCapturedStderr();
}

TEST_F(ProcessUnits, ThatCannotBeStartedAnyMoreTakesNoFurtherPart) {
  const std::filesystem::path script = folder_ / "once";
  std::ofstream(script) << "#!/bin/sh\nexec python3 " MMAFUZZ_SOURCE_DIR "/tests/false_process.py crash\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::unique_ptr<Unit> unit = bind_or_fail("process:" + script.string(), op_from_text(add16));
  std::filesystem::remove(script);
  const std::string said = run(*unit, cases_of({1, 2, bad, 4, 5}));
  EXPECT_THAT(said, HasSubstr("takes no further part: it could not be started 3 times in a row"));
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_FALSE(outcomes_.has_answer(i));
    EXPECT_FALSE(outcomes_.has_failed(i)) << "a command that is gone is no case's doing";
  }
  EXPECT_EQ(run(*unit, cases_of({1})), "");
  EXPECT_FALSE(outcomes_.has_answer(0));
}

TEST_F(ProcessUnits, ThatDiesOnBatchAfterBatchTakesNoFurtherPart) {
  const std::filesystem::path script = folder_ / "dying", starts = folder_ / "starts";
  std::ofstream(script) << "#!/bin/sh\necho >> " << starts
                        << "\nexec python3 " MMAFUZZ_SOURCE_DIR "/tests/false_process.py crash_always\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::unique_ptr<Unit> unit = bind_or_fail("process:" + script.string(), op_from_text(add16));
  const Batch batch = cases_of(std::vector<uint64_t>(1024, 1));
  for (int i = 1; i <= 5; ++i) {
    const std::string said = run(*unit, batch);
    EXPECT_EQ(
        said.find("takes no further part: it died in 5 batches in a row and answered no case of them") != said.npos,
        i == 5);
    EXPECT_TRUE(outcomes_.has_failed(0)) << "it stays a finding";
  }
  EXPECT_EQ(run(*unit, batch), "");
  EXPECT_FALSE(outcomes_.has_answer(0));
  EXPECT_LE(std::filesystem::file_size(starts), 26u) << "after the first batch it is not searched for long";
}

TEST_F(ProcessUnits, ThatDiesOnSomeCasesOfEachBatchGoesOn) {
  const std::unique_ptr<Unit> unit = bind_or_fail(false_unit("crash", "text", "ieee"), op_from_text(add16));
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(run(*unit, cases_of({bad, bad, 3, 4})), Not(HasSubstr("takes no further part")));
    EXPECT_EQ(outcomes_.results.get(3), 4u);
    EXPECT_TRUE(outcomes_.has_failed(0));
  }
  for (int i = 0; i < 8; ++i)  // as minimization asks: case by case
    EXPECT_THAT(run(*unit, cases_of({bad})), Not(HasSubstr("takes no further part")));
}

TEST_F(ProcessUnits, AFailureThatDoesNotComeAgainIsStillAFinding) {
  const std::unique_ptr<Unit> unit = bind_or_fail(false_unit("crash_third"), op_from_text(add16));
  run(*unit, cases_of({1}));
  run(*unit, cases_of({2}));
  const std::string said = run(*unit, cases_of({3, 4}));
  EXPECT_THAT(said, HasSubstr("run again in parts it is answered"));
  EXPECT_TRUE(outcomes_.has_answer(0));
  EXPECT_FALSE(outcomes_.has_failed(0));
  EXPECT_TRUE(outcomes_.has_failed(1));
}

/// Every kind of op through `serve`: the same results and flags as from the unit itself.
TEST_F(ProcessUnits, AServedUnitGivesWhatItGivesHere) {
  const std::pair<const char*, const char*> served[] = {
      {"exact", "dot a=fp16 b=e4m3 c=fp32 d=fp32 k=5"},
      {"exact", "dot a=e2m1 b=e2m1 c=fp32 d=fp64 k=40 sa=e8m0 sb=ue4m3 sblock=32"},
      {"model:hopper/mma.m16n8k16.f32.f16.f16.f32", "dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"},
      {"ieee", "scalar fma format=fp16 round=up tiny=before"},
      {"ieee", "scalar sqrt format=fp64"},
      {"ieee", "convert from=fp32 to=e3m2 saturate=1"},
      {"exact", "convert from=fp32 to=cfloat8_1_4_3:7 round=stochastic seed=5"},
      {"exact", "gemm a=fp16 b=fp16 c=fp32 d=fp32 m=2 n=3 k=4 alpha=40000000"},
  };
  for (const auto& [unit, text] : served) {
    const Op op = op_from_text(text);
    Batch batch(op);
    StructuredGenerator(op, 3).fill(0, 777, batch);
    Outcomes here;
    bind_or_fail(unit, op)->run(batch, here);
    const std::unique_ptr<Unit> there =
        bind_or_fail("process:" MMAFUZZ_BINARY_DIR "/mmafuzz serve " + std::string(unit), op);
    EXPECT_EQ(run(*there, batch), "") << text;
    EXPECT_EQ(outcomes_.flags, here.flags) << text;
    for (size_t i = 0; i < batch.size(); ++i)
      for (int e = 0; e < here.results.count(); ++e)
        ASSERT_EQ(outcomes_.results.get(i, e), here.results.get(i, e)) << text << "\n" << case_line(batch, i);
  }
}

TEST_F(ProcessUnits, WhatAServedRecordingDoesNotKnowHasNoAnswer) {
  const std::filesystem::path file = folder_ / "r.cases";
  std::ofstream(file) << "mmafuzz-cases 1\nop scalar add format=fp16\n0001 3c00 | 1234\n";
  const std::unique_ptr<Unit> unit =
      bind_or_fail("process:" MMAFUZZ_BINARY_DIR "/mmafuzz serve recorded:" + file.string(), op_from_text(add16));
  EXPECT_EQ(run(*unit, cases_of({1, 2})), "");
  EXPECT_TRUE(outcomes_.has_answer(0));
  EXPECT_EQ(outcomes_.results.get(0), 0x1234u);
  EXPECT_FALSE(outcomes_.has_answer(1));
  EXPECT_FALSE(outcomes_.has_failed(1));
}

TEST_F(ProcessUnits, SeveralOpsAndThreadsMayUseOneCommand) {
  const std::string name = "process:" MMAFUZZ_BINARY_DIR "/mmafuzz serve exact";
  std::vector<std::unique_ptr<Unit>> units;
  std::vector<Batch> batches;
  for (int k = 1; k <= 4; ++k) {
    const Op op = dot_op("fp16", "fp32", "fp32", k);
    units.push_back(bind_or_fail(name, op));
    batches.emplace_back(op);
    StructuredGenerator(op, 1).fill(0, 300, batches.back());
  }
  std::vector<int> wrong(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (size_t round = 0; round < 8; ++round) {
        const size_t i = (t + round) % units.size();
        Outcomes here, there;
        bind_or_fail("exact", batches[i].op())->run(batches[i], here);
        units[i]->run(batches[i], there);
        const size_t bytes = batches[i].size() * here.results.stride();
        wrong[t] += std::memcmp(here.results.data(), there.results.data(), bytes) != 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

TEST_F(ProcessUnits, APluginIsAProcessThatEqualsItAndItsCrashIsAFinding) {
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=4");
  Batch batch(op);
  StructuredGenerator(op, 1).fill(0, 500, batch);
  const std::string example = "plugin:" MMAFUZZ_BINARY_DIR "/tests/truncating_dot.so";
  Outcomes here;
  bind_or_fail(example + "?isolated=0", op)->run(batch, here);
  EXPECT_EQ(run(*bind_or_fail(example, op), batch), "");
  EXPECT_EQ(std::memcmp(here.results.data(), outcomes_.results.data(), 500 * here.results.stride()), 0);
  EXPECT_THAT(refusal_of(example), HasSubstr("computes dot products only, not scalar"));

  const std::filesystem::path source = folder_ / "crash.c", library = folder_ / "crash.so";
  std::ofstream(source) << R"(#include "oracles/units/plugin_abi.h"
#include <stdlib.h>
#include <stdio.h>
int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }
const char* mmafuzz_plugin_name(void) { return "crashing"; }
int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size) { return 1; }
int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) {
  puts("what a plugin prints is no answer");
  for (size_t i = 0; i < batch->n; ++i) {
    if (batch->a[2 * i] == 0x7e00) abort();
    batch->result[i] = batch->a[2 * i];
  }
  return 0;
})";
  const std::string command = "cc -shared -fPIC -I '" MMAFUZZ_SOURCE_DIR "' '" + source.string() + "' -o '" +
                              library.string() + "' 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no C compiler";
  const std::unique_ptr<Unit> unit = bind_or_fail("plugin:" + library.string(), op_from_text(add16));
  EXPECT_THAT(run(*unit, cases_of({1, bad, 3})), HasSubstr("died of Aborted on 7e00 3c00"));
  EXPECT_TRUE(outcomes_.has_answer(0));
  EXPECT_TRUE(outcomes_.has_failed(1));
  EXPECT_EQ(outcomes_.how_failed, "it died of Aborted");
  EXPECT_EQ(outcomes_.results.get(2), 3u);
  EXPECT_EQ(kept().size(), 2u) << "the source and the library: the case is all there is to know";

  // However many cases of however many batches break it, all others are answered.
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<uint64_t> operands(600);
    for (size_t i = 0; i < operands.size(); ++i) operands[i] = i % 30 == 1 ? bad : i;
    run(*unit, cases_of(operands));
    for (size_t i = 0; i < operands.size(); ++i) {
      ASSERT_EQ(outcomes_.has_failed(i), i % 30 == 1) << i;
      ASSERT_EQ(outcomes_.has_answer(i), i % 30 != 1) << i;
      ASSERT_EQ(outcomes_.has_answer(i) ? outcomes_.results.get(i) : i, i);
    }
  }
}

/// Of a process that has to be started again after each crash, few of the other cases go.
TEST_F(ProcessUnits, ThatCrashesOnFewCasesAnswersMostOthersOfEveryBatch) {
  const std::unique_ptr<Unit> unit = bind_or_fail(false_unit("crash", "text", "few"), op_from_text(add16));
  std::vector<uint64_t> operands(2048, 5);
  operands[77] = operands[1900] = bad;
  for (int batch = 0; batch < 2; ++batch) {
    run(*unit, cases_of(operands));
    EXPECT_TRUE(outcomes_.has_failed(77)) << batch;
    size_t answered = 0;
    for (size_t i = 0; i < operands.size(); ++i) answered += outcomes_.has_answer(i) && outcomes_.results.get(i) == 5;
    EXPECT_GE(answered, 2046u - 32) << batch;
  }
}

/// Python functions on one case at a time, which need no numpy.
class PythonUnits : public ProcessUnits {
 protected:
  std::string unit(const std::string& function) const {
    return "python:" + (folder_ / "u.py").string() + ":" + function;
  }
  void SetUp() override {
    std::ofstream(folder_ / "u.py") << R"(
def per_case(function):
    function.per_case = True
    return function

@per_case
def first(op, operands):
    print("what a function prints is no answer")
    return operands[0]

seen = 0

@per_case
def counts(op, operands):
    global seen
    seen += 1
    return seen

@per_case
def text(op, operands):
    return "3c00"

@per_case
def wide(op, operands):
    return 1 << 20

@per_case
def raises(op, operands):
    if operands[0] == 0x7e00:
        raise ValueError("no\nNaN")
    return operands[0]

@per_case
def fma(op, operands):
    x, y, z = operands
    return x ^ y << 4 ^ z << 8
fma.supports = lambda op: (op.kind, op.operation, op.format, op.round) == ("scalar", "fma", "fp16", "up") or "fma only"

@per_case
def dot(op, a, b, c, scale_a, scale_b):
    return a[2] | b[1] << 8 | scale_a[1] << 16 | scale_b[0] << 24 | c << 32

@per_case
def gemm(op, a, b, c):
    return [op.m * 16 + op.n] * len(c)

not_a_function = 3
)";
  }
};

TEST_F(PythonUnits, GetEncodingsAndGiveThem) {
  run(*bind_or_fail(unit("first"), op_from_text(add16)), cases_of({1, 2, bad}));
  for (size_t i : {0, 1, 2}) EXPECT_TRUE(outcomes_.has_answer(i));
  EXPECT_EQ(outcomes_.results.get(1), 2u);
  const Op scaled = op_from_text("dot a=e4m3 b=e5m2 c=fp32 d=fp64 k=3 sa=e8m0 sb=ue4m3 sblock=2");
  const uint64_t r = run_one_dot(*bind_or_fail(unit("dot"), scaled), scaled, {1, 2, 0xa3}, {4, 0xb5, 6}, 0xcccccccc,
                                 {7, 0xd8}, {0xe9, 10});
  EXPECT_EQ(to_hex(scaled.d, r), "cccccccce9d8b5a3");
  Batch product(op_from_text("gemm a=fp16 b=fp16 c=fp16 d=fp16 m=2 n=3 k=1"));
  product.resize(2);
  run(*bind_or_fail(unit("gemm"), product.op()), product);
  EXPECT_EQ(outcomes_.results.get(1, 5), 0x23u);
}

TEST_F(PythonUnits, SayWhatTheyTake) {
  EXPECT_EQ(refusal_of(unit("fma"), "scalar fma format=fp16 round=up"), "it is bound");
  EXPECT_THAT(refusal_of(unit("fma"), "scalar fma format=fp16"), EndsWith(": fma only"));
  EXPECT_THAT(refusal_of(unit("first"), "scalar add format=fp16 round=up"), HasSubstr("honours round=up"));
  EXPECT_THAT(refusal_of(unit("first"), "scalar add format=fp16 ftz=1"), HasSubstr("honours ftz=1"));
  EXPECT_THAT(refusal_of(unit("none")), HasSubstr("AttributeError"));
  EXPECT_THAT(refusal_of(unit("not_a_function")), HasSubstr("Error"));
  EXPECT_THAT(refusal_of("python:/nowhere/u.py:f"), HasSubstr("FileNotFoundError"));
  EXPECT_THAT(refusal_of("python:/nowhere/u.txt:f"), HasSubstr("is no Python file"));
}

TEST_F(PythonUnits, WhatTheyRaiseOrGiveWronglyIsAFinding) {
  EXPECT_THAT(run(*bind_or_fail(unit("raises"), op_from_text(add16)), cases_of({1, bad, 3})),
              HasSubstr("ValueError: no NaN"));
  EXPECT_TRUE(outcomes_.has_answer(0));
  EXPECT_TRUE(outcomes_.has_failed(1));
  EXPECT_TRUE(outcomes_.has_answer(2));
  EXPECT_EQ(outcomes_.how_failed, "says: failed ValueError: no NaN");
  EXPECT_THAT(run(*bind_or_fail(unit("text"), op_from_text(add16)), cases_of({1})), HasSubstr("the result is a str"));
  EXPECT_THAT(run(*bind_or_fail(unit("wide"), op_from_text(add16)), cases_of({1})), HasSubstr("OverflowError"));
}

TEST_F(PythonUnits, RememberNothingWhereTheyAreFresh) {
  const auto first_result = [&](const std::string& name) {
    EXPECT_EQ(run(*bind_or_fail(name, op_from_text(add16)), cases_of({1, 1})), "");
    EXPECT_EQ(outcomes_.results.get(1), outcomes_.results.get(0) + 1);
    return outcomes_.results.get(0);
  };
  EXPECT_EQ(first_result(unit("counts")), 1u);
  EXPECT_EQ(first_result(unit("counts")), 3u);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(first_result(begun_anew(unit("counts"), registry())), 1u);
  EXPECT_EQ(begun_anew(unit("counts"), registry()), unit("counts") + "?fresh=1");
  EXPECT_EQ(begun_anew("exact", registry()), "exact");
  EXPECT_THAT(refusal_of(unit("counts") + "?fresh=2"), HasSubstr("fresh=0 or 1"));
}

/// The same functions on arrays, where this machine's Python has numpy.
TEST_F(PythonUnits, OnArraysGetTheTypesOfTheFormats) {
  const char* python = std::getenv("MMAFUZZ_PYTHON");
  if (std::system((std::string(python ? python : "python3") + " -c 'import numpy' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << "no numpy";
  const std::string units = "python:" MMAFUZZ_SOURCE_DIR "/examples/units.py:serial";
  const Op op = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=3");
  // 1 * 2 + 2 * 0.5 + 3 * -1 + 0.5 is 0.5
  EXPECT_EQ(run_one_dot(*bind_or_fail(units, op), op, {0x3c00, 0x4000, 0x4200}, {0x4000, 0x3800, 0xbc00}, 0x3f000000),
            0x3f000000u);
  const Op wrong = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp16 k=1");
  Batch batch(wrong);
  batch.resize(1);
  EXPECT_THAT(run(*bind_or_fail(units, wrong), batch), HasSubstr("the result is float32, and fp16 is float16"));
}

}  // namespace
}  // namespace mmafuzz
