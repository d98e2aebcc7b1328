// The units `ieee` (scalar operations, conversions) and `ieee:serial`, `ieee:fma`, `ieee:pairwise`: the three dot products
// of Whitehead and Fit-Florea, "Precision and performance: floating point and IEEE 754 compliance for NVIDIA GPUs", 3.1.
#include "arithmetic/ieee_operations.h"
#include "oracles/families.h"
#include "oracles/units/function_unit.h"

namespace mmafuzz {
namespace {

/// -ftz=true as CUDA does it: subnormal operands and results become zeros of their sign.
Number flush_operand(Number n, bool flush) {
  if (flush && n.subnormal) {
    n.cls = NumberClass::zero;
    n.significand = 0;
    n.subnormal = false;
  }
  return n;
}

Rounded flush_result(const FormatFields& f, Rounded r, bool flush) {
  if (flush && decode(f, r.encoding).subnormal) {
    r.encoding = f.encode_zero(r.negative);
    r.flags |= flag::underflow | flag::inexact;
  }
  return r;
}

Rounded scalar_operation(const Op& op, const uint64_t* encodings) {
  const FormatFields& f = op.a.fields();
  const RoundingRule rule = op.rounding_rule();
  Number x[3];
  for (int i = 0; i < op.arity(); ++i) x[i] = flush_operand(decode(f, encodings[i]), op.flush_to_zero);
  Rounded r;
  switch (op.scalar) {
    case ScalarOperation::add: r = ieee_add(f, x[0], x[1], rule); break;
    case ScalarOperation::sub:
      x[1].negative = !x[1].negative;
      r = ieee_add(f, x[0], x[1], rule);
      break;
    case ScalarOperation::mul: r = ieee_multiply(f, x[0], x[1], rule); break;
    case ScalarOperation::fma: r = ieee_fma(f, x[0], x[1], x[2], rule); break;
    case ScalarOperation::div: r = ieee_divide(f, x[0], x[1], rule); break;
    case ScalarOperation::sqrt: r = ieee_square_root(f, x[0], rule); break;
    case ScalarOperation::rcp: {
      Number one;
      one.cls = NumberClass::finite;
      one.significand = 1;
      r = ieee_divide(f, one, x[0], rule);
      break;
    }
  }
  return flush_result(f, r, op.flush_to_zero);
}

Rounded conversion(const Op& op, uint64_t source) {
  const Number x = flush_operand(decode(op.a.fields(), source), op.flush_to_zero);
  return flush_result(op.d.fields(), convert_number(op.d.fields(), x, op.rounding_rule()), op.flush_to_zero);
}

enum class Order { serial, fma, pairwise };

/// A dot product of IEEE operations, each rounded to d's format in the op's rounding mode.
class IeeeDot {
 public:
  IeeeDot(const Op& op, Order order)
      : op_(op), a_(op.a.fields()), b_(op.b.fields()), c_(op.c.fields()), d_(op.d.fields()), rule_(op.rounding_rule()), order_(order) {}

  uint64_t operator()(const DotOperands& in) const {
    const Exact c = to_exact(decode(c_, in.c));
    if (order_ == Order::pairwise) return add(to_exact(decode(d_, half_sum(in, 0, in.k))), c);
    Exact accumulator = c;
    uint64_t encoding = 0;
    for (int i = 0; i < in.k; ++i) {
      const Exact term = order_ == Order::fma ? product(in, i) : to_exact(decode(d_, rounded_product(in, i)));
      encoding = add(accumulator, term);
      accumulator = to_exact(decode(d_, encoding));
    }
    return encoding;
  }

 private:
  uint64_t add(const Exact& x, const Exact& y) const { return add_exact(d_, x, y, rule_).encoding; }

  Exact product(const DotOperands& in, int i) const {
    Exact p = exact_product(to_exact(decode(a_, in.a[i])), to_exact(decode(b_, in.b[i])));
    if (!op_.has_scales()) return p;
    const int s = i / op_.scale_block;
    p = exact_product(p, to_exact(decode(op_.scale_a.fields(), in.scale_a[s])));
    return exact_product(p, to_exact(decode(op_.scale_b.fields(), in.scale_b[s])));
  }

  uint64_t rounded_product(const DotOperands& in, int i) const {
    const Exact p = product(in, i);
    if (p.cls == NumberClass::nan) return d_.encode_nan();
    if (p.cls == NumberClass::infinity) return rounded_infinity(d_, p.negative, rule_).encoding;
    return round_exact(d_, p, rule_).encoding;
  }

  /// The sum of products [first, last) by halves; the lower half is the shorter one where the count is odd.
  uint64_t half_sum(const DotOperands& in, int first, int last) const {
    if (last - first == 1) return rounded_product(in, first);
    const int middle = first + (last - first) / 2;
    return add(to_exact(decode(d_, half_sum(in, first, middle))), to_exact(decode(d_, half_sum(in, middle, last))));
  }

  Op op_;
  FormatFields a_, b_, c_, d_;
  RoundingRule rule_;
  Order order_;
};

/// Every rounding is a function that does not fall, and so is every composition of them. (Doubling the number of products
/// leaves the halves of `pairwise` where they were.)
std::vector<Claim> claims_of_dot(const std::string& name) {
  std::vector<Claim> claims = claims_of({"monotone_in_addend", "monotone_in_c", "power_of_two_scaling", "product_value",
                                         "product_value_and_exponent", "sign_symmetry", "swap_operands", "zero_padding"});
  if (name != "ieee:pairwise") claims.push_back({"split_k", ""});
  return claims;
}

class IeeeFamily final : public Family {
 public:
  bool owns(std::string_view name) const override {
    return name == "ieee" || name == "ieee:serial" || name == "ieee:fma" || name == "ieee:pairwise";
  }

  std::vector<UnitInfo> list() const override {
    const std::string paper = "Whitehead and Fit-Florea, 3.1";
    const auto order = [&](const char* name, const char* summary) {
      return UnitInfo{name, std::string("dot: ") + summary, paper, claims_of_dot(name), ""};
    };
    return {{"ieee", "scalar operations and conversions, five rounding modes, flags", "IEEE 754-2019", {{"equals_model", "exact:mpfr"}}, ""},
            order("ieee:serial", "multiply, then add, in index order from c"),
            order("ieee:fma", "fused multiply-add in index order from c"),
            order("ieee:pairwise", "products summed by halves, c added last")};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (name.find('?') != std::string::npos) return invalid("unit " + name + ": ieee has no parameters");
    if (op.rounding == Rounding::stochastic) return declined("ieee does not round stochastically");
    if (op.d.fields().integer) return declined("results in " + op.d.name() + " are integer arithmetic, not rounding");
    if (name != "ieee") {
      if (op.kind != OpKind::dot) return declined(name + " evaluates dot products only");
      const Order order = name == "ieee:serial" ? Order::serial : name == "ieee:fma" ? Order::fma : Order::pairwise;
      return named(make_dot_unit(IeeeDot(op, order)), name, claims_of_dot(name));
    }
    std::unique_ptr<Unit> unit;
    if (op.kind == OpKind::scalar) {
      unit = make_scalar_unit([op](const uint64_t* x) { return scalar_operation(op, x); });
    } else if (op.kind == OpKind::convert) {
      unit = make_scalar_unit([op](const uint64_t* x) { return conversion(op, x[0]); });
    } else {
      return declined("ieee evaluates scalar operations and conversions; for a dot take ieee:serial, ieee:fma or ieee:pairwise");
    }
    return named(std::move(unit), name, {{"equals_model", "exact:mpfr"}});
  }
};

}  // namespace

std::unique_ptr<Family> make_ieee_family() { return std::make_unique<IeeeFamily>(); }

}  // namespace mmafuzz
