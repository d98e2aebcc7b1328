// The fast path of the exact dot product.
#include "arithmetic/ieee_operations.h"
#include "oracles/exact/exact_dot.h"

namespace mmafuzz::exact {
namespace {

struct Range {
  int low, high;  ///< every nonzero finite value is a multiple of 2^low and less than 2^high
};

Range range(const FormatFields& f) {
  if (f.integer) return {0, f.width};
  return {f.least_bit() - 1, f.emax() + 1};
}

Range operator+(Range x, Range y) { return {x.low + y.low, x.high + y.high}; }

}  // namespace

Result<bool> supports_dot(const Op& op) {
  if (op.kind != OpKind::dot) return declined("not a dot product");
  if (op.d.fields().integer) return declined("results in " + op.d.name() + " are integer arithmetic, not rounding");
  if (op.rounding == Rounding::stochastic) return declined("the exact result is not rounded stochastically");
  return true;
}

FastDot::FastDot(const Op& op)
    : a_(op.a.fields()), b_(op.b.fields()), c_(op.c.fields()), d_(op.d.fields()), rule_(op.rounding_rule()),
      scale_block_(op.scale_block) {
  Range product = range(a_) + range(b_);
  if (scale_block_) {
    scale_a_ = op.scale_a.fields();
    scale_b_ = op.scale_b.fields();
    product = product + range(scale_a_) + range(scale_b_);
  }
  product.high += bit_length(uint64_t(op.k));  // the sum of k products
  product_unit_ = product.low;
  products_in_128_ = product.high - product.low < 126;
  const Range c = range(c_);
  unit_ = smaller(product.low, c.low);
  const int bits = larger(product.high, c.high) + 2 - unit_;
  words_ = bits <= 5 * 64 ? 5 : bits <= 10 * 64 ? 10 : 80;
}

uint64_t FastDot::operator()(const DotOperands& in) const {
  return words_ == 5 ? evaluate<5>(in) : words_ == 10 ? evaluate<10>(in) : evaluate<80>(in);
}

template <int Words>
uint64_t FastDot::evaluate(const DotOperands& in) const {
  WideInt<Words> sum;
  __int128 small_sum = 0;
  bool nan = false, plus = false, minus = false, all_negative = true, all_positive = true;
  const auto note = [&](NumberClass cls, bool negative) {
    nan |= cls == NumberClass::nan;
    plus |= cls == NumberClass::infinity && !negative;
    minus |= cls == NumberClass::infinity && negative;
    all_negative &= negative;
    all_positive &= !negative;
  };
  for (int i = 0; i < in.k; ++i) {
    Exact p = exact_product(to_exact(decode(a_, in.a[i])), to_exact(decode(b_, in.b[i])));
    if (scale_block_) {
      const int s = i / scale_block_;
      p = exact_product(p, exact_product(to_exact(decode(scale_a_, in.scale_a[s])), to_exact(decode(scale_b_, in.scale_b[s]))));
    }
    note(p.cls, p.negative);
    if (p.significand == 0) continue;
    if (products_in_128_) {
      const __int128 term = static_cast<__int128>(p.significand << (p.exponent - product_unit_));
      small_sum += p.negative ? -term : term;
    } else {
      sum.add_shifted(p.negative, p.significand, p.exponent - unit_);
    }
  }
  const Number c = decode(c_, in.c);
  note(c.cls, c.negative);
  if (nan || (plus && minus)) return d_.encode_nan();
  if (plus || minus) return rounded_infinity(d_, minus, rule_).encoding;
  if (small_sum) {
    const bool negative = small_sum < 0;
    sum.add_shifted(negative, negative ? -static_cast<uint128>(small_sum) : static_cast<uint128>(small_sum),
                    product_unit_ - unit_);
  }
  if (c.significand) sum.add_shifted(c.negative, c.significand, c.exponent - unit_);
  return round_wide(d_, sum, unit_, zero_sum_sign(all_negative, all_positive, rule_.rounding), rule_).encoding;
}

}  // namespace mmafuzz::exact
