// The tables of `mmafuzz bench prove` besides that of Valpey et al. Each function prints its table, a line for each row
// of the catalogue or each question. `units` selects the rows whose names contain it; `seconds` limits each question.
#pragma once

#include <cstdint>
#include <string>

#include "prove/solver.h"

namespace mmafuzz {

/// What is proven of the properties that rows claim (docs/proofs.md): each kind of arithmetic once, at the k of the
/// instruction, with the integer bits of its sum. False where a claim has a witness.
bool print_claims(prove::Solvers& solvers, const std::string& units, double seconds);

/// The same for every row of the catalogue, then counts of the proven claims and of those that are tested only.
bool print_claims_of_all_rows(prove::Solvers& solvers, const std::string& units, double seconds);

/// Where the newer error-corrected product loses against the older one, by proof (docs/notes/2026-11-23-proofs.md).
/// False where an answer is not the one that the note states.
bool print_corrected_products(prove::Solvers& solvers, double seconds);

/// How far a result can fall when a positive c rises to the next number, by proof (the same note). False where a bound
/// is not proven or is not the one that the note states.
bool print_falls(prove::Solvers& solvers, const std::string& units, double seconds);

/// Searches `cases` cases of each row for a greater fall than the proven one. False where it finds one.
bool attack_falls(const std::string& units, uint64_t cases);

}  // namespace mmafuzz
