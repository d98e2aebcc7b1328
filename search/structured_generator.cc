#include "search/structured_generator.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/ieee_operations.h"
#include "search/draw_block.h"
#include "search/draw_gemm.h"
#include "search/integer_dot.h"

namespace mmafuzz {
namespace {

/// Draws a dot: addends placed relative to one reference exponent, some cancelling, c placed among them.
class DotDraw {
 public:
  DotDraw(const Op& op, CounterRng& rng)
      : op_(op), a_(op.a.fields()), b_(op.b.fields()), c_(op.c.fields()), rng_(rng) {}

  void operator()(Batch& batch, size_t index) {
    Column& a = batch.inputs()[0];
    Column& b = batch.inputs()[1];
    const int low = a_.emin() + b_.emin() - a_.fraction_bits - b_.fraction_bits, high = a_.emax() + b_.emax();
    const FormatFields& d = op_.d.fields();
    int reference;  // leading exponent of the largest products
    switch (rng_.below(6)) {
      case 0: reference = rng_.between(low, high); break;
      case 1: reference = std::clamp(d.emax() - rng_.between(-1, 6), low, high); break;   // overflow edge
      case 2: reference = std::clamp(d.emin() - rng_.between(-8, 30), low, high); break;  // underflow, floor
      default: reference = std::clamp(rng_.between(-4, 4), low, high); break;
    }
    const int spread = draw_spread();
    const bool sparse = rng_.one_in(3), one_sign = rng_.one_in(6), patterned = rng_.one_in(2);
    const bool allow_specials = rng_.one_in(12);
    const bool many_specials = allow_specials && rng_.one_in(3);  // infinities and NaNs, so that each occurs
    const uint32_t special_share = many_specials ? 2 : 8;
    for (int i = 0; i < op_.k; ++i) {
      if (sparse && !rng_.one_in(3)) {
        a.set(index, i, a_.encode_zero(rng_.one_in(8)));
        b.set(index, i, rng_.one_in(4) ? draw_special_or_huge() : b_.encode_zero(false));
        continue;
      }
      if (i > 0 && rng_.one_in(6)) {  // cancel or repeat an earlier product, perhaps one ulp off
        const int j = rng_.between(0, i - 1);
        const uint64_t flip = rng_.one_in(4) ? 0 : travelling_sign(a_);
        const uint64_t ulp = rng_.one_in(3) ? a_.in_container(1) : 0;
        a.set(index, i, a.get(index, j) ^ flip ^ ulp);
        b.set(index, i, b.get(index, j));
        continue;
      }
      const int target = reference - (spread ? rng_.between(0, spread) : 0);
      const int half = target / 2 + rng_.between(-2, 2);
      const int ea = std::clamp(half, a_.emin() - a_.fraction_bits, a_.emax());
      const bool negative = !one_sign && (rng_.next() & 1);
      a.set(index, i,
            container_noise(a_, encode_near(a_, negative, ea,
                                            patterned ? draw_fraction(a_, rng_) : rng_.next() & a_.fraction_mask())));
      const uint64_t fraction = patterned ? draw_fraction(b_, rng_) : rng_.next() & b_.fraction_mask();
      const bool negative_b = !one_sign && (rng_.next() & 1);
      b.set(index, i, container_noise(b_, encode_near(b_, negative_b, target - ea, fraction)));
      if (allow_specials && rng_.one_in(special_share))
        a.set(index, i, container_noise(a_, many_specials ? draw_not_finite(a_) : draw_special(a_, rng_)));
      if (allow_specials && rng_.one_in(special_share))
        b.set(index, i, container_noise(b_, many_specials ? draw_not_finite(b_) : draw_special(b_, rng_)));
    }
    batch.inputs()[2].set(index, 0, draw_c(batch, index, reference));
    if (op_.has_scales()) draw_scales(batch, index);
  }

 private:
  /// Distance between the largest and the smallest product: none, a few, or around the alignment limits of known units.
  int draw_spread() {
    switch (rng_.below(5)) {
      case 0: return 0;
      case 1: return rng_.between(1, 4);
      case 2: return rng_.between(10, 16);
      case 3: return rng_.between(21, 28);
      default: return rng_.between(29, 60);
    }
  }

  uint64_t draw_special_or_huge() {
    return rng_.one_in(2) ? encode_near(b_, rng_.next() & 1, b_.emax(), b_.fraction_mask()) : b_.encode_zero(true);
  }

  /// Bits below a tf32 fraction and the top bit of ue4m3 are ignored by hardware and worth setting.
  uint64_t container_noise(const FormatFields& f, uint64_t encoding) {
    const uint64_t ignored =
        low_mask(f.ignored_low_bits) | (f.sign == SignField::ignored ? uint64_t{1} << (f.width - 1) : 0);
    if (ignored == 0 || !rng_.one_in(3)) return encoding;
    return encoding | (rng_.one_in(2) ? ignored : rng_.next() & ignored);
  }

  /// Infinity or any NaN: a unit may depend on its sign and payload. Where -0 is the NaN, it has neither.
  uint64_t draw_not_finite(const FormatFields& f) {
    if (f.minus_zero_is_nan())
      return f.has_infinity() && rng_.one_in(2) ? f.encode_infinity(rng_.one_in(2)) : f.encode_nan();
    const bool negative = rng_.next() & 1;
    const uint64_t payload = rng_.next() & f.fraction_mask();
    const uint64_t code = f.has_infinity() ? f.encode_infinity(false) | f.in_container(payload) : f.encode_nan();
    return code | (negative ? travelling_sign(f) : 0);
  }

  uint64_t draw_c(const Batch& batch, size_t index, int reference) {
    switch (rng_.below(11)) {
      case 0:
      case 1: return c_.encode_zero(rng_.one_in(3));
      case 2: return rng_.one_in(4) ? draw_not_finite(c_) : draw_special(c_, rng_);
      case 3:
      case 4: {  // minus one of the products, perhaps one ulp off: cancels to a chosen depth
        const int i = rng_.between(0, op_.k - 1);
        Exact p = exact_product(a_, batch.a().get(index, i), b_, batch.b().get(index, i));
        if (p.cls != NumberClass::finite) return c_.encode_zero(false);
        p.negative = !p.negative;
        const uint64_t c = round_exact(c_, p, {.overflow = Overflow::saturate}).encoding;
        return rng_.one_in(2) ? c : c ^ c_.in_container(1);
      }
      case 10: return rng_.next() & c_.container_mask();  // often far from the products
      default: {
        static constexpr int shifts[] = {0, 1, 2, 11, 12, 13, 14, 22, 23, 24, 25, 26, 27, 32};
        const int shift = shifts[rng_.below(std::size(shifts))];
        const uint64_t fraction = draw_fraction(c_, rng_);
        const bool above = rng_.next() & 1;
        const bool negative = rng_.next() & 1;
        return container_noise(c_, encode_near(c_, negative, reference + (above ? shift : -shift), fraction));
      }
    }
  }

  void draw_scales(Batch& batch, size_t index) {
    const bool extreme = rng_.one_in(6);
    // The scales of one side are far from one and those of the other compensate, so that every exponent of a scale
    // occurs; or both together bring products to an end of d's range, which narrow formats reach by their scales alone.
    const FormatFields& of_a = op_.scale_a.fields();
    const int far = rng_.one_in(3) ? rng_.between(of_a.emin(), of_a.emax()) : 0;
    const uint32_t end = rng_.below(4);
    const int together = end == 0   ? op_.d.fields().emin() - rng_.between(-8, 30)
                         : end == 1 ? op_.d.fields().emax() - rng_.between(-1, 6)
                                    : 0;
    for (size_t column : {size_t{3}, size_t{4}}) {
      const FormatFields& f = op_.input_format(column).fields();
      for (int i = 0; i < op_.scales(); ++i) {
        const uint64_t fraction = draw_fraction(f, rng_);
        const int exponent = rng_.between(-6, 6);
        const int middle = column == 3 ? far : far == 0 ? 0 : together - far;
        uint64_t scale = encode_near(f, false, middle + exponent, fraction);
        if (extreme && rng_.one_in(2)) scale = rng_.next() & f.container_mask();
        if (extreme && rng_.one_in(8)) scale = rng_.one_in(2) ? draw_not_finite(f) : 0;
        batch.inputs()[column].set(index, i, container_noise(f, scale));
      }
    }
  }

  const Op& op_;
  const FormatFields &a_, &b_, &c_;
  CounterRng& rng_;
};

/// Operands of a scalar operation: exponents where the operation cancels, rounds, underflows or overflows.
void draw_scalar(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields& f = op.a.fields();
  uint64_t x[3] = {};
  const int p = f.precision();
  int first = rng.one_in(3) ? rng.between(f.emin() - p, f.emax()) : rng.between(-p, p);
  if (rng.one_in(5)) first = (rng.next() & 1) ? f.emax() - rng.between(0, 3) : f.emin() + rng.between(-p, 3);
  x[0] = draw_near(f, first, rng);
  int second = first + rng.between(-p - 3, p + 3);
  if (op.scalar == ScalarOperation::mul || op.scalar == ScalarOperation::fma) {
    const int target = rng.one_in(3)   ? f.emax() + rng.between(-3, 2)
                       : rng.one_in(2) ? f.emin() + rng.between(-p - 3, 3)
                                       : rng.between(f.emin(), f.emax());
    second = target - first;
  }
  const bool divides = op.scalar == ScalarOperation::div;
  if (divides && rng.one_in(2)) {  // the quotient is at an end of the range
    const int edge = rng.one_in(2) ? f.emax() : f.emin();
    second = first - edge + rng.between(-p, p);
  } else if (divides) {
    second = rng.between(f.emin() - p, f.emax());
  }
  x[1] = draw_near(f, second, rng);
  if (op.scalar == ScalarOperation::round_to_integral && !rng.one_in(4))
    x[0] = draw_near(f, rng.between(-3, p + 1), rng);
  if (compares(op.scalar) && rng.one_in(2)) {  // equal, a step apart, or of opposite signs
    const uint64_t sign = rng.one_in(4) ? travelling_sign(f) : 0;
    x[1] = (x[0] ^ sign) + (static_cast<uint64_t>(int64_t{rng.between(-1, 1)}) << f.ignored_low_bits);
  }
  if (op.scalar == ScalarOperation::fma) {
    const Exact product = exact_product(f, x[0], f, x[1]);
    if (product.cls == NumberClass::finite &&
        rng.one_in(2)) {  // near the negated product: cancellation and double rounding
      Exact negated = product;
      negated.negative = !negated.negative;
      x[2] = round_exact(f, negated, {}).encoding ^ f.in_container(rng.below(3));
    } else {
      const int leading = product.significand ? product.exponent + bit_length128(product.significand) - 1 : first;
      const uint64_t fraction = draw_fraction(f, rng);
      const int exponent = leading + rng.between(-2 * p - 3, p + 3);
      const bool negative = rng.next() & 1;
      x[2] = encode_near(f, negative, exponent, fraction);
    }
  }
  for (int i = 0; i < op.arity(); ++i) {
    if (rng.one_in(24)) x[i] = draw_special(f, rng);
    if (rng.one_in(32)) x[i] = rng.next() & f.container_mask();
    batch.inputs()[0].set(index, i, x[i] & f.container_mask());
  }
}

/// An integer of any length with a pattern that roundings care about: few bits on top, ones or zeros below, near the
/// ends of the format.
uint64_t draw_integer(const FormatFields& f, CounterRng& rng) {
  const int length = rng.between(0, f.width);
  const int kept = rng.between(1, 54);
  uint64_t x = length == 0 ? 0 : low_mask(length) ^ (rng.next() & low_mask(length - 1));
  if (length > kept) {  // below the `kept` leading bits: none, the highest, all or the lowest
    const uint64_t below = low_mask(length - kept);
    const uint32_t tail = rng.below(4);
    x &= ~below;
    if (tail == 1) x |= uint64_t{1} << (length - kept - 1);
    if (tail == 2) x |= below;
    if (tail == 3) x |= 1;
  }
  x += static_cast<uint64_t>(int64_t{rng.between(-1, 1)});
  if (f.has_sign() && (rng.next() & 1)) x = ~x + 1;
  return x & f.container_mask();
}

/// A floating-point number near an integer of a format, near a half above it, or near the end of the range.
uint64_t draw_near_integer(const FormatFields& from, const FormatFields& to, CounterRng& rng) {
  Exact e = to_exact(decode(to, draw_integer(to, rng)));
  if (rng.one_in(8)) {  // 2^width or a half of it: the least magnitudes beyond the range
    e.cls = NumberClass::finite;
    e.significand = uint128{1} << (to.width - rng.between(0, 1));
  }
  const int quarters = rng.between(-2, 3);
  if (quarters > 0 && bit_length128(e.significand) + 2 < 128) {
    e.cls = NumberClass::finite;
    e.significand = (e.significand << 2) + static_cast<uint128>(quarters);
    e.exponent -= 2;
  }
  const uint64_t x = round_exact(from, e, {}).encoding;
  const int steps = rng.one_in(3) ? rng.between(-2, 2) : 0;
  return x + (static_cast<uint64_t>(int64_t{steps}) << from.ignored_low_bits);
}

/// A source at or around a destination number, a midpoint, or anywhere.
void draw_convert(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields &from = op.a.fields(), &to = op.d.fields();
  uint64_t x = rng.next() & from.container_mask();
  const uint32_t kind = rng.below(8);
  if (from.integer) {
    if (kind > 0) x = draw_integer(from, rng);
  } else if (kind >= 2 && to.integer) {
    x = draw_near_integer(from, to, rng) & from.container_mask();
  } else if (kind >= 2) {
    Number n = decode(to, rng.next() & to.container_mask());
    if (n.cls == NumberClass::finite) {
      Exact e = to_exact(n);
      if (kind >= 5) {  // the midpoint above
        e.significand = 2 * e.significand + 1;
        e.exponent -= 1;
      }
      x = round_exact(from, e, {}).encoding;
      if (!rng.one_in(3)) x += uint64_t(int64_t(rng.between(-2, 2))) << from.ignored_low_bits;
      x &= from.container_mask();
    }
  } else if (kind == 1) {
    x = draw_special(from, rng);
  }
  batch.inputs()[0].set(index, 0, x);
}

}  // namespace

void StructuredGenerator::fill(uint64_t first, size_t count, Batch& batch) const {
  if (!(batch.op() == op_)) batch = Batch(op_);
  batch.resize(count);
  for (size_t i = 0; i < count; ++i) draw(first + i, batch, i);
}

void StructuredGenerator::draw(uint64_t number, Batch& batch, size_t index) const {
  CounterRng rng(seed_, number);
  switch (op_.kind) {
    case OpKind::dot:
      if (is_integer_dot(op_)) IntegerDot(op_, batch, index, rng).draw();
      else DotDraw(op_, rng)(batch, index);
      break;
    case OpKind::convert: draw_convert(op_, rng, batch, index); break;
    case OpKind::scalar: draw_scalar(op_, rng, batch, index); break;
    case OpKind::gemm: draw_gemm(op_, rng, batch, index); break;
    case OpKind::quantize: draw_block(op_, rng, batch, index); break;
    case OpKind::dequantize: draw_codes(op_, rng, batch, index); break;
  }
}

}  // namespace mmafuzz
