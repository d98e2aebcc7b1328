// From raw divergences to buckets: key first, then the cause of each case, and a witness for each key and cause. The
// witness that shows a fact best on its op is minimized; the others are the simplest cases that were found.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "core/divergence_log.h"
#include "triage/bucket.h"
#include "triage/causes.h"
#include "triage/explain/explanation.h"
#include "triage/small_cases.h"

namespace mmafuzz {

/// Looks on while buckets are made: every so often it hears how many of all steps are done, on any thread; where it
/// returns false, finish() ends early with what it has.
using TriageWatch = std::function<bool(size_t done, size_t all)>;

/// Collects divergences of any number of segments. Buckets, witnesses and counts depend on the divergences alone, not
/// on their order or on the number of threads.
class Triage {
 public:
  /// The registry must outlive it. `jobs`: threads of finish().
  explicit Triage(const Registry& registry, unsigned jobs = 1);
  ~Triage();

  /// Takes a record of a segment. A record that cannot be read or whose units do not bind is counted in refused().
  void add(const LoggedDivergence& divergence);

  /// The buckets of all that was added, in listed order. Of those whose line `has_witness` knows no witness is made.
  /// `minimize_all`: not only of what shows a fact best.
  std::vector<Bucket> finish(const std::set<std::string>& has_witness = {}, const TriageWatch& watch = {},
                             bool minimize_all = false);

  /// Finds the causes of what was added so far.
  void look();
  /// The buckets of what was looked at, without witnesses, in listed order: for whoever cannot wait for finish().
  std::vector<Bucket> kinds() const;

  uint64_t added() const { return added_; }
  /// Records left out, by reason; whole after look() or finish().
  std::map<std::string, uint64_t> refused() const;
  /// Of them, those of severity contract: without them nothing can be concluded.
  uint64_t refused_of_contract() const;

 private:
  class Group;
  /// One property, its units and one op.
  struct Statement {
    std::unique_ptr<Group> group;
    std::string refusal;  ///< why there is no group
  };
  void refuse(const std::string& reason, Severity severity);

  const Registry& registry_;
  unsigned jobs_;
  uint64_t added_ = 0;
  std::map<std::string, Statement> statements_;  ///< by property, units and op
  std::map<std::string, uint64_t> refused_;
  uint64_t refused_of_contract_ = 0;
  SmallCases small_;
};

/// The witness of a divergence as a file of case text: key, cause, severity and results as comments.
std::string witness_text(const Bucket& bucket, const Judge& judge, const Batch& one, const Verdict& verdict,
                         bool minimized = true);

/// Two units on one case, with the cause; nothing where they cannot be compared.
std::optional<ExplainedVerdict> verdict_of_pair(const Batch& one, const std::vector<std::string>& units,
                                                const Registry& registry);

/// The cause of one divergence: `unstable` where the units do not repeat their results on copies of the case among
/// other cases.
std::string cause_of(const Batch& one, const Verdict& verdict, const Judge& judge, Causes& causes);

}  // namespace mmafuzz
