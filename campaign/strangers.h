// Units that claim nothing, as somebody's first plugin does: what is known that resembles each.
#pragma once

#include <string>
#include <vector>

#include "campaign/plan.h"

namespace mmafuzz {

/// A unit without a row, and a dot of the plan that it takes.
struct Stranger {
  std::string unit;
  Op op;
};

/// Each such unit of a plan, once.
std::vector<Stranger> strangers_of(const Plan& plan, const std::vector<std::string>& units);

/// On structured cases: which orders of IEEE steps and `exact` give the unit's result where it differs from another
/// unit, and which row gives it most often.
std::string likeness(const std::string& unit, const std::string& other, const Batch& cases);

}  // namespace mmafuzz
