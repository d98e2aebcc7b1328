// Runs something once per instruction set that Highway compiled for and this machine has, not only on the best one.
#pragma once

#include <hwy/targets.h>

namespace mmafuzz {

template <class Function>
void for_each_vector_target(const Function& function) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    function(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace mmafuzz
