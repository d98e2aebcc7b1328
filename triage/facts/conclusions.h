// What a campaign's facts mean: held against what the rows say must be there, and against what is known.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "triage/facts/knowledge.h"

namespace mmafuzz {

/// An op and the units that are compared on it.
using FactField = std::pair<Op, std::vector<std::string>>;

/// Two units of which a fact says why they differ on an op.
struct RowDifference {
  Op op;
  std::string unit, other;
  /// Rows that differ in nothing else. Cases on which they do are likely to show it.
  std::vector<std::pair<std::string, std::string>> alone;

  std::string text() const;  ///< "UNIT and UNIT on OP"
};

/// What rows imply about a fact.
struct Expectation {
  bool must = false;                    ///< two rows differ in it; otherwise it is only possible, beside a reference
  bool hidden = false;                  ///< two rows differ in it, but no operands can show that
  std::vector<RowDifference> shown_by;  ///< a few of the pairs that could show it; of one that must be, pairs of rows
};

/// The facts that the rows of these units imply, by name. Two rows that differ in a parameter which both use must show
/// it. A row's parameter may show against a reference, where other parameters may hide it.
std::map<std::string, Expectation> expected_facts(const Registry& registry, const std::vector<FactField>& fields);

struct Conclusions {
  std::vector<Fact> contradictions;  ///< broken claims, the unexplained, and what the rows say cannot be
  std::vector<Fact> fresh;           ///< not known
  std::vector<Fact> confirmed;  ///< known, called known or expected by a person, or what two rows say of themselves
  std::vector<std::pair<std::string, std::string>> unseen;  ///< expected, with examples: holes in the search
  std::string inconclusive;                                 ///< why nothing can be concluded; "" where something can

  /// Those that somebody called known or expected.
  size_t known_contradictions() const {
    return static_cast<size_t>(
        std::count_if(confirmed.begin(), confirmed.end(), [](const Fact& fact) { return fact.contradiction; }));
  }
  /// Whether no unit was seen to break a claim, known or not, and something can be concluded.
  bool is_green() const { return contradictions.empty() && known_contradictions() == 0 && inconclusive.empty(); }
};

/// Without expectations (none are known of a store alone) nothing is unseen. `seen_before`: facts that are not new,
/// though nobody wrote them down; a contradiction stays one.
Conclusions conclude(const std::vector<Bucket>& buckets, const Knowledge& knowledge,
                     const std::map<std::string, Expectation>& expected, const std::set<std::string>& seen_before = {});

}  // namespace mmafuzz
