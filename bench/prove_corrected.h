// Where the newer error-corrected product loses against the older one, by proof.
#pragma once

#include "prove/solver.h"

namespace mmafuzz {

/// Prints the table of docs/notes/2026-11-23-proofs.md, a question a line. False where an answer is not the one that it
/// states.
bool print_corrected_products(prove::Solvers& solvers, double seconds);

}  // namespace mmafuzz
