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
  std::vector<std::string> words;  ///< allowed words; empty: a number
  int64_t least = 0, greatest = 0;
  bool hexadecimal = false;
  int64_t (*get)(const DotModel&);
  void (*set)(DotModel&, int64_t);
  std::vector<Kernel> kernels{};  ///< that use it; empty: all

  bool used_by(Kernel kernel) const;
};

/// All parameters in their fixed, documented order.
const std::vector<Parameter>& parameters();

/// Whether it says only which NaN comes out: where any NaN is as good as any other, it shows nowhere.
bool is_of_nans(const Parameter& p);

const Parameter* find_parameter(std::string_view name);

/// The value as it is written after `=`.
std::string parameter_text(const Parameter& parameter, const DotModel& model);

/// Whether two rows of the same formats compute the same: every parameter that their kernel uses is equal, but for the
/// number of products per instruction where the kernel works block by block.
bool same_arithmetic(const DotModel& x, const DotModel& y);

/// "adds c and a block of products exactly and rounds once" of "exact_sum"; empty for what is no kernel.
std::string what_kernel_does(std::string_view name);

/// The values that it takes, for people.
std::string values_text(const Parameter& parameter);

/// Why no row can have results of this format; empty if one can. Rows of one's own and contradiction_in() ask it.
std::string why_no_results_in(const FormatFields& d);

/// Why no unit can have these parameters together; empty if one can.
std::string contradiction_in(const DotModel& model);

/// Applies "name=value,name=value". Refuses unknown names and values, and parameters
/// that the row's kernel does not use, with a message that says what is allowed.
Result<DotModel> with_overrides(DotModel model, std::string_view overrides);

}  // namespace mmafuzz
