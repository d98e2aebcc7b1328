#include "cli/print_buckets.h"

#include <fmt/core.h>

namespace mmafuzz::cli {

void print_buckets(const std::vector<Bucket>& buckets, bool details) {
  fmt::print("{:<10} {:<9} {:>8} {:>3}  {}\n", "bucket", "severity", "count", "n",
             "property, op, units, values, cause");
  for (const Bucket& b : buckets) {
    std::string units;
    for (const std::string& unit : b.key.units) units += " " + unit;
    fmt::print("{:<10} {:<9} {:>8} {:>3}  {} {}{} {} {}\n", b.id(), name_of(b.severity), b.count, b.addends,
               b.key.property, b.key.op, units, b.key.value_class, b.cause);
    if (details) fmt::print("{:>36}{}\n", "", b.detail);
  }
}

}  // namespace mmafuzz::cli
