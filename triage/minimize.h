// A divergence's normal form: fewest nonzero addends, then fewest significand bits, exponents nearest 0, positive
// signs, lowest positions. The bucket key and the cause stay the same at every step. Deterministic, and a second run
// changes nothing.
#pragma once

#include "triage/causes.h"
#include "triage/small_cases.h"

namespace mmafuzz {

/// Minimizes cases of one property, op and units.
class Minimizer {
 public:
  /// The three must outlive this object. `small_cases` may be shared by minimizers, on any threads.
  Minimizer(const Judge& judge, Causes& causes, SmallCases& small_cases)
      : judge_(judge), causes_(causes), small_cases_(small_cases) {}

  /// The normal form of case 0 of `single`, which fails with this value class and cause. It depends on these and on the
  /// key alone, not on which engine found the case.
  Batch minimize(const Batch& single, ValueClass cls, const std::string& cause);

 private:
  struct Descent;
  const SmallCases::List& small_cases_of(int addends, bool has_special);

  const Judge& judge_;
  Causes& causes_;
  SmallCases& small_cases_;
};

/// The normal form of case 0 of `single`, a matrix product on which these units break the property with this value
/// class and cause: smallest matrices first, then the order above. The result's op has the same formats and fewer or
/// equal rows, columns and products. A minimal case is returned unchanged. Defined in minimize_gemm.cc.
Batch minimize_gemm(const std::string& property, const std::vector<std::string>& units, const Batch& single,
                    ValueClass cls, const std::string& cause, const Registry& registry);

}  // namespace mmafuzz
