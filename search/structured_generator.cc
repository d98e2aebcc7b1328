#include "search/structured_generator.h"

#include <algorithm>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/ieee_operations.h"
#include "search/draw_gemm.h"
#include "search/integer_dot.h"

namespace mmafuzz {
namespace {

/// Operands of a scalar operation: exponents where the operation cancels, rounds, underflows or overflows.
void draw_scalar(const Op& op, CounterRng& rng, Batch& batch, size_t index) {
  const FormatFields& f = op.a.fields();
  uint64_t x[3];
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
  if (op.scalar == ScalarOperation::div) {
    if (rng.one_in(2)) {
      const int edge = rng.one_in(2) ? f.emax() : f.emin();
      second = first - edge + rng.between(-p, p);
    } else {
      second = rng.between(f.emin() - p, f.emax());
    }
  }
  x[1] = draw_near(f, second, rng);
  if (op.scalar == ScalarOperation::round_to_integral && !rng.one_in(4))
    x[0] = draw_near(f, rng.between(-3, p + 1), rng);
  if (compares(op.scalar) && rng.one_in(2)) {  // equal, a step apart, or of opposite signs
    const uint64_t sign = rng.one_in(4) ? f.in_container(f.sign_bit()) : 0;
    x[1] = (x[0] ^ sign) + (static_cast<uint64_t>(int64_t{rng.between(-1, 1)}) << f.ignored_low_bits);
  }
  if (op.scalar == ScalarOperation::fma) {
    const Exact product = exact_product(to_exact(decode(f, x[0])), to_exact(decode(f, x[1])));
    if (product.cls == NumberClass::finite &&
        rng.one_in(2)) {  // near the negated product: cancellation and double rounding
      Exact negated = product;
      negated.negative = !negated.negative;
      x[2] = round_exact(f, negated, {}).encoding ^ f.in_container(rng.below(3));
    } else {
      const int at = product.significand ? product.exponent + bit_length128(product.significand) - 1 : first;
      const uint64_t fraction = draw_fraction(f, rng);
      const int exponent = at + rng.between(-2 * p - 3, p + 3);
      const bool negative = rng.next() & 1;
      x[2] = encode_near(f, negative, exponent, fraction);
    }
  } else {
    x[2] = 0;
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
  if (length > kept) {  // one bit, all bits or none below `kept` leading ones
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
  const int halves = rng.between(-2, 3);
  if (halves > 0 && bit_length128(e.significand) + 2 < 128) {
    e.cls = NumberClass::finite;
    e.significand = (e.significand << 2) + static_cast<uint128>(halves);
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
  draw(first, count, batch, 0);
}

void StructuredGenerator::draw(uint64_t first, size_t count, Batch& batch, size_t index) const {
  if (op_.kind == OpKind::dot && !is_integer_dot(op_)) return dot_.draw(seed_, first, count, batch, index);
  for (const size_t end = index + count; index < end; ++index) {
    CounterRng rng(seed_, first++);
    switch (op_.kind) {
      case OpKind::dot: IntegerDot(op_, batch, index, rng).draw(); break;
      case OpKind::convert: draw_convert(op_, rng, batch, index); break;
      case OpKind::scalar: draw_scalar(op_, rng, batch, index); break;
      case OpKind::gemm: draw_gemm(op_, rng, batch, index); break;
    }
  }
}

}  // namespace mmafuzz
