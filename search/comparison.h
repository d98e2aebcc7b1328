// One op with its units, and every check that a search makes on a batch of cases: units against what they claim,
// claimed and unclaimed properties, units against each other. `fuzz`, campaigns and the fuzz targets all look at cases
// through this.
#pragma once

#include <array>
#include <map>

#include "core/answers.h"
#include "core/property.h"
#include "core/registry.h"
#include "core/thinning.h"

namespace mmafuzz {

/// A bucket's count, severity and first divergence.
struct Finding {
  Severity severity = Severity::semantic;
  uint64_t count = 0;
  Divergence first;
};

/// Buckets by key, as found in some cases.
struct Findings {
  std::map<BucketKey, Finding> buckets;
  uint64_t cases = 0, compared = 0;
  std::map<std::pair<std::string, std::string>, uint64_t> differing;  ///< cases by unit pair
  AnswerCounts answers;                                               ///< of the units, and of what they claim to equal

  void add(Divergence d, uint64_t count);
  /// Adds what was found in other cases. `fresh` sees each bucket that was not here.
  void add(const Findings& more, const std::function<void(const Finding&)>& fresh);
};

/// Counts what pairs of units have shown in each value class, and says which occurrences are worth a report.
class SeenClasses {
 public:
  AnswerCounts answers;  ///< of the units, and of what they claim to equal

  /// Counts `count` more cases of a pair. If a report is due, returns the cases since the last report, otherwise 0.
  uint64_t add(size_t pair, ValueClass cls, uint64_t count) {
    if (pair >= seen_.size()) seen_.resize(pair + 1);
    Seen& seen = seen_[pair][static_cast<size_t>(cls)];
    if (!seen.all.add(count)) return 0;
    const uint64_t since = seen.all.seen() - seen.reported;
    seen.reported = seen.all.seen();
    return since;
  }

 private:
  struct Seen {
    Thinning all;
    uint64_t reported = 0;
  };
  std::vector<std::array<Seen, value_class_count>> seen_;
};

class Comparison {
 public:
  using Properties = std::vector<const Property*>;

  /// Binds the units, the references that they claim to equal (of a model also its slow twin) and the properties to
  /// each. A unit that does not bind throws std::runtime_error with the reason.
  Comparison(const Op& op, const std::vector<std::string>& names, const Registry& registry,
             const Properties& properties);

  const Op& op() const { return op_; }
  const std::vector<std::unique_ptr<Unit>>& units() const { return units_; }

  /// The row through which a unit's arithmetic is looked at: its own, or that of a model which it claims to equal;
  /// nullptr for black boxes without one.
  const DotModel* model_of(size_t unit) const;

  /// Every unit's outcomes on the batch. One of a share above 1 takes part in one round of so many; in the others it
  /// has neither answers nor results.
  void run(const Batch& batch, std::vector<Outcomes>& outcomes, uint64_t round = 0) const;

  /// The slow twins, the referee and the properties see all of the first cases of an op, and a share of the later ones.
  static constexpr uint64_t refereed_cases = 1000;

  /// All checks and all pairs of units, with counts, on a batch that starts at case `first` of the op. After the
  /// refereed cases slow twins see one case in 256, properties one in 8.
  Findings examine(const Batch& batch, uint64_t first = 0) const;

  /// The search loop's form: the focus unit against every other one, reporting what `seen` finds due. Claims are
  /// checked on every batch; `round` counts the op's batches and decides when the slow parties take part, after the
  /// refereed cases. Where a unit has a row that is compared, too, the row tells what they share: as the focus it
  /// brings its row along. If it claims to equal the row it is held to that alone, otherwise it is compared with the
  /// others where it does not give what the row gives: a processor, say, that writes NaNs of its own. Returns the
  /// number of comparisons.
  size_t examine_focus(const Batch& batch, const std::vector<Outcomes>& outcomes, size_t focus, uint64_t round,
                       SeenClasses& seen, const ReportDivergence& report) const;

  /// The properties of one unit, the search loop's form. A matrix product takes long: of its properties those that cost
  /// a run of their own take turns over the cases, so that each case is run once more; `turn`
  /// says whose turn the first of them is. Without it, and on other ops, all properties see every case. `checked`,
  /// where given, is told what came of each property.
  using PropertyChecked = std::function<void(const Property& property, size_t compared, bool broken)>;
  void examine_properties(const Batch& batch, const Outcomes& base, size_t unit, std::optional<uint64_t> turn,
                          const ReportDivergence& report, const PropertyChecked& checked = {}) const;

  /// Checks the claims of each unit on a batch (contract: the model that it claims to equal, the properties that it
  /// claims), and the accuracy that is proven or expected. Units are not compared with each other.
  Findings examine_claims(const Batch& batch) const;

  /// The properties that make sense for a unit.
  const std::vector<BoundProperty>& properties_of(size_t unit) const { return properties_[unit]; }

  /// Bin of the group `disagree` for one case: who agrees with the focus unit, and the gap to the farthest in ulp.
  int disagreement_bin(const std::vector<Outcomes>& outcomes, size_t focus, size_t index) const;

  /// Throws Contradiction if the MPFR referee gives another result on the case than the fast path of `exact`.
  void confirm(const Divergence& divergence) const;

 private:
  struct Contract {
    size_t unit;
    std::unique_ptr<Unit> reference;
    bool slow;
    std::optional<size_t> among_units;  ///< where the reference is compared, too
  };

  /// Whether a unit claims to equal a row that is compared, too.
  bool is_told_by_contract(size_t unit) const;
  /// The cases on which one of two units gives what its row gives, which is compared with the other one, too; empty
  /// where there is no such row.
  std::function<bool(size_t)> told_by_rows(const std::vector<Outcomes>& outcomes, size_t x, size_t y) const;

  void count_answers(const std::vector<Outcomes>& outcomes, AnswerCounts& answers) const;
  /// `sample` and `sampled`: the cases for slow references and the units' outcomes on them.
  void check_contracts(const Batch& batch, const std::vector<Outcomes>& outcomes, const Batch& sample,
                       const std::vector<Outcomes>& sampled, Findings& findings) const;

  Op op_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<Contract> contracts_;
  std::map<size_t, size_t> rows_;  ///< of units that are none, where the row is compared, too
  std::unique_ptr<Unit> referee_;
  std::vector<std::vector<BoundProperty>> properties_;  ///< of each unit
};

/// Every n-th case of a batch, from case `first` on.
Batch every_nth(const Batch& batch, size_t n, size_t first = 0);

}  // namespace mmafuzz
