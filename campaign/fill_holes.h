// What a short search leaves out by chance. The rows of the units say which parameters must show, and each kind of
// arithmetic either has a property or lacks it. After a campaign, those of them that no case has shown are searched one
// by one, with cases made for them, so that the campaign's conclusions do not depend on luck.
#pragma once

#include <functional>

#include "campaign/plan.h"
#include "triage/facts/conclusions.h"
#include "triage/triage.h"

namespace mmafuzz {

/// Adds to the triage a divergence for each parameter in which rows of the plan's units differ and which no bucket
/// names, and for each property that a kind of arithmetic neither claims nor was seen to break, where a short search
/// finds one. `expected`: the facts that the rows imply (expectations_of). The triage has to be finished again.
/// `goes_on` is asked before each search, on any thread; false skips it. Where it is always true, the same buckets give
/// the same divergences. Returns their number.
size_t fill_holes(Triage& triage, const std::vector<Bucket>& buckets, const Plan& plan,
                  const std::vector<std::string>& units, const std::map<std::string, Expectation>& expected,
                  unsigned jobs, const std::function<bool()>& goes_on);

}  // namespace mmafuzz
