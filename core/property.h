// Properties (statements about results), and the record of a case on which one fails.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/registry.h"

namespace mmafuzz {

enum class Severity { contract, accuracy, semantic };
const char* name_of(Severity severity);

/// Where in the format's range two results differ; part of a bucket's key. `flags`: equal results, other flags.
enum class ValueClass : uint8_t { flags, normal, overflow, special, subnormal, zero_sign };
inline constexpr int value_class_count = 6;
const char* name_of(ValueClass cls);

/// What identifies a bucket, except its cause, which triage adds. As text it is one line; other tools can group by it.
struct BucketKey {
  std::string property;
  std::string op;  ///< "dot.f32.f16.f16.f32"
  std::vector<std::string> units;
  std::string value_class;  ///< name of a ValueClass

  std::string to_string() const;
  friend auto operator<=>(const BucketKey&, const BucketKey&) = default;
};

/// A case on which a property fails: one case, or two for a property that relates cases, with the results.
struct Divergence {
  BucketKey key;
  Severity severity = Severity::semantic;
  Batch cases;                    ///< one case, or the case and its twin where that is one case of the same op
  std::vector<uint64_t> results;  ///< of each unit on the one case, or of the unit on the case and on its twin
  int element = 0;                ///< of a result of several elements, the one in `results`
  Batch before;  ///< the cases that the units had evaluated just before: of a broken contract, and of a
                 ///< property that a unit without a row breaks
};

/// PTX-like label of an op for bucket keys: "dot.f32.f16.f16.f32", "scalar.fma.f32", "convert.f16.f32".
std::string op_label(const Op& op);

/// Equality of results under the op's NaN policy: encodings, or any NaN for any NaN. Both argument orders agree.
/// `element`: of a result of several, which.
bool same_result(const Op& op, uint64_t x, uint64_t y, int element = 0);

/// The same of two results of case `index`. Under nan=any the integers that stand for the NaN of an invalid conversion
/// are the same, too: IEEE 754-2019, 7.2 leaves them open.
bool same_result(const Batch& batch, size_t index, uint64_t x, uint64_t y, int element = 0);

/// Whether two units raise the same flags on case `index`, as far as the op's comparison looks at them. Under
/// flags=ieee the denormal-operand flag does not count, nor invalid for 0 * infinity + a quiet NaN, which IEEE
/// 754-2019, 7.2 leaves open.
bool same_flags(const Batch& batch, size_t index, uint8_t x, uint8_t y);

/// The first element of case `index` in which two results differ under the op's NaN policy; -1 where they are the same.
/// Under nan=any a block whose scale is NaN is one NaN, whatever its codes are.
int first_difference(const Batch& batch, const Column& x, const Column& y, size_t index);

/// Which cases of a batch have an infinity or NaN among their operands; each is looked at once, when first asked for.
class SpecialOperands {
 public:
  explicit SpecialOperands(const Batch& batch) : batch_(&batch), state_(batch.size(), State::unknown) {}
  bool operator[](size_t index);

 private:
  enum class State : uint8_t { unknown, none, some };
  const Batch* batch_;
  std::vector<State> state_;
};

/// The bucket's value class, from two results (equal where a property judges a case by itself) and whether there are
/// special operands.
ValueClass value_class(const Op& op, bool special_operands, uint64_t x, uint64_t y, int element = 0);

/// Whether a case has one outcome: encodings, of NaNs too, and flags where both have them.
bool same_outcome(const Outcomes& x, const Outcomes& y, size_t index);

/// How many cases of a batch two units answered, and by value class how many differ, which is the first and in which
/// element. Of cases for which `told` is true, where given, no difference is counted.
struct DifferenceTally {
  size_t compared = 0;
  uint64_t count[value_class_count] = {};
  size_t first[value_class_count] = {};
  int element[value_class_count] = {};
};
DifferenceTally tally_differences(const Batch& batch, SpecialOperands& special, const Outcomes& first,
                                  const Outcomes& second, const std::function<bool(size_t index)>& told = {});

/// The divergence of two units on one case, whose results differ in that element.
Divergence make_divergence(const char* property, Severity severity, const Batch& batch, size_t index, ValueClass cls,
                           const std::string& first_name, uint64_t first, const std::string& second_name,
                           uint64_t second, int element = 0);

/// Receives the first divergence of each value class in a batch, and how many cases of the batch fell in that class.
using ReportDivergence = std::function<void(Divergence, uint64_t count)>;

/// A statement about one unit's results on a case and on a transformed case, its twin.
class Property {
 public:
  /// A case and what the unit made of it (of several elements the first).
  struct Subject {
    const Unit& unit;
    const Batch& cases;
    size_t index;
    uint64_t result;

    const Op& op() const { return cases.op(); }
  };
  /// What holds() is to know of a twin: the exponent of a scale, say.
  struct Twin {
    int note = 0;
  };
  static std::optional<Twin> twin_if(bool there_is_one) { return there_is_one ? std::optional(Twin{}) : std::nullopt; }

  /// The results on a case and on its twin, in one element.
  struct Pair {
    const Subject& of;
    int element;
    Twin twin;
    uint64_t before, after;

    const Op& op() const { return of.op(); }
  };

  virtual ~Property() = default;
  const char* name() const { return name_; }
  const char* statement() const { return statement_; }

  /// Whether the statement makes sense for this op.
  virtual bool applies(const Op& op, const Unit& unit) const = 0;
  /// Whether a check takes about as long as another run of the unit, so that a search may let such properties take
  /// turns. Where it does not, a twin is the case itself, and has its result.
  virtual bool costs_a_run() const { return !judges_alone() && !is_about_answering(); }

 protected:
  friend class BoundProperty;

  Property(const char* name, const char* statement) : name_(name), statement_(statement) {}

  /// The ops on which the twin is evaluated; by default the case's own op. Several ops are the parts of a dot that runs
  /// in several steps; each part takes the d of the part before as its c.
  virtual std::vector<Op> twin_ops(const Op& op, const Unit& unit) const { return {op}; }
  /// Writes the twin of the case at the same index of `twin`: a batch for each of twin_ops, a copy of the cases to
  /// start with where the op is the same. Nothing: this case is left out.
  virtual std::optional<Twin> transform(const Subject& of, std::vector<Batch>& twin) const { return std::nullopt; }
  /// Whether the results of a case and of its twin obey the statement: by default, whether they are the same. Of
  /// results of several elements each is put to it.
  virtual bool holds(const Pair& pair) const { return same_result(pair.op(), pair.before, pair.after, pair.element); }
  /// Whether the statement is about each result alone: then broken_elements() judges, without a second run of the unit,
  /// and transform() and holds() are not asked.
  virtual bool judges_alone() const { return false; }
  /// Of every case the first element whose result breaks the statement; -1 where none does, or where there is no
  /// answer.
  virtual std::vector<int> broken_elements(const Unit& unit, const Batch& cases, const Outcomes& base) const {
    return std::vector<int>(cases.size(), -1);
  }
  /// The element of the twin's result that stands for `element`.
  virtual int twin_element(const Op& op, int element) const { return element; }
  /// Whether the statement is that there is an answer at all. It needs no twin, and the unit is not run again for it.
  virtual bool is_about_answering() const { return false; }
  /// Severity of a failure on a unit that does not claim the property.
  virtual Severity unclaimed() const { return Severity::semantic; }

 private:
  const char *name_, *statement_;
};

/// A property of one unit on one op, ready to be checked. Refers to both, which must outlive it.
class BoundProperty {
 public:
  /// Declined where the statement makes no sense, or where the unit does not evaluate an op that the statement needs:
  /// the registry binds the unit's name to those.
  static Result<BoundProperty> bind(const Property& property, const Unit& unit, const Op& op, const Registry& registry);

  const Property& property() const { return *property_; }
  /// Whether check() takes no more than a look at the outcomes.
  bool is_free() const { return property_->is_about_answering(); }
  /// Of a failure: contract where the unit claims the property.
  Severity severity() const { return severity_; }

  /// What the property says of one case.
  struct Verdict {
    bool compared = false, fails = false;
    ValueClass cls = ValueClass::normal;  ///< of a failure
    uint64_t first = 0, second = 0;       ///< results on the case and on its twin
    int element = 0;                      ///< of a result of several, the one that these are
    friend bool operator==(const Verdict&, const Verdict&) = default;
  };
  /// One verdict per case. `base` holds the unit's outcomes on the cases; `twins`, where asked for, receives the twins.
  void judge(const Batch& cases, const Outcomes& base, std::vector<Verdict>& verdicts,
             std::vector<Batch>* twins = nullptr) const;

  /// Whether a twin is one case of the op itself, so that a divergence can hold it.
  bool has_plain_twin() const { return twin_ops_.size() == 1 && !rebound_[0]; }

  /// Checks every case of the op. `base` holds the unit's outcomes on them. The severity is contract where the unit
  /// claims the property, semantic elsewhere. Returns the number of cases compared. May be called from many threads at
  /// once.
  size_t check(const Batch& cases, const Outcomes& base, const ReportDivergence& report) const;

 private:
  void judge_alone(const Batch& cases, const Outcomes& base, std::vector<Verdict>& verdicts) const;

  const Property* property_ = nullptr;
  const Unit* unit_ = nullptr;
  Severity severity_ = Severity::semantic;
  std::vector<Op> twin_ops_;
  std::vector<std::unique_ptr<Unit>> rebound_;  ///< the unit on each of twin_ops_; nullptr: the op is the case's own
};

/// Compares two units' outcomes on a batch. Returns the number of cases that both answered.
size_t compare_units(const char* property, Severity severity, const Batch& batch, const std::string& first_name,
                     const Outcomes& first, const std::string& second_name, const Outcomes& second,
                     const ReportDivergence& report);

}  // namespace mmafuzz
