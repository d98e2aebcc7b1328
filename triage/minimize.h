// A divergence's normal form: fewest nonzero addends, then fewest significand bits, exponents nearest 0, positive
// signs, lowest positions. The bucket key, its cause included, stays the same at every step. Deterministic, and a
// second run changes nothing.
#pragma once

#include "triage/causes.h"
#include "triage/operands.h"

namespace mmafuzz {

/// Minimizes the cases of one bucket key (but for value class and cause). Keeps what several of them need; one thread
/// at a time.
class Minimizer {
 public:
  /// Both must outlive it.
  Minimizer(const Judge& judge, Causes& causes) : judge_(judge), causes_(causes) {}

  /// The normal form of case 0 of `one`, which fails with this value class and cause. It depends on these and on the
  /// key alone, not on which engine found the case.
  Batch minimize(const Batch& one, ValueClass cls, const std::string& cause);

 private:
  struct Candidate {
    Operands operands;
    CaseCost cost;
  };
  struct Descent;

  /// Cases with that few addends, the simplest first.
  const std::vector<Candidate>& small_cases_of(int addends, bool specials);

  const Judge& judge_;
  Causes& causes_;
  std::map<std::pair<int, bool>, std::vector<Candidate>> small_;
};

}  // namespace mmafuzz
