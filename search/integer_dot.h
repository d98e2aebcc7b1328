// Dots of integers: lanes and c at which multipliers, adders and saturation of integers are most likely to be wrong.
// The generator, the mutator and the walks of integer dots share these pieces.
#pragma once

#include "core/batch.h"
#include "search/mutator.h"

namespace mmafuzz {

inline bool is_integer_dot(const Op& op) {
  return op.kind == OpKind::dot && op.a.fields().integer && op.b.fields().integer;
}

/// The ends of the format, their neighbours, -1, 0, 1 and half the range, each once and in ascending order of
/// encodings: for walks.
std::vector<uint64_t> integer_corners(const FormatFields& f);

class IntegerDot {
 public:
  IntegerDot(const Op& op, Batch& batch, size_t index, CounterRng& rng)
      : op_(op), fa_(op.a.fields()), fb_(op.b.fields()), fc_(op.c.fields()), batch_(batch), index_(index), rng_(rng) {}

  /// Draws the whole case.
  void draw();
  /// Changes a few operands of the case.
  void move();

  void set_lane(int lane, uint64_t a, uint64_t b) {
    batch_.inputs()[0].set(index_, lane, a);
    batch_.inputs()[1].set(index_, lane, b);
  }
  void draw_lanes();
  /// Sets c so that it and the first `lanes` products sum to `target`, modulo c's width.
  void aim_c(int lanes, __int128 target);
  /// The sum of c and all products, modulo c's width: an encoding.
  uint64_t sum() const;

 private:
  uint64_t a(int lane) const { return batch_.a().get(index_, lane); }
  uint64_t b(int lane) const { return batch_.b().get(index_, lane); }
  void set_c(uint64_t encoding) { batch_.inputs()[2].set(index_, 0, encoding); }
  __int128 sum_of_products(int lanes) const;  ///< of the first `lanes` products
  int any_lane() { return rng_.between(0, op_.k - 1); }
  void draw_c();
  void aim_c_at_end();
  void move_element();

  const Op& op_;
  const FormatFields &fa_, &fb_, &fc_;
  Batch& batch_;
  size_t index_;
  CounterRng& rng_;
};

}  // namespace mmafuzz
