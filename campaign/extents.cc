#include "campaign/extents.h"

#include <algorithm>
#include <map>
#include <optional>

#include "campaign/differing_cases.h"
#include "campaign/panel.h"
#include "campaign/strangers.h"
#include "core/text.h"
#include "core/parallel.h"
#include "core/row_of_unit.h"
#include "core/ulps.h"
#include "plan/registry.h"
#include "search/structured_generator.h"
#include "triage/facts/fact_name.h"

namespace mmafuzz {
namespace {

constexpr size_t compared_cases = 4096;  ///< structured cases of an op

/// Two units that are compared on an op to say how often and how far a fact shows.
struct MeasuringPair {
  Op op;
  std::string first, second;
  /// `second` is `first` with the parameter changed; else they are the units of the witness, which may differ in more.
  bool differs_by_parameter;
  std::string stranger = "";  ///< the one of the two of whose arithmetic nothing is known (is_stranger); "": none
};

/// The pair for a fact: where rows imply the fact, a row and its change, on the fact's op if that is among theirs; else
/// the units of the witness. nullopt where these are not two of one fact, or may not run here.
std::optional<MeasuringPair> pair_for(const Fact& fact, const std::map<std::string, Expectation>& expected) {
  if (const auto found = expected.find(fact.name); found != expected.end()) {
    const std::vector<RowDifference>& shown_by = found->second.shown_by;
    const auto on_its_op =
        std::ranges::find(shown_by, fact.best.key.op, [](const RowDifference& one) { return op_label(one.op); });
    const RowDifference& difference = on_its_op == shown_by.end() ? shown_by.front() : *on_its_op;
    const auto& [changed_row, row] = difference.rows_differing_alone.back();
    return MeasuringPair{difference.op, row, changed_row, true};
  }
  const std::vector<std::string>& units = fact.best.key.units;
  const std::optional<Op> op = op_of_witness(fact.best);
  if (fact.best.facts.size() != 1 || units.size() != 2 || !op || op->kind == OpKind::gemm) return {};
  std::string stranger;
  for (const std::string& name : units) {
    if (is_safe_here(name)) continue;
    const std::unique_ptr<Unit> unit = bound_or_null(registry(), name, *op);
    if (!unit || !is_stranger(*unit) || op->kind != OpKind::dot) return {};
    stranger = name;
  }
  return MeasuringPair{*op, units[0], units[1], false, stranger};
}

/// The extent of a fact: "it changes 0.4 % alone, by up to 1 ulp"; empty where nothing differs.
std::string measured_extent(const MeasuringPair& pair) {
  const std::unique_ptr<Unit> first = bound_or_null(registry(), pair.first, pair.op),
                              second = bound_or_null(registry(), pair.second, pair.op);
  if (!first || !second) return "";
  Batch batch(pair.op);
  StructuredGenerator(pair.op, 1).fill(0, compared_cases, batch);
  Outcomes x, y;
  first->run(batch, x);
  second->run(batch, y);
  size_t differing = 0;
  uint64_t greatest_gap = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!x.has_answer(i) || !y.has_answer(i) || first_difference(batch, x.results, y.results, i) < 0) continue;
    ++differing;
    const uint64_t gap = ulp_gap(pair.op.d.fields(), x.results.get(i), y.results.get(i));
    if (gap != UINT64_MAX) greatest_gap = std::max(greatest_gap, gap);  // both are numbers
  }
  if (differing == 0) return "";
  const std::string share = percent(differing, batch.size());
  std::string text = pair.differs_by_parameter ? "it changes " + share + " alone" : "its units differ on " + share;
  if (greatest_gap > 1'000'000) text += ", by up to more than a million ulps";
  else if (greatest_gap) text += ", by up to " + counted(greatest_gap, "ulp");
  if (pair.stranger.empty()) return text;
  return text + ", " + likeness(pair.stranger, pair.stranger == pair.first ? pair.second : pair.first, batch);
}

/// Appends to a bucket's detail, and to the comment of its witness that is the detail.
void append_to_detail(Bucket& bucket, const std::string& text) {
  const std::string old_line = "\n# " + bucket.detail + "\n";
  bucket.detail += text;
  if (const size_t at = bucket.witness.find(old_line); at != std::string::npos)
    bucket.witness.replace(at, old_line.size(), "\n# " + bucket.detail + "\n");
}

}  // namespace

void add_extents(std::vector<Bucket>& buckets, const std::map<std::string, Expectation>& expected, unsigned jobs) {
  std::vector<Fact> facts = facts_of(buckets);
  std::erase_if(facts, [](const Fact& fact) { return parts_of_fact(fact.name).kind != FactParts::Kind::difference; });
  std::vector<std::string> extents(facts.size());
  in_parallel(jobs, facts.size(), [&](size_t i) {
    if (const std::optional<MeasuringPair> pair = pair_for(facts[i], expected)) extents[i] = measured_extent(*pair);
  });
  std::map<std::string, Bucket*> by_id;
  for (Bucket& bucket : buckets) by_id[bucket.id()] = &bucket;
  for (size_t i = 0; i < facts.size(); ++i) {
    Bucket& best = *by_id.at(facts[i].best.id());
    if (!extents[i].empty() && extent_of(facts[i].name, best.detail).empty())
      append_to_detail(best, extent_mark(facts[i].name) + extents[i]);
  }
}

}  // namespace mmafuzz
