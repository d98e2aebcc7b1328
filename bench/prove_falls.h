// How far results fall at most where a positive c rises: the bounds that are proven, and a search against them.
#pragma once

#include <cstdint>

#include "prove/solver.h"

namespace mmafuzz {

/// Prints the table of docs/notes/2026-11-23-proofs.md, a row a line. False where a bound is not proven or is not the
/// one that it states.
bool print_falls(prove::Solvers& solvers, const std::string& units, double seconds);

/// Looks on so many cases of each row for a greater fall than the proven one. False where there is one.
bool attack_falls(const std::string& units, uint64_t cases);

}  // namespace mmafuzz
