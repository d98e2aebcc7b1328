// What drawn flaws are made of: kinds, each with a condition whose places are drawn.
#pragma once

#include <algorithm>
#include <functional>

#include "arithmetic/corner_encodings.h"
#include "core/batch.h"

namespace mmafuzz {

/// Whether a case of a batch meets a flaw's condition; asked in the order of the search, of every case once. The result
/// is the original's.
using Condition = std::function<bool(const Batch&, size_t, uint64_t result)>;

/// A dot as a datapath sees it.
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

  static constexpr int none = INT32_MIN / 4;
  static int exponent_of(const FormatFields& f, uint64_t encoding) {
    const Number n = decode(f, encoding);
    if (n.cls != NumberClass::finite) return none;
    return n.exponent + f.fraction_bits;
  }
  static uint64_t fraction_of(const FormatFields& f, uint64_t encoding) {
    return encoding >> f.ignored_low_bits & f.fraction_mask();
  }
  int exponent(int lane) const {  // of the factors' fields; lane k is c
    if (lane == k) return exponent_of(fc, c());
    const int x = exponent_of(fa, a(lane)), y = exponent_of(fb, b(lane));
    return x == none || y == none ? none : x + y;
  }
  int greatest() const {
    int best = none;
    for (int lane = 0; lane <= k; ++lane) best = std::max(best, exponent(lane));
    return best;
  }
  /// A lane whose bits reach the result, if nothing cancels.
  bool visible(int lane) const {
    const int e = exponent(lane);
    return e != none && greatest() - e <= 6;
  }
};

/// What a kind of flaw is drawn from.
struct FlawDraw {
  const Op& op;
  int kept_bits, block;
  CounterRng& rng;
  int lane() { return rng.between(0, op.k - 1); }
  int lane_other_than(int lane) { return (lane + 1 + rng.between(0, op.k - 2)) % op.k; }
  /// How far the exponents of two products can be apart, both normal.
  int exponents() const {
    const FormatFields &fa = op.a.fields(), &fb = op.b.fields();
    return fa.emax() - fa.emin() + fb.emax() - fb.emin();
  }
};

/// The condition that holds(view) says of a dot alone.
template <class Holds>
Condition on_dot(const FlawDraw& d, Holds holds) {
  return [op = d.op, holds](const Batch& batch, size_t i, uint64_t) { return holds(DotView(op, batch, i)); };
}

struct FlawKind {
  const char* name;
  OpKind op;
  /// Nothing where the kind makes no sense for the op.
  Condition (*draw)(FlawDraw&);
};

/// Kinds whose condition is about a case and those before it.
extern const std::vector<FlawKind> kinds_with_memory;

}  // namespace mmafuzz
