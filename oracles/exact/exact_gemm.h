// The exact matrix product: each element is the sum of the k + 1 terms alpha*a*b and beta*c, rounded once as the op
// says; NaN canonical quiet; an exact zero has the sign that IEEE 754-2019 6.3 gives a sum. A zero alpha or beta leaves
// its terms out (docs/ozaki.md). Three independent ways of computing it.
#pragma once

#include <cstdint>  // first: MPFR declares its functions of intmax_t only then

#include <mpfr.h>

#include <memory>

#include "core/unit.h"
#include "oracles/gemm/gemm_case.h"

namespace mmafuzz::gemm {

enum class ExactBy { accumulator, mpfr, bigint };

/// The encoding of one element of the product.
uint64_t exact_element(ExactBy way, const Op& op, const Element& in);

/// Precision that holds any exact element: three factors of fp64 span 6,500 bits.
inline constexpr mpfr_prec_t element_precision = 7200;

/// How many terms an element has, and how many of these have a minus sign.
struct TermCount {
  size_t terms = 0, negative = 0;
};
/// Sets `sum`, which must have element_precision bits, to the exact value of an element.
TermCount element_value(const Op& op, const Element& in, mpfr_ptr sum);

/// A unit for a gemm op in an IEEE rounding mode whose formats have fp64's range at most.
std::unique_ptr<Unit> make_exact_gemm(ExactBy way, const Op& op);

}  // namespace mmafuzz::gemm
