// Properties, which are statements about results, and divergences, which are cases on which a property fails. Many
// properties relate a case to a second one that the property makes of it: the changed case.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

enum class Severity { contract, accuracy, semantic };
const char* name_of(Severity severity);

/// Where in the format's range two results differ; part of a bucket's key. `flags`: the results are equal, the flags
/// are not. `special`: an operand is an infinity or NaN. `overflow`: none is, but a result is.
enum class ValueClass : uint8_t { flags, normal, overflow, special, subnormal, zero_sign };
inline constexpr int value_class_count = 6;
const char* name_of(ValueClass cls);

/// What identifies a bucket (a kind of divergence), except its cause, which triage adds. to_string() is one line, by
/// which other tools can group divergences.
struct BucketKey {
  std::string property;
  std::string op;  ///< "dot.f32.f16.f16.f32"
  std::vector<std::string> units;
  std::string value_class;  ///< name of a ValueClass

  std::string to_string() const;
  friend auto operator<=>(const BucketKey&, const BucketKey&) = default;
};

/// A case on which a property fails, with the results.
struct Divergence {
  BucketKey key;
  Severity severity = Severity::semantic;
  Batch cases;                    ///< the case; of one unit, the changed case too, where it is one case of the same op
  std::vector<uint64_t> results;  ///< of both units, or of one on both cases; empty for a property about answering
  int element = 0;                ///< the element of the results that `results` has, from 0
  Batch before;  ///< at most 64 cases that were evaluated just before: kept where two units break a contract, and
                 ///< where a unit of this machine (is_of_this_machine) breaks a property
};

/// A label of an op for bucket keys, with the result's format first, as in PTX: "dot.f32.f16.f16.f32" (d, a, b, c),
/// "convert.f16.f32", "scalar.fma.f32".
std::string op_label(const Op& op);

/// Whether two results are equal under the op's NaN policy: the same encoding, or, under nan=any, two NaNs. x and y are
/// element `element` of the results, which decides their format.
bool same_result(const Op& op, uint64_t x, uint64_t y, int element = 0);

/// The same for two results of case `index`. Under nan=any, results of a conversion to an integer format that is
/// invalid on this case are always equal, too: IEEE 754-2019, 7.2 leaves them open.
bool same_result(const Batch& batch, size_t index, uint64_t x, uint64_t y, int element = 0);

/// Whether x and y, flags on case `index`, are equal where the op compares them. Under flags=ieee the denormal-operand
/// flag does not count, nor invalid for 0 * infinity + a quiet NaN, which IEEE 754-2019, 7.2 leaves open.
bool same_flags(const Batch& batch, size_t index, uint8_t x, uint8_t y);

/// The first element, from 0, in which two results of case `index` differ under the op's NaN policy; -1 where none
/// does. Under nan=any all quantized blocks whose scale is NaN are equal, whatever their codes are.
int first_difference(const Batch& batch, const Column& x, const Column& y, size_t index);

/// Which cases of a batch have an infinity or NaN among their operands. A case is examined when it is first asked for.
class SpecialOperands {
 public:
  explicit SpecialOperands(const Batch& batch) : batch_(&batch), state_(batch.size(), State::unknown) {}
  bool operator[](size_t index);

 private:
  enum class State : uint8_t { unknown, none, some };
  const Batch* batch_;
  std::vector<State> state_;
};

/// The value class of a divergence, from element `element` of its two results (which are equal where a property judges
/// a result by itself), and from whether an operand is an infinity or NaN.
ValueClass value_class(const Op& op, bool special_operands, uint64_t x, uint64_t y, int element = 0);

/// Whether two outcomes of case `index` are the same: the bits of the result, whether there is an answer, and the flags
/// where both have flags.
bool same_outcome(const Outcomes& x, const Outcomes& y, size_t index);

/// How two units compare on a batch. The arrays are indexed by ValueClass.
struct DifferenceTally {
  size_t compared = 0;                     ///< the cases that both units answered
  uint64_t count[value_class_count] = {};  ///< the cases that differ
  size_t first[value_class_count] = {};    ///< the index of the first of them
  int element[value_class_count] = {};     ///< the first element in which that one differs
};
/// Compares the outcomes of two units. A difference on a case for which is_known(index) is true is not counted.
DifferenceTally tally_differences(const Batch& batch, SpecialOperands& special, const Outcomes& first,
                                  const Outcomes& second, const std::function<bool(size_t index)>& is_known = {});

/// The divergence of two units on case `index`; `first` and `second` are their results in element `element`.
Divergence make_divergence(const char* property, Severity severity, const Batch& batch, size_t index, ValueClass cls,
                           const std::string& first_name, uint64_t first, const std::string& second_name,
                           uint64_t second, int element = 0);

/// Receives the first divergence of a value class in a batch, and how many divergences of that class the batch has.
using ReportDivergence = std::function<void(Divergence, uint64_t count)>;

/// A statement about one unit: about its results on a case and on a changed case, about each result alone
/// (judges_alone), or that it answers (is_about_answering).
class Property {
 public:
  /// A case, and element 0 of the unit's result on it.
  struct Subject {
    const Unit& unit;
    const Batch& cases;
    size_t index;
    uint64_t result;

    const Op& op() const { return cases.op(); }
  };
  /// What transform() tells holds() about a changed case: the exponent of the power of two that the property scales by,
  /// if any.
  struct Changed {
    int shift = 0;
  };
  static std::optional<Changed> changed_if(bool there_is_one) {
    return there_is_one ? std::optional(Changed{}) : std::nullopt;
  }

  /// One element of the results on a case and on its changed case.
  struct Pair {
    const Subject& subject;
    int element;
    Changed changed;
    uint64_t before, after;  ///< on the case, and on the changed case

    const Op& op() const { return subject.op(); }
  };

  virtual ~Property() = default;
  const char* name() const { return name_; }
  const char* statement() const { return statement_; }

  /// Whether the statement makes sense for this op.
  virtual bool applies(const Op& op, const Unit& unit) const = 0;
  /// Whether a check takes about as long as another run of the unit, so that a search may let such properties take
  /// turns. Where it does not, the unit is not run on a changed case: holds() gets the result on the case twice.
  virtual bool costs_a_run() const { return !judges_alone() && !is_about_answering(); }

 protected:
  friend class BoundProperty;

  Property(const char* name, const char* statement) : name_(name), statement_(statement) {}

  /// The ops on which the changed case is evaluated, by default the case's own. Several ops are the steps of one dot;
  /// each step takes the d of the step before it as its c.
  virtual std::vector<Op> changed_ops(const Op& op, const Unit& unit) const { return {op}; }
  /// Writes the changed case to index subject.index of each batch of `changed`. There is a batch for each of
  /// changed_ops(); it begins as a copy of the cases where the op is the same. nullopt: the property says nothing about
  /// this case.
  virtual std::optional<Changed> transform(const Subject& subject, std::vector<Batch>& changed) const {
    return std::nullopt;
  }
  /// Whether one element of both results obeys the statement: by default, whether it is the same. It is called for each
  /// element until one fails.
  virtual bool holds(const Pair& pair) const { return same_result(pair.op(), pair.before, pair.after, pair.element); }
  /// Whether the statement is about each result alone. Then broken_elements() judges, without a second run of the unit,
  /// and transform() and holds() are not called.
  virtual bool judges_alone() const { return false; }
  /// For each case the first element of its result that breaks the statement; -1 where none does, or where `base` has
  /// no answer.
  virtual std::vector<int> broken_elements(const Unit& unit, const Batch& cases, const Outcomes& base) const {
    return std::vector<int>(cases.size(), -1);
  }
  /// The element of the changed case's result that is compared with `element` of the case's result.
  virtual int changed_element(const Op& op, int element) const { return element; }
  /// Whether the statement is that the unit does not break on a case. It is read from the outcomes alone.
  virtual bool is_about_answering() const { return false; }
  /// Severity of a failure on a unit that does not claim the property.
  virtual Severity unclaimed() const { return Severity::semantic; }

 private:
  const char *name_, *statement_;
};

/// A property of one unit on one op, ready to be checked. It refers to property and unit, which must outlive it.
class BoundProperty {
 public:
  /// Declines where the property does not apply, or where the unit, which the registry binds by its name to each op
  /// that changed_ops() adds, does not evaluate one of them.
  static Result<BoundProperty> bind(const Property& property, const Unit& unit, const Op& op, const Registry& registry);

  const Property& property() const { return *property_; }
  /// Whether check() computes nothing and only reads the outcomes.
  bool is_free() const { return property_->is_about_answering(); }
  /// The severity of a failure: contract where the unit claims the property, otherwise Property::unclaimed().
  Severity severity() const { return severity_; }

  /// What the property says of one case. `compared` is false for a case that it leaves out or that has no answer.
  struct Verdict {
    bool compared = false, fails = false;
    ValueClass cls = ValueClass::normal;  ///< meaningful where the property fails
    uint64_t first = 0, second = 0;       ///< results on the case and on the changed case
    int element = 0;                      ///< the element of the results that these two are
    friend bool operator==(const Verdict&, const Verdict&) = default;
  };
  /// Sets one verdict per case. `base` has the unit's outcomes on the cases. `changed_cases`, unless nullptr, receives
  /// the changed cases, a batch for each op on which they were evaluated.
  void judge(const Batch& cases, const Outcomes& base, std::vector<Verdict>& verdicts,
             std::vector<Batch>* changed_cases = nullptr) const;

  /// Whether a changed case is one case of the op itself, so that a divergence can have it.
  bool has_plain_changed_case() const { return changed_ops_.size() == 1 && !rebound_[0]; }

  /// Judges the cases, `base` having the unit's outcomes on them, and reports the failures with severity(). Returns the
  /// number of cases compared. May be called from many threads at once.
  size_t check(const Batch& cases, const Outcomes& base, const ReportDivergence& report) const;

 private:
  void judge_alone(const Batch& cases, const Outcomes& base, std::vector<Verdict>& verdicts) const;

  const Property* property_ = nullptr;
  const Unit* unit_ = nullptr;
  Severity severity_ = Severity::semantic;
  std::vector<Op> changed_ops_;
  std::vector<std::unique_ptr<Unit>> rebound_;  ///< the unit on each of changed_ops_; nullptr: the op is the case's own
};

/// Compares two units' outcomes on a batch and reports their divergences. Returns the number of cases that both
/// answered.
size_t compare_units(const char* property, Severity severity, const Batch& batch, const std::string& first_name,
                     const Outcomes& first, const std::string& second_name, const Outcomes& second,
                     const ReportDivergence& report);

}  // namespace mmafuzz
