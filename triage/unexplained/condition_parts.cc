#include "triage/unexplained/condition_parts.h"

#include <bit>

#include <fmt/format.h>

namespace mmafuzz {
namespace {

using Kind = CaseNumber::Kind;

/// Bits from the highest on, runs of eight and more shortened: "1010{20}"; x stands for either.
std::string binary(uint64_t value, uint64_t mask, int width) {
  std::string bits;
  for (int bit = width - 1; bit >= 0; --bit) bits += mask >> bit & 1 ? (value >> bit & 1 ? '1' : '0') : 'x';
  while (!bits.empty() && bits.back() == 'x') bits.pop_back();
  std::string text;
  for (size_t i = 0, end = 0; i < bits.size(); i = end) {
    while (end < bits.size() && bits[end] == bits[i]) ++end;
    constexpr size_t long_run = 8;
    text += end - i >= long_run ? fmt::format("{}{{{}}}", bits[i], end - i) : bits.substr(i, end - i);
  }
  return text;
}

std::string value_text(const CaseNumber& number, const Limit& limit) {
  const auto digits = [&](int64_t x) {
    return number.kind == Kind::field ? fmt::format("{:#x}", x) : std::to_string(x);
  };
  switch (number.kind) {
    case Kind::choice: {
      std::string text;
      for (uint64_t rest = limit.mask; rest; rest &= rest - 1)
        text += (text.empty() ? "" : " or ") + std::string(number.names[std::countr_zero(rest)]);
      return text + number.behind;
    }
    case Kind::bits:
      if (limit.mask == ~uint64_t{0}) return fmt::format("{:#x}", limit.value);
      return binary(limit.value, limit.mask, number.width) + " (binary)";
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

}  // namespace

std::string text_of(const Numbers& numbers, const std::vector<Part>& parts) {
  struct Saying {
    std::string what, value;
    std::vector<std::string> of;
  };
  std::vector<Saying> said;
  std::string some;
  for (const Part& part : parts)
    for (const Limit& limit : part.limits) {
      const CaseNumber& number = numbers[part.members ? (*part.members)[0][limit.number] : limit.number];
      const std::string value = value_text(number, limit);
      if (part.members) {
        const bool first = &limit == &part.limits[0];
        const char* where = number.group == CaseNumber::Group::lane ? "in some lane " : "in some step ";
        some += !first ? " and " : some.empty() ? where : std::string(", ") + where;
        some += number.what + number.of_any + " is " + value;
        continue;
      }
      const auto same = std::find_if(said.begin(), said.end(),
                                     [&](const Saying& s) { return s.what == number.what && s.value == value; });
      if (same == said.end()) said.push_back({number.what, value, {number.of}});
      else same->of.push_back(number.of);
    }
  std::vector<std::string> all;
  for (const Saying& s : said)
    all.push_back(s.what + enumerated(s.of) + (s.of.size() > 1 ? " are " : " is ") + s.value);
  if (!some.empty()) all.push_back(some);
  std::string text;
  for (const std::string& s : all) text += (text.empty() ? "" : ", ") + s;
  return text;
}

}  // namespace mmafuzz
