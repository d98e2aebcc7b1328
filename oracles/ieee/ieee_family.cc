// The units `ieee` (scalar operations, conversions) and `ieee:serial`, `ieee:fma`, `ieee:pairwise`: the three dot
// products of Whitehead and Fit-Florea, "Precision and performance: floating point and IEEE 754 compliance for NVIDIA
// GPUs", 3.1.
#include "arithmetic/integer_rounding.h"
#include "oracles/families.h"
#include "oracles/ieee/gemm_of_dots.h"
#include "oracles/ieee/ieee_dot.h"
#include "oracles/ieee/ieee_dot_simd.h"
#include "oracles/ieee/mpfr_order.h"
#include "core/function_unit.h"

namespace mmafuzz {
namespace {

bool is_true(ScalarOperation comparison, Order order) {
  switch (comparison) {
    case ScalarOperation::equal:
    case ScalarOperation::equal_signaling: return order == Order::equal;
    case ScalarOperation::less:
    case ScalarOperation::less_quiet: return order == Order::less;
    case ScalarOperation::less_equal:
    case ScalarOperation::less_equal_quiet: return order == Order::less || order == Order::equal;
    default: return order == Order::unordered;
  }
}

Rounded scalar_operation(const Op& op, const uint64_t* encodings) {
  const FormatFields& f = op.a.fields();
  const RoundingRule rule = op.rounding_rule();
  Number x[3];
  for (int i = 0; i < op.arity(); ++i) x[i] = flushed_operand(f, decode(f, encodings[i]), op.flush_to_zero);
  if (compares(op.scalar))
    return ieee_comparison(f, x[0], x[1], is_true(op.scalar, ieee_order(x[0], x[1])), signals_quiet_nans(op.scalar));
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
    case ScalarOperation::rcp: r = ieee_divide(f, one_as_number(), x[0], rule); break;
    case ScalarOperation::rem: r = ieee_remainder(f, x[0], x[1], rule); break;
    case ScalarOperation::round_to_integral: r = round_to_integral(f, x[0], rule, op.signals_inexact); break;
    case ScalarOperation::equal:
    case ScalarOperation::less:
    case ScalarOperation::less_equal:
    case ScalarOperation::unordered:
    case ScalarOperation::equal_signaling:
    case ScalarOperation::less_quiet:
    case ScalarOperation::less_equal_quiet: break;  // comparisons: see comparison()
  }
  return flushed_result(f, r, op.flush_to_zero);
}

Rounded conversion(const Op& op, uint64_t source) {
  const Number x = flushed_operand(op.a.fields(), decode(op.a.fields(), source), op.flush_to_zero);
  const RoundingRule rule = op.rounding_rule_of(source);
  Rounded r = op.d.fields().integer
                  ? convert_to_integer(op.a.fields(), op.d.fields(), x, rule, op.signals_inexact)
                  : flushed_result(op.d.fields(), convert_number(op.d.fields(), x, rule), op.flush_to_zero);
  if (op.a.fields().has(policy::conversions_silent) || op.d.fields().has(policy::conversions_silent)) r.flags = 0;
  return r;
}

struct NamedOrder {
  const char* name;
  const char* summary;
  DotOrder order;
  const char* twin;  ///< the unit in MPFR that this one claims to equal; nullptr: it is in MPFR itself

  bool is_in_mpfr() const { return !twin; }
};

constexpr NamedOrder orders[] = {
    {"ieee:serial", "multiply, then add, in index order from c", DotOrder::serial, "ieee:serial.mpfr"},
    {"ieee:fma", "fused multiply-add in index order from c", DotOrder::fma, "ieee:fma.mpfr"},
    {"ieee:pairwise", "products summed by halves, c added last", DotOrder::pairwise, "ieee:pairwise.mpfr"},
    {"ieee:serial.mpfr", "multiply, then add, in index order from c", DotOrder::serial, nullptr},
    {"ieee:fma.mpfr", "fused multiply-add in index order from c", DotOrder::fma, nullptr},
    {"ieee:pairwise.mpfr", "products summed by halves, c added last", DotOrder::pairwise, nullptr},
};

std::unique_ptr<Unit> make_order(const NamedOrder& o, const Op& op) {
  if (!o.is_in_mpfr()) return std::make_unique<VectorDotUnit<IeeeDot, IeeeDotSimd>>(op, o.order);
  return make_dot_unit([op, order = o.order](const DotOperands& in) { return mpfr_ordered_dot(op, order, in); });
}

std::vector<Claim> with_twin(std::vector<Claim> claims, const NamedOrder& o) {
  return o.twin ? with_equal(std::move(claims), o.twin) : claims;
}

/// Every rounding is a non-decreasing function, and so is every composition of roundings. (Doubling the number of
/// products leaves the halves of `pairwise` as they were.)
std::vector<Claim> claims_of_dot(const NamedOrder& o) {
  std::vector<Claim> claims = claims_of_rounded_steps();
  if (o.order != DotOrder::pairwise) claims.push_back({"split_k", ""});
  return with_twin(std::move(claims), o);
}

class IeeeFamily final : public Family {
 public:
  bool owns(std::string_view name) const override { return name == "ieee" || entry_named(orders, name) != nullptr; }

  Role role(const std::string& name) const override { return name.ends_with(".mpfr") ? Role::referee : Role::ieee; }

  std::vector<std::string> searched_by_default(const Op&) const override {
    return {"ieee", "ieee:fma", "ieee:serial", "ieee:pairwise"};
  }

  std::vector<UnitInfo> list() const override {
    std::vector<UnitInfo> all = {{"ieee", "scalar operations and conversions, five rounding modes, flags",
                                  "IEEE 754-2019", with_equal(claims_of_correct_rounding(), "exact:mpfr"), ""}};
    for (const NamedOrder& o : orders) {
      const std::string summary = std::string(o.is_in_mpfr() ? "in MPFR, dot: " : "dot: ") + o.summary;
      all.push_back({o.name, summary, "Whitehead and Fit-Florea, 3.1", claims_of_dot(o), ""});
    }
    return all;
  }

  Attributes honours(const std::string&, const Op& op) const override {
    Attributes honoured = every_attribute;
    honoured.stochastic = op.kind == OpKind::convert;
    return honoured;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (!UnitName(name).settings.empty()) return invalid("unit " + name + ": ieee has no parameters");
    if (op.d.fields().integer && !op.rounds_to_integer())
      return declined("results in " + op.d.name() + " are integer arithmetic, not rounding");
    if (name != "ieee") {
      if (op.kind != OpKind::dot && op.kind != OpKind::gemm)
        return declined(name + " evaluates dot and matrix products only");
      const NamedOrder& order = *entry_named(orders, name);
      if (op.kind == OpKind::dot) return named(make_order(order, op), name, claims_of_dot(order));
      std::vector<Claim> claims = with_twin(claims_of({"tile_permutation", "transposition"}), order);
      const gemm::Combine combine = order.is_in_mpfr() ? mpfr_combined : gemm::ieee_combined;
      return named(gemm::make_gemm_of_dots(make_order(order, gemm::dot_op_of(op)), op, combine), name,
                   std::move(claims));
    }
    std::unique_ptr<Unit> unit;
    if (op.kind == OpKind::scalar) {
      unit = make_scalar_unit([op](const uint64_t* x) { return scalar_operation(op, x); });
    } else if (op.kind == OpKind::convert) {
      unit = make_scalar_unit([op](const uint64_t* x) { return conversion(op, x[0]); });
    } else {
      return declined(
          "ieee evaluates scalar operations and conversions; for a dot or gemm take ieee:serial, ieee:fma or "
          "ieee:pairwise");
    }
    return named(std::move(unit), name, with_equal(claims_of_correct_rounding(), "exact:mpfr"));
  }
};

}  // namespace

std::unique_ptr<Family> make_ieee_family() { return std::make_unique<IeeeFamily>(); }

}  // namespace mmafuzz
