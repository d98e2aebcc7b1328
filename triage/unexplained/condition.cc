#include "triage/unexplained/condition.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace mmafuzz {
namespace {

using Kind = CaseNumber::Kind;

constexpr size_t too_few = 16;             ///< minimum number of cases that differ
constexpr size_t too_few_beside = 32;      ///< minimum number of cases that agree
constexpr size_t max_parts = 24;           ///< limit of parts
constexpr double least_gain = 0.06;        ///< minimum share of the remaining agreeing cases that a new part excludes
constexpr double least_gain_result = 0.2;  ///< the same for parts on the result, which often only say what is visible
constexpr double least_gain_unseen = 0.5;  ///< the same among cases on which the effect may be invisible
constexpr size_t few_left = 200;           ///< the condition may hold for one in this many of the cases that agree
constexpr size_t few_others =
    20;  ///< a part about deciding products holds for all but one in this many cases that differ
constexpr size_t least_share = 70;  ///< a part excludes at least one in this many of all agreeing cases

constexpr int64_t no_least = INT64_MIN + 1, no_most = INT64_MAX;  // INT64_MIN is CaseNumbers::none

/// The number that a limit of a part is about; of a part with members, that of the first member.
const CaseNumber& number_of(const Numbers& numbers, const Part& part, const Limit& limit) {
  return numbers[part.members ? (*part.members)[0][limit.number] : limit.number];
}

/// Whether a part holds for a case. `value_of`: returns the case's value of the number with an index.
template <class ValueOf>
bool holds(const Part& part, const Numbers& numbers, const ValueOf& value_of) {
  const auto all_hold = [&](const std::vector<size_t>* member) {
    return std::all_of(part.limits.begin(), part.limits.end(), [&](const Limit& limit) {
      const size_t number = member ? (*member)[limit.number] : limit.number;
      return limit.holds(numbers[number].kind, value_of(number));
    });
  };
  if (!part.members) return all_hold(nullptr);
  if (part.for_every_member)
    return std::all_of(part.members->begin(), part.members->end(),
                       [&](const auto& member) { return all_hold(&member); });
  return std::any_of(part.members->begin(), part.members->end(), [&](const auto& member) { return all_hold(&member); });
}

/// Bits from the highest down, runs of four and more shortened: "1010{20}". Bits not in `mask` are x, at the end left
/// out.
std::string binary(uint64_t value, uint64_t mask, int width) {
  std::string bits;
  for (int bit = width - 1; bit >= 0; --bit) bits += mask >> bit & 1 ? (value >> bit & 1 ? '1' : '0') : 'x';
  while (!bits.empty() && bits.back() == 'x') bits.pop_back();
  std::string text;
  for (size_t i = 0, end = 0; i < bits.size(); i = end) {
    while (end < bits.size() && bits[end] == bits[i]) ++end;
    constexpr size_t long_run = 4;
    text += end - i >= long_run ? fmt::format("{}{{{}}}", bits[i], end - i) : bits.substr(i, end - i);
  }
  return text;
}

/// Hexadecimal digits, and the bits of a large number where they form few runs: "0x1ffc000 = 1{11}0{14}".
std::string hexadecimal(uint64_t x) {
  constexpr int least = 12, max_runs = 4;  // bits; shorter numbers are easy to read
  std::string text = fmt::format("{:#x}", x);
  if (x >> least != 0 && std::popcount(x ^ (x >> 1)) <= max_runs)
    text += " = " + binary(x, ~uint64_t{0}, 64 - std::countl_zero(x));
  return text;
}

std::string value_text(const CaseNumber& number, const Limit& limit) {
  const auto digits = [&](int64_t x) {
    return number.kind == Kind::field ? hexadecimal(static_cast<uint64_t>(x)) : std::to_string(x);
  };
  switch (number.kind) {
    case Kind::choice: {
      std::string text;
      for (uint64_t rest = limit.mask; rest; rest &= rest - 1)
        text += (text.empty() ? "" : " or ") + std::string(number.names[std::countr_zero(rest)]);
      return text + number.suffix;
    }
    case Kind::bits:
      if (limit.mask == ~uint64_t{0}) return fmt::format("{:#x}", limit.value);
      return fmt::format("{} (the first of {} bits; x: either)", binary(limit.value, limit.mask, number.width),
                         number.width);
    case Kind::leading: return binary(limit.value, limit.mask, 64) + " (binary)";
    default: break;
  }
  if (limit.least == limit.most) return digits(limit.least);
  if (limit.most == no_most) return "at least " + digits(limit.least);
  if (limit.least == no_least) return "at most " + digits(limit.most);
  return digits(limit.least) + " to " + digits(limit.most);
}

/// "a0, a2 and a3".
std::string enumerated(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// Parts for people: "the exponent field of a3 is 0x55, in some lane [the fraction of a is 0x2b5, ...]". Equal limits
/// on several numbers become one phrase.
std::string text_of(const Numbers& numbers, const std::vector<Part>& parts) {
  struct Saying {
    std::string prefix, value;
    std::vector<std::string> names;
  };
  std::vector<Saying> said;
  for (const Part& part : parts) {
    if (part.members) {
      std::string text;
      for (const Limit& limit : part.limits) {
        CaseNumber number = number_of(numbers, part, limit);
        if (!number.suffix_in_any.empty()) number.suffix = number.suffix_in_any;
        text += (text.empty() ? "" : ", ") + number.prefix + number.name_in_any + " is " + value_text(number, limit);
      }
      static constexpr const char* places[] = {"", "lane", "step", "two lanes", "four lanes"};  // by CaseNumber::Group
      static_assert(std::size(places) == static_cast<size_t>(CaseNumber::Group::four_lanes) + 1);
      const CaseNumber::Group group = number_of(numbers, part, part.limits[0]).group;
      said.push_back({fmt::format("in {} {} [{}]", part.for_every_member ? "every" : "some",
                                  places[static_cast<size_t>(group)], text),
                      "",
                      {}});
      continue;
    }
    const CaseNumber& number = number_of(numbers, part, part.limits[0]);
    const std::string value = value_text(number, part.limits[0]);
    const auto same = std::find_if(said.begin(), said.end(), [&](const Saying& s) {
      return !s.names.empty() && s.prefix == number.prefix && s.value == value;
    });
    if (same == said.end()) said.push_back({number.prefix, value, {number.name}});
    else same->names.push_back(number.name);
  }
  std::string text;
  for (const Saying& s : said) {
    const bool several = s.names.size() > 1;
    text +=
        (text.empty() ? "" : ", ") + s.prefix + (several && !s.prefix.empty() ? "each of " : "") + enumerated(s.names);
    if (!s.names.empty()) text += (several && s.prefix.empty() ? " are " : " is ") + s.value;
  }
  return text;
}

/// Sets `limit` to the narrowest that all these cases satisfy; false where one of them lacks the number.
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

/// The limit that a number is exactly x.
Limit exactly(Kind kind, size_t number, int64_t x) {
  Limit limit;
  limit.number = number;
  limit.least = limit.most = x;
  limit.mask = kind == Kind::choice ? uint64_t{1} << x : ~uint64_t{0};
  limit.value = static_cast<uint64_t>(x);
  return limit;
}

/// By lane or by step, the indices of its numbers; empty where there are fewer than two or their lengths differ.
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

/// Whether the part is one limit that every value satisfies.
bool is_empty(const Part& part) {
  const Limit& limit = part.limits[0];
  return !part.members && limit.least == no_least && limit.most == no_most;
}

/// Whether a part bounds one number of some lane or step.
bool is_extreme(const Part& part) {
  return part.limits.size() == 1 && (part.limits[0].least == no_least || part.limits[0].most == no_most);
}

}  // namespace

AllNumbers::AllNumbers(const Surroundings& walk, const DotModel* model)
    : op_(walk.cases.op()),
      last_(model, walk.part, walk.cases, walk.differ[0], walk.of_model[walk.differ[0]]),
      all_(last_.all()) {
  if (walk.before.size() == 0) return;
  before_.emplace(model, walk.part, walk.before, walk.differ[0], walk.of_model_before[walk.differ[0]]);
  for (CaseNumber number : before_->all()) {
    number.group = CaseNumber::Group::none;
    number.prefix = "in the case before " + number.prefix;
    all_.push_back(std::move(number));
  }
  static constexpr const char* relations[] = {"the same as in the case before",
                                              "that of the case before with the other sign",
                                              "another than in the case before"};
  static constexpr const char* sameness[] = {"another than the result of the case before",
                                             "the result of the case before"};
  const auto add = [&](Kind kind, const std::string& prefix, const std::string& name, const char* const* names) {
    all_.push_back({kind, CaseNumber::Where::operand, CaseNumber::Group::none, 0, prefix, name, "", "", names, 0});
  };
  for (size_t at = 0; at < Operands(op_, walk.cases, 0).size(); ++at) {
    const std::string name = operand_name(op_, at);
    add(Kind::choice, "", name, relations);
    add(Kind::choice, "", name, sameness);
    add(Kind::number, "the number of first bits that the case before shares with ", name, nullptr);
    add(Kind::number, "the number of last bits that the case before shares with ", name, nullptr);
  }
  add(Kind::number, "the number of ", "bits of operands that are others than in the case before", nullptr);
}

const std::vector<int64_t>& AllNumbers::values_of(const Surroundings& from, size_t index) {
  row_ = last_.values_of(from.cases, index, from.of_model[index]);
  if (!before_) return row_;
  const std::vector<int64_t>& row = before_->values_of(from.before, index, from.of_model_before[index]);
  row_.insert(row_.end(), row.begin(), row.end());
  const Operands x(op_, from.cases, index), y(op_, from.before, index);
  int changed = 0;
  for (size_t at = 0; at < x.size(); ++at) {
    Operands turned = y;
    flip_sign(turned, at);
    row_.push_back(x[at] == y[at] ? 0 : x[at] == turned[at] ? 1 : 2);
    row_.push_back(x.named_format(at) == op_.d && x[at] == from.of_model_before[index]);
    const uint64_t others = x[at] ^ y[at];
    const int width = x.format(at).width;
    row_.push_back(width - bit_length(others));
    row_.push_back(std::min(width, std::countr_zero(others)));
    changed += std::popcount(others);
  }
  row_.push_back(changed);
  return row_;
}

ConditionLearner::ConditionLearner(const Unit& claimed, const Surroundings& walk, bool in_other_lanes)
    : walk_(walk), numbers_(walk, claimed.model()), values_(numbers_.all().size()) {
  const Numbers& all = numbers_.all();
  for (size_t i = 0; i < walk.cases.size(); ++i) {
    const std::vector<int64_t>& row = numbers_.values_of(walk, i);
    for (size_t n = 0; n < row.size(); ++n) values_[n].push_back(row[n]);
  }
  all_lanes_ = members_of(all, CaseNumber::Group::lane);
  if (in_other_lanes) lanes_ = all_lanes_;
  steps_ = members_of(all, CaseNumber::Group::step);
  two_lanes_ = members_of(all, CaseNumber::Group::two_lanes);
  four_lanes_ = members_of(all, CaseNumber::Group::four_lanes);
  const auto members = {&lanes_, &steps_, &two_lanes_, &four_lanes_};
  for (size_t n = 0; n < all.size(); ++n) {
    Limit limit;
    limit.number = n;
    if (narrowest(all[n].kind, values_[n], walk.differ, limit)) add({{limit}});
  }
  for (const auto* of : members)
    for (const std::vector<size_t>& member : *of)
      if (Part part = common(*of, member); !part.limits.empty()) add(std::move(part));
  if (Part part = of_deciding_lanes(); !part.limits.empty()) add(std::move(part));
  for (const auto* of : members) add_extremes(*of);
  add_for_every_lane();
}

/// Adds, for each number that every lane has in all cases which differ, the narrowest part that they satisfy.
void ConditionLearner::add_for_every_lane() {
  for (size_t role = 0; role < (all_lanes_.empty() ? 0 : all_lanes_[0].size()); ++role) {
    const CaseNumber& number = numbers_.all()[all_lanes_[0][role]];
    if (number.kind == Kind::leading) continue;  // of narrow formats they are few, and alike by chance
    std::vector<int64_t> values;
    for (const size_t i : walk_.differ)
      for (const std::vector<size_t>& member : all_lanes_) values.push_back(values_[member[role]][i]);
    std::vector<size_t> each(values.size());
    std::iota(each.begin(), each.end(), size_t{0});
    Limit limit;
    limit.number = role;
    const auto is_limit = [&] { return number.kind != Kind::bits || (limit.mask & low_mask(number.width)) != 0; };
    if (narrowest(number.kind, values, each, limit) && is_limit()) add({{limit}, &all_lanes_, true});
  }
}

/// Adds, for each number of a lane or step, the part that some member has at least the least of the greatest values
/// that the cases which differ have, and the part that some has at most the greatest of their least values.
void ConditionLearner::add_extremes(const std::vector<std::vector<size_t>>& members) {
  for (size_t role = 0; role < (members.empty() ? 0 : members[0].size()); ++role) {
    const Kind kind = numbers_.all()[members[0][role]].kind;
    if (kind != Kind::number && kind != Kind::field) continue;
    Limit from, to;
    from.number = to.number = role;
    from.least = from.most = no_most;
    to.least = to.most = no_least;
    bool all_have_it = true;
    for (const size_t i : walk_.differ) {
      int64_t greatest = no_least, least = no_most;
      for (const std::vector<size_t>& member : members)
        if (const int64_t x = values_[member[role]][i]; x != CaseNumbers::none)
          greatest = std::max(greatest, x), least = std::min(least, x);
      all_have_it &= greatest != no_least;
      from.least = std::min(from.least, greatest);
      to.most = std::max(to.most, least);
    }
    if (!all_have_it) continue;
    add({{from}, &members});
    add({{to}, &members});
  }
}

void ConditionLearner::add(Part part) {
  std::vector<bool>& out = left_out_.emplace_back(walk_.cases.size());
  for (const size_t i : walk_.agree) out[i] = leaves_out(part, i);
  possible_.push_back(std::move(part));
}

/// The factor by which a part's gain counts. A statement about operands is easier to check than one about a sum. A
/// class says more than the only number of the class that occurred.
double ConditionLearner::weight(const Part& part) const {
  if (part.members) return is_extreme(part) ? 0.8 : 0.9;
  const CaseNumber& number = number_of(numbers_.all(), part, part.limits[0]);
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

/// The part with the values of one member in the first case that differs, less the limits that no single member
/// satisfies together with the rest in one of the other cases that differ.
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

/// What the lanes of the deciding products have in common, as a part; without limits where few of them are known, or
/// where others of the cases that differ are not so.
Part ConditionLearner::of_deciding_lanes() const {
  Part part{{}, &lanes_};
  std::vector<size_t> known;
  for (size_t n = 0; n < walk_.deciding.size(); ++n)
    if (walk_.deciding[n] >= 0) known.push_back(n);
  if (known.size() < too_few || lanes_.empty()) return part;
  for (size_t role = 0; role < lanes_[0].size(); ++role) {
    std::vector<int64_t> values(walk_.deciding.size());
    for (const size_t n : known)
      values[n] = values_[lanes_[static_cast<size_t>(walk_.deciding[n])][role]][walk_.differ[n]];
    Limit limit;
    limit.number = role;
    const CaseNumber& number = numbers_.all()[lanes_[0][role]];
    if (narrowest(number.kind, values, known, limit) &&
        (number.kind != Kind::bits || (limit.mask & low_mask(number.width)) != 0))
      part.limits.push_back(limit);
  }
  const auto others =
      std::count_if(walk_.differ.begin(), walk_.differ.end(), [&](size_t i) { return leaves_out(part, i); });
  if (static_cast<size_t>(others) * few_others > walk_.differ.size()) part.limits.clear();
  return part;
}

bool ConditionLearner::leaves_out(const Part& part, size_t index) const {
  return !holds(part, numbers_.all(), [&](size_t number) { return values_[number][index]; });
}

Condition ConditionLearner::learn(const std::vector<size_t>& seen) const {
  Condition found;
  const size_t least_seen = std::max(too_few_beside, walk_.differ.size() / few_left);
  if (walk_.differ.size() < too_few || seen.size() < least_seen) return found;
  learn(seen, least_gain, found.parts);
  learn(walk_.agree, least_gain_unseen, found.parts);
  if (found.parts.empty()) return found;
  found.text = text_of(numbers_.all(), found.parts);
  found.where = number_of(numbers_.all(), found.parts[0], found.parts[0].limits[0]).where;
  return found;
}

/// How many of the cases that agree a part excludes and no other chosen part does. `is_left_out`: whether it excludes
/// the case with an index. `part` and `chosen` are indices of possible_.
template <class LeavesOut>
size_t ConditionLearner::only_by(const std::vector<size_t>& agree, size_t part, const std::vector<size_t>& chosen,
                                 const LeavesOut& is_left_out) const {
  return static_cast<size_t>(std::count_if(agree.begin(), agree.end(), [&](size_t i) {
    return is_left_out(i) &&
           std::none_of(chosen.begin(), chosen.end(), [&](size_t p) { return p != part && left_out_[p][i]; });
  }));
}

/// Appends parts that exclude cases of `agree` which `parts` do not exclude, each at least the share `least_gain` of
/// those that remain. Then drops parts without which nearly as many are excluded, and simplifies the others.
void ConditionLearner::learn(const std::vector<size_t>& agree, double least_gain, std::vector<Part>& parts) const {
  std::vector<size_t> left;
  for (const size_t i : agree)
    if (std::none_of(parts.begin(), parts.end(), [&](const Part& part) { return leaves_out(part, i); }))
      left.push_back(i);
  const std::vector<size_t> before = left;
  const size_t at_first = left.size();
  std::vector<size_t> chosen;
  while (chosen.size() < max_parts && left.size() > at_first / few_left) {
    const double all = static_cast<double>(left.size());
    size_t best = possible_.size();
    double most = std::max(least_gain * all, static_cast<double>(at_first) / static_cast<double>(least_share));
    for (size_t p = 0; p < possible_.size(); ++p) {
      const std::vector<bool>& out = left_out_[p];
      const double gain =
          static_cast<double>(std::count_if(left.begin(), left.end(), [&](size_t i) { return out[i]; }));
      const Part& part = possible_[p];
      const bool is_about_result =
          !part.members && number_of(numbers_.all(), part, part.limits[0]).where == CaseNumber::Where::result;
      if (is_about_result && gain < least_gain_result * all) continue;
      if (const double weighted = gain * weight(part); weighted > most) {
        most = weighted;
        best = p;
      }
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
  // One part that leaves no more cases than all chosen ones together is simpler.
  const auto count_of_left = [&](size_t p) {
    return std::count_if(before.begin(), before.end(), [&](size_t i) { return !left_out_[p][i]; });
  };
  for (size_t p = 0; p < possible_.size() && chosen.size() > 1; ++p)
    if (count_of_left(p) <= static_cast<ptrdiff_t>(left.size())) chosen = {p};
  for (const size_t p : chosen)
    if (const Part part = simpler(p, chosen, agree); !is_empty(part)) {
      const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& other) {
        return !part.members && !other.members && other.limits[0].number == part.limits[0].number;
      });
      if (same == parts.end()) parts.push_back(part);
      else *same = possible_[p];  // the narrowest excludes what both do
    }
}

/// Part `p` less limits and bounds that exclude nearly no case of `agree` that the other chosen parts admit.
Part ConditionLearner::simpler(size_t p, const std::vector<size_t>& chosen, const std::vector<size_t>& agree) const {
  Part part = possible_[p];
  const size_t all = only_by(agree, p, chosen, [&](size_t i) { return left_out_[p][i]; });
  const size_t spare = agree.size() / few_left / 4;
  const auto leaves_out_enough = [&](const Part& other) {
    return only_by(agree, p, chosen, [&](size_t i) { return leaves_out(other, i); }) + spare >= all;
  };
  if (part.members) {
    for (const bool classes : {true, false})  // classes, such as "normal", go first: fields say more
      for (size_t at = part.limits.size(); at-- > 0 && part.limits.size() > 1;) {
        if (classes != (number_of(numbers_.all(), part, part.limits[at]).kind == Kind::choice)) continue;
        Part fewer = part;
        fewer.limits.erase(fewer.limits.begin() + static_cast<ptrdiff_t>(at));
        if (leaves_out_enough(fewer)) part = fewer;
      }
    return part;
  }
  const Kind kind = number_of(numbers_.all(), part, part.limits[0]).kind;
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
    const std::vector<int64_t>& row = numbers_.values_of(other, index);
    return std::all_of(condition.parts.begin(), condition.parts.end(), [&](const Part& part) {
      return holds(part, numbers_.all(), [&](size_t number) { return row[number]; });
    });
  }));
}

}  // namespace mmafuzz
