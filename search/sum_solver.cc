#include "search/sum_solver.h"

#include <algorithm>

#include "core/dot_case.h"

namespace mmafuzz {
namespace {

constexpr int most_bits = 100;  ///< of a sum that is solved for

uint128 magnitude(int128 x) { return static_cast<uint128>(x < 0 ? -x : x); }
int128 with_sign(uint128 x, bool negative) { return negative ? -static_cast<int128>(x) : static_cast<int128>(x); }

/// The magnitude of a sum that makes the least or greatest subnormal result, the least normal or the greatest one, or
/// one beside it.
std::optional<uint128> end_of_range(const WantedSum& w, const FormatFields& f, const LastStep& step) {
  const uint64_t least_normal = uint64_t{1} << f.fraction_bits;
  const std::pair<uint64_t, int> ends[] = {{1, f.least_bit()},
                                           {least_normal - 1, f.least_bit()},
                                           {least_normal, f.least_bit()},
                                           {2 * least_normal - 1, f.emax() - f.fraction_bits}};
  const auto [significand, last] = ends[step.greatest > (f.emin() + f.emax()) / 2 ? 3 : w.draws[0] % 3];
  const int left = last - step.unit;
  if (left < 0 || left + f.fraction_bits > most_bits) return std::nullopt;
  const uint128 sum = uint128{significand} << left, beside = uint128{1} << std::max(0, left - 2);
  switch (left > 0 ? w.draws[1] % 6 : 0) {
    case 1: return sum - beside;
    case 2: return sum + beside;
    default: return sum;
  }
}

uint64_t nearest(const FormatFields& f, int128 units, int unit) {
  if (units == 0) return f.encode_zero(false);
  return round_exact(f, {NumberClass::finite, units < 0, magnitude(units), unit},
                     {.rounding = Rounding::nearest_even, .overflow = Overflow::saturate})
      .encoding;
}

}  // namespace

WantedSum SumSolver::draw(int size) const {
  const auto below = [&](int n) { return s_.rng.between(0, n - 1); };
  const int rest = below(9), kept = s_.kept_bits;
  const bool as_it_is = rest < 8 && s_.coin();
  if (adds_two()) {
    size = size == 9 || size >= 12 ? 7 + size % 2 : size;
  } else if (row_ && rest > 0 && rest != 4 && rest < 8 && !s_.rng.one_in(as_it_is ? 2 : 4)) {
    // What rounding drops has classes where it has three bits, which on many rows only great sums leave.
    const int least = precision() + 2 - kept;
    const bool floors_great_ones = traits_of(*row_).c == KernelTraits::Joining::second_stage;
    if (least > 0 && least <= 5 && size < 10 + least && !floors_great_ones) size = 10 + least + below(6 - least);
  }
  WantedSum w{size, size - 10, rest, as_it_is, s_.rng.one_in(6), s_.coin(), {}};
  switch (size) {
    case 1:
    case 2: w.above = -size; break;
    case 3: w.above = -3 - below(2); break;
    case 4: w.above = -5 - below(4); break;
    case 5: w.above = -9 - below(8); break;
    case 6: w.above = -17 - below(std::max(1, kept - 18)); break;
    case 7: w.above = 1 - kept; break;
    case 8: w.above = -kept; break;
    case 9: w.above = -kept - 1 - below(8); break;
    default: break;
  }
  for (uint64_t& draw : w.draws) draw = s_.rng.next();
  return w;
}

/// Bits of the significand that rounding keeps.
int SumSolver::precision() const {
  return row_->output_fraction_bits ? row_->output_fraction_bits + 1 : step_format(*row_).precision();
}

/// The sum in units of the step; nullopt where they do not hold it.
std::optional<int128> SumSolver::sum_for(const WantedSum& w, const LastStep& step) const {
  const FormatFields f = step_format(*row_);
  const uint128 draw = uint128{w.draws[0]} << 64 | w.draws[1];
  uint128 sum = magnitude(step.sum);
  bool negative = step.sum < 0;
  if (!w.as_it_is) {
    if (w.size == 0) return 0;
    if (w.end)
      if (const std::optional<uint128> end = end_of_range(w, f, step)) return with_sign(*end, w.negative);
    const int top = step.greatest + w.above - step.unit;
    if (top < 0 || top > most_bits) return std::nullopt;
    const uint128 leading = uint128{1} << top;
    // Where great lanes already add up to enough, only the lowest bits change.
    if (!w.is_big() || negative != w.negative || sum < leading) sum = leading | (draw & (leading - 1));
    negative = w.negative;
  }
  // Of subnormal results more is dropped.
  const int length = bit_length128(sum),
            dropped = std::min(length - 1, std::max(length - precision(), f.least_bit() - step.unit));
  if (dropped > 0 && w.rest < 8) {
    const uint128 mask = (uint128{1} << dropped) - 1, half = uint128{1} << (dropped - 1);
    const uint128 rest[] = {0, 1, draw & (half - 1), half - 1, half, half + 1, half | (draw & mask), mask};
    sum = (sum & ~mask) | (rest[w.rest] & mask);
  }
  return with_sign(sum, negative);
}

void SumSolver::solve(const WantedSum& wanted, bool c_may_change, const std::function<Spare(int lane)>& spare) const {
  if (!row_) return;
  const int first = wanted.is_big() || c_is_last() ? 0 : (s_.k - 1) / s_.block * s_.block;
  bool c_too = c_may_change && !s_.rng.one_in(4);
  DotCase dot(s_.batch().op());
  std::vector<int> lanes;
  for (int tries = 0; tries < 4; ++tries) {
    const LastStep step = last_step(*row_, dot.load(s_.batch(), s_.index()));
    if (!step.has_sum) return;
    const std::optional<int128> sum = sum_for(wanted, step);
    if (!sum || *sum == step.sum) return;
    lanes.clear();
    const int turn = s_.rng.between(0, s_.k - first - 1);
    for (const Spare which : {Spare::first, Spare::at_need})
      for (int i = 0; i < s_.k - first; ++i)
        if (const int lane = first + (i + turn) % (s_.k - first); spare(lane) == which) lanes.push_back(lane);
    int128 units = *sum - step.sum;
    int unit = step.unit;
    if (c_too && !add_to_c(units, unit)) return;
    add_to_lanes(units, unit, lanes);
    c_too = c_may_change && s_.coin();
  }
}

/// Adds `units` of 2^unit to c as far as its format holds that; they become what is left. False where they are not
/// expressed.
bool SumSolver::add_to_c(int128& units, int& unit) const {
  const Number c = decode(s_.fc, s_.c());
  const int low = c.significand ? std::min(unit, c.exponent) : unit;
  if (unit - low > 20 || (c.significand && c.exponent - low > 60)) return false;
  units <<= unit - low;
  if (c.significand) units += with_sign(uint128{c.significand} << (c.exponent - low), c.negative);
  unit = low;
  s_.set_c(nearest(s_.fc, units, unit));
  const Number part = decode(s_.fc, s_.c());
  if (part.significand == 0) return true;
  if (part.exponent < unit) return false;
  units -= with_sign(uint128{part.significand} << (part.exponent - unit), part.negative);
  return true;
}

/// Adds `units` of 2^unit to the products of up to three of the lanes.
void SumSolver::add_to_lanes(int128 units, int unit, const std::vector<int>& lanes) const {
  for (size_t i = 0; i < std::min<size_t>(3, lanes.size()) && units != 0; ++i) {
    units += aligned_term(s_.product(lanes[i]), unit);
    if (units == 0) return s_.zero_lane(lanes[i]);
    // The product is b's significand times a power of two.
    const int drop = std::max(0, bit_length128(magnitude(units)) - s_.fb.precision());
    const auto bits = static_cast<uint64_t>(magnitude(units) >> drop);
    const int leading = bit_length(bits) - 1, e = unit + drop + leading;
    if (e < s_.least_exponent() || e > s_.greatest_exponent()) return;
    s_.set_product(lanes[i], units < 0, e, 0, bits << (s_.fb.fraction_bits - leading) & s_.fb.fraction_mask());
    units -= with_sign(uint128{bits} << drop, units < 0);
  }
}

}  // namespace mmafuzz
