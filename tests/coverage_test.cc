// Functional coverage: every group has a hand-made case that reaches a named bin, bins that arithmetic forbids are
// refused, and what a search learns depends on its seed alone.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "core/case_text.h"
#include "fuzz_targets/number_target.h"
#include "oracles/families.h"
#include "oracles/properties/properties.h"
#include "oracles/models/model_rows.h"
#include "plan/request.h"
#include "search/guided_search.h"
#include "search/possible_bins.h"
#include "tests/case_count.h"

namespace mmafuzz {

namespace {
std::set<int> reported_bins;
}
/// The engine's side of a target, here a set.
void report_bin(int bin, int) { reported_bins.insert(bin); }
size_t neighbour_factor() { return 1; }

namespace {

struct SetSink {
  std::set<int> bins;
  bool broken = false;
  void hit(int bin) { bins.insert(bin); }
  void impossible(const char*) { broken = true; }
};

std::set<int> bins_of(const Op& op, const Unit& unit, const Batch& batch, size_t index) {
  SetSink sink;
  Coverage(op, unit.model(), unit.slicing()).observe(batch, index, sink);
  EXPECT_FALSE(sink.broken);
  return sink.bins;
}

std::string source(const std::string& path) { return std::string(MMAFUZZ_SOURCE_DIR) + "/" + path; }

/// The `# bin NAME` lines of a seed file, in order.
std::vector<std::string> bin_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("# bin ")) names.push_back(line.substr(6));
  return names;
}

std::string group_of(const std::string& bin) { return bin.substr(0, bin.find('.')); }

/// Checks each case of a file against its `# bin` line and collects the groups.
void check_corners(const std::string& path, std::set<std::string>& groups) {
  const std::vector<std::string> expected = bin_lines(path);
  const Registry registry = oracle_registry();
  CaseReader reader(path);
  CaseBlock block;
  size_t next = 0;
  while (reader.next(block, 1)) {
    ASSERT_LT(next, expected.size()) << path << ": a case without a bin line";
    const Op& op = block.batch.op();
    Result<std::unique_ptr<Unit>> unit = registry.bind(block.unit, op);
    ASSERT_TRUE(unit) << block.unit;
    std::set<std::string> reached;
    for (const int bin : bins_of(op, **unit, block.batch, 0)) reached.insert(bin_name(bin));
    std::string all;
    for (const std::string& name : reached) all += "\n  " + name;
    EXPECT_TRUE(reached.count(expected[next]))
        << case_line(block.batch, 0) << "\ndoes not reach " << expected[next] << " but" << all;
    groups.insert(group_of(expected[next]));
    ++next;
  }
  EXPECT_FALSE(reader.error());
  EXPECT_EQ(next, expected.size());
}

TEST(Coverage, EveryGroupHasAHandMadeCaseThatReachesANamedBin) {
  std::set<std::string> groups;
  for (const char* target : {"dot_models", "convert", "scalar", "ozaki_dgemm"})
    check_corners(source(std::string("corpus/") + target + "/seeds/corners.cases"), groups);
  groups.insert("disagree");  // the two groups that need more than one unit or case: tests below
  groups.insert("property");
  for (const BinGroup& group : bin_groups()) EXPECT_TRUE(groups.count(group.name)) << group.name;
}

TEST(Coverage, DisagreementTellsWhoAgreesAndHowFarTheOthersAre) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const Comparison comparison(
      op, {"exact", "model:hopper/mma.m16n8k16.f32.f16.f16.f32", "model:volta/mma.m8n8k4.f32.f16.f16.f32"},
      oracle_registry(), {});
  Batch batch(op);
  batch.resize(2);
  for (Column& column : batch.inputs())
    for (size_t i = 0; i < 2; ++i)
      for (int j = 0; j < column.count(); ++j) column.set(i, j, 0);
  batch.inputs()[2].set(0, 0, 0x3f800000);
  // Fasi et al.: four products 2^-24 beside c = 1 are all lost on Volta; exactly they are two ulp.
  batch.inputs()[2].set(1, 0, 0x3f800000);
  for (int i = 0; i < 4; ++i)
    for (size_t column : {0, 1}) batch.inputs()[column].set(1, i, 0x0c00);
  std::vector<Outcomes> outcomes;
  comparison.run(batch, outcomes);
  EXPECT_EQ(bin_name(comparison.disagreement_bin(outcomes, 2, 0)), "disagree.model+exact.ulp=0");
  EXPECT_EQ(bin_name(comparison.disagreement_bin(outcomes, 2, 1)), "disagree.none.ulp=2");
}

TEST(Coverage, ABrokenPropertyReachesItsBin) {
  TargetOptions options;
  options.units = {"model:volta/mma.m8n8k4.f32.f16.f16.f32"};
  options.ops = {"dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"};
  reported_bins.clear();
  NumberTarget target(options, target_named("dot_monotone"));
  target.replay_cases(source("corpus/dot_monotone/seeds/fasi.cases"));
  std::set<std::string> names;
  for (const int bin : reported_bins) names.insert(bin_name(bin));
  EXPECT_TRUE(names.count("property." + std::to_string(number_of(*find_property("monotone_in_c"))) + ".broken"));
}

TEST(Coverage, EveryPropertyHasItsOwnBins) {
  EXPECT_LE(all_properties().size(), static_cast<size_t>(bins::Property::size(0)));
  std::set<int> numbers;
  for (const Property* property : all_properties()) numbers.insert(number_of(*property));
  EXPECT_EQ(numbers.size(), all_properties().size());
}

TEST(Coverage, EveryBinHasItsOwnName) {
  std::set<std::string> names;
  for (int bin = 0; bin < bins::count; ++bin) names.insert(bin_name(bin));
  EXPECT_EQ(names.size(), static_cast<size_t>(bins::count));
  EXPECT_LE(bins::count, 4096);
  EXPECT_THROW(bin_name(bins::count), std::out_of_range);
}

TEST(Coverage, ImpossibleAlignmentsAreRefused) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const Result<std::unique_ptr<Unit>> unit = oracle_registry().bind("model:hopper/mma.m16n8k16.f32.f16.f16.f32", op);
  const DotModel& model = *(*unit)->model();
  const std::vector<uint64_t> zeros(16);
  DotOperands in;
  in.a = in.b = zeros.data();
  in.k = 16;
  const auto refused = [&](uint64_t significand, int shift, bool lost) {
    SetSink sink;
    BinTrace<SetSink> trace(model, in, sink);
    Step step;
    step.count = 1;
    step.unit_exponent = -model.fraction_bits;
    step.addend[0] = make_addend(Addend::Source::c, 0, NumberClass::finite, false, significand, -shift - 23, -shift);
    step.addend[0].shift = shift;
    step.addend[0].lost = lost;
    trace(step);
    return sink.broken;
  };
  EXPECT_TRUE(refused(0x800000, 0, true));  // nothing can fall off an unshifted fp32 number: F = 25
  EXPECT_FALSE(refused(0x800000, 0, false));
  EXPECT_TRUE(refused(0x800000, 26, false));  // beyond F nothing of a significand below 2 is left
  EXPECT_FALSE(refused(0x800000, 26, true));
  EXPECT_FALSE(refused(0x800001, 3, true));
}

TEST(Coverage, SameSeedSameCorpus) {
  const Op op = dot_op("fp16", "fp32", "fp32", 16);
  const Result<std::unique_ptr<Unit>> unit = oracle_registry().bind("model:hopper/mma.m16n8k16.f32.f16.f16.f32", op);
  const auto run = [&](uint64_t seed) {
    std::vector<GuidedSearch::Focus> focuses;
    focuses.push_back(
        {(*unit)->name(), corner_hints((*unit)->model()), make_functional_feedback(op, (*unit)->model())});
    GuidedSearch search(op, std::move(focuses), seed);
    Batch batch;
    for (uint64_t chunk = 0; chunk < 8; ++chunk) {
      search.propose(chunk, 256 * chunk, 256, batch);
      search.learn(search.observe(chunk, 256 * chunk, batch));
    }
    std::string text;
    for (size_t i = 0; i < search.corpus().size(); ++i) text += case_line(search.corpus(), i) + "\n";
    return text;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

/// What is said to be impossible must not happen, on any row and op, under anything that our searches propose.
TEST(PossibleBins, NoCaseReachesWhatIsRuledOut) {
  const auto expect_none = [](const Op& op, const DotModel* model, const std::string& unit) {
    std::set<int> seen;
    std::vector<GuidedSearch::Focus> focuses;
    focuses.push_back({unit, corner_hints(model), make_functional_feedback(op, model)});
    GuidedSearch search(op, std::move(focuses), 5);
    Batch batch(op);
    SetSink sink;
    for (uint64_t chunk = 0; chunk < case_count(3, 16); ++chunk) {
      search.propose(chunk, chunk * 512, 512, batch);
      Coverage coverage(op, model);
      for (size_t i = 0; i < batch.size(); ++i) coverage.observe(batch, i, sink);
      search.learn(search.observe(chunk, chunk * 512, batch));
    }
    size_t possible = 0;
    for (int bin = 0; bin < bins::count; ++bin) possible += !ruled_out(op, model, bin);
    for (const int bin : sink.bins)
      EXPECT_FALSE(ruled_out(op, model, bin)) << unit << " " << to_text(op) << " " << bin_name(bin);
    EXPECT_LT(possible, static_cast<size_t>(bins::count)) << unit;
  };
  for (const ModelRow& row : model_rows()) {
    if (row.op.a.fields().integer || row.op.kind != OpKind::dot) continue;
    expect_none(row.op, &row.model, row.arch + "/" + row.instruction + "." + row.shape + "." + row.types);
  }
  for (const char* text :
       {"convert from=fp32 to=fp16 nan=any", "convert from=fp32 to=e4m3 nan=any", "convert from=fp32 to=e8m0 nan=any",
        "convert from=fp32 to=uhp nan=any", "convert from=fp32 to=cfloat8_1_4_3:7 nan=any",
        "convert from=fp64 to=fp32 nan=any", "scalar fma format=fp16 nan=any", "scalar sqrt format=bf16 nan=any"})
    expect_none(op_from_text(text), nullptr, "ieee");
}

}  // namespace
}  // namespace mmafuzz
