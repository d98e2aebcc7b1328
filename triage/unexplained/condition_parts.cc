#include "triage/unexplained/condition_parts.h"

#include <bit>

#include <fmt/format.h>

namespace mmafuzz {
namespace {

using Kind = CaseNumber::Kind;

/// Bits from the highest on, runs of four and more shortened: "1010{20}"; x stands for either.
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

/// With its bits in words where they are few runs: "0x1ffc000 = 1{11}0{14}".
std::string hexadecimal(uint64_t x) {
  constexpr int least = 12, most_runs = 4;  // below it the digits are read easily
  std::string text = fmt::format("{:#x}", x);
  if (x >> least != 0 && std::popcount(x ^ (x >> 1)) <= most_runs)
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
      return text + number.behind;
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

}  // namespace

std::string text_of(const Numbers& numbers, const std::vector<Part>& parts) {
  struct Saying {
    std::string what, value;
    std::vector<std::string> of;
  };
  std::vector<Saying> said;
  for (const Part& part : parts) {
    if (part.members) {
      std::string text;
      for (const Limit& limit : part.limits) {
        const CaseNumber& number = number_of(numbers, part, limit);
        text += (text.empty() ? "" : ", ") + number.what + number.of_any + " is " + value_text(number, limit);
      }
      const bool lane = number_of(numbers, part, part.limits[0]).group == CaseNumber::Group::lane;
      said.push_back({fmt::format("{} [{}]", lane ? "in some lane" : "in some step", text), "", {}});
      continue;
    }
    const CaseNumber& number = number_of(numbers, part, part.limits[0]);
    const std::string value = value_text(number, part.limits[0]);
    const auto same = std::find_if(said.begin(), said.end(), [&](const Saying& s) {
      return !s.of.empty() && s.what == number.what && s.value == value;
    });
    if (same == said.end()) said.push_back({number.what, value, {number.of}});
    else same->of.push_back(number.of);
  }
  std::string text;
  for (const Saying& s : said) {
    const bool several = s.of.size() > 1;
    text += (text.empty() ? "" : ", ") + s.what + (several && !s.what.empty() ? "each of " : "") + enumerated(s.of);
    if (!s.of.empty()) text += (several && s.what.empty() ? " are " : " is ") + s.value;
  }
  return text;
}

}  // namespace mmafuzz
