// Black boxes that no row describes, so that `identify` must not name one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

struct BoxOutside {
  std::string name;
  std::string flaw;  ///< what the unit does, in words
  Op op;
  std::function<std::unique_ptr<Unit>()> make;
};

/// All boxes: planted flaws of a datapath, random and stateful units, a table, other summations.
std::vector<BoxOutside> boxes_outside();

}  // namespace mmafuzz
