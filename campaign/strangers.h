// Strangers: units without a row that claim to equal none, as a first plugin is. Says what is known that resembles
// them.
#pragma once

#include <string>
#include <vector>

#include "campaign/plan.h"

namespace mmafuzz {

/// A stranger of this machine, and the first dot of the plan that it takes.
struct Stranger {
  std::string unit;
  Op op;
};

/// The strangers of a plan, each once; `units`: names and globs.
std::vector<Stranger> strangers_of(const Plan& plan, const std::vector<std::string>& units);

/// Compares a unit with others on cases, as text: which orders of IEEE steps, and whether `exact`, agree with it where
/// it differs from unit `other`, and which row agrees with it most often.
std::string likeness(const std::string& unit, const std::string& other, const Batch& cases);

}  // namespace mmafuzz
