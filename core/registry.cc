#include "core/registry.h"

#include "core/quoted.h"

#include <algorithm>
#include <numeric>

namespace mmafuzz {
namespace {

size_t edit_distance(std::string_view x, std::string_view y) {
  std::vector<size_t> row(y.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= x.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (x[i - 1] != y[j - 1])});
      diagonal = above;
    }
  }
  return row[y.size()];
}

std::string without_overrides(const std::string& name) { return name.substr(0, name.find('?')); }

}  // namespace

Result<std::unique_ptr<Unit>> Registry::bind(const std::string& name, const Op& op) const {
  const std::string plain = without_overrides(name);
  for (const auto& family : families_)
    if (family->owns(plain)) {
      Result<std::unique_ptr<Unit>> unit = family->bind_over(*this, name, op);
      if (!unit) return unit;
      const std::string words = not_honoured(op, family->honours(name, op));
      if (!words.empty()) return declined(name + " does not honour " + words);
      return unit;
    }
  std::string message = "unknown unit " + quoted(name);
  const std::vector<std::string> close = nearest(plain, 3);
  for (size_t i = 0; i < close.size(); ++i) message += (i == 0 ? "; nearest: " : ", ") + close[i];
  return unknown(message);
}

bool Registry::knows(const std::string& name) const {
  return std::any_of(families_.begin(), families_.end(),
                     [plain = without_overrides(name)](const auto& family) { return family->owns(plain); });
}

std::vector<UnitInfo> Registry::list() const {
  std::vector<UnitInfo> all;
  for (const auto& family : families_)
    for (UnitInfo& info : family->list()) all.push_back(std::move(info));
  return all;
}

std::vector<std::string> Registry::nearest(const std::string& name, size_t count) const {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const UnitInfo& info : list()) ranked.emplace_back(edit_distance(name.substr(0, 200), info.name), info.name);
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) names.push_back(ranked[i].second);
  return names;
}

uint64_t run_one_dot(const Unit& unit, const Op& op, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b,
                     uint64_t c, const std::vector<uint64_t>& scale_a, const std::vector<uint64_t>& scale_b) {
  Batch batch(op);
  batch.resize(1);
  const auto fill = [&](size_t column, const std::vector<uint64_t>& values) {
    for (size_t i = 0; i < values.size() && i < size_t(batch.inputs()[column].count()); ++i)
      batch.inputs()[column].set(0, static_cast<int>(i), values[i]);
  };
  fill(0, a);
  fill(1, b);
  fill(2, {c});
  if (op.has_scales()) {
    fill(3, scale_a);
    fill(4, scale_b);
  }
  Outcomes outcomes;
  unit.run(batch, outcomes);
  return outcomes.results.get(0);
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace mmafuzz
