#include "search/integer_dot.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"

namespace mmafuzz {
namespace {

uint64_t greatest_integer(const FormatFields& f) { return low_mask(f.width - (f.has_sign() ? 1 : 0)); }
uint64_t least_integer(const FormatFields& f) { return f.has_sign() ? uint64_t{1} << (f.width - 1) : 0; }

/// value + step, modulo the width.
uint64_t stepped(const FormatFields& f, uint64_t value, int step) {
  return (value + static_cast<uint64_t>(int64_t{step})) & f.container_mask();
}

__int128 integer_value(const FormatFields& f, uint64_t encoding) {
  const Number n = decode(f, encoding);
  return n.negative ? -static_cast<__int128>(n.significand) : static_cast<__int128>(n.significand);
}

/// Draws an end of the format, one within 2 of it, of zero, or of plus or minus a power of two, or any integer.
uint64_t draw_integer_corner(const FormatFields& f, CounterRng& rng) {
  switch (rng.below(8)) {
    case 0: return greatest_integer(f);
    case 1: return least_integer(f);
    case 2: {
      const int inward = rng.between(1, 2);
      return rng.one_in(2) ? stepped(f, greatest_integer(f), -inward) : stepped(f, least_integer(f), inward);
    }
    case 3: return stepped(f, 0, rng.between(f.has_sign() ? -2 : 0, 2));
    case 4:
    case 5: {
      const uint64_t power = uint64_t{1} << rng.below(f.width);
      const uint64_t value = stepped(f, power, rng.between(-1, 1));
      return rng.one_in(2) ? value : (0 - value) & f.container_mask();
    }
    default: return rng.next() & f.container_mask();
  }
}

}  // namespace

std::vector<uint64_t> integer_corners(const FormatFields& f) {
  std::vector<uint64_t> all = {least_integer(f),
                               stepped(f, least_integer(f), 1),
                               greatest_integer(f),
                               stepped(f, greatest_integer(f), -1),
                               0,
                               1};
  if (f.has_sign()) all.push_back(f.container_mask());
  all.push_back(uint64_t{1} << (f.width - (f.has_sign() ? 2 : 1)));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void IntegerDot::draw_lanes() {
  const uint32_t style = rng_.below(6);
  const uint64_t same_a = draw_integer_corner(fa_, rng_);
  const uint64_t same_b = draw_integer_corner(fb_, rng_);
  for (int lane = 0; lane < op_.k; ++lane) {
    const uint64_t corner_a = draw_integer_corner(fa_, rng_);
    const uint64_t corner_b = draw_integer_corner(fb_, rng_);
    const bool coin = rng_.one_in(2);
    switch (style) {
      case 0: set_lane(lane, same_a, same_b); break;  // the greatest sums
      case 1: set_lane(lane, coin ? same_a : corner_a, coin ? same_b : corner_b); break;
      case 2: {
        const uint64_t x = rng_.next();
        const uint64_t y = rng_.next();
        set_lane(lane, x & fa_.container_mask(), y & fb_.container_mask());
        break;
      }
      case 3:
        if (rng_.one_in(3)) set_lane(lane, corner_a, corner_b);
        else set_lane(lane, coin ? corner_a : 0, 0);
        break;
      case 4:  // some neighbouring lanes are equal
        if (lane > 0 && coin) set_lane(lane, a(lane - 1), b(lane - 1));
        else set_lane(lane, corner_a, corner_b);
        break;
      default: {  // minus an earlier product, or nearly so
        const int from = rng_.between(0, lane);
        const bool cancels = lane > 0 && coin && fa_.has_sign();
        if (cancels) set_lane(lane, stepped(fa_, 0 - a(from), rng_.one_in(4) ? 1 : 0), b(from));
        else set_lane(lane, corner_a, corner_b);
      }
    }
  }
}

__int128 IntegerDot::sum_of_products(int lanes) const {
  __int128 sum = 0;
  for (int lane = 0; lane < lanes; ++lane) sum += integer_value(fa_, a(lane)) * integer_value(fb_, b(lane));
  return sum;
}

void IntegerDot::aim_c(int lanes, __int128 target) {
  set_c(static_cast<uint64_t>(target - sum_of_products(lanes)) & fc_.container_mask());
}

uint64_t IntegerDot::sum() const {
  return static_cast<uint64_t>(integer_value(fc_, batch_.c().get(index_)) + sum_of_products(op_.k)) &
         fc_.container_mask();
}

/// Chooses c so that the adder is at an end of d, or of an accumulator of any width, after some products or all.
void IntegerDot::aim_c_at_end() {
  const int lanes = rng_.one_in(2) ? op_.k : any_lane();
  const int width = op_.d.fields().integer ? op_.d.fields().width : 32;
  const int bits = rng_.one_in(2) ? width - 1 : rng_.between(4, width);
  const __int128 end = static_cast<__int128>(1) << bits;
  const int step = rng_.between(-2, 2);
  aim_c(lanes, (rng_.one_in(2) ? end : -end) + step);
}

void IntegerDot::draw_c() {
  if (!fc_.integer) {
    const int exponent = rng_.between(-4, fa_.width + fb_.width);
    const uint64_t number = draw_near(fc_, exponent, rng_);
    return set_c(rng_.one_in(12) ? draw_special(fc_, rng_) : number);
  }
  switch (rng_.below(8)) {
    case 0:
    case 1: return set_c(0);
    case 2: return set_c(draw_integer_corner(fc_, rng_));
    case 3: return set_c(rng_.next() & fc_.container_mask());
    case 4: return aim_c(op_.k, rng_.between(-2, 2));
    default: return aim_c_at_end();
  }
}

void IntegerDot::draw() {
  draw_lanes();
  draw_c();
}

void IntegerDot::move_element() {
  const int lane = any_lane();
  const bool in_a = rng_.one_in(2);
  Column& column = batch_.inputs()[in_a ? 0 : 1];
  const FormatFields& f = in_a ? fa_ : fb_;
  uint64_t v = column.get(index_, lane);
  switch (rng_.below(6)) {
    case 0:
    case 1: v = draw_integer_corner(f, rng_); break;
    case 2: v = stepped(f, v, rng_.one_in(2) ? 1 : -1); break;
    case 3: v ^= uint64_t{1} << rng_.below(f.width); break;
    case 4: v = 0 - v; break;
    default: v = rng_.next(); break;
  }
  column.set(index_, lane, v & f.container_mask());
}

void IntegerDot::move() {
  const int lane = any_lane();
  switch (rng_.below(10)) {
    case 0: return draw_c();
    case 1: return fc_.integer ? aim_c_at_end() : draw_c();
    case 2: return set_lane((lane + 1) % op_.k, a(lane), b(lane));
    case 3: {
      const int other = any_lane();
      for (size_t column = 0; column < 2; ++column) swap_elements(batch_.inputs()[column], index_, lane, other);
      return;
    }
    case 4: return set_lane(lane, 0, 0);
    case 5: {
      const uint64_t x = a(lane), y = b(lane);
      for (int i = 0; i < op_.k; ++i) set_lane(i, x, y);
      return;
    }
    default: return move_element();
  }
}

}  // namespace mmafuzz
