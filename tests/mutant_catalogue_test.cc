// The mutant catalogue: every name binds, all kernels are in it, and no hard mutant is equivalent to its original: each
// has a witness, a case on which the two differ.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "core/case_text.h"
#include "core/registry.h"
#include "plan/registry.h"
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

const std::string root = MMAFUZZ_SOURCE_DIR;

struct Line {
  std::string name, original;
  bool hard;
  const ModelRow* row;
};

std::vector<Line> catalogue() {
  std::ifstream in(root + "/bench/mutants.txt");
  std::vector<Line> lines;
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    std::istringstream words(text);
    std::string name, mark;
    words >> name >> mark;
    const std::string original = name.substr(0, name.find('?'));
    lines.push_back({name, original, mark == "hard", find_model_row(original.substr(original.find(':') + 1))});
  }
  return lines;
}

TEST(MutantCatalogue, HoldsAHundredMutantsOfAllKernelsAndThirtyHardOnes) {
  size_t hard = 0, pairs = 0;
  std::set<Kernel> kernels;
  std::set<std::string> names;
  for (const Line& line : catalogue()) {
    ASSERT_NE(line.row, nullptr) << line.name;
    const Result<std::unique_ptr<Unit>> unit = registry().bind(line.name, line.row->op);
    ASSERT_TRUE(bool(unit)) << unit.refusal().reason;
    EXPECT_TRUE(names.insert(line.name).second) << line.name << " stands twice";
    kernels.insert(line.row->model.kernel);
    hard += line.hard;
    pairs += line.name.find(',') != std::string::npos;
  }
  EXPECT_GE(names.size(), 100u);
  EXPECT_GE(hard, 30u);
  EXPECT_GE(pairs, 10u);
  EXPECT_EQ(kernels.size(), 8u);
}

TEST(MutantCatalogue, EveryHardMutantHasAWitness) {
  std::set<std::string> open;
  for (const Line& line : catalogue())
    if (line.hard) open.insert(line.name);
  ASSERT_FALSE(open.empty());
  CaseReader reader(root + "/corpus/mutants/witnesses.cases");
  CaseBlock block;
  while (reader.next(block, 100)) {
    const std::string original = block.unit.substr(0, block.unit.find('?'));
    const auto mutant = registry().bind(block.unit, block.batch.op()),
               right = registry().bind(original, block.batch.op());
    ASSERT_TRUE(mutant && right) << block.unit;
    Outcomes x, y;
    (*mutant)->run(block.batch, x);
    (*right)->run(block.batch, y);
    for (size_t i = 0; i < block.batch.size(); ++i)
      EXPECT_NE(x.results.get(i), y.results.get(i)) << block.unit << ", line " << block.line[i];
    EXPECT_EQ(open.erase(block.unit), 1u) << block.unit << " is no hard mutant";
  }
  ASSERT_FALSE(reader.error()) << reader.error()->to_string();
  for (const std::string& name : open) ADD_FAILURE() << name << " has no witness";
}

}  // namespace
}  // namespace mmafuzz
