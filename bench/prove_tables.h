// The tables of `mmafuzz bench prove` besides that of Valpey et al. Each prints its table, a question or a row a line.
#pragma once

#include <cstdint>
#include <string>

#include "prove/solver.h"

namespace mmafuzz {

/// What is proven of the properties that rows claim (docs/proofs.md): each kind of arithmetic once, at the k of the
/// instruction, with the integer bits of its sum. `units` is a part of the names of rows. False where a claim has a
/// witness.
bool print_claims(prove::Solvers& solvers, const std::string& units, double seconds);

/// Every row of the catalogue and every claim, then how many are proven, and how many are tested only.
bool print_claims_of_all_rows(prove::Solvers& solvers, const std::string& units, double seconds);

/// Where the newer error-corrected product loses against the older one, by proof (docs/notes/2026-11-23-proofs.md).
/// False where an answer is not the one that the note states.
bool print_corrected_products(prove::Solvers& solvers, double seconds);

/// How far results fall at most where a positive c rises, by proof (the same note). False where a bound is not proven
/// or is not the one that the note states.
bool print_falls(prove::Solvers& solvers, const std::string& units, double seconds);

/// Looks on so many cases of each row for a greater fall than the proven one. False where there is one.
bool attack_falls(const std::string& units, uint64_t cases);

}  // namespace mmafuzz
