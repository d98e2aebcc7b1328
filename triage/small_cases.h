// Small cases on which adders have corners, made once for all who minimize on an op.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "triage/operands.h"

namespace mmafuzz {

/// Threads may share one.
class SmallCases {
 public:
  struct List {
    Batch cases;  ///< simplest first
    std::vector<CaseCost> costs;
  };

  /// Those with exactly `addends` nonzero addends. `fraction_bits`: bits that the adder keeps below the greatest
  /// exponent; `specials`: some operands are infinities and NaNs. What is returned lives as long as this object.
  const List& of(const Op& op, int addends, int fraction_bits, bool specials);

 private:
  struct Slot {
    std::once_flag made;
    List list;
  };
  std::mutex mutex_;
  std::map<std::tuple<std::string, int, int, bool>, std::unique_ptr<Slot>> slots_;
};

}  // namespace mmafuzz
