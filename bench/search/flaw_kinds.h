// The kinds of drawn flaws: a kind is a condition on cases whose lanes, exponents and encodings are drawn.
#pragma once

#include <algorithm>
#include <functional>

#include "arithmetic/corner_encodings.h"
#include "arithmetic/ieee_operations.h"
#include "core/batch.h"

namespace mmafuzz {

/// condition(batch, index, result): whether a flaw's condition holds for case `index` of a batch, on which the original
/// has this result. It is called once for every case, in the order of the search.
using Condition = std::function<bool(const Batch&, size_t, uint64_t result)>;

/// The operands of one dot, by lane (number of the product, from 0; lane k is c). The op and the batch must outlive it.
struct DotView {
  DotView(const Op& op, const Batch& batch, size_t index)
      : fa(op.a.fields()), fb(op.b.fields()), fc(op.c.fields()), k(op.k), batch(batch), index(index) {}
  const FormatFields &fa, &fb, &fc;
  int k;
  const Batch& batch;
  size_t index;

  uint64_t a(int lane) const { return batch.inputs()[0].get(index, lane); }
  uint64_t b(int lane) const { return batch.inputs()[1].get(index, lane); }
  uint64_t c() const { return batch.inputs()[2].get(index, 0); }

  static constexpr int none = INT32_MIN / 4;  ///< the exponent of zeros, infinities and NaNs
  static int exponent_of(const FormatFields& f, uint64_t encoding) {
    const Number n = decode(f, encoding);
    if (n.cls != NumberClass::finite) return none;
    return n.exponent + f.fraction_bits;
  }
  static uint64_t fraction_of(const FormatFields& f, uint64_t encoding) {
    return encoding >> f.ignored_low_bits & f.fraction_mask();
  }
  int exponent(int lane) const {  // the sum of the factors' exponents, by their fields, unbiased
    if (lane == k) return exponent_of(fc, c());
    const int x = exponent_of(fa, a(lane)), y = exponent_of(fb, b(lane));
    return x == none || y == none ? none : x + y;
  }
  Exact product(int lane) const { return exact_product(fa, a(lane), fb, b(lane)); }
  int greatest() const {
    int best = none;
    for (int lane = 0; lane <= k; ++lane) best = std::max(best, exponent(lane));
    return best;
  }
  /// Whether the lane's exponent is at most 6 below the greatest, so that its bits reach the result if nothing cancels.
  bool is_visible(int lane) const {
    const int e = exponent(lane);
    return e != none && greatest() - e <= 6;
  }
};

/// The input of a kind: op and model, and the random numbers from which it draws.
struct FlawDraw {
  const Op& op;
  int kept_bits, block;  ///< fraction bits that the alignment keeps; products of a block
  CounterRng& rng;
  int lane() { return rng.between(0, op.k - 1); }
  int lane_other_than(int lane) { return (lane + 1 + rng.between(0, op.k - 2)) % op.k; }
  /// The greatest difference between the exponents of two products of normal numbers.
  int exponents() const {
    const FormatFields &fa = op.a.fields(), &fb = op.b.fields();
    return fa.emax() - fa.emin() + fb.emax() - fb.emin();
  }
};

/// A condition on one case of a dot: holds(DotView of it).
template <class Holds>
Condition on_dot(const FlawDraw& d, Holds holds) {
  return [op = d.op, holds](const Batch& batch, size_t i, uint64_t) { return holds(DotView(op, batch, i)); };
}

struct FlawKind {
  const char* name;
  OpKind op;
  /// Draws a condition; an empty one where the kind does not apply to the op.
  Condition (*draw)(FlawDraw&);
};

/// The kinds whose conditions depend on previous cases, too.
extern const std::vector<FlawKind> kinds_with_memory;

}  // namespace mmafuzz
