// Statements about outcomes, and what it looks like when one fails.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

enum class Severity { contract, accuracy, semantic };
const char* name_of(Severity severity);

/// Where in the format's range two results differ; part of a bucket's key. `flags`: equal results, other flags.
enum class ValueClass : uint8_t { flags, normal, overflow, special, subnormal, zero_sign };
inline constexpr int value_class_count = 6;
const char* name_of(ValueClass cls);

/// What the search knows of a bucket; triage adds the cause. One line, also for other tools to group by.
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
  Batch cases;                    ///< one case, or the case and its transformed twin
  std::vector<uint64_t> results;  ///< of each unit on the one case, or of the unit on each case
};

/// PTX-like label of an op for bucket keys: "dot.f32.f16.f16.f32", "scalar.fma.f32", "convert.f16.f32".
std::string op_label(const Op& op);

/// Equality of results under the op's NaN policy: encodings, or any NaN for any NaN. Both argument orders agree.
bool same_result(const Op& op, uint64_t x, uint64_t y);

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

/// The bucket's value class, from two results that differ and whether the case has special operands.
ValueClass value_class(const Op& op, bool special_operands, uint64_t x, uint64_t y);

/// How many cases of a batch two units answered, and by value class how many differ and which is the first.
struct DifferenceTally {
  size_t compared = 0;
  uint64_t count[value_class_count] = {};
  size_t first[value_class_count] = {};
};
DifferenceTally tally_differences(const Batch& batch, SpecialOperands& special, const Outcomes& first, const Outcomes& second);

/// The divergence of two units on one case.
Divergence make_divergence(const char* property, Severity severity, const Batch& batch, size_t index, ValueClass cls,
                           const std::string& first_name, uint64_t first, const std::string& second_name, uint64_t second);

/// Receives the first divergence of each value class in a batch, and how many cases of the batch fell in that class.
using ReportDivergence = std::function<void(Divergence, uint64_t count)>;

/// A statement about one unit's results on a case and on a transformed case.
class Property {
 public:
  virtual ~Property() = default;
  virtual const char* name() const = 0;
  virtual const char* statement() const = 0;

  /// Whether the statement makes sense for this op.
  virtual bool applies(const Op& op, const Unit& unit) const = 0;

  /// Checks every case. `base` holds the unit's outcomes on the batch. The severity is contract where the unit claims
  /// the property, semantic elsewhere. Returns the number of cases compared.
  size_t check(const Unit& unit, const Batch& batch, const Outcomes& base, const ReportDivergence& report) const;

 protected:
  /// Writes the transformed case `index` into `transformed` (which starts as a copy); false: leave this case out.
  virtual bool transform(const Unit& unit, Batch& transformed, size_t index) const = 0;
  /// Whether the results of a case and its transformed twin obey the statement.
  virtual bool holds(const Op& op, uint64_t before, uint64_t after) const = 0;
};

/// Compares two units' outcomes on a batch. Returns the number of cases that both answered.
size_t compare_units(const char* property, Severity severity, const Batch& batch, const std::string& first_name,
                     const Outcomes& first, const std::string& second_name, const Outcomes& second,
                     const ReportDivergence& report);

}  // namespace mmafuzz
