// The parameters of one unit's row that can be replaced by those of another unit.
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/row_of_unit.h"

namespace mmafuzz {

/// One replacement: of a parameter, or of several that make sense together only.
struct Replacement {
  std::string name;                    ///< of the parameter, or of the main one
  std::vector<std::string> overrides;  ///< its forms, "name=value,...": alternatives, each of which is tried
  std::string first, second;           ///< the values before and after: "23" and "24"
  std::string detail() const;          ///< "fraction_bits (bits kept below the greatest exponent): 23 against 24"
};

/// Whether no operands can show that two rows differ in a parameter: in `k`, products per instruction, where the first
/// row computes the same with both values; in `zero_exponent` where the exponent of every other term is greater.
bool never_shows(const std::string& parameter, const DotModel& first, const DotModel& second);

/// The name of a model unit with further overrides, less parameters that an overriding kernel does not have.
std::string with_overrides_in_name(const std::string& model, const std::string& overrides);

/// The replacements that turn `first` into `second`, in the order of the parameters, the kernel last. Parameters that
/// only the other kernel has are part of the replacement of the kernel.
std::vector<Replacement> replacements(const DotModel& first, const DotModel& second);

/// The replacements that turn a row into the exact sum, rounded once as the op says.
std::vector<Replacement> replacements_by_exact(const DotModel& model, const Op& op);

}  // namespace mmafuzz
