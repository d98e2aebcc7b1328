#include "triage/unexplained/condition.h"

#include <algorithm>
#include <map>
#include <optional>

#include "triage/unexplained/condition_parts.h"
#include "triage/operands.h"

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

/// The numbers of a case, and those of the case before it.
class AllNumbers {
 public:
  /// Those that the first case of a walk that differs has.
  AllNumbers(const Surroundings& walk, const DotModel* model)
      : op_(walk.cases.op()),
        last_(model, walk.cases, walk.differ[0], walk.claimed[walk.differ[0]]),
        all_(last_.all()) {
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
      all_.push_back({Kind::choice, CaseNumber::Where::operand, CaseNumber::Group::none, 0, "", operand_name(op_, at),
                      "", "", relations, 0});
  }

  const Numbers& all() const { return all_; }
  const std::vector<int64_t>& of(const Surroundings& from, size_t index) {
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

 private:
  Op op_;
  CaseNumbers last_;
  std::optional<CaseNumbers> before_;
  Numbers all_;
  std::vector<int64_t> now_;
};

/// Numbers of cases, by number.
class Table {
 public:
  Table(AllNumbers& numbers, const Surroundings& from, const std::vector<size_t>& cases)
      : columns_(numbers.all().size(), std::vector<int64_t>(cases.size())) {
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::vector<int64_t>& row = numbers.of(from, cases[i]);
      for (size_t n = 0; n < row.size(); ++n) columns_[n][i] = row[n];
    }
  }
  size_t cases() const { return columns_.empty() ? 0 : columns_[0].size(); }
  const std::vector<int64_t>& operator[](size_t number) const { return columns_[number]; }

 private:
  std::vector<std::vector<int64_t>> columns_;
};

/// The narrowest limit that all values meet; none where some lack the number.
bool narrowest(Kind kind, const std::vector<int64_t>& values, Limit& limit) {
  limit.mask = kind == Kind::choice ? 0 : ~uint64_t{0};
  limit.value = static_cast<uint64_t>(values[0]);
  for (const int64_t x : values) {
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

/// What a member has in the first case that some member has in all others, too.
Part common(const Numbers& numbers, const Table& differ, const std::vector<std::vector<size_t>>& members,
            const std::vector<int64_t>& one, const std::vector<size_t>& of_one) {
  Part part{{}, &members};
  for (size_t role = 0; role < of_one.size(); ++role)
    if (one[of_one[role]] != CaseNumbers::none)
      part.limits.push_back(exactly(numbers[of_one[role]].kind, role, one[of_one[role]]));
  for (size_t i = 0; i < differ.cases() && !part.limits.empty(); ++i) {
    std::vector<Limit> best;
    for (const std::vector<size_t>& member : members) {
      std::vector<Limit> kept;
      for (const Limit& limit : part.limits)
        if (limit.holds(numbers[member[limit.number]].kind, differ[member[limit.number]][i])) kept.push_back(limit);
      if (kept.size() > best.size()) best = std::move(kept);
    }
    part.limits = std::move(best);
  }
  return part;
}

/// Simple numbers come first: what is said of operands is easier to check than what is said of a sum, and a class says
/// more than the one number of it that was met.
double weight(const CaseNumber& number) {
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

class Learner {
 public:
  Learner(const Numbers& numbers, const std::vector<int64_t>& one, const Table& differ, const Table& agree,
          const std::vector<const std::vector<std::vector<size_t>>*>& groups)
      : numbers_(numbers), agree_(agree) {
    for (size_t n = 0; n < numbers.size(); ++n) {
      Limit limit;
      limit.number = n;
      if (narrowest(numbers[n].kind, differ[n], limit))
        add({{limit}}, weight(numbers[n]), numbers[n].where == CaseNumber::Where::result);
    }
    for (const auto* members : groups)
      for (const std::vector<size_t>& member : *members)
        if (const Part part = common(numbers, differ, *members, one, member); !part.limits.empty())
          add(part, weight_of_group, false);
  }

  /// Adds parts that leave out the cases which those so far do not, each at least that share of them.
  void learn(double least_gain, std::vector<Part>& parts) const {
    std::vector<bool> left(agree_.cases());
    for (size_t i = 0; i < left.size(); ++i)
      left[i] = std::all_of(parts.begin(), parts.end(), [&](const Part& part) { return !is_left_out(part, i); });
    const size_t at_first = static_cast<size_t>(std::count(left.begin(), left.end(), true));
    std::vector<size_t> chosen;
    while (chosen.size() < most_parts) {
      const size_t all = static_cast<size_t>(std::count(left.begin(), left.end(), true));
      if (all <= at_first / few_left) break;
      size_t best = possible_.size();
      double most = std::max(least_gain * static_cast<double>(all),
                             static_cast<double>(at_first) / static_cast<double>(least_share));
      for (size_t p = 0; p < possible_.size(); ++p) {
        size_t gain = 0;
        for (size_t i = 0; i < left.size(); ++i) gain += left[i] && left_out_[p][i];
        if (is_of_result_[p] && static_cast<double>(gain) < least_gain_result * static_cast<double>(all)) continue;
        if (const double weighted = static_cast<double>(gain) * weights_[p]; weighted > most) most = weighted, best = p;
      }
      if (best == possible_.size()) break;
      chosen.push_back(best);
      for (size_t i = 0; i < left.size(); ++i) left[i] = left[i] && !left_out_[best][i];
    }
    for (size_t at = chosen.size(); at-- > 0;)
      if (only_by(left_out_[chosen[at]], chosen[at], chosen) <= agree_.cases() / few_left / 4)
        chosen.erase(chosen.begin() + static_cast<ptrdiff_t>(at));
    for (const size_t p : chosen)
      if (const Part part = simpler(p, chosen); !is_empty(part)) parts.push_back(part);
  }

 private:
  static constexpr double weight_of_group = 0.9;

  static bool is_empty(const Part& part) {
    const Limit& limit = part.limits[0];
    return !part.members && limit.least == no_least && limit.most == no_most;
  }

  void add(const Part& part, double weight, bool is_of_result) {
    possible_.push_back(part);
    is_of_result_.push_back(is_of_result);
    weights_.push_back(weight);
    left_out_.push_back(leaves_out(part));
  }

  bool is_left_out(const Part& part, size_t i) const {
    return !holds(part, numbers_, [&](size_t number) { return agree_[number][i]; });
  }
  std::vector<bool> leaves_out(const Part& part) const {
    std::vector<bool> out(agree_.cases());
    for (size_t i = 0; i < agree_.cases(); ++i) out[i] = is_left_out(part, i);
    return out;
  }

  /// How many cases that agree are left out by this part and by no other of the chosen.
  size_t only_by(const std::vector<bool>& out, size_t part, const std::vector<size_t>& chosen) const {
    size_t count = 0;
    for (size_t i = 0; i < agree_.cases(); ++i)
      count +=
          out[i] && std::none_of(chosen.begin(), chosen.end(), [&](size_t p) { return p != part && left_out_[p][i]; });
    return count;
  }

  /// A limit that leaves out nothing which the other parts let through is not told.
  Part simpler(size_t p, const std::vector<size_t>& chosen) const {
    Part part = possible_[p];
    const size_t all = only_by(left_out_[p], p, chosen), spare = agree_.cases() / few_left / 4;
    const auto leaves_out_enough = [&](const Part& other) {
      return only_by(leaves_out(other), p, chosen) + spare >= all;
    };
    if (part.members) {
      for (const bool classes : {true, false})  // that it is normal or positive says less than its fields do
        for (size_t at = part.limits.size(); at-- > 0 && part.limits.size() > 1;) {
          const Kind kind = numbers_[(*part.members)[0][part.limits[at].number]].kind;
          if (classes != (kind == Kind::choice)) continue;
          Part fewer = part;
          fewer.limits.erase(fewer.limits.begin() + static_cast<ptrdiff_t>(at));
          if (leaves_out_enough(fewer)) part = fewer;
        }
      return part;
    }
    const Kind kind = numbers_[part.limits[0].number].kind;
    if ((kind != Kind::number && kind != Kind::field) || part.limits[0].least == part.limits[0].most) return part;
    for (const bool above : {false, true}) {
      Part wider = part;
      if (above) wider.limits[0].most = no_most;
      else wider.limits[0].least = no_least;
      if (leaves_out_enough(wider)) part = wider;
    }
    return part;
  }

  const Numbers& numbers_;
  const Table& agree_;
  std::vector<Part> possible_;
  std::vector<double> weights_;
  std::vector<bool> is_of_result_;
  std::vector<std::vector<bool>> left_out_;  ///< by possible part, of the cases that agree
};

}  // namespace

Condition condition_of(const Unit& claimed, const Surroundings& learned, const Surroundings& others,
                       bool in_other_lanes) {
  Condition found;
  if (learned.differ.size() < too_few) return found;
  AllNumbers numbers(learned, claimed.model());
  const Numbers& all = numbers.all();
  const std::vector<int64_t> of_one = numbers.of(learned, learned.differ[0]);
  const Table differ(numbers, learned, learned.differ);
  auto lanes = members_of(all, CaseNumber::Group::lane), steps = members_of(all, CaseNumber::Group::step);
  if (!in_other_lanes) lanes.clear();
  const auto is_few = [&](const std::vector<size_t>& cases) {
    return cases.size() < too_few_beside || cases.size() < learned.differ.size() / few_left;
  };
  const auto learn = [&](const std::vector<size_t>& cases, double least_gain, std::vector<Part>& parts) {
    if (is_few(cases)) return;
    Learner(all, of_one, differ, Table(numbers, learned, cases), {&lanes, &steps}).learn(least_gain, parts);
  };
  std::vector<Part> parts;
  learn(learned.seen, least_gain, parts);
  if (!is_few(learned.seen)) learn(learned.agree, least_gain_unseen, parts);
  if (parts.empty()) return found;
  found.text = text_of(all, parts);
  found.where =
      all[parts[0].members ? (*parts[0].members)[0][parts[0].limits[0].number] : parts[0].limits[0].number].where;
  const auto count = [&](const std::vector<size_t>& cases) {
    return static_cast<size_t>(std::count_if(cases.begin(), cases.end(), [&](size_t index) {
      const std::vector<int64_t>& row = numbers.of(others, index);
      return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        return holds(part, all, [&](size_t number) { return row[number]; });
      });
    }));
  };
  found.differ = count(others.differ);
  found.of_differ = others.differ.size();
  found.agree = count(others.seen);
  found.of_agree = others.seen.size();
  return found;
}

}  // namespace mmafuzz
