// The units `exact`, `exact:mpfr` and `exact:bigint`: the mathematical result, rounded once.
#include "oracles/exact/exact_dot_simd.h"
#include "oracles/exact/mpfr_reference.h"
#include "oracles/families.h"
#include "oracles/exact/exact_gemm.h"
#include "core/function_unit.h"
#include "oracles/properties/properties.h"
#include "oracles/quantizers/exact_quantize.h"

namespace mmafuzz {
namespace {

class ExactFamily final : public Family {
 public:
  bool owns(std::string_view name) const override {
    return name == "exact" || name == "exact:mpfr" || name == "exact:bigint";
  }

  Role role(const std::string& name) const override { return name == "exact" ? Role::exact : Role::referee; }

  std::vector<std::string> searched_by_default(const Op&) const override { return {"exact"}; }

  std::vector<UnitInfo> list() const override {
    return {
        {"exact",
         "any dot, matrix product, scalar operation, conversion or block in the five IEEE rounding modes: the exact "
         "result rounded once",
         "IEEE 754-2019", with_equal(claims_of_rounded_steps(), "exact:mpfr"), ""},
        {"exact:mpfr", "the referee: MPFR throughout", "MPFR 4", claims_of_rounded_steps(), ""},
        {"exact:bigint", "the twin: cpp_int fixed point; dot and matrix products", "Boost.Multiprecision",
         with_equal(claims_of_rounded_steps(), "exact:mpfr"), ""}};
  }

  Attributes honours(const std::string&, const Op& op) const override {
    Attributes honoured = every_attribute;
    honoured.stochastic = op.kind == OpKind::convert || op.kind == OpKind::quantize;
    return honoured;
  }

  Result<std::unique_ptr<Unit>> bind(const std::string& name, const Op& op) const override {
    if (!UnitName(name).settings.empty()) return invalid("unit " + name + ": exact has no parameters");
    std::unique_ptr<Unit> unit;
    if (op.is_of_blocks()) {
      if (name != "exact") return declined(name + " evaluates no blocks; exact does");
      const bool quantizes = op.kind == OpKind::quantize;
      return named(quantizes ? exact::make_exact_quantizer(op) : exact::make_exact_dequantizer(op), name,
                   quantizes ? claims_of_quantizing(op) : std::vector<Claim>());
    }
    if (op.kind == OpKind::dot) {
      const Result<bool> supported = exact::supports_dot(op);
      if (!supported) return supported.refusal();
      if (name == "exact") unit = std::make_unique<VectorDotUnit<exact::FastDot, exact::ExactDotSimd>>(op);
      if (name == "exact:mpfr") unit = make_dot_unit([op](const DotOperands& in) { return exact::mpfr_dot(op, in); });
      if (name == "exact:bigint")
        unit = make_dot_unit([op](const DotOperands& in) { return exact::bigint_dot(op, in); });
    } else if (op.d.fields().integer && !op.rounds_to_integer()) {
      return declined("results in " + op.d.name() + " are integer arithmetic, not rounding");
    } else if (op.kind == OpKind::gemm) {
      unit = gemm::make_exact_gemm(name == "exact"        ? gemm::ExactBy::accumulator
                                   : name == "exact:mpfr" ? gemm::ExactBy::mpfr
                                                          : gemm::ExactBy::bigint,
                                   op);
    } else if (name == "exact:bigint") {
      return declined("exact:bigint evaluates dot and matrix products only");
    } else if (op.kind == OpKind::convert) {
      unit = make_scalar_unit([op](const uint64_t* x) { return exact::mpfr_convert(op, x[0]); });
    } else {
      unit = make_scalar_unit([op](const uint64_t* x) { return exact::mpfr_scalar(op, x); });
    }
    std::vector<Claim> claims = op.kind == OpKind::dot ? claims_of_rounded_steps()
                                : op.kind == OpKind::gemm
                                    ? claims_of({"inner_permutation", "tile_permutation", "transposition"})
                                    : claims_of_correct_rounding();
    const bool is_mpfr = name == "exact:mpfr" || op.kind == OpKind::convert || op.kind == OpKind::scalar;
    if (!is_mpfr) claims = with_equal(std::move(claims), "exact:mpfr");
    return named(std::move(unit), name, std::move(claims));
  }
};

}  // namespace

std::unique_ptr<Family> make_exact_family() { return std::make_unique<ExactFamily>(); }

}  // namespace mmafuzz
