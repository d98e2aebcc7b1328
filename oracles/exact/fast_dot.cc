// The fast path of the exact dot product.
#include "arithmetic/ieee_operations.h"
#include "core/contradiction.h"
#include "oracles/exact/exact_dot.h"
#include "oracles/exact/term_summary.h"

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
  return true;
}

FastDot::FastDot(const Op& op)
    : a_(op.a.fields()),
      b_(op.b.fields()),
      c_(op.c.fields()),
      d_(op.d.fields()),
      rule_(op.rounding_rule()),
      scale_block_(op.scale_block),
      flushes_(op.flush_to_zero) {
  Range product = range(a_) + range(b_);
  if (scale_block_) {
    scale_a_ = op.scale_a.fields();
    scale_b_ = op.scale_b.fields();
    product = product + range(scale_a_) + range(scale_b_);
  }
  product.high += bit_length(uint64_t(op.k));  // the sum of k products
  const Range c = range(c_);
  unit_ = smaller(product.low, c.low);
  const int bits = larger(product.high, c.high) + 2 - unit_;
  words_ = bits <= 5 * 64 ? 5 : bits <= 10 * 64 ? 10 : bits <= 80 * 64 ? 80 : max_words;
  if (bits > max_words * 64)
    throw Contradiction("exact dots: an accumulator of " + std::to_string(bits) + " bits is needed");
}

uint64_t FastDot::operator()(const DotOperands& in) const {
  return words_ == 5    ? evaluate<5>(in)
         : words_ == 10 ? evaluate<10>(in)
         : words_ == 80 ? evaluate<80>(in)
                        : evaluate<max_words>(in);
}

template <int Words>
uint64_t FastDot::evaluate(const DotOperands& in) const {
  WideInt<Words> sum;
  TermSummary terms;
  const auto read = [&](const FormatFields& f, uint64_t encoding) {
    return to_exact(flushed_operand(f, decode(f, encoding), flushes_));
  };
  for (int i = 0; i < in.k; ++i) {
    const Exact p = exact_product(read(a_, in.a[i]), read(b_, in.b[i]));
    if (!scale_block_) {
      terms.note(p.cls, p.negative);
      if (p.significand) sum.add_shifted(p.negative, p.significand, p.exponent - unit_);
      continue;
    }
    const int s = i / scale_block_;
    const Exact scale = exact_product(read(scale_a_, in.scale_a[s]), read(scale_b_, in.scale_b[s]));
    const Exact scaled = exact_product({p.cls, p.negative}, {scale.cls, scale.negative});  // class and sign alone
    terms.note(scaled.cls, scaled.negative);
    if (scaled.cls != NumberClass::finite) continue;
    const WideInt<4> full = full_product(p.significand, scale.significand);
    for (int word = 0; word < 4; ++word)
      if (full.word[word])
        sum.add_shifted(scaled.negative, full.word[word], p.exponent + scale.exponent + 64 * word - unit_);
  }
  const Number c = flushed_operand(c_, decode(c_, in.c), flushes_);
  terms.note(c.cls, c.negative);
  if (terms.is_special()) return terms.special_result(d_, rule_);
  if (c.significand) sum.add_shifted(c.negative, c.significand, c.exponent - unit_);
  const bool zero_negative = zero_sum_sign(terms.all_negative, terms.all_positive, rule_.rounding);
  return flushed_result(d_, round_wide(d_, sum, unit_, zero_negative, rule_), flushes_).encoding;
}

}  // namespace mmafuzz::exact
