// Multiplying a and c by a power of two multiplies a matrix product by that power, where no product leaves the normal
// range. A failure means that how a scheme scales its operands depends on their absolute size, as in GEMMul8's fast
// modes of 2025 and of March 2026 (arXiv 2606.29129).
#include <algorithm>
#include <climits>

#include "oracles/properties/numbers.h"
#include "oracles/properties/properties.h"

namespace mmafuzz {
namespace {

/// The least and the greatest exponent of a leading bit among the nonzero numbers of a case's operand. add() returns
/// false at an infinity or NaN.
struct Range {
  int least = INT_MAX, greatest = INT_MIN;

  bool is_empty() const { return least > greatest; }
  bool add(const FormatFields& f, const Column& column, size_t index) {
    for (int i = 0; i < column.count(); ++i) {
      const Number x = decode(f, column.get(index, i));
      if (x.cls == NumberClass::zero) continue;
      if (x.cls != NumberClass::finite) return false;
      const int exponent = x.exponent + bit_length(x.significand) - 1;
      least = std::min(least, exponent);
      greatest = std::max(greatest, exponent);
    }
    return true;
  }
};

class MatrixScaling final : public Property {
 public:
  MatrixScaling() : Property("matrix_scaling", "a and c times a power of two give the result times it") {}
  bool applies(const Op& op, const Unit&) const override {
    return op.kind == OpKind::gemm && !op.has_alpha_beta() && op.a == op.d && op.c == op.d;
  }

 protected:
  std::optional<Changed> transform(const Subject& of, std::vector<Batch>& changed) const override {
    const FormatFields& f = of.op().d.fields();
    Range a, b, c;
    if (!a.add(f, of.cases.a(), of.index) || !b.add(of.op().b.fields(), of.cases.b(), of.index) ||
        !c.add(f, of.cases.c(), of.index) || a.is_empty() || b.is_empty())
      return std::nullopt;
    // Every product is a multiple of 2^emin, and all of them together stay below the greatest number.
    const int bits = f.precision() + of.op().b.fields().precision(), k = bit_length(uint64_t(of.op().k)) + 2;
    int least = std::max(f.emin() - a.least, f.emin() + bits - a.least - b.least),
        greatest = std::min(f.emax() - a.greatest, f.emax() - k - a.greatest - b.greatest);
    if (!c.is_empty()) {
      least = std::max(least, f.emin() - c.least);
      greatest = std::min(greatest, f.emax() - k - c.greatest);
    }
    if (least > 0 || greatest < 0) return std::nullopt;
    static constexpr int shifts[] = {1, -1, 7, -7, 40, -40, 300, -300};
    const int wanted = shifts[digest(of.cases, of.index) % std::size(shifts)];
    const int shift = std::clamp(wanted, least, greatest);
    if (shift == 0) return std::nullopt;
    for (const size_t field : {0, 2})
      for (int i = 0; i < of.cases.inputs()[field].count(); ++i)
        changed[0].inputs()[field].set(of.index, i, scaled(f, of.cases.inputs()[field].get(of.index, i), shift));
    return Changed{shift};  // the exponent of the power
  }
  bool holds(const Pair& pair) const override {
    const FormatFields& f = pair.op().d.fields();
    const Number x = decode(f, pair.before);
    if (x.cls == NumberClass::zero) return decode(f, pair.after).cls == NumberClass::zero;
    return x.cls == NumberClass::finite && scaled(f, pair.before, pair.changed.shift) == pair.after;
  }

 private:
  static uint64_t scaled(const FormatFields& f, uint64_t encoding, int shift) {
    const Number x = decode(f, encoding);
    return x.cls == NumberClass::finite ? round_once(f, x.negative, x.significand, x.exponent + shift).encoding
                                        : encoding;
  }
};

}  // namespace

std::unique_ptr<Property> make_matrix_scaling() { return std::make_unique<MatrixScaling>(); }

}  // namespace mmafuzz
