// Scaling every product and c by 2^s scales the result by 2^s, as long as nothing leaves the normal range. In an op
// without scales one factor of each product is scaled, a's where its format has room for it, else b's; in an op with
// scales, the scales of a are. A failure means that the unit's alignment or rounding depends on absolute exponents: an
// alignment floor that is too high, a table, a range check, an exponent that wraps.
//
// A case is judged if all of this holds for it and for the changed case; other cases are left out.
// - Each number that is scaled is normal or zero, and no operand is an infinity or NaN.
// - The magnitudes of all products and of c together are below 2^(emax - 1), emax being d's.
// - The last set bit of each nonzero product and of a nonzero c weighs at least 2^w.
//
// Then all partial sums are multiples of 2^w, also after roundings. With w = emin of d, no nonzero one is subnormal in
// any order of additions, and rounding scales with the leading bit. For a fused sum (also those of emulated FP8) that
// keeps subnormals w = emin - p is enough, p being the lesser of F and of the result's fraction bits. A subnormal
// result is a number of the format then, and is not rounded. Where the greatest exponent is that of no addend, but c's
// least exponent or the alignment floor, it is at most emin (the floor is below emin in every row). Terms are then cut
// at 2^(emin - F) or below, which cuts no bit of a multiple of 2^w.
#include <bit>

#include "arithmetic/counter_rng.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// An interval of shifts s, both ends included; one that does not contain 0 counts as empty.
struct Shifts {
  int least = INT32_MIN / 2, greatest = INT32_MAX / 2;

  void intersect(const Shifts& other) {
    least = larger(least, other.least);
    greatest = smaller(greatest, other.greatest);
  }
  bool contain(int s) const { return least <= s && s <= greatest; }
  static Shifts none() { return {1, 0}; }
};

/// The shifts of one operand: a zero has any, a normal number those that keep it normal, a subnormal one 0 alone, and
/// so has a subnormal encoding that its format reads as zero.
Shifts shifts_of(const FormatFields& f, const Number& n) {
  if (n.cls == NumberClass::zero && !n.subnormal) return {};
  if (!is_number(n.cls)) return Shifts::none();
  if (n.subnormal) return {0, 0};
  // scale_exponent is that of the leading bit. The greatest exponent of an fn format is left out: it holds the NaN.
  return {f.emin() - n.scale_exponent, f.emax() - (f.all_ones_is_special() ? 1 : 0) - n.scale_exponent};
}

/// Exponents of the last and the first set bit of a factor, of c or, with an upper bound as `first`, of a product.
struct Extent {
  int last = 0, first = 0;
  bool is_zero = false;

  explicit Extent(const Number& n) : is_zero(n.significand == 0) {
    if (is_zero) return;
    last = n.exponent + std::countr_zero(n.significand);
    first = n.exponent + bit_length(n.significand) - 1;
  }
  void multiply(const Extent& y) {
    is_zero |= y.is_zero;
    last += y.last;
    first += y.first + 1;
  }
};

/// w of the first comment.
int least_weight(const Op& op, const Unit& unit) {
  const int emin = op.d.fields().emin();
  const DotModel* m = unit.model();
  const bool keeps_subnormals =
      m && (traits_of(*m).is_fused_sum() || traits_of(*m).widens_to_fp16()) && m->subnormals == Subnormals::kept;
  return keeps_subnormals ? emin - smaller(m->fraction_bits, m->output_fraction_bits) : emin;
}

/// The shifts that keep the conditions of the first comment; empty where the case itself does not meet them.
Shifts shifts_of(const Batch& cases, size_t index, int w) {
  const Op& op = cases.op();
  const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields(), &d = op.d.fields();
  Shifts allowed;
  // The sum of k + 1 magnitudes whose leading bits have at most this exponent is below 2^(emax - 1).
  const int room = d.emax() - 2 - bit_length(static_cast<uint64_t>(op.k) + 1);
  const auto addend = [&](const Extent& e) {
    if (!e.is_zero) allowed.intersect({w - e.last, room - e.first});
  };
  const Number n = decode(c, cases.c().get(index));
  allowed.intersect(shifts_of(c, n));
  addend(Extent(n));
  for (int i = 0; i < op.k && allowed.contain(0); ++i) {
    const Number x = decode(a, cases.a().get(index, i)), y = decode(b, cases.b().get(index, i));
    const Shifts of_x = shifts_of(a, x), of_y = shifts_of(b, y);
    if (!of_x.contain(0) || !of_y.contain(0)) return Shifts::none();
    Extent product(x);
    product.multiply(Extent(y));
    if (op.has_scales()) {
      const Number sx = decode(op.scale_a.fields(), cases.scale_a().get(index, i / op.scale_block));
      const Number sy = decode(op.scale_b.fields(), cases.scale_b().get(index, i / op.scale_block));
      if (!is_number(sy.cls)) return Shifts::none();
      allowed.intersect(shifts_of(op.scale_a.fields(), sx));
      product.multiply(Extent(sx));
      product.multiply(Extent(sy));
    } else {
      // Either factor may be scaled. Both intervals contain 0, so that their union is an interval, too.
      allowed.intersect({smaller(of_x.least, of_y.least), larger(of_x.greatest, of_y.greatest)});
    }
    addend(product);
  }
  return allowed;
}

/// The s of a case, drawn by its digest; 0: the case is left out. The limit of 300 matters for fp64 and for zeros
/// alone.
int shift_of(const Unit& unit, const Batch& cases, size_t index) {
  const Shifts allowed = shifts_of(cases, index, least_weight(cases.op(), unit));
  if (!allowed.contain(0)) return 0;
  CounterRng rng(digest(cases, index), 1);
  return rng.between(larger(allowed.least, -300), smaller(allowed.greatest, 300));
}

class PowerOfTwoScaling final : public Property {
 public:
  PowerOfTwoScaling()
      : Property("power_of_two_scaling",
                 "scaling all products and c by a power of two scales the result by it, inside the normal range") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::dot && !op.a.fields().integer && !op.b.fields().integer && !op.c.fields().integer &&
           !op.d.fields().integer &&
           op.d.fields().subnormals != SubnormalRule::absent;  // without a zero a sum that cancels does not scale
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const int s = shift_of(of.unit, of.cases, of.index);
    if (s == 0) return std::nullopt;
    const Op& op = of.op();
    std::vector<Column>& inputs = changed[0].inputs();
    scale(inputs[2], op.c.fields(), of.index, 0, s);
    if (op.has_scales()) {
      for (int i = 0; i < op.scales(); ++i) scale(inputs[3], op.scale_a.fields(), of.index, i, s);
    } else {
      for (int i = 0; i < op.k; ++i)
        if (!scale(inputs[0], op.a.fields(), of.index, i, s)) scale(inputs[1], op.b.fields(), of.index, i, s);
    }
    return Changed{s};
  }
  bool holds(const Pair& pair) const override {
    const Number x = decode(pair.op().d.fields(), pair.before), y = decode(pair.op().d.fields(), pair.after);
    if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return x.cls == y.cls;
    Exact scaled = to_exact(x);  // of an infinity, whose exponent compare() does not read, the same
    scaled.exponent += pair.changed.shift;
    return x.negative == y.negative && compare(scaled, to_exact(y)) == 0;
  }

 private:
  /// Multiplies element i by 2^s, in its exponent field; a zero stays. False, and nothing done, if its format has no
  /// room.
  static bool scale(Column& column, const FormatFields& f, size_t index, int i, int s) {
    const uint64_t x = column.get(index, i);
    const Number n = decode(f, x);
    if (!shifts_of(f, n).contain(s)) return false;
    if (n.cls == NumberClass::finite)
      column.set(index, i, x + (static_cast<uint64_t>(int64_t{s}) << (f.fraction_bits + f.ignored_low_bits)));
    return true;
  }
};

}  // namespace

std::unique_ptr<Property> make_power_of_two_scaling() { return std::make_unique<PowerOfTwoScaling>(); }

}  // namespace mmafuzz
