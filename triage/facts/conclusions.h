// What follows from a campaign's facts, compared with the facts that the rows imply and with known facts.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/registry.h"
#include "triage/facts/knowledge.h"

namespace mmafuzz {

/// An op and the names of the units that are compared on it.
using FactField = std::pair<Op, std::vector<std::string>>;

/// Two units that a fact makes differ on an op.
struct RowDifference {
  Op op;
  std::string first, second;  ///< names of the units
  /// Pairs of names of rows that differ in the fact's parameter only: their differences are likely to show the fact.
  std::vector<std::pair<std::string, std::string>> rows_differing_alone;

  std::string text() const;  ///< "UNIT and UNIT on OP"
};

/// What rows imply about a fact.
struct Expectation {
  bool is_required = false;  ///< two rows differ in it and some operands show that; else it is only possible
  bool is_hidden = false;    ///< two rows differ in it, but no operands can show that
  std::vector<RowDifference> shown_by = {};  ///< a few of the pairs that could show it; if required, pairs of rows only
};

/// The facts that the rows of these units imply, by name. Two rows that differ in a parameter which both use must show
/// the difference, unless no operands can. Against a reference it is only possible: other parameters can hide it.
std::map<std::string, Expectation> expected_facts(const Registry& registry, const std::vector<FactField>& fields);

struct Conclusions {
  std::vector<Fact> contradictions;  ///< broken claims, the unexplained, and what the rows or known facts rule out
  std::vector<Fact> fresh;           ///< new facts
  std::vector<Fact> confirmed;       ///< known facts, decided ones, and those that rows or schemes imply
  std::vector<std::pair<std::string, std::string>> unseen;  ///< expected facts that no bucket shows, each with a pair
  std::string inconclusive;                                 ///< why nothing can be concluded; "" where something can

  /// Number of contradictions that somebody called known or expected.
  size_t known_contradictions() const {
    return static_cast<size_t>(
        std::count_if(confirmed.begin(), confirmed.end(), [](const Fact& fact) { return fact.is_contradiction; }));
  }
  /// Whether no unit was seen to break a claim, known or not, and something can be concluded.
  bool is_green() const { return contradictions.empty() && known_contradictions() == 0 && inconclusive.empty(); }
};

/// `expected`: of expected_facts(); empty where only a store is there, and then nothing is unseen or ruled out by rows.
/// `seen_before`: names of facts that are not new though no file has them; a contradiction among them stays one.
Conclusions conclude(const std::vector<Bucket>& buckets, const Knowledge& knowledge,
                     const std::map<std::string, Expectation>& expected, const std::set<std::string>& seen_before = {});

}  // namespace mmafuzz
