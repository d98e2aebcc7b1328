// Throughput of the case-text reader on uncompressed text, alone and with the model's results compared, as `check`
// does.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>

#include "core/case_text.h"
#include "core/registry.h"
#include "oracles/families.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t file_cases = 200000;
const char* const unit_name = "model:hopper/mma.m16n8k16.f32.f16.f16.f32";

/// A plain file of k=16 fp16 cases with their results, removed at exit.
class CaseFile {
 public:
  CaseFile() : path_("/tmp/mmafuzz-bench-" + std::to_string(getpid()) + ".cases") {
    const Registry registry = oracle_registry();
    const Op op = dot_op("fp16", "fp32", "fp32", 16);
    Batch batch;
    StructuredGenerator(op, 1).fill(0, file_cases, batch);
    const Outcomes outcomes = (*registry.bind(unit_name, op))->outcomes_of(batch);
    CaseWriter writer(path_);
    writer.unit(unit_name);
    writer.op(op);
    for (size_t i = 0; i < batch.size(); ++i) writer.one_case(batch, i, &outcomes);
    writer.finish();
    bytes_ = std::filesystem::file_size(path_);
  }
  ~CaseFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }
  size_t bytes() const { return bytes_; }

 private:
  std::string path_;
  size_t bytes_;
};

void read_plain(benchmark::State& state) {
  const CaseFile file;
  size_t cases = 0;
  for (auto _ : state) {
    CaseReader reader(file.path());
    CaseBlock block;
    while (reader.next(block, 4096)) cases += block.batch.size();
  }
  if (cases != state.iterations() * file_cases) state.SkipWithError("cases were lost");
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(file.bytes()));
}

void read_and_compare_plain(benchmark::State& state) {
  const CaseFile file;
  const Registry registry = oracle_registry();
  const auto unit = registry.bind(unit_name, dot_op("fp16", "fp32", "fp32", 16));
  size_t mismatches = 0;
  for (auto _ : state) {
    CaseReader reader(file.path());
    CaseBlock block;
    Outcomes outcomes;
    while (reader.next(block, 4096)) {
      (*unit)->run(block.batch, outcomes);
      for (size_t i = 0; i < block.batch.size(); ++i) mismatches += outcomes.results.get(i) != block.expected.get(i);
    }
  }
  if (mismatches) state.SkipWithError("mismatches");
  state.SetBytesProcessed(int64_t(state.iterations()) * int64_t(file.bytes()));
}

BENCHMARK(read_plain)->Unit(benchmark::kMillisecond);
BENCHMARK(read_and_compare_plain)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mmafuzz
