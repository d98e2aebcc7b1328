// What the candidates of effects on sums share: changes of a sum's digits, and of a sum of some products.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "triage/unexplained/candidate_results.h"

namespace mmafuzz {

constexpr int max_cuts = 4;       ///< addends that lose bits and are a unit larger or smaller; places of a sum
constexpr int max_group_cut = 8;  ///< digits that the sum of some products loses
constexpr int max_moved = 24;     ///< bit positions by which the exponent of alignment is wrong
constexpr int max_missed = 3;     ///< the same where that exponent is no addend's

inline int64_t with_sign_of(int64_t sum, uint64_t magnitude) {
  return sum < 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

/// A magnitude in units of 2^exponent as a number of units of 2^unit, cut.
inline uint64_t cut(uint64_t significand, int exponent, int unit) {
  const int down = unit - exponent;
  return down >= 64 ? 0 : down >= 0 ? significand >> down : -down >= 63 ? 0 : significand << -down;
}

/// A magnitude rounded to its first digits, to nearest even.
inline uint128 rounded_to(uint128 m, int digits) {
  const int drop = bit_length128(m) - digits;
  if (drop <= 0) return m;
  const uint128 half = uint128{1} << (drop - 1), low = m & (2 * half - 1);
  const bool up = low > half || (low == half && (m >> drop & 1) != 0);
  return m - low + (up ? 2 * half : 0);
}

/// Changes of a sum's digits, the last ones of which count as its units.
inline std::vector<std::pair<std::string, std::function<int64_t(int64_t)>>> digit_changes(int digits) {
  std::vector<std::pair<std::string, std::function<int64_t(int64_t)>>> all;
  const auto add = [&](const std::string& text, const std::function<uint64_t(uint64_t)>& change) {
    all.emplace_back(text, [change](int64_t sum) { return with_sign_of(sum, change(magnitude_of(sum))); });
  };
  for (int bit = 0; bit < digits; ++bit) {
    const uint64_t digit = uint64_t{1} << bit;
    for (const bool less : {true, false}) {
      const char* word = less ? "less" : "more";
      add(fmt::format("the sum's magnitude were {} by 2^{} of its last digit", word, bit),
          [=](uint64_t m) { return less ? m - digit : m + digit; });
      all.emplace_back(fmt::format("the sum, with its sign, were {} by 2^{} of its last digit", word, bit),
                       [by = static_cast<int64_t>(digit), less](int64_t sum) { return less ? sum - by : sum + by; });
    }
    const std::string name = fmt::format("digit {} of the sum, from the last one that is kept, were ", bit);
    add(name + "the other one", [digit](uint64_t m) { return m ^ digit; });
    add(name + "0", [digit](uint64_t m) { return m & ~digit; });
    add(name + "1", [digit](uint64_t m) { return m | digit; });
    if (bit > 0)
      add(fmt::format("the last {} digits of the sum were zero", bit),
          [digit](uint64_t m) { return m & ~(digit - 1); });
    add(bit ? fmt::format("the sum had no digits from number {} on", bit) : "the sum were zero",
        [digit](uint64_t m) { return m & (digit - 1); });
  }
  return all;
}

/// Changes of a sum of some products, which the text begins with.
inline std::vector<std::pair<std::string, std::function<int128(int128)>>> part_changes(const std::string& which) {
  std::vector<std::pair<std::string, std::function<int128(int128)>>> all = {
      {which + " were left out", [](int128) { return 0; }},
      {which + " had the other sign", [](int128 sum) { return -sum; }},
      {which + " lost its sign", [](int128 sum) { return sum < 0 ? -sum : sum; }}};
  const auto add = [&](const std::string& text, const std::function<uint128(uint128)>& change) {
    all.emplace_back(text, [change](int128 sum) {
      const auto changed = static_cast<int128>(change(static_cast<uint128>(sum < 0 ? -sum : sum)));
      return sum < 0 ? -changed : changed;
    });
  };
  for (int bits = 1; bits <= max_group_cut; ++bits)
    add(fmt::format("{} lost its last {} digits", which, bits), [bits](uint128 m) { return m >> bits << bits; });
  constexpr int least_register = 16, widest_register = 40;  // bits of a register for the sum
  for (int bits = least_register; bits <= widest_register; ++bits) {
    const int128 most = (int128{1} << (bits - 1)) - 1;
    all.emplace_back(fmt::format("{} kept only its last {} bits", which, bits),
                     [most](int128 sum) { return ((sum + most + 1) & (2 * most + 1)) - most - 1; });
    all.emplace_back(fmt::format("{} were saturated at {} bits", which, bits),
                     [most](int128 sum) { return std::clamp(sum, -most - 1, most); });
    add(fmt::format("{} were rounded to {} digits", which, bits), [bits](uint128 m) { return rounded_to(m, bits); });
    add(fmt::format("{} were cut to {} digits", which, bits), [bits](uint128 m) {
      const int drop = std::max(0, bit_length128(m) - bits);
      return m >> drop << drop;
    });
  }
  return all;
}

}  // namespace mmafuzz
