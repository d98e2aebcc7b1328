// The smallest case that shows a difference, as a reader would write it.
#pragma once

#include <string>

#include "triage/bucket.h"

namespace mmafuzz {

/// The witness of two units on a dot, with both results: "2^-14 * 2^-10 - 1 is -1 on exact and -0.99999994 on
/// v100 (mma...)". "" for other buckets, and for witnesses of more than four nonzero addends.
std::string smallest_case(const Bucket& bucket);

}  // namespace mmafuzz
