// What the properties of matrix products share: a walk over elements, the Ozaki scheme behind a unit.
#pragma once

#include "oracles/exact/exact_gemm.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/ozaki_unit.h"

namespace mmafuzz {

/// The scheme of a unit `ozaki:...`; nullptr of any other.
inline const gemm::OzakiGemm* ozaki_of(const Unit& unit) {
  const auto* own = dynamic_cast<const gemm::OzakiUnit*>(&unit);
  return own ? &own->engine() : nullptr;
}

/// For each case the first element of which holds(case, element, result) is false; -1: there is none, or no answer. It
/// is called for the elements in ascending order, so that it may prepare a case at element 0.
template <class Holds>
std::vector<int> first_broken(const Batch& cases, const Outcomes& base, Holds holds) {
  std::vector<int> broken(cases.size(), -1);
  gemm::GemmCase one(cases.op());
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!base.has_answer(i)) continue;
    one.load(cases, i);
    for (int e = 0; e < base.results.count() && broken[i] < 0; ++e)
      if (!holds(one, e, base.results.get(i, e))) broken[i] = e;
  }
  return broken;
}

inline uint64_t exact_by_mpfr(const Op& op, const gemm::GemmCase& one, int element) {
  return gemm::exact_element(gemm::ExactBy::mpfr, op, gemm::element_of(op, one, size_t(element)));
}

inline gemm::Shape shape_of(const Op& op) { return {op.m, op.n, op.k}; }

}  // namespace mmafuzz
