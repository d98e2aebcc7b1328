// Raising one addend, a product or c, does not lower the result. Truncating units fail it by design: an addend that
// crosses a power of two raises the greatest exponent, and the others lose a bit more (Fasi et al. 2021: c from 1 -
// 2^-24 to 1 with four products 2^-24 on Volta). Chains and trees of correct roundings keep it, as a composition of
// functions that do not fall. A failure of a unit that claims it means that how an addend is cut or rounded depends on
// the others.
#include <limits>

#include "arithmetic/counter_rng.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// A rank is a number's index among the finite numbers of its format (numbers.h): 0 is zero, and normal powers of two
/// are 2^(f's fraction bits) apart. Returns the rank after `start` if `steps` is 0, otherwise that of the normal power
/// of two that lies `steps` powers above; 0 where a negative number's magnitude would be below the least one. Beyond
/// the greatest number the rank is one that no encoding has.
int64_t raised(const FormatFields& f, int64_t start, int steps) {
  if (steps == 0) return start + 1;
  const int64_t binade = int64_t{1} << f.fraction_bits;
  constexpr int64_t maximum = std::numeric_limits<int64_t>::max();
  if (start >= 0) return start / binade + steps > maximum / binade ? maximum : (start / binade + steps) * binade;
  const int64_t magnitude = (-start + binade - 1) / binade - steps;  // the power of two not below it, then down
  return magnitude <= 0 ? 0 : -magnitude * binade;
}

class MonotoneInAddend final : public Property {
 public:
  MonotoneInAddend()
      : Property("monotone_in_addend",
                 "raising one product or c, a little or past powers of two, does not lower the result") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::dot && !op.a.fields().integer && !op.b.fields().integer && !op.c.fields().integer &&
           has_rising_results(op.d.fields());  // not some policies of Tesla's formats (numbers.h)
  }

 protected:
  /// Half of the cases move the addend of the greatest exponent, which decides what the others lose. `position` is the
  /// index of a product, or k for c.
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    CounterRng rng(digest(of.cases, of.index), 0);
    const int k = of.op().k;
    const bool moves_greatest = rng.one_in(2), prefers_a = rng.one_in(2);
    const int steps = rng.one_in(2) ? 0 : rng.one_in(2) ? 1 : rng.between(2, 8);
    const int position = moves_greatest ? greatest_addend(of.cases, of.index) : rng.between(0, k);
    std::vector<Column>& inputs = changed[0].inputs();
    if (position == k) return changed_if(raise(inputs[2], of.op().c.fields(), of.index, 0, upward, steps));
    const FormatFields* const format[] = {&of.op().a.fields(), &of.op().b.fields()};
    for (const int moved : {prefers_a ? 0 : 1, prefers_a ? 1 : 0}) {
      const Number other = decode(*format[1 - moved], inputs[size_t(1 - moved)].get(of.index, position));
      if (other.cls != NumberClass::finite) continue;  // times zero, infinity or NaN the product would not rise
      const bool has_negative_scale = of.op().has_scales() && scale_of(of.cases, of.index, position).negative;
      const int direction = other.negative != has_negative_scale ? -upward : upward;
      return changed_if(raise(inputs[size_t(moved)], *format[moved], of.index, position, direction, steps));
    }
    return std::nullopt;
  }
  bool holds(const Pair& pair) const override { return does_not_fall(pair.op(), pair.before, pair.after); }

 private:
  static constexpr int upward = 1;

  /// Raises an operand or, beside a negative other factor, lowers it (direction -1). False where it is not finite or
  /// there is no number beyond it.
  static bool raise(Column& column, const FormatFields& f, size_t index, int position, int direction, int steps) {
    const uint64_t code = column.get(index, position);
    const Number before = decode(f, code);
    if (!is_number(before.cls)) return false;
    const int64_t start = direction * rank(f, code);
    uint64_t raised_code;
    if (!encode_rank(f, direction * raised(f, start, steps), raised_code)) return false;
    column.set(index, position, raised_code);
    // Formats whose subnormals read as zero have neighbours of equal value.
    return compare(to_exact(before), to_exact(decode(f, raised_code))) == -direction;
  }

  /// The index of the product with the greatest leading bit; k: it is c's, or all addends are zero or not finite.
  static int greatest_addend(const Batch& cases, size_t index) {
    const Op& op = cases.op();
    int best = op.k, best_exponent = INT32_MIN;
    const auto offer = [&](const Exact& addend, int position) {
      if (addend.cls != NumberClass::finite) return;
      const int exponent = addend.exponent + bit_length128(addend.significand);
      if (exponent > best_exponent) {
        best_exponent = exponent;
        best = position;
      }
    };
    offer(to_exact(decode(op.c.fields(), cases.c().get(index))), op.k);
    for (int i = 0; i < op.k; ++i) {
      const Number x = decode(op.a.fields(), cases.a().get(index, i)),
                   y = decode(op.b.fields(), cases.b().get(index, i));
      const Exact product = exact_product(to_exact(x), to_exact(y));
      // With its scales a product can have more bits than an Exact; rounding to odd keeps the leading bit.
      offer(op.has_scales() ? product_to_odd(product, scale_of(cases, index, i)) : product, i);
    }
    return best;
  }

  /// The product of both scales of product i.
  static Exact scale_of(const Batch& cases, size_t index, int i) {
    const Op& op = cases.op();
    const Number x = decode(op.scale_a.fields(), cases.scale_a().get(index, i / op.scale_block));
    const Number y = decode(op.scale_b.fields(), cases.scale_b().get(index, i / op.scale_block));
    return exact_product(to_exact(x), to_exact(y));
  }
};

}  // namespace

std::unique_ptr<Property> make_monotone_in_addend() { return std::make_unique<MonotoneInAddend>(); }

}  // namespace mmafuzz
