#include "fuzz_targets/number_target.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "core/case_text.h"
#include "core/fnv1a.h"
#include "core/replace_file.h"
#include "oracles/properties/properties.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/feedback.h"
#include "search/focuses.h"
#include "search/structured_generator.h"

namespace mmafuzz {
namespace {

constexpr size_t replayed_cases = 64;  ///< cases of a file in one batch
/// The input's own case and one neighbour in this many are traced; of matrix products, all cases.
constexpr size_t coverage_share = 32;
constexpr uint64_t bound_share = 16;  ///< one input in this many has its dot checked against properties of one unit

/// The number of focus units that the value of a bin's counter distinguishes.
constexpr size_t focus_slots = 8;
int slot_of(size_t focus) { return static_cast<int>(focus % focus_slots); }

}  // namespace

Field::Field(const Op& op, const std::vector<std::string>& units, const Registry& registry,
             const Comparison::Properties& properties)
    : comparison(op, units, registry, properties), cases(cases_of_input(op) * neighbour_factor()), batch(op) {
  WalksOfUnits walks(op, 1);
  for (const auto& [unit, model, slicing] : engine_focuses(comparison))
    focuses.push_back(
        {unit, Coverage(op, model, slicing), Mutator(op, corner_hints(model, slicing)), walks.of(corner_hints(model))});
  reached = ReachedBins(focuses.size());
}

NumberTarget::NumberTarget(const TargetOptions& options, const FuzzTarget& row)
    : options_(options), row_(row), properties_(properties_of(row)), status_(options.status) {
  std::vector<Op> ops;
  for (const std::string& line : options.ops) ops.push_back(op_from_text(line));
  for (const Op& op : ops.empty() ? ops_of(row) : ops) {
    const std::vector<std::string> units = units_of(row, options.units, op);
    if (units.empty()) continue;
    fields_.push_back(std::make_unique<Field>(op, units, registry(), properties_));
  }
  if (fields_.empty()) throw std::runtime_error("none of the units evaluates any of the ops");
  if (!options.segment.empty()) log_ = std::make_unique<DivergenceLog>(options.segment);
}

Field& NumberTarget::load(const uint8_t* data, size_t size, EngineInput& header) {
  header = decode_header(data, size);
  Field& field = *fields_[header.op % fields_.size()];
  field.batch.resize(field.cases);
  decode_operands(data, size, field.batch, 0);
  return field;
}

void NumberTarget::run(const uint8_t* data, size_t size) {
  EngineInput header;
  Field& field = load(data, size, header);
  const size_t focus = header.focus % field.focuses.size();
  field.focuses[focus].mutator.neighbours(field.batch, header.selector);
  // The bytes of the input alone decide, so that it has the same findings when it runs again. Seeds have the selector
  // 0.
  field.turn = header.selector;
  field.round = fnv1a({reinterpret_cast<const char*>(data), size});
  look(field, focus);
}

/// Traces field.batch through the focus unit, then runs the row's checks.
void NumberTarget::look(Field& field, size_t focus) {
  struct Sink {
    NumberTarget& target;
    ReachedBins& reached;
    size_t focus;
    void hit(int bin) {
      report_bin(bin, slot_of(focus));
      if (reached.add(focus, bin)) target.newest_bin_ = bin_name(bin);
    }
    void impossible(const char* what) { FeatureCounts::impossible(what); }
  } sink{*this, field.reached, focus};
  Field::Focus& traced = field.focuses[focus];
  const bool compares_units = row_.compares_units();
  if (compares_units) field.comparison.run(field.batch, field.outcomes, field.round);
  if (traced.coverage.observes()) {
    const size_t share = field.comparison.op().kind == OpKind::gemm ? 1 : coverage_share;
    for (size_t i = 0; i < field.batch.size(); i += share) {
      traced.coverage.observe(field.batch, i, sink);
      if (compares_units && field.comparison.units().size() > 1)
        sink.hit(field.comparison.disagreement_bin(field.outcomes, traced.unit, i));
    }
  }
  if (compares_units) compare(field, focus);
  else relate(field, focus);
  ++inputs_;
  cases_ += field.batch.size();
  if (inputs_ % 16 == 0 && status_.is_due()) write_status();
}

/// Compares every unit of the op on the same cases, and checks the focus unit's properties.
void NumberTarget::compare(Field& field, size_t focus) {
  const size_t unit = field.focuses[focus].unit;
  field.comparison.examine_focus(field.batch, field.outcomes, unit, field.compared_batches++, field.seen,
                                 [&](Divergence d, uint64_t count) {
                                   field.comparison.confirm(d);
                                   report(std::move(d), count);
                                 });
  // Of conversions and scalar operations, every case; of dots, the own case of one input in bound_share, since MPFR is
  // slow.
  if (field.comparison.properties_of(unit).empty()) return;
  const bool dots = field.comparison.op().kind == OpKind::dot;
  if (dots && inputs_ % bound_share != 0) return;
  const Batch cases = dots ? field.batch.part(0) : field.batch;
  const Outcomes base = field.comparison.units()[unit]->outcomes_of(cases);
  for (const BoundProperty& property : field.comparison.properties_of(unit))
    property.check(cases, base, [&](Divergence d, uint64_t count) { report(std::move(d), count); });
}

/// Checks the properties that the row selects on the focus unit's results.
void NumberTarget::relate(Field& field, size_t focus) {
  const size_t unit = field.focuses[focus].unit;
  const Outcomes base = field.comparison.units()[unit]->outcomes_of(field.batch);
  field.seen.answers[field.comparison.units()[unit]->name()].add(base);
  field.comparison.examine_properties(
      field.batch, base, unit, field.turn, [&](Divergence d, uint64_t count) { report(std::move(d), count); },
      [&](const Property& property, size_t compared, bool broken) {
        const int outcome = broken ? 2 : compared ? 1 : 0;  // broken, holds, left out
        report_bin(bins::Property::at(number_of(property), outcome), slot_of(focus));
      });
  if (row_.checks_claims(field.comparison.op()))
    field.comparison.examine_contracts(field.batch, field.turn.value_or(0), field.seen,
                                       [&](Divergence d, uint64_t count) { report(std::move(d), count); });
}

void NumberTarget::report(Divergence divergence, uint64_t count) {
  const std::string key = divergence.key.to_string();
  const bool stops = divergence.severity == Severity::contract && !options_.keep_going;
  if (log_ && !stops && log_->add(divergence, count)) buckets_ = log_->key_count();
  if (!printed_.insert(key).second) return;
  if (!log_) ++buckets_;
  if (divergence.severity != Severity::contract) return;
  std::fprintf(stderr, "%s\n%s", key.c_str(), divergence_record(divergence).c_str());
  if (!stops) return;
  // libFuzzer's minimizer keeps this token; other tools group by the line.
  std::fprintf(stderr, "DEDUP_TOKEN: %s\n", key.c_str());
  std::fflush(stderr);
  std::abort();
}

size_t NumberTarget::mutate(uint8_t* data, size_t size, size_t max_size, uint64_t seed) {
  CounterRng rng(seed, 0);
  EngineInput header = decode_header(data, size);
  if (size < engine_header_bytes || rng.one_in(16)) {  // another op or focus, fresh operands
    header.op = static_cast<uint8_t>(rng.below(static_cast<uint32_t>(fields_.size())));
    header.focus = static_cast<uint8_t>(rng.next());
    header.selector = static_cast<uint8_t>(rng.next());
  }
  Field& field = *fields_[header.op % fields_.size()];
  if (encoded_bytes(field.comparison.op()) > max_size) return 0;
  Batch& batch = field.batch;
  batch.resize(field.cases);
  const Field::Focus& focus = field.focuses[header.focus % field.focuses.size()];
  const Mutator& mutator = focus.mutator;
  if (focus.walks->length() && rng.one_in(8)) {
    focus.walks->make(rng.next() % focus.walks->length(), batch, 0);
  } else if (rng.one_in(4)) {
    Batch fresh;
    StructuredGenerator(field.comparison.op(), seed).fill(0, 1, fresh);
    copy_case(fresh, 0, batch, 0);
  } else {
    decode_operands(data, size, batch, 0);
    if (rng.one_in(2))  // start from a neighbour, which was possibly the reason why the engine kept the input
      mutator.neighbour(batch, 0, header.selector, 1 + rng.below(static_cast<uint32_t>(field.cases - 1)));
    if (!rng.one_in(8)) mutator.mutate(batch, 0, rng);
  }
  if (rng.one_in(2)) header.selector = static_cast<uint8_t>(rng.next());
  if (rng.one_in(8)) header.focus = static_cast<uint8_t>(rng.next());
  const std::vector<uint8_t> bytes = encode_case(header, batch, 0);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

size_t NumberTarget::cross(const uint8_t* first, size_t first_size, const uint8_t* second, size_t second_size,
                           uint8_t* out, size_t max_size, uint64_t seed) {
  CounterRng rng(seed, 1);
  const EngineInput header = decode_header(first, first_size);
  Field& field = *fields_[header.op % fields_.size()];
  if (encoded_bytes(field.comparison.op()) > max_size) return 0;
  field.batch.resize(field.cases);
  decode_operands(first, first_size, field.batch, 0);
  decode_operands(second, second_size, field.batch, 1);
  field.focuses[header.focus % field.focuses.size()].mutator.cross(field.batch, 0, field.batch, 1, rng);
  const std::vector<uint8_t> bytes = encode_case(header, field.batch, 0);
  std::copy(bytes.begin(), bytes.end(), out);
  return bytes.size();
}

Field& NumberTarget::field_of(const Op& op) {
  for (auto* list : {&fields_, &others_})
    for (const std::unique_ptr<Field>& field : *list)
      if (field->comparison.op() == op) return *field;
  const std::vector<std::string> units = units_of(row_, options_.units, op);
  if (units.empty()) throw std::runtime_error("no unit evaluates '" + to_text(op) + "'");
  others_.push_back(std::make_unique<Field>(op, units, registry(), properties_));
  return *others_.back();
}

size_t NumberTarget::replay_cases(const std::string& path) {
  size_t cases = 0;
  visit_cases(path, replayed_cases, [&](const CaseBlock& block) {
    Field& field = field_of(block.batch.op());
    field.batch = block.batch;
    field.turn.reset();
    field.round = 0;
    for (size_t focus = 0; focus < field.focuses.size(); ++focus) look(field, focus);
    cases += block.batch.size();
  });
  return cases;
}

std::vector<std::vector<uint8_t>> NumberTarget::encode_cases(const std::string& path) {
  std::vector<std::vector<uint8_t>> inputs;
  visit_cases(path, replayed_cases, [&](const CaseBlock& block) {
    for (size_t op = 0; op < fields_.size(); ++op) {
      if (!(fields_[op]->comparison.op() == block.batch.op())) continue;
      for (size_t i = 0; i < block.batch.size(); ++i)
        inputs.push_back(
            encode_case({static_cast<uint8_t>(op), static_cast<uint8_t>(inputs.size()), 0}, block.batch, i));
    }
  });
  return inputs;
}

std::string NumberTarget::decode_input(const uint8_t* data, size_t size) {
  EngineInput header;
  const Field& field = load(data, size, header);
  const Field::Focus& focus = field.focuses[header.focus % field.focuses.size()];
  return "# focus " + field.comparison.units()[focus.unit]->name() + ", neighbours " + std::to_string(header.selector) +
         "\n" + to_text(field.comparison.op()) + "\n" + case_line(field.batch, 0) + "\n";
}

void NumberTarget::finish() { write_status(); }

void NumberTarget::write_status() {
  if (!status_.is_wanted()) return;
  if (fields_.size() == 1) {
    try {
      replace_file(status_.path() + ".bins", fields_.front()->reached.bytes());
    } catch (const std::runtime_error&) {  // as StatusFile::write: a search goes on without its status
    }
  }
  size_t reached = 0;
  AnswerCounts answers;
  for (const std::unique_ptr<Field>& field : fields_) {
    reached += field->reached.count();
    add(answers, field->seen.answers);
  }
  status_.write({inputs_, cases_, reached, buckets_, newest_bin_, answers});
}

}  // namespace mmafuzz
