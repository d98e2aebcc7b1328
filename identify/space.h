// The hypotheses about a black box: every kernel with every value of every parameter that an op's dots can tell.
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
  /// Those that can compute the op's formats.
  const std::vector<Kernel>& kernels() const { return kernels_; }
  /// The parameters of a kernel, but for the kernel itself.
  const std::vector<const Parameter*>& parameters_of(Kernel kernel) const {
    return parameters_[static_cast<size_t>(kernel)];
  }
  /// Whether two rows of one kernel have the same parameters.
  bool are_alike(const DotModel& x, const DotModel& y) const;
  /// The values of a parameter, each once, those that compute the same by the formats alone once.
  const std::vector<int64_t>& values(const Parameter& parameter) const;

  /// A NaN result joins the values of `nan`.
  void add_nan(uint64_t encoding);

  /// Rows to begin a search with: the parameters of every row of the catalogue with that kernel, in this op's formats.
  std::vector<DotModel> starts(Kernel kernel) const;

  int64_t draw_value(const Parameter& parameter, CounterRng& rng) const;
  DotModel draw_row(Kernel kernel, CounterRng& rng) const;

  /// Why the op's formats and length alone make two values of a parameter compute the same; empty where they do not.
  std::string why_equal(const DotModel& model, const Parameter& parameter, int64_t value) const;

  /// The least exponent that a nonzero term reads; a floor at or below it does nothing.
  int least_exponent(const DotModel& model) const;

 private:
  Op op_;
  std::vector<Kernel> kernels_;
  std::vector<std::vector<const Parameter*>> parameters_;
  std::vector<std::vector<int64_t>> values_;  ///< in the order of parameters()
};

/// A row with one parameter changed; nothing where no unit can have these parameters together.
std::optional<DotModel> with_value(DotModel model, const Parameter& parameter, int64_t value);

/// Point `number` of the space: an op of the catalogue, a kernel that computes it, and a row of it.
std::pair<Op, DotModel> random_point(uint64_t seed, uint64_t number);

/// A value as it is written after `=`.
std::string value_text(const Parameter& parameter, int64_t value);

/// Values as ranges: "1..7, 9, 12..16"; words as they are.
std::string values_as_ranges(const Parameter& parameter, std::vector<int64_t> values);

}  // namespace mmafuzz
