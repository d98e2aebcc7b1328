// The units `ieee` (scalar operations, conversions) and `ieee:serial`, `ieee:fma`, `ieee:pairwise`: the three dot products
// of Whitehead and Fit-Florea, "Precision and performance: floating point and IEEE 754 compliance for NVIDIA GPUs", 3.1.
#include "arithmetic/ieee_operations.h"
#include "oracles/families.h"
#include "oracles/ieee/ieee_dot.h"
#include "oracles/ieee/ieee_dot_simd.h"
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
    r.flags |= flag::underflow | (f.has(policy::no_inexact) ? 0 : flag::inexact);
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
    case ScalarOperation::rem: r = ieee_remainder(f, x[0], x[1], rule); break;
    case ScalarOperation::equal: return ieee_comparison(f, x[0], x[1], ieee_order(x[0], x[1]) == Order::equal, false);
    case ScalarOperation::less: return ieee_comparison(f, x[0], x[1], ieee_order(x[0], x[1]) == Order::less, true);
    case ScalarOperation::less_equal: {
      const Order order = ieee_order(x[0], x[1]);
      return ieee_comparison(f, x[0], x[1], order == Order::less || order == Order::equal, true);
    }
    case ScalarOperation::unordered: return ieee_comparison(f, x[0], x[1], ieee_order(x[0], x[1]) == Order::unordered, false);
  }
  return flush_result(f, r, op.flush_to_zero);
}

Rounded conversion(const Op& op, uint64_t source) {
  const Number x = flush_operand(decode(op.a.fields(), source), op.flush_to_zero);
  Rounded r = flush_result(op.d.fields(), convert_number(op.d.fields(), x, op.rounding_rule_of(source)), op.flush_to_zero);
  if (op.a.fields().has(policy::conversions_silent) || op.d.fields().has(policy::conversions_silent)) r.flags = 0;
  return r;
}

/// In vectors where the host's arithmetic is the op's, in integers elsewhere.
class IeeeDotUnit final : public Unit {
 public:
  IeeeDotUnit(const Op& op, DotOrder order) : dot_(op, order), vectorized_(IeeeDotSimd::supports(op)), simd_(op, order) {}

  void run(const Batch& batch, Outcomes& outcomes) const override {
    prepare(batch, outcomes);
    if (vectorized_ && simd_.run(batch, outcomes.results)) return;
    DotCase one(batch.op());
    for (size_t i = 0; i < batch.size(); ++i) outcomes.results.set(i, 0, dot_(one.load(batch, i)));
  }

 private:
  IeeeDot dot_;
  bool vectorized_;
  IeeeDotSimd simd_;
};

/// Every rounding is a function that does not fall, and so is every composition of them. (Doubling the number of products
/// leaves the halves of `pairwise` where they were.)
std::vector<Claim> claims_of_dot(const std::string& name) {
  std::vector<Claim> claims = claims_of({"monotone_in_addend", "monotone_in_c", "power_of_two_scaling", "product_value",
                                         "product_value_and_exponent", "sign_symmetry", "swap_operands", "zero_padding"});
  if (name != "ieee:pairwise") claims.push_back({"split_k", ""});
  return claims;
}

std::vector<Claim> with_referee(std::vector<Claim> claims) {
  claims.push_back({"equals_model", "exact:mpfr"});
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
    return {{"ieee", "scalar operations and conversions, five rounding modes, flags", "IEEE 754-2019", with_referee(claims_of_correct_rounding()), ""},
            order("ieee:serial", "multiply, then add, in index order from c"),
            order("ieee:fma", "fused multiply-add in index order from c"),
            order("ieee:pairwise", "products summed by halves, c added last")};
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (name.find('?') != std::string::npos) return invalid("unit " + name + ": ieee has no parameters");
    if (op.rounding == Rounding::stochastic && op.kind != OpKind::convert) return declined("ieee rounds stochastically in conversions only");
    if (op.d.fields().integer) return declined("results in " + op.d.name() + " are integer arithmetic, not rounding");
    if (name != "ieee") {
      if (op.kind != OpKind::dot) return declined(name + " evaluates dot products only");
      const DotOrder order = name == "ieee:serial" ? DotOrder::serial : name == "ieee:fma" ? DotOrder::fma : DotOrder::pairwise;
      return named(std::make_unique<IeeeDotUnit>(op, order), name, claims_of_dot(name));
    }
    std::unique_ptr<Unit> unit;
    if (op.kind == OpKind::scalar) {
      unit = make_scalar_unit([op](const uint64_t* x) { return scalar_operation(op, x); });
    } else if (op.kind == OpKind::convert) {
      unit = make_scalar_unit([op](const uint64_t* x) { return conversion(op, x[0]); });
    } else {
      return declined("ieee evaluates scalar operations and conversions; for a dot take ieee:serial, ieee:fma or ieee:pairwise");
    }
    return named(std::move(unit), name, with_referee(claims_of_correct_rounding()));
  }
};

}  // namespace

std::unique_ptr<Family> make_ieee_family() { return std::make_unique<IeeeFamily>(); }

}  // namespace mmafuzz
