// One op with its units, and every check that a search makes on a batch of cases: units against what they claim,
// claimed and unclaimed properties, units against each other. `fuzz`, campaigns and the fuzz targets check cases with
// this.
#pragma once

#include <array>
#include <map>

#include "core/answers.h"
#include "core/property.h"
#include "core/registry.h"
#include "core/thinning.h"

namespace mmafuzz {

/// What was found of one kind of divergence, a bucket: how grave it is, how many cases show it, and the first one.
struct Finding {
  Severity severity = Severity::semantic;
  uint64_t count = 0;
  Divergence first;
};

/// The buckets of divergences that a check of some cases found, and what it counted.
struct Findings {
  std::map<BucketKey, Finding> buckets;
  /// Cases checked; comparisons made, each of one case.
  uint64_t cases = 0, compared = 0;
  std::map<std::pair<std::string, std::string>, uint64_t> differing;  ///< cases, by pair of unit names
  AnswerCounts answers;                                               ///< of the units, and of what they claim to equal

  void add(Divergence d, uint64_t count);
  /// Adds what was found in other cases. Calls new_bucket(finding) for each finding whose bucket is new here.
  void add(const Findings& more, const std::function<void(const Finding&)>& new_bucket);
};

/// What a search loop has counted: answers, and the divergences of pairs of units by value class, of which it decides
/// which ones are reported (core/thinning.h).
class SeenClasses {
 public:
  AnswerCounts answers;  ///< of the units, and of what they claim to equal

  /// Counts `count` more cases of a pair, which has a number from 0 that examine_focus gives it. Returns the cases of
  /// the pair and value class since their last report if a report is due, otherwise 0.
  uint64_t add(size_t pair, ValueClass cls, uint64_t count) {
    if (pair >= seen_.size()) seen_.resize(pair + 1);
    Seen& seen = seen_[pair][static_cast<size_t>(cls)];
    if (!seen.cases.add(count)) return 0;
    const uint64_t since = seen.cases.seen() - seen.reported;
    seen.reported = seen.cases.seen();
    return since;
  }

 private:
  struct Seen {
    Thinning cases;
    uint64_t reported = 0;  ///< cases.seen() at the last report
  };
  std::vector<std::array<Seen, value_class_count>> seen_;  ///< by number of the pair, by value class
};

class Comparison {
 public:
  using Properties = std::vector<const Property*>;

  /// Binds the units, the references that they claim to equal (of a model also its slow twin), and the properties to
  /// each unit. Throws std::runtime_error with the reason if a unit does not bind, or if a plugin claims to equal a
  /// unit that does not; other claims to equal such a unit are not checked.
  Comparison(const Op& op, const std::vector<std::string>& names, const Registry& registry,
             const Properties& properties);

  const Op& op() const { return op_; }
  const std::vector<std::unique_ptr<Unit>>& units() const { return units_; }

  /// The row by which a unit's arithmetic is traced: its own, or that of a model that it claims to equal; nullptr for a
  /// unit without either. `unit` is a position in units().
  const DotModel* model_of(size_t unit) const;

  /// Every unit's outcomes on the batch, in the order of units(). A unit whose every_nth_batch() is above 1 runs only
  /// in rounds that are multiples of it; in the others it has no results, and all of its cases are marked as not
  /// answered. Code of the user is asked in even rounds for two parts of sizes that change: a batch whose size is
  /// always the same power of two hides what is wrong in its last cases or in small batches.
  void run(const Batch& batch, std::vector<Outcomes>& outcomes, uint64_t round = 0) const;

  /// The first cases of an op, which slow twins, referee and properties all check; of later ones they check a share.
  static constexpr uint64_t refereed_cases = 1000;

  /// All checks, and all pairs of units, on a batch whose first case is number `first` of the op. After the refereed
  /// cases, slow twins and the referee check one case in 256, properties one in 8.
  Findings examine(const Batch& batch, uint64_t first = 0) const;

  /// The form of a search loop: compares the focus unit with every other one and reports the divergences that `seen`
  /// finds due. Claims are checked on every batch; `round` counts the op's batches from 0 and decides when the slow
  /// references take part after the refereed cases. Let U be a unit that is no model, and M, another one of units(),
  /// the model of its row. What U and M both do is reported of M alone. So with U as the focus, M is compared with the
  /// others. U itself is compared with nothing more where it claims to equal M; otherwise it is compared with the
  /// others on the cases where U differs from M (U is a processor, say, that writes NaNs of its own). Returns the
  /// number of comparisons.
  size_t examine_focus(const Batch& batch, const std::vector<Outcomes>& outcomes, size_t focus, uint64_t round,
                       SeenClasses& seen, const ReportDivergence& report) const;

  /// Checks each unit's claim to equal another one, where the units are not compared in the form of a search loop. Of
  /// units that run everywhere only one case in slow_share is checked.
  void examine_contracts(const Batch& batch, uint64_t round, SeenClasses& seen, const ReportDivergence& report) const;

  /// The properties of one unit, in the form of a search loop; `base` holds the unit's outcomes. On matrix products,
  /// which take long, the properties that cost a run of the unit take turns over the cases, so that each case is run
  /// once more; `turn` says whose turn the first case is. Without `turn`, and on other ops, all properties check every
  /// case. `checked`, where given, is called with what came of each property.
  using PropertyChecked = std::function<void(const Property& property, size_t compared, bool broken)>;
  void examine_properties(const Batch& batch, const Outcomes& base, size_t unit, std::optional<uint64_t> turn,
                          const ReportDivergence& report, const PropertyChecked& checked = {}) const;

  /// Checks each unit on a batch against the model that it claims to equal and the properties that it claims, and the
  /// accuracy that is proved by hand or expected. Units are not compared with each other.
  Findings examine_claims(const Batch& batch) const;

  /// The properties that make sense for a unit.
  const std::vector<BoundProperty>& properties_of(size_t unit) const { return properties_[unit]; }

  /// The bin of group `disagree` for case `index`: which roles agree with the focus unit, and the greatest gap in ulp.
  int disagreement_bin(const std::vector<Outcomes>& outcomes, size_t focus, size_t index) const;

  /// Throws Contradiction if the divergence holds a result of `exact` from which the MPFR referee differs.
  void confirm(const Divergence& divergence) const;

 private:
  /// A claim of a unit to equal another one.
  struct Contract {
    size_t unit;
    std::unique_ptr<Unit> reference;
    bool slow;                          ///< the reference is a twin or the referee
    std::optional<size_t> among_units;  ///< position of the reference in units_, where it is one of them
  };

  /// Whether all that is to be said of a unit is whether it keeps its claim: its every_nth_batch() is above 1, or it
  /// claims to equal its row and the row is one of units_.
  bool is_checked_only_by_contract(size_t unit) const;
  /// A predicate: whether on a case unit x or y has the same outcome as its row, so that the comparison with the row
  /// reports the difference. Empty where neither has a row among the other units_.
  std::function<bool(size_t)> reported_by_its_model(const std::vector<Outcomes>& outcomes, size_t x, size_t y) const;

  void count_answers(const std::vector<Outcomes>& outcomes, AnswerCounts& answers) const;
  /// `sample` holds the cases for slow references, `sampled` the units' outcomes on them.
  void check_contracts(const Batch& batch, const std::vector<Outcomes>& outcomes, const Batch& sample,
                       const std::vector<Outcomes>& sampled, Findings& findings) const;

  Op op_;
  std::vector<std::unique_ptr<Unit>> units_;
  std::vector<Contract> contracts_;
  std::map<size_t, size_t> rows_;  ///< from a unit that is no model to its row; positions in units_
  std::unique_ptr<Unit> referee_;
  std::vector<std::vector<BoundProperty>> properties_;  ///< of each unit
};

}  // namespace mmafuzz
