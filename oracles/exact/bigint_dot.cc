// The twin of the exact dot product in arbitrary-precision integers: fixed point at the weight of the least product.
#include <boost/multiprecision/cpp_int.hpp>

#include "oracles/exact/exact_dot.h"

namespace mmafuzz::exact {
namespace {

using boost::multiprecision::cpp_int;

/// A decoded term; weight is the exponent of the last bit of `value`.
struct Term {
  enum Class { finite, infinite, not_a_number } cls = finite;
  bool negative = false;
  cpp_int magnitude = 0;
  int weight = 0;
};

/// `flush`: subnormal numbers are zeros of their sign.
Term read(const FormatFields& f, uint64_t encoding, bool flush = false) {
  Term t;
  if (f.integer) {
    cpp_int value = encoding;
    if (f.has_sign() && encoding >= (uint64_t{1} << (f.width - 1))) value -= cpp_int(1) << f.width;
    t.negative = value < 0;
    t.magnitude = abs(value);
    return t;
  }
  uint64_t rest = encoding >> f.ignored_low_bits;
  const uint64_t fraction = rest % (uint64_t{1} << f.fraction_bits);
  rest /= uint64_t{1} << f.fraction_bits;
  const uint64_t exponents = uint64_t{1} << f.exponent_bits, field = rest % exponents;
  t.negative = f.sign == SignField::present && rest / exponents % 2 == 1;
  const bool last_field = field == exponents - 1;
  switch (f.specials) {
    case Specials::ieee:
      if (last_field) t.cls = fraction == 0 ? Term::infinite : Term::not_a_number;
      break;
    case Specials::fn:
      if (last_field && fraction + 1 == uint64_t{1} << f.fraction_bits) t.cls = Term::not_a_number;
      break;
    case Specials::top_infinity:
      if (last_field && fraction + 1 == uint64_t{1} << f.fraction_bits) t.cls = Term::infinite;
      [[fallthrough]];
    case Specials::fnuz:
      if (t.negative && field == 0 && fraction == 0) t.cls = Term::not_a_number;
      break;
    case Specials::top_code:
      if (last_field) t.cls = Term::not_a_number;
      break;
    case Specials::none: break;
  }
  const bool implicit_one = field != 0 || f.subnormals == SubnormalRule::absent;
  t.magnitude = fraction;
  if (implicit_one) t.magnitude += cpp_int(1) << f.fraction_bits;
  if (!implicit_one && (flush || f.subnormals == SubnormalRule::flushed)) t.magnitude = 0;
  if (t.cls == Term::finite && t.magnitude == 0 && f.has(policy::zero_positive)) t.negative = false;
  const int shown = implicit_one ? static_cast<int>(field) : f.subnormals == SubnormalRule::literal ? 0 : 1;
  t.weight = shown - f.bias - f.fraction_bits;
  return t;
}

Term times(const Term& x, const Term& y) {
  Term p;
  p.negative = x.negative != y.negative;
  p.magnitude = x.magnitude * y.magnitude;
  p.weight = x.weight + y.weight;
  const bool x_zero = x.cls == Term::finite && x.magnitude == 0, y_zero = y.cls == Term::finite && y.magnitude == 0;
  if (x.cls == Term::not_a_number || y.cls == Term::not_a_number || (x.cls == Term::infinite && y_zero) ||
      (y.cls == Term::infinite && x_zero)) {
    p.cls = Term::not_a_number;
  } else if (x.cls == Term::infinite || y.cls == Term::infinite) {
    p.cls = Term::infinite;
  }
  return p;
}

/// The value of a code in units of 2^weight.
cpp_int value_of_code(const FormatFields& f, uint64_t code, int weight) {
  const Term t = read(f, code << f.ignored_low_bits);
  return t.magnitude << (t.weight - weight);
}

/// A rounded magnitude: its code or, where it overflows, whether the result is an infinity or the greatest number.
struct Code {
  uint64_t code = 0;
  bool overflows = false, is_infinite = false;
};

/// Rounds magnitude * 2^weight. The codes of a format's non-negative finite numbers are ordered like their values, so
/// rounding is a search for the two neighbouring codes and a choice between them.
Code round_magnitude(const FormatFields& f, bool negative, const cpp_int& magnitude, int weight,
                     const RoundingRule& rule) {
  // In units of 2^fine_unit every code is an integer; two bits are left below the least number.
  const int fine_unit = std::min(weight, f.emin() - f.fraction_bits - 1) - 2;
  const cpp_int exact = magnitude << (weight - fine_unit);
  const uint64_t greatest = f.greatest_magnitude();
  uint64_t low = 0, high = greatest;
  if (f.subnormals == SubnormalRule::absent && exact < value_of_code(f, 0, fine_unit)) return {};
  while (low < high) {  // the greatest code whose value is not above `exact`
    const uint64_t middle = low + (high - low + 1) / 2;
    // All codes of flushed subnormals have the value 0, so that the values are still in ascending order.
    if (value_of_code(f, middle, fine_unit) <= exact) low = middle;
    else high = middle - 1;
  }
  cpp_int below = value_of_code(f, low, fine_unit);
  if (f.subnormals == SubnormalRule::flushed && below == 0) low = 0;
  if (below == exact) return {low};
  // The next number above `below`. Above the greatest one it is the number of the next step: 2^(emax+1), or that of the
  // next code if the top code is NaN.
  cpp_int above;
  uint64_t next = low + 1;
  const bool at_top = low == greatest;
  if (at_top) {
    above = below + (below - value_of_code(f, low - 1, fine_unit));
    if (f.fraction_bits == 0) above = below * 2;
  } else {
    if (f.subnormals == SubnormalRule::flushed && low == 0) next = uint64_t{1} << f.fraction_bits;
    above = value_of_code(f, next, fine_unit);
  }
  if (f.subnormals == SubnormalRule::flushed && low == 0) {
    if (f.has(policy::flush_before)) return {};
    // Rounded to a subnormal number first, then flushed (docs/semantics.md 9: after rounding).
    FormatFields gradual = f;
    gradual.subnormals = SubnormalRule::gradual;
    const Code rounded = round_magnitude(gradual, negative, magnitude, weight, rule);
    return rounded.code < (uint64_t{1} << f.fraction_bits) ? Code{} : rounded;
  }
  const cpp_int twice = 2 * exact, middle = below + above;
  // Codes alternate in parity of the significand; with no fraction bits the tie goes to the larger magnitude. The
  // middle of the hole has no parity.
  const bool is_in_hole = f.subnormals == SubnormalRule::literal && next == uint64_t{1} << f.fraction_bits;
  const bool even_is_above = low % 2 == 1 || f.fraction_bits == 0;
  const bool tie_up =
      is_in_hole ? !f.has(policy::hole_tie_down) : rule.rounding == Rounding::nearest_away || even_is_above;
  bool up = false;
  switch (rule.rounding) {
    case Rounding::nearest_even:
    case Rounding::nearest_away: up = twice > middle || (twice == middle && tie_up); break;
    case Rounding::up: up = !negative; break;
    case Rounding::down: up = negative; break;
    case Rounding::odd: up = f.fraction_bits == 0 ? low == 0 : low % 2 == 0; break;
    default: break;
  }
  if (!at_top) return {up ? next : low};
  // Beyond the greatest number: below the next step a magnitude can still round down; otherwise it overflows.
  if (exact < above && !up) return {greatest};
  bool infinite = rule.rounding == Rounding::nearest_even || rule.rounding == Rounding::nearest_away || up;
  if (rule.rounding == Rounding::toward_zero || rule.rounding == Rounding::odd) infinite = false;
  if (rule.rounding == Rounding::up) infinite = !negative;
  if (rule.rounding == Rounding::down) infinite = negative;
  if (rule.overflow == Overflow::infinity) infinite = true;
  if (rule.overflow == Overflow::saturate) infinite = false;
  return {.code = greatest, .overflows = true, .is_infinite = infinite};
}

/// Whether magnitude * 2^weight is tiny: below the least normal number, before rounding or once rounded with an
/// unbounded exponent. The latter rounds twice the value, which is normal.
bool is_tiny(const Op& op, bool negative, const cpp_int& magnitude, int weight) {
  const FormatFields& d = op.d.fields();
  if (static_cast<int>(msb(magnitude)) + weight >= d.emin()) return false;
  if (op.tininess == Tininess::before || static_cast<int>(msb(magnitude)) + weight < d.emin() - 1) return true;
  FormatFields wider = d;
  if (d.exponent_bits == 1) {  // twice the value can be beyond d's greatest number
    wider.exponent_bits = 2;
    wider.specials = Specials::none;
  }
  return round_magnitude(wider, negative, magnitude, weight + 1, op.rounding_rule()).code < uint64_t{2}
                                                                                                << d.fraction_bits;
}

/// The encoding of a number beyond the greatest one, as an infinity where `infinite`.
uint64_t beyond_greatest(const FormatFields& d, bool negative, bool infinite) {
  if (!infinite || d.specials == Specials::none) return d.encode_greatest(negative && !d.has(policy::clamp_positive));
  if (d.has_infinity()) return d.encode_infinity(negative);
  return d.encode_nan() | (negative && d.specials == Specials::fn ? d.sign_bit() : 0);
}

/// Clears `negative` for a format without signs; returns true where that makes a negative value the fixed `result`,
/// false where its magnitude counts.
bool negative_without_sign(const Op& op, bool& negative, uint64_t& result) {
  const FormatFields& d = op.d.fields();
  if (!negative || d.has_sign()) return false;
  negative = false;
  if (d.has(policy::negative_absolute)) return false;
  const bool zero = !d.has_nan() || op.saturate || d.has(policy::negative_zero);
  result = zero ? d.encode_zero(false) : d.encode_nan();
  return true;
}

}  // namespace

uint64_t bigint_dot(const Op& op, const DotOperands& in) {
  const FormatFields& d = op.d.fields();
  const bool flush = op.flush_to_zero;
  std::vector<Term> terms;
  for (int i = 0; i < in.k; ++i) {
    Term p = times(read(op.a.fields(), in.a[i], flush), read(op.b.fields(), in.b[i], flush));
    if (op.has_scales()) {
      p = times(p, read(op.scale_a.fields(), in.scale_a[i / op.scale_block], flush));
      p = times(p, read(op.scale_b.fields(), in.scale_b[i / op.scale_block], flush));
    }
    terms.push_back(p);
  }
  terms.push_back(read(op.c.fields(), in.c, flush));

  bool nan = false, infinite[2] = {false, false}, sign_seen[2] = {false, false};
  int weight = terms.back().weight;
  for (const Term& t : terms) {
    nan |= t.cls == Term::not_a_number;
    if (t.cls == Term::infinite) infinite[t.negative] = true;
    sign_seen[t.negative] = true;
    weight = std::min(weight, t.weight);
  }
  if (nan || (infinite[0] && infinite[1])) return d.encode_nan();
  uint64_t result = 0;
  if (infinite[0] || infinite[1]) {
    bool negative = infinite[1];
    return negative_without_sign(op, negative, result) ? result : beyond_greatest(d, negative, !op.saturate);
  }
  cpp_int sum = 0;
  for (const Term& t : terms) {
    const cpp_int shifted = t.magnitude << (t.weight - weight);
    if (t.negative) sum -= shifted;
    else sum += shifted;
  }
  if (sum == 0) return d.encode_zero(sign_seen[1] && (!sign_seen[0] || op.rounding == Rounding::down));
  bool negative = sum < 0;
  const bool refused = negative && !d.has_sign() && !d.has(policy::negative_absolute);
  if (refused && d.has(policy::tiny_negative_flushed)) {
    const Code tiny = round_magnitude(d, true, -sum, weight, op.rounding_rule());
    if (tiny.code == 0 && !tiny.overflows) return d.encode_zero(false);
  }
  if (negative_without_sign(op, negative, result)) return result;
  const Code rounded = round_magnitude(d, negative, abs(sum), weight, op.rounding_rule());
  if (rounded.overflows) return beyond_greatest(d, negative, rounded.is_infinite);
  const bool zero = d.subnormals != SubnormalRule::absent &&
                    (rounded.code == 0 || (flush && is_tiny(op, negative, abs(sum), weight)));
  return zero ? d.encode_zero(negative) : d.in_container(rounded.code | (negative ? d.sign_bit() : 0));
}

}  // namespace mmafuzz::exact
