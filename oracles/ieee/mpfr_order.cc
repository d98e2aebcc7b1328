#include "oracles/ieee/mpfr_order.h"

#include "oracles/exact/mpfr_reference.h"

namespace mmafuzz {
namespace {

using exact::Mpfr;

/// IEEE operations: numbers and results are encodings of d, each operation is exact in MPFR and rounded once.
class Rounded754 {
 public:
  explicit Rounded754(const Op& op) : op_(op), precision_(exact::sum_precision_of(op)) {}

  uint64_t write(mpfr_srcptr x) const { return exact::rounded_result(op_, x).encoding; }
  void read(mpfr_ptr x, uint64_t encoding) const { exact::set_operand(x, op_, op_.d, encoding); }

  /// MPFR's rounding direction only decides the sign of an exact zero (IEEE 754-2019, 6.3).
  uint64_t sum(mpfr_srcptr x, mpfr_srcptr y) const {
    Mpfr whole(precision_);
    exact::must_be_exact(mpfr_add(whole.get(), x, y, op_.rounding == Rounding::down ? MPFR_RNDD : MPFR_RNDN));
    return write(whole.get());
  }
  uint64_t sum(uint64_t x, mpfr_srcptr y) const {
    Mpfr first(64);
    read(first.get(), x);
    return sum(first.get(), y);
  }
  uint64_t product(const DotOperands& in, int i) const {
    Mpfr p(256);
    exact::set_product(p.get(), op_, in, i);
    return write(p.get());
  }
  uint64_t halves(const DotOperands& in, int first, int count) const {
    if (count == 1) return product(in, first);
    Mpfr upper(64);
    const int lower = count / 2;
    read(upper.get(), halves(in, first + lower, count - lower));
    return sum(halves(in, first, lower), upper.get());
  }

 private:
  const Op& op_;
  mpfr_prec_t precision_;
};

}  // namespace

uint64_t mpfr_ordered_dot(const Op& op, DotOrder order, const DotOperands& in) {
  const Rounded754 arithmetic(op);
  Mpfr c(64), term(256);
  exact::set_operand(c.get(), op, op.c, in.c);
  if (order == DotOrder::pairwise) return arithmetic.sum(arithmetic.halves(in, 0, in.k), c.get());
  uint64_t result = 0;
  for (int i = 0; i < in.k; ++i) {
    if (order == DotOrder::fma) {
      exact::set_product(term.get(), op, in, i);
    } else {
      arithmetic.read(term.get(), arithmetic.product(in, i));
    }
    result = i == 0 ? arithmetic.sum(c.get(), term.get()) : arithmetic.sum(result, term.get());
  }
  return result;
}

uint64_t mpfr_combined(const Op& op, uint64_t sum, uint64_t c) {
  const Rounded754 arithmetic(op);
  Mpfr factor(64), value(64), scaled(128), addend(64);
  // Sets `product` to scalar * encoding (without a scalar: 1 * encoding); returns false where the scalar is zero.
  const auto times = [&](const std::optional<uint64_t>& scalar, const Format& format, uint64_t encoding,
                         uint64_t& product) {
    mpfr_set_si(factor.get(), 1, MPFR_RNDN);
    if (scalar) exact::set_operand(factor.get(), op, op.d, *scalar);
    exact::set_operand(value.get(), op, format, encoding);
    exact::must_be_exact(mpfr_mul(scaled.get(), factor.get(), value.get(), MPFR_RNDN));
    product = arithmetic.write(scaled.get());
    return !mpfr_zero_p(factor.get());
  };
  uint64_t scaled_sum, scaled_c;
  const bool reads_sum = times(op.alpha, op.d, sum, scaled_sum), reads_c = times(op.beta, op.c, c, scaled_c);
  if (!reads_sum) return reads_c ? scaled_c : op.d.fields().encode_zero(false);
  if (!reads_c) return scaled_sum;
  arithmetic.read(addend.get(), scaled_c);
  return arithmetic.sum(scaled_sum, addend.get());
}

}  // namespace mmafuzz
