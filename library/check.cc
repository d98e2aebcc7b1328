#include <mmafuzz/check.h>

#include "core/property.h"
#include "library/access.h"

namespace mmafuzz::v1 {

Check::Check(Unit unit) : unit_(std::move(unit)) {}

void Check::add(const Batch& batch) {
  const Results results = unit_.run(batch);
  const auto& content = Access::content(batch);
  Column computed = content.expected;
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
    const auto first = results.encodings.begin() + static_cast<std::ptrdiff_t>(i * results.count);
    computed.pack(i, &*first);
    const bool same = first_difference(content.cases, content.expected, computed, i) < 0,
               has_flags = content.has_flags[i] && !results.flags.empty();
    if (!same || (has_flags && !same_flags(content.cases, i, content.flags[i], results.flags[i])))
      mismatches_.push_back(
          {batch.op(), batch.line(i), batch.expected(i), {first, first + static_cast<std::ptrdiff_t>(results.count)}});
  }
}

}  // namespace mmafuzz::v1
