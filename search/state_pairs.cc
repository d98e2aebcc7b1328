#include "search/state_pairs.h"

#include <algorithm>

namespace mmafuzz {
namespace {

using Kind = DatapathState::Kind;
using Factor = DatapathState::Factor;

size_t size_of(const Factor& f) { return DatapathState::levels_of(f.kind).size(); }

/// Calls each(i, j, l) for all i < j < l below n, the last fastest.
template <class Each>
void each_three(size_t n, Each each) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j)
      for (size_t l = j + 1; l < n; ++l) each(i, j, l);
}

}  // namespace

StatePairs::StatePairs(const Op& op, const DotModel& model)
    : state_(op, model),
      words_((static_cast<size_t>(state_.levels()) + 63) / 64),
      rows_(static_cast<size_t>(state_.levels()) * words_),
      now_(words_) {
  const std::vector<Factor>& factors = state_.factors();
  for (size_t i = 0; i < factors.size(); ++i) {
    const bool of_sum = factors[i].kind >= Kind::greatest;
    if (factors[i].kind == Kind::scale_a || factors[i].kind == Kind::scale_b || factors[i].kind > Kind::rest) continue;
    if (factors[i].kind == Kind::a || (of_sum && (i == 0 || factors[i - 1].kind < Kind::greatest)))
      groups_.emplace_back();
    if (!of_sum || factors[i].kind <= Kind::rest) groups_.back().push_back(i);
  }
  for (const std::vector<size_t>& group : groups_) {
    size_t count = 0;
    each_three(group.size(), [&](size_t i, size_t j, size_t l) {
      count += size_of(factors[group[i]]) * size_of(factors[group[j]]) * size_of(factors[group[l]]);
    });
    triples_.emplace_back(count);
  }
}

void StatePairs::add(const Batch& batch, size_t index) {
  const std::vector<Factor>& factors = state_.factors();
  const std::vector<uint8_t>& levels = state_.look(batch, index);
  std::fill(now_.begin(), now_.end(), uint64_t{0});
  for (size_t i = 0; i < factors.size(); ++i) {
    const auto level = static_cast<size_t>(factors[i].first) + levels[i];
    now_[level / 64] |= uint64_t{1} << (level % 64);
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    uint64_t* row = rows_.data() + (static_cast<size_t>(factors[i].first) + levels[i]) * words_;
    for (size_t w = 0; w < words_; ++w) row[w] |= now_[w];
  }
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<size_t>& group = groups_[g];
    size_t first = 0;
    each_three(group.size(), [&](size_t i, size_t j, size_t l) {
      const size_t nj = size_of(factors[group[j]]), nl = size_of(factors[group[l]]);
      triples_[g][first + (levels[group[i]] * nj + levels[group[j]]) * nl + levels[group[l]]] = true;
      first += size_of(factors[group[i]]) * nj * nl;
    });
  }
  ++cases_;
}

template <class Each>
void StatePairs::each_pair(Each each) const {
  const std::vector<Factor>& factors = state_.factors();
  for (size_t i = 0; i < factors.size(); ++i)
    for (size_t j = i + 1; j < factors.size() && factors[i].kind < Kind::greatest; ++j)
      for (size_t x = 0; x < size_of(factors[i]); ++x) {
        const size_t level = static_cast<size_t>(factors[i].first) + x;
        if (!covered(level)) continue;
        // Where steps do not align, how far an addend lies below the greatest exponent says little about the result.
        if (factors[j].kind == Kind::result && factors[i].kind == Kind::place && !state_.aligns()) continue;
        for (size_t y = 0; y < size_of(factors[j]); ++y) {
          const size_t other = static_cast<size_t>(factors[j].first) + y;
          if (covered(other))
            each(factors[i], static_cast<int>(x), factors[j], static_cast<int>(y), covered(level, other));
        }
      }
}

StatePairs::Count StatePairs::levels() const {
  Count count;
  for (const Factor& f : state_.factors())
    for (size_t x = 0; x < size_of(f); ++x) {
      if (!state_.possible(f, static_cast<int>(x))) continue;
      ++count.possible;
      count.covered += covered(static_cast<size_t>(f.first) + x);
    }
  return count;
}

std::vector<std::string> StatePairs::uncovered_levels() const {
  std::vector<std::string> list;
  for (const Factor& f : state_.factors())
    for (size_t x = 0; x < size_of(f); ++x)
      if (state_.possible(f, static_cast<int>(x)) && !covered(static_cast<size_t>(f.first) + x))
        list.push_back(text(f, static_cast<int>(x)));
  return list;
}

template <class Counts>
StatePairs::Count StatePairs::count_pairs(Counts counts) const {
  Count count;
  each_pair([&](const Factor& f, int x, const Factor& g, int y, bool covered) {
    if (!counts(f, g) || !state_.possible(f, x, g, y)) return;
    ++count.possible;
    count.covered += covered;
  });
  return count;
}

StatePairs::Count StatePairs::pairs(Kind first, Kind second) const {
  return count_pairs([&](const Factor& f, const Factor& g) {
    return (f.kind == first && g.kind == second) || (f.kind == second && g.kind == first);
  });
}

StatePairs::Count StatePairs::pairs() const {
  return count_pairs([](const Factor&, const Factor&) { return true; });
}

StatePairs::Count StatePairs::triples() const {
  Count count;
  const std::vector<Factor>& factors = state_.factors();
  for (size_t g = 0; g < groups_.size(); ++g) {
    size_t place = 0;
    each_three(groups_[g].size(), [&](size_t i, size_t j, size_t l) {
      const Factor &f = factors[groups_[g][i]], &h = factors[groups_[g][j]], &p = factors[groups_[g][l]];
      for (int x = 0; x < static_cast<int>(size_of(f)); ++x)
        for (int y = 0; y < static_cast<int>(size_of(h)); ++y)
          for (int z = 0; z < static_cast<int>(size_of(p)); ++z, ++place) {
            if (!covered(size_t(f.first + x)) || !covered(size_t(h.first + y)) || !covered(size_t(p.first + z)))
              continue;
            if (!state_.possible(f, x, h, y) || !state_.possible(f, x, p, z) || !state_.possible(h, y, p, z)) continue;
            ++count.possible;
            count.covered += triples_[g][place];
          }
    });
  }
  return count;
}

std::string StatePairs::text(const Factor& f, int level) const {
  return state_.name_of(f) + "=" + DatapathState::levels_of(f.kind)[static_cast<size_t>(level)];
}

std::vector<std::string> StatePairs::uncovered(size_t most) const {
  std::vector<std::string> list;
  each_pair([&](const Factor& f, int x, const Factor& g, int y, bool covered) {
    if (list.size() < most && !covered && state_.possible(f, x, g, y))
      list.push_back(text(f, x) + " and " + text(g, y));
  });
  return list;
}

std::vector<std::string> StatePairs::contradictions() const {
  std::vector<std::string> list;
  each_pair([&](const Factor& f, int x, const Factor& g, int y, bool covered) {
    if (covered && !state_.possible(f, x, g, y)) list.push_back(text(f, x) + " and " + text(g, y));
  });
  return list;
}

}  // namespace mmafuzz
