// Ops, not operands: formats x switches x scales x attributes x sizes. Every second op is of a suite in which every two
// features of a kind of op meet at least once; the others are random, where three and more meet. A defect that needs an
// unusual op is found here, where a list of ops that somebody thought of would miss it.
#pragma once

#include "arithmetic/counter_rng.h"
#include "core/op.h"

namespace mmafuzz {

/// Any format of the table, with any bias and any set of switches.
Format random_format(CounterRng& rng);

class OpGenerator {
 public:
  /// `known`: ops that particular units evaluate; they take turns with the generator's own, plain and with one
  /// attribute.
  explicit OpGenerator(uint64_t seed, std::vector<Op> known = {});

  /// Op n of the stream: a pure function of seed, known ops and n. It parses from its own text.
  Op operator()(uint64_t n) const;

  /// Number of ops until every two features of every kind have met.
  uint64_t suite_size() const;

 private:
  /// Ops until every kind has had its turns.
  uint64_t turns() const;

  uint64_t seed_;
  std::vector<Op> known_;
  std::vector<Format> formats_;  ///< of the suite: every row, every bias of a few, every switch alone
  uint64_t prime_;               ///< at least formats_.size(), and more than any other feature has values
};

}  // namespace mmafuzz
