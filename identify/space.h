// The hypotheses about a black box: every kernel with every value of every parameter that dots of an op can show.
#pragma once

#include <optional>

#include "arithmetic/counter_rng.h"
#include "core/op.h"
#include "oracles/models/parameters.h"

namespace mmafuzz {

class HypothesisSpace {
 public:
  explicit HypothesisSpace(const Op& op);

  const Op& op() const { return op_; }
  /// The kernels that can compute the op's formats.
  const std::vector<Kernel>& kernels() const { return kernels_; }
  /// The parameters that a kernel reads, without the parameter `kernel`.
  const std::vector<const Parameter*>& parameters_of(Kernel kernel) const {
    return parameters_[static_cast<size_t>(kernel)];
  }
  /// Whether two rows of one kernel have the same values of all its parameters.
  bool are_alike(const DotModel& x, const DotModel& y) const;
  /// The values of a parameter; of values that the formats alone make equal, often only one.
  const std::vector<int64_t>& values(const Parameter& parameter) const;

  /// Calls visit(value, row) for each row that differs from `model` in the value of that parameter alone.
  template <class Visit>
  void for_each_other_value(const DotModel& model, const Parameter& parameter, Visit visit) const;

  /// Adds the encoding of a NaN result to the values of the parameters that are NaNs.
  void add_nan(uint64_t encoding);

  /// Rows to begin a search with: the parameters of every row of the catalogue with that kernel, in this op's formats.
  std::vector<DotModel> starts(Kernel kernel) const;

  int64_t draw_value(const Parameter& parameter, CounterRng& rng) const;
  DotModel draw_row(Kernel kernel, CounterRng& rng) const;

  /// Why the op's formats and length alone make `value` compute the same as the row's value of a parameter. Empty where
  /// no such argument is known.
  std::string why_equal(const DotModel& model, const Parameter& parameter, int64_t value) const;

  /// The least exponent that a nonzero term reads. An alignment floor (zero_exponent) at or below it has no effect.
  int least_exponent(const DotModel& model) const;

 private:
  Op op_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<const Parameter*>> parameters_;
  std::vector<std::vector<int64_t>> values_;  ///< in the order of parameters()
};

/// A row with one parameter changed; nullopt where no row may have these values together (contradiction_in()).
std::optional<DotModel> with_value(DotModel model, const Parameter& parameter, int64_t value);

template <class Visit>
void HypothesisSpace::for_each_other_value(const DotModel& model, const Parameter& parameter, Visit visit) const {
  for (const int64_t value : values(parameter)) {
    if (value == parameter.get(model)) continue;
    if (const std::optional<DotModel> other = with_value(model, parameter, value)) visit(value, *other);
  }
}

/// Random row `number`: an op of the catalogue, a kernel that computes it, and a row by draw_row().
std::pair<Op, DotModel> random_point(uint64_t seed, uint64_t number);

/// A value as it is written after `=` in an override.
std::string value_text(const Parameter& parameter, int64_t value);

/// Values as ranges: "1..7, 9, 12..16"; words as they are.
std::string values_as_ranges(const Parameter& parameter, std::vector<int64_t> values);

}  // namespace mmafuzz
