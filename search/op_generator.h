// Ops, not operands: formats x switches x scales x attributes x sizes. A *feature* of an op is one of these choices. Of
// each kind of op every second op is of a suite, in which every two values of two features occur together at least
// once; the others are random, where three and more do. A defect that needs an unusual op is found here, where a list
// of ops that somebody thought of would miss it.
#pragma once

#include "arithmetic/counter_rng.h"
#include "core/op.h"

namespace mmafuzz {

/// Any format of the table, with any bias and any set of switches.
Format random_format(CounterRng& rng);

class OpGenerator {
 public:
  /// `known`: ops that particular units evaluate. They take turns with the generator's own ops, half as they are and
  /// half with another length or one attribute.
  explicit OpGenerator(uint64_t seed, std::vector<Op> known = {});

  /// Op n of the stream: a pure function of seed, known ops and n. It parses from its own text.
  Op operator()(uint64_t n) const;

  /// Number of ops until the suite of every kind is complete.
  uint64_t suite_size() const;

 private:
  /// Ops until every kind has had one turn of the suite and one at random, and a known op its turn.
  uint64_t turns() const;

  uint64_t seed_;
  std::vector<Op> known_;
  std::vector<Format> formats_;  ///< of the suite: every row, with a few biases, and with each switch alone
  uint64_t prime_;               ///< at least formats_.size(), and more than any other feature has values
};

}  // namespace mmafuzz
