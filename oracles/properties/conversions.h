// What the properties of conversions share.
#pragma once

#include "oracles/properties/numbers.h"

namespace mmafuzz {

/// Whether every number of `narrow` is one of `wide`, and the middle of any two neighbours is, too.
inline bool holds_every_number(const FormatFields& wide, const FormatFields& narrow) {
  if (narrow.integer)
    return !wide.integer && wide.specials == Specials::ieee && wide.has_sign() >= narrow.has_sign() &&
           wide.precision() > narrow.width && wide.emax() >= narrow.width;
  return !wide.integer && wide.subnormals == SubnormalRule::gradual && wide.specials == Specials::ieee &&
         wide.emax() >= narrow.emax() && wide.precision() > narrow.precision() &&
         wide.least_bit() < narrow.least_bit() - (narrow.subnormals == SubnormalRule::literal ? 1 : 0);
}

/// Whether an op is a conversion that may round, that is, not from an integer format to an integer format, and keeps
/// subnormal numbers.
inline bool is_conversion(const Op& op) {
  return op.kind == OpKind::convert && (op.rounds_to_integer() || !op.d.fields().integer) && !op.flush_to_zero;
}

/// Whether a value beyond the range of d becomes the end of the range or an infinity. A conversion to integers without
/// saturate=1 gives the integer that stands for an invalid conversion instead.
inline bool keeps_order_beyond_range(const Op& op) {
  return op.kind != OpKind::convert || !op.d.fields().integer || op.saturate;
}

/// The source of a conversion, without its sign where the destination takes absolute values.
inline Number source_of(const Batch& cases, size_t index) {
  Number x = decode(cases.op().a.fields(), cases.inputs()[0].get(index));
  if (cases.op().d.fields().has(policy::negative_absolute)) x.negative = false;
  return x;
}

/// Whether a source's result is a matter of rounding alone: a finite number whose sign the destination has and whose
/// magnitude lies within the destination's numbers.
inline bool is_within_range(const FormatFields& to, const Number& x) {
  if (!is_number(x.cls)) return false;
  if (x.negative && !to.has_sign()) return false;
  if (to.integer) {
    const uint64_t least = to.has_sign() ? uint64_t{1} << (to.width - 1) : 0;
    const uint64_t greatest = least ? least - 1 : to.container_mask();
    return compare(to_exact(x), to_exact(decode(to, greatest))) <= 0 &&
           compare(to_exact(x), to_exact(decode(to, least))) >= 0;
  }
  Exact magnitude = to_exact(x);
  magnitude.negative = false;
  if (compare(magnitude, to_exact(decode(to, to.encode_greatest(false)))) > 0) return false;
  return to.subnormals != SubnormalRule::absent || compare(magnitude, to_exact(decode(to, 0))) >= 0;
}

/// A property of a single conversion: is_kept() judges each source within the destination's range and its result, a
/// number. There is no changed case.
class JudgesTheSource : public Property {
 public:
  bool costs_a_run() const override { return false; }

 protected:
  using Property::Property;
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>&) const override {
    return changed_if(is_within_range(of.op().d.fields(), source_of(of.cases, of.index)));
  }
  bool holds(const Pair& pair) const override {
    const Number r = decode(pair.op().d.fields(), pair.before);
    return is_number(r.cls) &&
           is_kept(pair.op().d.fields(), source_of(pair.subject.cases, pair.subject.index), r, pair.before);
  }
  /// `x`: the source. `r`: the result, whose encoding in the destination `f` is `code`.
  virtual bool is_kept(const FormatFields& f, const Number& x, const Number& r, uint64_t code) const = 0;
};

/// (x + y) / 2, exactly, of two finite numbers whose sum, in units of the lesser last bit, fits in 128 bits.
inline Exact middle_of(const Number& x, const Number& y) {
  if (x.cls == NumberClass::zero && y.cls == NumberClass::zero) return {};
  const int base = x.cls == NumberClass::zero   ? y.exponent
                   : y.cls == NumberClass::zero ? x.exponent
                                                : smaller(x.exponent, y.exponent);
  const auto scaled = [&](const Number& n) {
    const auto units =
        n.cls == NumberClass::zero ? __int128{0} : static_cast<__int128>(n.significand) << (n.exponent - base);
    return n.negative ? -units : units;
  };
  const __int128 sum = scaled(x) + scaled(y);
  if (sum == 0) return {};
  return {NumberClass::finite, sum < 0, static_cast<uint128>(sum < 0 ? -sum : sum), base - 1};
}

}  // namespace mmafuzz
