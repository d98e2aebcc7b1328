#include <mmafuzz/check.h>

#include "core/property.h"
#include "library/access.h"

namespace mmafuzz::v1 {

Check::Check(Unit unit) : unit_(std::move(unit)) {}

void Check::add(const Batch& batch) {
  const Results results = unit_.run(batch);
  const mmafuzz::Batch& cases = Access::content(batch).cases;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!batch.has_expected(i)) {
      ++without_result_;
      continue;
    }
    if (!results.answered[i]) {
      ++unanswered_;
      continue;
    }
    ++compared_;
    const std::vector<uint64_t> expected = batch.expected(i);
    const auto first = results.encodings.begin() + static_cast<std::ptrdiff_t>(i * results.count);
    const std::vector<uint64_t> got(first, first + static_cast<std::ptrdiff_t>(results.count));
    bool same = true;
    for (size_t j = 0; j < results.count; ++j)
      same = same && same_result(cases, i, expected[j], got[j], static_cast<int>(j));
    if (!same) mismatches_.push_back({batch.op(), batch.line(i), expected, got});
  }
}

}  // namespace mmafuzz::v1
