// What a short search leaves out by chance. The rows of the units say which parameters must show, and each kind of
// arithmetic either has a property or lacks it; after a campaign it is known which of these no case has shown. Those
// few are searched one by one, with cases made for them, so that what a campaign says does not hang on luck.
#pragma once

#include <functional>

#include "campaign/plan.h"
#include "triage/facts/conclusions.h"
#include "triage/triage.h"

namespace mmafuzz {

/// Adds a divergence for each parameter in which rows of the plan's units differ and which no bucket names, and for
/// each property that a kind of arithmetic neither claims nor was seen to break, where a short search finds one.
/// `expected`: what the rows imply (expectations_of). The triage has to be finished again. The same buckets give the
/// same divergences, unless `goes_on` says no, which is asked before each search on any thread. Returns their number.
size_t fill_holes(Triage& triage, const std::vector<Bucket>& buckets, const Plan& plan,
                  const std::vector<std::string>& units, const std::map<std::string, Expectation>& expected,
                  unsigned jobs, const std::function<bool()>& goes_on);

}  // namespace mmafuzz
