// Black boxes that no row describes: what `identify` must not name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/unit.h"

namespace mmafuzz {

struct BoxOutside {
  std::string name;
  std::string flaw;
  Op op;
  std::function<std::unique_ptr<Unit>()> make;
};

/// Twenty of them: planted flaws of a datapath, random and stateful units, tables, other summations.
std::vector<BoxOutside> boxes_outside();

}  // namespace mmafuzz
