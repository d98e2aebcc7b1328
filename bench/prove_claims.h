// What is proven of the properties that rows claim: tables of docs/proofs.md.
#pragma once

#include <string>

#include "prove/solver.h"

namespace mmafuzz {

/// Each kind of arithmetic once, at the k of the instruction, with the integer bits of its sum. `units` is a part of
/// the names of rows. False where a claim has a witness.
bool print_claims(prove::Solvers& solvers, const std::string& units, double seconds);

/// Every row of the catalogue and every claim, then how many are proven, and how many are tested only.
bool print_claims_of_all_rows(prove::Solvers& solvers, const std::string& units, double seconds);

}  // namespace mmafuzz
