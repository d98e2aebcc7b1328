#include <mmafuzz/search.h>

#include <algorithm>

#include "core/case_text.h"
#include "core/divergence_log.h"
#include "core/parallel.h"
#include "library/access.h"
#include "oracles/properties/properties.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "search/parallel_search.h"
#include "triage/minimize_divergence.h"

namespace mmafuzz::v1 {

struct Search::Content {
  Op op;
  std::string op_line;
  std::vector<Unit> units;
  uint64_t seed = 1;
  unsigned threads = 0;
  bool properties = true;
};

namespace {

struct Enough {};  ///< thrown by the search's callback to end the search

/// A kind of divergence as a Finding, minimized to its witness and cause.
Finding simplest(const BucketKey& key, const ::mmafuzz::Finding& found, const Registry& units) {
  Finding finding;
  finding.property = key.property;
  finding.units = key.units;
  finding.severity = name_of(found.severity);
  finding.value_class = key.value_class;
  finding.count = found.count;
  if (const auto small = minimized(key.property, key.units, found.first.cases.part(0), units)) {
    finding.cause = small->bucket.cause;
    finding.detail = small->bucket.detail;
    finding.witness = small->bucket.witness;
  } else {  // the divergence does not occur again
    finding.cause = "unstable";
    finding.witness = case_text_start + divergence_record(found.first);
  }
  return finding;
}

}  // namespace

Search::Search(const std::string& op) : content_(std::make_unique<Content>()) {
  guarded([&] {
    content_->op = op_from_text(op);
    content_->op_line = op_words(content_->op);
  });
}
Search::~Search() = default;

Search& Search::with(const Unit& unit) {
  if (unit.op() != content_->op_line) throw Error(unit.name() + " is of the op '" + unit.op() + "'");
  for (const Unit& added : content_->units)
    if (added.name() == unit.name()) throw Error("two units are called " + unit.name());
  content_->units.push_back(unit);
  return *this;
}

Search& Search::with(const std::string& name) { return with(Unit(name, content_->op_line)); }

Search& Search::seed(uint64_t seed) {
  content_->seed = seed;
  return *this;
}
Search& Search::threads(unsigned threads) {
  content_->threads = threads;
  return *this;
}
Search& Search::properties(bool also) {
  content_->properties = also;
  return *this;
}

std::vector<Finding> Search::run(uint64_t cases, const std::function<bool()>& is_enough) {
  return guarded([&] {
    Registry units = make_registry();
    std::vector<Unit> functions;
    std::vector<std::string> names;
    for (const Unit& unit : content_->units) {
      names.push_back(unit.name());
      if (Access::content(unit).function) functions.push_back(unit);
    }
    units.add(make_function_family(std::move(functions)));
    if (names.empty()) throw Error("a search needs units: with()");
    const Comparison comparison(content_->op, names, units,
                                content_->properties ? all_properties() : Comparison::Properties{});
    SearchLimits limits;
    limits.seed = content_->seed;
    limits.cases = cases;
    limits.threads = content_->threads ? content_->threads : hardware_threads();
    limits.deadline = std::chrono::steady_clock::time_point::max();
    Findings total;
    const auto merge = [&](const Findings& chunk) {
      total.add(chunk, [&](const auto& fresh) { comparison.confirm(fresh.first); });
    };
    try {
      search_in_parallel(comparison, limits, merge, [&] {
        if (is_enough && called(is_enough)) throw Enough{};
      });
    } catch (const Enough&) {}
    if (total.compared == 0)
      throw Error("nothing was compared: give two units, or one that claims a model or a property");
    if (const std::string silent = silence_message(total.answers); !silent.empty()) throw Error(silent);
    std::vector<Finding> findings;
    for (const auto& [key, found] : total.buckets) findings.push_back(simplest(key, found, units));
    return findings;
  });
}

}  // namespace mmafuzz::v1
