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

uint64_t exact_element(ExactBy way, const Op& op, const Element& in);

/// Precision that holds any exact element: three factors of fp64 span 6,500 bits.
inline constexpr mpfr_prec_t element_precision = 7200;

/// The exact value of an element, rounded nowhere, in `sum` of element_precision bits; of the terms how many there are
/// and how many have a minus sign.
struct TermCount {
  size_t terms = 0, negative = 0;
};
TermCount element_value(const Op& op, const Element& in, mpfr_ptr sum);

/// A unit for a gemm op in an IEEE rounding mode whose formats have fp64's range at most.
std::unique_ptr<Unit> make_exact_gemm(ExactBy way, const Op& op);

}  // namespace mmafuzz::gemm
