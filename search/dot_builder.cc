#include "search/dot_builder.h"

#include <algorithm>

namespace mmafuzz {
namespace {

uint64_t container_noise(const FormatFields& f, uint64_t encoding, uint64_t draw) {
  const uint64_t ignored = ignored_bits(f);
  if (ignored == 0 || part(draw, 0, 8, 3)) return encoding;
  return encoding | (draw & 256 ? ignored : draw >> 9 & ignored);
}

/// Infinity or any NaN: a unit may care for sign and payload. In formats of fnuz the sign is what makes a NaN.
uint64_t not_finite(const FormatFields& f, uint64_t draw) {
  const uint64_t payload = draw >> 8 & f.fraction_mask();
  const uint64_t code = f.has_infinity() ? f.encode_infinity(false) | f.in_container(payload) : f.encode_nan();
  return code | (f.specials != Specials::fnuz && (draw & 1) ? f.in_container(f.sign_bit()) : 0);
}

}  // namespace

DotBuilder::DotBuilder(const Op& op)
    : a_(op.a.fields()),
      b_(op.b.fields()),
      c_(op.c.fields()),
      scale_a_(op.scale_a.fields()),
      scale_b_(op.scale_b.fields()),
      k_(op.k),
      scales_(op.scales()),
      low_(a_.emin() + b_.emin() - a_.fraction_bits - b_.fraction_bits),
      high_(a_.emax() + b_.emax()) {
  const FormatFields& d = op.d.fields();
  const Range near_one = {-4, 9}, overflow = {d.emax() - 6, 8}, underflow = {d.emin() - 30, 39};
  const Range references[] = {{low_, high_ - low_ + 1}, overflow, underflow, near_one, near_one, near_one};
  std::copy(std::begin(references), std::end(references), references_);
  const Range together[] = {underflow, overflow, {0, 1}, {0, 1}};
  std::copy(std::begin(together), std::end(together), together_);
}

void DotBuilder::draw(uint64_t seed, uint64_t number, size_t count, Batch& batch, size_t index) const {
  constexpr int most_cases = 16;
  CasePlan whole[most_cases];
  ProductPlan plans[most_cases];
  for (const size_t end = index + count; index < end;) {
    const int cases =
        static_cast<int>(std::min<size_t>(end - index, std::clamp(products_at_a_time / k_, 1, most_cases)));
    for (int i = 0; i < cases; ++i) {
      whole[i].rng = CounterRng(seed, number++);
      plans[i] = plan(whole[i]);
    }
    for (int first = 0; first < k_; first += products_at_a_time)
      draw_products(a_, b_, plans, cases, first, std::min(k_ - first, products_at_a_time), batch.inputs()[0],
                    batch.inputs()[1], index);
    for (int i = 0; i < cases; ++i, ++index) {
      if (whole[i].specials) add_specials(whole[i], batch, index);
      const uint64_t bits = whole[i].rng.next();
      batch.inputs()[2].set(index, 0, draw_c(bits, batch, index, plans[i].reference));
      if (scales_) draw_scales(whole[i].rng, batch, index);
    }
  }
}

ProductPlan DotBuilder::plan(CasePlan& whole) const {
  // Distance between the largest and the smallest product: none, a few, or around the alignment limits of known units.
  static constexpr Range spreads[] = {{0, 1}, {1, 4}, {10, 7}, {21, 8}, {29, 32}};
  const uint64_t where = whole.rng.next(), how = whole.rng.next(), key = whole.rng.next();
  const Range reference = references_[part(where, 0, 8, 6)], spread = spreads[part(where, 8, 8, 5)];
  whole.specials = part(how, 17, 8, 12) == 0;
  whole.many = part(how, 25, 8, 3) == 0;  // infinities and NaNs, so that each is met
  return {
      .key = key,
      .reference = std::clamp(reference.low + part(where, 32, 32, reference.count), low_, high_),
      .spread = spread.low + part(where, 16, 16, spread.count),
      .sparse = part(how, 0, 8, 3) == 0,
      .repeats = true,
      .one_sign = part(how, 8, 8, 6) == 0,
      .patterned = (how >> 16 & 1) != 0,
      .any_share = false,
  };
}

void DotBuilder::add_specials(CasePlan& whole, Batch& batch, size_t index) const {
  const uint64_t rarely = whole.many ? 1 : 7;
  for (int i = 0; i < k_; ++i) {
    const uint64_t bits = whole.rng.next();
    for (const int side : {0, 1}) {
      if ((bits >> 3 * side & rarely) != 0) continue;
      const FormatFields& f = side ? b_ : a_;
      const uint64_t draw = bits >> (side ? 32 : 6);
      const uint64_t special = whole.many ? not_finite(f, draw) : draw_special(f, whole.rng);
      batch.inputs()[static_cast<size_t>(side)].set(index, i, container_noise(f, special, whole.rng.next()));
    }
  }
}

/// Minus one of the products, perhaps one ulp off: cancels to a chosen depth.
uint64_t DotBuilder::cancelling_c(uint64_t bits, const Batch& batch, size_t index) const {
  const int i = part(bits, 32, 32, k_);
  const Number x = decode(a_, batch.a().get(index, i)), y = decode(b_, batch.b().get(index, i));
  if (x.cls != NumberClass::finite || y.cls != NumberClass::finite) return c_.encode_zero(false);
  const uint128 product = uint128{x.significand} * y.significand;
  const uint64_t high = static_cast<uint64_t>(product >> 64);
  const int leading = (high ? 64 + fast_bit_length(high) : fast_bit_length(static_cast<uint64_t>(product))) - 1;
  const uint64_t fraction =
      static_cast<uint64_t>(product << 1 << (127 - leading) >> 64) >> (63 - c_.fraction_bits) >> 1;
  const uint64_t c = encode_near(c_, x.negative == y.negative, x.exponent + y.exponent + leading, fraction);
  return bits & 256 ? c : c ^ c_.in_container(1);
}

uint64_t DotBuilder::draw_c(uint64_t bits, const Batch& batch, size_t index, int reference) const {
  static constexpr int8_t shifts[] = {0, 1, 2, 11, 12, 13, 14, 22, 23, 24, 25, 26, 27, 32};
  CounterRng more(bits, 0);
  switch (part(bits, 0, 8, 11)) {
    case 0:
    case 1: return c_.encode_zero(part(bits, 8, 8, 3) == 0);
    case 2: return bits & 0x300 ? draw_special(c_, more) : not_finite(c_, more.next());
    case 3:
    case 4: return cancelling_c(bits, batch, index);
    case 10: return more.next() & c_.container_mask();  // far from the products, too
    default: {
      const int shift = shifts[part(bits, 8, 16, sizeof shifts)];
      const uint64_t fraction = patterned_fraction(c_, more.next());
      const uint64_t c = encode_near(c_, bits >> 24 & 1, reference + (bits >> 25 & 1 ? shift : -shift), fraction);
      return container_noise(c_, c, bits >> 26);
    }
  }
}

void DotBuilder::draw_scales(CounterRng& rng, Batch& batch, size_t index) const {
  // Both sides far from one, so that every exponent of a scale is met; together they weigh little, or bring products
  // to d's ends, where those of narrow formats are by their scales alone.
  const uint64_t how = rng.next();
  const bool extreme = part(how, 0, 8, 4) == 0;
  const int far = part(how, 8, 8, 3) ? 0 : scale_a_.emin() + part(how, 16, 16, scale_a_.emax() - scale_a_.emin() + 1);
  const Range together = together_[how >> 32 & 3];
  const int rest = far == 0 ? 0 : together.low + part(how, 34, 16, together.count) - far;
  for (const size_t column : {size_t{3}, size_t{4}}) {
    const FormatFields& f = column == 3 ? scale_a_ : scale_b_;
    const int middle = column == 3 ? far : rest;
    for (int i = 0; i < scales_; ++i) {
      const uint64_t bits = rng.next();
      uint64_t scale = encode_near(f, false, middle + part(bits, 9, 8, 13) - 6, patterned_fraction(f, bits));
      if (extreme && (bits >> 17 & 1)) scale = bits >> 18 & f.container_mask();
      if (extreme && (bits >> 50 & 7) == 0) scale = bits >> 53 & 1 ? not_finite(f, bits >> 18) : 0;
      batch.inputs()[column].set(index, i, container_noise(f, scale, bits >> 40));
    }
  }
}

}  // namespace mmafuzz
