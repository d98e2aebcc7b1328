// The named parameters of a row: what stands after `?` in a unit's name, what an ablation replaces, what a mutant
// changes.
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/result.h"

namespace mmafuzz {

struct Parameter {
  const char* name;
  const char* meaning;
  std::vector<std::string> words{};  ///< allowed words, whose indices are the values; empty: a number
  int64_t least = 0, greatest = 0;   ///< of a number
  bool is_nan = false;               ///< the encoding of a NaN in d's format, which is written in hexadecimal
  int64_t (*get)(const DotModel&);
  void (*set)(DotModel&, int64_t);
  std::vector<Kernel> kernels{};  ///< kernels that use it; empty: all

  bool used_by(Kernel kernel) const;
};

/// All parameters in their fixed, documented order.
const std::vector<Parameter>& parameters();

/// Whether a parameter says only which NaN a result is: under nan=any it has no effect.
bool only_selects_nans(const Parameter& p);

/// nullptr if there is none of that name.
const Parameter* find_parameter(std::string_view name);

/// The parameter's value in a row as it is written after `=`.
std::string parameter_text(const Parameter& parameter, const DotModel& model);

/// Whether two rows of the same formats compute the same: every parameter that their kernel uses is equal, except k if
/// products_per_call() (arithmetic/kernel_table.h) is equal.
bool same_arithmetic(const DotModel& x, const DotModel& y);

/// "adds c and a block of products exactly and rounds once" of "exact_sum"; empty for what is no kernel.
std::string what_kernel_does(std::string_view name);

/// The values that a parameter takes, for help texts.
std::string values_text(const Parameter& parameter);

/// Why no row can have results of this format; empty if one can.
std::string why_no_results_in(const FormatFields& d);

/// Why no unit can have these parameters together; empty if one can.
std::string contradiction_in(const DotModel& model);

/// Applies "name=value,name=value". If that changes the kernel, what the new kernel does not use gets its default.
/// Refuses unknown names and values, parameters that the kernel does not use, and contradictions, with a message that
/// says what is allowed.
Result<DotModel> with_overrides(DotModel model, std::string_view overrides);

}  // namespace mmafuzz
