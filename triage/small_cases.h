// Cases of few addends at corners of an adder: exponents at which alignment starts to drop bits, sums that cancel, ends
// of the range. Each list is made once for all minimizers of an op.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "triage/operands.h"

namespace mmafuzz {

/// Threads may share one object.
class SmallCases {
 public:
  struct List {
    Batch cases;                  ///< simplest first
    std::vector<CaseCost> costs;  ///< of each case
  };

  /// The cases with exactly `addends` nonzero addends; none for ops other than dots of floating-point factors.
  /// `fraction_bits`: bits that the adder keeps below the greatest exponent. `has_special`: one operand of each case is
  /// an infinity or NaN. The list lives as long as this object.
  const List& cases_of(const Op& op, int addends, int fraction_bits, bool has_special);

 private:
  struct Slot {
    std::once_flag made;
    List list;
  };
  std::mutex mutex_;
  std::map<std::tuple<std::string, int, int, bool>, std::unique_ptr<Slot>> slots_;
};

}  // namespace mmafuzz
