// The dot products of Whitehead and Fit-Florea, 3.1, in integer arithmetic: any formats, any rounding mode.
#pragma once

#include "arithmetic/dot_model.h"
#include "arithmetic/ieee_operations.h"
#include "core/op.h"

namespace mmafuzz {

enum class DotOrder : uint8_t { serial, fma, pairwise };

/// A dot product of IEEE operations, each rounded to d's format in the op's rounding mode; under saturate=1 each
/// saturates, under ftz=1 each flushes its operands and its result.
class IeeeDot {
 public:
  IeeeDot(const Op& op, DotOrder order)
      : op_(op),
        a_(op.a.fields()),
        b_(op.b.fields()),
        c_(op.c.fields()),
        d_(op.d.fields()),
        rule_(op.rounding_rule()),
        order_(order) {}

  uint64_t operator()(const DotOperands& in) const {
    const Exact c = read(c_, in.c);
    if (order_ == DotOrder::pairwise) return add(read(d_, half_sum(in, 0, in.k)), c);
    Exact accumulator = c;
    uint64_t encoding = 0;
    for (int i = 0; i < in.k; ++i) {
      const Exact term = order_ == DotOrder::fma ? product(in, i) : read(d_, rounded_product(in, i));
      encoding = add(accumulator, term);
      accumulator = read(d_, encoding);
    }
    return encoding;
  }

 private:
  Exact read(const FormatFields& f, uint64_t encoding) const {
    return to_exact(flushed_operand(f, decode(f, encoding), op_.flush_to_zero));
  }

  uint64_t written(const Rounded& r) const { return flushed_result(d_, r, op_.flush_to_zero).encoding; }

  uint64_t add(const Exact& x, const Exact& y) const { return written(add_exact(d_, x, y, rule_)); }

  Exact product(const DotOperands& in, int i) const {
    const Exact p = exact_product(read(a_, in.a[i]), read(b_, in.b[i]));
    if (!op_.has_scales()) return p;
    const int s = i / op_.scale_block;
    return product_to_odd(
        p, exact_product(read(op_.scale_a.fields(), in.scale_a[s]), read(op_.scale_b.fields(), in.scale_b[s])));
  }

  uint64_t rounded_product(const DotOperands& in, int i) const { return written(round_any(d_, product(in, i), rule_)); }

  /// The sum of products [first, last) by halves; the lower half is the shorter one where the count is odd.
  uint64_t half_sum(const DotOperands& in, int first, int last) const {
    if (last - first == 1) return rounded_product(in, first);
    const int middle = first + (last - first) / 2;
    return add(read(d_, half_sum(in, first, middle)), read(d_, half_sum(in, middle, last)));
  }

  Op op_;
  FormatFields a_, b_, c_, d_;
  RoundingRule rule_;
  DotOrder order_;
};

}  // namespace mmafuzz
