#include "triage/unexplained/condition.h"

#include <algorithm>
#include <map>

namespace mmafuzz {
namespace {

using Kind = CaseNumber::Kind;

constexpr size_t too_few = 16;             ///< cases that differ, to learn from
constexpr size_t too_few_beside = 32;      ///< cases that agree
constexpr size_t most_parts = 24;          ///< of a condition
constexpr double least_gain = 0.04;        ///< a part leaves out that share of the cases that are left, or is not told
constexpr double least_gain_result = 0.2;  ///< the same of what is said of the result: it often tells what is seen
constexpr double least_gain_unseen = 0.5;  ///< the same of cases on which nothing would be seen in any case
constexpr size_t few_left = 200;           ///< one in that many cases that agree may meet the condition
constexpr size_t least_share = 100;        ///< a part leaves out one in that many of all that agree, or is not told

/// The narrowest limit that all these cases meet; none where some lack the number.
bool narrowest(Kind kind, const std::vector<int64_t>& values, const std::vector<size_t>& cases, Limit& limit) {
  limit.mask = kind == Kind::choice ? 0 : ~uint64_t{0};
  limit.value = static_cast<uint64_t>(values[cases[0]]);
  for (const size_t i : cases) {
    const int64_t x = values[i];
    if (x == CaseNumbers::none) return false;
    limit.least = std::min(limit.least, x);
    limit.most = std::max(limit.most, x);
    if (kind == Kind::choice) limit.mask |= uint64_t{1} << x;
    else limit.mask &= ~(static_cast<uint64_t>(x) ^ limit.value);
  }
  limit.value &= limit.mask;
  return true;
}

/// That a number is what it is in one case.
Limit exactly(Kind kind, size_t number, int64_t x) {
  Limit limit;
  limit.number = number;
  limit.least = limit.most = x;
  limit.mask = kind == Kind::choice ? uint64_t{1} << x : ~uint64_t{0};
  limit.value = static_cast<uint64_t>(x);
  return limit;
}

/// The numbers of each lane or of each step, if all have as many.
std::vector<std::vector<size_t>> members_of(const Numbers& numbers, CaseNumber::Group group) {
  std::map<int, std::vector<size_t>> by_member;
  for (size_t n = 0; n < numbers.size(); ++n)
    if (numbers[n].group == group) by_member[numbers[n].member].push_back(n);
  std::vector<std::vector<size_t>> members;
  for (auto& [member, list] : by_member) members.push_back(std::move(list));
  for (const std::vector<size_t>& list : members)
    if (list.size() != members[0].size()) return {};
  if (members.size() < 2) members.clear();
  return members;
}

bool is_empty(const Part& part) {
  const Limit& limit = part.limits[0];
  return !part.members && limit.least == no_least && limit.most == no_most;
}

}  // namespace

AllNumbers::AllNumbers(const Surroundings& walk, const DotModel* model)
    : op_(walk.cases.op()), last_(model, walk.cases, walk.differ[0], walk.claimed[walk.differ[0]]), all_(last_.all()) {
  if (walk.before.size() == 0) return;
  before_.emplace(model, walk.before, walk.differ[0], walk.earlier[walk.differ[0]]);
  for (CaseNumber number : before_->all()) {
    number.group = CaseNumber::Group::none;
    number.what = "in the case before " + number.what;
    all_.push_back(std::move(number));
  }
  static constexpr const char* relations[] = {"the same as in the case before",
                                              "that of the case before with the other sign",
                                              "another than in the case before"};
  for (size_t at = 0; at < Operands(op_, walk.cases, 0).size(); ++at)
    all_.push_back({Kind::choice, CaseNumber::Where::operand, CaseNumber::Group::none, 0, "", operand_name(op_, at), "",
                    "", relations, 0});
}

const std::vector<int64_t>& AllNumbers::of(const Surroundings& from, size_t index) {
  now_ = last_.of(from.cases, index, from.claimed[index]);
  if (!before_) return now_;
  const std::vector<int64_t>& row = before_->of(from.before, index, from.earlier[index]);
  now_.insert(now_.end(), row.begin(), row.end());
  const Operands x(op_, from.cases, index), y(op_, from.before, index);
  for (size_t at = 0; at < x.size(); ++at) {
    Operands turned = y;
    flip_sign(turned, at);
    now_.push_back(x[at] == y[at] ? 0 : x[at] == turned[at] ? 1 : 2);
  }
  return now_;
}

ConditionLearner::ConditionLearner(const Unit& claimed, const Surroundings& walk, bool in_other_lanes)
    : walk_(walk), numbers_(walk, claimed.model()), values_(numbers_.all().size()) {
  const Numbers& all = numbers_.all();
  for (size_t i = 0; i < walk.cases.size(); ++i) {
    const std::vector<int64_t>& row = numbers_.of(walk, i);
    for (size_t n = 0; n < row.size(); ++n) values_[n].push_back(row[n]);
  }
  if (in_other_lanes) lanes_ = members_of(all, CaseNumber::Group::lane);
  steps_ = members_of(all, CaseNumber::Group::step);
  for (size_t n = 0; n < all.size(); ++n) {
    Limit limit;
    limit.number = n;
    if (narrowest(all[n].kind, values_[n], walk.differ, limit)) add({{limit}});
  }
  for (const auto* members : {&lanes_, &steps_})
    for (const std::vector<size_t>& member : *members)
      if (Part part = common(*members, member); !part.limits.empty()) add(std::move(part));
}

void ConditionLearner::add(Part part) {
  std::vector<bool>& out = left_out_.emplace_back(walk_.cases.size());
  for (const size_t i : walk_.agree) out[i] = leaves_out(part, i);
  possible_.push_back(std::move(part));
}

const CaseNumber& ConditionLearner::number_of(const Part& part, const Limit& limit) const {
  return mmafuzz::number_of(numbers_.all(), part, limit);
}

/// Simple numbers come first: what is said of operands is easier to check than what is said of a sum, and a class says
/// more than the one number of it that was met.
double ConditionLearner::weight(const Part& part) const {
  if (part.members) return 0.9;
  const CaseNumber& number = number_of(part, part.limits[0]);
  if ((number.kind == Kind::field || number.kind == Kind::leading) && number.where == CaseNumber::Where::sum)
    return 0.85;
  switch (number.where) {
    case CaseNumber::Where::operand: return 1;
    case CaseNumber::Where::addend: return 0.98;
    case CaseNumber::Where::sum: return 0.95;
    case CaseNumber::Where::result: return 0.8;
  }
  return 0;
}

bool ConditionLearner::is_about_result(const Part& part) const {
  return !part.members && number_of(part, part.limits[0]).where == CaseNumber::Where::result;
}

/// What a member has in the first case that differs and some member has in all others that do.
Part ConditionLearner::common(const std::vector<std::vector<size_t>>& members,
                              const std::vector<size_t>& of_first) const {
  const Numbers& all = numbers_.all();
  const size_t first = walk_.differ[0];
  Part part{{}, &members};
  for (size_t role = 0; role < of_first.size(); ++role)
    if (const int64_t x = values_[of_first[role]][first]; x != CaseNumbers::none)
      part.limits.push_back(exactly(all[of_first[role]].kind, role, x));
  for (const size_t i : walk_.differ) {
    std::vector<Limit> best;
    for (const std::vector<size_t>& member : members) {
      std::vector<Limit> kept;
      for (const Limit& limit : part.limits)
        if (limit.holds(all[member[limit.number]].kind, values_[member[limit.number]][i])) kept.push_back(limit);
      if (kept.size() > best.size()) best = std::move(kept);
    }
    part.limits = std::move(best);
  }
  return part;
}

bool ConditionLearner::leaves_out(const Part& part, size_t index) const {
  return !holds(part, numbers_.all(), [&](size_t number) { return values_[number][index]; });
}

bool ConditionLearner::is_few(const std::vector<size_t>& cases) const {
  return cases.size() < too_few_beside || cases.size() < walk_.differ.size() / few_left;
}

Condition ConditionLearner::learn(const std::vector<size_t>& seen) const {
  Condition found;
  if (walk_.differ.size() < too_few || is_few(seen)) return found;
  learn(seen, least_gain, found.parts);
  learn(walk_.agree, least_gain_unseen, found.parts);
  if (found.parts.empty()) return found;
  found.text = text_of(numbers_.all(), found.parts);
  found.where = number_of(found.parts[0], found.parts[0].limits[0]).where;
  return found;
}

/// How many of the cases that agree this leaves out, and no other part of the chosen.
template <class LeavesOut>
size_t ConditionLearner::only_by(const std::vector<size_t>& agree, size_t part, const std::vector<size_t>& chosen,
                                 const LeavesOut& is_left_out) const {
  return static_cast<size_t>(std::count_if(agree.begin(), agree.end(), [&](size_t i) {
    return is_left_out(i) &&
           std::none_of(chosen.begin(), chosen.end(), [&](size_t p) { return p != part && left_out_[p][i]; });
  }));
}

/// Adds parts that leave out the cases which those so far do not, each at least that share of them.
void ConditionLearner::learn(const std::vector<size_t>& agree, double least_gain, std::vector<Part>& parts) const {
  std::vector<size_t> left;
  for (const size_t i : agree)
    if (std::none_of(parts.begin(), parts.end(), [&](const Part& part) { return leaves_out(part, i); }))
      left.push_back(i);
  const size_t at_first = left.size();
  std::vector<size_t> chosen;
  while (chosen.size() < most_parts && left.size() > at_first / few_left) {
    const double all = static_cast<double>(left.size());
    size_t best = possible_.size();
    double most = std::max(least_gain * all, static_cast<double>(at_first) / static_cast<double>(least_share));
    for (size_t p = 0; p < possible_.size(); ++p) {
      const std::vector<bool>& out = left_out_[p];
      const double gain =
          static_cast<double>(std::count_if(left.begin(), left.end(), [&](size_t i) { return out[i]; }));
      if (is_about_result(possible_[p]) && gain < least_gain_result * all) continue;
      if (const double weighted = gain * weight(possible_[p]); weighted > most) most = weighted, best = p;
    }
    if (best == possible_.size()) break;
    chosen.push_back(best);
    std::erase_if(left, [&](size_t i) { return left_out_[best][i]; });
  }
  for (size_t at = chosen.size(); at-- > 0;) {
    const size_t p = chosen[at];
    if (only_by(agree, p, chosen, [&](size_t i) { return left_out_[p][i]; }) <= agree.size() / few_left / 4)
      chosen.erase(chosen.begin() + static_cast<ptrdiff_t>(at));
  }
  for (const size_t p : chosen)
    if (const Part part = simpler(p, chosen, agree); !is_empty(part)) parts.push_back(part);
}

/// A limit that leaves out nothing which the other parts let through is not told.
Part ConditionLearner::simpler(size_t p, const std::vector<size_t>& chosen, const std::vector<size_t>& agree) const {
  Part part = possible_[p];
  const size_t all = only_by(agree, p, chosen, [&](size_t i) { return left_out_[p][i]; });
  const size_t spare = agree.size() / few_left / 4;
  const auto leaves_out_enough = [&](const Part& other) {
    return only_by(agree, p, chosen, [&](size_t i) { return leaves_out(other, i); }) + spare >= all;
  };
  if (part.members) {
    for (const bool classes : {true, false})  // that it is normal or positive says less than its fields do
      for (size_t at = part.limits.size(); at-- > 0 && part.limits.size() > 1;) {
        if (classes != (number_of(part, part.limits[at]).kind == Kind::choice)) continue;
        Part fewer = part;
        fewer.limits.erase(fewer.limits.begin() + static_cast<ptrdiff_t>(at));
        if (leaves_out_enough(fewer)) part = fewer;
      }
    return part;
  }
  const Kind kind = number_of(part, part.limits[0]).kind;
  if ((kind != Kind::number && kind != Kind::field) || part.limits[0].least == part.limits[0].most) return part;
  for (const bool above : {false, true}) {
    Part wider = part;
    if (above) wider.limits[0].most = no_most;
    else wider.limits[0].least = no_least;
    if (leaves_out_enough(wider)) part = wider;
  }
  return part;
}

size_t ConditionLearner::count(const Condition& condition, const Surroundings& other,
                               const std::vector<size_t>& cases) {
  return static_cast<size_t>(std::count_if(cases.begin(), cases.end(), [&](size_t index) {
    const std::vector<int64_t>& row = numbers_.of(other, index);
    return std::all_of(condition.parts.begin(), condition.parts.end(), [&](const Part& part) {
      return holds(part, numbers_.all(), [&](size_t number) { return row[number]; });
    });
  }));
}

}  // namespace mmafuzz
