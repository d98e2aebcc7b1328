// Operands of dots at corners: exponents relative to those of the greatest products, fractions that carries and
// roundings care about, products that cancel. A case is a function of 64 random bits; its products are drawn in vector
// lanes, one position a lane, the same on every machine.
#pragma once

#include "arithmetic/corner_encodings.h"
#include "core/batch.h"

namespace mmafuzz {

/// Bits of the container that no unit looks at: below a tf32 fraction, the top one of ue4m3. They are worth setting.
inline uint64_t ignored_bits(const FormatFields& f) {
  return low_mask(f.ignored_low_bits) | (f.sign == SignField::ignored ? uint64_t{1} << (f.width - 1) : 0);
}

inline constexpr int products_at_a_time = 256, most_lanes = 64;
inline constexpr int no_product = INT32_MIN / 4;  ///< an exponent of what is zero

/// What the products of one case have in common. A product depends on the formats, this and its position alone.
struct ProductPlan {
  uint64_t key = 0;                ///< random bits
  int reference = 0, spread = 0;   ///< exponents lie up to `spread` below `reference`
  const int* exponents = nullptr;  ///< or are these, in an array with most_lanes more; no_product: zero
  bool sparse = false;             ///< most are zero
  bool repeats = false;            ///< some are earlier ones again, or minus these
  bool one_sign = false;
  bool patterned = false;  ///< fractions have patterns, else any bits
  bool any_share = true;   ///< factors share an exponent anyhow, else nearly in halves
};

/// Draws products first .. first+count-1 of `cases` cases from `index` on. They are at most products_at_a_time, and
/// more than one case has all of its products drawn.
void draw_products(const FormatFields& a, const FormatFields& b, const ProductPlan* plans, int cases, int first,
                   int count, Column& to_a, Column& to_b, size_t index);

/// Draws whole cases of a dot of floating-point formats.
class DotBuilder {
 public:
  DotBuilder() = default;
  explicit DotBuilder(const Op& op);

  /// Cases `number` and following of the stream of a seed, into `count` places of a batch from `index` on.
  void draw(uint64_t seed, uint64_t number, size_t count, Batch& batch, size_t index) const;

 private:
  struct Range {
    int low, count;
  };
  struct CasePlan {
    CounterRng rng{0, 0};
    bool specials, many;
  };
  ProductPlan plan(CasePlan& whole) const;
  void add_specials(CasePlan& whole, Batch& batch, size_t index) const;
  uint64_t draw_c(uint64_t bits, const Batch& batch, size_t index, int reference) const;
  uint64_t cancelling_c(uint64_t bits, const Batch& batch, size_t index) const;
  void draw_scales(CounterRng& rng, Batch& batch, size_t index) const;

  FormatFields a_, b_, c_, scale_a_, scale_b_;
  int k_ = 0, scales_ = 0, low_ = 0, high_ = 0;
  Range references_[6] = {};  ///< of reference exponents, each as likely
  Range together_[4] = {};    ///< of the exponents of both scales
};

}  // namespace mmafuzz
