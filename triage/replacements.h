// The parameters of one unit's row that can be replaced by those of another unit.
#pragma once

#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/row_of_unit.h"

namespace mmafuzz {

/// One replaceable thing: a parameter, or several that make sense together only.
struct Replacement {
  std::string name;                    ///< of a parameter
  std::vector<std::string> overrides;  ///< "name=value,..."; where there are several, each is tried
  std::string first, second;           ///< the values: "23" and "24"
  std::string detail() const;          ///< "fraction_bits (bits kept below the greatest exponent): 23 against 24"
};

/// Whether no operands can show that two rows differ in a parameter: the products per instruction where they compute
/// the same with either, so that `k` is only a name; the exponent of a zero where every other term has a greater one.
bool never_shows(const std::string& parameter, const DotModel& first, const DotModel& second);

/// Name of a model unit with further overrides.
std::string with_overrides_in_name(const std::string& model, const std::string& overrides);

/// The replacements that turn `first` into `second`, in the order of the parameters, the kernel last. Parameters that
/// only the other kernel has are part of the replacement of the kernel.
std::vector<Replacement> replacements(const DotModel& first, const DotModel& second);

/// What makes a row into the exact result rounded once as the op says.
std::vector<Replacement> replacements_by_exact(const DotModel& model, const Op& op);

}  // namespace mmafuzz
