// From raw divergences to buckets: divergences are grouped by key, then by cause, and each key and cause has a witness.
// Witnesses that show a fact best (simplest_of_each_fact) are minimized; the others are the simplest cases found.
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

/// Observes finish(): called before each group of divergences and before each witness that is minimized, on any thread,
/// one call at a time, with the steps done and their total (two per group). Where it returns false, finish() ends
/// early: buckets of groups that were not reached are missing, and witnesses stay as they were found.
using TriageWatch = std::function<bool(size_t done, size_t all)>;

/// Collects divergences of any number of segments. Buckets, witnesses and counts depend on the divergences alone, not
/// on their order or on the number of threads.
class Triage {
 public:
  /// The registry must outlive this object. `jobs`: number of threads of finish().
  explicit Triage(const Registry& registry, unsigned jobs = 1);
  ~Triage();

  /// Takes a record of a segment. A record that cannot be read or whose units do not bind is counted in refused().
  void add(const LoggedDivergence& divergence);

  /// The buckets of all divergences added, in the order of listed_before(). `lines_with_witness`: Bucket::line() of
  /// buckets for which no witness is to be made. `minimizes_all`: every witness is minimized, not only the best of a
  /// fact.
  std::vector<Bucket> finish(const std::set<std::string>& lines_with_witness = {}, const TriageWatch& watch = {},
                             bool minimizes_all = false);

  /// Finds the causes of the divergences added so far.
  void find_causes();
  /// The buckets of the divergences whose causes are found, without witnesses, in the order of listed_before(): for
  /// callers that cannot wait for finish().
  std::vector<Bucket> kinds() const;

  uint64_t added() const { return added_; }
  /// Numbers of records left out, by reason; complete after find_causes() or finish().
  std::map<std::string, uint64_t> refused() const;
  /// How many of the records left out are of severity contract: without those nothing can be concluded.
  uint64_t refused_of_contract() const;

 private:
  class Group;
  /// One property, its units and one op.
  struct StatementOnOp {
    std::unique_ptr<Group> group;  ///< its divergences; nullptr where the units do not bind
    std::string refusal;           ///< why there is no group
  };
  void refuse(const std::string& reason, Severity severity);

  const Registry& registry_;
  unsigned jobs_;
  uint64_t added_ = 0;
  std::map<std::string, StatementOnOp> statements_;  ///< by property line and op line
  std::map<std::string, uint64_t> refused_;          ///< by reason
  uint64_t refused_of_contract_ = 0;
  SmallCases small_cases_;
};

enum class WitnessForm { minimized, as_found };

/// The witness of a divergence as a file of case text, with key, cause, severity and results as comments. `cases`: one
/// case, or the sequence of cases of `history` and `periodic`; `verdict`: on its last case.
std::string witness_text(const Bucket& bucket, const Judge& judge, const Batch& cases, const Verdict& verdict,
                         WitnessForm form = WitnessForm::minimized);

/// Compares two units on case 0 of `single` and finds the cause; nothing where a unit declines the op or has no answer.
std::optional<ExplainedVerdict> verdict_of_pair(const Batch& single, const std::vector<std::string>& units,
                                                const Registry& registry);

/// The cause of the divergence on case 0 of `single`: `unstable` where it does not fail, or where the units do not
/// repeat their results on copies of the case among other cases.
std::string cause_of(const Batch& single, const Verdict& verdict, const Judge& judge, Causes& causes);

}  // namespace mmafuzz
