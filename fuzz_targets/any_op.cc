// any_op: a random op on every unit that accepts it. An input is an op line, a newline and the operands of one case;
// structured cases of the same op are run with it. A failure means that a unit breaks a claim on that op: to equal a
// model or the referee, or a property. Most often, the fast exact path or an IEEE order disagrees with MPFR.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>

#include "arithmetic/bins.h"
#include "core/case_text.h"
#include "core/divergence_log.h"
#include "core/fnv1a.h"
#include "core/text.h"
#include "fuzz_targets/target.h"
#include "plan/default_fields.h"
#include "plan/registry.h"
#include "plan/targets.h"
#include "search/any_op.h"
#include "search/byte_codec.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t cases_of_op = 8;   ///< cases that run for one input: its own and structured ones
constexpr int max_operands = 4096;  ///< maximum number of operands of a case; larger ops are too slow

/// The op of a line; nullopt where the line is no op, or one with too many operands.
std::optional<Op> small_op(std::string_view line) {
  Result<Op> op = parse_op(line);
  if (!op) return std::nullopt;
  int64_t elements = 0;
  for (const FieldShape& field : op->inputs()) elements += field.count;
  if (elements > max_operands) return std::nullopt;
  return *op;
}

std::vector<uint8_t> encode(const Op& op, const Batch& cases, size_t index) {
  const std::string line = op_words(op) + "\n";
  std::vector<uint8_t> bytes(line.begin(), line.end());
  const std::vector<uint8_t> operands = encode_case({}, cases, index);
  bytes.insert(bytes.end(), operands.begin(), operands.end());
  return bytes;
}

/// A batch of `cases` cases: the input's own, then structured ones that depend on the op alone. nullopt where the first
/// line is no op of small_op.
std::optional<Batch> decode_bytes(const uint8_t* data, size_t size, size_t cases) {
  const uint8_t* end = std::find(data, data + size, uint8_t{'\n'});
  const std::optional<Op> op =
      small_op(std::string_view(reinterpret_cast<const char*>(data), static_cast<size_t>(end - data)));
  if (!op) return std::nullopt;
  Batch batch;
  StructuredGenerator(*op, fnv1a(op_words(*op))).fill(0, cases, batch);
  if (end != data + size) decode_operands(end + 1, static_cast<size_t>(data + size - end - 1), batch, 0);
  return batch;
}

class AnyOpTarget final : public Target {
 public:
  explicit AnyOpTarget(const TargetOptions& options)
      : options_(options),
        index_(registry()),
        any_op_(
            registry(), [this](const Op& op) { return index_.accepting(op); }, properties_of(target_named("any_op"))),
        generator_(1, ops_of_models()) {
    if (!options.ops.empty() || !options.units.empty())
      throw std::runtime_error("any_op draws its ops and takes every unit");
    if (!options.status.empty()) throw std::runtime_error("any_op writes no --status: it has no place in a campaign");
    if (!options.segment.empty()) log_ = std::make_unique<DivergenceLog>(options.segment);
  }

  void run(const uint8_t* data, size_t size) override {
    const std::optional<Batch> cases = decode_bytes(data, size, cases_of_op);
    if (!cases) return;
    cover(cases->op());
    examine(*cases);
  }

  size_t replay_cases(const std::string& path) override {
    size_t cases = 0;
    visit_cases(path, 64, [&](const CaseBlock& block) {
      examine(block.batch);
      cases += block.batch.size();
    });
    return cases;
  }

  std::vector<std::vector<uint8_t>> encode_cases(const std::string& path) override {
    std::vector<std::vector<uint8_t>> inputs;
    visit_cases(path, 64, [&](const CaseBlock& block) {
      for (size_t i = 0; i < block.batch.size(); ++i) inputs.push_back(encode(block.batch.op(), block.batch, i));
    });
    return inputs;
  }

  std::string decode_input(const uint8_t* data, size_t size) override {
    const std::optional<Batch> cases = decode_bytes(data, size, 1);
    if (!cases) return "# no op\n";
    return case_text_start + to_text(cases->op()) + "\n" + case_line(*cases, 0) + "\n";
  }

  /// Replaces the input by a random case, of the same op or of another one.
  size_t mutate(uint8_t* data, size_t size, size_t max_size, uint64_t seed) override {
    CounterRng rng(seed, 0);
    const std::optional<Batch> old = decode_bytes(data, size, 1);
    const bool same_op = old && rng.one_in(2);
    const uint64_t number = rng.next() >> 16;  // the generator multiplies it
    const Op op = same_op ? old->op() : generator_(number);
    Batch fresh;
    StructuredGenerator(op, rng.next()).fill(0, 1, fresh);
    const std::vector<uint8_t> bytes = encode(op, fresh, 0);
    if (bytes.size() > max_size) return 0;
    std::copy(bytes.begin(), bytes.end(), data);
    return bytes.size();
  }

  size_t divergences() const override { return printed_.size(); }

 private:
  /// Reports each pair of words of the op line as a bin, by a hash, so that the engine keeps new combinations.
  static void cover(const Op& op) {
    const std::vector<std::string> words = words_of(op_words(op));
    for (size_t i = 0; i < words.size(); ++i)
      for (size_t j = i + 1; j < words.size(); ++j)
        report_bin(static_cast<int>(fnv1a(words[i] + " " + words[j]) % static_cast<uint64_t>(bins::count)), 0);
  }

  void examine(const Batch& cases) {
    for (const auto& [key, finding] : any_op_.examine(cases).buckets) report(finding.first, finding.count);
  }

  void report(const Divergence& divergence, uint64_t count) {
    const bool contract = divergence.severity == Severity::contract, stops = contract && !options_.keep_going;
    if (log_ && !stops) log_->add(divergence, count);
    const std::string key = divergence.key.to_string();
    if (!printed_.insert(key).second || !contract) return;
    std::fprintf(stderr, "%s\n%s", key.c_str(), divergence_record(divergence).c_str());
    if (!stops) return;
    std::fprintf(stderr, "DEDUP_TOKEN: %s\n", key.c_str());
    std::fflush(stderr);
    std::abort();
  }

  TargetOptions options_;
  UnitIndex index_;
  AnyOp any_op_;
  OpGenerator generator_;
  std::unique_ptr<DivergenceLog> log_;
  std::set<std::string> printed_;
};

}  // namespace

std::unique_ptr<Target> make_target(const TargetOptions& options) { return std::make_unique<AnyOpTarget>(options); }

}  // namespace mmafuzz
