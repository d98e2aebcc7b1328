// The table of buckets that `triage` and `campaign` print.
#pragma once

#include <vector>

#include "triage/bucket.h"

namespace mmafuzz::cli {

/// With what each cause means where `details` says so.
void print_buckets(const std::vector<Bucket>& buckets, bool details);

}  // namespace mmafuzz::cli
