// How many bits the digits of a slice can have so that a dot unit sums the products of two slices without error
// (README.md derives it).
#pragma once

#include "arithmetic/slicing.h"
#include "core/unit.h"

namespace mmafuzz::gemm {

/// The largest p such that the unit sums integer products without error as long as no partial sum exceeds 2^p: min(F +
/// 1, p_out) of a truncated fused sum, else the precision of the result; of integer results width - 1. A unit without a
/// row is assumed to keep all bits that its result can hold. 0 where no width makes sums exact: on RDNA3 4 - 1 is not
/// 3, and POWER10's forms that negate are no sums.
int exact_integer_bits(const Op& dot, const Unit& unit);

}  // namespace mmafuzz::gemm
