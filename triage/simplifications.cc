#include "triage/simplifications.h"

#include <algorithm>

#include "arithmetic/round.h"
#include "arithmetic/corner_encodings.h"

namespace mmafuzz {
namespace {

using Candidates = std::vector<Operands>;

constexpr size_t max_repaired = 8;   ///< addends, up to which one makes up for another
constexpr size_t max_in_pairs = 12;  ///< operands or addends, up to which two change together

bool is_finite_nonzero(const Operands& c, size_t at) { return decode(c.format(at), c[at]).cls == NumberClass::finite; }

size_t k_of(const Operands& c) { return static_cast<size_t>(c.op().k); }

/// Clears addends: all of them, halves, quarters, ..., single ones. Clears the other factor of zero products.
Candidates drop_addends(const Operands& from) {
  Candidates list;
  const std::vector<int> present = from.nonzero_addends();
  for (size_t part = present.size(); part >= 1; part = part == 1 ? 0 : (part + 1) / 2) {
    for (size_t begin = 0; begin < present.size(); begin += part) {
      Operands& c = list.emplace_back(from);
      for (size_t i = begin; i < std::min(present.size(), begin + part); ++i) clear_addend(c, present[i]);
    }
  }
  Operands& tidy = list.emplace_back(from);
  for (int i = 0; i < from.addends(); ++i)
    if (from.is_zero_addend(i)) clear_addend(tidy, i);
  for (int i = 0; i < from.addends(); ++i) {
    if (!from.is_zero_addend(i)) continue;
    Operands c = from;
    clear_addend(c, i);
    if (!(c == from)) list.push_back(std::move(c));
  }
  return list;
}

/// Clears one addend and changes another to make up for it: scales it by a power of two, or moves it to the position of
/// the cleared addend with either sign.
Candidates drop_and_repair(const Operands& from) {
  Candidates list;
  const std::vector<int> present = from.nonzero_addends();
  if (!from.is_dot() || present.size() < 2 || present.size() > max_repaired) return list;
  for (const int gone : present) {
    for (const int moved : present) {
      if (moved == gone) continue;
      for (const int exponent : {1, -1, 2, -2, 3, -3, 4, -4}) {
        Operands c = from;
        clear_addend(c, gone);
        if (scale_addend(c, moved, exponent)) list.push_back(std::move(c));
      }
      for (const bool negate : {false, true}) {  // the moved addend replaces the other
        const AddendOperands free = from.operands_of(gone), moving = from.operands_of(moved);
        if (free.size() != moving.size()) continue;
        Operands& c = list.emplace_back(from);
        for (size_t i = 0; i < free.size(); ++i) c[free[i]] = c[moving[i]];
        clear_addend(c, moved);
        if (negate) flip_sign(c, free[0]);
      }
    }
  }
  return list;
}

/// Sets the fraction field of an operand; keeps sign, exponent and ignored low bits. False where nothing changes.
bool set_fraction(Operands& c, size_t at, uint64_t fraction) {
  const FormatFields& f = c.format(at);
  const uint64_t mask = f.in_container(f.fraction_mask());
  const uint64_t changed =
      (c[at] & ~mask & ~low_mask(f.ignored_low_bits)) | f.in_container(fraction & f.fraction_mask());
  if (changed == c[at]) return false;
  c[at] = changed;
  return true;
}

uint64_t fraction_of(const Operands& c, size_t at) {
  return c[at] >> c.format(at).ignored_low_bits & c.format(at).fraction_mask();
}

/// Multiplies all numbers of a matrix by one power of two that brings the largest nearer to 1. A scheme's slices depend
/// on the distances of the exponents, which stay.
Candidates move_matrices(const Operands& from) {
  Candidates list;
  const Op& op = from.op();
  if (op.kind != OpKind::gemm) return list;
  const size_t a = static_cast<size_t>(op.m) * static_cast<size_t>(op.k);
  const size_t b = a + static_cast<size_t>(op.k) * static_cast<size_t>(op.n);
  for (const auto& [begin, end] : {std::pair{size_t{0}, a}, std::pair{a, b}, std::pair{b, from.size()}}) {
    std::vector<size_t> numbers;
    for (size_t at = begin; at < end; ++at)
      if (is_finite_nonzero(from, at)) numbers.push_back(at);
    if (numbers.empty()) continue;
    const auto exponent_of = [&](size_t at) { return leading_exponent(from.format(at), from[at]); };
    int greatest = exponent_of(numbers[0]);
    for (const size_t at : numbers) greatest = std::max(greatest, exponent_of(at));
    for (const int exponent : {-greatest, -greatest / 2, -greatest / 4, greatest > 0 ? -1 : 1}) {
      Operands c = from;
      bool is_scaled = exponent != 0;
      for (const size_t at : numbers) is_scaled = is_scaled && scale(c, at, exponent);
      if (is_scaled) list.push_back(std::move(c));
    }
  }
  return list;
}

/// Clears significand bits: all, the lower or upper part, single bits; replaces a number by a nearby power of two. In
/// all, one or two operands.
Candidates clear_significand_bits(const Operands& from) {
  Candidates list;
  std::vector<size_t> present;
  for (size_t at = 0; at < from.size(); ++at)
    if (from[at] != 0 && !from.format(at).integer) present.push_back(at);
  Operands& plain = list.emplace_back(from);
  for (const size_t at : present) set_fraction(plain, at, 0);
  for (const size_t at : present) {
    const FormatFields& f = from.format(at);
    const uint64_t fraction = fraction_of(from, at);
    const auto with_fraction = [&](uint64_t value) {
      Operands c = from;
      if (set_fraction(c, at, value)) list.push_back(std::move(c));
    };
    if (from[at] & low_mask(f.ignored_low_bits)) with_fraction(fraction);
    with_fraction(0);
    if (is_finite_nonzero(from, at)) {  // one, and the powers of two above and below
      const int exponent = leading_exponent(f, from[at]);
      for (const int to : {0, exponent + 1, exponent, exponent - 1})
        list.emplace_back(from)[at] = encode_near(f, is_negative(f, from[at]), to, 0);
    }
    for (int bits = f.fraction_bits / 2; bits >= 1; bits /= 2)
      with_fraction(fraction & ~low_mask(f.fraction_bits - bits));
    for (int bits = f.fraction_bits / 2; bits >= 1; bits /= 2) with_fraction(fraction & low_mask(bits));
    for (int bit = 0; bit < f.fraction_bits; ++bit)
      if (fraction >> bit & 1) with_fraction(fraction & ~(uint64_t{1} << bit));
    for (int bit = 0; bit < f.fraction_bits; ++bit) {  // one bit for several
      with_fraction(uint64_t{1} << bit);
      with_fraction((fraction & ~low_mask(bit)) + (uint64_t{1} << bit));
    }
  }
  if (from.is_dot()) {  // one factor becomes 1, the other takes its exponent
    const size_t k = k_of(from);
    for (size_t i = 0; i < k; ++i) {
      for (const auto& [kept, cut] : {std::pair{i, k + i}, std::pair{k + i, i}}) {
        if (!is_finite_nonzero(from, kept) || !is_finite_nonzero(from, cut)) continue;
        Operands c = from;
        const int exponent = leading_exponent(from.format(cut), from[cut]);
        c[cut] = encode_near(from.format(cut), is_negative(from.format(cut), from[cut]), 0, 0);
        list.push_back(c);
        if (scale(c, kept, exponent)) list.push_back(std::move(c));
      }
    }
  }
  if (present.size() > max_in_pairs) return list;
  for (size_t i = 0; i < present.size(); ++i) {
    for (size_t j = i + 1; j < present.size(); ++j) {
      const uint64_t x = fraction_of(from, present[i]), y = fraction_of(from, present[j]);
      if (x == 0 || y == 0) continue;
      for (const bool only_lowest : {false, true}) {
        Operands& c = list.emplace_back(from);
        set_fraction(c, present[i], only_lowest ? x & (x - 1) : 0);
        set_fraction(c, present[j], only_lowest ? y & (y - 1) : 0);
      }
    }
  }
  return list;
}

/// Replaces product i by a product of powers of two and adds the rest to c, so that the exact sum of product i and c
/// stays, but for the rounding of c.
Candidates give_to_c(const Operands& from) {
  Candidates list;
  if (!from.is_dot()) return list;
  const size_t k = k_of(from), c_at = 2 * k;
  const Number c = decode(from.format(c_at), from[c_at]);
  if (c.cls != NumberClass::finite) return list;
  for (size_t i = 0; i < k; ++i) {
    const Number x = decode(from.format(i), from[i]), y = decode(from.format(k + i), from[k + i]);
    if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) continue;
    if (x.significand >> 26 || y.significand >> 26) continue;  // the product would not fit below
    const int ex = leading_exponent(from.format(i), from[i]), ey = leading_exponent(from.format(k + i), from[k + i]);
    for (const int up : {0, 1}) {  // the powers of two below and above the product
      const int least = std::min({c.exponent, x.exponent + y.exponent, ex + ey + up});
      const int highest = std::max({c.exponent + bit_length(c.significand), ex + ey + 2});
      if (highest - least > 60) continue;  // int64_t holds sums of three such numbers
      const auto signed_value = [&](bool negative, uint64_t significand, int exponent) {
        const int64_t magnitude = static_cast<int64_t>(significand << (exponent - least));
        return negative ? -magnitude : magnitude;
      };
      const bool negative = x.negative != y.negative;
      const int64_t rest = signed_value(c.negative, c.significand, c.exponent) +
                           signed_value(negative, x.significand * y.significand, x.exponent + y.exponent) -
                           signed_value(negative, 1, ex + ey + up);
      if (rest == 0) continue;
      Operands& simpler = list.emplace_back(from);
      simpler[i] = encode_near(from.format(i), x.negative, ex + up, 0);
      simpler[k + i] = encode_near(from.format(k + i), y.negative, ey, 0);
      simpler[c_at] = round_once(from.format(c_at), rest < 0, magnitude_of(rest), least, RoundingRule{}).encoding;
    }
  }
  return list;
}

/// Appends the case with every addend of a dot times 2^exponent, once each with the factors of a, of b, or of both
/// scaled.
void scale_all(const Operands& from, int exponent, Candidates& list) {
  const size_t k = k_of(from);
  enum class Scaled { a, b, both };
  for (const Scaled scaled : {Scaled::a, Scaled::b, Scaled::both}) {
    Operands c = from;
    bool is_scaled = true;
    for (const int addend : from.nonzero_addends()) {
      const size_t at = static_cast<size_t>(addend);
      if (at == k) is_scaled = is_scaled && scale(c, 2 * k, exponent);
      else if (scaled == Scaled::a) is_scaled = is_scaled && scale(c, at, exponent);
      else if (scaled == Scaled::b) is_scaled = is_scaled && scale(c, k + at, exponent);
      else is_scaled = is_scaled && scale(c, at, exponent / 2) && scale(c, k + at, exponent - exponent / 2);
    }
    if (is_scaled) list.push_back(std::move(c));
  }
}

Candidates move_exponents(const Operands& from) {
  Candidates list;
  constexpr int steps[] = {64, -64, 32, -32, 16, -16, 8, -8, 4, -4, 3, -3, 2, -2, 1, -1};
  if (from.is_dot()) {
    for (const int exponent : steps) scale_all(from, exponent, list);
    const size_t k = k_of(from);
    for (size_t i = 0; i < k; ++i) {  // a power of two moves from one factor of a product to the other
      if (from.is_zero_addend(static_cast<int>(i))) continue;
      for (const int exponent : steps) {
        Operands c = from;
        if (scale(c, i, exponent) && scale(c, k + i, -exponent)) list.push_back(std::move(c));
      }
    }
  }
  for (const int exponent : steps) {
    Operands c = from;
    bool is_scaled = from.op().is_of_blocks();
    for (const int element : from.nonzero_addends())
      is_scaled = is_scaled && scale(c, static_cast<size_t>(element), exponent);
    if (is_scaled) list.push_back(std::move(c));
  }
  for (size_t at = 0; at < from.size(); ++at) {
    if (!is_finite_nonzero(from, at) || from.format(at).integer) continue;
    const int exponent = leading_exponent(from.format(at), from[at]);
    for (const int to : {0, exponent / 2, exponent - exponent / 4, exponent - (exponent > 0 ? 1 : -1)}) {
      if (to == exponent) continue;
      Operands c = from;
      if (scale(c, at, to - exponent)) list.push_back(std::move(c));
    }
  }
  // Scales two addends together, so that a pair that cancels, or is at one exponent, remains so.
  const std::vector<int> present = from.nonzero_addends();
  if (!from.is_dot() || present.size() > max_in_pairs) return list;
  for (size_t i = 0; i < present.size(); ++i) {
    for (size_t j = i + 1; j < present.size(); ++j) {
      for (const int exponent : {8, -8, 4, -4, 2, -2, 1, -1}) {
        Operands c = from;
        if (scale_addend(c, present[i], exponent) && scale_addend(c, present[j], exponent))
          list.push_back(std::move(c));
      }
    }
  }
  return list;
}

Candidates make_positive(const Operands& from) {
  Candidates list;
  const auto negative = [&](size_t at) { return is_negative(from.format(at), from[at]); };
  if (from.is_dot()) {
    const size_t k = k_of(from);
    Operands mirrored = from, both = from;
    for (const int addend : from.nonzero_addends()) {
      const size_t at = static_cast<size_t>(addend);
      flip_sign(mirrored, at == k ? 2 * k : negative(k + at) ? k + at : at);
      if (at < k && negative(at) && negative(k + at)) {
        flip_sign(both, at);
        flip_sign(both, k + at);
      }
    }
    list.push_back(mirrored);
    list.push_back(both);
    for (size_t at = 0; at < k; ++at) {
      Operands& c = list.emplace_back(from);
      flip_sign(c, at);
      flip_sign(c, k + at);
    }
  }
  for (size_t at = 0; at < from.size(); ++at)
    if (negative(at)) flip_sign(list.emplace_back(from), at);
  return list;
}

/// Moves products, or elements of a block, to lower indices, and swaps the factors of a product.
Candidates move_down(const Operands& from) {
  Candidates list;
  if (!from.is_dot() && !from.op().is_of_blocks()) return list;
  const size_t k = k_of(from);
  const auto swap = [&](Operands& c, size_t x, size_t y) {
    std::swap(c[x], c[y]);
    if (c.is_dot()) std::swap(c[k + x], c[k + y]);
  };
  Operands& packed = list.emplace_back(from);  // all products at once
  size_t free = 0;
  for (size_t i = 0; i < k; ++i) {
    if (from.is_zero_addend(static_cast<int>(i))) continue;
    swap(packed, free++, i);
  }
  for (size_t i = 1; i < k; ++i) {
    if (from.is_zero_addend(static_cast<int>(i))) continue;
    for (size_t to = 0; to < i; ++to) swap(list.emplace_back(from), to, i);
  }
  for (size_t i = 0; from.is_dot() && i < k; ++i) {
    if (!(from.format(i) == from.format(k + i)) || from[i] == from[k + i]) continue;
    Operands& c = list.emplace_back(from);
    std::swap(c[i], c[k + i]);
  }
  return list;
}

}  // namespace

const std::vector<Simplification>& simplifications() {
  static const std::vector<Simplification> all = {drop_addends, drop_and_repair, move_matrices, clear_significand_bits,
                                                  give_to_c,    move_exponents,  make_positive, move_down};
  return all;
}

}  // namespace mmafuzz
