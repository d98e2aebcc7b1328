// Scaling every product and c by 2^s scales the result by 2^s, as long as nothing leaves the normal range. A product is
// scaled through that of its factors whose format has the room, with scales through those of a. A failure means that
// the unit's alignment or rounding depends on absolute exponents: an alignment floor that is too high, a table, a range
// check, an exponent that wraps.
//
// Where it is said, for the case and its twin: what is scaled is normal, c otherwise zero, and no operand is special;
// all magnitudes together stay two powers of two below d's greatest exponent; and every product's and c's last set bit
// weighs at least w. All partial sums are multiples of the least such bit. With w = 2^emin of d none of them is
// subnormal, whatever the order and the roundings between. A fused sum that keeps subnormals may have w = 2^(emin - p),
// p the lesser of its F and its result's fraction bits: subnormal results are exact then, and where c's least exponent
// or the alignment floor (below emin in every row) is the greatest exponent, nothing is cut. Other cases are left out.
#include <bit>

#include "arithmetic/counter_rng.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// A range of shifts, empty where it does not contain 0.
struct Shifts {
  int least = INT32_MIN / 2, greatest = INT32_MAX / 2;

  void intersect(const Shifts& other) {
    least = larger(least, other.least);
    greatest = smaller(greatest, other.greatest);
  }
  bool contain(int s) const { return least <= s && s <= greatest; }
  static Shifts none() { return {1, 0}; }
};

/// The shifts of one operand: any of a zero, those that keep a normal number normal, 0 alone of a subnormal one.
Shifts shifts_of(const FormatFields& f, const Number& n) {
  if (n.cls == NumberClass::zero && !n.subnormal) return {};
  if (n.cls == NumberClass::nan || n.cls == NumberClass::infinity) return Shifts::none();
  if (n.subnormal) return {0, 0};
  // The top exponent of an fn format holds its NaN.
  return {f.emin() - n.scale_exponent, f.emax() - (f.all_ones_is_special() ? 1 : 0) - n.scale_exponent};
}

/// A factor or c: weights of the last and the first set bit; a zero has none.
struct Extent {
  int last = 0, first = 0;
  bool zero = false;

  explicit Extent(const Number& n) : zero(n.significand == 0) {
    if (zero) return;
    last = n.exponent + std::countr_zero(n.significand);
    first = n.exponent + fast_bit_length(n.significand) - 1;
  }
  void multiply(const Extent& y) {
    zero |= y.zero;
    last += y.last;
    first += y.first + 1;
  }
};

/// The least weight of a last set bit at which no partial result is rounded or aligned otherwise than normal numbers
/// are.
int least_weight(const Op& op, const Unit& unit) {
  const int emin = op.d.fields().emin();
  const DotModel* m = unit.model();
  const bool keeps =
      m && (traits_of(*m).is_fused_sum() || traits_of(*m).of_fp16()) && m->subnormals == Subnormals::kept;
  return keeps ? emin - smaller(m->fraction_bits, m->output_fraction_bits) : emin;
}

/// The shifts that a case allows.
Shifts shifts_of(const Batch& cases, size_t index, int w) {
  const Op& op = cases.op();
  const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields(), &d = op.d.fields();
  Shifts allowed;
  const int room = d.emax() - 2 - bit_length(static_cast<uint64_t>(op.k) + 1);
  const auto addend = [&](const Extent& e) {
    if (!e.zero) allowed.intersect({w - e.last, room - e.first});
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
      if (sy.cls == NumberClass::nan || sy.cls == NumberClass::infinity) return Shifts::none();
      allowed.intersect(shifts_of(op.scale_a.fields(), sx));
      product.multiply(Extent(sx));
      product.multiply(Extent(sy));
    } else {
      allowed.intersect({smaller(of_x.least, of_y.least), larger(of_x.greatest, of_y.greatest)});
    }
    addend(product);
  }
  return allowed;
}

/// The case's s, 0 where the statement says nothing.
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
  std::optional<Twin> transform(const Subject& of, std::vector<Batch>& twin) const override {
    const int s = shift_of(of.unit, of.cases, of.index);
    if (s == 0) return std::nullopt;
    const Op& op = of.op();
    std::vector<Column>& inputs = twin[0].inputs();
    scale(inputs[2], op.c.fields(), of.index, 0, s);
    if (op.has_scales()) {
      for (int i = 0; i < op.scales(); ++i) scale(inputs[3], op.scale_a.fields(), of.index, i, s);
    } else {
      for (int i = 0; i < op.k; ++i)
        if (!scale(inputs[0], op.a.fields(), of.index, i, s)) scale(inputs[1], op.b.fields(), of.index, i, s);
    }
    return Twin{s};
  }
  bool holds(const Pair& pair) const override {
    const Number x = decode(pair.op().d.fields(), pair.before), y = decode(pair.op().d.fields(), pair.after);
    if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return x.cls == y.cls;
    Exact scaled = to_exact(x);
    scaled.exponent += pair.twin.note;
    return x.negative == y.negative && compare(scaled, to_exact(y)) == 0;
  }

 private:
  /// Adds s to the exponent field of a normal number; zeros stay. False where the format has no room.
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
