// Scaling a (with scales: those of a) and c by 2^s scales the result by 2^s, as long as nothing leaves the normal range. A
// failure means that the unit's alignment or rounding depends on absolute exponents: an alignment floor that is too high, a
// table, a range check, an exponent that wraps.
//
// Where it is said, for the case and its twin: a, c and the scales that are scaled are zero or normal, and no operand is special;
// all magnitudes together stay two powers of two below d's greatest exponent; and every product's and c's last set bit
// weighs at least w. All partial sums are multiples of the least such bit. With w = 2^emin of d none of them is subnormal,
// whatever the order and the roundings between. A fused sum that keeps subnormals may have w = 2^(emin - p), p the lesser of
// its F and its result's fraction bits: subnormal results are exact then, and where c's least exponent or the alignment floor
// (below emin in every row) is the greatest exponent, nothing is cut. Other cases are left out.
#include <bit>

#include "arithmetic/counter_rng.h"
#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// The shifts that a case allows.
struct Shifts {
  int least = INT32_MIN / 2, greatest = INT32_MAX / 2;

  void between(int low, int high) {
    least = larger(least, low);
    greatest = smaller(greatest, high);
  }
  /// Of an operand that is scaled itself: zero or normal, before and after.
  void operand(const FormatFields& f, const Number& n) {
    if (n.cls == NumberClass::zero && !n.subnormal) return;
    if (n.cls != NumberClass::finite || n.subnormal) {
      between(1, 0);
    } else {
      // The top exponent of an fn format holds its NaN.
      between(f.emin() - n.scale_exponent, f.emax() - (f.specials == Specials::fn ? 1 : 0) - n.scale_exponent);
    }
  }
};

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

/// The least weight of a last set bit at which no partial result is rounded or aligned otherwise than normal numbers are.
int least_weight(const Op& op, const Unit& unit) {
  const int emin = op.d.fields().emin();
  const DotModel* m = unit.model();
  const bool keeps = m && (m->kernel == Kernel::fused_sum || m->kernel == Kernel::emulated_fp8) && m->subnormals == Subnormals::kept;
  return keeps ? emin - smaller(m->fraction_bits, m->output_fraction_bits) : emin;
}

Shifts shifts_of(const Batch& cases, size_t index, int least_weight) {
  const Op& op = cases.op();
  const FormatFields &a = op.a.fields(), &b = op.b.fields(), &c = op.c.fields(), &d = op.d.fields();
  Shifts allowed;
  const int room = d.emax() - 2 - bit_length(static_cast<uint64_t>(op.k) + 1);
  const auto addend = [&](const Extent& e) {
    if (!e.zero) allowed.between(least_weight - e.last, room - e.first);
  };
  const Number n = decode(c, cases.c().get(index));
  allowed.operand(c, n);
  addend(Extent(n));
  for (int i = 0; i < op.k; ++i) {
    const Number x = decode(a, cases.a().get(index, i)), y = decode(b, cases.b().get(index, i));
    if (y.cls == NumberClass::nan || y.cls == NumberClass::infinity) allowed.between(1, 0);
    Extent product(x);
    product.multiply(Extent(y));
    if (op.has_scales()) {
      if (x.cls == NumberClass::nan || x.cls == NumberClass::infinity) allowed.between(1, 0);
      const Number sx = decode(op.scale_a.fields(), cases.scale_a().get(index, i / op.scale_block));
      const Number sy = decode(op.scale_b.fields(), cases.scale_b().get(index, i / op.scale_block));
      allowed.operand(op.scale_a.fields(), sx);
      if (sy.cls == NumberClass::nan) allowed.between(1, 0);
      product.multiply(Extent(sx));
      product.multiply(Extent(sy));
    } else {
      allowed.operand(a, x);
    }
    addend(product);
    if (allowed.least > 0 || allowed.greatest < 0) break;
  }
  return allowed;
}

/// The case's s, 0 where the statement says nothing.
int shift_of(const Unit& unit, const Batch& cases, size_t index) {
  const Shifts allowed = shifts_of(cases, index, least_weight(cases.op(), unit));
  if (allowed.least > 0 || allowed.greatest < 0) return 0;
  CounterRng rng(digest(cases, index), 1);
  return rng.between(larger(allowed.least, -300), smaller(allowed.greatest, 300));
}

class PowerOfTwoScaling final : public Property {
 public:
  const char* name() const override { return "power_of_two_scaling"; }
  const char* statement() const override {
    return "scaling a and c by a power of two scales the result by it, inside the normal range";
  }
  bool applies(const Op& op, const Unit&) const override {
    const FormatFields& scaled = op.has_scales() ? op.scale_a.fields() : op.a.fields();
    return op.kind == OpKind::dot && !scaled.integer && !op.b.fields().integer && !op.c.fields().integer && !op.d.fields().integer;
  }

 protected:
  int transform(const Unit& unit, const Batch& cases, size_t index, std::vector<Batch>& twin) const override {
    const int s = shift_of(unit, cases, index);
    if (s == 0) return 0;
    const Op& op = cases.op();
    scale(twin[0].inputs()[op.has_scales() ? 3 : 0], op.has_scales() ? op.scale_a.fields() : op.a.fields(), index, s);
    scale(twin[0].inputs()[2], op.c.fields(), index, s);
    return s;
  }
  bool holds(const Op& op, int s, uint64_t before, uint64_t after) const override {
    const Number x = decode(op.d.fields(), before), y = decode(op.d.fields(), after);
    if (x.cls == NumberClass::nan || y.cls == NumberClass::nan) return x.cls == y.cls;
    Exact scaled = to_exact(x);
    scaled.exponent += s;
    return x.negative == y.negative && compare(scaled, to_exact(y)) == 0;
  }

 private:
  /// Adds s to the exponent fields of normal numbers; zeros stay.
  static void scale(Column& column, const FormatFields& f, size_t index, int s) {
    for (int i = 0; i < column.count(); ++i) {
      const uint64_t x = column.get(index, i);
      if (decode(f, x).cls == NumberClass::finite)
        column.set(index, i, x + (static_cast<uint64_t>(int64_t{s}) << (f.fraction_bits + f.ignored_low_bits)));
    }
  }
};

}  // namespace

std::unique_ptr<Property> make_power_of_two_scaling() { return std::make_unique<PowerOfTwoScaling>(); }

}  // namespace mmafuzz
